// SPDX-License-Identifier: Apache-2.0
/* The loader: one table of keys per kind of mapping, one reader per kind of value. */
#include "user/rig/target.h"

#include <limits.h>
#include <openssl/sha.h>
#include <pwd.h>

#include "user/rig/need.h"
#include "user/rig/yaml.h"

#define DEFAULT_USER "nobody"
#define DEFAULT_START_TIMEOUT_MS 10000
#define SETTLE_MAX_MS 60000 /* a run that waits longer per trial is a mistake in the file */
#define STEADY_MAX_MS 300000
#define START_MAX_MS 300000

/* ---- values ---- */

/* What is shown travels through the capture in fields of this size. */
static int read_text(struct yaml *y, yaml_node_t *node, void *to)
{
	return yaml_text_copy(y, node, EV_TEXT_MAX - 1, to);
}

static int read_text_list(struct yaml *y, yaml_node_t *node, const char *what, size_t min,
			  yaml_check_fn check, char ***ret)
{
	const struct yaml_texts_opts o = { .what = what,
					   .min = min,
					   .max = TARGET_LIST_MAX,
					   .bytes = TARGET_ARG_MAX,
					   .check = check };

	return yaml_texts(y, node, &o, ret);
}

static bool is_name(const char *text, size_t len)
{
	return len >= 1 && len < EV_NAME_MAX &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static int check_pattern(struct yaml *y, yaml_node_t *item, const char *text)
{
	const char *name = text[0] == '@' ? text + 1 : text;
	char kind[80];

	if (!strcmp(text, "*") || is_name(name, strlen(name)))
		return 0;
	return yaml_error(y, item, "%s is no probe: expected an id, an '@family' or '*'",
			  yaml_kind(item, kind, sizeof(kind)));
}

static int check_arg(struct yaml *y, yaml_node_t *item, const char *text)
{
	enum placeholder p;
	size_t len;

	for (const char *at = text; (at = placeholder_next(at, &p, &len)); at += len) {
		if (p == PLACEHOLDER_UNKNOWN)
			return yaml_error(y, item,
					  "unknown placeholder '%.*s': expected " PLACEHOLDER_LIST,
					  (int)MIN(len, 64u), at);
		if (p == PLACEHOLDER_CMD && strcmp(text, "{cmd}"))
			return yaml_error(y, item,
					  "'{cmd}' inside of an argument: expected an argument of "
					  "its own, since it becomes several");
	}
	return 0;
}

static int check_fixed_arg(struct yaml *y, yaml_node_t *item, const char *text)
{
	enum placeholder p;
	size_t len;
	const char *at = placeholder_next(text, &p, &len);

	if (!at)
		return 0;
	return yaml_error(y, item,
			  "a placeholder '%.*s' here: expected none, there is no trial yet",
			  (int)MIN(len, 64u), at);
}

static int check_need(struct yaml *y, yaml_node_t *item, const char *text)
{
	char kind[80];

	if (need_is_valid(text))
		return check_fixed_arg(y, item, text);
	return yaml_error(y, item,
			  "%s is no need: expected a command, or landlock:N with the ABI that is "
			  "needed",
			  yaml_kind(item, kind, sizeof(kind)));
}

static int read_patterns(struct yaml *y, yaml_node_t *node, void *to)
{
	return read_text_list(y, node, "probes", 1, check_pattern, to);
}

static int read_argv(struct yaml *y, yaml_node_t *node, void *to)
{
	return read_text_list(y, node, "arguments", 1, check_arg, to);
}

static int read_version_argv(struct yaml *y, yaml_node_t *node, void *to)
{
	return read_text_list(y, node, "arguments", 1, check_fixed_arg, to);
}

static int read_needs(struct yaml *y, yaml_node_t *node, void *to)
{
	return read_text_list(y, node, "commands", 0, check_need, to);
}

static int read_bool(struct yaml *y, yaml_node_t *node, void *to)
{
	return yaml_bool(y, node, to);
}

static int read_lane(struct yaml *y, yaml_node_t *node, void *to)
{
	static const char *const words[] = { "open", "closed" };
	size_t i;
	int r = yaml_word(y, node, words, ARRAY_SIZE(words), &i);

	if (r >= 0)
		*(enum target_lane *)to = i ? TARGET_LANE_CLOSED : TARGET_LANE_OPEN;
	return r;
}

/* ---- expect ---- */

static const struct {
	const char *name;
	uint32_t bit;
} namespaces[] = {
	{ "mnt", EXPECT_NS_MNT },	{ "net", EXPECT_NS_NET }, { "pid", EXPECT_NS_PID },
	{ "user", EXPECT_NS_USER },	{ "uts", EXPECT_NS_UTS }, { "ipc", EXPECT_NS_IPC },
	{ "cgroup", EXPECT_NS_CGROUP },
};

static int read_namespaces(struct yaml *y, yaml_node_t *node, void *to)
{
	const char *words[ARRAY_SIZE(namespaces)];
	struct target *t = to;
	size_t n, which;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++)
		words[i] = namespaces[i].name;
	r = yaml_list(y, node, "namespaces", 1, ARRAY_SIZE(namespaces), &n);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		r = yaml_word(y, yaml_item(y, node, i), words, ARRAY_SIZE(words), &which);
		if (r >= 0)
			t->expect |= namespaces[which].bit;
	}
	return r;
}

