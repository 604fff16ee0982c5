// SPDX-License-Identifier: Apache-2.0
#include "probes/session_args.h"

#include <sys/socket.h>

/* Of a user's own probe no more is known than its name. */
static int set_probe(struct session_args *a, const char *value)
{
	size_t len = strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-");

	a->manifest = probe_manifest_find(value);
	if (!a->command)
		return a->manifest ? 0 : -ENOENT;
	if (a->manifest || !len || value[len])
		return -EINVAL;
	return str_copy(a->own_name, sizeof(a->own_name), value);
}

static int set_to(struct session_args *a, const char *value)
{
	static const char by_path[] = "unix:";

	if (!strncmp(value, by_path, sizeof(by_path) - 1)) {
		value += sizeof(by_path) - 1;
		return (value[0] != '/' && value[0] != '@') || !value[1]
			       ? -EINVAL
			       : str_copy(a->path, sizeof(a->path), value);
	}
	return parse_addr(value, a->to);
}

static int set_port(struct session_args *a, const char *value)
{
	uint32_t port = 0;
	int err = parse_u32(value, 0, UINT16_MAX, &port);

	a->port = (uint16_t)port;
	return err;
}

static int set_challenge(struct session_args *a, const char *value)
{
	return hex_decode(a->challenge, sizeof(a->challenge), value);
}

static int set_timeout(struct session_args *a, const char *value)
{
	return parse_u32(value, 1, SESSION_TIMEOUT_MS_MAX, &a->timeout_ms);
}

static int set_hold(struct session_args *a, const char *value)
{
	return parse_u32(value, 0, SESSION_HOLD_MS_MAX, &a->hold_ms);
}

static int set_wait(struct session_args *a, const char *value)
{
	return parse_u32(value, 0, SESSION_WAIT_MS_MAX, &a->wait_ms);
}

static int set_name(struct session_args *a, const char *value)
{
	size_t len = strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-.");

	return !len || value[len] ? -EINVAL : str_copy(a->name, sizeof(a->name), value);
}

static int set_home(struct session_args *a, const char *value)
{
	return value[0] == '/' ? str_copy(a->home, sizeof(a->home), value) : -EINVAL;
}

static int set_twin(struct session_args *a, const char *value)
{
	return value[0] ? str_copy(a->twin, sizeof(a->twin), value) : -EINVAL;
}

static int set_canary(struct session_args *a, const char *value)
{
	a->canary = true;
	return strcmp(value, "connect") ? -EINVAL : 0;
}

static const struct {
	const char *key;
	int (*set)(struct session_args *a, const char *value);
	const char *what;
	bool optional;
} keys[] = {
	{ "probe", set_probe, "a probe's name", false },
	{ "to", set_to, "an IPv4 or IPv6 address, unix:/PATH or unix:@NAME", true },
	{ "port", set_port, "0 to 65535", true },
	{ "challenge", set_challenge, "32 hexadecimal digits", false },
	{ "timeout_ms", set_timeout, "1 to 60000", false },
	{ "hold_ms", set_hold, "0 to 3600000", false },
	{ "wait_ms", set_wait, "0 to 600000", true },
	{ "name", set_name, "at most 63 of a-z, 0-9, '-' and '.'", true },
	{ "home", set_home, "an absolute path", true },
	{ "twin", set_twin, "where the twin is", true },
	{ "canary", set_canary, "connect", true },
};

/* What was typed is hostile or at least foreign: shown escaped. */
static int refuse(char *why, size_t n, const char *arg, const char *text)
{
	char shown[80];

	(void)str_format(why, n, "'%s': %s", escape_text(shown, sizeof(shown), arg, strlen(arg)),
			 text);
	return -EINVAL;
}

static int parse_nonce(const char *arg, struct session_args *a, char *why, size_t n)
{
	if (strncmp(arg, SNT_SESSION_PREFIX, SNT_SESSION_PREFIX_LEN) != 0 ||
	    hex_decode(a->nonce, sizeof(a->nonce), arg + SNT_SESSION_PREFIX_LEN) < 0)
		return refuse(why, n, arg, "want " SNT_SESSION_PREFIX " and 32 hexadecimal digits");
	return 0;
}

static int parse_key(const char *arg, struct session_args *a, unsigned int *seen, char *why,
		     size_t n)
{
	const char *eq = strchr(arg, '=');
	size_t key_len = eq ? (size_t)(eq - arg) : 0;
	char text[80];

	for (size_t i = 0; eq && i < ARRAY_SIZE(keys); i++) {
		if (strlen(keys[i].key) != key_len || memcmp(keys[i].key, arg, key_len) != 0)
			continue;
		if (*seen & 1u << i)
			return refuse(why, n, arg, "given twice");
		*seen |= 1u << i;
		if (keys[i].set(a, eq + 1) == 0)
			return 0;
		(void)str_format(text, sizeof(text), "want %s", keys[i].what);
		return refuse(why, n, arg, text);
	}
	return refuse(why, n, arg, "not a parameter of a session");
}

static bool has_key(unsigned int seen, const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].key, key))
			return seen & 1u << i;
	return false;
}

static int check_destination(const struct session_args *a, unsigned int seen, char *why, size_t n)
{
	const char *name = a->command ? a->own_name : a->manifest->p.name;
	const uint32_t family = a->command ? AF_INET : a->manifest->p.family;

	if (family == AF_UNIX) {
		if (!a->path[0] || has_key(seen, "port"))
			return refuse(why, n, name, "want to=unix:, and no port");
		return 0;
	}
	if (!family) /* a secret goes nowhere */
		return has_key(seen, "to") || has_key(seen, "port")
			       ? refuse(why, n, name, "want no 'to' and no 'port'")
			       : 0;
	if (a->path[0] || !has_key(seen, "to") || !has_key(seen, "port"))
		return refuse(why, n, name, "want an address in 'to', and a 'port'");
	if (!a->command && addr_is_v4(a->to) != (family == AF_INET))
		return refuse(why, n, name, "the address is not of its family");
	return 0;
}

static int check_complete(const struct session_args *a, unsigned int seen, char *why, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!keys[i].optional && !(seen & 1u << i))
			return refuse(why, n, keys[i].key, "missing");
	return check_destination(a, seen, why, n);
}

int session_args_parse(int argc, char *const argv[], struct session_args *ret, char *why, size_t n)
{
	unsigned int seen = 0;
	int err;

	memset(ret, 0, sizeof(*ret));
	if (argc < 2) {
		(void)str_copy(why, n, "no parameters");
		return -EINVAL;
	}
	err = parse_nonce(argv[1], ret, why, n);
	for (int i = 2; i < argc && !ret->command; i++)
		if (!strcmp(argv[i], "--")) {
			ret->command = &argv[i + 1];
			argc = i;
		}
	if (!err && ret->command && !ret->command[0])
		err = refuse(why, n, "--", "want a command after it");
	for (int i = 2; i < argc && !err; i++)
		err = parse_key(argv[i], ret, &seen, why, n);
	return err ? err : check_complete(ret, seen, why, n);
}
