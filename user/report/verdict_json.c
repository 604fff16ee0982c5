// SPDX-License-Identifier: Apache-2.0
#include "user/report/verdict_json.h"

/* Whoever prints this file shall not be the next victim of who chose a name or an answer in it. */
static void text(struct json_out *j, const char *key, const char *value)
{
	char shown[TEXT_MAX];

	json_text(j, key, printable(shown, sizeof(shown), value));
}

static void text_or_null(struct json_out *j, const char *key, const char *value)
{
	if (value && value[0])
		text(j, key, value);
	else
		json_null(j, key);
}

static void rejected(struct json_out *j, const struct run_result *r)
{
	json_array(j, "rejected");
	for (unsigned int i = 0; i < REJECT_MAX; i++)
		if (r->rejections & 1u << i)
			json_text(j, NULL, rejection_code((enum rejection)i));
	json_array_end(j);
}

/* The identity that says that every loss is known: seen is the sum of the others. */
static void count(struct json_out *j, const struct run_result *r)
{
	struct loss_total t;

	loss_sum(r, &t);
	json_object_begin(j, "count");
	json_u64(j, "seen", t.count.seen);
	json_u64(j, "delivered", t.count.delivered);
	json_u64(j, "ring_full", t.count.ring_full);
	json_u64(j, "oversized", t.count.oversized);
	json_u64(j, "map_full", t.count.map_full);
	json_u64(j, "filtered", t.count.filtered);
	json_u64(j, "recursion", t.recursion);
	json_boolean(j, "holds", r->identity_holds);
	json_object_end(j);
}

static void observer(struct json_out *j, const struct run_result *r, hook_name_fn name)
{
	json_object_begin(j, "observer");
	json_object_begin(j, "lost");
	json_u64(j, "ring", r->lost_ring);
	json_u64(j, "map", r->lost_map);
	json_object_end(j);
	json_array(j, "hooks");
	for (uint32_t i = 0; i < SNT_HOOK_MAX; i++)
		if (r->hooks & 1u << i)
			json_text(j, NULL, name(i));
	json_array_end(j);
	count(j, r);
	json_object_end(j);
}

static void arm(struct json_out *j, const char *key, bool present, bool crossed, bool answered,
		const uint64_t *records, uint32_t n)
{
	if (!present) {
		json_null(j, key);
		return;
	}
	json_object_begin(j, key);
	json_boolean(j, "crossed", crossed);
	if (n) {
		json_array(j, "records");
		for (uint32_t i = 0; i < n; i++)
			json_u64(j, NULL, records[i]);
		json_array_end(j);
	}
	json_boolean(j, "answered", answered);
	json_object_end(j);
}

static void one_arm(struct json_out *j, const char *key, const struct arm_result *a)
{
	arm(j, key, a->present, a->crossed, a->answered, a->records,
	    MIN(a->records_n, VERDICT_RECORDS_MAX));
}

static void arms(struct json_out *j, const struct cell_result *c)
{
	struct baseline b;

	baseline_join(c, &b);
	json_object_begin(j, "arms");
	arm(j, "baseline", b.present, b.crossed, b.answered, b.records, b.records_n);
	one_arm(j, "on", &c->arms[ARM_ON]);
	one_arm(j, "off", &c->arms[ARM_OFF]);
	one_arm(j, "on2", &c->arms[ARM_ON2]);
	one_arm(j, "allowed", &c->arms[ARM_ALLOWED]);
	json_object_end(j);
}

/* The start of a sandbox and its steady state, apart; null where the target has no such rounds. */
static void states(struct json_out *j, const struct cell_result *c)
{
	struct states s;

	if (!states_of(c, &s)) {
		json_null(j, "startup");
		json_null(j, "steady");
		return;
	}
	json_object_begin(j, "startup");
	json_u32(j, "n", s.n);
	json_u32(j, "crossed", s.startup);
	json_object_end(j);
	json_object_begin(j, "steady");
	json_u32(j, "after_ms", c->steady_ms);
	json_u32(j, "n", s.n);
	json_u32(j, "crossed", s.steady);
	json_object_end(j);
}