static int read_expect_uid(struct yaml *y, yaml_node_t *node, void *to)
{
	struct target *t = to;

	t->expect |= EXPECT_UID;
	return yaml_u32(y, node, 0, UINT32_MAX - 1, &t->expect_uid);
}

static int read_expect_nnp(struct yaml *y, yaml_node_t *node, void *to)
{
	struct target *t = to;
	bool on = false;
	int r = yaml_bool(y, node, &on);

	t->expect |= EXPECT_NNP;
	t->expect_nnp = on;
	return r;
}

static int read_expect_seccomp(struct yaml *y, yaml_node_t *node, void *to)
{
	/* In the order of the kernel's SECCOMP_MODE_* (include/uapi/linux/seccomp.h). */
	static const char *const words[] = { "disabled", "strict", "filter" };
	struct target *t = to;
	size_t i = 0;
	int r = yaml_word(y, node, words, ARRAY_SIZE(words), &i);

	t->expect |= EXPECT_SECCOMP;
	t->expect_seccomp = (uint32_t)i;
	return r;
}

static int read_expect_refused(struct yaml *y, yaml_node_t *node, void *to)
{
	static const char *const words[] = { "connect" };
	struct target *t = to;
	size_t n, which;
	int r = yaml_list(y, node, "calls", 1, ARRAY_SIZE(words), &n);

	for (size_t i = 0; r >= 0 && i < n; i++) {
		r = yaml_word(y, yaml_item(y, node, i), words, ARRAY_SIZE(words), &which);
		if (r >= 0)
			t->expect |= EXPECT_REFUSED_CONNECT;
	}
	return r;
}

static int read_expect(struct yaml *y, yaml_node_t *node, void *to)
{
	static const struct yaml_key keys[] = {
		{ "namespaces", read_namespaces, 0, NULL },
		{ "uid", read_expect_uid, 0, NULL },
		{ "no_new_privs", read_expect_nnp, 0, NULL },
		{ "seccomp", read_expect_seccomp, 0, NULL },
		{ "refused", read_expect_refused, 0, NULL },
	};
	struct target *t = to;
	int r = yaml_mapping(y, node, "expect", keys, ARRAY_SIZE(keys), t);

	if (r >= 0 && !t->expect)
		return yaml_error(y, node,
				  "'expect' is empty: expected what the kernel must see of the "
				  "sandbox (namespaces, uid, no_new_privs, seccomp, refused)");
	return r;
}

/* ---- claims and off ---- */

/* Where each pattern of a list stands. */
static int read_places(struct yaml *y, yaml_node_t *list, struct target_place **ret)
{
	size_t n = (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
	struct target_place *places = calloc(n, sizeof(*places));

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const yaml_mark_t *at = &yaml_item(y, list, i)->start_mark;

		places[i] = (struct target_place){ (unsigned int)at->line + 1,
						   (unsigned int)at->column + 1 };
	}
	*ret = places;
	return 0;
}

