// SPDX-License-Identifier: Apache-2.0
/* A lane's resolver asks again for a trial that is over, while the next one is at work. Only the
 * same question from host itself is still the first one's; all else with its token is a doubt about
 * it. And it asks for a name that a policy allows. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "user/base/mac.h"
#include "user/judge/correlate_state.h"

#define LANE 3
#define PROBE "dns-resolver"
#define FRAME_MAX 256

struct asked {
	uint8_t source[4];
	const char *label; /* in front of the zone */
	uint8_t type;	   /* of the question; 16 = TXT */
	size_t behind;	   /* bytes after it */
};

static const struct asked honest = { { 10, 118, LANE, 1 }, PROBE, 16, 0 };

static size_t add(uint8_t *at, size_t len, const void *data, size_t n)
{
	memcpy(at + len, data, n);
	return len + n;
}

static size_t add_label(uint8_t *at, size_t len, const char *text)
{
	at[len] = (uint8_t)strlen(text);
	return add(at, len + 1, text, strlen(text));
}

/* IPv4, UDP to port 53, one question: RFC 791, 768, 1035. */
static size_t build(const char *const *labels, const struct asked *q, uint8_t ret[FRAME_MAX])
{
	static const uint8_t to[] = { 203, 0, 113, 1 };
	size_t len = 20 + 8 + 12;

	memset(ret, 0, FRAME_MAX);
	for (; *labels; labels++)
		len = add_label(ret, len, *labels);
	len = add(ret, len, (const uint8_t[]){ 0, 0, q->type, 0, 1 }, 5) + q->behind;
	ret[0] = 0x45, ret[3] = (uint8_t)len, ret[8] = 63, ret[9] = IPPROTO_UDP;
	(void)add(ret, 12, q->source, 4);
	(void)add(ret, 16, to, 4);
	ret[20] = 0x30, ret[23] = 53, ret[25] = (uint8_t)(len - 20);
	ret[28 + 2] = 1, ret[28 + 5] = 1;
	return len;
}

static void push(struct correlate *c, struct ev *ev, uint64_t time_ns)
{
	ev->time_ns = time_ns;
	assert_int_equal(correlate_push(c, ev), 0);
}

static void add_trial(struct correlate *c, uint32_t id, uint64_t time_ns)
{
	struct ev ev = { .type = EV_TRIAL };
	struct ev_trial *t = &ev.trial_new;

	t->id = id;
	t->arm = ARM_BASELINE_FIRST;
	t->lane = LANE;
	t->nonce[0] = (uint8_t)id;
	(void)str_copy(t->probe, sizeof(t->probe), PROBE);
	mac_token(t->nonce, t->probe, t->token);
	push(c, &ev, time_ns);
}

static void see_name(struct correlate *c, const char *const *labels, const struct asked *q,
		     uint64_t time_ns)
{
	struct ev ev = { .type = EV_PACKET, .hook = SNT_HOOK_WORLD, .lane = LANE };
	uint8_t frame[FRAME_MAX];

	ev.packet.len = ev.packet.data_len = (uint32_t)build(labels, q, frame);
	ev.packet.eth_proto = 0x0800;
	ev.packet.data = frame;
	push(c, &ev, time_ns);
}

/* TOKEN.LABEL.sentinel.test, with the first trial's token */
static void see(struct correlate *c, const struct asked *q, uint64_t time_ns)
{
	char token[2 * EV_NONCE_BYTES + 1];
	const char *const labels[] = { token, q->label, "sentinel", "test", NULL };

	hex_encode(token, trial_get(c, 1)->t.token, EV_NONCE_BYTES);
	see_name(c, labels, q, time_ns);
}

/* The first trial asks in its arm; q is seen while the second is in its own. Whether the first one
 * is in doubt then. */
static bool doubted(const struct asked *q)
{
	struct ev probe = { .type = EV_PROBE }, end = { .type = EV_ARM_END };
	struct correlate *c;
	bool ret;

	assert_int_equal(correlate_new(&c), 0);
	(void)str_copy(probe.probe.name, sizeof(probe.probe.name), PROBE);
	probe.probe.channel = CHANNEL_RESOLVER;
	probe.probe.family = AF_INET;
	push(c, &probe, 1);
	add_trial(c, 1, 100);
	see(c, &honest, 150);
	end.arm_end.trial = 1;
	push(c, &end, 190);
	add_trial(c, 2, 200);
	assert_true(trial_get(c, 1)->token_tap);
	assert_false(trial_get(c, 1)->elsewhere);
	see(c, q, 250);
	ret = trial_get(c, 1)->elsewhere;
	correlate_free(c);
	return ret;
}

