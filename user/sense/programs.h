/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of the kernel side, and which of them this kernel gets. */
#ifndef SENTINEL_SENSE_PROGRAMS_H
#define SENTINEL_SENSE_PROGRAMS_H

#include "user/base/util.h"
#include "user/sense/kernel_btf.h"

enum attach_kind {
	ATTACH_DEVICE, /* by sense_attach_lane() */
	ATTACH_CGROUP, /* to the root of cgroup v2 */
	ATTACH_TRACE,  /* tp_btf and raw_tp */
};

struct program {
	uint32_t hook;	  /* SNT_HOOK_* */
	const char *name; /* in the object */
	enum attach_kind kind;
	const char *tracepoint; /* tp_btf: must be in the kernel's BTF. NULL: none needed */
	int args_min, args_max; /* how many arguments the tracepoint must have */
	int (*wanted)(void);	/* 0 where the kernel can run it; NULL = always */
	uint32_t attach_type;	/* where libbpf's for its section is not the one; 0 = it is */
};

/* In the order in which they are attached: what keeps the marks before what sets them. */
extern const struct program programs[];
extern const size_t programs_n;

/* 0, or -errno: why this kernel doesn't get the program. */
int program_wanted(const struct program *p, const struct kernel_btf *k);

/* Can cgroup_skb programs ask for the namespace's cookie? Tried by loading one. 0 or -errno. */
int probe_skb_cookie(void);

/* Are there hooks for the addresses of UNIX sockets? Tried by loading one. 0 or -errno. */
int probe_unix_addr(void);

/* Loads a program of a type and throws it away. insns: NULL for "return 1". 0 or -errno. */
struct bpf_insn;
int probe_program(uint32_t type, uint32_t expected_attach, const struct bpf_insn *insns,
		  size_t insns_n);

#endif
