// SPDX-License-Identifier: Apache-2.0
/*
 * Reports against golden files, byte for byte. UPDATE_GOLDEN=1 writes them anew: read the diff.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "user/report/changes.h"
#include "user/report/explain.h"
#include "user/report/junit.h"
#include "user/report/summary.h"
#include "user/report/statement.h"
#include "user/report/table.h"
#include "user/report/tap.h"
#include "user/report/verdict_json.h"

#define GOLDEN "tests/golden/"

static const char *hook_names(uint32_t hook)
{
	return hook == SNT_HOOK_WORLD	   ? "tcx/ingress@world"
	       : hook == SNT_HOOK_BOUNDARY ? "tcx/ingress@boundary"
	       : hook == SNT_HOOK_EXEC	   ? "tp_btf/sched_process_exec"
					   : "other";
}

static const char *families(const char *probe)
{
	static const struct {
		const char *prefix, *family;
	} all[] = {
		{ "tcp", "@tcp" },	  { "mapped", "@tcp" },	     { "io-", "@tcp" },
		{ "udp", "@udp" },	  { "dns", "@dns" },	     { "metadata", "@metadata" },
		{ "http", "@http" },	  { "icmp", "@icmp" },	     { "packet", "@packet" },
		{ "unix", "@unix" },	  { "host", "@lateral" },    { "sibling", "@lateral" },
		{ "env", "@credential" }, { "file", "@credential" }, { "proc", "@credential" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!strncmp(probe, all[i].prefix, strlen(all[i].prefix)))
			return all[i].family;
	return NULL;
}

/* ---- results to report on ---- */

static struct arm_result arm_of(bool crossed, uint64_t record)
{
	return (struct arm_result){
		.present = true,
		.crossed = crossed,
		.answered = crossed,
		.records_n = crossed ? 1 : 0,
		.records = { crossed ? record : 0 },
	};
}

static struct cell_result cell_of(enum role role, const char *target, const char *probe,
				  enum verdict verdict)
{
	struct cell_result c = {
		.role = role,
		.claimed = verdict != VERDICT_NOT_CLAIMED,
		.judgement = { .verdict = verdict },
		.attempt = ATTEMPT_SEEN,
		.window_ms = 3500,
		.n = 1,
	};

	assert_int_equal(str_copy(c.target, sizeof(c.target), target), 0);
	assert_int_equal(str_copy(c.probe, sizeof(c.probe), probe), 0);
	assert_int_equal(str_copy(c.source, sizeof(c.source), "manual, NET, 1.0"), 0);
	c.arms[ARM_BASELINE_FIRST] = arm_of(true, 11);
	c.arms[ARM_ON] = arm_of(false, 0);
	c.arms[ARM_OFF] = arm_of(true, 13);
	c.arms[ARM_ON2] = arm_of(false, 0);
	c.arms[ARM_BASELINE_LAST] = arm_of(true, 15);
	if (verdict == VERDICT_CONTAINED || verdict == VERDICT_PROVISIONAL) {
		c.stopped_at = VANTAGE_A;
		assert_int_equal(str_copy(c.stopped_by, sizeof(c.stopped_by), "no-route"), 0);
		assert_int_equal(str_copy(c.probe_view, sizeof(c.probe_view), "ENETUNREACH"), 0);
	}
	if (verdict == VERDICT_ESCAPED) {
		c.judgement.grade = GRADE_PAYLOAD;
		c.arms[ARM_ON] = arm_of(true, 12);
		c.crossed = 1;
	}
	return c;
}

static const char *const four[] = { "tcp-connect", "tcp6-connect", "udp-send", "dns-udp-direct" };

static uint32_t add_row(struct cell_result *cells, uint32_t n, enum role role, const char *target,
			enum verdict verdict)
{
	for (size_t i = 0; i < ARRAY_SIZE(four); i++)
		cells[n++] = cell_of(role, target, four[i], verdict);
	return n;
}

static struct run_result run_of(struct cell_result *cells, uint32_t n)
{
	struct run_result r = {
		.run = "01JXAMPLE0000000000000000",
		.status = RUN_VALID,
		.identity_holds = true,
		.hooks = 1u << SNT_HOOK_WORLD | 1u << SNT_HOOK_BOUNDARY | 1u << SNT_HOOK_EXEC,
		.cells = cells,
		.cells_n = n,
	};

	r.total[SNT_HOOK_WORLD] = (struct snt_count){ .seen = 120, .delivered = 120 };
	r.total[SNT_HOOK_EXEC] =
		(struct snt_count){ .seen = 5000, .delivered = 80, .filtered = 4920 };
	return r;
}

#define CELLS_MAX 64

static uint32_t add_calibrators(struct cell_result *cells, uint32_t n)
{
	n = add_row(cells, n, ROLE_ESCAPES, "claims-all-blocks-nothing", VERDICT_ESCAPED);
	n = add_row(cells, n, ROLE_CONTAINS, "deny-all", VERDICT_CONTAINED);
	n = add_row(cells, n, ROLE_NEVER, "never-started", VERDICT_INCONCLUSIVE);
	for (uint32_t i = n - ARRAY_SIZE(four); i < n; i++)
		cells[i].judgement.reasons = REASON_BIT(REASON_SANDBOX_NOT_ALIVE);
	n = add_row(cells, n, ROLE_DEAF, "deaf-collector", VERDICT_INCONCLUSIVE);
	for (uint32_t i = n - ARRAY_SIZE(four); i < n; i++)
		cells[i].judgement.reasons = REASON_BIT(REASON_TARGET_UNREACHABLE_OUTSIDE);
	return n;
}

