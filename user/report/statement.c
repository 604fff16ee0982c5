// SPDX-License-Identifier: Apache-2.0
#include "user/report/statement.h"

#include "user/report/text.h"

#define STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define PREDICATE_TYPE "https://in-toto.io/attestation/test-result/v0.1"

static void put_files(struct json_out *j, const char *key, const struct statement_files *files)
{
	char shown[TEXT_MAX];

	json_array(j, key);
	for (size_t i = 0; i < files->n; i++) {
		json_object_begin(j, NULL);
		json_text(j, "name", printable(shown, sizeof(shown), files->file[i].name));
		json_object_begin(j, "digest");
		json_hex(j, "sha256", files->file[i].sha256, EV_DIGEST_BYTES);
		json_object_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

static bool is_scored(const struct run_result *r, const struct cell_result *c)
{
	return r->status == RUN_VALID && c->role == ROLE_TARGET;
}

static void put_tests(struct json_out *j, const char *key, const struct run_result *r,
		      uint32_t verdicts)
{
	char target[TEXT_MAX], probe[TEXT_MAX], name[2 * TEXT_MAX];

	json_array(j, key);
	for (uint32_t i = 0; i < r->cells_n; i++) {
		const struct cell_result *c = &r->cells[i];

		if (!is_scored(r, c) || !(verdicts & 1u << c->judgement.verdict))
			continue;
		(void)str_format(name, sizeof(name), "%s/%s",
				 printable(target, sizeof(target), c->target),
				 printable(probe, sizeof(probe), c->probe));
		json_text(j, NULL, name);
	}
	json_array_end(j);
}

static bool has(const struct run_result *r, uint32_t verdicts)
{
	for (uint32_t i = 0; i < r->cells_n; i++)
		if (is_scored(r, &r->cells[i]) && verdicts & 1u << r->cells[i].judgement.verdict)
			return true;
	return false;
}

#define PASSED (1u << VERDICT_CONTAINED)
#define WARNED (1u << VERDICT_PROVISIONAL)
#define FAILED (1u << VERDICT_ESCAPED | 1u << VERDICT_INCONCLUSIVE)
#define NOT_CLAIMED (1u << VERDICT_NOT_CLAIMED)

static const char *result_of(const struct run_result *r)
{
	if (has(r, FAILED) || !has(r, PASSED | WARNED))
		return "FAILED";
	return has(r, WARNED) ? "WARNED" : "PASSED";
}

int statement_json(struct json_out *j, const struct run_result *r,
		   const struct statement_files *capture, const struct statement_files *inputs)
{
	json_object_begin(j, NULL);
	json_text(j, "_type", STATEMENT_TYPE);
	put_files(j, "subject", capture);
	json_text(j, "predicateType", PREDICATE_TYPE);
	json_object_begin(j, "predicate");
	json_text(j, "result", result_of(r));
	put_files(j, "configuration", inputs);
	put_tests(j, "passedTests", r, PASSED);
	put_tests(j, "warnedTests", r, WARNED);
	put_tests(j, "failedTests", r, FAILED);
	put_tests(j, "notClaimedTests", r, NOT_CLAIMED);
	json_object_end(j);
	json_object_end(j);
	json_newline(j);
	return json_out_error(j);
}
