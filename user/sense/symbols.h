/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the kernel's functions, from /proc/kallsyms. */
#ifndef SENTINEL_SENSE_SYMBOLS_H
#define SENTINEL_SENSE_SYMBOLS_H

#include "user/base/util.h"

#define SYMBOL_NAME_MAX 64

struct symbols;

/* Starts reading in a thread of its own: it takes about 60 ms, most of it the kernel's. NULL and
 * errno where it can't. */
struct symbols *symbols_new(void);
void symbols_wait(struct symbols *s); /* any number of threads may */
void symbols_free(struct symbols *s); /* NULL is fine */

/* The function that holds addr; after symbols_wait(). False where none is known. */
bool symbols_find(const struct symbols *s, uint64_t addr, char ret[SYMBOL_NAME_MAX]);

/* Where a function starts and the next one begins; after symbols_wait(). False where it is not
 * known (any more): not every kernel has every function. */
bool symbols_range(const struct symbols *s, const char *name, uint64_t *ret_start,
		   uint64_t *ret_end);

#endif