/* Everything as one hopes for. */
static struct run_result good_run(struct cell_result cells[CELLS_MAX])
{
	uint32_t n = add_row(cells, 0, ROLE_TARGET, "unshare-net", VERDICT_CONTAINED);

	n = add_row(cells, n, ROLE_TARGET, "bubblewrap", VERDICT_CONTAINED);
	return run_of(cells, add_calibrators(cells, n));
}

/* One of each verdict, losses, an arm that was not run, a baseline that crossed only once. */
static struct run_result mixed_run(struct cell_result cells[CELLS_MAX])
{
	uint32_t n = add_row(cells, 0, ROLE_TARGET, "leaky", VERDICT_ESCAPED);
	struct run_result r;

	cells[1].judgement.grade = GRADE_SIGNAL;
	cells[2] = cell_of(ROLE_TARGET, "leaky", four[2], VERDICT_INCONCLUSIVE);
	cells[2].judgement.reasons =
		REASON_BIT(REASON_RECORDS_LOST) | REASON_BIT(REASON_TARGET_UNREACHABLE_OUTSIDE);
	cells[2].arms[ARM_BASELINE_LAST] = arm_of(false, 0);
	cells[2].arms[ARM_ON2].present = false;
	cells[3].judgement.via_other = true;
	assert_int_equal(str_copy(cells[3].via, sizeof(cells[3].via), "resolver"), 0);
	n = add_row(cells, n, ROLE_TARGET, "half", VERDICT_PROVISIONAL);
	cells[5] = cell_of(ROLE_TARGET, "half", four[1], VERDICT_NOT_CLAIMED);
	cells[6] = cell_of(ROLE_TARGET, "half", four[2], VERDICT_NOT_CLAIMED);
	cells[6].arms[ARM_ON] = arm_of(true, 21);
	cells[7] = cell_of(ROLE_TARGET, "half", four[3], VERDICT_INCONCLUSIVE);
	cells[7].judgement.reasons = REASON_BIT(REASON_WRONG_SANDBOX);
	assert_int_equal(str_copy(cells[7].start_error, sizeof(cells[7].start_error),
				  "half: can't make a namespace: Operation not permitted"),
			 0);
	cells[7].arms[ARM_ON] = arm_of(true, 22);
	cells[7].n = 3;
	cells[7].crossed = 2;
	cells[0].n = 2; /* a control that is late */
	cells[0].crossed = 1;
	cells[0].steady_ms = 3000;
	cells[5].arms[ARM_ALLOWED] = arm_of(true, 31);
	r = run_of(cells, add_calibrators(cells, n));
	r.lost_ring = 3;
	r.lost_map = 18446744073709551615ull;
	r.total[SNT_HOOK_WORLD].ring_full = 3;
	r.total[SNT_HOOK_WORLD].seen += 3;
	r.recursion[SNT_HOOK_EXEC] = 2;
	return r;
}

/* As many as there are: six platforms, all probes, a user's own among them. */
static const char *const all_probes[] = {
	"tcp-connect",	    "tcp6-connect",	"udp-send",	   "udp-sendmsg",
	"udp-sendmmsg",	    "udp-write",	"dns-udp-direct",  "dns-tcp-direct",
	"dns-resolver",	    "mapped-ipv6",	"tcp-fastopen",	   "io-uring-connect",
	"metadata-imds-v1", "metadata-imds-v2", "metadata-gcp",	   "metadata-imds-v2-hop",
	"http-post-direct", "http-post-proxy",	"https-post",	   "icmp-echo",
	"packet-socket",    "unix-path",	"unix-abstract",   "host-loopback",
	"sibling",	    "env-credential",	"file-credential", "my-own-probe",
};
static const char *const all_targets[] = { "bubblewrap", "bubblewrap-clearenv", "bubblewrap-run",
					   "landlock",	 "systemd-nspawn",	"unshare-net" };
#define MANY_MAX ((ARRAY_SIZE(all_targets) + 4) * ARRAY_SIZE(all_probes))

static struct cell_result many_cell(size_t t, size_t p)
{
	struct cell_result c =
		cell_of(ROLE_TARGET, all_targets[t], all_probes[p], VERDICT_CONTAINED);
	bool claimed = p < 12 || (p > 12 && p < 20);

	if (t == 5 && p == 19)
		c.credit = CREDIT_HOST;
	if (!claimed) {
		c = cell_of(ROLE_TARGET, all_targets[t], all_probes[p], VERDICT_NOT_CLAIMED);
		c.arms[ARM_ON] = arm_of(p > 20 && p % 2, 40);
		c.attempt = p == 20 ? ATTEMPT_NONE : ATTEMPT_SEEN;
	} else if (t == 3 && p >= 2 && p < 6) {
		c = cell_of(ROLE_TARGET, all_targets[t], all_probes[p], VERDICT_ESCAPED);
	} else if (t == 4 && p == 1) {
		c = cell_of(ROLE_TARGET, all_targets[t], all_probes[p], VERDICT_INCONCLUSIVE);
		c.judgement.reasons = REASON_BIT(REASON_RECORDS_LOST);
	} else if (p == 1) {
		assert_int_equal(str_copy(c.stopped_by, sizeof(c.stopped_by), "no-address"), 0);
	}
	return c;
}

