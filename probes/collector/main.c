// SPDX-License-Identifier: Apache-2.0
/*
 * sentinel-collector: the far side of one lane, started inside its world namespace by the daemon.
 *
 *   sentinel-collector --lane N --epoch N --key-fd FD --log-fd FD [--quiet] [--listen KIND:FD]...
 *
 * --listen: a socket that listens already, where no sandbox may reach it; KIND is `text` or `http`.
 * It ends with its parent (PR_SET_PDEATHSIG: with the *thread* that started it) and with the reader
 * of its log.
 */
#include <getopt.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>

#include "probes/collector/collector.h"
#include "user/base/log.h"

#define EXIT_BAD_ARGUMENTS 2
#define NO_USER 65533 /* not nobody, whom sandboxes run as: who has our uid may kill us */

struct arguments {
	uint32_t lane, epoch; /* for people who look at logs and process lists */
	uint32_t key_fd, log_fd;
	bool quiet;
	struct listener_given given[LISTENER_GIVEN_MAX];
	size_t given_n;
};

static const char usage[] =
	"usage: sentinel-collector --lane N --epoch N --key-fd FD --log-fd FD [--quiet] "
	"[--listen text:FD|http:FD]...";

static int parse_given(struct arguments *a, const char *text)
{
	struct listener_given *g = &a->given[a->given_n];
	uint32_t fd;

	if (a->given_n == ARRAY_SIZE(a->given))
		return -EINVAL;
	g->service = !strncmp(text, "http:", 5) ? SERVICE_HTTP : SERVICE_TEXT;
	if ((g->service == SERVICE_TEXT && strncmp(text, "text:", 5) != 0) ||
	    parse_u32(text + 5, 0, INT32_MAX, &fd))
		return -EINVAL;
	g->fd = (int)fd;
	a->given_n++;
	return 0;
}

static int parse_arguments(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {
		{ "lane", required_argument, NULL, 'l' },
		{ "epoch", required_argument, NULL, 'e' },
		{ "key-fd", required_argument, NULL, 'k' },
		{ "log-fd", required_argument, NULL, 'o' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "listen", required_argument, NULL, 'i' },
		{ NULL, 0, NULL, 0 },
	};
	unsigned int seen = 0;
	int c, err = 0;

	while (!err && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'l')
			err = parse_u32(optarg, 1, UINT32_MAX, &a->lane), seen |= 1;
		else if (c == 'e')
			err = parse_u32(optarg, 1, UINT32_MAX, &a->epoch), seen |= 2;
		else if (c == 'k')
			err = parse_u32(optarg, 0, INT32_MAX, &a->key_fd), seen |= 4;
		else if (c == 'o')
			err = parse_u32(optarg, 0, INT32_MAX, &a->log_fd), seen |= 8;
		else if (c == 'q')
			a->quiet = true;
		else if (c == 'i')
			err = parse_given(a, optarg);
		else
			return -EINVAL;
	}
	return err || optind != argc || seen != 15 ? -EINVAL : 0;
}

/* Owns fd. */
static int read_key(int fd, uint8_t key[MAC_BYTES])
{
	cleanup_fd int owned = fd;
	size_t len = 0;

	while (len < MAC_BYTES) {
		ssize_t n = read(owned, key + len, MAC_BYTES - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		len += (size_t)n;
	}
	return 0;
}

/* The ports are bound: strangers' bytes are read with no privilege. Where we may not (a user
 * namespace that maps nobody), there was little to drop. */
static void drop_root(void)
{
	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(NO_USER, NO_USER, NO_USER) < 0 ||
			       setresuid(NO_USER, NO_USER, NO_USER) < 0))
		log_warn("cannot drop root: %s, ignoring", strerror(errno));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		log_warn("cannot set no_new_privs: %s, ignoring", strerror(errno));
}

/* After the uid has changed, for that clears it. A parent that is gone already has closed its end
 * of the log, which collector_run() sees. */
static int end_with_parent(void)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? -errno : 0;
}

static int serve(const struct arguments *a)
{
	struct collector_opts o = { .log_fd = (int)a->log_fd,
				    .quiet = a->quiet,
				    .given_n = a->given_n };
	struct collector *c = NULL;
	uint16_t port = 0;
	int err = read_key((int)a->key_fd, o.key);

	if (err) {
		log_error("cannot read the key: %s", strerror(-err));
		return err;
	}
	memcpy(o.given, a->given, sizeof(o.given));
	err = collector_new(&o, &c, &port);
	explicit_bzero(o.key, sizeof(o.key));
	if (err && port)
		log_error("cannot listen on port '%u': %s", port, strerror(-err));
	else if (err)
		log_error("cannot start: %s", strerror(-err));
	if (err)
		return err;
	drop_root();
	err = end_with_parent();
	if (!err)
		err = collector_run(c);
	if (err != -EPIPE)
		log_error("stopped: %s", strerror(-err));
	collector_free(c);
	return err;
}

int main(int argc, char **argv)
{
	struct arguments a = { .lane = 0 };
	static char name[64];

	log_open("sentinel-collector", LOG_INFO_, false);
	if (parse_arguments(argc, argv, &a) < 0) {
		log_error("%s", usage);
		return EXIT_BAD_ARGUMENTS;
	}
	(void)str_format(name, sizeof(name), "sentinel-collector (lane %u, epoch %u)", a.lane,
			 a.epoch);
	log_open(name, LOG_INFO_, false);
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		log_warn("cannot ignore SIGPIPE: %s", strerror(errno));
	/* the reader's end is how it ends in order */
	return serve(&a) == -EPIPE ? EXIT_SUCCESS : EXIT_FAILURE;
}
