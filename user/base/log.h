/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines for people, on stderr. Only main programs, cmd/, daemon.c and pipeline.c log; stages
 * return errors. Text: lower case, subject in single quotes, no full stop.
 */
#ifndef SENTINEL_BASE_LOG_H
#define SENTINEL_BASE_LOG_H

#include "user/base/util.h"

enum log_level { LOG_ERROR_, LOG_WARN_, LOG_INFO_, LOG_DEBUG_ };

/* name is printed before each line; json makes each line an object {"level","text"}. Set once. */
void log_open(const char *name, enum log_level level, bool json);
void log_line(enum log_level level, const char *fmt, ...) printf_like(2, 3);

#define log_error(...) log_line(LOG_ERROR_, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN_, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO_, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG_, __VA_ARGS__)

#endif
