// SPDX-License-Identifier: Apache-2.0
/*
 * Every combination of the judge's facts, against DESIGN.md 3.3 to 3.5 written down again: not as
 * an order of questions, as the judge has it, but as one table of what makes a round unfit to be
 * granted anything, and what proves a crossing.
 *
 * All 9,172,942,848 combinations are judged: nothing is sampled and nothing is assumed of the
 * judge. Only the *expectation* is factored: each row of the table speaks of facts of one group, so
 * a group's part of it is worked out once per combination of that group's facts, and the parts are
 * or-ed. That loses nothing, since the rows are this file's own; `groups_are_closed` checks that no
 * row looks beyond its group.
 *
 *   test_judge_all            the neighbourhood of the good cases, then everything
 *   test_judge_all --near     the neighbourhood only: what scripts/mutants asks
 *   test_judge_all --shard K/N    of everything, the Kth of N parts
 *
 * With a sanitizer, everything would take minutes: then one part in 61, unless --shard says more; a
 * prime, so that the part has every value of every fact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/unit/facts_good.h"
#include "user/base/util.h"
#include "user/judge/verdict.h"

/* ---- the facts, as data ---- */

enum group { GROUP_SCOPE = 0, GROUP_CROSSING, GROUP_ATTEMPT, GROUP_REST, GROUP_MAX };

struct field {
	const char *name;
	size_t offset;
	bool is_bool;
	enum group group;
	unsigned int values;
	uint8_t rank[4]; /* per value: how good it is for a platform that wants to be contained */
};

#define FLAG(field_, group_, no, yes)                                                              \
	{                                                                                          \
#field_, offsetof(struct facts, field_), true, group_, 2,                          \
		{                                                                                  \
			no, yes                                                                    \
		}                                                                                  \
	}
