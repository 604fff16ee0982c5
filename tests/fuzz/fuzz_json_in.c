// SPDX-License-Identifier: Apache-2.0
/*
 * The scanner of flat JSON objects: what it accepts is an object for json-c too, with the same
 * keys.
 */
#include <json-c/json.h>

#include "user/record/json_in.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEY_BYTES 256

static void check_key(struct json_object *tree, const struct json_in_value *key)
{
	char name[KEY_BYTES + 1];
	size_t len;

	if (json_in_string(key, name, KEY_BYTES, &len) < 0)
		return;
	name[len] = '\0';
	if (!json_object_object_get_ex(tree, name, NULL))
		abort();
}

static int walk(const char *text, size_t len, struct json_object *tree)
{
	struct json_in_value key, value;
	struct json_in in;
	uint64_t number;
	int more, err = json_in_open(&in, text, len);

	while (!err && (more = json_in_key(&in, &key)) > 0) {
		err = json_in_value(&in, &value);
		if (err)
			return err;
		if (value.text < text || value.text + value.len > text + len)
			abort();
		if (value.kind == JSON_IN_NUMBER &&
		    !json_in_decimal(value.text, value.len, UINT64_MAX, &number) && !value.len)
			abort();
		if (tree)
			check_key(tree, &key);
	}
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