static int read_source(struct yaml *y, yaml_node_t *node, void *to)
{
	static const struct yaml_key keys[] = {
		{ "document", read_text, offsetof(struct target_source, document),
		  "the name of the platform's own text" },
		{ "section", read_text, offsetof(struct target_source, section),
		  "where in it the promise stands" },
		{ "version", read_text, offsetof(struct target_source, version),
		  "the version of the document" },
		{ "quote", read_text, offsetof(struct target_source, quote),
		  "the promise, word for word" },
	};

	return yaml_mapping(y, node, "a source", keys, ARRAY_SIZE(keys), to);
}

static int source_default(struct target_source *s)
{
	char **fields[] = { &s->document, &s->section, &s->version, &s->quote };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!*fields[i] && !(*fields[i] = strdup("")))
			return -ENOMEM;
	return 0;
}

static int read_claim(struct yaml *y, yaml_node_t *node, struct target_claim *c)
{
	static const struct yaml_key keys[] = {
		{ "probes", read_patterns, offsetof(struct target_claim, probes),
		  "a list of probes" },
		{ "claimed", read_bool, offsetof(struct target_claim, claimed), "true or false" },
		{ "source", read_source, offsetof(struct target_claim, source), NULL },
	};
	int r = yaml_mapping(y, node, "a claim", keys, ARRAY_SIZE(keys), c);

	if (r >= 0 && c->claimed && !c->source.document)
		return yaml_error(y, node,
				  "a claim without a source: expected 'source' with document, "
				  "section, version and quote");
	if (r >= 0)
		r = read_places(y, yaml_value(y, node, "probes"), &c->places);
	return r < 0 ? r : source_default(&c->source);
}

static int read_claims(struct yaml *y, yaml_node_t *node, void *to)
{
	struct target *t = to;
	size_t n;
	int r;

	r = yaml_list(y, node, "claims", 0, TARGET_LIST_MAX, &n);
	if (r < 0)
		return r;
	t->claims = calloc(MAX(n, 1u), sizeof(*t->claims));
	if (!t->claims)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < n; i++) {
		t->claims_n = i + 1; /* so that target_free() finds a half-read one too */
		r = read_claim(y, yaml_item(y, node, i), &t->claims[i]);
	}
	return r;
}

static int read_off_entry(struct yaml *y, yaml_node_t *node, struct target_off *off)
{
	static const struct yaml_key keys[] = {
		{ "probes", read_patterns, offsetof(struct target_off, probes),
		  "a list of probes" },
		{ "run", read_argv, offsetof(struct target_off, run), NULL },
		{ "lane", read_lane, offsetof(struct target_off, lane), NULL },
	};
	int r;

	off->lane = TARGET_LANE_INVALID;
	r = yaml_mapping(y, node, "an off entry", keys, ARRAY_SIZE(keys), off);
	if (r < 0)
		return r;
	if (!off->run && off->lane == TARGET_LANE_INVALID)
		return yaml_error(y, node,
				  "an off entry that loosens nothing: expected 'run' or 'lane'");
	if (off->lane == TARGET_LANE_INVALID)
		off->lane = TARGET_LANE_OPEN;
	return read_places(y, yaml_value(y, node, "probes"), &off->places);
}

static int read_off(struct yaml *y, yaml_node_t *node, void *to)
{
	struct target *t = to;
	size_t n;
	int r;

	r = yaml_list(y, node, "off entries", 0, TARGET_LIST_MAX, &n);
	if (r < 0)
		return r;
	t->off = calloc(MAX(n, 1u), sizeof(*t->off));
	if (!t->off)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < n; i++) {
		t->off_n = i + 1;
		r = read_off_entry(y, yaml_item(y, node, i), &t->off[i]);
	}
	return r;
}

static int read_allowed(struct yaml *y, yaml_node_t *node, void *to)
{
	struct target *t = to;
	int r = read_patterns(y, node, &t->allowed);

	return r < 0 ? r : read_places(y, node, &t->allowed_places);
}

