/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_decode.h"

#define REPLACEMENT 0xfffdu

/* Eight bytes at once, where so many are left. */
#define WORD	  sizeof(uint64_t)
#define TOP_BITS  0x8080808080808080ull
#define EACH_BYTE 0x0101010101010101ull

/* The top bit of each byte that ends an integer. */
static uint64_t ends_in(uint64_t word)
{
	return ~word & TOP_BITS;
}

static uint64_t word_at(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static uint64_t varint_slow(struct cursor *c)
{
	const uint8_t *at = c->at;
	uint64_t value = 0;

	for (unsigned int i = 0; i < JFR_VARINT_MAX && at < c->end; i++) {
		uint8_t byte = *at++;

		if (i == JFR_VARINT_MAX - 1 || byte < 0x80) {
			c->at = at;
			return value | (uint64_t)byte << (7 * i);
		}
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
	}
	c->at = c->end;
	c->failed = true;
	return 0;
}

uint64_t jfr_varint_rest(struct cursor *c)
{
	uint64_t word, ends;

	if (cursor_left(c) < WORD)
		return varint_slow(c);
	word = word_at(c->at);
	ends = ends_in(word);
	if (!ends)
		return varint_slow(c);
	c->at += __builtin_ctzll(ends) / 8 + 1;
	/* What is below the lowest end, without top bits; then the seven bits close up. */
	word &= (ends ^ (ends - 1)) & ~TOP_BITS;
	word = (word & 0x007f007f007f007full) | (word & 0x7f007f007f007f00ull) >> 1;
	word = (word & 0x00003fff00003fffull) | (word & 0x3fff00003fff0000ull) >> 2;
	return (word & 0x0fffffffull) | (word & 0x0fffffff00000000ull) >> 4;
}

static unsigned int count_ends(uint64_t ends)
{
	return (unsigned int)((ends >> 7) * EACH_BYTE >> 56);
}

/*
 * Word by word as long as all ends in a word count. The ninth byte of an integer may look as if it
 * were no end, and so eight bytes in a row that are no ends stop this. c is left before a whole
 * integer.
 */
static uint64_t skip_words(struct cursor *c, uint64_t count)
{
	const uint8_t *at = c->at;
	int open = 0; /* bytes before at of an integer that has not ended */

	while ((size_t)(c->end - at) >= WORD) {
		uint64_t ends = ends_in(word_at(at));

		if (!ends || count_ends(ends) >= count || open + __builtin_ctzll(ends) / 8 >= 8)
			break;
		count -= count_ends(ends);
		open = __builtin_clzll(ends) / 8;
		at += WORD;
	}
	c->at = at - open;
	return count;
}

void jfr_skip_varints(struct cursor *c, uint64_t count)
{
	while (count && cursor_left(c) >= WORD) {
		uint64_t ends;

		if (count > WORD)
			count = skip_words(c, count);
		if (cursor_left(c) < WORD)
			break;
		ends = ends_in(word_at(c->at));
		if (!ends) {
			varint_slow(c);
			count--;
			continue;
		}
		if (count_ends(ends) >= count) {
			/* Ends behind the last one that counts do not. */
			while (--count)
				ends &= ends - 1;
			c->at += __builtin_ctzll(ends) / 8 + 1;
			return;
		}
		c->at += 8 - (size_t)__builtin_clzll(ends) / 8;
		count -= count_ends(ends);
	}
	while (count-- && !c->failed)
		jfr_varint(c);
}

/* ---- strings */

static struct jfr_string read_units(struct cursor *c)
{
	struct jfr_string string = { .encoding = JFR_STRING_UTF16 };
	uint64_t count = jfr_varint(c);

	if (count > cursor_left(c)) {
		c->failed = true;
		return string;
	}
	string.at = c->at;
	jfr_skip_varints(c, count);
	string.size = (uint32_t)(c->at - string.at);
	return string;
}

static struct jfr_string read_bytes(struct cursor *c, uint8_t encoding)
{
	struct jfr_string string = { .encoding = encoding };
	uint64_t size = jfr_varint(c);

	if (size > cursor_left(c) || size > UINT32_MAX) {
		c->failed = true;
		return string;
	}
	string.at = cursor_bytes(c, (size_t)size);
	string.size = (uint32_t)size;
	return string;
}

struct jfr_string jfr_string(struct cursor *c)
{
	uint8_t encoding = cursor_u8(c);

	switch (encoding) {
	case JFR_STRING_NULL:
	case JFR_STRING_EMPTY:
		return (struct jfr_string){ .encoding = encoding };
	case JFR_STRING_POOLED:
		return (struct jfr_string){ .encoding = encoding, .id = jfr_varint(c) };
	case JFR_STRING_UTF8:
	case JFR_STRING_LATIN1:
		return read_bytes(c, encoding);
	case JFR_STRING_UTF16:
		return read_units(c);
	default:
		c->failed = true;
		return (struct jfr_string){ 0 };
	}
}

/* ---- to UTF-8 */

static void add_character(struct strbuf *to, uint32_t c)
{
	char bytes[4];
	size_t len = 0;

	if (c < 0x80) {
		bytes[len++] = (char)c;
	} else if (c < 0x800) {
		bytes[len++] = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		bytes[len++] = (char)(0xe0 | c >> 12);
		bytes[len++] = (char)(0x80 | (c >> 6 & 0x3f));
	} else {
		bytes[len++] = (char)(0xf0 | c >> 18);
		bytes[len++] = (char)(0x80 | (c >> 12 & 0x3f));
		bytes[len++] = (char)(0x80 | (c >> 6 & 0x3f));
	}
	if (c >= 0x80)
		bytes[len++] = (char)(0x80 | (c & 0x3f));
	strbuf_add(to, bytes, len);
}

static bool is_high(uint32_t unit)
{
	return (unit & 0xfc00) == 0xd800;
}

static bool is_low(uint32_t unit)
{
	return (unit & 0xfc00) == 0xdc00;
}

/* Adds a UTF-16 unit; *high is the first half of a pair that waits for its second, 0 none. */
static void add_unit(struct strbuf *to, uint32_t unit, uint32_t *high)
{
	if (*high && is_low(unit)) {
		add_character(to, 0x10000 + ((*high & 0x3ff) << 10 | (unit & 0x3ff)));
		*high = 0;
		return;
	}
	if (*high)
		add_character(to, REPLACEMENT);
	*high = is_high(unit) ? unit : 0;
	if (!*high)
		add_character(to, is_low(unit) ? REPLACEMENT : unit);
}

static void add_utf16(struct strbuf *to, const struct jfr_string *string)
{
	struct cursor c = cursor_of(string->at, string->size);
	uint32_t high = 0;

	while (cursor_left(&c))
		add_unit(to, (uint32_t)jfr_varint(&c) & 0xffff, &high);
	if (high)
		add_character(to, REPLACEMENT);
}

/* The length of the UTF-8 character at bytes, and the character; 1 and U+FFFD when it is none. */
static size_t character_at(const uint8_t *bytes, size_t left, uint32_t *c)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint8_t first = bytes[0];
	size_t len = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	uint32_t value = first < 0x80 ? first : first & (0x7fu >> len);

	*c = REPLACEMENT;
	if (len > left || (first >= 0x80 && first < 0xc0) || first >= 0xf8)
		return 1;
	for (size_t i = 1; i < len; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 1;
		value = value << 6 | (bytes[i] & 0x3f);
	}
	/* C0 80 is the NUL of modified UTF-8. */
	if ((value < smallest[len] && (value || len != 2)) || value > 0x10ffff)
		return 1;
	*c = value;
	return len;
}

