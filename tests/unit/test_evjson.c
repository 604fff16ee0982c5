// SPDX-License-Identifier: Apache-2.0
/* Every field of every event goes into JSON and comes back, and nothing else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <json-c/json.h>

#include "tests/unit/event_random.h"
#include "user/record/evjson.h"

/* ---- the table covers the structures ---- */

static void mark(uint8_t *covered, size_t offset, size_t size)
{
	for (size_t i = offset; i < offset + size; i++)
		covered[i]++;
}

static void mark_table(uint8_t *covered, const struct field_table *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		mark(covered, t->fields[i].offset, t->fields[i].size);
		if (t->fields[i].kind == FIELD_BYTES)
			mark(covered, t->fields[i].len_offset, sizeof(uint32_t));
	}
}

/* gcc has it since 11, clang 14 does not: there the other tests must do. */
#if __has_builtin(__builtin_clear_padding)

/* real: 0xff where a member of the event has a byte, 0 in padding. */
static void assert_covered(enum ev_type type, const uint8_t *real, size_t from, size_t to)
{
	uint8_t covered[sizeof(struct ev)] = { 0 };

	mark_table(covered, &evfields_common);
	mark_table(covered, &evfields_of[type]);
	mark(covered, offsetof(struct ev, type), sizeof(enum ev_type));
	if (type == EV_PACKET)
		mark(covered, offsetof(struct ev, packet.data), sizeof(const uint8_t *));
	for (size_t i = from; i < to; i++)
		if (covered[i] != (real[i - from] ? 1 : 0))
			fail_msg("%s: byte %zu of struct ev is in the table %u times",
				 ev_type_name(type), i, covered[i]);
}

#define ASSERT_MEMBER(type, member)                                                                \
	do {                                                                                       \
		__typeof__(((struct ev *)NULL)->member) real;                                      \
		memset(&real, 0xff, sizeof(real));                                                 \
		__builtin_clear_padding(&real);                                                    \
		assert_covered(type, (const uint8_t *)&real, offsetof(struct ev, member),          \
			       offsetof(struct ev, member) + sizeof(real));                        \
	} while (0)

/* By hand: gcc 12 clears other bytes than the padding behind an array of structures. */
static void assert_run_end(void)
{
	const size_t from = offsetof(struct ev, run_end),
		     used = offsetof(struct ev_run_end, aborted) + sizeof(bool),
		     times = offsetof(struct ev_run_end, realtime_ns);
	uint8_t real[sizeof(struct ev_run_end)] = { 0 };

	memset(real, 0xff, used);
	memset(real + times, 0xff, sizeof(real) - times);
	assert_covered(EV_RUN_END, real, from, from + sizeof(real));
}

static void test_every_byte_is_in_the_table(void **state unused_arg)
{
	ASSERT_MEMBER(EV_EXEC, exec);
	ASSERT_MEMBER(EV_FORK, fork);
	ASSERT_MEMBER(EV_EXIT, exit);
	ASSERT_MEMBER(EV_SOCK, sock);
	ASSERT_MEMBER(EV_ADDR, addr);
	ASSERT_MEMBER(EV_CALL, call);
	ASSERT_MEMBER(EV_SEND, send);
	ASSERT_MEMBER(EV_STATE, state);
	ASSERT_MEMBER(EV_DROP, drop);
	ASSERT_MEMBER(EV_PACKET, packet);
	ASSERT_MEMBER(EV_OPT, opt);
	ASSERT_MEMBER(EV_URING, uring);
	ASSERT_MEMBER(EV_ENV, env);
	ASSERT_MEMBER(EV_RUN_BEGIN, run_begin);
	ASSERT_MEMBER(EV_TARGET, target);
	ASSERT_MEMBER(EV_PROBE, probe);
	ASSERT_MEMBER(EV_CELL, cell);
	ASSERT_MEMBER(EV_LANE, lane_made);
	ASSERT_MEMBER(EV_TRIAL, trial_new);
	ASSERT_MEMBER(EV_ARM_BEGIN, arm_begin);
	ASSERT_MEMBER(EV_ARM_END, arm_end);
	ASSERT_MEMBER(EV_ANSWER, answer);
	ASSERT_MEMBER(EV_PROOF, proof);
	ASSERT_MEMBER(EV_RECEIVED, received);
	ASSERT_MEMBER(EV_ATTACH, attach);
	ASSERT_MEMBER(EV_CANARY, canary);
	ASSERT_MEMBER(EV_DECOY, decoy);
	ASSERT_MEMBER(EV_LOSS, loss);
	assert_run_end();
	ASSERT_MEMBER(EV_SEAL, seal);
	ASSERT_MEMBER(EV_GAP, gap);
	ASSERT_MEMBER(EV_PROGRAM, program);
}

