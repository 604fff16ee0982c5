/* SPDX-License-Identifier: Apache-2.0 */
/* Which words two command lines do not have in common. */
#ifndef SENTINEL_WORD_DIFF_H
#define SENTINEL_WORD_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#define WORD_DIFF_MAX 64 /* words of each; more are not looked at */

/* Of the longest run of words that both have in the same order, those are left that only one has:
 * gone[i] of before, come[i] of after. Lists are NULL-terminated. */
struct word_diff {
	bool gone[WORD_DIFF_MAX], come[WORD_DIFF_MAX];
	size_t before_n, after_n, gone_n, come_n;
};
void word_diff(struct word_diff *ret, char *const *before, char *const *after);

#endif
