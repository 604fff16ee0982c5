/* SPDX-License-Identifier: Apache-2.0 */
/* Colour on a terminal. It only ever repeats what a word or letter beside it says. */
#ifndef SENTINEL_REPORT_COLOR_H
#define SENTINEL_REPORT_COLOR_H

#include <stdbool.h>

#include "user/base/util.h"

enum color_when { COLOR_AUTO = 0, COLOR_ALWAYS, COLOR_NEVER };

/* "auto", "always" or "never". 0 or -EINVAL. */
int color_parse(const char *text, enum color_when *ret) must_check;

/* auto: fd is a terminal, TERM is not "dumb", and NO_COLOR is not set (https://no-color.org). */
bool color_wanted(enum color_when when, int fd);

enum ink { INK_NONE = 0, INK_GOOD, INK_BAD, INK_DOUBT, INK_FAINT, INK_STRONG };

/* The escape sequences around a text; "" without colour, and for INK_NONE. */
const char *ink_on(bool color, enum ink ink);
const char *ink_off(bool color, enum ink ink);

#endif
