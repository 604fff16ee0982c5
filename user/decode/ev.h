/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct ev: one decoded record, the only thing that travels between the stages.
 *
 * A record of the kernel (decode), an entry of the run's log (the daemon), or a record read back
 * from a capture: all are a struct ev, and after record/ accepted one, nobody can tell live from
 * replay. Everything the judge may know is in here, so everything in here is in the capture.
 *
 * Times are CLOCK_MONOTONIC nanoseconds, numbers in host order, addresses 16 bytes with IPv4
 * v4-mapped, text NUL-terminated and hostile: escape it wherever it is shown.
 */
#ifndef SENTINEL_EV_H
#define SENTINEL_EV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"

#define EV_NAME_MAX 64	   /* targets, probes, interfaces: longer names are refused at loading */
#define EV_TEXT_MAX 256	   /* one line for people */
#define EV_NONCE_BYTES 16  /* a trial's nonce, and its token */
#define EV_MAC_BYTES 32	   /* HMAC-SHA256 */
#define EV_DIGEST_BYTES 32 /* SHA-256 */

enum ev_type {
	EV_NONE = 0,
	/* from the kernel: the numbers of SNT_EV_* */
	EV_EXEC = SNT_EV_EXEC,
	EV_FORK = SNT_EV_FORK,
	EV_EXIT = SNT_EV_EXIT,
	EV_SOCK = SNT_EV_SOCK,
	EV_ADDR = SNT_EV_ADDR,
	EV_CALL = SNT_EV_CALL,
	EV_SEND = SNT_EV_SEND,
	EV_STATE = SNT_EV_STATE,
	EV_DROP = SNT_EV_DROP,
	EV_PACKET = SNT_EV_PACKET,
	EV_OPT = SNT_EV_OPT,
	EV_URING = SNT_EV_URING,
	EV_ENV = SNT_EV_ENV,
	/* from the daemon: the run's log */
	EV_RUN_BEGIN = 64,
	EV_TARGET,    /* one per target, before its trials */
	EV_PROBE,     /* one per probe, before its trials */
	EV_CELL,      /* one per target x probe */
	EV_LANE,      /* a lane was made (or made anew: then its epoch is higher) */
	EV_TRIAL,     /* registered: nonce, token, addresses. Before anything of it runs */
	EV_ARM_BEGIN, /* the launcher was started */
	EV_ARM_END,   /* the launcher ended and its cgroup is empty */
	EV_ANSWER,    /* a challenge's answer, as the client handed it over; not yet checked */
	EV_PROOF,     /* the session's `ran` line, with the far side's answer; not yet checked */
	EV_RECEIVED,  /* the collector's receive log: the second witness */
	EV_ATTACH,    /* state of one hook, asked from the kernel */
	EV_CANARY,    /* the sentinel itself sent a packet that must be seen at a hook */
	EV_DECOY,     /* the sentinel itself sent W a token that must not match */
	EV_LOSS,      /* a hook lost records in an interval */
	EV_RUN_END,   /* totals and keys; nothing but a seal follows */
	EV_SEAL,      /* digest of all bytes before it */
	EV_GAP,	      /* user space lost something: queue full, disk full, undecodable record */
	EV_PROGRAM,   /* a file that is executed: what it was, by its digest */
	EV_TYPE_MAX
};

enum arm {
	ARM_NONE = 0,
	ARM_BASELINE_FIRST,
	ARM_ON,
	ARM_OFF,
	ARM_ON2,
	ARM_BASELINE_LAST,
	ARM_ALLOWED, /* as `on`, towards a destination that the platform's policy allows */
	ARM_MAX
};

enum role { /* of a target in a run */
	    ROLE_TARGET = 0,
	    ROLE_ESCAPES,  /* calibrator: claims-all-blocks-nothing, must be escaped */
	    ROLE_CONTAINS, /* calibrator: deny-all, must be contained */
	    ROLE_NEVER,	   /* calibrator: never-started, must be inconclusive */
	    ROLE_DEAF,	   /* calibrator: deaf-collector, must be inconclusive */
	    ROLE_MAX
};

