// SPDX-License-Identifier: Apache-2.0
/*
 * sentinel-confine: runs a command without some of what it could reach. A launcher of our own for
 * the calibrator deny-all and the target landlock; static, since it may start in any root.
 *
 * Nothing is ignored: what this kernel can't do is an error, and the command does not start.
 */
#include <getopt.h>
#include <limits.h>
#include <sys/prctl.h>

#include "probes/confine/landlock.h"
#include "probes/confine/seccomp.h"
#include "user/base/log.h"

/* As env(1) and timeout(1) have them. */
enum { EXIT_CONFINE = 125, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

#define UNSET_MAX 16

struct options {
	bool no_unix;
	const char *unset[UNSET_MAX];
	size_t unset_n;
	struct landlock_rules landlock;
	char hidden[LANDLOCK_HIDDEN_MAX][PATH_MAX];
};

static const char usage[] =
	"usage: sentinel-confine [--no-unix] [--tcp-connect=[PORT,...]] [--unset=NAME]... "
	"[--hide=PATH]... [--] COMMAND [ARGUMENT]...";

static const struct option long_options[] = {
	{ "no-unix", no_argument, NULL, 'n' },
	{ "tcp-connect", required_argument, NULL, 't' },
	{ "unset", required_argument, NULL, 'u' },
	{ "hide", required_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int add_ports(struct landlock_rules *r, char *list)
{
	char *save = NULL;

	r->tcp = true;
	for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		uint32_t port;

		if (r->ports_n == ARRAY_SIZE(r->ports) || parse_u32(word, 1, UINT16_MAX, &port))
			return -EINVAL;
		r->ports[r->ports_n++] = (uint16_t)port;
	}
	return 0;
}

static int add_unset(struct options *o, const char *name)
{
	if (o->unset_n == ARRAY_SIZE(o->unset) || !name[0] || strchr(name, '='))
		return -EINVAL;
	o->unset[o->unset_n++] = name;
	return 0;
}

/* Rules belong to what a path leads to, so links are followed once, here. What is not there can't
 * be hidden: it could appear later. */
static int add_hidden(struct options *o, const char *path)
{
	struct landlock_rules *r = &o->landlock;
	char *real = r->hidden_n < ARRAY_SIZE(o->hidden) ? o->hidden[r->hidden_n] : NULL;

	if (!real || path[0] != '/')
		return -EINVAL;
	if (!realpath(path, real))
		return -errno;
	if (!real[1]) /* of the whole tree nothing would be left to allow */
		return -EINVAL;
	r->hidden[r->hidden_n++] = real;
	return 0;
}

static int complain(const char *what, const char *arg, int err)
{
	char shown[160];

	log_error("%s '%s': %s", what, escape_text(shown, sizeof(shown), arg, strlen(arg)),
		  strerror(-err));
	return err;
}

static int parse(int argc, char **argv, struct options *o)
{
	int c, err;

	/* "+": what follows the command is the command's own */
	while ((c = getopt_long(argc, argv, "+", long_options, NULL)) != -1) {
		switch (c) {
		case 'n':
			o->no_unix = true;
			err = 0;
			break;
		case 't':
			err = add_ports(&o->landlock, optarg);
			break;
		case 'u':
			err = add_unset(o, optarg);
			break;
		case 'h':
			err = add_hidden(o, optarg);
			break;
		default:
			return -EINVAL;
		}
		if (err)
			return complain("can't take", optarg, err);
	}
	return optind < argc ? 0 : -EINVAL;
}

static int confine(const struct options *o)
{
	const bool landlock = o->landlock.tcp || o->landlock.hidden_n;
	char why[256];
	int err;

	for (size_t i = 0; i < o->unset_n; i++)
		(void)unsetenv(o->unset[i]);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
		log_error("can't set no_new_privs: %s", strerror(errno));
		return -errno;
	}
	err = landlock ? landlock_restrict(&o->landlock, why, sizeof(why)) : 0;
	if (err) {
		log_error("%s", why);
		return err;
	}
	err = o->no_unix ? seccomp_no_unix() : 0;
	if (err)
		log_error("can't filter system calls: %s", strerror(-err));
	return err;
}

int main(int argc, char **argv)
{
	static struct options o;

	log_open("sentinel-confine", LOG_INFO_, false);
	if (parse(argc, argv, &o)) {
		log_info("%s", usage);
		return EXIT_CONFINE;
	}
	if (confine(&o))
		return EXIT_CONFINE;
	(void)execvp(argv[optind], argv + optind);
	return complain("can't execute", argv[optind], -errno) == -ENOENT ? EXIT_NOT_FOUND
									  : EXIT_CANNOT_RUN;
}
