// SPDX-License-Identifier: Apache-2.0
#include "user/base/session_line.h"

#define INSTANCE_HEX (2 * MAC_NONCE_BYTES)
#define MAC_HEX (2 * MAC_BYTES)

static const struct {
	enum session_line_kind kind;
	const char *word;
} kinds[] = {
	{ SESSION_LINE_ALIVE1, "alive1" },
	{ SESSION_LINE_RAN, "ran" },
	{ SESSION_LINE_ALIVE2, "alive2" },
};

/* What is left to read: every step checks left, none reads beyond it. */
struct cursor {
	const char *p;
	size_t left;
};

static bool take_text(struct cursor *c, const char *text)
{
	size_t n = strlen(text);

	if (c->left < n || memcmp(c->p, text, n) != 0)
		return false;
	c->p += n;
	c->left -= n;
	return true;
}

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

/* bytes of hexadecimal digits, after which no further word character may stand. */
static bool take_hex(struct cursor *c, void *out, size_t bytes)
{
	char hex[MAC_HEX + 1];
	size_t n = 2 * bytes;

	if (c->left < n || (c->left > n && is_word_char(c->p[n])))
		return false;
	memcpy(hex, c->p, n);
	hex[n] = '\0';
	if (strlen(hex) != n || hex_decode(out, bytes, hex) < 0)
		return false;
	c->p += n;
	c->left -= n;
	return true;
}

static bool take_word(struct cursor *c, char out[SESSION_VIEW_MAX])
{
	size_t n = 0;

	while (n < c->left && n < SESSION_VIEW_MAX && is_word_char(c->p[n]))
		n++;
	if (!n || n == SESSION_VIEW_MAX)
		return false;
	memcpy(out, c->p, n);
	out[n] = '\0';
	c->p += n;
	c->left -= n;
	return true;
}

/* " name=" and a proof, or "-" where there is none. */
static bool take_proof(struct cursor *c, const char *name, bool *ret_has, uint8_t ret[MAC_BYTES])
{
	if (!take_text(c, name))
		return false;
	*ret_has = !take_text(c, "-");
	if (*ret_has)
		return take_hex(c, ret, MAC_BYTES);
	return !c->left || !is_word_char(c->p[0]);
}

static bool take_ran(struct cursor *c, struct session_line *l)
{
	return take_text(c, " view=") && take_word(c, l->view) &&
	       take_proof(c, " answer=", &l->has_answer, l->answer) &&
	       take_proof(c, " secret=", &l->has_secret, l->secret) &&
	       take_proof(c, " twin=", &l->has_twin, l->twin);
}

/* c stands behind the prefix. */
static bool parse_fields(struct cursor c, struct session_line *ret)
{
	struct session_line l = { .kind = SESSION_LINE_NONE };

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !l.kind; i++)
		if (take_text(&c, kinds[i].word))
			l.kind = kinds[i].kind;
	if (!l.kind || !take_text(&c, " instance=") || !take_hex(&c, l.instance, MAC_NONCE_BYTES) ||
	    !take_text(&c, " mac=") || !take_hex(&c, l.mac, MAC_BYTES))
		return false;
	if (l.kind == SESSION_LINE_RAN && !take_ran(&c, &l))
		return false;
	*ret = l;
	return true;
}

int session_line_parse(const char *line, size_t len, struct session_line *ret)
{
	const size_t prefix_len = sizeof(SESSION_LINE_PREFIX) - 1;
	const char *end = line + len, *at = line;
	int err = -ENOENT;

	while ((at = memmem(at, (size_t)(end - at), SESSION_LINE_PREFIX, prefix_len))) {
		at += prefix_len;
		if (parse_fields((struct cursor){ at, (size_t)(end - at) }, ret))
			return 0;
		err = -EBADMSG;
	}
	return err;
}

static bool is_word(const char *text, size_t max)
{
	size_t n = strnlen(text, max);

	if (!n || n == max)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_word_char(text[i]))
			return false;
	return true;
}

static const char *kind_word(enum session_line_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].kind == kind)
			return kinds[i].word;
	return NULL;
}

static void proof_text(char out[MAC_HEX + 1], bool has, const uint8_t proof[MAC_BYTES])
{
	if (has)
		hex_encode(out, proof, MAC_BYTES);
	else
		memcpy(out, "-", 2);
}

int session_line_format(char *out, size_t n, const struct session_line *line)
{
	char instance[INSTANCE_HEX + 1], mac[MAC_HEX + 1];
	char answer[MAC_HEX + 1], secret[MAC_HEX + 1], twin[MAC_HEX + 1];
	const char *word = kind_word(line->kind);

	if (!word)
		return -EINVAL;
	hex_encode(instance, line->instance, sizeof(line->instance));
	hex_encode(mac, line->mac, sizeof(line->mac));
	if (line->kind != SESSION_LINE_RAN)
		return str_format(out, n, SESSION_LINE_PREFIX "%s instance=%s mac=%s\n", word,
				  instance, mac);
	if (!is_word(line->view, sizeof(line->view)))
		return -EINVAL;
	proof_text(answer, line->has_answer, line->answer);
	proof_text(secret, line->has_secret, line->secret);
	proof_text(twin, line->has_twin, line->twin);
	return str_format(out, n,
			  SESSION_LINE_PREFIX
			  "%s instance=%s mac=%s view=%s answer=%s secret=%s twin=%s\n",
			  word, instance, mac, line->view, answer, secret, twin);
}
