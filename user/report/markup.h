/* SPDX-License-Identifier: Apache-2.0 */
/* The one way in which anybody's text gets into XML or HTML. */
#ifndef SENTINEL_REPORT_MARKUP_H
#define SENTINEL_REPORT_MARKUP_H

#include <stdio.h>

/* Writes text, whoever chose it, so that it is text and nothing else, between tags and in an
 * attribute's double quotes: printable() leaves ASCII without control characters, of which five
 * could be markup. */
void markup_text(FILE *f, const char *text);

#endif