#else

static void test_every_byte_is_in_the_table(void **state unused_arg)
{
	skip();
}

#endif

static void test_the_common_part_is_in_the_table(void **state unused_arg)
{
	uint8_t covered[sizeof(struct ev)] = { 0 };

	mark_table(covered, &evfields_common);
	mark(covered, offsetof(struct ev, type), sizeof(enum ev_type));
	for (size_t i = sizeof(enum ev_type); i < offsetof(struct ev, exec); i++)
		if (covered[i] != 1)
			fail_msg("byte %zu of struct ev is in the table %u times", i, covered[i]);
}

static bool is_type(enum ev_type type)
{
	return evfields_of[type].type;
}

static void test_every_type_is_in_the_table(void **state unused_arg)
{
	for (enum ev_type i = EV_EXEC; i <= EV_ENV; i++)
		assert_true(is_type(i));
	for (enum ev_type i = EV_RUN_BEGIN; i < EV_TYPE_MAX; i++)
		assert_true(is_type(i));
	assert_string_equal(ev_type_name(EV_PACKET), "packet");
	assert_string_equal(ev_type_name(EV_RUN_BEGIN), "run.begin");
	assert_string_equal(ev_type_name(EV_TRIAL), "trial");
	assert_string_equal(ev_type_name(EV_NONE), "unknown");
	assert_string_equal(ev_type_name(EV_TYPE_MAX), "unknown");
}

static const struct field *row(const struct field_table *own, uint32_t i)
{
	return i < evfields_common.n ? &evfields_common.fields[i]
				     : &own->fields[i - evfields_common.n];
}

static void test_keys_are_unique(void **state unused_arg)
{
	for (enum ev_type type = 0; type < EV_TYPE_MAX; type++) {
		const struct field_table *own = &evfields_of[type];
		uint32_t n = evfields_common.n + own->n;

		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < i; k++)
				if (!strcmp(row(own, i)->key, row(own, k)->key))
					fail_msg("%s: key '%s' twice", own->type, row(own, i)->key);
	}
}

/* Else nothing would be read fast, and nobody would see it. */
static void test_rows_know_their_keys(void **state unused_arg)
{
	char token[128];

	for (enum ev_type type = 0; type < EV_TYPE_MAX; type++) {
		const struct field_table *own = &evfields_of[type];

		for (uint32_t i = 0; i < evfields_common.n + own->n; i++) {
			const struct field *f = row(own, i);

			(void)str_format(token, sizeof(token), ",\"%s\":", f->key);
			assert_string_equal(f->token, token);
			assert_int_equal(f->token_len, strlen(token));
			assert_int_equal(f->key_len, strlen(f->key));
			assert_int_equal(f->first, f->key[0]);
		}
	}
}

/* ---- round trips ---- */

static void assert_round_trip(struct json_out *j, const struct ev *ev)
{
	struct ev back;

	json_out_reset(j);
	assert_int_equal(evjson_write(j, ev), 0);
	memset(&back, 0xa5, sizeof(back));
	if (evjson_read(&back, j->buf, j->len))
		fail_msg("can't read %s", j->buf);
	if (memcmp(&back, ev, sizeof(back)))
		fail_msg("not the same: %s", j->buf);
}

