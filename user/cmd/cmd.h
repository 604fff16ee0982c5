/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of `sentinel`: one file each, one function each, an exit code each (verdict.h). */
#ifndef SENTINEL_CMD_H
#define SENTINEL_CMD_H

#include "user/base/diag.h"
#include "user/base/util.h"

int cmd_run(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_targets(int argc, char **argv);
int cmd_probes(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/* Logs what d says as an error and answers code. */
int cmd_fail(const struct diag *d, int code);

/* Path of a program beside this one ("sentineld"). 0 or -errno. */
int cmd_beside(char *ret, size_t n, const char *name) must_check;

/* The folder of the built-in policies/NAME: in the source tree beside build/, or where `make
 * install` put it. 0 or -ENOENT. */
int cmd_policies(char *ret, size_t n, const char *name) must_check;

#endif