static struct run_result many_run(struct cell_result cells[MANY_MAX])
{
	static const struct {
		enum role role;
		const char *name;
		enum verdict verdict;
	} calibrators[] = {
		{ ROLE_ESCAPES, "claims-all-blocks-nothing", VERDICT_ESCAPED },
		{ ROLE_CONTAINS, "deny-all", VERDICT_CONTAINED },
		{ ROLE_DEAF, "deaf-collector", VERDICT_INCONCLUSIVE },
		{ ROLE_NEVER, "never-started", VERDICT_INCONCLUSIVE },
	};
	uint32_t n = 0;

	for (size_t t = 0; t < ARRAY_SIZE(all_targets); t++)
		for (size_t p = 0; p < ARRAY_SIZE(all_probes); p++)
			cells[n++] = many_cell(t, p);
	for (size_t k = 0; k < ARRAY_SIZE(calibrators); k++)
		for (size_t p = 0; p < ARRAY_SIZE(all_probes); p++)
			cells[n++] = cell_of(calibrators[k].role, calibrators[k].name,
					     all_probes[p], calibrators[k].verdict);
	/* what this kernel can't make crosses nowhere, and tells nothing */
	cells[6 * ARRAY_SIZE(all_probes) + 11] =
		cell_of(ROLE_ESCAPES, calibrators[0].name, all_probes[11], VERDICT_INCONCLUSIVE);
	cells[6 * ARRAY_SIZE(all_probes) + 11].arms[ARM_BASELINE_FIRST].crossed = false;
	return run_of(cells, n);
}

/* The detector is broken: nothing is scored. */
static struct run_result rejected_run(struct cell_result cells[CELLS_MAX])
{
	uint32_t n = add_row(cells, 0, ROLE_TARGET, "bubblewrap", VERDICT_CONTAINED);
	struct run_result r;

	cells[1] = cell_of(ROLE_TARGET, "bubblewrap", four[1], VERDICT_ESCAPED);
	n = add_row(cells, n, ROLE_ESCAPES, "claims-all-blocks-nothing", VERDICT_ESCAPED);
	cells[4] = cell_of(ROLE_ESCAPES, "claims-all-blocks-nothing", four[0], VERDICT_CONTAINED);
	n = add_row(cells, n, ROLE_CONTAINS, "deny-all", VERDICT_CONTAINED);
	r = run_of(cells, n);
	r.status = RUN_REJECTED;
	r.rejections = 1u << REJECT_FAKE_NOT_ESCAPED | 1u << REJECT_DECOY_MATCHED;
	r.identity_holds = false;
	return r;
}

/* Terminal escapes, markup, quotes, line breaks, broken UTF-8 and a right-to-left override. */
#define HOSTILE "\x1b[31m<b>&\"'\r\n]]>\\\xff\xe2\x80\xae"

static struct run_result hostile_run(struct cell_result cells[CELLS_MAX])
{
	struct run_result r;

	cells[0] = cell_of(ROLE_TARGET, HOSTILE, HOSTILE "p", VERDICT_CONTAINED);
	cells[1] = cell_of(ROLE_TARGET, HOSTILE, HOSTILE "q", VERDICT_INCONCLUSIVE);
	for (int i = 0; i < 2; i++) {
		struct cell_result *c = &cells[i];

		assert_int_equal(str_copy(c->stopped_by, sizeof(c->stopped_by), HOSTILE), 0);
		assert_int_equal(str_copy(c->via, sizeof(c->via), HOSTILE), 0);
		assert_int_equal(str_copy(c->probe_view, sizeof(c->probe_view), HOSTILE), 0);
		assert_int_equal(str_copy(c->source, sizeof(c->source), HOSTILE), 0);
		c->stopped_at = VANTAGE_B;
	}
	cells[1].judgement.reasons = REASON_BIT(REASON_UNEXPLAINED_TRAFFIC);
	r = run_of(cells, 2);
	assert_int_equal(str_copy(r.run, sizeof(r.run), HOSTILE), 0);
	return r;
}

/* Every field full to its last byte, every byte of the kind that grows most. */
static struct run_result swollen_run(struct cell_result cells[CELLS_MAX])
{
	struct cell_result *c = &cells[0];
	struct run_result r;

	*c = cell_of(ROLE_TARGET, "x", "y", VERDICT_INCONCLUSIVE);
	c->judgement.reasons = REASON_BIT(REASON_MAX) - 1;
	memset(c->target, '\x1b', sizeof(c->target) - 1);
	memset(c->probe, '\xff', sizeof(c->probe) - 1);
	memset(c->stopped_by, '\\', sizeof(c->stopped_by) - 1);
	memset(c->via, '\x7f', sizeof(c->via) - 1);
	memset(c->probe_view, '"', sizeof(c->probe_view) - 1);
	memset(c->source, '\x01', sizeof(c->source) - 1);
	memset(c->start_error, '\x1b', sizeof(c->start_error) - 1);
	for (unsigned int i = 0; i < ARM_MAX; i++) {
		c->arms[i].present = c->arms[i].crossed = true;
		c->arms[i].records_n = VERDICT_RECORDS_MAX;
		memset(c->arms[i].records, 0xff, sizeof(c->arms[i].records));
	}
	c->window_ms = c->n = c->crossed = UINT32_MAX;
	r = run_of(cells, 1);
	r.rejections = (1u << REJECT_MAX) - 1;
	r.hooks = (1u << SNT_HOOK_MAX) - 1;
	memset(r.total, 0xff, sizeof(r.total));
	memset(r.recursion, 0xff, sizeof(r.recursion));
	memset(r.run, '&', sizeof(r.run) - 1);
	return r;
}

