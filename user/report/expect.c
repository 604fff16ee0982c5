// SPDX-License-Identifier: Apache-2.0
#include "user/report/expect.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>

#include "user/report/text.h"

enum want {
	WANT_BY,
	WANT_AT,
	WANT_BECAUSE,
	WANT_GRADE,
	WANT_VIA,
	WANT_STARTUP,
	WANT_STEADY,
	WANT_ALLOWED,
	WANT_CROSSED,
	WANT_HELD,
	WANT_MAX
};

/* Conditions that need no word after them are words themselves. */
static const struct {
	const char *name;
	bool alone;
} wants[WANT_MAX] = {
	[WANT_BY] = { "by", false },	       [WANT_AT] = { "at", false },
	[WANT_BECAUSE] = { "because", false }, [WANT_GRADE] = { "grade", false },
	[WANT_VIA] = { "via", false },	       [WANT_STARTUP] = { "startup", false },
	[WANT_STEADY] = { "steady", false },   [WANT_ALLOWED] = { "allowed", false },
	[WANT_CROSSED] = { "crossed", true },  [WANT_HELD] = { "held", true },
};

/* A line cut into words, which lie in the file's text. */
struct expectation {
	unsigned int line;
	const char *target, *probe;
	enum verdict verdict;
	uint32_t wanted; /* bit = enum want */
	const char *value[WANT_MAX];
	reason_set reasons; /* WANT_BECAUSE */
};

struct expect {
	char *text, *path;
	struct expectation *line;
	uint32_t n;
};

/* ---- reading ---- */

struct parser {
	const char *path;
	struct diag *d;
	unsigned int line;
	char *begin, *at; /* of the line */
};

#define BLANKS " \t\r"

/* NULL at the end of the line. */
static char *next_word(struct parser *p)
{
	char *word = p->at + strspn(p->at, BLANKS);
	size_t len = strcspn(word, BLANKS);

	p->at = word;
	if (!len || *word == '#')
		return NULL;
	p->at = word + len;
	if (*p->at)
		*p->at++ = '\0';
	return word;
}

/* At a word, or where one is missing. */
static int printf_like(3, 4) wrong(const struct parser *p, const char *word, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return diag_set(p->d, -EINVAL, p->path, p->line,
			(unsigned int)((word ? word : p->at) - p->begin) + 1, "%s", text);
}

static int wrong_word(const struct parser *p, const char *word, const char *wanted)
{
	char shown[128];

	if (!word)
		return wrong(p, NULL, "%s is missing", wanted);
	return wrong(p, word, "'%s' is not %s", printable(shown, sizeof(shown), word), wanted);
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return !strcmp(word, a) || !strcmp(word, b) || (c && !strcmp(word, c));
}

static int parse_reasons(const struct parser *p, char *word, reason_set *ret)
{
	char *rest = word;

	*ret = 0;
	for (char *code; (code = strsep(&rest, ","));) {
		unsigned int i = 0;

		while (i < REASON_MAX && strcmp(code, reason_code((enum reason)i)) != 0)
			i++;
		if (i == REASON_MAX)
			return wrong_word(p, code, "the code of a reason");
		*ret |= REASON_BIT(i);
	}
	return 0;
}

static int parse_value(const struct parser *p, struct expectation *e, enum want want, char *word)
{
	uint32_t n;

	if (!word)
		return wrong(p, NULL, "a word after '%s' is missing", wants[want].name);
	e->value[want] = word;
	switch (want) {
	case WANT_AT:
		return is_one_of(word, "A", "B", "W") ? 0 : wrong_word(p, word, "A, B or W");
	case WANT_BECAUSE:
		return parse_reasons(p, word, &e->reasons);
	case WANT_GRADE:
		return is_one_of(word, "payload", "signal", NULL)
			       ? 0
			       : wrong_word(p, word, "payload or signal");
	case WANT_ALLOWED:
		return is_one_of(word, "answered", "dead", NULL)
			       ? 0
			       : wrong_word(p, word, "answered or dead");
	case WANT_STARTUP:
	case WANT_STEADY:
		return parse_u32(word, 0, UINT32_MAX, &n) ? wrong_word(p, word, "a number") : 0;
	default:
		return 0;
	}
}

static int parse_conditions(struct parser *p, struct expectation *e)
{
	for (char *word; (word = next_word(p));) {
		unsigned int want = 0;
		int err;

		while (want < WANT_MAX && strcmp(word, wants[want].name) != 0)
			want++;
		if (want == WANT_MAX)
			return wrong_word(p, word,
					  "a condition: by, at, because, grade, via, "
					  "startup, steady, allowed, crossed or held");
		if (e->wanted & 1u << want)
			return wrong(p, word, "'%s' is there twice", wants[want].name);
		e->wanted |= 1u << want;
		err = wants[want].alone ? 0 : parse_value(p, e, (enum want)want, next_word(p));
		if (err)
			return err;
	}
	return 0;
}

