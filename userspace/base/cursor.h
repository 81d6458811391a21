/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_CURSOR_H
#define JVMSCOPE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Bounded reads from foreign bytes: ELF, .eh_frame, target memory, JFR.
 *
 * A read past the end returns 0 (or NULL), moves to the end and sets failed, which stays set:
 * a parser may read a whole structure and ask once. Little endian, as every target here.
 */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static inline struct cursor cursor_of(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	return (struct cursor){ .at = at, .end = at + size };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* The next size bytes, or NULL when there are fewer. */
static inline const void *cursor_bytes(struct cursor *c, size_t size)
{
	const uint8_t *at = c->at;

	if (size > cursor_left(c)) {
		c->at = c->end;
		c->failed = true;
		return NULL;
	}
	c->at += size;
	return at;
}

static inline uint64_t cursor_uint(struct cursor *c, size_t size)
{
	const void *at = cursor_bytes(c, size);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, size);
	return value;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	return (uint8_t)cursor_uint(c, 1);
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	return (uint16_t)cursor_uint(c, 2);
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	return (uint32_t)cursor_uint(c, 4);
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	return cursor_uint(c, 8);
}

/* DWARF's unsigned and signed LEB128. Bits over 64 are dropped. */
static inline uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= ~0ull << shift;
	return (int64_t)value;
}

/* A NUL-terminated string inside the bytes, or NULL. */
static inline const char *cursor_string(struct cursor *c)
{
	const uint8_t *at = c->at;
	const void *nul = cursor_left(c) ? memchr(at, 0, cursor_left(c)) : NULL;

	if (!nul) {
		c->at = c->end;
		c->failed = true;
		return NULL;
	}
	c->at = (const uint8_t *)nul + 1;
	return (const char *)at;
}

#endif
