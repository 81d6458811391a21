/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "unit/unit.h"

#define SECOND 1000000000ull

struct parsed {
	const char *text;
	uint64_t value; /* 0: an error is expected */
};

static void durations_are_parsed(void)
{
	static const struct parsed cases[] = {
		{ "30", 30 * SECOND },
		{ "30s", 30 * SECOND },
		{ "500ms", SECOND / 2 },
		{ "5m", 300 * SECOND },
		{ "1h", 3600 * SECOND },
		{ "1.5s", SECOND + SECOND / 2 },
		{ "0.25", SECOND / 4 },
		{ "1.5h", 5400 * SECOND },
		{ "0.0000000001s", 0 },
		{ "0", 0 },
		{ "", 0 },
		{ "s", 0 },
		{ "-1", 0 },
		{ "+1", 0 },
		{ " 1", 0 },
		{ "1 s", 0 },
		{ "1.", 0 },
		{ ".5", 0 },
		{ "1.2.3", 0 },
		{ "1x", 0 },
		{ "1e3", 0 },
		{ "nan", 0 },
		{ "99999999999999999999", 0 },
		{ "18446744073.9", 0 },
		{ "5124096h", 0 },
		{ "876600h", TEXT_DURATION_MAX_NS },
		{ "876600.1h", 0 },
		{ "18446744073", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t value = 0;

		ASSERT_INT(text_duration_ns(cases[i].text, &value), cases[i].value ? 0 : -EINVAL);
		ASSERT_INT(value, cases[i].value);
	}
}

static void sizes_are_parsed(void)
{
	static const struct parsed cases[] = {
		{ "4096", 4096 },
		{ "64k", 65536 },
		{ "8M", 8 << 20 },
		{ "1GiB", 1 << 30 },
		{ "1GB", 1 << 30 },
		{ "2kB", 2048 },
		{ "17179869183g", 17179869183ull << 30 },
		{ "17179869184g", 0 },
		{ "1.5M", 0 },
		{ "k", 0 },
		{ "1T", 0 },
		{ "1kk", 0 },
		{ "-1", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t value = 0;

		ASSERT_INT(text_size_bytes(cases[i].text, &value), cases[i].value ? 0 : -EINVAL);
		CU_ASSERT_FATAL(value == cases[i].value);
	}
}

static void numbers_stay_in_their_range(void)
{
	uint64_t value = 42;

	ASSERT_INT(text_number("1", 1, 999, &value), 0);
	ASSERT_INT(value, 1);
	ASSERT_INT(text_number("999", 1, 999, &value), 0);
	ASSERT_INT(text_number("0", 1, 999, &value), -EINVAL);
	ASSERT_INT(text_number("1000", 1, 999, &value), -EINVAL);
	ASSERT_INT(text_number("9x", 1, 999, &value), -EINVAL);
	ASSERT_INT(text_number("0x9", 0, 999, &value), -EINVAL);
	ASSERT_INT(text_number("", 0, 999, &value), -EINVAL);
	ASSERT_INT(text_number("18446744073709551616", 0, UINT64_MAX, &value), -EINVAL);
	ASSERT_INT(value, 999);
	ASSERT_INT(text_number("18446744073709551615", 0, UINT64_MAX, &value), 0);
	CU_ASSERT(value == UINT64_MAX);
}

static void pids_are_parsed(void)
{
	static const char *const bad[] = { "", "0", "1,", ",1", "1,,2", "1 ", "-1", "2147483648" };
	pid_t pids[3] = { 0 };
	size_t count = 9;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_INT(text_pids(bad[i], pids, 3, &count), -EINVAL);
	ASSERT_INT(text_pids("1,2,3,4", pids, 3, &count), -E2BIG);
	ASSERT_INT(count, 9);
	ASSERT_INT(text_pids("12,2147483647,3", pids, 3, &count), 0);
	ASSERT_INT(count, 3);
	ASSERT_INT(pids[0], 12);
	ASSERT_INT(pids[1], 2147483647);
	ASSERT_INT(pids[2], 3);
}

struct shown {
	uint64_t value;
	const char *text;
};

static void bytes_are_shown(void)
{
	static const struct shown cases[] = {
		{ 0, "0 B" },
		{ 1023, "1023 B" },
		{ 1024, "1.0 KiB" },
		{ 1536, "1.5 KiB" },
		{ (1 << 20) - 1, "1.0 MiB" },
		{ 3435973837ull, "3.2 GiB" },
		{ 1ull << 60, "1.0 EiB" },
		{ UINT64_MAX, "16.0 EiB" },
	};
	char to[TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CU_ASSERT_STRING_EQUAL(text_bytes(cases[i].value, to), cases[i].text);
}

static void times_are_shown(void)
{
	static const struct shown cases[] = {
		{ 0, "0 ns" },
		{ 850, "850 ns" },
		{ 1000, "1.0 us" },
		{ 999949, "999.9 us" },
		{ 999950, "1.0 ms" },
		{ 1234567, "1.2 ms" },
		{ 3400000000ull, "3.4 s" },
		{ 59949999999ull, "59.9 s" },
		{ 59950000000ull, "1 m 00 s" },
		{ 125 * SECOND, "2 m 05 s" },
		{ 3599 * SECOND + SECOND / 2, "1 h 00 m" },
		{ 3720 * SECOND, "1 h 02 m" },
		{ UINT64_MAX, "5124095 h 34 m" },
	};
	char to[TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CU_ASSERT_STRING_EQUAL(text_ns(cases[i].value, to), cases[i].text);
}

static void counts_are_shown(void)
{
	static const struct shown cases[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 12345678, "12,345,678" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};
	char to[TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CU_ASSERT_STRING_EQUAL(text_count(cases[i].value, to), cases[i].text);
}

#define BAD "\xef\xbf\xbd"

static void text_becomes_valid_utf8(void)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "plain", "plain" },
		{ "a;b c", "a;b c" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		/* modified UTF-8 of U+1F600, and halves of it */
		{ "\xed\xa0\xbd\xed\xb8\x80", "\xf0\x9f\x98\x80" },
		{ "\xed\xa0\xbdx", BAD "x" },
		{ "\xed\xa0\xbd", BAD },
		{ "\xed\xb8\x80\xed\xa0\xbd", BAD BAD },
		{ "\xed\xa0\xbd\xed\xb8", BAD BAD },
		/* cut in the middle of a character */
		{ "ab\xe2\x82", "ab" BAD },
		{ "ab\xe2\x82z", "ab" BAD "z" },
		{ "\xf0\x9f\x98", BAD },
		/* modified NUL, control characters */
		{ "a\xc0\x80z", "a" BAD "z" },
		{ "a\nb\tc\x7f"
		  "d\xc2\x85",
		  "a" BAD "b" BAD "c" BAD "d" BAD },
		/* overlong, too large, never valid, lone continuation */
		{ "\xc0\xaf", BAD },
		{ "\xe0\x80\xaf", BAD },
		{ "\xf4\x90\x80\x80", BAD },
		{ "\xff\xfe", BAD BAD },
		{ "\x80z", BAD "z" },
	};
	char to[64];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_INT(text_utf8(cases[i].from, strlen(cases[i].from), to, sizeof(to)),
			   strlen(cases[i].to));
		CU_ASSERT_STRING_EQUAL_FATAL(to, cases[i].to);
	}
}

static void utf8_is_never_cut_in_a_character(void)
{
	static const char text[] = "a\xe2\x82\xac\xe2\x82\xac";
	char to[8];

	for (size_t size = 1; size <= sizeof(to); size++) {
		size_t expected = size > 7 ? 7 : size > 4 ? 4 : size > 1 ? 1 : 0;

		ASSERT_INT(text_utf8(text, sizeof(text) - 1, to, size), expected);
		ASSERT_INT(strlen(to), expected);
	}
	ASSERT_INT(text_utf8(text, sizeof(text) - 1, NULL, 0), 0);
}

static void a_suffix_is_the_end(void)
{
	CU_ASSERT_TRUE(text_ends_with("a.jar", ".jar"));
	CU_ASSERT_TRUE(text_ends_with(".jar", ".jar"));
	CU_ASSERT_FALSE(text_ends_with("jar", ".jar"));
	CU_ASSERT_FALSE(text_ends_with("a.jar.bak", ".jar"));
	CU_ASSERT_FALSE(text_ends_with("", ".jar"));
}

static CU_TestInfo tests[] = {
	{ "durations are parsed", durations_are_parsed },
	{ "sizes are parsed", sizes_are_parsed },
	{ "numbers stay in their range", numbers_stay_in_their_range },
	{ "pids are parsed", pids_are_parsed },
	{ "bytes are shown", bytes_are_shown },
	{ "times are shown", times_are_shown },
	{ "counts are shown", counts_are_shown },
	{ "text becomes valid UTF-8", text_becomes_valid_utf8 },
	{ "UTF-8 is never cut in a character", utf8_is_never_cut_in_a_character },
	{ "a suffix is the end", a_suffix_is_the_end },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo base_text_suite = {
	.pName = "text",
	.pTests = tests,
};