static int parse_verdict(const struct parser *p, const char *word, enum verdict *ret)
{
	unsigned int v = 0;

	while (word && v < VERDICT_MAX && strcmp(word, verdict_text((enum verdict)v)) != 0)
		v++;
	if (!word || v == VERDICT_MAX)
		return wrong_word(p, word,
				  "a verdict: contained, escaped, provisional, "
				  "not-claimed or inconclusive");
	*ret = (enum verdict)v;
	return 0;
}

static int parse_line(struct expect *x, struct parser *p)
{
	struct expectation e = { .line = p->line };
	struct expectation *more;
	int err;

	e.target = next_word(p);
	if (!e.target)
		return 0;
	e.probe = next_word(p);
	if (!e.probe)
		return wrong_word(p, NULL, "a probe");
	err = parse_verdict(p, next_word(p), &e.verdict);
	if (!err)
		err = parse_conditions(p, &e);
	if (err)
		return err;
	if (x->n == EXPECT_LINES_MAX)
		return wrong(p, e.target, "more than %d lines", EXPECT_LINES_MAX);
	more = reallocarray(x->line, x->n + 1, sizeof(e));
	if (!more)
		return diag_set(p->d, -ENOMEM, p->path, 0, 0, "out of memory");
	x->line = more;
	x->line[x->n++] = e;
	return 0;
}

static int parse(struct expect *x, struct diag *d)
{
	struct parser p = { .path = x->path, .d = d };
	char *rest = x->text;
	int err = 0;

	while (!err && (p.begin = strsep(&rest, "\n"))) {
		p.at = p.begin;
		p.line++;
		err = parse_line(x, &p);
	}
	if (!err && !x->n)
		return diag_set(d, -EINVAL, x->path, 0, 0, "nothing is expected in it");
	return err;
}

int expect_load(struct expect **ret, const char *path, struct diag *d)
{
	struct expect *x = calloc(1, sizeof(*x));
	size_t len = 0;
	int err = x ? read_file(path, EXPECT_FILE_MAX, &x->text, &len) : -ENOMEM;

	if (!err) {
		x->path = strdup(path);
		err = x->path ? 0 : -ENOMEM;
	}
	if (err)
		(void)diag_set(d, err, path, 0, 0, "can't read what is expected: %s",
			       strerror(-err));
	else if (strlen(x->text) != len)
		err = diag_set(d, -EINVAL, path, 0, 0, "there is a NUL in it");
	else
		err = parse(x, d);
	if (err) {
		expect_free(x);
		return err;
	}
	*ret = x;
	return 0;
}

void expect_free(struct expect *x)
{
	if (!x)
		return;
	free(x->line);
	free(x->text);
	free(x->path);
	free(x);
}

/* ---- comparing ---- */

struct words {
	char text[1024];
	size_t len;
};

static void printf_like(2, 3) add(struct words *w, const char *fmt, ...)
{
	size_t room = sizeof(w->text) - w->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->text + w->len, room, fmt, ap);
	va_end(ap);
	w->len += n < 0 ? 0 : MIN((size_t)n, room - 1);
}

static void add_reasons(struct words *w, reason_set set)
{
	const char *before = " because ";

	if (!set)
		add(w, " because of nothing");
	for (unsigned int i = 0; i < REASON_MAX; i++)
		if (set & REASON_BIT(i)) {
			add(w, "%s%s", before, reason_code((enum reason)i));
			before = ",";
		}
}

static const char *or_nothing(const char *text)
{
	return text && *text ? text : "nothing";
}

/* What the cell is, in the words of a condition. */
static void add_fact(struct words *w, const struct cell_result *c, enum want want)
{
	struct states s = { .n = 0 };
	char shown[TEXT_MAX];

	(void)states_of(c, &s);
	switch (want) {
	case WANT_BY:
		add(w, " by %s", or_nothing(printable(shown, sizeof(shown), c->stopped_by)));
		break;
	case WANT_AT:
		add(w, " at %s", or_nothing(vantage_text(c->stopped_at)));
		break;
	case WANT_BECAUSE:
		add_reasons(w, c->judgement.reasons);
		break;
	case WANT_GRADE:
		add(w, " grade %s", or_nothing(grade_text(c->judgement.grade)));
		break;
	case WANT_VIA:
		add(w, " via %s", or_nothing(printable(shown, sizeof(shown), c->via)));
		break;
	case WANT_STARTUP:
		add(w, " startup %" PRIu32, s.startup);
		break;
	case WANT_STEADY:
		add(w, " steady %" PRIu32, s.steady);
		break;
	case WANT_ALLOWED:
		add(w, " allowed %s", c->arms[ARM_ALLOWED].answered ? "answered" : "dead");
		break;
	case WANT_CROSSED:
	case WANT_HELD:
		add(w, c->arms[ARM_ON].crossed ? " crossed" : " held");
		break;
	case WANT_MAX:
		break;
	}
}