static void reasons(struct json_out *j, const char *key, reason_set set,
		    const char *(*words)(enum reason r))
{
	json_array(j, key);
	for (unsigned int i = 0; i < REASON_MAX; i++)
		if (set & REASON_BIT(i))
			json_text(j, NULL, words((enum reason)i));
	json_array_end(j);
}

static void cell(struct json_out *j, const struct cell_result *c)
{
	json_object_begin(j, NULL);
	text(j, "target", c->target);
	text(j, "probe", c->probe);
	json_text(j, "verdict", verdict_text(c->judgement.verdict));
	reasons(j, "reasons", c->judgement.reasons, reason_code);
	text_or_null(j, "stopped_at", vantage_text(c->stopped_at));
	text_or_null(j, "stopped_by", c->stopped_by);
	text_or_null(j, "credit", credit_text(c->credit));
	json_text(j, "attempt", attempt_text(c->attempt));
	text_or_null(j, "grade", grade_text(c->judgement.grade));
	text_or_null(j, "via", c->via);
	json_u32(j, "window_ms", c->window_ms);
	arms(j, c);
	text_or_null(j, "probe_view", c->probe_view);
	json_object_begin(j, "repeats");
	json_u32(j, "n", c->n);
	json_u32(j, "crossed", c->crossed);
	json_object_end(j);
	/* further than what is documented */
	states(j, c);
	json_text(j, "role", role_text(c->role));
	json_boolean(j, "claimed", c->claimed);
	text_or_null(j, "source", c->source);
	text_or_null(j, "start_error", c->start_error);
	reasons(j, "sentences", c->judgement.reasons, reason_sentence);
	json_object_end(j);
}

/* ---- what nobody claims ---- */

static void unclaimed_list(struct json_out *j, const struct run_result *r, uint32_t begin,
			   const char *key, const char *outcome)
{
	const char *target = r->cells[begin].target;

	json_array(j, key);
	for (uint32_t i = begin; i < r->cells_n && !strcmp(r->cells[i].target, target); i++)
		if (!r->cells[i].claimed && !strcmp(crossing_text(&r->cells[i], ARM_ON), outcome))
			text(j, NULL, r->cells[i].probe);
	json_array_end(j);
}

/* Of each target that has such cells, which of them crossed all the same. */
static void unclaimed(struct json_out *j, const struct run_result *r)
{
	const char *last = NULL;

	json_array(j, "unclaimed");
	for (uint32_t i = 0; i < r->cells_n; i++) {
		const struct cell_result *c = &r->cells[i];

		if (c->role != ROLE_TARGET || c->claimed || (last && !strcmp(c->target, last)))
			continue;
		last = c->target;
		json_object_begin(j, NULL);
		text(j, "target", c->target);
		unclaimed_list(j, r, i, "crossed", "crossed");
		unclaimed_list(j, r, i, "did_not_cross", "did not cross");
		unclaimed_list(j, r, i, "not_made", "was not made");
		json_object_end(j);
	}
	json_array_end(j);
}

int verdict_json(struct json_out *j, const struct run_result *r, hook_name_fn name)
{
	json_object_begin(j, NULL);
	json_u32(j, "schema", 1);
	text(j, "run", r->run);
	json_text(j, "status", r->status == RUN_VALID ? "valid" : "rejected");
	json_text(j, "judge", JUDGE_VERSION);
	rejected(j, r);
	observer(j, r, name);
	json_array(j, "cells");
	for (uint32_t i = 0; i < r->cells_n; i++)
		cell(j, &r->cells[i]);
	json_array_end(j);
	unclaimed(j, r);
	json_object_end(j);
	json_newline(j);
	return json_out_error(j);
}
