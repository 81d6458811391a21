/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_name.h"

/* Output with its limit. */
struct out {
	uint8_t *to;
	size_t size;
	size_t len;
	bool failed;
};

static void add_byte(struct out *out, uint32_t byte)
{
	if (out->len == out->size)
		out->failed = true;
	else
		out->to[out->len++] = (uint8_t)byte;
}

static void add_unit(struct out *out, uint32_t unit)
{
	if (unit && unit < 0x80) {
		add_byte(out, unit);
		return;
	}
	if (unit < 0x800) {
		add_byte(out, 0xc0 | unit >> 6);
	} else {
		add_byte(out, 0xe0 | unit >> 12);
		add_byte(out, 0x80 | (unit >> 6 & 0x3f));
	}
	add_byte(out, 0x80 | (unit & 0x3f));
}

static long length(const struct out *out)
{
	return out->failed ? -1 : (long)out->len;
}

long trie_name_from_units(const uint16_t *units, size_t count, uint8_t *to, size_t size)
{
	struct out out = { .size = size };

	out.to = to;
	for (size_t i = 0; i < count; i++)
		add_unit(&out, units[i]);
	return length(&out);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Four digits, or -1. */
static int hex_unit(const char *text)
{
	int unit = 0;

	for (int i = 0; i < 4; i++) {
		if (hex_digit(text[i]) < 0)
			return -1;
		unit = unit << 4 | hex_digit(text[i]);
	}
	return unit;
}

long trie_name_from_escaped(const char *text, size_t len, uint8_t *to, size_t size)
{
	struct out out = { .size = size };
	int unit;

	out.to = to;
	for (size_t i = 0; i < len; i++) {
		if (text[i] != '\\') {
			out.failed |= (uint8_t)text[i] >= 0x80;
			add_unit(&out, (uint8_t)text[i]);
			continue;
		}
		unit = len - i >= 6 && text[i + 1] == 'u' ? hex_unit(text + i + 2) : -1;
		if (unit < 0)
			return -1;
		add_unit(&out, (uint32_t)unit);
		i += 5;
	}
	return length(&out);
}

size_t trie_utf8_next(const uint8_t *at, const uint8_t *end, uint32_t *out)
{
	static const struct {
		uint8_t mask, lead;
		uint32_t least;
	} forms[] = {
		{ 0x80, 0x00, 0 },
		{ 0xe0, 0xc0, 0x80 },
		{ 0xf0, 0xe0, 0x800 },
		{ 0xf8, 0xf0, 0x10000 },
	};
	uint32_t code;
	size_t i, len = 0;

	while (len < 4 && (*at & forms[len].mask) != forms[len].lead)
		len++;
	if (len == 4 || (size_t)(end - at) < len + 1)
		return 0;
	code = *at & (uint8_t)~forms[len].mask;
	for (i = 1; i <= len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (code < forms[len].least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*out = code;
	return len + 1;
}

long trie_name_from_utf8(const char *text, size_t len, uint8_t *to, size_t size)
{
	const uint8_t *at = (const uint8_t *)text, *end = at + len;
	struct out out = { .size = size };
	uint32_t code;

	out.to = to;
	for (size_t used; at < end; at += used) {
		used = trie_utf8_next(at, end, &code);
		if (used == 0)
			return -1;
		if (code < 0x10000) {
			add_unit(&out, code);
			continue;
		}
		add_unit(&out, 0xd800 + ((code - 0x10000) >> 10));
		add_unit(&out, 0xdc00 + ((code - 0x10000) & 0x3ff));
	}
	return length(&out);
}

size_t trie_name_offset(const uint8_t *name, size_t len, size_t units)
{
	size_t at = 0;

	while (at < len && units) {
		at++;
		while (at < len && (name[at] & 0xc0) == 0x80)
			at++;
		units--;
	}
	return at;
}
