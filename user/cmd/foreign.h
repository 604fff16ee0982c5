/* SPDX-License-Identifier: Apache-2.0 */
/* `sentinel replay` of a capture that another tool wrote: what it shows, and no verdict. */
#ifndef SENTINEL_CMD_FOREIGN_H
#define SENTINEL_CMD_FOREIGN_H

#include "user/cmd/output.h"
#include "user/record/origin.h"

/* Is path another tool's capture? What can't be read or told is not. */
bool foreign_is(const char *path, enum origin *ret);

/* Prints it, as a table or as lines of JSON. EXIT_INCONCLUSIVE, for nothing is scored; EXIT_DAMAGED
 * where it could not be read to its end; EXIT_USAGE where it can't be read at all; EXIT_OUTPUT. */
int foreign_replay(const char *path, enum origin origin, const struct output *out);

#endif