#define ENUM(field_, group_, max, ...)                                                             \
	{                                                                                          \
#field_, offsetof(struct facts, field_), false, group_, max,                       \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

static const struct field fields[] = {
	FLAG(claimed, GROUP_SCOPE, 0, 1),
	FLAG(damaged, GROUP_SCOPE, 1, 0),

	ENUM(identity, GROUP_CROSSING, IDENTITY_MAX, 0, 0, 1),
	ENUM(on, GROUP_CROSSING, CROSSING_MAX, 1, 0, 0, 0),
	FLAG(signal_at_b, GROUP_CROSSING, 1, 0),
	FLAG(on_answered, GROUP_CROSSING, 1, 0),
	FLAG(via_other, GROUP_CROSSING, 0, 0),
	FLAG(self_test, GROUP_CROSSING, 0, 1),

	ENUM(attempt, GROUP_ATTEMPT, ATTEMPT_MAX, 0, 1, 2),
	FLAG(lost_a, GROUP_ATTEMPT, 1, 0),
	ENUM(off, GROUP_ATTEMPT, OFF_MAX, 1, 0, 2),
	FLAG(stopped_known, GROUP_ATTEMPT, 0, 1),

	FLAG(ran, GROUP_REST, 0, 1),
	FLAG(alive1, GROUP_REST, 0, 1),
	FLAG(alive2, GROUP_REST, 0, 1),
	FLAG(same_instance, GROUP_REST, 0, 1),
	ENUM(baseline_first, GROUP_REST, REACH_MAX, 0, 0, 1),
	ENUM(baseline_last, GROUP_REST, REACH_MAX, 0, 0, 1),
	ENUM(on2, GROUP_REST, ON2_MAX, 0, 0, 1),
	FLAG(lost_w, GROUP_REST, 1, 0),
	FLAG(lost_b, GROUP_REST, 1, 0),
	FLAG(attached_w, GROUP_REST, 0, 1),
	FLAG(attached_b, GROUP_REST, 0, 1),
	FLAG(attached_a, GROUP_REST, 0, 1),
	FLAG(attached_exec, GROUP_REST, 0, 1),
	FLAG(window_long, GROUP_REST, 0, 1),
	ENUM(allowed, GROUP_REST, ALLOWED_MAX, 1, 0, 1),
	FLAG(shared, GROUP_REST, 1, 0),
};

#define COMBINATIONS 9172942848ull
_Static_assert(sizeof(struct facts) == 60, "a new fact belongs into fields[] and into the table");

static unsigned int field_get(const struct facts *f, const struct field *field)
{
	const char *at = (const char *)f + field->offset;
	unsigned int v;

	if (field->is_bool)
		return *(const bool *)at;
	memcpy(&v, at, sizeof(v));
	return v;
}

static void field_set(struct facts *f, const struct field *field, unsigned int v)
{
	char *at = (char *)f + field->offset;

	if (field->is_bool)
		*(bool *)at = v;
	else
		memcpy(at, &v, sizeof(v));
}

/* ---- the table ---- */

/* One line per reason: when a round is unfit. `scored` rows speak of the control and are asked only
 * of what was claimed. */
#define ROWS(ROW)                                                                                  \
	ROW(wrong, WRONG_SANDBOX, GROUP_CROSSING, false, f->identity == IDENTITY_WRONG)            \
	ROW(unknown, IDENTITY_UNKNOWN, GROUP_CROSSING, false, f->identity == IDENTITY_UNKNOWN)     \
	ROW(strange, UNEXPLAINED_TRAFFIC, GROUP_CROSSING, false, f->on == CROSSING_UNEXPLAINED)    \
	ROW(signal, UNCLAIMED_SIGNAL, GROUP_CROSSING, false,                                       \
	    f->on == CROSSING_SIGNAL && !f->signal_at_b)                                           \
	ROW(tested, SELF_TEST_FAILED, GROUP_CROSSING, false, !f->self_test)                        \
	ROW(tried, NO_ATTEMPT_SEEN, GROUP_ATTEMPT, false, f->attempt == ATTEMPT_NONE)              \
	ROW(blind, RECORDS_LOST, GROUP_ATTEMPT, false, f->lost_a && f->attempt != ATTEMPT_SEEN)    \
	ROW(same, CONTROL_MAKES_NO_DIFFERENCE, GROUP_ATTEMPT, true, f->off == OFF_NONE)            \
	ROW(guess, NO_ATTEMPT_SEEN, GROUP_ATTEMPT, true,                                           \
	    f->off == OFF_ABSENT && f->attempt != ATTEMPT_SEEN)                                    \
	ROW(where, STOP_UNKNOWN, GROUP_ATTEMPT, true, f->off == OFF_ABSENT && !f->stopped_known)   \
	ROW(ran, PROBE_DID_NOT_RUN, GROUP_REST, false, !f->ran)                                    \
	ROW(alive, SANDBOX_NOT_ALIVE, GROUP_REST, false,                                           \
	    !(f->alive1 && f->alive2 && f->same_instance))                                         \
	ROW(exists, TARGET_UNREACHABLE_OUTSIDE, GROUP_REST, false,                                 \
	    !(f->baseline_first == REACH_ANSWERED && f->baseline_last == REACH_ANSWERED))          \
	ROW(lost, RECORDS_LOST, GROUP_REST, false, f->lost_w || f->lost_b)                         \
	ROW(watched, OBSERVER_NOT_ATTACHED, GROUP_REST, false,                                     \
	    !(f->attached_w && f->attached_b && f->attached_a && f->attached_exec))                \
	ROW(window, WINDOW_TOO_SHORT, GROUP_REST, false, !f->window_long)                          \
	ROW(shared, BOUNDARY_SHARED, GROUP_REST, false, f->shared)                                 \
	ROW(open, CONTROL_LEFT_OPEN, GROUP_REST, true, f->on2 == ON2_CROSSED)                      \
	ROW(again, ON2_MISSING, GROUP_REST, true, f->on2 == ON2_ABSENT)                            \
	ROW(allowed, ALLOWED_DESTINATION_DEAD, GROUP_REST, true, f->allowed == ALLOWED_DEAD)

#define ROW_FUNCTION(name, reason, group, scored, condition)                                       \
	static bool unfit_##name(const struct facts *f)                                            \
	{                                                                                          \
		return condition;                                                                  \
	}
ROWS(ROW_FUNCTION)

#define ROW_ENTRY(name, reason, group, scored, condition)                                          \
	{ REASON_##reason, group, scored, unfit_##name },
static const struct row {
	enum reason reason;
	enum group group;
	bool scored;
	bool (*unfit)(const struct facts *f);
} rows[] = { ROWS(ROW_ENTRY) };

/* What the table makes of a round. */
struct expected {
	reason_set unfit;	 /* rows asked of everything */
	reason_set unfit_scored; /* rows asked of what was claimed */
	enum grade proof;	 /* of a crossing */
};

static enum grade proof_of(const struct facts *f)
{
	bool signal = f->on == CROSSING_SIGNAL && f->signal_at_b;
	bool payload = f->on == CROSSING_TOKEN || f->on_answered;

	if (f->identity != IDENTITY_RIGHT || !f->self_test)
		return GRADE_NONE;
	return payload ? GRADE_PAYLOAD : signal ? GRADE_SIGNAL : GRADE_NONE;
}

static struct expected expect_group(const struct facts *f, enum group group)
{
	struct expected e = { .proof = group == GROUP_CROSSING ? proof_of(f) : GRADE_NONE };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].group != group || !rows[i].unfit(f))
			continue;
		if (rows[i].scored)
			e.unfit_scored |= REASON_BIT(rows[i].reason);
		else
			e.unfit |= REASON_BIT(rows[i].reason);
	}
	return e;
}

