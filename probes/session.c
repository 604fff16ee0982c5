// SPDX-License-Identifier: Apache-2.0
/*
 * sentinel-probe: what runs inside a sandbox. One static program that needs no file and no
 * variable: it must work in an empty root, under any uid.
 */
#include "probes/session_run.h"

#include <signal.h>

#include "probes/stand_in.h"
#include "user/base/log.h"

#define EXIT_BAD_ARGUMENTS 2

int main(int argc, char **argv)
{
	struct session_args args;
	char why[256];
	int err;

	log_open("sentinel-probe", LOG_INFO_, false);
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		log_warn("cannot ignore SIGPIPE: %s", strerror(errno));
	if (argc == 4 && !strcmp(argv[1], "decoy"))
		return decoy_run(argv[2], argv[3], STDIN_FILENO, STDOUT_FILENO);
	if (argc == 4 && !strcmp(argv[1], "sibling"))
		return sibling_run(argv[2], argv[3], STDIN_FILENO, STDOUT_FILENO);
	if (session_args_parse(argc, argv, &args, why, sizeof(why)) < 0) {
		log_error("%s", why);
		log_info("usage: sentinel-probe " SNT_SESSION_PREFIX
			 "NONCE probe=NAME challenge=HEX "
			 "timeout_ms=N hold_ms=N [to=ADDRESS port=N | to=unix:PATH]...");
		return EXIT_BAD_ARGUMENTS;
	}
	err = session_run(&args, STDIN_FILENO, STDOUT_FILENO);
	if (err < 0) {
		log_error("cannot speak: %s", strerror(-err));
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