static void asks_again(void **state unused_arg)
{
	static const struct {
		struct asked q;
		bool doubted;
	} cases[] = {
		{ { { 10, 118, LANE, 1 }, PROBE, 16, 0 }, false },
		{ { { 10, 118, LANE + 1, 1 }, PROBE, 16, 0 }, true }, /* another lane's host */
		{ { { 10, 117, LANE, 2 }, PROBE, 16, 0 }, true },     /* a sandbox */
		{ { { 10, 118, LANE, 1 }, "more", 16, 0 }, true },
		{ { { 10, 118, LANE, 1 }, PROBE, 1, 0 }, true },
		{ { { 10, 118, LANE, 1 }, PROBE, 16, 12 }, true }, /* more than an empty OPT */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(doubted(&cases[i].q), cases[i].doubted);
}

/* Two targets, of which the first declares an allowed destination for another probe; one trial. */
static bool explained(const char *target, const char *const *labels, const struct asked *q)
{
	struct ev probe = { .type = EV_PROBE }, end = { .type = EV_ARM_END };
	static const char *const targets[] = { "allows", "allows-not" };
	static const char *const probes[] = { "tcp-connect", PROBE };
	struct ev trial = { .type = EV_TRIAL };
	struct correlate *c;
	bool ret;

	assert_int_equal(correlate_new(&c), 0);
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		(void)str_copy(probe.probe.name, sizeof(probe.probe.name), probes[i]);
		probe.probe.channel = CHANNEL_RESOLVER;
		push(c, &probe, 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct ev ev = { .type = EV_TARGET };
		struct ev cell = { .type = EV_CELL };

		(void)str_copy(ev.target.name, sizeof(ev.target.name), targets[i]);
		push(c, &ev, 2);
		for (size_t k = 0; k < ARRAY_SIZE(probes); k++) {
			(void)str_copy(cell.cell.target, sizeof(cell.cell.target), targets[i]);
			(void)str_copy(cell.cell.probe, sizeof(cell.cell.probe), probes[k]);
			cell.cell.has_allowed = i == 0 && k == 0;
			push(c, &cell, 3);
		}
	}
	trial.trial_new = (struct ev_trial){ .id = 1, .arm = ARM_ON, .lane = LANE };
	(void)str_copy(trial.trial_new.target, EV_NAME_MAX, target);
	(void)str_copy(trial.trial_new.probe, EV_NAME_MAX, PROBE);
	mac_token(trial.trial_new.nonce, PROBE, trial.trial_new.token);
	push(c, &trial, 100);
	see_name(c, labels, q, 150);
	end.arm_end.trial = 1;
	push(c, &end, 190);
	see_name(c, labels, q, 250);
	assert_true(c->unexplained.n == 0 || c->unexplained.n == 2);
	ret = c->unexplained.n == 0;
	correlate_free(c);
	return ret;
}

static void asks_for_allowed(void **state unused_arg)
{
#define NAME(...)                                                                                  \
	{                                                                                          \
		__VA_ARGS__, "sentinel", "test", NULL                                              \
	}
	static const struct {
		const char *target, *labels[8];
		struct asked q;
		bool explained;
	} cases[] = {
		{ "allows", NAME("allowed"), { { 10, 118, LANE, 1 }, "", 1, 0 }, true },
		{ "allows", NAME("allowed"), { { 10, 118, LANE, 1 }, "", 28, 11 }, true },
		{ "allows", NAME("allowed"), { { 10, 118, LANE, 1 }, "", 65, 0 }, true },
		{ "allows-not", NAME("allowed"), { { 10, 118, LANE, 1 }, "", 1, 0 }, false },
		{ "", NAME("allowed"), { { 10, 118, LANE, 1 }, "", 1, 0 }, false },
		{ "allows", NAME("allowed"), { { 10, 117, LANE, 2 }, "", 1, 0 }, false },
		{ "allows", NAME("allowed"), { { 10, 118, LANE + 1, 1 }, "", 1, 0 }, false },
		{ "allows", NAME("allowed"), { { 10, 118, LANE, 1 }, "", 16, 0 }, false },
		{ "allows", NAME("allowed"), { { 10, 118, LANE, 1 }, "", 1, 12 }, false },
		{ "allows", NAME("Allowed"), { { 10, 118, LANE, 1 }, "", 1, 0 }, false },
		{ "allows", NAME("x", "allowed"), { { 10, 118, LANE, 1 }, "", 1, 0 }, false },
		{ "allows", NAME("allowee"), { { 10, 118, LANE, 1 }, "", 1, 0 }, false },
		{ "allows", { "allowed", NULL }, { { 10, 118, LANE, 1 }, "", 1, 0 }, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(explained(cases[i].target, cases[i].labels, &cases[i].q),
				 cases[i].explained);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(asks_again),
					    cmocka_unit_test(asks_for_allowed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