/* Which of the kernel's facts about the session's exec a target expects (`expect:`). */
#define EXPECT_NS_MNT (1u << 0)
#define EXPECT_NS_NET (1u << 1)
#define EXPECT_NS_PID (1u << 2)
#define EXPECT_NS_USER (1u << 3)
#define EXPECT_NS_UTS (1u << 4)
#define EXPECT_NS_IPC (1u << 5)
#define EXPECT_NS_CGROUP (1u << 6)
#define EXPECT_NS_ALL 0x7fu
#define EXPECT_NNP (1u << 7)	 /* no_new_privs as given */
#define EXPECT_SECCOMP (1u << 8) /* seccomp mode as given */
#define EXPECT_UID (1u << 9)	 /* uid as given */
/* What no exec shows, Landlock above all: that a call is refused in the sandbox. Its session makes
 * one that harms nobody, connect() to its own loopback's discard port (RFC 863), by TCP. */
#define EXPECT_REFUSED_CONNECT (1u << 10)
#define REFUSED_CONNECT_ADDR INADDR_LOOPBACK
#define REFUSED_CONNECT_PORT 9

/* How the owner was found; the best that was there. */
enum owner {
	OWNER_UNKNOWN = 0,
	OWNER_INTERFACE, /* lane only */
	OWNER_NETNS,	 /* lane only */
	OWNER_SLOT,	 /* lane only: what the kernel side counted it for */
	OWNER_CGROUP,
	OWNER_MARK,   /* of the task: it, or an ancestor, was started as the trial's session */
	OWNER_SOCKET, /* the mark of the socket that the packet belongs to */
	OWNER_MAX
};

struct ev_ns { /* inode numbers; 0 = not known */
	uint32_t mnt, net, pid, user, uts, ipc, cgroup;
};

struct ev_task {
	uint32_t pid, tid;
	uint64_t start_ns;
	char name[17];
};

struct ev_exec {
	struct ev_task task, parent;
	struct ev_ns ns;
	uint64_t exe_ino, parent_exe_ino;
	uint32_t exe_dev, parent_exe_dev;
	uint32_t uid, gid, seccomp, no_new_privs;
	uint64_t cap_effective, cap_permitted;
	bool session;		       /* argv[1] is a session's */
	uint8_t nonce[EV_NONCE_BYTES]; /* where session */
	char argv[SNT_ARGV_MAX + 1];   /* separated by spaces */
};

struct ev_env { /* of a program at its exec */
	struct ev_task task;
	uint32_t env_bytes;	  /* how many there were */
	uint32_t env_len;	  /* how many of them are in env; fewer: SNT_F_TRUNCATED */
	uint8_t env[SNT_ENV_MAX]; /* NAME=VALUE, each ended by a NUL, but perhaps the last one */
};

struct ev_fork {
	struct ev_task parent, child;
};

struct ev_exit {
	struct ev_task task;
	uint32_t code;
};

struct ev_sock {
	struct ev_task task;
	uint64_t cookie;
	uint32_t family, type, protocol;
	bool created;
};

struct ev_addr {
	struct ev_task task;
	uint64_t cookie;
	uint32_t family, type, protocol, dport, retval;
	uint8_t daddr[16];
	char path[128]; /* AF_UNIX; an abstract name's leading NUL is shown as '@' */
};

struct ev_call {
	struct ev_task task;
	uint32_t nr;
	char name[24]; /* of the system call; "" where unknown */
	int32_t fd;
	int64_t ret;
	uint64_t arg1, arg2;
	uint32_t family, dport;
	uint8_t daddr[16];
	uint32_t data_len, data_cap;	 /* data_cap bytes of data_len are in data */
	uint8_t data[SNT_CALL_DATA_MAX]; /* of openat (open and openat2 too): the file's path */
	char path[128];			 /* of an AF_UNIX address given; as in ev_addr */
};

struct ev_send {
	struct ev_task task;
	uint64_t cookie;
	uint32_t family, type, protocol;
	int32_t ret;
	uint32_t sport, dport;
	uint8_t saddr[16], daddr[16];
};

struct ev_state {
	struct ev_task owner;
	uint64_t cookie;
	uint32_t oldstate, newstate, sport, dport;
	uint8_t saddr[16], daddr[16];
};

struct ev_drop {
	struct ev_task owner;
	uint64_t cookie, location;
	uint32_t reason;
	char reason_name[48];
	char location_name[64];
	uint32_t ifindex, netns, eth_proto, len, head_len;
	uint8_t head[SNT_DROP_HEAD_MAX];
};