static inline struct expected both(struct expected a, struct expected b)
{
	return (struct expected){ a.unfit | b.unfit, a.unfit_scored | b.unfit_scored,
				  MAX(a.proof, b.proof) };
}

static struct expected expect(const struct facts *f)
{
	struct expected e = { 0 };

	for (enum group g = 0; g < GROUP_MAX; g++)
		e = both(e, expect_group(f, g));
	return e;
}

/* ---- the properties ---- */

/* NULL, or the property that j breaks. */
static const char *broken_property(const struct facts *f, const struct expected *e,
				   const struct judgement *j)
{
	bool proven = e->proof != GRADE_NONE && !f->damaged;
	reason_set unfit = e->unfit | (f->claimed ? e->unfit_scored : 0);
	bool fit = f->claimed && !f->damaged && !proven && !unfit;

	if ((j->verdict == VERDICT_NOT_CLAIMED) != !f->claimed)
		return "what is not claimed, and only that, is not-claimed";
	if ((j->verdict == VERDICT_ESCAPED) != (f->claimed && proven))
		return "escaped exactly where a crossing is proven, whatever else was lost";
	if ((j->verdict == VERDICT_CONTAINED) != (fit && f->off != OFF_ABSENT))
		return "contained exactly where every item of the table holds";
	if ((j->verdict == VERDICT_PROVISIONAL) != (fit && f->off == OFF_ABSENT))
		return "provisional exactly where every item but `off` holds";
	if (f->claimed && (j->verdict == VERDICT_INCONCLUSIVE) != (j->reasons != 0))
		return "inconclusive has reasons, and a granted verdict has none";
	if (f->damaged && j->reasons != REASON_BIT(REASON_EVIDENCE_DAMAGED))
		return "damaged evidence gives this one reason";
	if (!f->damaged && j->reasons != (proven ? 0 : unfit))
		return "every reason that applies is named, and no other";
	if (j->grade != (proven ? e->proof : GRADE_NONE))
		return "the grade says what proves the crossing";
	if (j->via_other != (proven && f->via_other))
		return "the channel is told of a crossing only";
	return NULL;
}

/* The one judgement that has all these properties, so that asking 9 thousand million times is one
 * comparison. `the_right_one_is_right` holds it against them. */