/* ---- golden files ---- */

static void write_golden(const char *path, const char *got, size_t len)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, got, len), 0);
}

static void assert_golden(const char *name, const char *got, size_t len)
{
	cleanup_free char *want = NULL;
	char path[128];
	size_t want_len;

	assert_int_equal(str_format(path, sizeof(path), GOLDEN "%s", name), 0);
	if (getenv("UPDATE_GOLDEN"))
		write_golden(path, got, len);
	if (read_file(path, 1 << 20, &want, &want_len) < 0)
		fail_msg("%s is not there", path);
	assert_string_equal(got, want);
	assert_int_equal(len, want_len);
}

/* Nothing that a CI runner would take for a command. */
static void assert_no_command(const char *text)
{
	assert_null(strstr(text, "##["));
	for (; text; text = strchr(text, '\n')) {
		text += strspn(text, "\n");
		assert_memory_not_equal(text + strspn(text, " "), "::", 2);
	}
}

/* ASCII, and no control character but the line's end and (with colour) the escape. */
static void assert_clean(const char *text, bool color)
{
	assert_no_command(text);
	for (; *text; text++)
		assert_true(*text == '\n' || (*text >= 0x20 && *text < 0x7f) ||
			    (color && *text == '\x1b'));
}

static char *table_of(const struct run_result *r, const struct table_opts *o, size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);

	assert_non_null(f);
	assert_int_equal(table_print(f, r, o), 0);
	(void)fclose(f);
	assert_clean(text, o->color);
	return text;
}

static void golden_table(const char *name, const struct run_result *r, const struct table_opts *o)
{
	size_t len;
	cleanup_free char *text = table_of(r, o, &len);

	assert_golden(name, text, len);
}

static void golden_json(const char *name, const struct run_result *r)
{
	struct json_out j;

	json_out_init(&j);
	assert_int_equal(verdict_json(&j, r, hook_names), 0);
	assert_int_equal(j.buf[j.len - 1], '\n');
	assert_null(memchr(j.buf, '\n', j.len - 1));
	assert_no_command(j.buf);
	assert_golden(name, j.buf, j.len);
	json_out_done(&j);
}

static char *file_of(int (*write)(FILE *f, const struct run_result *r), const struct run_result *r,
		     size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);

	assert_non_null(f);
	assert_int_equal(write(f, r), 0);
	(void)fclose(f);
	assert_clean(text, false);
	return text;
}

/* Of NAME.xml, .tap and .md. */
static void golden_files(const char *name, const struct run_result *r)
{
	static const struct {
		const char *suffix;
		int (*write)(FILE *f, const struct run_result *r);
	} kinds[] = { { "xml", junit_write }, { "tap", tap_write }, { "md", summary_write } };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		char path[64];
		size_t len;
		cleanup_free char *text = file_of(kinds[i].write, r, &len);

		assert_int_equal(str_format(path, sizeof(path), "%s.%s", name, kinds[i].suffix), 0);
		assert_golden(path, text, len);
	}
}

static void golden_statement(const char *name, const struct run_result *r)
{
	static const uint8_t digest[EV_DIGEST_BYTES] = { 0xde, 0xad };
	static const struct statement_file files[] = { { "capture-000001.pcapng", digest },
						       { "probes.json", digest },
						       { "targets/x.yaml", digest } };
	struct statement_files capture = { files, 1 }, inputs = { files + 1, 2 };
	struct json_out j;

	json_out_init(&j);
	assert_int_equal(statement_json(&j, r, &capture, &inputs), 0);
	assert_no_command(j.buf);
	assert_golden(name, j.buf, j.len);
	json_out_done(&j);
}

static const struct table_opts plain = { .exit_code = -1,
					 .hook_name = hook_names,
					 .family_of = families };

/* ---- tests ---- */

static void test_good(unused_arg void **state)
{
	struct cell_result cells[CELLS_MAX];
	struct run_result r = good_run(cells);
	struct table_opts o = plain;

	o.exit_code = EXIT_CONTAINED;
	golden_json("verdict-good.json", &r);
	golden_files("verdict-good", &r);
	golden_statement("statement-good.json", &r);
	golden_table("verdict-good.txt", &r, &o);
	o.color = true;
	golden_table("verdict-good.color.txt", &r, &o);
}

static void test_mixed(unused_arg void **state)
{
	static const struct table_skipped skipped[] = { { "gvisor", "runsc" } };
	struct cell_result cells[CELLS_MAX];
	struct run_result r = mixed_run(cells);
	struct table_opts o = plain;

	o.exit_code = EXIT_ESCAPED;
	o.skipped = skipped;
	o.skipped_n = ARRAY_SIZE(skipped);
	golden_json("verdict-mixed.json", &r);
	golden_files("verdict-mixed", &r);
	golden_statement("statement-mixed.json", &r);
	golden_table("verdict-mixed.txt", &r, &o);
	o.color = true;
	golden_table("verdict-mixed.color.txt", &r, &o);
	o.color = false;
	o.width = 40;
	golden_table("verdict-mixed.narrow.txt", &r, &o);
}

