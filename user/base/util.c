// SPDX-License-Identifier: Apache-2.0
#include "user/base/util.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	(void)clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

uint64_t mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

uint64_t boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

int str_copy(char *dst, size_t n, const char *src)
{
	size_t len = strlen(src), keep = MIN(len, n - 1);

	memcpy(dst, src, keep);
	dst[keep] = '\0';
	return keep == len ? 0 : -ENAMETOOLONG;
}

int str_format(char *dst, size_t n, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(dst, n, fmt, ap);
	va_end(ap);
	return len >= 0 && (size_t)len < n ? 0 : -ENAMETOOLONG;
}

void hex_encode(char *out, const void *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[p[i] >> 4];
		out[2 * i + 1] = digits[p[i] & 15];
	}
	out[2 * len] = '\0';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int hex_decode(void *out, size_t len, const char *hex)
{
	uint8_t *p = out;

	for (size_t i = 0; i < 2 * len; i++)
		if (hex_digit(hex[i]) < 0)
			return -EINVAL;
	if (hex[2 * len])
		return -EINVAL;
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
	return 0;
}

int parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v))
			return -ERANGE;
	}
	if (v < min || v > max)
		return -ERANGE;
	*ret = v;
	return 0;
}

int parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *ret)
{
	uint64_t v = 0;
	int err = parse_u64(text, min, max, &v);

	if (!err)
		*ret = (uint32_t)v;
	return err;
}

static const uint8_t v4_mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

int parse_addr(const char *text, uint8_t ret[16])
{
	struct in6_addr v6;
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		memcpy(ret, v4_mapped, 12);
		memcpy(ret + 12, &v4, 4);
		return 0;
	}
	if (inet_pton(AF_INET6, text, &v6) != 1)
		return -EINVAL;
	memcpy(ret, &v6, 16);
	return 0;
}

bool addr_is_v4(const uint8_t a[16])
{
	return !memcmp(a, v4_mapped, 12);
}

const char *addr_text(const uint8_t a[16], char out[ADDR_TEXT_MAX])
{
	if (addr_is_v4(a))
		(void)inet_ntop(AF_INET, a + 12, out, ADDR_TEXT_MAX);
	else
		(void)inet_ntop(AF_INET6, a, out, ADDR_TEXT_MAX);
	return out;
}

/* Length of the well-formed UTF-8 sequence at p (RFC 3629 table 3-7), 0 where there is none. */
static size_t utf8_len(const uint8_t *p, size_t left)
{
	uint32_t c = p[0], min;
	size_t n;

	if (c < 0x80)
		return 1;
	if (c >= 0xc2 && c <= 0xdf)
		n = 2, c &= 0x1f, min = 0x80;
	else if ((c & 0xf0) == 0xe0)
		n = 3, c &= 0x0f, min = 0x800;
	else if (c >= 0xf0 && c <= 0xf4)
		n = 4, c &= 0x07, min = 0x10000;
	else
		return 0;
	if (n > left)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return n;
}

/*
 * Also escaped: what is valid UTF-8 and still drives a terminal or hides text: C1 controls, the
 * bidirectional controls and zero-width characters of U+200B..200F, U+202A..202E, U+2066..2069,
 * line and paragraph separators, and the byte order mark.
 */
static bool utf8_is_safe(const uint8_t *p, size_t n)
{
	uint32_t c;

	if (n == 1)
		return p[0] >= 0x20 && p[0] != 0x7f && p[0] != '\\';
	if (n == 2)
		return !(p[0] == 0xc2 && p[1] < 0xa0);
	if (n != 3)
		return true;
	c = (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
	return !((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
		 (c >= 0x2060 && c <= 0x2069) || c == 0xfeff);
}

const char *escape_text(char *out, size_t n, const char *text, size_t len)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t o = 0, i = 0;

	while (i < len) {
		size_t step = utf8_len(p + i, len - i);
		bool plain = step && utf8_is_safe(p + i, step);
		size_t need = plain ? step : 4;

		if (o + need + 4 > n) { /* room for this, "..." and NUL */
			if (n >= 4)
				memcpy(out + o, "...", 4);
			else if (n)
				out[0] = '\0';
			return out;
		}
		if (plain) {
			memcpy(out + o, p + i, step);
			i += step;
		} else {
			char hex[3];

			hex_encode(hex, p + i, 1);
			out[o] = '\\', out[o + 1] = 'x';
			memcpy(out + o + 2, hex, 2);
			i++;
		}
		o += need;
	}
	if (n)
		out[o] = '\0';
	return out;
}

int write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int open_regular(int at, const char *path, int flags)
{
	/* O_NONBLOCK: opening a pipe would wait for its writer */
	cleanup_fd int fd = openat(at, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) ? TAKE_FD(fd) : -EMEDIUMTYPE;
}

int read_file(const char *path, size_t max, char **ret, size_t *ret_len)
{
	cleanup_fd int fd = open_regular(AT_FDCWD, path, 0);
	cleanup_free char *buf = NULL;
	size_t len = 0, cap = 4096;

	if (fd < 0)
		return fd;
	buf = malloc(cap + 1);
	if (!buf)
		return -ENOMEM;
	for (;;) {
		ssize_t n = read(fd, buf + len, cap - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		len += (size_t)n;
		if (len > max)
			return -EFBIG;
		if (len == cap) {
			char *more = realloc(buf, 2 * cap + 1);

			if (!more)
				return -ENOMEM;
			buf = more;
			cap *= 2;
		}
	}
	buf[len] = '\0';
	*ret = TAKE_PTR(buf);
	*ret_len = len;
	return 0;
}

int random_bytes(void *out, size_t len)
{
	char *p = out;

	while (len) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}