static inline __attribute__((always_inline)) struct judgement
right_judgement(bool claimed, bool damaged, bool no_off, bool via_other, struct expected e)
{
	const enum verdict held_back = claimed ? VERDICT_INCONCLUSIVE : VERDICT_NOT_CLAIMED;
	const enum verdict granted = !claimed ? VERDICT_NOT_CLAIMED
				     : no_off ? VERDICT_PROVISIONAL
					      : VERDICT_CONTAINED;
	const reason_set unfit = e.unfit | (claimed ? e.unfit_scored : 0);

	if (damaged)
		return (struct judgement){ held_back, REASON_BIT(REASON_EVIDENCE_DAMAGED),
					   GRADE_NONE, false };
	if (e.proof != GRADE_NONE)
		return (struct judgement){ claimed ? VERDICT_ESCAPED : VERDICT_NOT_CLAIMED, 0,
					   e.proof, via_other };
	return (struct judgement){ unfit ? held_back : granted, unfit, GRADE_NONE, false };
}

static inline bool same_judgement(struct judgement a, struct judgement b)
{
	return (a.verdict == b.verdict) & (a.reasons == b.reasons) & (a.grade == b.grade) &
	       (a.via_other == b.via_other);
}

static void explain(const struct facts *f, const struct judgement *j, const char *property)
{
	fprintf(stderr, "broken: %s\n  verdict %s, reasons", property, verdict_text(j->verdict));
	for (enum reason r = 0; r < REASON_MAX; r++) {
		if (j->reasons & REASON_BIT(r))
			fprintf(stderr, " %s", reason_code(r));
	}
	fprintf(stderr, "\n  facts");
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		fprintf(stderr, " %s=%u", fields[i].name, field_get(f, &fields[i]));
	fprintf(stderr, "\n");
}

/* A granted verdict is never worth less with better facts. By contraposition: no fact made worse
 * turns a verdict that grants less into one that grants more. */
static const char *not_monotone(const struct facts *f, const struct judgement *j)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *field = &fields[i];
		unsigned int now = field_get(f, field);

		for (unsigned int v = 0; v < field->values; v++) {
			struct facts better = *f;

			if (field->rank[v] < field->rank[now])
				continue;
			field_set(&better, field, v);
			if (judge_round(&better).verdict < j->verdict)
				return field->name;
		}
	}
	return NULL;
}

/* DESIGN.md 3.3, the row of `contained`, item by item; `off` is the next row's. */
static bool has_every_item(const struct facts *f)
{
	return f->claimed && f->identity == IDENTITY_RIGHT && f->alive1 && f->alive2 &&
	       f->same_instance && f->ran && f->attempt != ATTEMPT_NONE && f->on == CROSSING_NONE &&
	       !f->on_answered && f->window_long && f->baseline_first == REACH_ANSWERED &&
	       f->baseline_last == REACH_ANSWERED && f->off != OFF_NONE && f->on2 == ON2_AGREES &&
	       !f->lost_w && !f->lost_b && f->self_test && f->allowed != ALLOWED_DEAD &&
	       f->attached_w && f->attached_b && f->attached_a && f->attached_exec && !f->shared &&
	       !f->damaged;
}

/* For the few combinations that grant containment. */
static bool granted_rightly(const struct facts *f, const struct judgement *j)
{
	const char *field = not_monotone(f, j);

	if (field) {
		explain(f, j, "better facts never grant less");
		fprintf(stderr, "  %s made better\n", field);
		return false;
	}
	if (!has_every_item(f)) {
		explain(f, j, "the table's row, item by item");
		return false;
	}
	return true;
}

static inline bool grants_containment(enum verdict v)
{
	return v == VERDICT_CONTAINED || v == VERDICT_PROVISIONAL;
}

/* ---- the neighbourhood ---- */

