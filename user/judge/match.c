// SPDX-License-Identifier: Apache-2.0
/*
 * Two passes over the bytes. Raw: at each offset the first 8 bytes are hashed into a filter of bits
 * that is small enough for the fastest cache; what passes is looked up. Text: of the three codings
 * base64 has the shortest text, and its digits are a superset of the others', so only runs of at
 * least that many of its digits are decoded; in anything but text nearly every byte is skipped.
 */
#include "user/judge/match.h"

#include <endian.h>

#include "user/judge/guard.h"

#define TOKEN_BITS 128
#define FIRST_BITS 4  /* the table begins with 16 entries */
#define FILTER_BITS 5 /* and has 32 bits of filter for each: at most 1 in 64 is set */
#define RUN_MIN 22    /* base64 digits of a token, 128 / 6 */
#define HASH_FACTOR 0x9e3779b97f4a7c15ull /* 2^64 / golden ratio: the high bits are well mixed */

struct entry {
	uint64_t first, second; /* halves of the token, as they lie in memory */
	uint32_t trial;
	bool used;
};

struct match_set {
	struct entry *entries;
	uint64_t *filter;
	uint32_t bits, used; /* 2^bits entries, at most half of them used */
};

/* Where a match may lie, and whom to tell. */
struct scan {
	const struct match_set *set;
	match_fn fn;
	void *arg;
	size_t start_before, end_after; /* offsets in the buffer at work */
};

/* ---- the set ---- */

static uint64_t hash(uint64_t first)
{
	return first * HASH_FACTOR;
}

static int make_tables(struct match_set *s, uint32_t bits)
{
	*s = (struct match_set){ .bits = bits };
	s->entries = calloc(1ul << bits, sizeof(*s->entries));
	s->filter = calloc(1ul << (bits + FILTER_BITS) >> 6, sizeof(*s->filter));
	if (s->entries && s->filter)
		return 0;
	free(s->entries);
	free(s->filter);
	return -ENOMEM;
}