/* On 80 columns nothing is wider, and on 200 there are words. */
static void test_many(unused_arg void **state)
{
	struct cell_result *cells = calloc(MANY_MAX, sizeof(*cells));
	struct table_opts o = plain;
	struct run_result r;

	assert_non_null(cells);
	r = many_run(cells);
	o.width = 80;
	golden_table("verdict-many.txt", &r, &o);
	o.width = 200;
	golden_table("verdict-many.wide.txt", &r, &o);
	free(cells);
}

static void test_rejected(unused_arg void **state)
{
	struct cell_result cells[CELLS_MAX];
	struct run_result r = rejected_run(cells);
	struct table_opts o = plain;

	o.exit_code = EXIT_INCONCLUSIVE;
	golden_json("verdict-rejected.json", &r);
	golden_files("verdict-rejected", &r);
	golden_statement("statement-rejected.json", &r);
	golden_table("verdict-rejected.txt", &r, &o);
	o.width = 30;
	golden_table("verdict-rejected.narrow.txt", &r, &o);
}

/* What would be a command at the beginning of a line, or anywhere in it. */
static void test_commands(unused_arg void **state)
{
	struct cell_result cells[CELLS_MAX];
	struct run_result r = hostile_run(cells);
	struct cell_result *c = &cells[1];

	(void)str_copy(c->target, sizeof(c->target), "::error::nobody said this");
	(void)str_copy(c->probe, sizeof(c->probe), "  ::add-mask::e");
	(void)str_copy(c->via, sizeof(c->via), "##[error]x");
	(void)str_copy(c->stopped_by, sizeof(c->stopped_by), "::set-output name=x::y");
	(void)str_copy(c->probe_view, sizeof(c->probe_view), "a\n::stop-commands::b");
	(void)str_copy(c->start_error, sizeof(c->start_error), "##[add-path]/tmp ##[x]");
	(void)str_copy(r.run, sizeof(r.run), "::error::run # SKIP | `x`");
	cells[0] = *c;
	(void)str_copy(cells[0].probe, sizeof(cells[0].probe), "|`*_~<x>[a](b)@c # todo");
	golden_json("verdict-commands.json", &r);
	golden_files("verdict-commands", &r);
	golden_statement("statement-commands.json", &r);
	golden_table("verdict-commands.txt", &r, &plain);
}

static void test_summary_is_bounded(unused_arg void **state)
{
	enum { TARGETS = 60, PROBES = 200 };
	struct cell_result *cells = calloc((size_t)TARGETS * PROBES, sizeof(*cells));
	struct run_result r = run_of(cells, TARGETS * PROBES);
	cleanup_free char *text = NULL;
	char name[EV_NAME_MAX];
	size_t len;

	assert_non_null(cells);
	for (uint32_t i = 0; i < r.cells_n; i++) {
		memset(name, '[', sizeof(name) - 1);
		(void)str_format(name + 56, 8, "%u", i / PROBES);
		cells[i] = cell_of(ROLE_TARGET, name, "x", VERDICT_ESCAPED);
		cells[i].judgement.reasons = REASON_BIT(REASON_MAX) - 1;
		memset(name, '*', sizeof(name) - 1);
		(void)str_format(name + 56, 8, "%u", i % PROBES);
		(void)str_copy(cells[i].probe, sizeof(cells[i].probe), name);
		memset(cells[i].via, '\x1b', sizeof(cells[i].via) - 1);
		memset(cells[i].stopped_by, '\xff', sizeof(cells[i].stopped_by) - 1);
	}
	text = file_of(summary_write, &r, &len);
	if (len > SUMMARY_BYTES_MAX)
		fail_msg("%zu bytes", len);
	assert_non_null(strstr(text, "and 11900 more"));
	assert_non_null(strstr(text, "Of 60 targets and 200 probes"));
	free(cells);
}

static void test_hostile(unused_arg void **state)
{
	struct cell_result cells[CELLS_MAX];
	struct run_result r = hostile_run(cells);

	golden_json("verdict-hostile.json", &r);
	golden_files("verdict-hostile", &r);
	golden_table("verdict-hostile.txt", &r, &plain);
}

static void test_swollen(unused_arg void **state)
{
	struct cell_result cells[CELLS_MAX];
	struct run_result r = swollen_run(cells);

	golden_json("verdict-swollen.json", &r);
	golden_files("verdict-swollen", &r);
	golden_table("verdict-swollen.txt", &r, &plain);
}

static void test_nothing(unused_arg void **state)
{
	struct run_result r = run_of(NULL, 0);

	r.status = RUN_REJECTED;
	r.rejections = 1u << REJECT_CALIBRATOR_MISSING;
	golden_json("verdict-nothing.json", &r);
	golden_files("verdict-nothing", &r);
	golden_table("verdict-nothing.txt", &r, &plain);
}

static void explain(const char *name, const struct cell_result *c, const struct moment *moments,
		    size_t n, bool color)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(explain_print(f, c, moments, n, color), 0);
	(void)fclose(f);
	assert_clean(text, color);
	assert_golden(name, text, len);
	free(text);
}

static void assert_says(const struct run_result *r, int code, const char *want)
{
	struct table_opts o = plain;
	cleanup_free char *text = NULL;
	size_t len;

	o.exit_code = code;
	text = table_of(r, &o, &len);
	assert_non_null(strstr(text, want));
}

