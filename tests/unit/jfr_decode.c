/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_decode.h"

#include <stdlib.h>

#include "unit/unit.h"

static uint32_t seed;

static uint32_t next_random(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

/* Byte by byte, as the format says it. */
static uint64_t plain_varint(struct cursor *c)
{
	uint64_t value = 0;

	for (int i = 0; i < JFR_VARINT_MAX && c->at < c->end; i++) {
		uint8_t byte = *c->at++;

		if (i == JFR_VARINT_MAX - 1 || byte < 0x80)
			return value | (uint64_t)byte << 7 * i;
		value |= (uint64_t)(byte & 0x7f) << 7 * i;
	}
	c->failed = true;
	return 0;
}

/* Runs of top bits, so that integers of nine bytes lie across words in every way. */
static void fill(uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		bytes[i] = (uint8_t)next_random();
		if (next_random() % 4)
			bytes[i] |= (uint8_t)(next_random() % 3 ? 0x80 : 0);
		else
			bytes[i] &= 0x7f;
	}
}

static void words_are_read_as_bytes_are(void)
{
	seed = 1;
	for (int round = 0; round < 100000; round++) {
		size_t size = next_random() % 120;
		uint8_t *bytes = malloc(size + 1);
		struct cursor fast, plain, skip;
		uint64_t count = next_random() % 60;

		fill(bytes, size);
		fast = plain = skip = cursor_of(bytes, size);
		for (uint64_t i = 0; i < count && !plain.failed; i++) {
			uint64_t expected = plain_varint(&plain);

			CU_ASSERT_EQUAL_FATAL(jfr_varint(&fast), expected);
			CU_ASSERT_EQUAL_FATAL(fast.failed, plain.failed);
			CU_ASSERT_FATAL(plain.failed || fast.at == plain.at);
		}
		jfr_skip_varints(&skip, count);
		CU_ASSERT_EQUAL_FATAL(skip.failed, plain.failed);
		CU_ASSERT_FATAL(plain.failed || skip.at == plain.at);
		free(bytes);
	}
}

static void strings_become_utf8(void)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *text;
	} rows[] = {
		{ "\1", 1, "" },
		{ "\3\2ab", 4, "ab" },
		{ "\3\6\xed\xa0\xb5\xed\xb5\x81", 8, "\xf0\x9d\x95\x81" }, /* modified UTF-8 */
		{ "\3\4\xf0\x9d\x95\x81", 6, "\xf0\x9d\x95\x81" },
		{ "\3\3\xed\xa0\xb5", 5, "\xef\xbf\xbd" }, /* half a pair */
		{ "\3\4\xed\xa0\xb5!", 6, "\xef\xbf\xbd!" },
		{ "\3\2\xff\x80", 4, "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\3\2\xc1\x81", 4, "\xef\xbf\xbd\xef\xbf\xbd" }, /* longer than need be */
		{ "\4\2A\xe9\x01", 5, "A\xc3\xa9" },
		{ "\4\2\xb5\xb0\x03\xc1\xba\x03", 8, "\xf0\x9d\x95\x81" },
		{ "\5\2\xe9z", 4, "\xc3\xa9z" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cursor c = cursor_of(rows[i].bytes, rows[i].size);
		struct jfr_string string = jfr_string(&c);
		struct strbuf text = { 0 };

		CU_ASSERT(!c.failed && !cursor_left(&c));
		jfr_string_add(&text, &string);
		if (strcmp(strbuf_text(&text), rows[i].text) != 0)
			fprintf(stderr, "row %zu: %s\n", i, strbuf_text(&text));
		CU_ASSERT_STRING_EQUAL(strbuf_text(&text), rows[i].text);
		strbuf_free(&text);
	}
}

static void strings_that_do_not_fit_fail(void)
{
	static const struct {
		const char *bytes;
		size_t size;
	} rows[] = {
		{ "", 0 },
		{ "\2", 1 },
		{ "\3\5abc", 5 },
		{ "\4\4ab", 4 },
		{ "\5\x81", 2 },
		{ "\6", 1 },
		{ "\3\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cursor c = cursor_of(rows[i].bytes, rows[i].size);

		jfr_string(&c);
		CU_ASSERT(c.failed);
	}
}

static CU_TestInfo tests[] = {
	{ "words are read as bytes are", words_are_read_as_bytes_are },
	{ "strings become UTF-8", strings_become_utf8 },
	{ "strings that do not fit fail", strings_that_do_not_fit_fail },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jfr_decode_suite = {
	.pName = "jfr_decode",
	.pTests = tests,
};
