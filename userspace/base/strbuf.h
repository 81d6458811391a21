/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_STRBUF_H
#define JVMSCOPE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Growing text, always NUL-terminated once something was added.
 *
 * max is given at birth, 0 meaning 1 MiB: text beyond it is dropped and truncated set. A failed
 * allocation sets truncated too. A zeroed struct is a valid empty buffer.
 */
struct strbuf {
	char *text; /* owned; NULL while empty */
	size_t len;
	size_t capacity;
	size_t max;
	bool truncated;
};

void strbuf_add(struct strbuf *buf, const char *text, size_t len);
void strbuf_puts(struct strbuf *buf, const char *text);
void strbuf_printf(struct strbuf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Empties it and keeps the memory. */
void strbuf_reset(struct strbuf *buf);

/* Never NULL. */
const char *strbuf_text(const struct strbuf *buf);

void strbuf_free(struct strbuf *buf);

#endif