/* All combinations that differ from f in at most `changes` of the fields from `from` on. */
static bool neighbours_hold(const struct facts *f, size_t from, unsigned int changes,
			    uint64_t *seen)
{
	struct expected e = expect(f);
	struct judgement j = judge_round(f);
	const char *property = broken_property(f, &e, &j);

	(*seen)++;
	if (property) {
		explain(f, &j, property);
		return false;
	}
	if (grants_containment(j.verdict) && !granted_rightly(f, &j))
		return false;
	for (size_t i = from; changes && i < ARRAY_SIZE(fields); i++) {
		for (unsigned int v = 0; v < fields[i].values; v++) {
			struct facts next = *f;

			if (v == field_get(f, &fields[i]))
				continue;
			field_set(&next, &fields[i], v);
			if (!neighbours_hold(&next, i + 1, changes - 1, seen))
				return false;
		}
	}
	return true;
}

/* A judge that lost one guard shows it next to a good case: no need to look further for those. */
static void neighbourhood(void **state unused_arg)
{
	uint64_t seen = 0;

	assert_int_equal(judge_round(&good).verdict, VERDICT_CONTAINED);
	if (!neighbours_hold(&good, 0, 4, &seen))
		fail();
	print_message("%llu combinations differ from a good one in at most 4 facts\n",
		      (unsigned long long)seen);
}

/* ---- everything ---- */

struct entry { /* one combination of one group's facts */
	struct facts facts;
	struct expected expected;
};

struct product {
	struct entry *entries[GROUP_MAX];
	size_t n[GROUP_MAX];
};

struct shared_counts { /* between the processes that share the work */
	uint64_t done, verdicts[VERDICT_MAX];
	bool stop;
};

static void set_group(struct facts *f, const struct facts *from, enum group group)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (fields[i].group == group)
			field_set(f, &fields[i], field_get(from, &fields[i]));
	}
}

static size_t group_size(enum group group)
{
	size_t n = 1;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		n *= fields[i].group == group ? fields[i].values : 1;
	return n;
}

/* The number's digits, each to the base of its field. */
static struct facts group_combination(enum group group, size_t number)
{
	struct facts f = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (fields[i].group != group)
			continue;
		field_set(&f, &fields[i], number % fields[i].values);
		number /= fields[i].values;
	}
	return f;
}

static void product_init(struct product *p)
{
	for (enum group g = 0; g < GROUP_MAX; g++) {
		p->n[g] = group_size(g);
		p->entries[g] = calloc(p->n[g], sizeof(*p->entries[g]));
		assert_non_null(p->entries[g]);
		for (size_t i = 0; i < p->n[g]; i++) {
			struct entry *e = &p->entries[g][i];

			e->facts = group_combination(g, i);
			e->expected = expect_group(&e->facts, g);
		}
	}
}

static void product_done(struct product *p)
{
	for (enum group g = 0; g < GROUP_MAX; g++)
		free(p->entries[g]);
}

static void groups_are_closed(void **state unused_arg)
{
	uint64_t all = 1;

	for (enum group g = 0; g < GROUP_MAX; g++) {
		size_t n = group_size(g);

		all *= n;
		for (size_t i = 0; i < n; i++) {
			struct facts alone = group_combination(g, i), among = good;
			struct expected a = expect_group(&alone, g), b;

			set_group(&among, &alone, g);
			b = expect_group(&among, g);
			assert_true(a.unfit == b.unfit && a.unfit_scored == b.unfit_scored &&
				    a.proof == b.proof);
		}
	}
	assert_true(all == COMBINATIONS);
}

static void check_right_one(const struct facts *f, struct expected e)
{
	struct judgement j =
		right_judgement(f->claimed, f->damaged, f->off == OFF_ABSENT, f->via_other, e);
	const char *property = broken_property(f, &e, &j);

	if (property) {
		explain(f, &j, property);
		fail();
	}
}

/* All combinations of the other groups, with a rest that is fit and one that is not; and all of the
 * rest, with the good case's other groups. */
