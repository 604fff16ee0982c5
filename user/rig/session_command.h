/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a trial, as the target's file has them, with everything filled in. */
#ifndef SENTINEL_SESSION_COMMAND_H
#define SENTINEL_SESSION_COMMAND_H

#include "user/rig/session.h"

/* Whether the target's command has that placeholder, with its braces. */
bool session_uses(const struct session_plan *p, const char *placeholder);

/* Each: *ret is freed by target_argv_free(). 0 or -errno of target_expand(). */
int session_command(const struct session *s, char ***ret) must_check;

/* Of the sandbox beside it: the same target, with an {id} and a {dir} of its own. */
int session_sibling_command(const struct session *s, char ***ret) must_check;

#endif
