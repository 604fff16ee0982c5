/* SPDX-License-Identifier: Apache-2.0 */
/* The seccomp filter of sentinel-confine. */
#ifndef SENTINEL_CONFINE_SECCOMP_H
#define SENTINEL_CONFINE_SECCOMP_H

#include "user/base/util.h"

/*
 * socket(AF_UNIX) is EPERM from now on, for this process and its heirs; no_new_privs must be set.
 * socketpair() has no other end outside, and stays. So is every call that comes by another
 * architecture's table (int 0x80, x32), whose numbers mean something else.
 *
 * What a ring makes (IORING_OP_SOCKET) passes no filter of calls; seccomp can't see it.
 *
 * 0 or -errno; -EOPNOTSUPP where we don't know this machine's calls.
 */
int seccomp_no_unix(void) must_check;

#endif