static void the_right_one_is_right(void **state unused_arg)
{
	struct product p;

	product_init(&p);
	for (size_t i = 0; i < p.n[GROUP_SCOPE] * p.n[GROUP_CROSSING] * p.n[GROUP_ATTEMPT]; i++) {
		size_t n = i;
		struct facts f = good;

		for (enum group g = 0; g < GROUP_REST; g++) {
			set_group(&f, &p.entries[g][n % p.n[g]].facts, g);
			n /= p.n[g];
		}
		check_right_one(&f, expect(&f));
		f.lost_w = true;
		f.on2 = ON2_CROSSED;
		check_right_one(&f, expect(&f));
	}
	for (size_t i = 0; i < p.n[GROUP_REST]; i++) {
		struct facts f = good;

		set_group(&f, &p.entries[GROUP_REST][i].facts, GROUP_REST);
		check_right_one(&f, expect(&f));
	}
	product_done(&p);
}

/* Verdicts counted in one register: a field of 12 bits each, enough for one run of the inner loop.
 */
#define TALLY_BITS 12
_Static_assert(VERDICT_MAX *TALLY_BITS <= 64, "the tally's fields");

static void set_crossing(struct facts *f, const struct facts *from)
{
	f->identity = from->identity;
	f->on = from->on;
	f->signal_at_b = from->signal_at_b;
	f->on_answered = from->on_answered;
	f->via_other = from->via_other;
	f->self_test = from->self_test;
}

static __attribute__((noinline)) bool explain_wrong(const struct facts *f, struct expected e)
{
	struct judgement j = judge_round(f);
	const char *property = broken_property(f, &e, &j);

	explain(f, &j, property ? property : "the one right judgement");
	return false;
}

/* The innermost loop: the six facts of a crossing. */
static bool crossings_hold(const struct product *p, struct facts *f, struct expected outer,
			   uint64_t verdicts[VERDICT_MAX])
{
	const bool claimed = f->claimed, damaged = f->damaged, no_off = f->off == OFF_ABSENT;
	const struct entry *const end = p->entries[GROUP_CROSSING] + p->n[GROUP_CROSSING];
	uint64_t tally = 0;

	for (const struct entry *i = p->entries[GROUP_CROSSING]; i < end; i++) {
		struct expected e = both(outer, i->expected);
		struct judgement right =
			right_judgement(claimed, damaged, no_off, i->facts.via_other, e);
		struct judgement j;

		set_crossing(f, &i->facts);
		j = judge_round(f);
		if (!same_judgement(j, right))
			return explain_wrong(f, e);
		if (grants_containment(j.verdict) && !granted_rightly(f, &j))
			return false;
		tally += 1ull << (j.verdict * TALLY_BITS);
	}
	for (enum verdict v = 0; v < VERDICT_MAX; v++)
		verdicts[v] += tally >> (v * TALLY_BITS) & ((1u << TALLY_BITS) - 1);
	return true;
}

static bool rest_holds(const struct product *p, const struct entry *rest,
		       uint64_t verdicts[VERDICT_MAX])
{
	struct facts f = rest->facts;

	for (size_t a = 0; a < p->n[GROUP_ATTEMPT]; a++) {
		const struct entry *attempt = &p->entries[GROUP_ATTEMPT][a];
		struct expected e = both(rest->expected, attempt->expected);

		set_group(&f, &attempt->facts, GROUP_ATTEMPT);
		for (size_t s = 0; s < p->n[GROUP_SCOPE]; s++) {
			set_group(&f, &p->entries[GROUP_SCOPE][s].facts, GROUP_SCOPE);
			if (!crossings_hold(p, &f, e, verdicts))
				return false;
		}
	}
	return true;
}

/* Every `step`th combination of the rest, from `first` on, with all of the other groups. */
static bool part_holds(const struct product *p, size_t first, size_t step,
		       struct shared_counts *counts)
{
	uint64_t verdicts[VERDICT_MAX] = { 0 };

