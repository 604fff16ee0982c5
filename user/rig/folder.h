/* SPDX-License-Identifier: Apache-2.0 */
/*
 * {dir}: a folder of one trial's own, which its sandbox may fill with whatever it likes.
 *
 *   FOLDER_PARENT/XXXXXX/          one client's, locked (flock) while the client lives
 *   FOLDER_PARENT/XXXXXX/YYYYYY/   one trial's
 */
#ifndef SENTINEL_FOLDER_H
#define SENTINEL_FOLDER_H

#include <sys/types.h>

#include "user/base/util.h"

#define FOLDER_PARENT "/run/sentinel/dir"
#define FOLDER_PATH_MAX 64

struct folders {
	int lock; /* private: holds the flock; -1: nothing is made yet */
	char path[FOLDER_PATH_MAX];
};
#define FOLDERS_NONE ((struct folders){ .lock = -1 })

/* Removes what clients that are dead left there, and what can't be removed stays. */
void folders_sweep(void);

/* Makes a new folder (0700) that belongs to uid and gid. 0 or -errno. */
int folder_make(struct folders *f, uid_t uid, gid_t gid, char ret[FOLDER_PATH_MAX]) must_check;

/* Removes it with all that is in it, never following a link. What can't be removed stays. "" is
 * fine. */
void folder_remove(const char *path);

/* Removes what is left of all of them. */
void folders_done(struct folders *f);

#endif
