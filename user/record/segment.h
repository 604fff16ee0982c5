/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a capture: capture-000001.pcapng, ... and NAME.part while one is being written. */
#ifndef SENTINEL_RECORD_SEGMENT_H
#define SENTINEL_RECORD_SEGMENT_H

#include "user/base/util.h"

#define SEGMENT_NAME_MAX 40
#define SEGMENT_RUN_MAX 32

struct segment {
	char run[SEGMENT_RUN_MAX];
	uint32_t number; /* from 1 */
};

void segment_name(uint32_t number, bool part, char ret[SEGMENT_NAME_MAX]);

/* Is there a segment of that number in the folder, whole or not? */
bool segment_exists(int dir_fd, uint32_t number);

/* Opens it for reading, the whole one before the part; its name goes to name. A CLOEXEC descriptor,
 * -ELOOP for a symbolic link (a bundle holds its own evidence), or as open_regular(). */
int segment_open(int dir_fd, uint32_t number, char name[SEGMENT_NAME_MAX]) must_check;

#endif
