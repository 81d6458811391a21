/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_BYTES_H
#define JVMSCOPE_JFR_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Growing bytes, written in the encodings of JFR; jfr_decode.h reads them.
 *
 * A failed allocation is remembered, and bytes that do not fit are dropped: the writer asks once,
 * at the end of a segment. A zeroed struct is a valid empty buffer.
 */
struct jfr_bytes {
	uint8_t *data; /* owned */
	size_t len;
	size_t capacity;
	bool failed;
};

#define JFR_LONG_MAX   9 /* bytes of the largest integer */
#define JFR_PADDED_MAX 5 /* bytes of an integer that is filled in later, below 2^35 */

/* Room for size more bytes, or NULL; the caller adds to len what it wrote. */
uint8_t *jfr_reserve(struct jfr_bytes *bytes, size_t size);

void jfr_put_bytes(struct jfr_bytes *bytes, const void *data, size_t size);
void jfr_put_byte(struct jfr_bytes *bytes, uint8_t value);
void jfr_put_float(struct jfr_bytes *bytes, float value);
void jfr_put_double(struct jfr_bytes *bytes, double value);

/*
 * Text of a recording, which may be modified UTF-8, as true UTF-8; the JDK shows U+FFFD for
 * anything else. jfr_put_text() has the short forms for NULL and "", jfr_put_symbol() has not:
 * async-profiler's converter knows one encoding of symbols only.
 */
void jfr_put_text(struct jfr_bytes *bytes, const char *text);
void jfr_put_symbol(struct jfr_bytes *bytes, const char *text);

/* Writes an integer at to, at most JFR_LONG_MAX bytes; returns where it ends. */
static inline uint8_t *jfr_encode(uint8_t *to, uint64_t value)
{
	for (int i = 0; i < JFR_LONG_MAX - 1 && value >= 0x80; i++) {
		*to++ = (uint8_t)value | 0x80;
		value >>= 7;
	}
	*to++ = (uint8_t)value;
	return to;
}

static inline void jfr_put_long(struct jfr_bytes *bytes, uint64_t value)
{
	uint8_t *at = jfr_reserve(bytes, JFR_LONG_MAX);

	if (at)
		bytes->len += (size_t)(jfr_encode(at, value) - at);
}

/* Zero-extended, as the JVM does: -1 has five bytes. */
static inline void jfr_put_int(struct jfr_bytes *bytes, int32_t value)
{
	jfr_put_long(bytes, (uint32_t)value);
}

/* An integer of JFR_PADDED_MAX bytes, at a place that has room for them. */
void jfr_encode_padded(uint8_t *to, uint64_t value);

/*
 * An event, or a checkpoint: everything between the two calls. The first returns the place, which
 * the second needs to write the size.
 */
size_t jfr_begin_event(struct jfr_bytes *bytes, unsigned int type);
void jfr_end_event(struct jfr_bytes *bytes, size_t at);

void jfr_bytes_free(struct jfr_bytes *bytes);

#endif