/* A packet as one hook saw it, whole: decode puts chunks together. data is borrowed, valid during
 * the call that hands the event over. It starts at the link header (l2_len 14) or at IP (0). */
struct ev_packet {
	struct ev_task owner;
	uint64_t cookie;
	uint32_t ifindex, len, gso_segs, gso_size, eth_proto, l2_len;
	bool outbound; /* from the box towards the world */
	uint32_t data_len;
	const uint8_t *data;
};

struct ev_opt {
	struct ev_task task;
	uint64_t cookie;
	int32_t level, optname;
	uint32_t family;
};

struct ev_uring {
	struct ev_task task;
	int32_t res;
	uint32_t opcode; /* IORING_OP_*; with SNT_F_PARTIAL: not known */
};

/* ---- the run's log ---- */

struct ev_run_begin {
	char run[32];			     /* ULID */
	char version[32];		     /* of the sentinel */
	char kernel[128];		     /* uname -srvm */
	uint64_t realtime_ns;		     /* CLOCK_REALTIME at ev.time_ns: the clock anchor */
	uint64_t boottime_ns;		     /* CLOCK_BOOTTIME at ev.time_ns */
	uint8_t bpf_digest[EV_DIGEST_BYTES]; /* of the BPF object */
	uint32_t lanes, repeat;
	char sabotage[EV_NAME_MAX]; /* what of the instrument was broken on purpose; "" = nothing */
};

struct ev_target {
	char name[EV_NAME_MAX];
	enum role role;
	uint32_t expect; /* EXPECT_* */
	uint32_t expect_uid, expect_nnp, expect_seccomp;
	bool inferred;		   /* attempt: inferred */
	bool has_on2;		   /* on2 can be run */
	uint32_t settle_ms;	   /* 0: the probe's own window */
	uint32_t steady_ms;	   /* each round is followed by one that attempts so long after the
				    * start; 0: none */
	char version[EV_TEXT_MAX]; /* what its `version:` command printed, first line */
	char about[EV_TEXT_MAX];
	uint8_t digest[EV_DIGEST_BYTES]; /* of the target file */
};

/* Of a target's commands and needs the files that were found for them, or of the instrument itself.
 * For people: the judge does not ask for it. */
struct ev_program {
	char target[EV_NAME_MAX]; /* "" = the instrument's own */
	char path[EV_TEXT_MAX];
	uint64_t size;
	uint8_t digest[EV_DIGEST_BYTES];
};

enum channel { /* how a probe's token travels: what counts as its decisive step, and its window */
	       CHANNEL_NONE = 0,
	       CHANNEL_TCP,
	       CHANNEL_UDP,
	       CHANNEL_DNS_UDP, /* a question sent straight to a server: token = first label, hex */
	       CHANNEL_DNS_TCP,
	       CHANNEL_RESOLVER, /* a question to whatever resolver the sandbox has */
	       CHANNEL_PROXY, /* HTTP through the proxy that the environment names, else straight */
	       CHANNEL_ICMP,
	       CHANNEL_PACKET, /* an AF_PACKET frame that holds a UDP datagram */
	       CHANNEL_UNIX,   /* an AF_UNIX stream */
	       CHANNEL_SECRET, /* no packet: the proof of a planted secret */
	       CHANNEL_MAX
};

enum dest {		  /* where a probe's attempt goes; user/rig/rig.h has the addresses */
	    DEST_FAR = 0, /* an address of the far side that is this trial's own */
	    DEST_METADATA,
	    DEST_METADATA_ECS,
	    DEST_METADATA6,
	    DEST_METADATA_HOP, /* a look-alike in `host`, one hop away */
	    DEST_RESOLVER,     /* the lane's own */
	    DEST_LOOPBACK,     /* of the launcher's network namespace */
	    DEST_SIBLING,      /* another sandbox of the same target */
	    DEST_UNIX_PATH,
	    DEST_UNIX_ABSTRACT,
	    DEST_NONE, /* a secret: there is nobody to send to */
	    DEST_MAX
};

