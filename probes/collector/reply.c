// SPDX-License-Identifier: Apache-2.0
#include "probes/collector/reply.h"

#include <stdarg.h>

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *reason;
	} all[] = {
		{ 200, "OK" },
		{ 202, "Accepted" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 413, "Content Too Large" },
		{ 414, "URI Too Long" },
		{ 431, "Request Header Fields Too Large" },
		{ 501, "Not Implemented" },
		{ 505, "HTTP Version Not Supported" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].status == status)
			return all[i].reason;
	return "Internal Server Error";
}

struct utc {
	unsigned int year, month, day, hour, minute, second, weekday; /* 1.., 1.., Sunday is 0 */
};

/* gmtime_r() would ask the environment for a time zone and read its file. Days are counted from the
 * first of March, year 0: leap days are then the last of their year. */
static struct utc utc_of(uint64_t unix_s)
{
	uint64_t s = MIN(unix_s, (uint64_t)UINT32_MAX), days = s / 86400 + 719468;
	unsigned int era = (unsigned int)(days / 146097), in_era = (unsigned int)(days % 146097);
	unsigned int year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	unsigned int in_year = in_era - (365 * year + year / 4 - year / 100);
	unsigned int month = (5 * in_year + 2) / 153; /* 0 is March */

	return (struct utc){ .year = 400 * era + year + (month >= 10),
			     .month = month < 10 ? month + 3 : month - 9,
			     .day = in_year - (153 * month + 2) / 5 + 1,
			     .hour = (unsigned int)(s % 86400 / 3600),
			     .minute = (unsigned int)(s % 3600 / 60),
			     .second = (unsigned int)(s % 60),
			     .weekday = (unsigned int)((s / 86400 + 4) % 7) };
}

const char *reply_time(uint64_t unix_s, char out[REPLY_TIME_MAX])
{
	struct utc t = utc_of(unix_s);

	(void)str_format(out, REPLY_TIME_MAX, "%04u-%02u-%02uT%02u:%02u:%02uZ", t.year, t.month,
			 t.day, t.hour, t.minute, t.second);
	return out;
}

/* RFC 9110 5.6.7 */
static const char *http_date(uint64_t unix_s, char out[REPLY_TIME_MAX])
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct utc t = utc_of(unix_s);

	(void)str_format(out, REPLY_TIME_MAX, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT",
			 days + 3 * t.weekday, t.day, months + 3 * (t.month - 1), t.year, t.hour,
			 t.minute, t.second);
	return out;
}

const char *reply_proof(const struct asked *a, const char *instead)
{
	return a->proof[0] ? a->proof : instead;
}

/* Returns its length; 0 where it doesn't fit. */
static size_t put_head(char *out, size_t n, const struct asked *a, int status,
		       const struct reply_kind *k, size_t body_len, bool closes)
{
	char date[REPLY_TIME_MAX];

	if (str_format(out, n,
		       "HTTP/1.1 %d %s\r\n"
		       "Server: %s\r\n"
		       "Date: %s\r\n"
		       "Content-Type: %s\r\n"
		       "Content-Length: %zu\r\n"
		       "%s"
		       "Connection: %s\r\n"
		       "\r\n",
		       status, reason(status), k->server, http_date(a->now_s, date), k->type,
		       body_len, k->fields, closes ? "close" : "keep-alive"))
		return 0;
	return strlen(out);
}

void reply_format(struct reply *ret, const struct asked *a, int status, const struct reply_kind *k,
		  const char *fmt, ...)
{
	static const struct reply_kind broken = { "nginx", "text/plain", "" };
	const struct http_request *r = a->request;
	char body[REPLY_BODY_MAX];
	size_t len, head;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(body, sizeof(body), fmt, ap);
	va_end(ap);
	len = n > 0 ? (size_t)n : 0;
	ret->closes = !r || !r->keeps;
	head = len < sizeof(body)
		       ? put_head(ret->bytes, sizeof(ret->bytes), a, status, k, len, ret->closes)
		       : 0;
	if (!head || len > sizeof(ret->bytes) - head) {
		ret->closes = true;
		ret->proves = false;
		ret->len = put_head(ret->bytes, sizeof(ret->bytes), a, 500, &broken, 0, true);
		return;
	}
	if (r && http_text_is(r->method, "HEAD"))
		len = 0;
	memcpy(ret->bytes + head, body, len);
	ret->len = head + len;
	ret->proves = a->proof[0] && memmem(ret->bytes, ret->len, a->proof, strlen(a->proof));
}
