// SPDX-License-Identifier: Apache-2.0
#include "user/rig/probe_file.h"

#include <limits.h>
#include <linux/capability.h>
#include <openssl/sha.h>
#include <sys/socket.h>

#include "user/base/own_words.h"
#include "user/rig/program.h"
#include "user/rig/rig.h"
#include "user/rig/yaml.h"

#define WINDOW_MAX_MS 60000

/* What a user's probe can go by: the ways that need nothing of the rig but its far side. */
static const struct {
	const char *name;
	enum channel channel;
	uint32_t port, window_ms; /* where the file says none */
} channels[] = {
	/* 3.5 s: a dropped SYN is sent again after 1 and after 3 seconds */
	{ "tcp", CHANNEL_TCP, RIG_PORT_TCP, 3500 }, { "udp", CHANNEL_UDP, RIG_PORT_UDP, 1000 },
	{ "dns-udp", CHANNEL_DNS_UDP, 53, 1000 },   { "dns-tcp", CHANNEL_DNS_TCP, 53, 3500 },
	{ "icmp", CHANNEL_ICMP, 0, 1000 },
};

/* ---- values ---- */

static int read_schema(struct yaml *y, yaml_node_t *node, void *to unused_arg)
{
	uint32_t v;

	return yaml_u32(y, node, 1, 1, &v);
}

static bool is_name(const char *text)
{
	size_t len = strlen(text);

	return len >= 1 && len < EV_NAME_MAX &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static int read_id(struct yaml *y, yaml_node_t *node, void *to)
{
	const char *text;
	char kind[80];
	int r = yaml_text(y, node, OWN_ARG_MAX - 1, &text);

	if (r < 0)
		return r;
	(void)yaml_kind(node, kind, sizeof(kind));
	if (!is_name(text))
		return yaml_error(y, node, "%s is no id: expected 1 to %d of a-z, 0-9 and '-'",
				  kind, EV_NAME_MAX - 1);
	if (probe_manifest_find(text))
		return yaml_error(y, node, "%s is a probe of ours: expected an id of its own",
				  kind);
	return str_copy(to, EV_NAME_MAX, text);
}

static int read_about(struct yaml *y, yaml_node_t *node, void *to)
{
	return yaml_text_copy(y, node, EV_TEXT_MAX - 1, to);
}

static int check_family(struct yaml *y, yaml_node_t *item, const char *text)
{
	char kind[80];

	if (text[0] == '@' && is_name(text + 1))
		return 0;
	return yaml_error(y, item, "%s is no family: expected '@' and a name, quoted",
			  yaml_kind(item, kind, sizeof(kind)));
}

static int read_families(struct yaml *y, yaml_node_t *node, void *to)
{
	static const struct yaml_texts_opts o = { .what = "families",
						  .min = 1,
						  .max = PROBE_FAMILIES_MAX,
						  .bytes = EV_NAME_MAX,
						  .check = check_family };

	return yaml_texts(y, node, &o, to);
}

/* As MITRE writes them: T1095, T1071.004. */
static int read_attack(struct yaml *y, yaml_node_t *node, void *to)
{
	const char *text;
	char kind[80];
	int r = yaml_text(y, node, EV_TEXT_MAX, &text);

	if (r < 0)
		return r;
	if (text[0] != 'T' || strspn(text + 1, "0123456789.") != strlen(text) - 1 ||
	    strlen(text) < 5 || strlen(text) > 9)
		return yaml_error(y, node,
				  "%s is no technique of ATT&CK: expected one like T1095 or "
				  "T1071.004",
				  yaml_kind(node, kind, sizeof(kind)));
	return str_copy(to, sizeof(((struct ev_probe *)0)->attack), text);
}

static int read_channel(struct yaml *y, yaml_node_t *node, void *to)
{
	const char *words[ARRAY_SIZE(channels)];
	size_t i;
	int r;

	for (i = 0; i < ARRAY_SIZE(channels); i++)
		words[i] = channels[i].name;
	r = yaml_word(y, node, words, ARRAY_SIZE(words), &i);
	if (r >= 0)
		*(enum channel *)to = channels[i].channel;
	return r;
}

static int read_address_family(struct yaml *y, yaml_node_t *node, void *to)
{
	static const char *const words[] = { "ipv4", "ipv6" };
	size_t i;
	int r = yaml_word(y, node, words, ARRAY_SIZE(words), &i);

	if (r >= 0)
		*(uint32_t *)to = i ? AF_INET6 : AF_INET;
	return r;
}

static int read_port(struct yaml *y, yaml_node_t *node, void *to)
{
	return yaml_u32(y, node, 1, UINT16_MAX, to);
}

static int read_window(struct yaml *y, yaml_node_t *node, void *to)
{
	return yaml_duration(y, node, WINDOW_MAX_MS, to);
}

static int read_bool(struct yaml *y, yaml_node_t *node, void *to)
{
	return yaml_bool(y, node, to);
}

static int check_need(struct yaml *y unused_arg, yaml_node_t *item unused_arg,
		      const char *text unused_arg)
{
	return 0;
}

/* What the baseline and the calibrators get: a target has what its platform gives. */
static const struct {
	const char *name;
	unsigned int cap;
} capabilities[] = {
	{ "net_raw", CAP_NET_RAW },
	{ "net_admin", CAP_NET_ADMIN },
	{ "net_bind_service", CAP_NET_BIND_SERVICE },
};

static int read_capabilities(struct yaml *y, yaml_node_t *node, void *to)
{
	const char *words[ARRAY_SIZE(capabilities)];
	size_t n, which;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++)
		words[i] = capabilities[i].name;
	r = yaml_list(y, node, "capabilities", 1, ARRAY_SIZE(capabilities), &n);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		r = yaml_word(y, yaml_item(y, node, i), words, ARRAY_SIZE(words), &which);
		if (r >= 0)
			*(uint64_t *)to |= 1ull << capabilities[which].cap;
	}
	return r;
}

