// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/word_diff.h"

#include <stdint.h>

#include "user/base/util.h"

/* common[i][k]: how many words before[i..] and after[k..] have in common, in order. */
struct lengths {
	uint8_t common[WORD_DIFF_MAX + 1][WORD_DIFF_MAX + 1];
};

static size_t count(char *const *words)
{
	size_t n = 0;

	while (n < WORD_DIFF_MAX && words[n])
		n++;
	return n;
}

static void measure(struct lengths *l, char *const *before, size_t n, char *const *after, size_t m)
{
	for (size_t i = n; i-- > 0;)
		for (size_t k = m; k-- > 0;) {
			uint8_t skip = MAX(l->common[i + 1][k], l->common[i][k + 1]);

			l->common[i][k] = strcmp(before[i], after[k])
						  ? skip
						  : (uint8_t)(l->common[i + 1][k + 1] + 1);
		}
}

void word_diff(struct word_diff *ret, char *const *before, char *const *after)
{
	struct lengths l = { .common = { { 0 } } };
	size_t n = count(before), m = count(after), i = 0, k = 0;

	*ret = (struct word_diff){ .before_n = n, .after_n = m };
	measure(&l, before, n, after, m);
	while (i < n || k < m) {
		if (i < n && k < m && !strcmp(before[i], after[k])) {
			i++;
			k++;
		} else if (k == m || (i < n && l.common[i + 1][k] >= l.common[i][k + 1])) {
			ret->gone[i++] = true;
			ret->gone_n++;
		} else {
			ret->come[k++] = true;
			ret->come_n++;
		}
	}
}
