/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"

struct unit {
	const char *name;
	uint64_t scale;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Decimal digits at *at, at least one, without sign. Moves *at behind them. */
static int parse_digits(const char **at, uint64_t *out)
{
	const char *p = *at;
	uint64_t value = 0;

	if (!is_digit(*p))
		return -EINVAL;
	for (; is_digit(*p); p++) {
		if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -EINVAL;
	}
	*at = p;
	*out = value;
	return 0;
}

static int find_unit(const struct unit *units, const char *name, uint64_t *scale)
{
	for (; units->name; units++) {
		if (!strcasecmp(units->name, name)) {
			*scale = units->scale;
			return 0;
		}
	}
	return -EINVAL;
}

/* ".5" at *at as parts of scale, 0 when there is no point. Moves *at behind it. */
static int parse_fraction(const char **at, uint64_t scale, uint64_t *out)
{
	const char *p = *at;
	uint64_t value = 0;

	if (*p == '.') {
		if (!is_digit(p[1]))
			return -EINVAL;
		for (p++; is_digit(*p); p++) {
			scale /= 10;
			value += scale * (uint64_t)(*p - '0');
		}
	}
	*at = p;
	*out = value;
	return 0;
}

int text_duration_ns(const char *text, uint64_t *out)
{
	static const struct unit units[] = {
		{ "", 1000000000ull },	     { "s", 1000000000ull },	    { "ms", 1000000ull },
		{ "m", 60 * 1000000000ull }, { "h", 3600 * 1000000000ull }, { NULL, 0 },
	};
	const char *unit = text + strspn(text, "0123456789.");
	uint64_t scale, whole, fraction;

	if (find_unit(units, unit, &scale) || parse_digits(&text, &whole) ||
	    parse_fraction(&text, scale, &fraction) || text != unit)
		return -EINVAL;
	if (__builtin_mul_overflow(whole, scale, &whole) ||
	    __builtin_add_overflow(whole, fraction, &whole) || !whole ||
	    whole > TEXT_DURATION_MAX_NS)
		return -EINVAL;
	*out = whole;
	return 0;
}

int text_size_bytes(const char *text, uint64_t *out)
{
	static const struct unit units[] = {
		{ "", 1 },	    { "b", 1 },	       { "k", 1 << 10 },   { "kb", 1 << 10 },
		{ "kib", 1 << 10 }, { "m", 1 << 20 },  { "mb", 1 << 20 },  { "mib", 1 << 20 },
		{ "g", 1 << 30 },   { "gb", 1 << 30 }, { "gib", 1 << 30 }, { NULL, 0 },
	};
	uint64_t scale, value;

	if (parse_digits(&text, &value) || find_unit(units, text, &scale) ||
	    __builtin_mul_overflow(value, scale, &value))
		return -EINVAL;
	*out = value;
	return 0;
}

int text_number(const char *text, uint64_t lo, uint64_t hi, uint64_t *out)
{
	uint64_t value;

	if (parse_digits(&text, &value) || *text || value < lo || value > hi)
		return -EINVAL;
	*out = value;
	return 0;
}

int text_pids(const char *text, pid_t *pids, size_t max, size_t *count)
{
	size_t found = 0;
	uint64_t value;

	for (;; text++) {
		if (parse_digits(&text, &value) || !value || value > INT32_MAX)
			return -EINVAL;
		if (found == max)
			return -E2BIG;
		pids[found++] = (pid_t)value;
		if (!*text)
			break;
		if (*text != ',')
			return -EINVAL;
	}
	*count = found;
	return 0;
}

/* value / scale in tenths, rounded. Cannot overflow: scale is at most 2^60. */
static uint64_t tenths_of(uint64_t value, uint64_t scale)
{
	return value / scale * 10 + (value % scale * 10 + scale / 2) / scale;
}

const char *text_bytes(uint64_t bytes, char to[TEXT_MAX])
{
	static const char *const names[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	const size_t last = sizeof(names) / sizeof(names[0]) - 1;
	uint64_t scale = 1024;
	uint64_t tenths;
	size_t at = 0;

	if (bytes < 1024) {
		snprintf(to, TEXT_MAX, "%u B", (unsigned int)bytes);
		return to;
	}
	while (at < last && tenths_of(bytes, scale) >= 10240) {
		scale *= 1024;
		at++;
	}
	tenths = tenths_of(bytes, scale);
	snprintf(to, TEXT_MAX, "%llu.%llu %s", (unsigned long long)(tenths / 10),
		 (unsigned long long)(tenths % 10), names[at]);
	return to;
}

const char *text_ns(uint64_t ns, char to[TEXT_MAX])
{
	static const struct {
		const char *name;
		uint64_t scale, below_tenths;
	} units[] = {
		{ "us", 1000, 10000 },
		{ "ms", 1000000, 10000 },
		{ "s", 1000000000, 600 },
	};
	uint64_t seconds = ns / 1000000000 + (ns % 1000000000 >= 500000000);

	if (ns < 1000) {
		snprintf(to, TEXT_MAX, "%u ns", (unsigned int)ns);
		return to;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t tenths = tenths_of(ns, units[i].scale);

		if (tenths >= units[i].below_tenths)
			continue;
		snprintf(to, TEXT_MAX, "%u.%u %s", (unsigned int)(tenths / 10),
			 (unsigned int)(tenths % 10), units[i].name);
		return to;
	}
	if (seconds < 3600)
		snprintf(to, TEXT_MAX, "%u m %02u s", (unsigned int)(seconds / 60),
			 (unsigned int)(seconds % 60));
	else
		snprintf(to, TEXT_MAX, "%llu h %02u m", (unsigned long long)(seconds / 3600),
			 (unsigned int)(seconds / 60 % 60));
	return to;
}

const char *text_count(uint64_t value, char to[TEXT_MAX])
{
	char digits[TEXT_MAX];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	size_t at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			to[at++] = ',';
		to[at++] = digits[i];
	}
	to[at] = 0;
	return to;
}

#define REPLACEMENT 0xfffdu

static bool is_surrogate(uint32_t c, uint32_t first)
{
	return c >= first && c < first + 0x400;
}

static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/*
 * One character of UTF-8 or of the JVM's variant, where a surrogate is a character of its own and
 * C0 80 is NUL. Invalid bytes are skipped up to the next that may start a character.
 */
static uint32_t next_unit(struct cursor *in)
{
	static const struct {
		uint8_t mask, lead;
		uint32_t lowest;
	} forms[] = { { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 } };
	uint8_t lead = cursor_u8(in);
	uint32_t c, lowest;
	size_t more = 0;

	if (lead < 0x80)
		return lead;
	while (more < 3 && (lead & forms[more].mask) != forms[more].lead)
		more++;
	if (more == 3)
		return REPLACEMENT;
	lowest = forms[more].lowest;
	c = (uint8_t)~forms[more].mask & lead;
	for (more++; more; more--) {
		if (!cursor_left(in) || (*in->at & 0xc0) != 0x80)
			return REPLACEMENT;
		c = c << 6 | (cursor_u8(in) & 0x3f);
	}
	if (c > 0x10ffff || (c < lowest && c))
		return REPLACEMENT;
	return c;
}

/* The same with pairs of surrogates made one, and nothing that is not printable. */
static uint32_t next_character(struct cursor *in)
{
	uint32_t c = next_unit(in);

	if (is_surrogate(c, 0xd800)) {
		struct cursor ahead = *in;
		uint32_t low = next_unit(&ahead);

		if (!is_surrogate(low, 0xdc00))
			return REPLACEMENT;
		*in = ahead;
		return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	return is_surrogate(c, 0xdc00) || is_control(c) ? REPLACEMENT : c;
}

static size_t encode(uint32_t c, char to[4])
{
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const uint8_t leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = len - 1; i; i--) {
		to[i] = (char)(0x80 | (c & 0x3f));
		c >>= 6;
	}
	to[0] = (char)(leads[len] | c);
	return len;
}

size_t text_utf8(const char *from, size_t len, char *to, size_t size)
{
	struct cursor in = cursor_of(from, len);
	size_t written = 0;

	if (!size)
		return 0;
	while (cursor_left(&in)) {
		char bytes[4];
		size_t count = encode(next_character(&in), bytes);

		if (count >= size - written)
			break;
		memcpy(to + written, bytes, count);
		written += count;
	}
	to[written] = 0;
	return written;
}

bool text_ends_with(const char *text, const char *suffix)
{
	size_t len = strlen(text), suffix_len = strlen(suffix);

	return len >= suffix_len && !strcmp(text + len - suffix_len, suffix);
}