int match_set_new(struct match_set **ret)
{
	struct match_set *s = malloc(sizeof(*s));

	if (!s)
		return -ENOMEM;
	if (make_tables(s, FIRST_BITS) < 0) {
		free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void match_set_free(struct match_set *s)
{
	if (!s)
		return;
	free(s->entries);
	free(s->filter);
	free(s);
}

static bool may_hold(const struct match_set *s, uint64_t first)
{
	uint64_t bit = hash(first) >> (64 - s->bits - FILTER_BITS);

	return s->filter[bit >> 6] >> (bit & 63) & 1;
}

static struct entry *find(const struct match_set *s, uint64_t first, uint64_t second)
{
	uint64_t mask = (1ull << s->bits) - 1;
	uint64_t i = hash(first) >> (64 - s->bits);

	for (; s->entries[i].used; i = (i + 1) & mask) {
		struct entry *e = &s->entries[i];

		/* A matcher without this line finds tokens everywhere. */
		if (GUARD(MATCH_ALWAYS, e->first != first || e->second != second))
			continue;
		return e;
	}
	return NULL;
}

static void insert(struct match_set *s, uint64_t first, uint64_t second, uint32_t trial)
{
	uint64_t mask = (1ull << s->bits) - 1;
	uint64_t bit = hash(first) >> (64 - s->bits - FILTER_BITS);
	uint64_t i = hash(first) >> (64 - s->bits);

	while (s->entries[i].used)
		i = (i + 1) & mask;
	s->entries[i] = (struct entry){ first, second, trial, true };
	s->filter[bit >> 6] |= 1ull << (bit & 63);
	s->used++;
}

static int grow(struct match_set *s)
{
	struct match_set bigger;

	if (make_tables(&bigger, s->bits + 1) < 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < 1ull << s->bits; i++) {
		const struct entry *e = &s->entries[i];

		if (e->used)
			insert(&bigger, e->first, e->second, e->trial);
	}
	free(s->entries);
	free(s->filter);
	*s = bigger;
	return 0;
}

int match_set_add(struct match_set *s, const uint8_t token[MATCH_TOKEN_BYTES], uint32_t trial)
{
	uint64_t first, second;
	int err;

	memcpy(&first, token, 8);
	memcpy(&second, token + 8, 8);
	for (uint64_t i = 0, mask = (1ull << s->bits) - 1, at = hash(first) >> (64 - s->bits);
	     s->entries[(at + i) & mask].used; i++) {
		const struct entry *e = &s->entries[(at + i) & mask];

		if (e->first == first && e->second == second)
			return -EEXIST;
	}
	if (s->used == MATCH_TOKENS_MAX)
		return -ENOSPC;
	if (s->used == 1u << (s->bits - 1)) {
		err = grow(s);
		if (err < 0)
			return err;
	}
	insert(s, first, second, trial);
	return 0;
}

/* ---- a buffer ---- */

/* Is what lies at [start, end) a token? */
static void check(const struct scan *c, uint64_t first, uint64_t second, size_t start, size_t end,
		  enum match_form form)
{
	const struct entry *e;

	if (GUARD(MATCH_ALWAYS, !may_hold(c->set, first)))
		return;
	e = find(c->set, first, second);
	if (GUARD(MATCH_NEVER, e != NULL) && start < c->start_before && end > c->end_after)
		c->fn(c->arg, e->trial, form);
}

static void scan_raw(const struct scan *c, const uint8_t *p, size_t len)
{
	uint64_t first, second;

	for (size_t i = 0; i + MATCH_TOKEN_BYTES <= len; i++) {
		memcpy(&first, p + i, 8);
		if (GUARD(MATCH_ALWAYS, !may_hold(c->set, first)))
			continue;
		memcpy(&second, p + i + 8, 8);
		check(c, first, second, i, i + MATCH_TOKEN_BYTES, MATCH_RAW);
	}
}

#define NO_DIGIT 0xff

/* What a character is worth in each coding. RFC 4648 tables 1 to 5; case does not count in base16
 * and base32, and the two that differ in base64url stand beside those of base64. */
struct digit {
	uint8_t hex, base32, base64;
};

#define IN(c, a, b) ((c) >= (a) && (c) <= (b))
#define HEX(c)                                                                                     \
	(IN(c, '0', '9')   ? (c) - '0'                                                             \
	 : IN(c, 'a', 'f') ? (c) - 'a' + 10                                                        \
	 : IN(c, 'A', 'F') ? (c) - 'A' + 10                                                        \
			   : NO_DIGIT)
#define BASE32(c)                                                                                  \
	(IN(c, 'a', 'z')   ? (c) - 'a'                                                             \
	 : IN(c, 'A', 'Z') ? (c) - 'A'                                                             \
	 : IN(c, '2', '7') ? (c) - '2' + 26                                                        \
			   : NO_DIGIT)
#define BASE64(c)                                                                                  \
	(IN(c, 'A', 'Z')	    ? (c) - 'A'                                                    \
	 : IN(c, 'a', 'z')	    ? (c) - 'a' + 26                                               \
	 : IN(c, '0', '9')	    ? (c) - '0' + 52                                               \
	 : (c) == '+' || (c) == '-' ? 62                                                           \
	 : (c) == '/' || (c) == '_' ? 63                                                           \
				    : NO_DIGIT)
#define DIGIT(c)                                                                                   \
	{                                                                                          \
		(uint8_t) HEX(c), (uint8_t)BASE32(c), (uint8_t)BASE64(c)                           \
	}
#define DIGITS_4(c) DIGIT(c), DIGIT((c) + 1), DIGIT((c) + 2), DIGIT((c) + 3)
#define DIGITS_16(c) DIGITS_4(c), DIGITS_4((c) + 4), DIGITS_4((c) + 8), DIGITS_4((c) + 12)
#define DIGITS_64(c) DIGITS_16(c), DIGITS_16((c) + 16), DIGITS_16((c) + 32), DIGITS_16((c) + 48)

static const struct digit digits_of[256] = {
	DIGITS_64(0),
	DIGITS_64(64),
	DIGITS_64(128),
	DIGITS_64(192),
};

/* The last digits of one coding: 192 bits of them, more than any token takes. */
struct digits {
	uint64_t high;
	unsigned __int128 low;
	size_t run; /* digits without a break */
};

/* Without a branch, for in a mix of letters none could be foretold. What is no digit leaves rubbish
 * in the place of digits that no longer count. */
static inline void add_digit(struct digits *d, uint8_t value, unsigned int bits)
{
	d->high = d->high << bits | (uint64_t)(d->low >> (TOKEN_BITS - bits));
	d->low = d->low << bits | value;
	d->run = value == NO_DIGIT ? 0 : d->run + 1;
}

/*
 * A token need not end with a digit: below its last bit there can be `below` more in that digit,
 *
 *	... | digit | digit | di:git |
 *	       token's bits ---> below
 *
 * and there are as many cases as whole bytes can be offset against digits: below = 0 for hex; any
 * of 0..4 for base32; 0, 2, 4 for base64. end: offset behind the last digit.
 */
static inline void check_digits(const struct scan *c, const struct digits *d, unsigned int bits,
				unsigned int below, size_t end, enum match_form form)
{
	size_t n = (TOKEN_BITS + below + bits - 1) / bits;
	unsigned __int128 v = d->low;

	if (d->run < n)
		return;
	if (below)
		v = v >> below | (unsigned __int128)d->high << (TOKEN_BITS - below);
	check(c, htobe64((uint64_t)(v >> 64)), htobe64((uint64_t)v), end - n, end, form);
}

/* Digits of base64, some of which may be digits of the others. at: offset of p in the buffer. */
static void scan_run(const struct scan *c, const uint8_t *p, size_t len, size_t at)
{
	struct digits hex = { 0 }, base32 = { 0 }, base64 = { 0 };

	for (size_t i = 0; i < len; i++) {
		struct digit d = digits_of[p[i]];
		size_t end = at + i + 1;

		add_digit(&hex, d.hex, 4);
		add_digit(&base32, d.base32, 5);
		add_digit(&base64, d.base64, 6);
		check_digits(c, &hex, 4, 0, end, MATCH_HEX);
		for (unsigned int below = 0; below < 5; below++)
			check_digits(c, &base32, 5, below, end, MATCH_BASE32);
		for (unsigned int below = 0; below < 6; below += 2)
			check_digits(c, &base64, 6, below, end, MATCH_BASE64);
	}
}

static bool is_text(uint8_t c)
{
	return digits_of[c].base64 != NO_DIGIT;
}

/* Looks at the last byte first: where it is no digit, no run can hold it. */
static void scan_text(const struct scan *c, const uint8_t *p, size_t len)
{
	size_t from = 0;

	while (from + RUN_MIN <= len) {
		size_t i = from + RUN_MIN, to;

		while (i > from && is_text(p[i - 1]))
			i--;
		if (i > from) {
			from = i;
			continue;
		}
		for (to = from + RUN_MIN; to < len && is_text(p[to]); to++)
			;
		scan_run(c, p + from, to - from, from);
		from = to + 1;
	}
}

static void scan(const struct scan *c, const uint8_t *p, size_t len)
{
	scan_raw(c, p, len);
	scan_text(c, p, len);
}

/* ---- a stream ---- */

/* What began in the pieces before: the tail and the head of the new piece side by side. */
static void scan_seam(const struct scan *c, const struct match_stream *st, const uint8_t *p,
		      size_t len)
{
	uint8_t seam[2 * MATCH_TAIL_MAX];
	size_t head = MIN(len, (size_t)MATCH_TAIL_MAX);
	struct scan at = *c;

	at.start_before = at.end_after = st->len;
	memcpy(seam, st->tail, st->len);
	memcpy(seam + st->len, p, head);
	scan(&at, seam, st->len + head);
}

static void keep_tail(struct match_stream *st, const uint8_t *p, size_t len)
{
	size_t old = len < MATCH_TAIL_MAX ? MIN((size_t)st->len, MATCH_TAIL_MAX - len) : 0;
	size_t new = MIN(len, (size_t)MATCH_TAIL_MAX);

	memmove(st->tail, st->tail + st->len - old, old);
	memcpy(st->tail + old, p + len - new, new);
	st->len = (uint8_t)(old + new);
}

void match_scan(const struct match_set *s, struct match_stream *st, const void *data, size_t len,
		match_fn fn, void *arg)
{
	struct scan c = { .set = s, .fn = fn, .arg = arg, .start_before = SIZE_MAX };

	if (!len)
		return;
	if (st && st->len)
		scan_seam(&c, st, data, len);
	scan(&c, data, len);
	if (st)
		keep_tail(st, data, len);
}

const char *match_form_text(enum match_form form)
{
	static const char *const text[MATCH_FORM_MAX] = {
		[MATCH_RAW] = "raw",
		[MATCH_HEX] = "hex",
		[MATCH_BASE32] = "base32",
		[MATCH_BASE64] = "base64",
	};

	return (unsigned int)form < MATCH_FORM_MAX ? text[form] : "unknown";
}
