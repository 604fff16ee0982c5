/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel side tells user space: the layout of every record in the rings, and nothing else.
 * The only header that both sides share. Numbers are append-only: a retired one stays as unused.
 *
 * All integers are in host order unless the name ends in _be. Addresses are 16 bytes, IPv4 as a
 * v4-mapped IPv6 address (::ffff:a.b.c.d), so that both families take one path. Padding is zero.
 */
#ifndef SNT_EVENTS_H
#define SNT_EVENTS_H

#ifdef __bpf__
#include "vmlinux.h"
#else
#include <linux/types.h>
#endif

/* Raise where a layout or a number changes, not where one is added: scripts/check-abi.sh. */
#define SNT_SCHEMA 1

/* ------------------------------------------------------------------------------------------------
 * Hooks. One number per program that emits; the loss counters and the capture use the same numbers.
 */
#define SNT_HOOK_NONE 0
#define SNT_HOOK_WORLD 1	 /* W: tcx ingress, world end of host-world */
#define SNT_HOOK_BOUNDARY 2	 /* B: tcx ingress, host end of box-host */
#define SNT_HOOK_BOX 3		 /* A: tcx egress, box end of box-host */
#define SNT_HOOK_CG_EGRESS 4	 /* A: cgroup_skb/egress on the cgroup v2 root */
#define SNT_HOOK_CG_INGRESS 5	 /* A: cgroup_skb/ingress on the cgroup v2 root */
#define SNT_HOOK_SOCK_CREATE 6	 /* A: cgroup/sock_create */
#define SNT_HOOK_SOCK_RELEASE 7	 /* A: cgroup/sock_release */
#define SNT_HOOK_CONNECT4 8	 /* A: cgroup/connect4 */
#define SNT_HOOK_CONNECT6 9	 /* A: cgroup/connect6 */
#define SNT_HOOK_SENDMSG4 10	 /* A: cgroup/sendmsg4 */
#define SNT_HOOK_SENDMSG6 11	 /* A: cgroup/sendmsg6 */
#define SNT_HOOK_CONNECT_UNIX 12 /* A: cgroup/connect_unix (6.7+) */
#define SNT_HOOK_SENDMSG_UNIX 13 /* A: cgroup/sendmsg_unix (6.7+) */
#define SNT_HOOK_SETSOCKOPT 14	 /* A: cgroup/setsockopt */
#define SNT_HOOK_SEND_LENGTH 15	 /* A: tp_btf sock_send_length: every family, with errno */
#define SNT_HOOK_SOCK_STATE 16	 /* A: tp_btf inet_sock_set_state */
#define SNT_HOOK_SYS_ENTER 17	 /* A: raw_tp sys_enter */
#define SNT_HOOK_SYS_EXIT 18	 /* A: raw_tp sys_exit */
#define SNT_HOOK_URING 19	 /* A: tp_btf io_uring_complete */
#define SNT_HOOK_KFREE_SKB 20	 /* where and why a packet died: tp_btf kfree_skb */
#define SNT_HOOK_EXEC 21	 /* identity: tp_btf sched_process_exec */
#define SNT_HOOK_FORK 22	 /* tp_btf sched_process_fork */
#define SNT_HOOK_EXIT 23	 /* tp_btf sched_process_exit */
#define SNT_HOOK_MAX 24

/* ------------------------------------------------------------------------------------------------
 * Rings: one for W, whose bytes are the evidence; one for what comes per packet or message, which a
 * sandbox can flood; one for the lifecycle, which explains the other two and must not be pushed out
 * by them. Each CPU counts the records of each ring by itself (snt_hdr.cpu_seq).
 */
#define SNT_RING_WORLD 0
#define SNT_RING_PACKET 1
#define SNT_RING_LIFE 2
#define SNT_RING_MAX 3

/* The only table of which ring a hook's records are in: programs write, user space reads by it. */
static inline __attribute__((always_inline)) __u32 snt_ring_of(__u32 hook)
{
	switch (hook) {
	case SNT_HOOK_WORLD:
		return SNT_RING_WORLD;
	case SNT_HOOK_BOUNDARY:
	case SNT_HOOK_BOX:
	case SNT_HOOK_CG_EGRESS:
	case SNT_HOOK_CG_INGRESS:
	case SNT_HOOK_SENDMSG4:
	case SNT_HOOK_SENDMSG6:
	case SNT_HOOK_SENDMSG_UNIX:
	case SNT_HOOK_SEND_LENGTH:
	case SNT_HOOK_KFREE_SKB:
		return SNT_RING_PACKET;
	default:
		return SNT_RING_LIFE;
	}
}

