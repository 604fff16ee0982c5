// SPDX-License-Identifier: Apache-2.0
#include "probes/stand_in.h"

int stand_in_say_alive(const struct stand_in *s, int which,
		       const uint8_t challenge[MAC_NONCE_BYTES])
{
	struct session_line l = { .kind = which == 1 ? SESSION_LINE_ALIVE1 : SESSION_LINE_ALIVE2 };
	char text[SESSION_LINE_MAX];
	int err;

	memcpy(l.instance, s->instance, sizeof(l.instance));
	mac_alive(s->secret, which, challenge, s->instance, l.mac);
	err = session_line_format(text, sizeof(text), &l);
	return err ? err : write_all(s->out, text, strlen(text));
}

bool stand_in_challenge(const char *line, uint8_t ret[MAC_NONCE_BYTES])
{
	static const char word[] = "challenge ";

	return !strncmp(line, word, sizeof(word) - 1) &&
	       hex_decode(ret, MAC_NONCE_BYTES, line + sizeof(word) - 1) == 0;
}
