/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static enum log_level current = LOG_LEVEL_INFO;
static void (*before_line)(void);

void log_set_level(enum log_level level)
{
	current = level;
}

enum log_level log_get_level(void)
{
	return current;
}

void log_set_before(void (*before)(void))
{
	before_line = before;
}

void log_write(enum log_level level, const char *fmt, ...)
{
	va_list ap;

	if (level > current)
		return;
	if (before_line)
		before_line();
	fputs(level == LOG_LEVEL_WARN ? "jvmscope: warning: " : "jvmscope: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}
