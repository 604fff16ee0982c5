// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * No hook: keeps the types of all records in the object's BTF, which otherwise holds only what maps
 * and functions name. tests/unit/test_layout.c compares them with what user space is built with;
 * `bpftool btf dump` shows them to who reads a ring by other means.
 */
#include "bpf/events.h"

#define KEEP(TYPE) const struct TYPE *keep_##TYPE

KEEP(snt_exec);
KEEP(snt_fork);
KEEP(snt_exit);
KEEP(snt_sock);
KEEP(snt_addr);
KEEP(snt_call);
KEEP(snt_send);
KEEP(snt_state);
KEEP(snt_drop);
KEEP(snt_packet);
KEEP(snt_opt);
KEEP(snt_uring);
KEEP(snt_env);