/* ---- the target ---- */

static int read_schema(struct yaml *y, yaml_node_t *node, unused_arg void *to)
{
	uint32_t v;

	return yaml_u32(y, node, 1, 1, &v);
}

static int read_name(struct yaml *y, yaml_node_t *node, void *to)
{
	const char *text;
	char kind[80];
	int r;

	r = yaml_text(y, node, TARGET_ARG_MAX, &text);
	if (r < 0)
		return r;
	if (!is_name(text, strlen(text)))
		return yaml_error(y, node, "%s is no name: expected 1 to %d of a-z, 0-9 and '-'",
				  yaml_kind(node, kind, sizeof(kind)), EV_NAME_MAX - 1);
	return str_copy(to, EV_NAME_MAX, text);
}

static int find_user(struct target *t, const char *name)
{
	const struct passwd *pw = getpwnam(name);

	if (!pw)
		return -ENOENT;
	t->uid = pw->pw_uid;
	t->gid = pw->pw_gid;
	t->user = strdup(name);
	return t->user ? 0 : -ENOMEM;
}

static int read_user(struct yaml *y, yaml_node_t *node, void *to)
{
	const char *text;
	char kind[80];
	int r;

	r = yaml_text(y, node, EV_NAME_MAX, &text);
	if (r < 0)
		return r;
	r = find_user(to, text);
	if (r == -ENOENT)
		return yaml_error(y, node,
				  "%s is no user of this machine: expected a name that "
				  "getent passwd knows",
				  yaml_kind(node, kind, sizeof(kind)));
	return r;
}

static int read_attempt(struct yaml *y, yaml_node_t *node, void *to)
{
	static const char *const words[] = { "visible", "inferred" };
	size_t i;
	int r = yaml_word(y, node, words, ARRAY_SIZE(words), &i);

	if (r >= 0)
		*(bool *)to = i == 1;
	return r;
}

static int read_answer(struct yaml *y, yaml_node_t *node, void *to)
{
	static const char *const words[] = { "stdout" };
	size_t i;
	int r = yaml_word(y, node, words, ARRAY_SIZE(words), &i);

	if (r >= 0)
		*(enum target_answer *)to = TARGET_ANSWER_STDOUT;
	return r;
}

static int read_settle(struct yaml *y, yaml_node_t *node, void *to)
{
	return yaml_duration(y, node, SETTLE_MAX_MS, to);
}

static int read_steady(struct yaml *y, yaml_node_t *node, void *to)
{
	return yaml_duration(y, node, STEADY_MAX_MS, to);
}

static int read_start(struct yaml *y, yaml_node_t *node, void *to)
{
	return yaml_duration(y, node, START_MAX_MS, to);
}

static int read_timeout(struct yaml *y, yaml_node_t *node, void *to)
{
	static const struct yaml_key keys[] = {
		{ "start", read_start, 0, "how long the sandbox may take to start" },
	};

	return yaml_mapping(y, node, "timeout", keys, ARRAY_SIZE(keys), to);
}

static int read_calibrator(struct yaml *y, yaml_node_t *node, void *to)
{
	static const char *const words[] = { "escapes", "contains", "never-started", "deaf" };
	static const enum role roles[] = { ROLE_ESCAPES, ROLE_CONTAINS, ROLE_NEVER, ROLE_DEAF };
	size_t i;
	int r = yaml_word(y, node, words, ARRAY_SIZE(words), &i);

	if (r >= 0)
		*(enum role *)to = roles[i];
	return r;
}

static int read_far(struct yaml *y, yaml_node_t *node, void *to)
{
	static const char *const words[] = { "answers", "deaf" };
	size_t i;
	int r = yaml_word(y, node, words, ARRAY_SIZE(words), &i);

	if (r >= 0)
		*(enum far_side *)to = i ? FAR_DEAF : FAR_ANSWERS;
	return r;
}

