/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether somebody else's program on the same cgroup hook has refused the call. */
#ifndef SENTINEL_REFUSED_BPF_H
#define SENTINEL_REFUSED_BPF_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/*
 * SNT_F_REFUSED or 0. All programs of a hook run, whatever one of them says, those of inner cgroups
 * first: so one on the root, as ours are, is told what they said. It doesn't know of one that was
 * put on the root after it.
 *
 * The helper may be called by these hooks since 6.1, and came to others before; a helper that came
 * to all with 6.1 tells.
 */
static __always_inline __u32 others_refused(void)
{
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_ktime_get_tai_ns))
		return 0;
	return bpf_get_retval() < 0 ? SNT_F_REFUSED : 0;
}

#endif