	for (size_t i = first; i < p->n[GROUP_REST]; i += step) {
		if (__atomic_load_n(&counts->stop, __ATOMIC_RELAXED))
			return false;
		if (!rest_holds(p, &p->entries[GROUP_REST][i], verdicts)) {
			__atomic_store_n(&counts->stop, true, __ATOMIC_RELAXED);
			return false;
		}
	}
	for (size_t v = 0; v < VERDICT_MAX; v++) {
		__atomic_add_fetch(&counts->verdicts[v], verdicts[v], __ATOMIC_RELAXED);
		__atomic_add_fetch(&counts->done, verdicts[v], __ATOMIC_RELAXED);
	}
	return true;
}

/* Counted by hand. What containment leaves open: signal_at_b, via_other, two of allowed's values,
 * stopped_known, and lost_a where the attempt was seen but not where it was inferred. Without
 * `off`: the attempt was seen, and stopped_known holds. */
#define CONTAINED (2 * 2 * 2 * 2 * (2 + 1))
#define PROVISIONAL (2 * 2 * 2 * 2)

#define PROCESSES_MAX 8
#ifdef __SANITIZE_ADDRESS__
static uint32_t shard = 1, shards = 61;
#else
static uint32_t shard = 1, shards = 1;
#endif

static bool work_is_shared_and_holds(const struct product *p, struct shared_counts *counts)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = cpus < 1 ? 1 : MIN((size_t)cpus, (size_t)PROCESSES_MAX);
	bool all = true;
	pid_t pids[PROCESSES_MAX];

	for (size_t i = 0; i < n; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			_exit(part_holds(p, shard - 1 + i * shards, n * shards, counts) ? 0 : 1);
	}
	for (size_t i = 0; i < n; i++) {
		int status = -1;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		all &= status == 0;
	}
	return all;
}

static void every_combination(void **state unused_arg)
{
	struct product p;
	struct shared_counts *c =
		mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(c != MAP_FAILED);
	product_init(&p);
	if (!work_is_shared_and_holds(&p, c))
		fail();
	print_message("part %u of %u: %llu of %llu combinations judged\n", shard, shards,
		      (unsigned long long)c->done, COMBINATIONS);
	for (enum verdict v = 0; v < VERDICT_MAX; v++)
		print_message("  %-12s %llu\n", verdict_text(v),
			      (unsigned long long)c->verdicts[v]);
	if (shards == 1) {
		assert_true(c->done == COMBINATIONS);
		assert_true(c->verdicts[VERDICT_CONTAINED] == CONTAINED);
		assert_true(c->verdicts[VERDICT_PROVISIONAL] == PROVISIONAL);
	}
	product_done(&p);
	(void)munmap(c, sizeof(*c));
}

/* ---- rounds of one cell ---- */

#define SAMPLES_MAX 80

struct samples {
	struct facts facts[SAMPLES_MAX];
	struct judgement judged[SAMPLES_MAX];
	size_t n;
};

static void sample_add(struct samples *s, const struct facts *f)
{
	struct judgement j = judge_round(f);

	for (size_t i = 0; i < s->n; i++) {
		if (same_judgement(s->judged[i], j))
			return;
	}
	assert_true(s->n < SAMPLES_MAX);
	s->facts[s->n] = *f;
	s->judged[s->n++] = j;
}

/* One round of each judgement that a change of up to `changes` facts brings about. */
static void sample_all(struct samples *s, const struct facts *f, size_t from, unsigned int changes)
{
	sample_add(s, f);
	for (size_t i = from; changes && i < ARRAY_SIZE(fields); i++) {
		for (unsigned int v = 0; v < fields[i].values; v++) {
			struct facts next = *f;

			if (fields[i].offset == offsetof(struct facts, claimed))
				continue;
			field_set(&next, &fields[i], v);
			sample_all(s, &next, i + 1, changes - 1);
		}
	}
}

