// SPDX-License-Identifier: Apache-2.0
/*
 * One message on the control connection, read in every way that the daemon and the client read one.
 * An event that is accepted is one that can be written.
 */
#include <sys/socket.h>

#include "user/record/evjson.h"
#include "user/rig/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t touched;

static void read_all(const struct control_message *m)
{
	static const char *const keys[] = { "op", "error", "ok", "run", "lanes", "ev", "ms" };
	struct json_out j;
	struct ev ev;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *text = control_text(m, keys[i]);

		touched += text ? strlen(text) : 0;
		touched += (uint64_t)control_number(m, keys[i], 0);
		touched += control_flag(m, keys[i]);
	}
	if (control_ev(m, &ev) < 0)
		return;
	json_out_init(&j);
	if (evjson_write(&j, &ev) < 0)
		abort();
	json_out_done(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control_message m;
	int pair[2], err;

	if (size > CONTROL_MESSAGE_MAX + 1 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return 0;
	if (send(pair[0], data, size, 0) == (ssize_t)size) {
		(void)close(pair[0]);
		err = control_recv(pair[1], &m);
		if (!err) {
			read_all(&m);
			control_message_done(&m);
		} else if (err != -EBADMSG && err != -ECONNRESET) {
			abort();
		}
	} else {
		(void)close(pair[0]);
	}
	(void)close(pair[1]);
	return 0;
}