/* ------------------------------------------------------------------------------------------------
 * Slots: what loss is counted by. A lane is a slot; 0 is "in a watched cgroup or namespace that
 * belongs to no lane". 64 is far more lanes than a machine is given (see user/rig/rig.h).
 */
#define SNT_SLOT_NONE 0
#define SNT_SLOT_MAX 64

/* Per hook and slot, per CPU. seen = delivered + ring_full + oversized + map_full + filtered. */
struct snt_count {
	__u64 seen;	 /* the program ran for something that could be ours */
	__u64 delivered; /* records submitted (a packet of several chunks counts once) */
	__u64 ring_full; /* a reserve failed: at least one chunk of it is missing */
	__u64 oversized; /* more bytes than the hook may copy, where every byte matters (W) */
	__u64 map_full;	 /* an entry that the record needed could not be made or read */
	__u64 filtered;	 /* looked at, and known to be nobody we watch; always in slot 0 */
};
_Static_assert(sizeof(struct snt_count) == 48, "struct snt_count");

/* ------------------------------------------------------------------------------------------------
 * Records. Each starts with struct snt_hdr; a reader skips unknown types by hdr.len.
 */
#define SNT_EV_EXEC 1	 /* struct snt_exec */
#define SNT_EV_FORK 2	 /* struct snt_fork */
#define SNT_EV_EXIT 3	 /* struct snt_exit */
#define SNT_EV_SOCK 4	 /* struct snt_sock: made or closed */
#define SNT_EV_ADDR 5	 /* struct snt_addr: connect, sendmsg: a call with a destination */
#define SNT_EV_CALL 6	 /* struct snt_call: a system call of a marked task returned */
#define SNT_EV_SEND 7	 /* struct snt_send: a message handed to a socket, any family */
#define SNT_EV_STATE 8	 /* struct snt_state: a TCP socket changed state */
#define SNT_EV_DROP 9	 /* struct snt_drop: the kernel freed a packet as lost */
#define SNT_EV_PACKET 10 /* struct snt_packet */
#define SNT_EV_OPT 11	 /* struct snt_opt: setsockopt */
#define SNT_EV_URING 12	 /* struct snt_uring */
#define SNT_EV_ENV 13	 /* struct snt_env: what an executed program was given; hook EXEC */

#define SNT_F_TRUNCATED (1u << 0) /* the copied bytes are fewer than there were */
#define SNT_F_PARTIAL (1u << 1)	  /* a read failed: some fields are zero */
#define SNT_F_NO_ENTER (1u << 2)  /* sys_exit without sys_enter: seccomp answered (hooks.md b) */
#define SNT_F_FOREIGN (1u << 3)	  /* the socket belongs to nobody we watch */
#define SNT_F_OWNER (1u << 4)	  /* owner fields come from socket storage */
#define SNT_F_FULLSOCK (1u << 5)  /* the packet had a full socket */
#define SNT_F_MORE (1u << 6)	  /* further chunks of the same packet follow */
#define SNT_F_CREATED (1u << 7)	  /* snt_sock: made (else closed) */
#define SNT_F_DENIED (1u << 8)	  /* the egress policy refused it */
#define SNT_F_COMPAT (1u << 9)	  /* snt_call: came by a 32-bit entry (int 0x80, x32, AArch32) */
#define SNT_F_VLAN (1u << 10)	  /* tc: a VLAN tag was kept beside the bytes; data is without it */
#define SNT_F_REFUSED (1u << 11)  /* a cgroup hook: another program there had refused it already */

/* A task, as the kernel knows it (initial pid namespace). */
struct snt_task {
	__u32 tgid;
	__u32 tid;
	__u64 start_ns; /* CLOCK_MONOTONIC of the thread group's start: with tgid, unique per boot
			 */
	char comm[16];	/* TASK_COMM_LEN; chosen by the task, not always NUL-terminated */
};
_Static_assert(sizeof(struct snt_task) == 32, "struct snt_task");

struct snt_hdr {
	__u16 schema; /* SNT_SCHEMA */
	__u16 type;   /* SNT_EV_* */
	__u16 hook;   /* SNT_HOOK_* */
	__u16 slot;
	__u32 len;   /* of the whole record, this header included */
	__u32 flags; /* SNT_F_* */
	__u32 cpu;
	__u32 _pad;
	__u64 ktime_ns;	 /* CLOCK_MONOTONIC, bpf_ktime_get_ns() */
	__u64 cpu_seq;	 /* counts the records of this ring on this CPU, lost ones too: a gap is a
			    loss */
	__u64 cgroup_id; /* v2: of the socket at packet hooks, else of the current task */
	__u64 netns_cookie; /* 0 where the hook can't know */
	__u64 mark; /* first 8 bytes (big endian) of the nonce of the trial whose marked task, or
		     * descendant, or socket this is; 0 = none */
};
_Static_assert(sizeof(struct snt_hdr) == 64, "struct snt_hdr");

