// SPDX-License-Identifier: Apache-2.0
#include "user/rig/yaml.h"

#include <stdarg.h>

static int parser_error(struct yaml *y, const yaml_parser_t *p)
{
	const char *problem = p->problem ? p->problem : "not readable as YAML";

	if (p->error == YAML_MEMORY_ERROR)
		return diag_set(y->d, -ENOMEM, y->path, 0, 0, "out of memory");
	if (p->error == YAML_READER_ERROR)
		return diag_set(y->d, -EINVAL, y->path, 0, 0, "not UTF-8 text: %s at byte %zu",
				problem, p->problem_offset);
	return diag_set(y->d, -EINVAL, y->path, (unsigned int)p->problem_mark.line + 1,
			(unsigned int)p->problem_mark.column + 1, "broken YAML: %s", problem);
}

static int load_one(struct yaml *y, yaml_parser_t *p)
{
	yaml_document_t second;
	yaml_node_t *root;
	int r = 0;

	if (!yaml_parser_load(p, &y->doc))
		return parser_error(y, p);
	y->loaded = true;
	if (!yaml_document_get_root_node(&y->doc))
		return diag_set(y->d, -EINVAL, y->path, 1, 1,
				"the file is empty: expected a mapping");

	if (!yaml_parser_load(p, &second))
		return parser_error(y, p);
	root = yaml_document_get_root_node(&second);
	if (root)
		r = yaml_error(y, root, "a second document: expected one per file");
	yaml_document_delete(&second);
	return r;
}

int yaml_open(struct yaml *y, const char *path, const char *text, size_t len, struct diag *d,
	      yaml_node_t **ret_root)
{
	yaml_parser_t parser;
	int r;

	*y = (struct yaml){ .path = path, .d = d };
	if (!yaml_parser_initialize(&parser))
		return diag_set(d, -ENOMEM, path, 0, 0, "out of memory");
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	r = load_one(y, &parser);
	yaml_parser_delete(&parser);
	if (r < 0) {
		yaml_close(y);
		return r;
	}
	*ret_root = yaml_document_get_root_node(&y->doc);
	return 0;
}

void yaml_close(struct yaml *y)
{
	if (y->loaded)
		yaml_document_delete(&y->doc);
	y->loaded = false;
}

int yaml_error(struct yaml *y, const yaml_node_t *node, const char *fmt, ...)
{
	char text[sizeof(y->d->text)];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return diag_set(y->d, -EINVAL, y->path, node ? (unsigned int)node->start_mark.line + 1 : 0,
			node ? (unsigned int)node->start_mark.column + 1 : 0, "%s", text);
}

const char *yaml_kind(const yaml_node_t *node, char *out, size_t n)
{
	char text[64];

	if (node->type == YAML_SEQUENCE_NODE)
		(void)snprintf(out, n, "a list");
	else if (node->type == YAML_MAPPING_NODE)
		(void)snprintf(out, n, "a mapping");
	else if (node->type != YAML_SCALAR_NODE || !node->data.scalar.length)
		(void)snprintf(out, n, "nothing");
	else
		(void)snprintf(out, n, "'%s'",
			       escape_text(text, sizeof(text),
					   (const char *)node->data.scalar.value,
					   node->data.scalar.length));
	return out;
}

/* By length: a scalar may hold NUL bytes. */
static bool scalar_is(const yaml_node_t *scalar, const char *word)
{
	size_t len = strlen(word);

	return scalar->data.scalar.length == len && !memcmp(scalar->data.scalar.value, word, len);
}

/* ---- mappings ---- */

static int unknown_key(struct yaml *y, const yaml_node_t *key, const char *what,
		       const struct yaml_key *keys, size_t keys_n)
{
	char kind[80], known[256] = "";
	size_t at = 0;

	for (size_t i = 0; i < keys_n && at < sizeof(known); i++)
		at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", i ? ", " : "",
				       keys[i].name);
	return yaml_error(y, key, "unknown key %s in %s: expected one of %s",
			  yaml_kind(key, kind, sizeof(kind)), what, known);
}

static size_t key_index(const yaml_node_t *key, const struct yaml_key *keys, size_t keys_n)
{
	size_t i = 0;

	if (key->type != YAML_SCALAR_NODE)
		return keys_n;
	while (i < keys_n && !scalar_is(key, keys[i].name))
		i++;
	return i;
}

int yaml_mapping(struct yaml *y, yaml_node_t *node, const char *what, const struct yaml_key *keys,
		 size_t keys_n, void *to)
{
	uint64_t seen = 0; /* bit = index in keys: no mapping has as many as 64 */
	char kind[80];

	if (node->type != YAML_MAPPING_NODE)
		return yaml_error(y, node, "%s stands where %s is expected: a mapping",
				  yaml_kind(node, kind, sizeof(kind)), what);
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_document_get_node(&y->doc, pair->key);
		yaml_node_t *value = yaml_document_get_node(&y->doc, pair->value);
		size_t i = key_index(key, keys, keys_n);
		int r;

		if (i == keys_n)
			return unknown_key(y, key, what, keys, keys_n);
		if (seen & 1ull << i)
			return yaml_error(y, key, "'%s' is there twice: expected once",
					  keys[i].name);
		seen |= 1ull << i;
		r = keys[i].read(y, value, (char *)to + keys[i].offset);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < keys_n; i++)
		if (keys[i].missing && !(seen & 1ull << i))
			return yaml_error(y, node, "'%s' is missing in %s: expected %s",
					  keys[i].name, what, keys[i].missing);
	return 0;
}