static void describe_wanted(struct words *w, const struct expectation *e)
{
	char shown[TEXT_MAX];

	add(w, "%s", verdict_text(e->verdict));
	for (unsigned int i = 0; i < WANT_MAX; i++) {
		if (!(e->wanted & 1u << i))
			continue;
		if (i == WANT_BECAUSE)
			add_reasons(w, e->reasons);
		else if (wants[i].alone)
			add(w, " %s", wants[i].name);
		else
			add(w, " %s %s", wants[i].name,
			    printable(shown, sizeof(shown), e->value[i]));
	}
}

static void describe_cell(struct words *w, const struct cell_result *c, uint32_t wanted)
{
	add(w, "%s", verdict_text(c->judgement.verdict));
	for (unsigned int i = 0; i < WANT_MAX; i++)
		if (wanted & 1u << i)
			add_fact(w, c, (enum want)i);
}

static bool fits(const struct expectation *e, const struct cell_result *c, in_family_fn in_family)
{
	if (fnmatch(e->target, c->target, 0) != 0)
		return false;
	return *e->probe == '@' ? in_family(c->probe, e->probe)
				: fnmatch(e->probe, c->probe, 0) == 0;
}

struct comparison {
	expect_fn fn;
	void *arg;
	uint32_t differences;
};

static void tell(struct comparison *m, const struct words *w, bool escaped)
{
	m->differences++;
	m->fn(m->arg, w->text, escaped);
}

/* Two descriptions in the same words are the comparison: what is compared is what is shown. */
static void compare_cell(struct comparison *m, const struct expect *x, const struct expectation *e,
			 const struct cell_result *c)
{
	struct words is = { .len = 0 }, want = { .len = 0 }, text = { .len = 0 };
	char target[TEXT_MAX], probe[TEXT_MAX], path[512];
	bool escaped = c->judgement.verdict == VERDICT_ESCAPED;

	describe_cell(&is, c, e ? e->wanted : 0);
	if (e)
		describe_wanted(&want, e);
	if (e && !strcmp(is.text, want.text))
		return;
	add(&text, "%s x %s: %s, ", printable(target, sizeof(target), c->target),
	    printable(probe, sizeof(probe), c->probe), is.text);
	(void)printable(path, sizeof(path), x->path);
	if (e)
		add(&text, "not %s (%s:%u)", want.text, path, e->line);
	else
		add(&text, "and no line of %s says what it must be", path);
	tell(m, &text, escaped && (!e || e->verdict != VERDICT_ESCAPED));
}

static void compare_cells(struct comparison *m, const struct expect *x, const struct run_result *r,
			  in_family_fn in_family, bool *used)
{
	for (uint32_t i = 0; i < r->cells_n; i++) {
		const struct cell_result *c = &r->cells[i];
		uint32_t n = 0;

		if (c->role != ROLE_TARGET)
			continue;
		while (n < x->n && !fits(&x->line[n], c, in_family))
			n++;
		if (n < x->n)
			used[n] = true;
		compare_cell(m, x, n < x->n ? &x->line[n] : NULL, c);
	}
}

uint32_t expect_compare(const struct expect *x, const struct run_result *r, in_family_fn in_family,
			expect_fn fn, void *arg)
{
	struct comparison m = { .fn = fn, .arg = arg };
	cleanup_free bool *used = calloc(x->n, sizeof(*used));

	if (!used) {
		fn(arg, "out of memory", true);
		return 1;
	}
	compare_cells(&m, x, r, in_family, used);
	for (uint32_t i = 0; i < x->n; i++) {
		struct words text = { .len = 0 };
		char target[256], probe[256], path[512];

		if (used[i])
			continue;
		add(&text, "%s x %s: not among the results (%s:%u)",
		    printable(target, sizeof(target), x->line[i].target),
		    printable(probe, sizeof(probe), x->line[i].probe),
		    printable(path, sizeof(path), x->path), x->line[i].line);
		tell(&m, &text, false);
	}
	return m.differences;
}
