/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_DECODE_H
#define JVMSCOPE_JFR_DECODE_H

#include "base/cursor.h"
#include "base/strbuf.h"

/*
 * The two encodings of JFR: integers and strings. Reads are bounded as all of base/cursor.h.
 *
 * Integers have 7 bits a byte, lowest first, the top bit meaning that more follows, in at most 9
 * bytes of which the ninth has 8 bits (so this is not LEB128). They need not be the shortest form:
 * HotSpot pads sizes to 4 and 8 bytes, async-profiler to 5.
 */
#define JFR_VARINT_MAX 9

/* The part of jfr_varint() for three bytes and more, and for the end of the bytes. */
uint64_t jfr_varint_rest(struct cursor *c);

static inline uint64_t jfr_varint(struct cursor *c)
{
	const uint8_t *at = c->at;

	if (at < c->end && at[0] < 0x80) {
		c->at = at + 1;
		return at[0];
	}
	if (c->end - at >= 2 && at[1] < 0x80) {
		c->at = at + 2;
		return (at[0] & 0x7fu) | (uint64_t)at[1] << 7;
	}
	return jfr_varint_rest(c);
}

/* Fixed width, as in the header of a chunk and in floating-point fields. */
static inline uint64_t jfr_big_endian(const uint8_t *at, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 | at[i];
	return value;
}

/* Steps over count integers. */
void jfr_skip_varints(struct cursor *c, uint64_t count);

enum jfr_encoding {
	JFR_STRING_NULL = 0,
	JFR_STRING_EMPTY = 1,
	JFR_STRING_POOLED = 2, /* id is in the pool of java.lang.String */
	JFR_STRING_UTF8 = 3,   /* HotSpot writes modified UTF-8 here */
	JFR_STRING_UTF16 = 4,  /* each unit an integer */
	JFR_STRING_LATIN1 = 5,
};

/* A string where it lies. Valid as long as the bytes it was read from. */
struct jfr_string {
	const uint8_t *at;
	uint32_t size;	  /* bytes at at */
	uint8_t encoding; /* enum jfr_encoding */
	uint64_t id;	  /* JFR_STRING_POOLED */
};

/* Reads a string; an unknown encoding fails the cursor. */
struct jfr_string jfr_string(struct cursor *c);

/* Appends a string that is not pooled, as UTF-8. Bytes that are no text become U+FFFD. */
void jfr_string_add(struct strbuf *to, const struct jfr_string *string);

#endif
