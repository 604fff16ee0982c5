/* SPDX-License-Identifier: Apache-2.0 */
/* What `targets --json` and `probes --json` say of each: one object a line. */
#ifndef SENTINEL_LIST_JSON_H
#define SENTINEL_LIST_JSON_H

#include "probes/probe.h"
#include "user/base/json_out.h"
#include "user/rig/target.h"

/* missing: what it needs and this machine lacks; NULL: nothing. */
void list_json_target(struct json_out *j, const struct target *t, const char *missing);

void list_json_probe(struct json_out *j, const struct probe_manifest *p);

/* Prints what is in j and empties it. 0, or -errno, errno set, where it can't be printed. */
int list_json_print(struct json_out *j) must_check;

#endif