static void test_random_events_come_back(void **state unused_arg)
{
	struct json_out j;
	struct ev ev;

	json_out_init(&j);
	for (int round = 0; round < 300; round++) {
		for (enum ev_type type = 0; type < EV_TYPE_MAX; type++) {
			if (!is_type(type))
				continue;
			random_event(&ev, type);
			assert_round_trip(&j, &ev);
		}
	}
	json_out_done(&j);
}

static void test_other_parsers_read_it(void **state unused_arg)
{
	struct json_out j;
	struct ev ev;

	json_out_init(&j);
	for (enum ev_type type = 0; type < EV_TYPE_MAX; type++) {
		struct json_tokener *parser;
		struct json_object *object, *value;

		if (!is_type(type))
			continue;
		random_event(&ev, type);
		json_out_reset(&j);
		assert_int_equal(evjson_write(&j, &ev), 0);
		assert_null(memchr(j.buf, '\n', j.len));
		parser = json_tokener_new();
		json_tokener_set_flags(parser, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
		object = json_tokener_parse_ex(parser, j.buf, (int)j.len + 1);
		assert_non_null(object);
		assert_true(json_object_object_get_ex(object, "type", &value));
		assert_string_equal(json_object_get_string(value), ev_type_name(type));
		json_object_put(object);
		json_tokener_free(parser);
	}
	json_out_done(&j);
}

/* Names that drive terminals, break lines, end strings, or are not UTF-8 at all. */
static void test_hostile_text_comes_back(void **state unused_arg)
{
	static const char *const texts[] = {
		"\x1b[2J\x1b]0;x\x07",
		"a\nb\r\tc",
		"\"},{\"type\":\"seal\"",
		"\\x41",
		"\\",
		"\\\\x",
		"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7\xf6\xf5\xf4\xf3\xf2\xf1\xf0",
		"\x7f\xc2\x9b",
		"\xe2\x80\xae",
		"::error::x",
		"<script>",
		"\xed\xa0\x80",
		"gr\xc3\xbc\xc3\x9f",
	};
	struct json_out j;
	struct ev ev;

	json_out_init(&j);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		memset(&ev, 0, sizeof(ev));
		ev.type = EV_EXIT;
		(void)str_copy(ev.exit.task.name, sizeof(ev.exit.task.name), texts[i]);
		assert_round_trip(&j, &ev);
		for (size_t k = 0; k < j.len; k++)
			assert_true((unsigned char)j.buf[k] >= 0x20 && j.buf[k] != 0x7f);
	}
	json_out_done(&j);
}

static void test_zero_is_left_out(void **state unused_arg)
{
	struct json_out j;
	struct ev ev = { .type = EV_EXIT, .id = 7 };

	json_out_init(&j);
	ev.exit.task.pid = 42;
	assert_int_equal(evjson_write(&j, &ev), 0);
	assert_string_equal(j.buf, "{\"type\":\"exit\",\"id\":\"7\",\"process.pid\":42}");
	json_out_done(&j);
}

/* ---- what is refused ---- */

static void test_strange_events_are_refused(void **state unused_arg)
{
	struct json_out j;
	struct ev ev = { .type = EV_NONE };

	json_out_init(&j);
	assert_int_equal(evjson_write(&j, &ev), -EINVAL);
	ev.type = EV_TYPE_MAX;
	assert_int_equal(evjson_write(&j, &ev), -EINVAL);
	ev.type = 20;
	assert_int_equal(evjson_write(&j, &ev), -EINVAL);
	ev = (struct ev){ .type = EV_EXIT, .hook = SNT_HOOK_MAX };
	assert_int_equal(evjson_write(&j, &ev), -EINVAL);
	ev = (struct ev){ .type = EV_TRIAL, .trial_new = { .arm = ARM_MAX } };
	assert_int_equal(evjson_write(&j, &ev), -EINVAL);
	ev = (struct ev){ .type = EV_RECEIVED, .received = { .data_len = EV_RECEIVED_MAX + 1 } };
	assert_int_equal(evjson_write(&j, &ev), -EINVAL);
	ev = (struct ev){ .type = EV_EXIT };
	memset(ev.exit.task.name, 'x', sizeof(ev.exit.task.name));
	assert_int_equal(evjson_write(&j, &ev), -EINVAL);
	json_out_done(&j);
}

