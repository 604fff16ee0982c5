/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of `sentinel`: one file each, one function each, an exit code each (verdict.h). */
#ifndef SENTINEL_CMD_H
#define SENTINEL_CMD_H

#include "user/base/diag.h"
#include "user/base/util.h"

int cmd_run(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_timeline(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_targets(int argc, char **argv);
int cmd_probes(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/* How a command logs, once its options are known: json makes each line an object. */
void cmd_log(bool json);

/* Logs what d says as an error and answers code. */
int cmd_fail(const struct diag *d, int code);

/* Right after printing has failed: says why, by errno, once. EXIT_OUTPUT. */
int cmd_output_failed(void);

/* At the very end: code, or where standard output does not take all that was printed, as
 * cmd_output_failed(). */
int cmd_flush(int code);

/* Path of a program beside this one ("sentineld"). 0 or -errno. */
int cmd_beside(char *ret, size_t n, const char *name) must_check;

/* The folder of the built-in policies/NAME: in the source tree beside build/, or where `make
 * install` put it. 0, or -ENOENT with d naming where it was looked for. */
int cmd_policies(char *ret, size_t n, const char *name, struct diag *d) must_check;

#endif