/* argv as execve laid it out: NUL-separated, cut at the array. A session's argv is under 200 bytes
 * up to the nonce whatever its path (PATH_MAX paths are refused by the launcher). */
#define SNT_ARGV_MAX 384

struct snt_exec {
	struct snt_hdr h;
	struct snt_task task;
	struct snt_task parent; /* real_parent */
	__u64 parent_exe_ino;
	__u64 exe_ino;
	__u32 exe_dev; /* kernel dev_t: major << 20 | minor */
	__u32 parent_exe_dev;
	__u32 ns_mnt, ns_net, ns_pid, ns_user; /* inode numbers, as in /proc/PID/ns */
	__u32 ns_uts, ns_ipc, ns_cgroup;
	__u32 uid, gid; /* effective, in the initial user namespace */
	__u32 seccomp;	/* 0 off, 1 strict, 2 filter */
	__u64 cap_effective, cap_permitted;
	__u32 no_new_privs; /* 0 or 1 */
	__u32 argv_len;
	char argv[SNT_ARGV_MAX];
};

/* The environment as execve laid it out, NUL-separated, cut at the array: a launcher's is what the
 * rig gave it, which fits with a planted secret in it. Follows the snt_exec of the same task, where
 * that is in a trial's cgroup or marked. SNT_F_TRUNCATED: what is not in it may have been there. */
#define SNT_ENV_MAX 1024

struct snt_env {
	struct snt_hdr h;
	struct snt_task task;
	__u32 env_bytes; /* how many there were */
	__u32 env_len;	 /* how many of them are in env */
	char env[SNT_ENV_MAX];
};

struct snt_fork {
	struct snt_hdr h;
	struct snt_task parent;
	struct snt_task child;
};

struct snt_exit {
	struct snt_hdr h;
	struct snt_task task;
	__u32 code; /* as wait() gives it */
	__u32 _pad;
};

struct snt_sock {
	struct snt_hdr h;
	struct snt_task task;
	__u64 cookie;
	__u32 family, type, protocol;
	__u32 _pad;
};

struct snt_addr {
	struct snt_hdr h;
	struct snt_task task;
	__u64 cookie;
	__u32 family, type, protocol;
	__u32 dport; /* host order */
	__u8 daddr[16];
	__u32 retval; /* what this program answered: 1 allow, 0 deny */
	__u32 path_len;
	char path[112]; /* AF_UNIX: sun_path is 108 bytes, abstract names start with NUL */
};

/*
 * A returned system call of a marked task. Arguments are read from the saved registers, so they are
 * there for a call that seccomp answered too. 256 bytes of what was sent: enough for a DNS question
 * (255-byte name) or a token in any coding.
 *
 * nr, fd, ret, arg1 and arg2 are the kernel's (of socketcall() and openat2() some lie in memory,
 * too). What they point to - family, daddr, dport, path and data - is read from the task's memory
 * when the call returns, and another thread of it may have written there since the kernel read it:
 * a call record tells what the task had in its memory, which proves that it tried, and never what
 * left or where to. The kernel's own copies are in snt_addr (of the destination) and snt_packet (of
 * everything).
 */
#define SNT_CALL_DATA_MAX 256
#define SNT_PATH_MAX 108 /* sizeof(sun_path) of struct sockaddr_un */

struct snt_call {
	struct snt_hdr h;
	struct snt_task task;
	__u32 nr;  /* x86_64 or arm64 number; a 32-bit call has that of its 64-bit twin */
	__s32 fd;  /* first argument; of open() as of openat(): AT_FDCWD */
	__s64 ret; /* as the program saw it: -errno, or the result */
	__u64 arg1, arg2;
	__u32 family; /* of the address given, or of socket(); 0 where there is none */
	__u32 dport;
	__u8 daddr[16];
	__u32 data_len;		      /* how many bytes the call had to send, as far as we looked */
	__u32 data_cap;		      /* how many of them are in data */
	__u8 data[SNT_CALL_DATA_MAX]; /* of openat: the path, without its NUL */
	__u32 path_len;		      /* of the AF_UNIX address given */
	__u32 _pad;
	char path[112]; /* abstract names start with NUL, and path_len says where they end */
};

struct snt_send {
	struct snt_hdr h;
	struct snt_task task;
	__u64 cookie;
	__u32 family, type, protocol;
	__s32 ret; /* bytes, or -errno */
	__u32 dport;
	__u32 sport;
	__u8 daddr[16];
	__u8 saddr[16];
};