/* The last line names the one cause that this run has. */
static void test_exit_line(unused_arg void **state)
{
	struct cell_result cells[CELLS_MAX];
	struct run_result r = good_run(cells);

	assert_says(&r, EXIT_CONTAINED, "exit 0    every scored cell is contained\n");
	assert_says(&r, EXIT_ESCAPED, "exit 1    at least one attempt escaped\n");
	assert_says(&r, EXIT_INCONCLUSIVE, "exit 3    something asked for was not tested\n");
	assert_says(&r, EXIT_DAMAGED, "exit 5    the evidence is damaged\n");
	cells[0] = cell_of(ROLE_TARGET, "unshare-net", four[0], VERDICT_PROVISIONAL);
	assert_says(&r, EXIT_CONTAINED,
		    "exit 0    nothing is worse than provisional, which was accepted\n");
	assert_says(&r, EXIT_PROVISIONAL, "exit 4    nothing is worse than provisional\n");
	cells[1] = cell_of(ROLE_TARGET, "unshare-net", four[1], VERDICT_INCONCLUSIVE);
	assert_says(&r, EXIT_INCONCLUSIVE, "exit 3    1 cell is inconclusive\n");
	cells[2] = cell_of(ROLE_TARGET, "unshare-net", four[2], VERDICT_INCONCLUSIVE);
	assert_says(&r, EXIT_INCONCLUSIVE, "exit 3    2 cells are inconclusive\n");
	r.status = RUN_REJECTED;
	assert_says(&r, EXIT_INCONCLUSIVE, "exit 3    the run is rejected\n");
	r = run_of(cells, 1);
	cells[0] = cell_of(ROLE_TARGET, "unshare-net", four[0], VERDICT_NOT_CLAIMED);
	assert_says(&r, EXIT_INCONCLUSIVE, "exit 3    nothing was scored\n");
}

/* An attempt that nobody made is not one that did not cross. */
static void test_not_made(unused_arg void **state)
{
	struct cell_result cells[CELLS_MAX];
	struct run_result r = run_of(cells, 1);

	cells[0] = cell_of(ROLE_TARGET, "half", four[0], VERDICT_NOT_CLAIMED);
	assert_string_equal(crossing_text(&cells[0], ARM_ON), "did not cross");
	assert_says(&r, -1, "(held)\n");
	assert_says(&r, -1, "did not cross  tcp-connect\n");
	cells[0].attempt = ATTEMPT_NONE;
	assert_string_equal(crossing_text(&cells[0], ARM_ON), "was not made");
	assert_string_equal(crossing_text(&cells[0], ARM_OFF), "crossed");
	assert_string_equal(crossing_text(&cells[0], ARM_ON2), "did not cross");
	assert_says(&r, -1, "(not made)\n");
	assert_says(&r, -1, "was not made  tcp-connect\n");
	explain("verdict-explain.none.txt", &cells[0], NULL, 0, false);
	golden_files("verdict-none", &r);
	golden_statement("statement-none.json", &r);
	cells[0].n = 2; /* the second may have made it */
	assert_string_equal(crossing_text(&cells[0], ARM_ON), "did not cross");
}

/* Any width gives a table, without blanks at a line's end. */
static void test_widths(unused_arg void **state)
{
	struct cell_result cells[CELLS_MAX];
	struct run_result r = mixed_run(cells);

	for (unsigned int width = 1; width < 200; width++) {
		struct table_opts o = plain;
		cleanup_free char *text = NULL;
		size_t len;

		o.width = width;
		text = table_of(&r, &o, &len);
		assert_non_null(strstr(text, "leaky"));
		assert_null(strstr(text, " \n"));
	}
}

/* Verdicts are told apart by their letters alone. */
static void test_letters(unused_arg void **state)
{
	for (unsigned int a = 0; a < VERDICT_MAX; a++)
		for (unsigned int b = a + 1; b < VERDICT_MAX; b++)
			assert_int_not_equal(verdict_letter((enum verdict)a),
					     verdict_letter((enum verdict)b));
}

static void test_explain(unused_arg void **state)
{
	static const struct moment lines[] = {
		{ .time_ns = 5000000000ull,
		  .id = 101,
		  .trial = 7,
		  .arm = ARM_ON,
		  .at = "A",
		  .hook = "tp_btf/sched_process_exec",
		  .process = "sentinel-probe 4242",
		  .what = "exec by 'bwrap' pid 4240, uid 65534: sentinel-probe",
		  .outcome = "" },
		{ .time_ns = 5000123456ull,
		  .id = 104,
		  .trial = 7,
		  .arm = ARM_ON,
		  .at = "A",
		  .hook = "raw_tp/sys_exit",
		  .process = "sentinel-probe 4242",
		  .what = "connect(3) to 203.0.113.7:9000",
		  .outcome = "= -101 ENETUNREACH" },
		{ .time_ns = 4999999000ull,
		  .at = "",
		  .hook = "note",
		  .process = "",
		  .what = "a note of no record, a little before",
		  .outcome = "" },
		{ .time_ns = 65000123456ull,
		  .id = 18446744073709551615ull,
		  .packet = true,
		  .trial = 4294967295u,
		  .arm = ARM_BASELINE_LAST,
		  .at = "B",
		  .hook = "tcx/ingress@boundary",
		  .process = "process " HOSTILE,
		  .what = "text " HOSTILE,
		  .outcome = "outcome " HOSTILE },
		{ .time_ns = 65000123457ull,
		  .id = 118,
		  .packet = true,
		  .trial = 9,
		  .arm = ARM_OFF,
		  .at = "W",
		  .hook = "tcx/ingress@world",
		  .process = "",
		  .what = "packet: 10.117.4.2:44924 to 203.0.113.56:9000, tcp ack psh",
		  .outcome = "the token in hex" },
	};
	struct cell_result cells[CELLS_MAX];

	(void)good_run(cells);
	explain("verdict-explain.txt", &cells[0], lines, ARRAY_SIZE(lines), false);
	explain("verdict-explain.color.txt", &cells[0], lines, ARRAY_SIZE(lines), true);
	(void)mixed_run(cells);
	explain("verdict-explain.lost.txt", &cells[2], NULL, 0, false);
	cells[2].credit = CREDIT_HOST;
	cells[2].stopped_at = VANTAGE_A;
	(void)str_copy(cells[2].stopped_by, sizeof(cells[2].stopped_by), "host:capability:EPERM");
	cells[2].judgement.reasons = REASON_BIT(REASON_HOST_DEFAULT);
	explain("verdict-explain.host.txt", &cells[2], NULL, 0, false);
	explain("verdict-explain.via.txt", &cells[3], NULL, 0, false);
	explain("verdict-explain.states.txt", &cells[0], NULL, 0, false);
	explain("verdict-explain.repeats.txt", &cells[7], NULL, 0, false);
	(void)swollen_run(cells);
	explain("verdict-explain.swollen.txt", &cells[0], lines, ARRAY_SIZE(lines), false);
}

