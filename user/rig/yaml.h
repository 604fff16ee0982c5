/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a small YAML file strictly, with the place of every mistake.
 *
 * A file becomes a tree of libyaml nodes; readers take a node and fill a field. A mapping is read
 * by a table of its keys, and what the table doesn't name is an error. The first mistake ends the
 * reading: a reader answers -EINVAL (or -ENOMEM) and has filled the diag.
 */
#ifndef SENTINEL_RIG_YAML_H
#define SENTINEL_RIG_YAML_H

#include <stddef.h>
#include <stdint.h>
#include <yaml.h>

#include "user/base/diag.h"

struct yaml {
	yaml_document_t doc;
	bool loaded;
	const char *path; /* borrowed, for messages */
	struct diag *d;	  /* may be NULL */
};

typedef int (*yaml_read_fn)(struct yaml *y, yaml_node_t *node, void *to);

struct yaml_key {
	const char *name;
	yaml_read_fn read; /* gets to + offset */
	size_t offset;
	const char *missing; /* what the key is for, where it must be there; NULL: optional */
};

/* One document, and not an empty one. path and text are borrowed until yaml_close(). On success
 * *ret_root is the document's node, owned by y. */
int yaml_open(struct yaml *y, const char *path, const char *text, size_t len, struct diag *d,
	      yaml_node_t **ret_root) must_check;
void yaml_close(struct yaml *y);

/* Fills the diag with node's place and the text; answers -EINVAL. node NULL: no place. */
int yaml_error(struct yaml *y, const yaml_node_t *node, const char *fmt, ...) printf_like(3, 4);

/* "a list", "a mapping", "'text'": what stands there, for messages. Returns out. */
const char *yaml_kind(const yaml_node_t *node, char *out, size_t n);

/* what names the mapping in messages: "a claim". */
int yaml_mapping(struct yaml *y, yaml_node_t *node, const char *what, const struct yaml_key *keys,
		 size_t keys_n, void *to) must_check;

/* The value that a mapping gives for name, once yaml_mapping() has found it right; NULL: none. */
yaml_node_t *yaml_value(struct yaml *y, yaml_node_t *mapping, const char *name);

/* The items of a list of min to max entries: their number in *ret_n, each by yaml_item(). what
 * names them in messages: "claims". */
int yaml_list(struct yaml *y, yaml_node_t *node, const char *what, size_t min, size_t max,
	      size_t *ret_n) must_check;
yaml_node_t *yaml_item(struct yaml *y, yaml_node_t *list, size_t i);

/* A scalar's text, borrowed from y: not empty, no NUL byte, at most max bytes. */
int yaml_text(struct yaml *y, yaml_node_t *node, size_t max, const char **ret) must_check;
int yaml_text_copy(struct yaml *y, yaml_node_t *node, size_t max, char **ret) must_check;

/* A list of texts, NULL-terminated, the caller's: yaml_texts_free(). What check finds wrong with an
 * entry, it says itself. */
typedef int (*yaml_check_fn)(struct yaml *y, yaml_node_t *item, const char *text);
struct yaml_texts_opts {
	const char *what; /* "arguments", for messages */
	size_t min, max;  /* entries */
	size_t bytes;	  /* of one, at most */
	yaml_check_fn check;
};
int yaml_texts(struct yaml *y, yaml_node_t *node, const struct yaml_texts_opts *o,
	       char ***ret) must_check;
void yaml_texts_free(char **list); /* NULL is fine */

int yaml_bool(struct yaml *y, yaml_node_t *node, bool *ret) must_check; /* plain true or false */
int yaml_u32(struct yaml *y, yaml_node_t *node, uint32_t min, uint32_t max,
	     uint32_t *ret) must_check;

/* "3s" or "250ms", 1 ms to max_ms. */
int yaml_duration(struct yaml *y, yaml_node_t *node, uint32_t max_ms, uint32_t *ret_ms) must_check;

/* One of n words: its index. */
int yaml_word(struct yaml *y, yaml_node_t *node, const char *const *words, size_t n,
	      size_t *ret) must_check;

#endif