struct snt_state {
	struct snt_hdr h;
	struct snt_task owner;
	__u64 cookie;
	__u32 oldstate, newstate; /* TCP_* of include/net/tcp_states.h */
	__u32 sport, dport;
	__u8 saddr[16];
	__u8 daddr[16];
};

/* Head of the dead packet from its network header: IP (up to 60) + TCP (up to 60) + enough payload
 * to find a token (8). */
#define SNT_DROP_HEAD_MAX 128

struct snt_drop {
	struct snt_hdr h;
	struct snt_task owner;
	__u64 cookie;
	__u64 location; /* kernel address that freed it; names come from kallsyms where readable */
	__u32 reason;	/* enum skb_drop_reason: names come from BTF */
	__u32 ifindex;
	__u32 netns; /* inode number of the namespace that the packet was in */
	__u32 eth_proto;
	__u32 len; /* of the packet */
	__u32 head_len;
	__u8 head[SNT_DROP_HEAD_MAX];
};

/* Packet records come in three sizes (hooks.md section 4), so that a ring's capacity is known. At W
 * a packet longer than the largest is continued in further records with the same pkt_id. */
#define SNT_PKT_DATA_SMALL 128
#define SNT_PKT_DATA_MEDIUM 512
#define SNT_PKT_DATA_LARGE 2048
#define SNT_PKT_CHUNKS_MAX 33 /* 64 KiB + link header: the largest IPv4 GSO packet */

struct snt_packet {
	struct snt_hdr h;
	struct snt_task owner; /* from socket storage: SNT_F_OWNER says whether it is there */
	__u64 cookie;
	__u64 pkt_id; /* per CPU and hook: the chunks of one packet share it */
	__u32 ifindex;
	__u32 len; /* of the packet on the hook: with link header at tc, without at cgroup_skb */
	__u32 gso_segs, gso_size;
	__u32 eth_proto; /* host order */
	__u32 l2_len;	/* 14 at tc hooks, 0 at cgroup_skb: where the IP header starts in the packet
			 */
	__u32 offset;	/* of this record's bytes in the packet */
	__u32 data_len; /* bytes in data */
	__u8 data[];	/* SNT_PKT_DATA_* */
};

struct snt_opt {
	struct snt_hdr h;
	struct snt_task task;
	__u64 cookie; /* 0 where the socket has none yet: AF_PACKET and AF_XDP before they sent */
	__s32 level, optname;
	__u32 family, _pad;
};

struct snt_uring {
	struct snt_hdr h;
	struct snt_task task;
	__s32 res;
	__u32 opcode; /* IORING_OP_*, from the kernel's own request; SNT_F_PARTIAL: not known */
};

_Static_assert(sizeof(struct snt_exec) == 64 + 64 + 16 + 8 + 28 + 12 + 16 + 8 + SNT_ARGV_MAX,
	       "struct snt_exec");
_Static_assert(sizeof(struct snt_env) == 96 + 8 + SNT_ENV_MAX, "struct snt_env");
_Static_assert(sizeof(struct snt_fork) == 128, "struct snt_fork");
_Static_assert(sizeof(struct snt_exit) == 104, "struct snt_exit");
_Static_assert(sizeof(struct snt_sock) == 120, "struct snt_sock");
_Static_assert(sizeof(struct snt_addr) == 96 + 8 + 16 + 16 + 8 + 112, "struct snt_addr");
_Static_assert(sizeof(struct snt_call) == 96 + 16 + 16 + 8 + 16 + 8 + SNT_CALL_DATA_MAX + 8 + 112,
	       "struct snt_call");
_Static_assert(sizeof(struct snt_send) == 96 + 8 + 16 + 8 + 32, "struct snt_send");
_Static_assert(sizeof(struct snt_state) == 96 + 8 + 16 + 32, "struct snt_state");
_Static_assert(sizeof(struct snt_drop) == 96 + 16 + 24 + SNT_DROP_HEAD_MAX, "struct snt_drop");
_Static_assert(sizeof(struct snt_packet) == 96 + 16 + 32, "struct snt_packet");
_Static_assert(sizeof(struct snt_opt) == 120, "struct snt_opt");
_Static_assert(sizeof(struct snt_uring) == 104, "struct snt_uring");

/* What a session's argv looks like, so that the kernel can know it at exec: argv[1] is
 * "SENTINEL1:" and 32 hexadecimal digits, the trial's nonce. argv[0] is not looked at. */
#define SNT_SESSION_PREFIX "SENTINEL1:"
#define SNT_SESSION_PREFIX_LEN 10
#define SNT_NONCE_HEX_LEN 32

#endif