static const struct yaml_key target_keys[] = {
	{ "schema", read_schema, 0, "1, the version of this format" },
	{ "name", read_name, offsetof(struct target, name), "the target's name" },
	{ "about", read_text, offsetof(struct target, about), "one line for people" },
	{ "version", read_version_argv, offsetof(struct target, version), NULL },
	{ "needs", read_needs, offsetof(struct target, needs), NULL },
	{ "user", read_user, 0, NULL },
	{ "expect", read_expect, 0, "what the kernel must see of the sandbox" },
	{ "claims", read_claims, 0, "a list of what the platform claims" },
	{ "run", read_argv, offsetof(struct target, run), "a list of arguments, with \"{cmd}\"" },
	{ "lane", read_lane, offsetof(struct target, lane), NULL },
	{ "off", read_off, 0, NULL },
	{ "allowed", read_allowed, 0, NULL },
	{ "attempt", read_attempt, offsetof(struct target, inferred), NULL },
	{ "answer", read_answer, offsetof(struct target, answer), NULL },
	{ "settle", read_settle, offsetof(struct target, settle_ms), NULL },
	{ "steady", read_steady, offsetof(struct target, steady_ms), NULL },
	{ "timeout", read_timeout, offsetof(struct target, start_timeout_ms), NULL },
	{ "calibrator", read_calibrator, offsetof(struct target, role), NULL },
	{ "far", read_far, offsetof(struct target, far), NULL },
};

