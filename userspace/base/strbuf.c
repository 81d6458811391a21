/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX    ((size_t)1 << 20)
#define FIRST_CAPACITY 64

static size_t max_of(const struct strbuf *buf)
{
	return buf->max ? buf->max : DEFAULT_MAX;
}

/* Room for len more bytes and the NUL. The caller keeps len within max. */
static bool reserve(struct strbuf *buf, size_t len)
{
	size_t needed = buf->len + len + 1;
	size_t capacity = buf->capacity ? buf->capacity : FIRST_CAPACITY;
	char *text;

	if (needed <= buf->capacity)
		return true;
	while (capacity < needed)
		capacity *= 2;
	text = realloc(buf->text, capacity);
	if (!text) {
		buf->truncated = true;
		return false;
	}
	buf->text = text;
	buf->capacity = capacity;
	return true;
}

void strbuf_add(struct strbuf *buf, const char *text, size_t len)
{
	size_t left = max_of(buf) - buf->len;

	if (len > left) {
		len = left;
		buf->truncated = true;
	}
	if (!reserve(buf, len))
		return;
	if (len)
		memcpy(buf->text + buf->len, text, len);
	buf->len += len;
	buf->text[buf->len] = 0;
}

void strbuf_puts(struct strbuf *buf, const char *text)
{
	strbuf_add(buf, text, strlen(text));
}

void strbuf_printf(struct strbuf *buf, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0) {
		buf->truncated = true;
		return;
	}
	strbuf_add(buf, text, (size_t)len);
	free(text);
}

void strbuf_reset(struct strbuf *buf)
{
	buf->len = 0;
	buf->truncated = false;
	if (buf->text)
		buf->text[0] = 0;
}

const char *strbuf_text(const struct strbuf *buf)
{
	return buf->text ? buf->text : "";
}

void strbuf_free(struct strbuf *buf)
{
	size_t max = buf->max;

	free(buf->text);
	*buf = (struct strbuf){ .max = max };
}
