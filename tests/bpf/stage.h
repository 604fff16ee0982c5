/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage for tests of the kernel side against real system calls: an observer, a lane and a
 * cgroup of the test's own. A session is executed there, does one thing, and what the hooks told of
 * it is kept in the order in which the rings gave it.
 *
 * A test program starts itself as the session: argv[1] is a session's, argv[2] names the act.
 */
#ifndef TESTS_BPF_STAGE_H
#define TESTS_BPF_STAGE_H

#include <linux/bpf.h> /* before banned.h: it names functions that are */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "user/base/netns.h"
#include "user/sense/sense_priv.h"

#include "tests/bpf/lane.h"

#define MARK 0x0123456789abcdefull
#define NONCE "0123456789abcdef00112233445566ff"
#define TOKEN "token-of-the-trial-0123456789"
#define LANE 7
#define PORT 4242	   /* of world: nobody listens */
#define LISTENED_PORT 4243 /* ... somebody takes datagrams, and never answers */
#define NOBODY 65534

#define NR_SOCKET ((uint32_t)SYS_socket)
#define NR_CONNECT ((uint32_t)SYS_connect)
#define NR_SENDTO ((uint32_t)SYS_sendto)
#define NR_SENDMSG ((uint32_t)SYS_sendmsg)

struct stage {
	struct sense *sense;
	struct test_lane lane;
	char run_name[64], trial_path[128];
	uint64_t run_id, trial_id;
	int root_fd;
};
extern struct stage stage;

/* ---- a test program ---- */

/* What a session does: its exit status says how far it came, 0 to the end; 77: not possible here.
 */
struct stage_act {
	const char *name;
	int (*fn)(void);
};

/* main() of a test program: the session's side, or the tests, which `tests` runs. */
int stage_main(int argc, char **argv, const struct stage_act *acts, size_t n, int (*tests)(void));

/* For cmocka_run_group_tests(). */
int stage_set_up(void **state);
int stage_tear_down(void **state);

/* The last test of each program: after all of that, each hook's counters add up. */
void stage_test_count(void **state);

/* The lane as sense_attach_lane() wants it. */
struct sense_lane stage_lane(void);

/* ---- playing ---- */

#define IN_CGROUP (1u << 0)
#define AS_NOBODY (1u << 1)
#define NO_SOCKETS (1u << 2) /* a seccomp filter that answers socket() with EPERM */
#define NO_URING (1u << 3)   /* ... io_uring_setup() */
#define NO_SENDTO (1u << 4)  /* ... sendto() and connect() */
#define WRAPPED (1u << 5)    /* the session's argument, but not as argv[1] */

/* In a child: enters everything, then becomes the session. Answers only where that failed. */
int become(const char *name, uint32_t how);

/* Runs the session, and keeps what the kernel told until all that it sent has come to its end. Its
 * pid. Skips the test where the act says that it is not possible here. */
pid_t play(const char *name, uint32_t how);
pid_t play_status(const char *name, uint32_t how, int expect);

/* The environment of the next sessions, NULL-terminated; NULL: the test's own. */
void play_with_env(char *const *env);

/* Waits until each packet that was sent before has passed every hook. */
void settle(void);

/* ---- what the kernel told ---- */

/* The first record after `after` (NULL: of all) of a hook and type; NULL: none. */
const void *next_of(const void *after, uint32_t hook, uint32_t type);
/* The first of all; it must be there. */
const void *first_of(uint32_t hook, uint32_t type);
/* The first call with this number; NULL: none. */
const struct snt_call *call_of(uint32_t nr);
const struct snt_call *next_call_of(const struct snt_call *after, uint32_t nr);
/* The frame with the token at one hook; it must be there. */
const struct snt_packet *token_at(uint32_t hook);

bool is_attached(uint32_t hook, uint32_t lane);

void assert_v4(const uint8_t a[16], const char *text);
void assert_ours(const struct snt_hdr *h);
void check_call(const struct snt_call *c, uint32_t nr, int64_t ret, uint32_t flags);

/* ---- acts that several have ---- */

struct sockaddr_in world_addr(const char *text);
int do_udp_to(const char *text);
int do_udp(void);
int do_nothing(void);
int do_socket(void); /* must be refused with EPERM */

#endif
