// SPDX-License-Identifier: Apache-2.0
/* Whom a client says it means: hellos and requests, whole, cut at each byte, and lying. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "user/decode/server_name.h"

#define HELLO_MAX 512

/* Number of n bytes at out; the place behind it. */
static uint8_t *number(uint8_t *out, size_t n, size_t v)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (uint8_t)(v >> 8 * (n - 1 - i));
	return out + n;
}

static uint8_t *text(uint8_t *out, const char *s)
{
	memcpy(out, s, strlen(s));
	return out + strlen(s);
}

/* A length of n bytes at `at`, of what stands between it and end. */
static void close_part(uint8_t *at, size_t n, const uint8_t *end)
{
	(void)number(at, n, (size_t)(end - at) - n);
}

/* A ClientHello with another extension before server_name. Answers its length. */
static size_t hello(uint8_t out[HELLO_MAX], const char *name)
{
	uint8_t *record, *shake, *extensions, *extension, *list, *entry, *p = out;

	memset(out, 0, HELLO_MAX);
	p = number(p, 3, 0x160301);
	record = p;
	p = number(p + 2, 1, 1);
	shake = p;
	p = number(p + 3, 2, 0x0303) + 32;
	p = number(p, 1, 32) + 32; /* session id */
	p = number(p, 2, 4) + 4;   /* cipher suites */
	p = number(p, 2, 0x0100);  /* compression: none */
	extensions = p;
	p = number(p + 2, 2, 43); /* supported_versions */
	p = number(p, 2, 3);
	p = number(p, 3, 0x020304);
	p = number(p, 2, 0); /* server_name */
	extension = p;
	list = p + 2;
	p = number(p + 4, 1, 0);
	entry = p;
	p = text(p + 2, name);
	close_part(entry, 2, p);
	close_part(list, 2, p);
	close_part(extension, 2, p);
	p = number(p, 4, 0x00170000); /* extended_master_secret */
	close_part(extensions, 2, p);
	close_part(shake, 3, p);
	close_part(record, 2, p);
	return (size_t)(p - out);
}

/* A copy of exactly len bytes, so that a read of one too many is seen. */
static int find(const void *data, size_t len, char name[SERVER_NAME_MAX + 1],
		enum server_name_from *from)
{
	struct server_name found = { .from = SERVER_NAME_NONE };
	uint8_t *copy = malloc(len ? len : 1);
	int err;

	assert_non_null(copy);
	memcpy(copy, data, len);
	err = server_name_find(copy, len, &found);
	if (err > 0) {
		assert_in_range(found.len, 1, SERVER_NAME_MAX);
		memcpy(name, found.name, found.len);
		name[found.len] = '\0';
		*from = found.from;
	}
	free(copy);
	return err;
}

static void test_hello(void **state unused_arg)
{
	enum server_name_from from = SERVER_NAME_NONE;
	char name[SERVER_NAME_MAX + 1];
	uint8_t data[HELLO_MAX];
	size_t len = hello(data, "files.example.org"), first = 0;

	for (size_t n = 0; n <= len; n++) {
		int err = find(data, n, name, &from);

		if (err == 1) {
			first = first ? first : n;
			assert_string_equal(name, "files.example.org");
			assert_int_equal(from, SERVER_NAME_TLS);
		} else {
			assert_int_equal(err, -EAGAIN);
			assert_int_equal(first, 0);
		}
	}
	assert_int_equal(first, len - 4); /* as soon as the name is there */
}

/* Every byte in turn is another: never a crash, never more than there is. */
static void test_hello_flipped(void **state unused_arg)
{
	enum server_name_from from;
	char name[SERVER_NAME_MAX + 1];
	uint8_t data[HELLO_MAX];
	size_t len = hello(data, "files.example.org");

	for (size_t i = 0; i < len; i++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			data[i] ^= (uint8_t)(1u << bit);
			(void)find(data, len, name, &from);
			data[i] ^= (uint8_t)(1u << bit);
		}
}

static void test_no_hello(void **state unused_arg)
{
	enum server_name_from from;
	char name[SERVER_NAME_MAX + 1];
	uint8_t data[HELLO_MAX];
	size_t len = hello(data, "");

	assert_int_equal(find(data, len, name, &from), 0); /* an empty name is none */
	len = hello(data, "a.example");
	data[5] = 2; /* a server's hello */
	assert_int_equal(find(data, len, name, &from), 0);
	data[5] = 1;
	data[4]--; /* the record ends before the hello does */
	assert_int_equal(find(data, len, name, &from), 0);
	data[4]++;
	data[1] = 2;
	assert_int_equal(find(data, len, name, &from), 0);
	data[1] = 3;
	data[len - 4 - strlen("a.example") - 4] = 1; /* the list ends before its name does */
	assert_int_equal(find(data, len, name, &from), 0);
	data[len - 4 - strlen("a.example") - 4] = 3 + strlen("a.example");
	assert_int_equal(find(data, len, name, &from), 1);
}

static void test_http(void **state unused_arg)
{
	static const struct {
		const char *data, *name;
		int err;
	} cases[] = {
		{ "GET / HTTP/1.1\r\nHost: www.example.org\r\n\r\n", "www.example.org", 1 },
		{ "POST /a HTTP/1.1\nX: y\nhOsT:a.example:8080 \n\nHost: no", "a.example:8080", 1 },
		{ "M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\n", "239.255.255.250:1900",
		  1 },
		{ "GET / HTTP/1.1\r\nHost: cut.exam", "", -EAGAIN },
		{ "GET / HTTP/1.1\r\nAccept: */*\r\n", "", -EAGAIN },
		{ "GE", "", -EAGAIN },
		{ "", "", -EAGAIN },
		{ "GET / HTTP/1.0\r\n\r\nHost: body\r\n", "", 0 },
		{ "GET / HTTP/1.1\r\nHost:  \r\n\r\n", "", 0 },
		{ "HTTP/1.1 200 OK\r\nHost: answer\r\n", "", 0 },
		{ "SSH-2.0-OpenSSH_9.2\r\n", "", 0 },
		{ "\r\nHost: a\r\n", "", 0 },
		{ "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "", 0 },
		{ " GET / HTTP/1.1\r\nHost: a\r\n", "", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		enum server_name_from from = SERVER_NAME_NONE;
		char name[SERVER_NAME_MAX + 1] = "";
		int err = find(cases[i].data, strlen(cases[i].data), name, &from);

		if (err != cases[i].err || strcmp(name, cases[i].name) != 0)
			fail_msg("'%s': %d '%s'", cases[i].data, err, name);
		assert_int_equal(from, err > 0 ? SERVER_NAME_HTTP : SERVER_NAME_NONE);
	}
}

static void test_http_long_name(void **state unused_arg)
{
	char request[600] = "GET / HTTP/1.1\r\nHost: ", name[SERVER_NAME_MAX + 1];
	size_t head = strlen(request);
	enum server_name_from from;

	memset(request + head, 'a', SERVER_NAME_MAX + 1);
	(void)str_copy(request + head + SERVER_NAME_MAX, 3, "\r\n");
	assert_int_equal(find(request, strlen(request), name, &from), 1);
	assert_int_equal(strlen(name), SERVER_NAME_MAX);
	request[head + SERVER_NAME_MAX] = 'a';
	assert_int_equal(find(request, strlen(request), name, &from), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hello),	       cmocka_unit_test(test_hello_flipped),
		cmocka_unit_test(test_no_hello),       cmocka_unit_test(test_http),
		cmocka_unit_test(test_http_long_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