static int read_needs(struct yaml *y, yaml_node_t *node, void *to)
{
	static const struct yaml_texts_opts o = { .what = "commands",
						  .min = 0,
						  .max = OWN_ARGS_MAX,
						  .bytes = OWN_ARG_MAX - 1,
						  .check = check_need };

	return yaml_texts(y, node, &o, to);
}

static int check_word(struct yaml *y, yaml_node_t *item, const char *text)
{
	enum own_word word;
	size_t len;

	for (const char *at = text; (at = own_words_next(at, &word, &len)); at += len)
		if (word == OWN_WORDS)
			return yaml_error(y, item,
					  "unknown placeholder '%.*s': expected " OWN_WORDS_LIST,
					  (int)MIN(len, 64u), at);
	return 0;
}

static int read_run(struct yaml *y, yaml_node_t *node, void *to)
{
	static const struct yaml_texts_opts o = { .what = "arguments",
						  .min = 1,
						  .max = OWN_ARGS_MAX - 1,
						  .bytes = OWN_ARG_MAX - 1,
						  .check = check_word };

	return yaml_texts(y, node, &o, to);
}

#define AT(member) offsetof(struct probe_file, member)
static const struct yaml_key keys[] = {
	{ "schema", read_schema, 0, "1, the version of this format" },
	{ "id", read_id, AT(m.p.name), "the probe's id" },
	{ "about", read_about, AT(about), "one line for people" },
	{ "families", read_families, AT(families), "a list of '@family'" },
	{ "attack", read_attack, AT(m.p.attack), "the technique of ATT&CK, like T1095" },
	{ "channel", read_channel, AT(m.p.channel), "how the token travels" },
	{ "family", read_address_family, AT(m.p.family), NULL },
	{ "port", read_port, AT(m.port), NULL },
	{ "window", read_window, AT(m.p.window_ms), NULL },
	{ "answers", read_bool, AT(m.p.answers), "true where the far side's answer comes back" },
	{ "capabilities", read_capabilities, AT(m.p.caps), NULL },
	{ "needs", read_needs, AT(needs), NULL },
	{ "run", read_run, AT(run), "a list of arguments: what makes the attempt" },
};

/* ---- the file ---- */