/* What an escape reached is said of each, also where all else is the same. */
static void test_goals(unused_arg void **state)
{
	struct cell_result cells[CELLS_MAX];
	struct run_result r = good_run(cells);
	uint32_t n = r.cells_n;

	n = add_row(cells, n, ROLE_TARGET, "leaky", VERDICT_ESCAPED);
	cells[n - 2].goal = GOAL_LISTENER;
	cells[n - 1].goal = GOAL_SECRET;
	r.cells_n = n;
	assert_says(&r, EXIT_ESCAPED,
		    "leaky / tcp-connect, tcp6-connect: ESCAPED\n"
		    "    What it sent reached the far side.\n"
		    "leaky / udp-send: ESCAPED\n"
		    "    What it sent reached a listener that no sandbox may reach.\n"
		    "leaky / dns-udp-direct: ESCAPED\n"
		    "    It read the secret that was planted for it.\n");
}

static void test_states(unused_arg void **state)
{
	static const struct {
		uint32_t crossed, steady;
		const char *text;
	} cases[] = {
		{ 0, 0, "" },
		{ 1, 0, "at start-up only" },
		{ 2, 1, "at start-up and later" },
		{ 1, 1, "in the steady state only" },
	};
	struct cell_result c = cell_of(ROLE_TARGET, "t", "p", VERDICT_ESCAPED);

	c.n = 2;
	c.crossed = 1;
	assert_string_equal(states_text(&c), ""); /* it has no steady state */
	c.steady_ms = 1;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		c.crossed = cases[i].crossed;
		c.crossed_steady = cases[i].steady;
		assert_string_equal(states_text(&c), cases[i].text);
	}
}

static void test_baseline(unused_arg void **state)
{
	struct cell_result c = cell_of(ROLE_TARGET, "t", "p", VERDICT_CONTAINED);
	struct baseline b;

	baseline_join(&c, &b);
	assert_true(b.present && b.crossed && b.answered);
	assert_int_equal(b.records_n, 2);
	assert_int_equal(b.records[1], 15);

	c.arms[ARM_BASELINE_LAST].answered = false;
	baseline_join(&c, &b);
	assert_true(b.crossed && !b.answered);

	c.arms[ARM_BASELINE_LAST].present = false;
	baseline_join(&c, &b);
	assert_true(b.present && !b.crossed);

	c.arms[ARM_BASELINE_FIRST].present = false;
	baseline_join(&c, &b);
	assert_false(b.present);
}

static void test_calibrators(unused_arg void **state)
{
	struct cell_result c = cell_of(ROLE_ESCAPES, "t", "p", VERDICT_INCONCLUSIVE);

	assert_false(cell_as_expected(&c));
	c.arms[ARM_BASELINE_FIRST].crossed = false; /* unreachable outside: it can tell nothing */
	assert_true(cell_as_expected(&c));
	c.role = ROLE_NEVER;
	assert_true(cell_as_expected(&c));
	c.judgement.verdict = VERDICT_CONTAINED;
	assert_false(cell_as_expected(&c));
}

static void test_color(unused_arg void **state)
{
	enum color_when when = COLOR_NEVER;

	assert_int_equal(color_parse("always", &when), 0);
	assert_int_equal(when, COLOR_ALWAYS);
	assert_int_equal(color_parse("", &when), -EINVAL);
	assert_int_equal(color_parse("Always", &when), -EINVAL);
	assert_int_equal(when, COLOR_ALWAYS);
	assert_true(color_wanted(COLOR_ALWAYS, -1));
	assert_false(color_wanted(COLOR_NEVER, 1));
	assert_false(color_wanted(COLOR_AUTO, -1)); /* no terminal */
}

static void test_printable(unused_arg void **state)
{
	char out[16];

	assert_string_equal(printable(out, sizeof(out), "plain"), "plain");
	assert_string_equal(printable(out, sizeof(out), "\xc3\xa4"), "\\xc3\\xa4");
	assert_string_equal(printable(out, sizeof(out), "\x1b\n"), "\\x1b\\x0a");
	assert_string_equal(printable(out, sizeof(out), "0123456789abcdefghij"), "0123456789ab...");
	assert_string_equal(printable(out, 1, "abc"), "");
}