static const char *cell_violation(const struct judgement rounds[3], const struct judgement *cell)
{
	enum grade best = MAX(MAX(rounds[0].grade, rounds[1].grade), rounds[2].grade);
	reason_set reasons = rounds[0].reasons | rounds[1].reasons | rounds[2].reasons;
	bool agree =
		rounds[0].verdict == rounds[1].verdict && rounds[1].verdict == rounds[2].verdict;

	if (cell->grade != best)
		return "the best proof of all rounds";
	if (best != GRADE_NONE)
		return cell->reasons ? "one crossing of n is enough, without reasons" : NULL;
	if (agree && (cell->verdict != rounds[0].verdict || cell->reasons != reasons))
		return "rounds that agree speak for the cell, with all their reasons";
	if (!agree && cell->verdict != VERDICT_INCONCLUSIVE)
		return "rounds that disagree grant nothing";
	if (!agree && cell->reasons != (reasons | REASON_BIT(REASON_UNSTABLE)))
		return "rounds that disagree are unstable, with all their reasons";
	return NULL;
}

static void check_cell(const struct samples *s, size_t a, size_t b, size_t c)
{
	const struct facts rounds[] = { s->facts[a], s->facts[b], s->facts[c] };
	const struct facts turned[] = { s->facts[c], s->facts[a], s->facts[b] };
	const struct judgement judged[] = { s->judged[a], s->judged[b], s->judged[c] };
	struct judgement cell = judge_cell(rounds, 3);
	const char *property = cell_violation(judged, &cell);
	bool crossed = cell.grade != GRADE_NONE;

	if (property) {
		explain(&rounds[0], &cell, property);
		fail();
	}
	assert_int_equal(cell.verdict == VERDICT_ESCAPED, crossed && rounds[0].claimed);
	if (!same_judgement(judge_cell(turned, 3), cell))
		fail_msg("the order of rounds must not matter");
}

/* All threes of all judgements within two changed facts of the good case, by judge_cell() of their
 * facts. What is claimed is the cell's, so it is the same in all rounds. */
static void rounds_of_a_cell(void **state unused_arg)
{
	static struct samples s;

	for (int claimed = 0; claimed <= 1; claimed++) {
		struct facts start = good;

		s.n = 0;
		start.claimed = claimed;
		sample_all(&s, &start, 0, 1);
		for (unsigned int grade = 0; grade < 2; grade++) {
			struct facts other = start;

			other.on = CROSSING_SIGNAL;
			other.signal_at_b = true;
			other.on_answered = grade;
			sample_all(&s, &other, 0, 1);
		}
		assert_true(s.n > (claimed ? 20 : 15));
		for (size_t i = 0; i < s.n * s.n * s.n; i++)
			check_cell(&s, i / s.n / s.n, i / s.n % s.n, i % s.n);
		for (size_t i = 0; i < s.n; i++)
			assert_true(same_judgement(judge_cell(&s.facts[i], 1), s.judged[i]));
	}
	assert_int_equal(judge_cell(NULL, 0).verdict, VERDICT_INCONCLUSIVE);
	assert_true(judge_cell(NULL, 0).reasons != 0);
}

static bool parse_shard(char *text)
{
	char *slash = strchr(text, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return parse_u32(slash + 1, 1, 1 << 16, &shards) == 0 &&
	       parse_u32(text, 1, shards, &shard) == 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest near[] = {
		cmocka_unit_test(neighbourhood),
		cmocka_unit_test(rounds_of_a_cell),
	};
	const struct CMUnitTest all[] = {
		cmocka_unit_test(neighbourhood),     cmocka_unit_test(rounds_of_a_cell),
		cmocka_unit_test(groups_are_closed), cmocka_unit_test(the_right_one_is_right),
		cmocka_unit_test(every_combination),
	};

	if (argc == 2 && strcmp(argv[1], "--near") == 0)
		return cmocka_run_group_tests_name("judge_all, near", near, NULL, NULL);
	if (argc == 3 && strcmp(argv[1], "--shard") == 0 && !parse_shard(argv[2])) {
		fprintf(stderr, "--shard takes K/N\n");
		return 2;
	}
	return cmocka_run_group_tests_name("judge_all", all, NULL, NULL);
}
