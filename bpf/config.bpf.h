/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What user space sets: once before loading (read-only data), and the gate. */
#ifndef SNT_CONFIG_BPF_H
#define SNT_CONFIG_BPF_H

#include "bpf/events.h"

#include <bpf/bpf_helpers.h>

/* Every object that includes this defines them; the linker keeps one of each. */
#define SNT_KNOB const volatile __weak

/* Most bytes copied of a packet elsewhere than at W. */
SNT_KNOB __u32 snt_snapshot = SNT_PKT_DATA_MEDIUM;

/* The run's cgroup v2 and its level below the root; 0 = none. */
SNT_KNOB __u64 snt_run_cgroup = 0;
SNT_KNOB __u32 snt_run_level = 0;

/* 1: a session whose mark is not in snt_trials is somebody else's. */
SNT_KNOB __u32 snt_known_marks = 0;

/* Queued bytes from which on a record wakes the reader. */
SNT_KNOB __u32 snt_wake_bytes[SNT_RING_MAX] = { 1 << 20, 1 << 20, 1 << 20 };

/* What each number of enum skb_drop_reason is worth. Numbers differ between kernels, so user space
 * fills it by name. Numbers beyond it tell. */
#define SNT_REASON_TELLS 0   /* ... where and why a packet died */
#define SNT_REASON_DULL 1    /* every machine has it all day */
#define SNT_REASON_UNNAMED 2 /* the caller gave none: worth as much as the caller's name */
#define SNT_REASONS_MAX 256
SNT_KNOB __u8 snt_reasons[SNT_REASONS_MAX] = {};

/* Functions that free a packet without a reason, but for one: those that a route's verdict calls.
 * Not read-only: the kernel's symbols are read while lanes are attached, which is mostly waiting.
 */
#define SNT_CALLERS_MAX 8
__u64 snt_caller_start[SNT_CALLERS_MAX] __weak = {};
__u64 snt_caller_bytes[SNT_CALLERS_MAX] __weak = {};

/* 0: nothing is seen, counted or emitted. Stopping is one store, whatever the number of links. */
__u32 snt_gate __weak = 0;

static __always_inline bool gate_closed(void)
{
	return !*(volatile __u32 *)&snt_gate;
}

#endif