struct ev_probe {
	char name[EV_NAME_MAX];
	char attack[16]; /* ATT&CK technique */
	enum channel channel;
	enum dest dest;
	uint32_t family;	/* of the destination: AF_INET, AF_INET6; AF_UNIX; 0 = none */
	uint32_t socket_family; /* of the socket, where it differs: AF_INET6, AF_PACKET; else 0 */
	uint32_t window_ms;	/* since the last attempt event, for `contained` */
	uint64_t caps;		/* bit per CAP_*: what it needs outside any sandbox */
	bool answers;		/* the far side answers with an HMAC */
	bool forbidden;		/* its listener is one that no sandbox may reach: what that
				 * received stands beside what W saw */
	char step[EV_NAME_MAX]; /* a secret: part of the path that is opened; "" = environment */
	bool planted_env;	/* ... which the kernel must have seen in an environment */
	bool planted_beside;	/* ... of another process: EV_ANSWER_SIBLING */
	bool builtin;
};

struct ev_cell {
	char target[EV_NAME_MAX], probe[EV_NAME_MAX];
	bool claimed;
	bool has_off;		  /* an `off` for this probe can be expressed */
	bool has_allowed;	  /* an allowed destination is declared for it */
	char source[EV_TEXT_MAX]; /* the claim's document, section, version */
	char quote[EV_TEXT_MAX];
};

struct ev_lane {
	uint32_t lane;	/* 1.. */
	uint32_t epoch; /* counts from 1 per lane */
	uint32_t world_ifindex, boundary_ifindex, box_ifindex;
	struct ev_ns box, host, world; /* net only */
	uint64_t box_cookie, host_cookie, world_cookie;
};

/* Which far side a trial is aimed at. */
enum far_side { FAR_ANSWERS = 0, FAR_DEAF, FAR_MAX };

struct ev_trial {
	uint32_t id;				      /* 1.. in the run */
	char target[EV_NAME_MAX], probe[EV_NAME_MAX]; /* target "" = baseline */
	enum arm arm;
	enum far_side far;
	uint32_t repeat; /* 1..n */
	uint32_t lane, epoch;
	uint32_t uid; /* that the launcher drops to */
	bool closed;  /* the lane's own deny rule is on */
	uint8_t nonce[EV_NONCE_BYTES], token[EV_NONCE_BYTES];
	uint8_t challenge1[EV_NONCE_BYTES], challenge2[EV_NONCE_BYTES];
	enum dest dest;
	uint8_t daddr[16]; /* DEST_FAR: this trial's own; else shared with others */
	uint32_t dport;
	char path[108];	  /* AF_UNIX; an abstract name's leading NUL is shown as '@' */
	uint64_t caps;	  /* that the launcher was given: bit per CAP_* */
	uint32_t wait_ms; /* the attempt is made so long after the session's start */
	uint64_t cgroup_id;
	struct ev_ns outside; /* the launcher's namespaces; net = the lane's box */
};

struct ev_arm_begin {
	uint32_t trial, pid;
};

struct ev_arm_end {
	uint32_t trial;
	int32_t status; /* as wait() gives it; shown only */
	bool killed;	/* by us, at a time-out */
	/* why nobody answered: the launcher's error, or else the first that was printed; hostile */
	char detail[EV_TEXT_MAX];
};

/* Of who is beside a trial's own sandbox and must be there (another sandbox, DEST_SIBLING; a
 * process that has the secret, planted_beside): 3 and 4, by the trial's secret for its nonce. */
#define EV_ANSWER_SIBLING 3

struct ev_answer {
	uint32_t trial;
	uint32_t which;			  /* 1 or 2, the challenge; + 2: EV_ANSWER_SIBLING */
	uint8_t instance[EV_NONCE_BYTES]; /* random, made by the session */
	uint8_t mac[EV_MAC_BYTES];	  /* HMAC(nonce, "alive1" | challenge | instance) */
};

struct ev_proof {
	uint32_t trial;
	uint8_t instance[EV_NONCE_BYTES];
	uint8_t mac[EV_MAC_BYTES]; /* HMAC(nonce, "ran" | challenge1 | instance) */
	bool has_answer;
	uint8_t answer[EV_MAC_BYTES]; /* what the far side sent, claimed by the session */
	/* mac_plant() of the planted secret, and of its harmless twin */
	bool has_secret, has_twin;
	uint8_t secret[EV_MAC_BYTES], twin[EV_MAC_BYTES];
	char view[EV_NAME_MAX]; /* errno name or word: the probe's own view, never evidence */
};