static void test_bad_text_is_refused(void **state unused_arg)
{
	static const char *const bad[] = {
		"",
		"{",
		"{}",
		"[]",
		"null",
		"{\"id\":\"1\"}",
		"{\"type\":1}",
		"{\"type\":\"\"}",
		"{\"type\":\"exits\"}",
		"{\"type\":\"exit\"",
		"{\"type\":\"exit\"}x",
		"{\"type\":\"exit\"},",
		"{\"type\":\"exit\",}",
		"{,\"type\":\"exit\"}",
		"{\"type\" \"exit\"}",
		"{'type':'exit'}",
		"{\"id\":\"1\",\"type\":\"exit\"}",
		/* kinds */
		"{\"type\":\"exit\",\"id\":1}",
		"{\"type\":\"exit\",\"id\":\"\"}",
		"{\"type\":\"exit\",\"id\":\"-1\"}",
		"{\"type\":\"exit\",\"id\":\"01\"}",
		"{\"type\":\"exit\",\"id\":\"1 \"}",
		"{\"type\":\"exit\",\"id\":\"0x1\"}",
		"{\"type\":\"exit\",\"id\":\"18446744073709551616\"}",
		"{\"type\":\"exit\",\"slot\":\"1\"}",
		"{\"type\":\"exit\",\"slot\":4294967296}",
		"{\"type\":\"exit\",\"slot\":-1}",
		"{\"type\":\"exit\",\"slot\":1.0}",
		"{\"type\":\"exit\",\"slot\":1e1}",
		"{\"type\":\"exit\",\"slot\":01}",
		"{\"type\":\"exit\",\"slot\":true}",
		"{\"type\":\"exit\",\"slot\":null}",
		"{\"type\":\"exit\",\"hook\":1}",
		"{\"type\":\"exit\",\"hook\":\"nowhere\"}",
		"{\"type\":\"exit\",\"hook\":\"\"}",
		"{\"type\":\"socket\",\"created\":1}",
		"{\"type\":\"socket\",\"created\":\"true\"}",
		"{\"type\":\"uring\",\"return\":2147483648}",
		"{\"type\":\"uring\",\"return\":-2147483649}",
		"{\"type\":\"uring\",\"return\":-}",
		"{\"type\":\"call\",\"syscall.return\":\"9223372036854775808\"}",
		"{\"type\":\"call\",\"syscall.return\":\"-9223372036854775809\"}",
		"{\"type\":\"seal\",\"sha256\":\"00\"}",
		"{\"type\":\"call\",\"data.head\":\"0\"}",
		"{\"type\":\"call\",\"data.head\":\"0g\"}",
		"{\"type\":\"call\",\"data.head\":\"AB\"}",
		"{\"type\":\"send\",\"source.ip\":\"1.2.3\"}",
		"{\"type\":\"send\",\"source.ip\":\"\"}",
		"{\"type\":\"send\",\"source.ip\":\"1.2.3.4 \"}",
		/* lengths: a process name has 16 bytes */
		"{\"type\":\"exit\",\"process.name\":\"0123456789abcdefg\"}",
		/* twice */
		"{\"type\":\"exit\",\"id\":\"1\",\"id\":\"1\"}",
		"{\"type\":\"exit\",\"id\":\"1\",\"\\u0069d\":\"2\"}",
		/* escapes */
		"{\"type\":\"exit\",\"process.name\":\"\\u0000\"}",
		"{\"type\":\"exit\",\"process.name\":\"\\ud800\"}",
		"{\"type\":\"exit\",\"process.name\":\"\\udc00\"}",
		"{\"type\":\"exit\",\"process.name\":\"\\ud800\\u0041\"}",
		"{\"type\":\"exit\",\"process.name\":\"\\u12\"}",
		"{\"type\":\"exit\",\"process.name\":\"\\q\"}",
		"{\"type\":\"exit\",\"process.name\":\"\\\\x00\"}",
		"{\"type\":\"exit\",\"process.name\":\"\\\\x4\"}",
		"{\"type\":\"exit\",\"process.name\":\"\\\\n\"}",
		"{\"type\":\"exit\",\"process.name\":\"\n\"}",
		"{\"type\":\"exit\",\"process.name\":\"",
		"{\"type\":\"exit\",\"process.name\":\"\\",
		"{\"type\":\"exit\",\"process.name\":\"\\u",
		/* not flat */
		"{\"type\":\"exit\",\"x\":{}}",
		"{\"type\":\"exit\",\"x\":[1]}",
		"{\"type\":\"exit\",\"x\":nul}",
		"{\"type\":\"exit\",\"x\":}",
		"{\"type\":\"exit\",\"x\"}",
	};
	struct ev ev, before;

	memset(&ev, 0xa5, sizeof(ev));
	memcpy(&before, &ev, sizeof(ev));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (evjson_read(&ev, bad[i], strlen(bad[i])) != -EBADMSG)
			fail_msg("taken: %s", bad[i]);
		assert_memory_equal(&ev, &before, sizeof(ev));
	}
}

