// SPDX-License-Identifier: Apache-2.0
/*
 * The scanner of flat JSON objects: what it accepts, with strings whose escapes it resolves, is an
 * object for json-c too, with the same keys.
 */
#include <json-c/json.h>

#include "user/record/json_in.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STRING_BYTES 4096

/* Escapes are looked at only where a string is used. */
static int use_string(const struct json_in_value *v, char out[STRING_BYTES + 1])
{
	size_t len = 0;
	int err = v->kind == JSON_IN_STRING ? json_in_string(v, out, STRING_BYTES, &len) : 0;

	out[len] = '\0';
	return err;
}

static int use_member(struct json_in *in, struct json_object *tree, const struct json_in_value *key)
{
	const char *begin = in->at, *end = in->end;
	char name[STRING_BYTES + 1], text[STRING_BYTES + 1];
	struct json_in_value value;
	int err = use_string(key, name);

	if (!err)
		err = json_in_value(in, &value);
	if (err)
		return err;
	if (value.text < begin || value.text + value.len > end)
		abort();
	if (tree && !json_object_object_get_ex(tree, name, NULL))
		abort();
	return use_string(&value, text);
}

static int walk(const char *text, size_t len, struct json_object *tree)
{
	struct json_in_value key;
	struct json_in in;
	int more = 0, err = json_in_open(&in, text, len);

	while (!err && (more = json_in_key(&in, &key)) > 0)
		err = use_member(&in, tree, &key);
	if (!err && more < 0)
		return more;
	return err ? err : json_in_close(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_tokener *tokener;
	struct json_object *tree;

	if (walk((const char *)data, size, NULL) < 0 || memchr(data, 0, size))
		return 0;
	tokener = json_tokener_new();
	if (!tokener)
		return 0;
	tree = json_tokener_parse_ex(tokener, (const char *)data, (int)size);
	if (!tree && json_tokener_get_error(tokener) != json_tokener_continue)
		abort();
	if (tree && !json_object_is_type(tree, json_type_object))
		abort();
	if (tree)
		(void)walk((const char *)data, size, tree);
	json_object_put(tree);
	json_tokener_free(tokener);
	return 0;
}
