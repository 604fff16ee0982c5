// SPDX-License-Identifier: Apache-2.0
/*
 * correlate: planted secrets. The kernel saw the secret in an environment outside; the session
 * proves its harmless twin, which it could read, and not the secret.
 */
#include "tests/unit/story.h"

/* ---- environments ---- */

struct environment {
	bool session, truncated;
	const char *first; /* before the rest */
	bool secret, twin;
};

static void given(struct run *r, const struct ev_trial *t, struct environment e)
{
	uint8_t secret[EV_NONCE_BYTES], twin[EV_NONCE_BYTES];
	char hex[2][2 * EV_NONCE_BYTES + 1];
	struct ev ev = own(r, t, EV_ENV, SNT_HOOK_EXEC);
	char text[SNT_ENV_MAX];

	if (!e.session) {
		ev.mark = 0;
		ev.owner = OWNER_CGROUP;
	}
	mac_secret(r->key, t->nonce, secret);
	mac_twin(r->key, t->nonce, twin);
	hex_encode(hex[0], secret, sizeof(secret));
	hex_encode(hex[1], twin, sizeof(twin));
	(void)str_format(text, sizeof(text), "PATH=/bin%s%s%s%s%s", e.first ? e.first : "",
			 e.secret ? "\nAWS_SECRET_ACCESS_KEY=sentinel-secret-" : "",
			 e.secret ? hex[0] : "", e.twin ? "\nSENTINEL_TWIN=sentinel-twin-" : "",
			 e.twin ? hex[1] : "");
	ev.env.env_len = ev.env.env_bytes = (uint32_t)strlen(text) + 1;
	for (uint32_t i = 0; i < ev.env.env_len; i++)
		ev.env.env[i] = text[i] == '\n' ? 0 : (uint8_t)text[i];
	if (e.truncated) { /* in the midst of the secret */
		ev.flags = SNT_F_TRUNCATED;
		ev.env.env_len -= 5;
	}
	push(r, &ev);
}

static void launcher(struct run *r, const struct ev_trial *t)
{
	bool there = t->far == FAR_ANSWERS;

	given(r, t, (struct environment){ .secret = there, .twin = true });
}

/* ---- what the session says ---- */

static void proves(struct run *r, const struct ev_trial *t, bool secret, bool twin)
{
	r->claim.secret = secret;
	r->claim.twin = twin;
	mac_secret(r->key, t->nonce, r->claim.secret_of);
	mac_twin(r->key, t->nonce, r->claim.twin_of);
}

static void reads_all(struct run *r, const struct ev_trial *t)
{
	given(r, t, (struct environment){ .session = true, .secret = true, .twin = true });
	proves(r, t, true, true);
}

static void reads_twin(struct run *r, const struct ev_trial *t)
{
	given(r, t, (struct environment){ .session = true, .twin = true });
	proves(r, t, false, true);
}

/* Given at its start, whenever it looks. */
static void reads_twin_after_waiting(struct run *r, const struct ev_trial *t)
{
	r->now -= t->wait_ms * MS;
	reads_twin(r, t);
	r->now += t->wait_ms * MS;
}

static const struct way env_credential = {
	.probe = { .name = "env-credential",
		   .channel = CHANNEL_SECRET,
		   .dest = DEST_NONE,
		   .forbidden = false,
		   .planted_env = true },
	.before = launcher,
	.open = reads_all,
	.closed = reads_twin,
	.deaf = reads_twin,
};

static void opens(struct run *r, const struct ev_trial *t, const char *path, int64_t ret)
{
	call(r, t,
	     (struct call){ .name = "openat", .ret = ret, .data = path, .data_len = strlen(path) });
}

static void file_open(struct run *r, const struct ev_trial *t)
{
	opens(r, t, "/run/sentinel/home/3/.aws/credentials", 5);
	proves(r, t, true, true);
}

static void file_closed(struct run *r, const struct ev_trial *t)
{
	opens(r, t, "/run/sentinel/home/3/.aws/credentials", -ENOENT);
	proves(r, t, false, true);
}

static const struct way file_credential = {
	.probe = { .name = "file-credential",
		   .channel = CHANNEL_SECRET,
		   .dest = DEST_NONE,
		   .step = "/.aws/credentials" },
	.open = file_open,
	.closed = file_closed,
	.deaf = file_closed,
};

static void proc_open(struct run *r, const struct ev_trial *t)
{
	opens(r, t, "/proc/12/environ", 5);
	proves(r, t, true, true);
}