static char **argv_copy(char *const *argv)
{
	size_t n = 0;
	char **copy;

	while (argv[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = strdup(argv[i]);
		if (!copy[i]) {
			target_argv_free(copy);
			return NULL;
		}
	}
	return copy;
}

static int check_cmd(struct yaml *y, yaml_node_t *mapping, char *const *run)
{
	if (!run)
		return 0;
	for (; *run; run++)
		if (!strcmp(*run, "{cmd}"))
			return 0;
	return yaml_error(y, yaml_value(y, mapping, "run"),
			  "no \"{cmd}\" in 'run': expected it as an argument of its own");
}

/* What starts nothing can't be told from what holds everything; one calibrator is just that. Only
 * once all keys are read is it known who that is. */
static int check_cmds(struct yaml *y, yaml_node_t *root, const struct target *t)
{
	int r;

	if (t->role == ROLE_NEVER)
		return 0;
	r = check_cmd(y, root, t->run);
	for (size_t i = 0; r >= 0 && i < t->off_n; i++)
		r = check_cmd(y, yaml_item(y, yaml_value(y, root, "off"), i), t->off[i].run);
	return r;
}

/* ---- commands beside the file ---- */

static int resolve(char **command, const char *folder)
{
	char path[PATH_MAX], *copy;

	if ((*command)[0] == '/' || (*command)[0] == '{' || !strchr(*command, '/'))
		return 0;
	if (str_format(path, sizeof(path), "%s/%s", folder, *command))
		return -ENAMETOOLONG;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	free(*command);
	*command = copy;
	return 0;
}

/* Commands start in "/": a relative path would else mean something else each time. */
static int resolve_commands(struct target *t)
{
	const char *slash = strrchr(t->path, '/');
	char name[PATH_MAX], folder[PATH_MAX];
	int r = str_format(name, sizeof(name), "%.*s/", slash ? (int)(slash - t->path) : 1,
			   slash ? t->path : ".");

	if (r || !realpath(name, folder))
		return r ? r : -errno;
	if (t->version && t->version[0])
		r = resolve(&t->version[0], folder);
	for (char **need = t->needs; need && *need && !r; need++)
		r = resolve(need, folder);
	if (!r)
		r = resolve(&t->run[0], folder);
	for (size_t i = 0; i < t->off_n && !r; i++)
		if (t->off[i].run)
			r = resolve(&t->off[i].run[0], folder);
	return r;
}

/* What the rig itself stops is nobody's control; what must come of a calibrator is known without
 * a question more. */
static int check_role(struct yaml *y, yaml_node_t *root, const struct target *t)
{
	static const char *const not_theirs[] = { "allowed", "steady" };

	if (t->role == ROLE_TARGET) {
		if (t->lane != TARGET_LANE_CLOSED && t->far == FAR_ANSWERS)
			return 0;
		return yaml_error(y, root,
				  "'lane: closed' and 'far: deaf' are the calibrators': expected "
				  "'calibrator' with them");
	}
	for (size_t i = 0; i < ARRAY_SIZE(not_theirs); i++) {
		yaml_node_t *value = yaml_value(y, root, not_theirs[i]);

		if (value)
			return yaml_error(y, value, "'%s' in a calibrator: expected none",
					  not_theirs[i]);
	}
	return 0;
}

static int none_where_left_out(char ***list)
{
	char *const none[] = { NULL };

	if (!*list)
		*list = argv_copy(none);
	return *list ? 0 : -ENOMEM;
}

/* What a file may leave out. */
static int fill_defaults(struct yaml *y, yaml_node_t *root, struct target *t)
{
	if (none_where_left_out(&t->version) || none_where_left_out(&t->needs) ||
	    none_where_left_out(&t->allowed))
		return -ENOMEM;
	for (size_t i = 0; i < t->off_n; i++)
		if (!t->off[i].run && !(t->off[i].run = argv_copy(t->run)))
			return -ENOMEM;
	if (!t->start_timeout_ms)
		t->start_timeout_ms = DEFAULT_START_TIMEOUT_MS;
	if (!t->user) {
		int r = find_user(t, DEFAULT_USER);

		if (r == -ENOENT)
			return yaml_error(y, root,
					  "no user '" DEFAULT_USER "' on this machine: "
					  "expected 'user' with another one");
		return r;
	}
	return 0;
}

static int parse(struct target *t, const char *text, size_t len, struct diag *d)
{
	yaml_node_t *root;
	struct yaml y;
	int r;

	r = yaml_open(&y, t->path, text, len, d, &root);
	if (r < 0)
		return r;
	r = yaml_mapping(&y, root, "a target", target_keys, ARRAY_SIZE(target_keys), t);
	if (r >= 0)
		r = check_cmds(&y, root, t);
	if (r >= 0)
		r = check_role(&y, root, t);
	if (r >= 0 && (r = resolve_commands(t)) < 0)
		(void)diag_set(d, r, t->path, 0, 0, "can't tell which folder this is in: %s",
			       strerror(-r));
	if (r >= 0)
		r = fill_defaults(&y, root, t);
	yaml_close(&y);
	if (r == -ENOMEM)
		(void)diag_set(d, r, t->path, 0, 0, "out of memory");
	return r;
}

int target_load(struct target **ret, const char *path, struct diag *d)
{
	cleanup_free char *text = NULL;
	struct target *t;
	size_t len;
	int r;

	r = read_file(path, TARGET_FILE_MAX, &text, &len);
	if (r == -EFBIG)
		return diag_set(d, r, path, 0, 0,
				"larger than a target file may be: expected at "
				"most %d bytes",
				TARGET_FILE_MAX);
	if (r < 0)
		return diag_set(d, r, path, 0, 0, "not readable: %s", strerror(-r));

	t = calloc(1, sizeof(*t));
	if (!t || !(t->path = strdup(path))) {
		target_free(t);
		return diag_set(d, -ENOMEM, path, 0, 0, "out of memory");
	}
	(void)SHA256((const unsigned char *)text, len, t->digest);
	r = parse(t, text, len, d);
	if (r < 0) {
		target_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

static void source_done(struct target_source *s)
{
	free(s->document);
	free(s->section);
	free(s->version);
	free(s->quote);
}

void target_free(struct target *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->claims_n; i++) {
		target_argv_free(t->claims[i].probes);
		free(t->claims[i].places);
		source_done(&t->claims[i].source);
	}
	for (size_t i = 0; i < t->off_n; i++) {
		target_argv_free(t->off[i].probes);
		free(t->off[i].places);
		target_argv_free(t->off[i].run);
	}
	free(t->claims);
	free(t->off);
	target_argv_free(t->allowed);
	free(t->allowed_places);
	target_argv_free(t->version);
	target_argv_free(t->needs);
	target_argv_free(t->run);
	free(t->about);
	free(t->path);
	free(t->user);
	free(t);
}

void target_argv_free(char **argv)
{
	yaml_texts_free(argv);
}
