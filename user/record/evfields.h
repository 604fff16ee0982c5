/* SPDX-License-Identifier: Apache-2.0 */
/* Which fields of struct ev have which name in JSON: the one table behind evjson.h. */
#ifndef SENTINEL_RECORD_EVFIELDS_H
#define SENTINEL_RECORD_EVFIELDS_H

#include "user/base/util.h"
#include "user/decode/ev.h"

enum field_kind {
	FIELD_U32,
	FIELD_I32,
	FIELD_U64,
	FIELD_I64,
	FIELD_BOOL,
	FIELD_ENUM,  /* 32 bits, a name in JSON */
	FIELD_TEXT,  /* char[size], NUL-terminated */
	FIELD_HEX,   /* uint8_t[size], all of it */
	FIELD_BYTES, /* uint8_t[size], of which the uint32_t at len_offset are used */
	FIELD_ADDR,  /* uint8_t[16] */
};

/* Names of 0..n-1. NULL is a number that must not occur, but 0 is left out of the JSON anyway. */
struct field_names {
	const char *const *name;
	uint32_t n;
};

struct field {
	const char *key;
	const char *token;		 /* `,"key":`, as the writer begins it */
	const struct field_names *names; /* FIELD_ENUM */
	uint8_t key_len, token_len;
	char first;   /* of key */
	uint8_t kind; /* enum field_kind */
	uint16_t offset, size, len_offset;
};

struct field_table {
	const char *type; /* "exec"; NULL = no such type */
	const struct field *fields;
	uint32_t n;
};

/* Longest FIELD_TEXT, with its NUL. */
#define FIELD_TEXT_MAX (SNT_ARGV_MAX + 1)
/* More fields than any type has, the common ones included. */
#define FIELDS_MAX 256

extern const struct field_table evfields_common;	  /* of every record; its type is NULL */
extern const struct field_table evfields_of[EV_TYPE_MAX]; /* by enum ev_type */
extern const struct field_names evfields_hooks;
extern const struct field_names evfields_arms;
extern const struct field_names evfields_roles;
extern const struct field_names evfields_channels;

/* The name of v; "unknown" where it has none. */
const char *field_name(const struct field_names *names, uint32_t v);

#endif
