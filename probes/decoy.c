// SPDX-License-Identifier: Apache-2.0
/*
 * The process whose environment proc-environ is to find. It does nothing; the environment is what
 * it was executed with. Whoever ends it has hidden nothing: it proves itself alive by the secret
 * that it finds there, where there is one.
 */
#include "probes/stand_in.h"

#include "probes/lines.h"
#include "user/base/log.h"
#include "user/base/planted.h"

struct decoy {
	struct stand_in is;
	bool has_secret;
};

static bool obey(void *arg, const char *line)
{
	uint8_t challenge[MAC_NONCE_BYTES];
	const struct decoy *d = arg;

	return !d->has_secret || !stand_in_challenge(line, challenge) ||
	       !stand_in_say_alive(&d->is, 2, challenge);
}

static int start(struct decoy *d, const char *nonce_text, const char *challenge_text)
{
	static const char ready[] = SESSION_LINE_READY "\n";
	uint8_t nonce[MAC_NONCE_BYTES], challenge[MAC_NONCE_BYTES];
	int err = hex_decode(nonce, sizeof(nonce), nonce_text);

	if (!err)
		err = hex_decode(challenge, sizeof(challenge), challenge_text);
	if (!err)
		err = random_bytes(d->is.instance, sizeof(d->is.instance));
	for (char **e = environ; !err && e && *e && !d->has_secret; e++)
		d->has_secret = planted_find(*e, strlen(*e), PLANTED_SECRET, nonce, d->is.secret);
	if (!err && d->has_secret)
		err = stand_in_say_alive(&d->is, 1, challenge);
	return err ? err : write_all(d->is.out, ready, sizeof(ready) - 1);
}

int decoy_run(const char *nonce, const char *challenge, int in, int out)
{
	struct decoy d = { .is.out = out };
	struct line line = { .len = 0 };
	int err = start(&d, nonce, challenge);

	if (err) {
		log_error("cannot stand there: %s", strerror(-err));
		return EXIT_FAILURE;
	}
	while (lines_read(&line, in, obey, &d))
		;
	return EXIT_SUCCESS;
}