static void fill_defaults(struct probe_file *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(channels); i++) {
		if (channels[i].channel != p->m.p.channel)
			continue;
		if (!p->m.port)
			p->m.port = channels[i].port;
		if (!p->m.p.window_ms)
			p->m.p.window_ms = channels[i].window_ms;
	}
	if (!p->m.p.family)
		p->m.p.family = AF_INET;
	for (size_t i = 0; p->families[i]; i++)
		p->m.families[i] = p->families[i];
	p->m.about = p->about;
	p->m.own = p->run;
}

static int beside(const char *file, const char *name, char ret[PATH_MAX])
{
	const char *slash = strrchr(file, '/');

	if (name[0] == '/' || !slash)
		return str_copy(ret, PATH_MAX, name);
	return str_format(ret, PATH_MAX, "%.*s/%s", (int)(slash - file), file, name);
}

/* A command with a '/' is a file of the user's, and travels with us; another is the sandbox's. */
static int find_program(struct yaml *y, yaml_node_t *root, struct probe_file *p)
{
	yaml_node_t *command = yaml_item(y, yaml_value(y, root, "run"), 0);
	char path[PATH_MAX], found[PATH_MAX], kind[80];
	int r;

	if (strchr(p->run[0], '{'))
		return yaml_error(y, command, "a placeholder in the command's name: expected none");
	if (!strchr(p->run[0], '/'))
		return 0;
	r = beside(p->path, p->run[0], path);
	if (r < 0)
		return r;
	if (program_find(path, NULL, found, sizeof(found)))
		return yaml_error(y, command,
				  "%s is no program: expected a file that can be "
				  "executed, looked for from this file's folder",
				  yaml_kind(command, kind, sizeof(kind)));
	p->program = strdup(path);
	return p->program ? 0 : -ENOMEM;
}

static int find_needs(struct yaml *y, yaml_node_t *root, const struct probe_file *p)
{
	yaml_node_t *needs = yaml_value(y, root, "needs");
	char found[PATH_MAX], path[PATH_MAX], kind[80];

	for (size_t i = 0; p->needs && p->needs[i]; i++) {
		yaml_node_t *item = yaml_item(y, needs, i);

		if (beside(p->path, p->needs[i], path) ||
		    program_find(strchr(p->needs[i], '/') ? path : p->needs[i], NULL, found,
				 sizeof(found)))
			return yaml_error(y, item,
					  "%s is not here, and the probe needs it: install "
					  "it, or leave the probe out",
					  yaml_kind(item, kind, sizeof(kind)));
	}
	return 0;
}

static int parse(struct probe_file *p, const char *text, size_t len, struct diag *d)
{
	yaml_node_t *root;
	struct yaml y;
	int r = yaml_open(&y, p->path, text, len, d, &root);

	if (r < 0)
		return r;
	r = yaml_mapping(&y, root, "a probe", keys, ARRAY_SIZE(keys), p);
	if (r >= 0)
		r = find_program(&y, root, p);
	if (r >= 0)
		r = find_needs(&y, root, p);
	yaml_close(&y);
	if (r == -ENOMEM)
		(void)diag_set(d, r, p->path, 0, 0, "out of memory");
	if (r >= 0)
		fill_defaults(p);
	return r;
}

int probe_file_load(struct probe_file **ret, const char *path, struct diag *d)
{
	cleanup_free char *text = NULL;
	struct probe_file *p;
	size_t len;
	int r = read_file(path, PROBE_FILE_MAX, &text, &len);

	if (r == -EFBIG)
		return diag_set(d, r, path, 0, 0,
				"larger than a probe file may be: expected at most %d bytes",
				PROBE_FILE_MAX);
	if (r < 0)
		return diag_set(d, r, path, 0, 0, "not readable: %s", strerror(-r));
	p = calloc(1, sizeof(*p));
	if (!p || !(p->path = strdup(path))) {
		probe_file_free(p);
		return diag_set(d, -ENOMEM, path, 0, 0, "out of memory");
	}
	(void)SHA256((const unsigned char *)text, len, p->digest);
	r = parse(p, text, len, d);
	if (r < 0) {
		probe_file_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

void probe_file_free(struct probe_file *p)
{
	if (!p)
		return;
	yaml_texts_free(p->families);
	yaml_texts_free(p->needs);
	yaml_texts_free(p->run);
	free(p->about);
	free(p->program);
	free(p->folder);
	free(p->session);
	free(p->path);
	free(p);
}