static void test_good_text_is_read(void **state unused_arg)
{
	static const char text[] =
		" {\"type\" : \"exit\" "
		",\n\"later\":\"\\\"}\",\"process.name\":\"\\ud83d\\ude00\\n\\u00e9\","
		"\"x\":-1.5e+3,\"y\":null,\"z\":true,\"process.pid\":4294967295,"
		"\"id\":\"18446744073709551615\",\"process.exit_code\":0} ";
	struct ev ev;

	assert_int_equal(evjson_read(&ev, text, strlen(text)), 0);
	assert_int_equal(ev.type, EV_EXIT);
	assert_true(ev.id == UINT64_MAX);
	assert_int_equal(ev.exit.task.pid, UINT32_MAX);
	assert_string_equal(ev.exit.task.name, "\xf0\x9f\x98\x80\n\xc3\xa9");
}

/* No cut of a good text is good, and none is read past. */
static void test_cut_text_is_refused(void **state unused_arg)
{
	struct json_out j;
	struct ev ev;

	json_out_init(&j);
	for (enum ev_type type = 0; type < EV_TYPE_MAX; type++) {
		if (!is_type(type))
			continue;
		random_event(&ev, type);
		json_out_reset(&j);
		assert_int_equal(evjson_write(&j, &ev), 0);
		for (size_t len = 0; len < j.len; len++) {
			cleanup_free char *cut = malloc(len ? len : 1);

			assert_non_null(cut);
			memcpy(cut, j.buf, len);
			assert_int_equal(evjson_read(&ev, cut, len), -EBADMSG);
		}
	}
	json_out_done(&j);
}

/* ---- as the writer writes it, and as anybody may ---- */

/* A space before each comma between members: the same to JSON, and not what the writer writes. */
static size_t spaced(char *out, const char *text, size_t len)
{
	bool in_string = false;
	size_t o = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == ',' && !in_string)
			out[o++] = ' ';
		out[o++] = text[i];
		if (in_string && text[i] == '\\' && i + 1 < len)
			out[o++] = text[++i];
		else if (text[i] == '"')
			in_string = !in_string;
	}
	return o;
}

