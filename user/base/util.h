/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership, sizes and small text helpers that every part uses. */
#ifndef SENTINEL_BASE_UTIL_H
#define SENTINEL_BASE_UTIL_H

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/banned.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define must_check __attribute__((warn_unused_result))
#define printf_like(f, a) __attribute__((format(printf, f, a)))
#define unused_arg __attribute__((unused))

#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull

/* Cleanup attributes: the default way to own something for the length of a scope. */
static inline void cleanup_fd_(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}
static inline void cleanup_file_(FILE *const *f)
{
	if (*f)
		(void)fclose(*f);
}
static inline void cleanup_dir_(DIR *const *d)
{
	if (*d)
		(void)closedir(*d);
}
static inline void cleanup_free_(void *p)
{
	free(*(void **)p);
}
#define cleanup_fd __attribute__((cleanup(cleanup_fd_)))
#define cleanup_file __attribute__((cleanup(cleanup_file_)))
#define cleanup_dir __attribute__((cleanup(cleanup_dir_)))
#define cleanup_free __attribute__((cleanup(cleanup_free_)))

/* Hand over what a cleanup attribute owns. */
static inline int take_fd_(int *fd)
{
	int v = *fd;

	*fd = -1;
	return v;
}
#define TAKE_FD(fd) take_fd_(&(fd))
#define TAKE_PTR(p)                                                                                \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})

/* CLOCK_MONOTONIC / CLOCK_REALTIME / CLOCK_BOOTTIME in nanoseconds. */
uint64_t mono_ns(void);
uint64_t real_ns(void);
uint64_t boot_ns(void);

/* Copies src into dst of size n, always NUL-terminated. Answers 0, or -ENAMETOOLONG where it was
 * cut. */
int str_copy(char *dst, size_t n, const char *src);

/* Formats into dst of size n; 0, or -ENAMETOOLONG where it was cut. */
int str_format(char *dst, size_t n, const char *fmt, ...) printf_like(3, 4);

/* Hexadecimal: out has 2 * len + 1 bytes. */
void hex_encode(char *out, const void *data, size_t len);

/* Exactly 2 * len digits of either case, nothing after them. 0 or -EINVAL; out untouched then. */
int hex_decode(void *out, size_t len, const char *hex) must_check;

/* The whole of text is a decimal number within [min, max]. 0, -EINVAL or -ERANGE. */
int parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret) must_check;
int parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *ret) must_check;

/* "1.2.3.4" or an IPv6 address to 16 bytes, IPv4 as v4-mapped. 0 or -EINVAL. */
int parse_addr(const char *text, uint8_t ret[16]) must_check;
bool addr_is_v4(const uint8_t a[16]);
#define ADDR_TEXT_MAX 48
const char *addr_text(const uint8_t a[16], char out[ADDR_TEXT_MAX]);

/* Writes text that a stranger chose into out (size n, always terminated): control characters, bytes
 * that are not UTF-8 and backslashes become \xNN, so that no terminal and no log line is driven by
 * it. Cut text ends in "...". Returns out. */
const char *escape_text(char *out, size_t n, const char *text, size_t len);

/* write() all of it, through EINTR. 0 or -errno. */
int write_all(int fd, const void *data, size_t len) must_check;

/* Opens a plain file for reading, whoever put it there: never waits, as a pipe would make us. flags
 * are added to openat()'s, O_NOFOLLOW say. A CLOEXEC descriptor, -EISDIR, -EMEDIUMTYPE for what is
 * neither file nor folder, or -errno. */
int open_regular(int at, const char *path, int flags) must_check;

/* Reads a whole small file, NUL-terminated, at most max bytes (else -EFBIG). The caller frees.
 * Errors as open_regular()'s. */
int read_file(const char *path, size_t max, char **ret, size_t *ret_len) must_check;

/* len random bytes of the kernel. 0 or -errno. */
int random_bytes(void *out, size_t len) must_check;

#endif
