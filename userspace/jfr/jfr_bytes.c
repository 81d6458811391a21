/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define FIRST_CAPACITY 4096
#define STRING_NULL    0
#define STRING_EMPTY   1
#define STRING_UTF8    3
#define UTF8_GROWTH    3 /* a bad byte becomes the three of U+FFFD */

static uint8_t *grow(struct jfr_bytes *bytes, size_t size)
{
	size_t capacity = bytes->capacity ? bytes->capacity : FIRST_CAPACITY;
	uint8_t *data;

	while (capacity - bytes->len < size)
		capacity *= 2;
	data = bytes->failed ? NULL : realloc(bytes->data, capacity);
	if (!data) {
		bytes->failed = true;
		return NULL;
	}
	bytes->data = data;
	bytes->capacity = capacity;
	return data + bytes->len;
}

uint8_t *jfr_reserve(struct jfr_bytes *bytes, size_t size)
{
	if (bytes->capacity - bytes->len >= size)
		return bytes->data + bytes->len;
	return grow(bytes, size);
}

void jfr_put_bytes(struct jfr_bytes *bytes, const void *data, size_t size)
{
	uint8_t *at = size ? jfr_reserve(bytes, size) : NULL;

	if (!at)
		return;
	memcpy(at, data, size);
	bytes->len += size;
}

void jfr_put_byte(struct jfr_bytes *bytes, uint8_t value)
{
	jfr_put_bytes(bytes, &value, 1);
}

static void put_big_endian(struct jfr_bytes *bytes, uint64_t value, int size)
{
	while (size-- > 0)
		jfr_put_byte(bytes, (uint8_t)(value >> (8 * size)));
}

void jfr_put_float(struct jfr_bytes *bytes, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_big_endian(bytes, bits, sizeof(bits));
}

void jfr_put_double(struct jfr_bytes *bytes, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_big_endian(bytes, bits, sizeof(bits));
}

void jfr_put_symbol(struct jfr_bytes *bytes, const char *text)
{
	size_t len = strlen(text), size = UTF8_GROWTH * len + 1, written;
	uint8_t *at = jfr_reserve(bytes, 1 + JFR_PADDED_MAX + size);
	uint8_t *length;

	if (!at)
		return;
	/* Behind the largest length there can be, then moved to the true one. */
	written = text_utf8(text, len, (char *)at + 1 + JFR_PADDED_MAX, size);
	*at = STRING_UTF8;
	length = jfr_encode(at + 1, written);
	memmove(length, at + 1 + JFR_PADDED_MAX, written);
	bytes->len += (size_t)(length - at) + written;
}

void jfr_put_text(struct jfr_bytes *bytes, const char *text)
{
	if (text && *text)
		jfr_put_symbol(bytes, text);
	else
		jfr_put_byte(bytes, text ? STRING_EMPTY : STRING_NULL);
}

void jfr_encode_padded(uint8_t *to, uint64_t value)
{
	for (int i = 0; i < JFR_PADDED_MAX; i++)
		to[i] = (uint8_t)((value >> (7 * i) & 0x7f) | (i < JFR_PADDED_MAX - 1 ? 0x80 : 0));
}

size_t jfr_begin_event(struct jfr_bytes *bytes, unsigned int type)
{
	size_t at = bytes->len;

	jfr_put_byte(bytes, 0);
	jfr_put_long(bytes, type);
	return at;
}

static size_t encoded_size(uint64_t value)
{
	uint8_t bytes[JFR_LONG_MAX];

	return (size_t)(jfr_encode(bytes, value) - bytes);
}

void jfr_end_event(struct jfr_bytes *bytes, size_t at)
{
	size_t size = bytes->len - at, extra = 0;
	uint8_t *event;

	/* The size counts itself. */
	while (encoded_size(size + extra) > 1 + extra)
		extra++;
	if (!jfr_reserve(bytes, extra))
		return;
	event = bytes->data + at;
	memmove(event + 1 + extra, event + 1, size - 1);
	bytes->len += extra;
	jfr_encode(event, size + extra);
}

void jfr_bytes_free(struct jfr_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct jfr_bytes){ 0 };
}