/* Some characters become others that mean something; now and then a piece is there twice. */
static size_t mangle(char *text, size_t len)
{
	static const char meant[] = ",\"\"\"::{}\\ 0199.-+etrue\t\x7f\x01\xc3";
	size_t from = random_below(len), n = random_below(MIN(len - from, (size_t)40));

	for (uint32_t k = random_below(4); k; k--)
		text[random_below(len)] = meant[random_below(sizeof(meant) - 1)];
	if (random_below(4))
		return len;
	memmove(text + from + n, text + from, len - from);
	return len + n;
}

static void assert_read_alike(const char *text, size_t len, uint32_t *taken)
{
	cleanup_free char *exact = malloc(len ? len : 1), *slow = malloc(2 * len + 1);
	struct ev a, b;
	int err;

	assert_non_null(exact);
	assert_non_null(slow);
	memcpy(exact, text, len);
	memset(&a, 0xa5, sizeof(a));
	memset(&b, 0xa5, sizeof(b));
	err = evjson_read(&a, exact, len);
	if (evjson_read(&b, slow, spaced(slow, text, len)) != err || memcmp(&a, &b, sizeof(a)))
		fail_msg("%d, or not the same: %.*s", err, (int)len, text);
	*taken += !err;
}

static void test_fast_is_as_slow(void **state unused_arg)
{
	uint32_t taken = 0, tried = 0;
	struct json_out j;
	struct ev ev;
	char text[16384];

	json_out_init(&j);
	for (int round = 0; round < 2000; round++) {
		enum ev_type type = round % 2 ? EV_PACKET : random_below(EV_TYPE_MAX);

		if (!is_type(type))
			continue;
		random_event(&ev, type);
		json_out_reset(&j);
		assert_int_equal(evjson_write(&j, &ev), 0);
		assert_true(j.len + 64 < sizeof(text));
		assert_read_alike(j.buf, j.len, &taken);
		for (int k = 0; k < 20; k++, tried++) {
			memcpy(text, j.buf, j.len);
			assert_read_alike(text, mangle(text, j.len), &taken);
		}
	}
	/* neither all nor none: both were tried */
	assert_true(taken > tried / 10 && taken < tried / 10 * 9);
	json_out_done(&j);
}

/* Nothing of the record before is left, whatever came of it. */
static void test_read_again_into_the_same(void **state unused_arg)
{
	struct ev again = { .type = EV_NONE }, once, none = { .type = EV_NONE };
	struct json_out j;
	struct ev ev;

	json_out_init(&j);
	for (int round = 0; round < 5000; round++) {
		enum ev_type type = random_below(3) ? EV_PACKET : random_below(EV_TYPE_MAX);
		size_t cut = random_below(8) ? 0 : 1;

		if (!is_type(type))
			continue;
		random_event(&ev, type);
		json_out_reset(&j);
		assert_int_equal(evjson_write(&j, &ev), 0);
		assert_int_equal(evjson_read(&once, j.buf, j.len), 0);
		assert_int_equal(evjson_reread(&again, j.buf, j.len - cut), cut ? -EBADMSG : 0);
		assert_memory_equal(&again, cut ? &none : &once, sizeof(again));
	}
	json_out_done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte_is_in_the_table),
		cmocka_unit_test(test_the_common_part_is_in_the_table),
		cmocka_unit_test(test_every_type_is_in_the_table),
		cmocka_unit_test(test_keys_are_unique),
		cmocka_unit_test(test_rows_know_their_keys),
		cmocka_unit_test(test_random_events_come_back),
		cmocka_unit_test(test_other_parsers_read_it),
		cmocka_unit_test(test_hostile_text_comes_back),
		cmocka_unit_test(test_zero_is_left_out),
		cmocka_unit_test(test_strange_events_are_refused),
		cmocka_unit_test(test_bad_text_is_refused),
		cmocka_unit_test(test_good_text_is_read),
		cmocka_unit_test(test_cut_text_is_refused),
		cmocka_unit_test(test_fast_is_as_slow),
		cmocka_unit_test(test_read_again_into_the_same),
	};

	return cmocka_run_group_tests_name("evjson", tests, NULL, NULL);
}