yaml_node_t *yaml_value(struct yaml *y, yaml_node_t *mapping, const char *name)
{
	for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
	     pair < mapping->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_document_get_node(&y->doc, pair->key);

		if (!strcmp((const char *)key->data.scalar.value, name))
			return yaml_document_get_node(&y->doc, pair->value);
	}
	return NULL;
}

/* ---- lists ---- */

int yaml_list(struct yaml *y, yaml_node_t *node, const char *what, size_t min, size_t max,
	      size_t *ret_n)
{
	char kind[80];
	size_t n;

	if (node->type != YAML_SEQUENCE_NODE)
		return yaml_error(y, node, "%s stands where a list of %s is expected",
				  yaml_kind(node, kind, sizeof(kind)), what);
	n = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
	if (n < min)
		return yaml_error(y, node, "an empty list of %s: expected at least %zu", what, min);
	if (n > max)
		return yaml_error(y, node, "%zu %s: expected at most %zu", n, what, max);
	*ret_n = n;
	return 0;
}

yaml_node_t *yaml_item(struct yaml *y, yaml_node_t *list, size_t i)
{
	return yaml_document_get_node(&y->doc, list->data.sequence.items.start[i]);
}

/* ---- scalars ---- */

int yaml_text(struct yaml *y, yaml_node_t *node, size_t max, const char **ret)
{
	char kind[80];

	if (node->type != YAML_SCALAR_NODE || !node->data.scalar.length)
		return yaml_error(y, node, "%s stands where a text is expected",
				  yaml_kind(node, kind, sizeof(kind)));
	if (memchr(node->data.scalar.value, '\0', node->data.scalar.length))
		return yaml_error(y, node, "a NUL byte in a text: expected none");
	if (node->data.scalar.length > max)
		return yaml_error(y, node, "a text of %zu bytes: expected at most %zu",
				  node->data.scalar.length, max);
	*ret = (const char *)node->data.scalar.value;
	return 0;
}

int yaml_text_copy(struct yaml *y, yaml_node_t *node, size_t max, char **ret)
{
	const char *text;
	char *copy;
	int r = yaml_text(y, node, max, &text);

	if (r < 0)
		return r;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

int yaml_texts(struct yaml *y, yaml_node_t *node, const struct yaml_texts_opts *o, char ***ret)
{
	char **list;
	size_t n;
	int r;

	r = yaml_list(y, node, o->what, o->min, o->max, &n);
	if (r < 0)
		return r;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n && r >= 0; i++) {
		yaml_node_t *item = yaml_item(y, node, i);

		r = yaml_text_copy(y, item, o->bytes, &list[i]);
		if (r >= 0)
			r = o->check(y, item, list[i]);
	}
	if (r < 0) {
		yaml_texts_free(list);
		return r;
	}
	*ret = list;
	return 0;
}

void yaml_texts_free(char **list)
{
	if (!list)
		return;
	for (size_t i = 0; list[i]; i++)
		free(list[i]);
	free(list);
}

/* A plain scalar: quotes make a number or a word of YAML's own into a text. */
static const char *plain_text(const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return "";
	return (const char *)node->data.scalar.value;
}

int yaml_bool(struct yaml *y, yaml_node_t *node, bool *ret)
{
	const char *text = plain_text(node);
	char kind[80];

	if (strcmp(text, "true") && strcmp(text, "false"))
		return yaml_error(y, node, "%s stands where true or false is expected",
				  yaml_kind(node, kind, sizeof(kind)));
	*ret = text[0] == 't';
	return 0;
}

int yaml_u32(struct yaml *y, yaml_node_t *node, uint32_t min, uint32_t max, uint32_t *ret)
{
	char kind[80];

	if (parse_u32(plain_text(node), min, max, ret) >= 0)
		return 0;
	(void)yaml_kind(node, kind, sizeof(kind));
	if (min == max)
		return yaml_error(y, node, "%s stands here: expected %u", kind, min);
	return yaml_error(y, node, "%s stands where a number from %u to %u is expected", kind, min,
			  max);
}

int yaml_duration(struct yaml *y, yaml_node_t *node, uint32_t max_ms, uint32_t *ret_ms)
{
	const char *text = plain_text(node);
	size_t digits = strspn(text, "0123456789");
	uint32_t unit_ms = !strcmp(text + digits, "s")	  ? 1000
			   : !strcmp(text + digits, "ms") ? 1
							  : 0;
	char number[16], kind[80];
	uint32_t v;

	if (!unit_ms || digits >= sizeof(number))
		goto wrong;
	memcpy(number, text, digits);
	number[digits] = '\0';
	if (parse_u32(number, 1, max_ms / unit_ms, &v) < 0)
		goto wrong;
	*ret_ms = v * unit_ms;
	return 0;
wrong:
	return yaml_error(y, node,
			  "%s stands where a duration is expected: 3s or 250ms, at most %us",
			  yaml_kind(node, kind, sizeof(kind)), max_ms / 1000);
}

int yaml_word(struct yaml *y, yaml_node_t *node, const char *const *words, size_t n, size_t *ret)
{
	char kind[80], known[256] = "";
	size_t at = 0;

	if (node->type == YAML_SCALAR_NODE)
		for (size_t i = 0; i < n; i++)
			if (scalar_is(node, words[i])) {
				*ret = i;
				return 0;
			}
	for (size_t i = 0; i < n && at < sizeof(known); i++)
		at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", i ? " or " : "",
				       words[i]);
	return yaml_error(y, node, "%s stands where %s is expected",
			  yaml_kind(node, kind, sizeof(kind)), known);
}