static void add_utf8(struct strbuf *to, const struct jfr_string *string)
{
	const uint8_t *at = string->at;
	const uint8_t *end = at + string->size;
	uint32_t high = 0;
	uint32_t c;

	while (at < end) {
		at += character_at(at, (size_t)(end - at), &c);
		if (c < 0x10000) {
			add_unit(to, c, &high);
			continue;
		}
		if (high)
			add_character(to, REPLACEMENT);
		high = 0;
		add_character(to, c);
	}
	if (high)
		add_character(to, REPLACEMENT);
}

static bool is_ascii(const struct jfr_string *string)
{
	uint8_t all = 0;

	for (uint32_t i = 0; i < string->size; i++)
		all |= string->at[i];
	return all < 0x80;
}

void jfr_string_add(struct strbuf *to, const struct jfr_string *string)
{
	switch (string->encoding) {
	case JFR_STRING_UTF16:
		add_utf16(to, string);
		break;
	case JFR_STRING_UTF8:
	case JFR_STRING_LATIN1:
		if (is_ascii(string))
			strbuf_add(to, (const char *)string->at, string->size);
		else if (string->encoding == JFR_STRING_UTF8)
			add_utf8(to, string);
		else
			for (uint32_t i = 0; i < string->size; i++)
				add_character(to, string->at[i]);
		break;
	default:
		break;
	}
}
