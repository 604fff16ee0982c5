/* SPDX-License-Identifier: Apache-2.0 */
/* From a record to a moment of a time line (report/moment.h). */
#ifndef SENTINEL_CMD_MOMENT_H
#define SENTINEL_CMD_MOMENT_H

#include "user/base/util.h"
#include "user/record/message.h"
#include "user/report/moment.h"

struct moment_room { /* what a moment's texts are written into */
	char process[48], what[MESSAGE_MAX], outcome[192];
};

/* t: the trial that ev belongs to, NULL for none. ret's texts are in room. */
void moment_of(const struct ev *ev, const struct ev_trial *t, struct moment_room *room,
	       struct moment *ret);

/* A copy whose texts are its own, to be given back to moment_free(). 0 or -ENOMEM. */
int moment_copy(const struct moment *m, struct moment *ret) must_check;
void moment_free(struct moment *m);

/* How much it tells of why a verdict is what it is: 0 most. A time line that has not room for all
 * keeps the lower ones. */
#define MOMENT_RANKS 3
unsigned int moment_rank(const struct ev *ev);

#endif