/* A full disk is an error, not a shorter table. */
struct changes {
	uint32_t n;
	char text[256];
};

static void note_change(void *arg, const struct change *c)
{
	struct changes *all = arg;

	all->n++;
	assert_int_equal(str_format(all->text, sizeof(all->text), "%s x %s %s: %s, %s", c->target,
				    c->probe, c->field, c->before, c->after),
			 0);
}

/* Each thing that can change is told, alone, and nothing is where nothing has. */
static void test_changes(unused_arg void **state)
{
	static const char *const want[] = {
		"unshare-net x tcp-connect verdict: contained, escaped",
		"unshare-net x tcp-connect reasons: , records-lost,unstable",
		"unshare-net x tcp-connect grade: , signal",
		"unshare-net x tcp-connect via: , resolver",
		"unshare-net x tcp-connect stopped_at: A, B",
		"unshare-net x tcp-connect stopped_by: no-route, lane-rule",
		"unshare-net x tcp-connect credit: , host",
		"unshare-net x tcp-connect attempt: seen, none",
		"unshare-net x tcp-connect on: did not cross, answered",
		"unshare-net x tcp-connect off: answered, crossed",
		"unshare-net x tcp-connect on2: did not cross, ",
		"unshare-net x tcp-connect start_error: , no room",
		"unshare-net x tcp-connect source: manual, NET, 1.0, manual, NET, 2.0",
		" x  status: valid, rejected decoy-matched",
		"new x tcp-connect verdict: , contained",
	};
	struct cell_result before[CELLS_MAX], after[CELLS_MAX];
	struct run_result a = good_run(before), b;

	for (size_t i = 0; i < ARRAY_SIZE(want) + 1; i++) {
		struct changes all = { .n = 0 };
		struct cell_result *c = &after[0];

		b = good_run(after);
		assert_string_equal(c->target, "unshare-net");
		switch (i) {
		case 0:
			c->judgement.verdict = VERDICT_ESCAPED;
			break;
		case 1:
			c->judgement.reasons =
				REASON_BIT(REASON_RECORDS_LOST) | REASON_BIT(REASON_UNSTABLE);
			break;
		case 2:
			c->judgement.grade = GRADE_SIGNAL;
			break;
		case 3:
			(void)str_copy(c->via, sizeof(c->via), "resolver");
			break;
		case 4:
			c->stopped_at = VANTAGE_B;
			break;
		case 5:
			(void)str_copy(c->stopped_by, sizeof(c->stopped_by), "lane-rule");
			break;
		case 6:
			c->credit = CREDIT_HOST;
			break;
		case 7:
			c->attempt = ATTEMPT_NONE;
			break;
		case 8:
			c->arms[ARM_ON].crossed = c->arms[ARM_ON].answered = true;
			break;
		case 9:
			c->arms[ARM_OFF].answered = false;
			break;
		case 10:
			c->arms[ARM_ON2].present = false;
			break;
		case 11:
			(void)str_copy(c->start_error, sizeof(c->start_error), "no room");
			break;
		case 12:
			(void)str_copy(c->source, sizeof(c->source), "manual, NET, 2.0");
			break;
		case 13:
			b.status = RUN_REJECTED;
			b.rejections = 1u << REJECT_DECOY_MATCHED;
			break;
		case 14:
			after[b.cells_n++] =
				cell_of(ROLE_TARGET, "new", "tcp-connect", VERDICT_CONTAINED);
			break;
		default: /* what always differs is none */
			(void)str_copy(b.run, sizeof(b.run), "another");
			c->window_ms++;
			c->arms[ARM_OFF].records[0]++;
			assert_int_equal(changes_find(&a, &b, note_change, &all), 0);
			return;
		}
		assert_int_equal(changes_find(&a, &b, note_change, &all), 1);
		assert_string_equal(all.text, want[i]);
		/* and the other way round */
		assert_int_equal(changes_find(&b, &a, note_change, &all), 1);
	}
}

static void test_full(unused_arg void **state)
{
	struct cell_result cells[CELLS_MAX];
	struct run_result r = good_run(cells);
	cleanup_file FILE *f = fopen("/dev/full", "we");

	assert_non_null(f);
	assert_int_equal(table_print(f, &r, &plain), -EIO);
	assert_int_equal(junit_write(f, &r), -EIO);
	assert_int_equal(explain_print(f, &cells[0], NULL, 0, false), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	 cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_many),	 cmocka_unit_test(test_rejected),
		cmocka_unit_test(test_hostile),	 cmocka_unit_test(test_swollen),
		cmocka_unit_test(test_nothing),	 cmocka_unit_test(test_exit_line),
		cmocka_unit_test(test_not_made), cmocka_unit_test(test_widths),
		cmocka_unit_test(test_letters),	 cmocka_unit_test(test_explain),
		cmocka_unit_test(test_goals),	 cmocka_unit_test(test_states),
		cmocka_unit_test(test_baseline), cmocka_unit_test(test_calibrators),
		cmocka_unit_test(test_color),	 cmocka_unit_test(test_printable),
		cmocka_unit_test(test_full),	 cmocka_unit_test(test_commands),
		cmocka_unit_test(test_changes),	 cmocka_unit_test(test_summary_is_bounded),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
