/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that have no place here: each has a bounded twin in base/. */
#ifndef SENTINEL_BASE_BANNED_H
#define SENTINEL_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef alloca
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol strtol strtoul
#pragma GCC poison gmtime localtime system alloca gets

#endif
