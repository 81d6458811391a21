/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LOG_H
#define JVMSCOPE_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/*
 * Messages up to this level are written; LOG_LEVEL_INFO at start, -q sets WARN, -v DEBUG.
 * log_get_level() is for callers that would do work only to log it.
 */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/*
 * Writes one line to standard error, as "jvmscope: TEXT" ("jvmscope: warning: TEXT" for warnings).
 * Subject first, lower case, no full stop. Standard output belongs to the exporters.
 */
void log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * A hook called before each line is written, so that a status line on the terminal can be
 * cleared first. NULL takes it away.
 */
void log_set_before(void (*before)(void));

#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
