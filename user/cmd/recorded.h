/* SPDX-License-Identifier: Apache-2.0 */
/* A bundle's own verdict.json beside what its capture gives. */
#ifndef SENTINEL_CMD_RECORDED_H
#define SENTINEL_CMD_RECORDED_H

#include "user/base/util.h"
#include "user/judge/verdict.h"

/* 1: byte for byte the same; 0: another; -ENOENT: it has none, or is no folder; -errno. */
int recorded_is_same(const char *bundle, const struct run_result *r) must_check;

#endif
