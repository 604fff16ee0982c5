// SPDX-License-Identifier: Apache-2.0
#include "user/rig/session_command.h"

#include <stdarg.h>

#include "user/base/own_words.h"
#include "user/rig/destination.h"
#include "user/rig/rig.h"

#define HOLD_MS 20000 /* the session's own limit, should we be gone */
#define CMD_ARGS 13

struct session_argv {
	char *argv[CMD_ARGS + 1 + OWN_ARGS_MAX + 1];
	size_t n; /* of argv, its NULL not counted */
	char text[CMD_ARGS][160];
	char exe[4096];
};

static void add_arg(struct session_argv *a, const char *fmt, ...) printf_like(2, 3);
static void add_arg(struct session_argv *a, const char *fmt, ...)
{
	char *text = a->text[a->n];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(a->text[0]), fmt, ap);
	va_end(ap);
	a->argv[a->n++] = text;
	a->argv[a->n] = NULL;
}

/* Where the attempt goes. A sibling says itself where it is; one that says nothing is at the
 * trial's address. */
static void add_destination(struct session_argv *a, const struct session *s)
{
	bool says = s->t.dest == DEST_SIBLING && s->helper.has_at;
	const struct ev_trial *t = &s->t;
	char addr[ADDR_TEXT_MAX];

	if (t->path[0]) {
		add_arg(a, "to=unix:%s", t->path);
		return;
	}
	if (t->dest == DEST_NONE)
		return;
	add_arg(a, "to=%s", addr_text(says ? s->helper.at : t->daddr, addr));
	add_arg(a, "port=%u", t->dport);
}

/* A user's own probe: its words as they are, the session fills them in. */
static void add_command(struct session_argv *a, char *const *own)
{
	static char end[] = "--";

	a->argv[a->n++] = end;
	for (size_t i = 0; i < OWN_ARGS_MAX && own[i]; i++)
		a->argv[a->n++] = own[i];
	a->argv[a->n] = NULL;
}

/* The secret itself is never told. */
static void add_planted(struct session_argv *a, const struct plant *p)
{
	if (p->tell_home)
		add_arg(a, "home=%s", p->home);
	if (p->tell)
		add_arg(a, "twin=%s", p->tell);
}

static void session_argv_fill(struct session_argv *a, const struct session *s)
{
	const struct session_plan *p = &s->plan;
	const struct ev_trial *t = &s->t;
	char nonce[2 * EV_NONCE_BYTES + 1], challenge[2 * EV_NONCE_BYTES + 1];

	hex_encode(nonce, t->nonce, sizeof(t->nonce));
	hex_encode(challenge, t->challenge1, sizeof(t->challenge1));
	(void)str_copy(a->exe, sizeof(a->exe), p->probe_exe);
	a->argv[0] = a->exe;
	a->n = 1;
	add_arg(a, SNT_SESSION_PREFIX "%s", nonce);
	add_arg(a, "probe=%s", t->probe);
	add_destination(a, s);
	add_arg(a, "challenge=%s", challenge);
	add_arg(a, "timeout_ms=%u", p->timeout_ms);
	add_arg(a, "hold_ms=%u", HOLD_MS);
	if (t->wait_ms)
		add_arg(a, "wait_ms=%u", t->wait_ms);
	if (p->name[0])
		add_arg(a, "name=%s", p->name);
	add_planted(a, &s->plant);
	if (p->canary)
		add_arg(a, "canary=connect");
	if (p->own)
		add_command(a, p->own);
}

bool session_uses(const struct session_plan *p, const char *placeholder)
{
	for (char *const *arg = p->run; arg && *arg; arg++)
		if (strstr(*arg, placeholder))
			return true;
	return false;
}

/* What differs between the two commands that a trial may start in the target's sandboxes. */
struct part {
	const char *id_suffix, *folder;
};

static int expand(const struct session *s, char *const *cmd, const struct part *part, char ***ret)
{
	const struct session_plan *p = &s->plan;
	const struct plant *plant = &s->plant;
	const struct ev_trial *t = &s->t;
	char cmd_word[] = "{cmd}";
	char *const only_cmd[] = { cmd_word, NULL };
	char id[16], netns[64], collector[ADDR_TEXT_MAX], allowed[ADDR_TEXT_MAX];
	uint8_t allowed_addr[16];
	const struct target_vars vars = {
		.cmd = cmd,
		.value = { [PLACEHOLDER_ID] = id,
			   [PLACEHOLDER_NETNS] = netns,
			   [PLACEHOLDER_DIR] = part->folder[0] ? part->folder : NULL,
			   [PLACEHOLDER_COLLECTOR] = addr_text(t->daddr, collector),
			   [PLACEHOLDER_ALLOWED] = allowed,
			   [PLACEHOLDER_ALLOWED_NAME] = RIG_ALLOWED_NAME,
			   [PLACEHOLDER_PROBE] = p->bind ? p->bind : p->probe_exe,
			   [PLACEHOLDER_CONFINE] = p->confine_exe,
			   [PLACEHOLDER_HOME] = plant->home,
			   [PLACEHOLDER_TWIN_ENV] = plant->twin_env,
			   [PLACEHOLDER_TWIN_FILE] = plant->twin_file },
	};

	destination_allowed(t->daddr, allowed_addr);
	(void)addr_text(allowed_addr, allowed);
	(void)str_format(id, sizeof(id), "t%u%s", t->id, part->id_suffix);
	(void)str_format(netns, sizeof(netns), "/proc/%d/fd/%d", (int)getpid(), s->box);
	return target_expand(p->run ? p->run : only_cmd, &vars, ret);
}

int session_command(const struct session *s, char ***ret)
{
	const struct part part = { .id_suffix = "", .folder = s->folder };
	struct session_argv cmd = { .exe = "" };

	session_argv_fill(&cmd, s);
	return expand(s, cmd.argv, &part, ret);
}

int session_sibling_command(const struct session *s, char ***ret)
{
	const struct part part = { .id_suffix = "s", .folder = s->sibling_folder };
	char exe[4096], word[] = "sibling", port[8], challenge[2 * EV_NONCE_BYTES + 1];
	char *const cmd[] = { exe, word, port, challenge, NULL };

	(void)str_copy(exe, sizeof(exe), s->plan.probe_exe);
	(void)str_format(port, sizeof(port), "%u", s->t.dport);
	hex_encode(challenge, s->t.challenge1, sizeof(s->t.challenge1));
	return expand(s, cmd, &part, ret);
}
