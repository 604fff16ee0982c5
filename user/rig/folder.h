/* SPDX-License-Identifier: Apache-2.0 */
/* {dir}: a folder of one trial's own, which its sandbox may fill with whatever it likes. */
#ifndef SENTINEL_FOLDER_H
#define SENTINEL_FOLDER_H

#include <sys/types.h>

#include "user/base/util.h"

#define FOLDER_PARENT "/run/sentinel/dir"
#define FOLDER_PATH_MAX 64

/* Makes a new folder (0700) that belongs to uid and gid. 0 or -errno. */
int folder_make(uid_t uid, gid_t gid, char ret[FOLDER_PATH_MAX]) must_check;

/* Removes it with all that is in it, never following a link. What can't be removed stays. "" is
 * fine. */
void folder_remove(const char *path);

#endif
