// SPDX-License-Identifier: Apache-2.0
/*
 * The far side of the probe `sibling`: a service in another sandbox of the same target, on all of
 * its addresses. It answers a token as a far side would, by a key that is this trial's secret.
 */
#include "probes/stand_in.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include "probes/lines.h"
#include "user/base/log.h"
#include "user/base/mac.h"

#define CALLERS_MAX 4
#define CALLER_SILENT_MS 2000 /* then the next one gets its place */

struct caller {
	const struct sibling *of;
	int fd; /* -1: none */
	uint64_t deadline_ns;
	struct line line;
};

struct sibling {
	struct stand_in is;
	int in, listener;
	uint8_t challenge[MAC_NONCE_BYTES];
	struct line told;
	struct caller callers[CALLERS_MAX];
	bool over;
};

/* The first that is no loopback's; "" where there is none. */
static void own_address(char ret[INET_ADDRSTRLEN])
{
	struct ifaddrs *all;

	ret[0] = '\0';
	if (getifaddrs(&all))
		return;
	for (const struct ifaddrs *a = all; a && !ret[0]; a = a->ifa_next) {
		struct sockaddr_in in;

		if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET ||
		    (a->ifa_flags & IFF_LOOPBACK) || !(a->ifa_flags & IFF_UP))
			continue;
		memcpy(&in, a->ifa_addr, sizeof(in));
		(void)inet_ntop(AF_INET, &in.sin_addr, ret, INET_ADDRSTRLEN);
	}
	freeifaddrs(all);
}

static void say_ready(struct sibling *s)
{
	char address[INET_ADDRSTRLEN], text[128];

	own_address(address);
	(void)str_format(text, sizeof(text), SESSION_LINE_READY "%s%s\n", address[0] ? " at=" : "",
			 address);
	if (write_all(s->is.out, text, strlen(text)))
		s->over = true;
}

static bool obey(void *arg, const char *line)
{
	uint8_t challenge[MAC_NONCE_BYTES];
	struct sibling *s = arg;

	if (stand_in_challenge(line, challenge) && stand_in_say_alive(&s->is, 2, challenge))
		s->over = true;
	return !s->over;
}

static bool answer(void *arg, const char *line)
{
	static const char prefix[] = MAC_TOKEN_PREFIX;
	uint8_t token[MAC_NONCE_BYTES], mac[MAC_BYTES];
	char hex[2 * MAC_BYTES + 1], text[sizeof(MAC_ANSWER_PREFIX) + sizeof(hex) + 1];
	const struct caller *to = arg;

	if (strncmp(line, prefix, sizeof(prefix) - 1) != 0 ||
	    hex_decode(token, sizeof(token), line + sizeof(prefix) - 1))
		return true;
	mac_sibling_answer(to->of->is.secret, token, mac);
	hex_encode(hex, mac, sizeof(mac));
	(void)str_format(text, sizeof(text), MAC_ANSWER_PREFIX "%s\n", hex);
	(void)!send(to->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	return true;
}

static void hang_up(struct caller *c)
{
	(void)close(c->fd);
	c->fd = -1;
}

/* A free place, or that of who has been silent too long; NULL: callers wait. */
static struct caller *place_for_caller(struct sibling *s)
{
	for (size_t i = 0; i < CALLERS_MAX; i++) {
		struct caller *c = &s->callers[i];

		if (c->fd >= 0 && mono_ns() >= c->deadline_ns)
			hang_up(c);
		if (c->fd < 0)
			return c;
	}
	return NULL;
}

static void accept_caller(struct sibling *s, struct caller *c)
{
	/* cppcheck-suppress nullPointer ; accept(2) allows it to whom the peer is all the same */
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	*c = (struct caller){ .of = s,
			      .fd = fd,
			      .deadline_ns = mono_ns() + CALLER_SILENT_MS * NSEC_PER_MSEC };
}

static void serve_once(struct sibling *s)
{
	struct caller *place = place_for_caller(s);
	struct pollfd p[CALLERS_MAX + 2];

	for (size_t i = 0; i < CALLERS_MAX; i++)
		p[i] = (struct pollfd){ .fd = s->callers[i].fd, .events = POLLIN };
	p[CALLERS_MAX] = (struct pollfd){ .fd = s->in, .events = POLLIN };
	p[CALLERS_MAX + 1] = (struct pollfd){ .fd = place ? s->listener : -1, .events = POLLIN };
	if (poll(p, ARRAY_SIZE(p), place ? -1 : CALLER_SILENT_MS) < 0) {
		s->over |= errno != EINTR;
		return;
	}
	for (size_t i = 0; i < CALLERS_MAX; i++) {
		struct caller *c = &s->callers[i];

		if (p[i].revents && !lines_read(&c->line, c->fd, answer, c))
			hang_up(c);
	}
	if (p[CALLERS_MAX].revents && !lines_read(&s->told, s->in, obey, s))
		s->over = true;
	if (place && place->fd < 0 && p[CALLERS_MAX + 1].revents)
		accept_caller(s, place);
}

static int listen_on(uint16_t port)
{
	const struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 16) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* Byte by byte: what follows the first line is a challenge's. */
static int read_secret(struct sibling *s)
{
	char line[2 * MAC_NONCE_BYTES + 1];
	size_t n = 0;

	while (n < sizeof(line)) {
		ssize_t got = read(s->in, &line[n], 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -EPIPE;
		if (line[n] == '\n')
			break;
		n++;
	}
	if (n == sizeof(line))
		return -EINVAL;
	line[n] = '\0';
	return hex_decode(s->is.secret, sizeof(s->is.secret), line);
}

static int start(struct sibling *s, const char *port, const char *challenge)
{
	uint32_t number;
	int err = parse_u32(port, 1, UINT16_MAX, &number);

	if (!err)
		err = hex_decode(s->challenge, sizeof(s->challenge), challenge);
	if (!err)
		err = random_bytes(s->is.instance, sizeof(s->is.instance));
	if (!err)
		err = read_secret(s);
	if (err)
		return err;
	s->listener = listen_on((uint16_t)number);
	return s->listener < 0 ? s->listener : 0;
}

int sibling_run(const char *port, const char *challenge, int in, int out)
{
	struct sibling s = { .is.out = out, .in = in };
	int err = start(&s, port, challenge);

	if (err) {
		log_error("cannot be a sibling at port '%s': %s", port, strerror(-err));
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < CALLERS_MAX; i++)
		s.callers[i].fd = -1;
	s.over = stand_in_say_alive(&s.is, 1, s.challenge) != 0;
	say_ready(&s);
	while (!s.over)
		serve_once(&s);
	return EXIT_SUCCESS;
}