static void proc_closed(struct run *r, const struct ev_trial *t)
{
	opens(r, t, "/proc/1/environ", -EACCES);
	proves(r, t, false, true);
}

static void decoy(struct run *r, const struct ev_trial *t)
{
	given(r, t, (struct environment){ .twin = true });
	given(r, t, (struct environment){ .secret = t->far == FAR_ANSWERS });
}

static const struct way proc_environ = {
	.probe = { .name = "proc-environ",
		   .channel = CHANNEL_SECRET,
		   .dest = DEST_NONE,
		   .step = "/environ",
		   .planted_env = true,
		   .planted_beside = true },
	.before = decoy,
	.open = proc_open,
	.closed = proc_closed,
	.deaf = proc_closed,
};

/* ---- what can be wrong ---- */

static void not_planted(struct run *r, const struct ev_trial *t)
{
	given(r, t, (struct environment){ .twin = true });
}

static void planted_behind_the_end(struct run *r, const struct ev_trial *t)
{
	given(r, t, (struct environment){ .secret = true, .truncated = true });
}

/* Numbers that could be secrets, 8 in each call's, never the same. */
static const char *digits(unsigned int call)
{
	static char text[8 * 33 + 1];

	for (size_t i = 0; i < 8; i++)
		(void)str_format(text + i * 33, sizeof(text) - i * 33, ":%032x",
				 8 * call + (unsigned int)i + 1);
	return text;
}

/* In environments before it, or in its own. */
static void planted_among_digits(struct run *r, const struct ev_trial *t)
{
	for (unsigned int i = 0; i < 4; i++)
		given(r, t, (struct environment){ .first = digits(i) });
	given(r, t, (struct environment){ .secret = true });
}

/* Those of its own environment are not too many. */
static void says_nothing_among_digits(struct run *r, const struct ev_trial *t)
{
	given(r, t,
	      (struct environment){
		      .session = true, .first = digits(0), .secret = true, .twin = true });
	proves(r, t, false, true);
}

/* The launcher's comes first; a sandbox may then start what it likes. */
static void planted_and_then_digits(struct run *r, const struct ev_trial *t)
{
	launcher(r, t);
	planted_among_digits(r, t);
}

static void planted_many_times(struct run *r, const struct ev_trial *t)
{
	for (int i = 0; i < 20; i++)
		not_planted(r, t);
	launcher(r, t);
}

/* Into an environment of another trial's. */
static void planted_for_another(struct run *r, const struct ev_trial *t)
{
	struct ev_trial other = *t;

	other.id = 1;
	given(r, &other, (struct environment){ .secret = true });
}

static void no_twin(struct run *r, const struct ev_trial *t)
{
	reads_twin(r, t);
	r->claim.twin = false;
}

static void forged_twin(struct run *r, const struct ev_trial *t)
{
	reads_twin(r, t);
	r->claim.twin_of[0] ^= 1;
}

static void forged_secret(struct run *r, const struct ev_trial *t)
{
	reads_twin(r, t);
	r->claim.secret = true;
	r->claim.secret_of[3] ^= 1;
}

/* The twin says "secret": it read it, and it is none. */
static void twin_for_secret(struct run *r, const struct ev_trial *t)
{
	reads_twin(r, t);
	r->claim.secret = true;
	mac_twin(r->key, t->nonce, r->claim.secret_of);
}

static void keeps_it(struct run *r, const struct ev_trial *t)
{
	reads_all(r, t);
	r->crossed = *t;
}

/* Another trial's, right as it is. */
static void anothers_secret(struct run *r, const struct ev_trial *t)
{
	reads_twin(r, t);
	r->claim.secret = true;
	mac_secret(r->key, r->crossed.nonce, r->claim.secret_of);
}

static void says_nothing_of_it(struct run *r, const struct ev_trial *t)
{
	reads_all(r, t);
	r->claim.secret = false;
}

static void no_environment(struct run *r, const struct ev_trial *t)
{
	proves(r, t, false, true);
}

static void opens_nothing(struct run *r, const struct ev_trial *t)
{
	proves(r, t, false, true);
}

static void opens_another(struct run *r, const struct ev_trial *t)
{
	opens(r, t, "/etc/passwd", 5);
	proves(r, t, false, true);
}

static void launcher_opens(struct run *r, const struct ev_trial *t)
{
	call(r, t,
	     (struct call){ .name = "openat",
			    .ret = 5,
			    .data = "/root/.aws/credentials",
			    .data_len = strlen("/root/.aws/credentials"),
			    .launchers = true });
	proves(r, t, false, true);
}

