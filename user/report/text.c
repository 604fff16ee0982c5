// SPDX-License-Identifier: Apache-2.0
#include "user/report/text.h"

/* CI runners obey commands in what a job prints: "::" that begins a line, behind blanks, too, and
 * "##[" anywhere in one. Neither is to be made of a stranger's text. */
static bool begins_command(const char *text, const char *at)
{
	if (*at == '[')
		return at - text >= 2 && at[-1] == '#' && at[-2] == '#';
	return *at == ':' && at[1] == ':' && strspn(text, " ") == (size_t)(at - text);
}

/* Bytes outside ASCII to \xNN; 4 bytes of out are kept for "..." and NUL. */
static void to_ascii(char *out, size_t n, const char *begin)
{
	size_t at = 0;

	for (const char *text = begin; *text; text++) {
		bool ascii = (unsigned char)*text < 0x80 && !begins_command(begin, text);
		size_t need = ascii ? 1 : 4;

		if (at + need + 4 > n) {
			memcpy(out + at, "...", 4);
			return;
		}
		if (ascii) {
			out[at] = *text;
		} else {
			memcpy(out + at, "\\x", 2);
			hex_encode(out + at + 2, text, 1);
		}
		at += need;
	}
	out[at] = '\0';
}

const char *printable(char *out, size_t n, const char *text)
{
	return printable_len(out, n, text, strlen(text));
}

const char *printable_len(char *out, size_t n, const char *text, size_t len)
{
	char escaped[TEXT_MAX + 4];

	if (n < 4) {
		if (n)
			out[0] = '\0';
		return out;
	}
	(void)escape_text(escaped, sizeof(escaped), text, len);
	to_ascii(out, n, escaped);
	return out;
}

const char *verdict_word(enum verdict v)
{
	switch (v) {
	case VERDICT_ESCAPED:
		return "ESCAPED";
	case VERDICT_NOT_CLAIMED:
		return "not claimed";
	case VERDICT_CONTAINED:
	case VERDICT_PROVISIONAL:
	case VERDICT_INCONCLUSIVE:
	case VERDICT_MAX:
		break;
	}
	return verdict_text(v);
}

char verdict_letter(enum verdict v)
{
	static const char letters[] = {
		[VERDICT_INCONCLUSIVE] = '?', [VERDICT_NOT_CLAIMED] = '-',
		[VERDICT_PROVISIONAL] = 'P',  [VERDICT_CONTAINED] = 'C',
		[VERDICT_ESCAPED] = 'E',
	};

	return (size_t)v < ARRAY_SIZE(letters) ? letters[v] : '?';
}

enum ink verdict_ink(enum verdict v)
{
	static const enum ink inks[] = {
		[VERDICT_INCONCLUSIVE] = INK_DOUBT, [VERDICT_NOT_CLAIMED] = INK_FAINT,
		[VERDICT_PROVISIONAL] = INK_DOUBT,  [VERDICT_CONTAINED] = INK_GOOD,
		[VERDICT_ESCAPED] = INK_BAD,
	};

	return (size_t)v < ARRAY_SIZE(inks) ? inks[v] : INK_DOUBT;
}

const char *attempt_text(enum attempt a)
{
	static const char *const words[] = {
		[ATTEMPT_NONE] = "none",
		[ATTEMPT_INFERRED] = "inferred",
		[ATTEMPT_SEEN] = "seen",
	};

	return (size_t)a < ARRAY_SIZE(words) ? words[a] : "unknown";
}

const char *role_text(enum role r)
{
	static const char *const words[] = {
		[ROLE_TARGET] = "target",     [ROLE_ESCAPES] = "escapes",
		[ROLE_CONTAINS] = "contains", [ROLE_NEVER] = "never-started",
		[ROLE_DEAF] = "deaf",
	};

	return (size_t)r < ARRAY_SIZE(words) ? words[r] : "unknown";
}

bool attempt_not_made(const struct cell_result *c)
{
	/* c->attempt tells of the first repeat's `on` alone: the others may have made theirs. */
	return c->attempt == ATTEMPT_NONE && c->n <= 1 && !c->arms[ARM_ON].crossed;
}

const char *crossing_text(const struct cell_result *c, enum arm arm)
{
	if (c->arms[arm].crossed)
		return "crossed";
	return arm == ARM_ON && attempt_not_made(c) ? "was not made" : "did not cross";
}

bool states_of(const struct cell_result *c, struct states *ret)
{
	if (!c->steady_ms)
		return false;
	*ret = (struct states){ .n = c->n / 2,
				.startup = c->crossed - MIN(c->crossed, c->crossed_steady),
				.steady = c->crossed_steady };
	return true;
}

const char *states_text(const struct cell_result *c)
{
	struct states s;

	if (!states_of(c, &s) || (!s.startup && !s.steady))
		return "";
	if (!s.steady)
		return "at start-up only";
	return s.startup ? "at start-up and later" : "in the steady state only";
}

bool anything_scored(const struct run_result *r)
{
	for (uint32_t i = 0; i < r->cells_n; i++)
		if (r->cells[i].role == ROLE_TARGET &&
		    r->cells[i].judgement.verdict != VERDICT_NOT_CLAIMED)
			return true;
	return false;
}

enum verdict role_verdict(enum role r)
{
	if (r == ROLE_ESCAPES)
		return VERDICT_ESCAPED;
	if (r == ROLE_CONTAINS)
		return VERDICT_CONTAINED;
	return VERDICT_INCONCLUSIVE;
}

bool cell_as_expected(const struct cell_result *c)
{
	struct baseline b;

	if (c->role == ROLE_TARGET || c->judgement.verdict == role_verdict(c->role))
		return true;
	baseline_join(c, &b);
	return (c->role == ROLE_ESCAPES || c->role == ROLE_CONTAINS) && !b.crossed;
}

static void add_records(struct baseline *b, const struct arm_result *arm)
{
	for (uint32_t i = 0; i < MIN(arm->records_n, VERDICT_RECORDS_MAX); i++)
		b->records[b->records_n++] = arm->records[i];
}

void baseline_join(const struct cell_result *c, struct baseline *ret)
{
	const struct arm_result *first = &c->arms[ARM_BASELINE_FIRST];
	const struct arm_result *last = &c->arms[ARM_BASELINE_LAST];
	bool both = first->present && last->present;

	*ret = (struct baseline){
		.present = first->present || last->present,
		.crossed = both && first->crossed && last->crossed,
		.answered = both && first->answered && last->answered,
	};
	add_records(ret, first);
	add_records(ret, last);
}

void loss_sum(const struct run_result *r, struct loss_total *ret)
{
	*ret = (struct loss_total){ .recursion = 0 };
	for (uint32_t i = 0; i < SNT_HOOK_MAX; i++) {
		const struct snt_count *c = &r->total[i];

		ret->count.seen += c->seen;
		ret->count.delivered += c->delivered;
		ret->count.ring_full += c->ring_full;
		ret->count.oversized += c->oversized;
		ret->count.map_full += c->map_full;
		ret->count.filtered += c->filtered;
		ret->recursion += r->recursion[i];
	}
}