struct ev_received { /* by the collector */
	uint32_t lane, epoch;
	uint32_t protocol; /* IPPROTO_*; 0 = AF_UNIX */
	uint32_t sport, dport;
	uint8_t saddr[16], daddr[16];
	char path[108]; /* AF_UNIX; '@' for an abstract name */
	bool forbidden; /* at a listener that no sandbox may reach */
	bool answered;
	uint32_t data_len; /* of data; the collector reads at most EV_RECEIVED_MAX per message */
#define EV_RECEIVED_MAX 1024
	uint8_t data[EV_RECEIVED_MAX];
};

struct ev_attach {
	uint32_t hook; /* SNT_HOOK_* */
	uint32_t lane; /* 0 = machine-wide */
	uint32_t epoch;
	bool attached;		  /* the kernel's own answer about the link */
	bool needed;		  /* its absence is a reason (W, B, exec, the root-cgroup set) */
	bool final;		  /* asked at the end of the run; false: at the start */
	char detail[EV_NAME_MAX]; /* errno text where not attached */
};

struct ev_canary {
	uint32_t lane, epoch;
	uint32_t hook;	/* SNT_HOOK_WORLD or SNT_HOOK_BOUNDARY: where it must be seen */
	uint32_t trial; /* before whose start or after whose window it was sent; 0 = neither */
	uint8_t token[EV_NONCE_BYTES];
};

struct ev_decoy {
	uint32_t lane, epoch, trial;
	bool one_bit; /* differs from the trial's token in one bit; else foreign */
	uint8_t token[EV_NONCE_BYTES];
};

struct ev_loss {
	uint32_t hook, slot;
	uint64_t from_ns;				    /* to = ev.time_ns */
	uint64_t ring_full, oversized, map_full, recursion; /* in the interval */
};

struct ev_gap {
	char stage[16]; /* queue, decode, disk */
	uint64_t count, from_ns;
};

struct ev_run_end {
	uint8_t key[EV_MAC_BYTES];	      /* the far side's */
	struct snt_count total[SNT_HOOK_MAX]; /* all slots and CPUs, after the last drain */
	uint64_t recursion[SNT_HOOK_MAX];
	bool aborted; /* the client left, or a signal */
	/* CLOCK_REALTIME and CLOCK_BOOTTIME at ev.time_ns: with run.begin's they tell whether a
	 * clock was set meanwhile. 0 in captures of before. */
	uint64_t realtime_ns, boottime_ns;
};

struct ev_seal {
	uint64_t offset; /* bytes before the seal's block */
	uint8_t sha256[EV_DIGEST_BYTES];
};

struct ev {
	enum ev_type type;
	enum owner owner; /* how lane and trial below were found */
	uint64_t id; /* record number in the run, unique, from 1: epb_packetid. Set by record/ */
	uint64_t time_ns;
	/* of kernel records */
	uint32_t hook, slot, flags, cpu;
	uint64_t cpu_seq, cgroup_id, netns_cookie, mark;
	/* set by attribute/: whose it is, 0 = unknown */
	uint32_t lane, trial;
	union {
		struct ev_exec exec;
		struct ev_fork fork;
		struct ev_exit exit;
		struct ev_sock sock;
		struct ev_addr addr;
		struct ev_call call;
		struct ev_send send;
		struct ev_state state;
		struct ev_drop drop;
		struct ev_packet packet;
		struct ev_opt opt;
		struct ev_uring uring;
		struct ev_env env;
		struct ev_run_begin run_begin;
		struct ev_target target;
		struct ev_program program;
		struct ev_probe probe;
		struct ev_cell cell;
		struct ev_lane lane_made;
		struct ev_trial trial_new;
		struct ev_arm_begin arm_begin;
		struct ev_arm_end arm_end;
		struct ev_answer answer;
		struct ev_proof proof;
		struct ev_received received;
		struct ev_attach attach;
		struct ev_canary canary;
		struct ev_decoy decoy;
		struct ev_loss loss;
		struct ev_gap gap;
		struct ev_run_end run_end;
		struct ev_seal seal;
	};
};

/* A sink takes an event, borrows it for the call, and answers 0 or -errno. */
typedef int (*ev_sink_fn)(void *arg, const struct ev *ev);

#endif
