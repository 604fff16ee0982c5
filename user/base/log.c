// SPDX-License-Identifier: Apache-2.0
#include "user/base/log.h"

#include <stdarg.h>

#include "user/base/json_out.h"

static struct {
	const char *name;
	enum log_level level;
	bool json;
} cfg = { .name = "sentinel", .level = LOG_INFO_ };

void log_open(const char *name, enum log_level level, bool json)
{
	cfg.name = name;
	cfg.level = level;
	cfg.json = json;
}

static void log_json(const char *level, const char *text)
{
	struct json_out j;

	json_out_init(&j);
	json_object_begin(&j, NULL);
	json_text(&j, "level", level);
	json_text(&j, "text", text);
	json_object_end(&j);
	json_newline(&j);
	if (!json_out_error(&j))
		(void)!write_all(STDERR_FILENO, j.buf, j.len);
	json_out_done(&j);
}

/* A CI runner would obey "##[" wherever it stands in a line. */
static void break_commands(char *text)
{
	for (char *at = text; (at = strstr(at, "##["));)
		at[2] = '(';
}

void log_line(enum log_level level, const char *fmt, ...)
{
	static const char *const names[] = { "error", "warn", "info", "debug" };
	char text[1024], line[1200];
	va_list ap;
	int len;

	if (level > cfg.level)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	break_commands(text);
	if (cfg.json) {
		log_json(names[level], text);
		return;
	}
	len = level == LOG_INFO_
		      ? snprintf(line, sizeof(line), "%s: %s\n", cfg.name, text)
		      : snprintf(line, sizeof(line), "%s: %s: %s\n", cfg.name, names[level], text);
	if (len > 0)
		(void)!write_all(STDERR_FILENO, line, MIN((size_t)len, sizeof(line) - 1));
}