static void writes_its_name(struct run *r, const struct ev_trial *t)
{
	call(r, t,
	     (struct call){ .name = "write",
			    .ret = 22,
			    .data = "/root/.aws/credentials",
			    .data_len = strlen("/root/.aws/credentials") });
	proves(r, t, false, true);
}

static void no_room_to_open(struct run *r, const struct ev_trial *t)
{
	opens(r, t, "/root/.aws/credentials", -EMFILE);
	proves(r, t, false, true);
}

static void lost_exec(struct run *r, const struct ev_trial *t)
{
	reads_twin(r, t);
	loss(r, SNT_HOOK_EXEC, LANE);
}

static void environments(void **state unused_arg)
{
	static const struct row table[] = {
		{ "an honest run", { .way = &env_credential }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "proved",
		  { .way = &env_credential, .on = reads_all },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "in the session's environment, which says nothing of it",
		  { .way = &env_credential, .on = says_nothing_of_it },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "... among so many numbers",
		  { .way = &env_credential, .on = says_nothing_among_digits },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "a forged proof",
		  { .way = &env_credential, .on = forged_secret },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "the twin's proof as the secret's",
		  { .way = &env_credential, .on = twin_for_secret },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "another trial's secret",
		  { .way = &env_credential, .off = keeps_it, .on2 = anothers_secret },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "the twin was not read",
		  { .way = &env_credential, .on = no_twin },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "a forged twin",
		  { .way = &env_credential, .on = forged_twin },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "the launcher never had it",
		  { .way = &env_credential, .before = not_planted },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "where it should be, nobody could look",
		  { .way = &env_credential, .before = planted_behind_the_end },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "another's launcher had it",
		  { .way = &env_credential, .before = planted_for_another },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "it is one of more numbers than are kept",
		  { .way = &env_credential, .before = planted_among_digits },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "numbers, once it was seen",
		  { .way = &env_credential, .before = planted_and_then_digits },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "the same numbers again and again",
		  { .way = &env_credential, .before = planted_many_times },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "nobody saw the session's environment",
		  { .way = &env_credential, .on = no_environment },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "... which lets it be inferred",
		  { .way = &env_credential, .on = no_environment, .inferred = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "inferred, and the twin was not read",
		  { .way = &env_credential, .on = no_twin, .inferred = true },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "a record of an exec was lost",
		  { .way = &env_credential, .on = lost_exec },
		  VERDICT_INCONCLUSIVE,
		  R(IDENTITY_UNKNOWN),
		  RUN_VALID },
		{ "off hides it too",
		  { .way = &env_credential, .off = reads_twin },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_MAKES_NO_DIFFERENCE),
		  RUN_VALID },
		{ "not readable outside",
		  { .way = &env_credential, .first = reads_twin },
		  VERDICT_INCONCLUSIVE,
		  R(TARGET_UNREACHABLE_OUTSIDE),
		  RUN_VALID },
		{ "another instance proved the twin",
		  { .way = &env_credential, .ran_elsewhere = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },
		{ "in the steady state",
		  { .way = &env_credential, .steady_ms = 300, .steady = reads_twin_after_waiting },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
	};

	check_rows(table);
}

static void files(void **state unused_arg)
{
	static const struct row table[] = {
		{ "an honest run", { .way = &file_credential }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "proved",
		  { .way = &file_credential, .on = file_open },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "another instance proved it",
		  { .way = &file_credential, .on = file_open, .ran_elsewhere = true },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "in the steady state",
		  { .way = &file_credential, .steady_ms = 300 },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "nothing was opened",
		  { .way = &file_credential, .on = opens_nothing },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "another file was opened",
		  { .way = &file_credential, .on = opens_another },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "the launcher opened it",
		  { .way = &file_credential, .on = launcher_opens },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "its name was written, not opened",
		  { .way = &file_credential, .on = writes_its_name },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "there was no room to open it",
		  { .way = &file_credential, .on = no_room_to_open },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "an environment is no attempt at a file",
		  { .way = &file_credential, .on = reads_twin },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "the environment of another process",
		  { .way = &proc_environ },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "... was read",
		  { .way = &proc_environ, .on = proc_open },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "... which never had the secret",
		  { .way = &proc_environ, .before = not_planted },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "... which was gone before the session began",
		  { .way = &proc_environ, .sibling1_missing = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },
		{ "... which was gone behind the attempt",
		  { .way = &proc_environ, .sibling2_missing = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },
		{ "... and nobody looked",
		  { .way = &proc_environ, .on = opens_nothing },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
	};

	check_rows(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(environments),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
