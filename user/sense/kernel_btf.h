/* SPDX-License-Identifier: Apache-2.0 */
/* What the running kernel's own type information says: tracepoints and names of drop reasons. */
#ifndef SENTINEL_SENSE_KERNEL_BTF_H
#define SENTINEL_SENSE_KERNEL_BTF_H

#include "user/base/util.h"

struct kernel_btf;

/* 0 or -errno (-ENOENT: the kernel has no BTF). The caller owns *ret. */
int kernel_btf_new(struct kernel_btf **ret) must_check;
void kernel_btf_free(struct kernel_btf *k); /* NULL is fine */

/* Number of arguments of a tracepoint, -ENOENT where the kernel has none of that name. */
int kernel_btf_tracepoint(const struct kernel_btf *k, const char *name);

/* Number of the type, for attaching; -ENOENT. kind: BTF_KIND_*. */
int kernel_btf_id(const struct kernel_btf *k, const char *name, uint32_t kind);

/* "TC_EGRESS" for a number of enum skb_drop_reason; NULL where it has none. Borrowed. */
const char *kernel_btf_drop_reason(const struct kernel_btf *k, uint32_t reason);

/* What each reason is worth, in worth[number]: SNT_REASON_* of bpf/config.bpf.h. */
enum reason_worth { REASON_TELLS, REASON_DULL, REASON_UNNAMED };
void kernel_btf_reasons(const struct kernel_btf *k, uint8_t *worth, uint32_t n);

#endif
