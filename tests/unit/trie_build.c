/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_build.h"

#include <errno.h>

#include "trie_help.h"
#include "trie_naive.h"

static struct trie_words words;
static struct trie_rules rules;

static void teardown(void)
{
	trie_words_free(&words);
	trie_rules_free(&rules);
}

/* ASCII, and \uXXXX for the rest. */
static size_t units_of(const char *escaped, uint16_t *units)
{
	size_t count = 0;
	unsigned int unit;

	for (; *escaped; escaped++) {
		units[count] = (uint8_t)*escaped;
		if (escaped[0] == '\\' && sscanf(escaped + 2, "%4x", &unit) == 1) {
			units[count] = (uint16_t)unit;
			escaped += 5;
		}
		count++;
	}
	return count;
}

static void add(const char *escaped, uint32_t number)
{
	uint16_t units[256];
	size_t len = units_of(escaped, units);

	ASSERT_INT(trie_rules_add(&rules, units, len, number, 0), 0);
}

static void build(void)
{
	ASSERT_INT(trie_rules_sort(&rules, NULL, NULL), 0);
	ASSERT_INT(trie_build(&rules, &words), 0);
}

/* Hexadecimal words, as in docs/trie.md. */
static void check_words(const char *expected)
{
	char actual[1024] = "";
	size_t len = 0;

	for (uint32_t i = 0; i < words.count; i++)
		len += (size_t)sprintf(actual + len, i ? " %04x" : "%04x", words.units[i]);
	if (strcmp(actual, expected))
		fprintf(stderr, "built    %s\nexpected %s\n", actual, expected);
	CU_ASSERT_STRING_EQUAL_FATAL(actual, expected);
}

/* Every shape a branch can have, computed by hand from the description of the format. */
static void writes_these_words(void)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{ "", "0000" },
		{ "7 a\n", "0001 0061 8007" },
		{ "7 a*\n", "0001 0061 a007" },
		{ "8191 abc\n", "0001 0061 0002 0062 0063 9fff" },
		{ "1 a\n2 b*\n", "0002 0061 0062 8001 a002 0000" },
		{ "1 a\n2 ab\n", "0001 0061 4001 0001 0062 8002" },
		/* A bud inside a shared run: the segment stops a unit earlier. */
		{ "1 abc*\n2 abcde\n",
		  "0001 0061 0001 0062 0001 0063 6001 0001 0064 0001 0065 8002" },
		/* A segment of length 0, and then always a node. */
		{ "1 ab\n2 ac\n", "0001 0061 0000 0002 0062 0063 8001 8002 0000" },
		{ "1 io.x.*\n0 io.x.Hot\n2 jp\n",
		  "0002 0069 006a 0003 0001 000c 006f 002e 0078 0001 002e 6001 0001 0048 0002 006f "
		  "0074 8000 0070 8002" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		trie_help_build(cases[i].text, &words);
		check_words(cases[i].words);
		teardown();
	}
}

static void takes_and_refuses_names(void)
{
	static uint16_t name[TRIE_NAME_MAX + 2];
	static const struct {
		size_t x; /* so many, and then */
		const char *rest;
		uint32_t number;
		int err;
	} cases[] = {
		{ 0, "", 1, -EINVAL },
		{ 0, "*", 1, -EINVAL },
		{ 0, "**", 1, -EINVAL },
		{ 0, "*foo", 1, -EINVAL },
		{ 0, "a", (uint32_t)-1, -ERANGE },
		{ 0, "a", 8191, 0 },
		{ 0, "a", 8192, -ERANGE },
		{ 0, "a**", 1, 0 },
		{ 0, "/", 1, 0 },
		{ 8190, "", 1, 0 },
		{ 8191, "", 1, 0 },
		{ 8192, "", 1, -ENAMETOOLONG },
		{ 8190, "*", 1, 0 },
		{ 8191, "*", 1, -ENAMETOOLONG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t x = 0; x < cases[i].x; x++)
			name[x] = 'x';
		ASSERT_INT(trie_rules_add(&rules, name,
					  cases[i].x + units_of(cases[i].rest, name + cases[i].x),
					  cases[i].number, 0),
			   cases[i].err);
	}
	build();
	ASSERT_INT(trie_help_find(&words, "a*b", 0), 1);
	ASSERT_INT(trie_help_find(&words, ".", 0), 1);
	ASSERT_INT(trie_help_find(&words, "zz", 0), -1);
}

static void the_last_number_wins_and_globs_stay(void)
{
	static const char text[] =
		"1 over.ride\n2 over.ride\n3 glob.then*\n4 glob.then\n5 exact.then\n"
		"6 exact.then*\n7 same.*\n8 same/*\n";

	trie_help_build(text, &words);
	ASSERT_INT(trie_help_find(&words, "over.ride", 0), 2);
	ASSERT_INT(trie_help_find(&words, "over.rides", 0), -1);
	ASSERT_INT(trie_help_find(&words, "glob.then", 0), 4);
	ASSERT_INT(trie_help_find(&words, "glob.then.more", 0), 4);
	ASSERT_INT(trie_help_find(&words, "exact.then.more", 0), 6);
	ASSERT_INT(trie_help_find(&words, "same.x", 0), 8);
}

/* In this order the original builder loses rules: it takes a sibling's literal for a result. */
static void literals_above_8000_are_no_results(void)
{
	static const char *const orders[][3] = {
		{ "kr.\\uc11c\\ube44\\uc2a4.A", "kr.\\uc11c\\ube44\\uc2a4.B\\ud55c\\uae00",
		  "kr.\\uc11c\\ube44\\uc2a4.A$1" },
		{ "a", "b\\uac00x", "ac" },
		{ "q.\\u4e2d", "q.\\u8a9ex*", "q.\\u4e2dy*" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		for (uint32_t rule = 0; rule < 3; rule++)
			add(orders[i][rule], rule + 1);
		build();
		for (int rule = 0; rule < 3; rule++)
			ASSERT_INT(trie_help_find(&words, orders[i][rule], 0), rule + 1);
		teardown();
	}
}

/* A random rule over few units, so that rules are often prefixes of each other. */
static void add_random(uint64_t *seed)
{
	static const uint16_t alphabet[] = { 'a', 'b', '.', '$', 0xac00, 0xffff, 0 };
	uint16_t units[8];
	size_t len = 1 + naive_random(seed, 6);

	for (size_t i = 0; i < len; i++)
		units[i] = alphabet[naive_random(seed, ARRAY_SIZE(alphabet))];
	if (naive_random(seed, 2))
		units[len++] = '*';
	ASSERT_INT(trie_rules_add(&rules, units, len, naive_random(seed, 5), 0), 0);
}

/* Different keys only: of equal ones the last wins. */
static void order_does_not_matter(void)
{
	struct trie_words first;
	uint64_t seed = 3;

	for (int i = 0; i < 300; i++)
		add_random(&seed);
	build();
	for (int round = 0; round < 20; round++) {
		first = words;
		words = (struct trie_words){ 0 };
		for (size_t i = rules.count - 1; i > 0; i--) {
			struct trie_rule *other =
				&rules.items[naive_random(&seed, (uint32_t)i + 1)];
			struct trie_rule rule = rules.items[i];

			rules.items[i] = *other;
			*other = rule;
		}
		build();
		ASSERT_INT(words.count, first.count);
		CU_ASSERT(!memcmp(words.units, first.units, words.count * 2));
		trie_words_free(&first);
	}
}

/* 400 buds one behind the other, 400 nodes of two, and a name of 8191 units. */
static void deep_chains(void)
{
	static uint16_t name[TRIE_NAME_MAX];
	static char escaped[2 * TRIE_NAME_MAX];

	for (size_t i = 0; i < TRIE_NAME_MAX; i++)
		name[i] = escaped[i] = "ab.$c"[i % 5];
	for (size_t len = 1; len <= 400; len++)
		ASSERT_INT(trie_rules_add(&rules, name, len, (uint32_t)len, 0), 0);
	for (size_t len = 400; len <= 800; len++) {
		name[len] = 'X';
		ASSERT_INT(trie_rules_add(&rules, name, len + 1, (uint32_t)len, 0), 0);
		name[len] = (uint16_t)escaped[len];
	}
	ASSERT_INT(trie_rules_add(&rules, name, TRIE_NAME_MAX, 8000, 0), 0);
	build();

	ASSERT_INT(trie_help_find(&words, escaped, 0), 8000);
	for (size_t len = 800; len > 0; len--) {
		escaped[len] = 'X';
		escaped[len + 1] = '\0';
		ASSERT_INT(trie_help_find(&words, escaped, 0), len < 400 ? -1 : (int)len);
		escaped[len] = '\0';
		ASSERT_INT(trie_help_find(&words, escaped, 0), len > 400 ? -1 : (int)len);
	}
}

/* Branches of one node: as many as the format can count, and one more. */
static void wide_nodes(void)
{
	uint16_t unit;

	for (uint32_t i = 0; i < TRIE_BRANCHES_MAX; i++) {
		unit = (uint16_t)(0x100 + i);
		ASSERT_INT(trie_rules_add(&rules, &unit, 1, i & TRIE_NUMBER, 0), 0);
	}
	build();
	ASSERT_INT(words.count, 3 * TRIE_BRANCHES_MAX);
	ASSERT_INT(trie_help_find(&words, "\\u0100", 0), 0);
	ASSERT_INT(trie_help_find(&words, "\\u3039", 0), 0x2f39 & TRIE_NUMBER);
	ASSERT_INT(trie_help_find(&words, "\\u80fe", 0), 0x7ffe & TRIE_NUMBER);
	ASSERT_INT(trie_help_find(&words, "\\u80ff", 0), -1);
	ASSERT_INT(trie_help_find(&words, "\\u00ff", 0), -1);

	unit = 0xffff;
	ASSERT_INT(trie_rules_add(&rules, &unit, 1, 1, 0), 0);
	ASSERT_INT(trie_rules_sort(&rules, NULL, NULL), 0);
	ASSERT_INT(trie_build(&rules, &words), -EOVERFLOW);
}

/* A branch whose content has just this many units: rules of "prefix" and long segments. */
static void add_content(char branch, uint32_t units)
{
	static uint16_t name[TRIE_NAME_MAX];
	uint32_t parts = 8, each;

	/* The node below takes 3 * parts units, a part the rest of its key and a result. */
	name[0] = (uint16_t)branch;
	units -= 3 * parts;
	for (uint32_t i = 0; i < parts; i++) {
		each = units / (parts - i);
		units -= each;
		name[1] = (uint16_t)('a' + i);
		for (uint32_t at = 2; at < each + 1; at++)
			name[at] = (uint16_t)('a' + at % 26);
		ASSERT_INT(trie_rules_add(&rules, name, each + 1, i, 0), 0);
	}
}

static void jumps_around_the_limits(void)
{
	static const struct {
		uint32_t jump;
		uint32_t long_count;
	} cases[] = {
		{ 32767, 0 }, { 32768, 0 }, { 61439, 0 }, { 61440, 1 },
		{ 61441, 1 }, { 65535, 1 }, { 65536, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct trie_visitor nothing = { 0 };
		struct trie_walk_end end;
		struct trie trie;

		add_content('a', cases[i].jump);
		add("bcd", 77);
		build();
		ASSERT_INT(words.long_count, cases[i].long_count);
		if (words.long_count) {
			ASSERT_INT(words.units[5], TRIE_LONG_JUMP);
			ASSERT_INT(words.units[words.count], cases[i].jump & 0xffff);
			ASSERT_INT(words.units[words.count + 1], cases[i].jump >> 16);
		} else {
			ASSERT_INT(words.units[5], cases[i].jump);
		}
		ASSERT_INT(trie_help_find(&words, "bcd", 0), 77);
		trie = trie_of(&words);
		ASSERT_INT(trie_walk(&trie, &nothing, &end), 0);
		ASSERT_INT(end.keys, rules.count);
		teardown();
	}
}

/* Long jumps end at 4096: a node whose branches all lie behind the limit has too many. */
static void too_many_long_jumps_are_refused(void)
{
	uint16_t name[16] = { 'b' };
	uint32_t count = TRIE_LONG_MAX;

	add_content('a', 61440);
	for (uint32_t i = 0; i < count; i++) {
		name[0] = (uint16_t)(0x100 + i);
		ASSERT_INT(trie_rules_add(&rules, name, 1, 5, 0), 0);
	}
	build();
	ASSERT_INT(words.long_count, count);
	ASSERT_INT(trie_help_find(&words, "\\u10ff", 0), 5);

	trie_words_free(&words);
	name[0] = 0xffff;
	ASSERT_INT(trie_rules_add(&rules, name, 1, 5, 0), 0);
	ASSERT_INT(trie_rules_sort(&rules, NULL, NULL), 0);
	ASSERT_INT(trie_build(&rules, &words), -E2BIG);
}

static CU_TestInfo tests[] = {
	{ "writes these words", writes_these_words },
	{ "takes and refuses names", takes_and_refuses_names },
	{ "the last number wins and globs stay", the_last_number_wins_and_globs_stay },
	{ "literals above 8000 are no results", literals_above_8000_are_no_results },
	{ "order does not matter", order_does_not_matter },
	{ "deep chains", deep_chains },
	{ "wide nodes", wide_nodes },
	{ "jumps around the limits", jumps_around_the_limits },
	{ "too many long jumps are refused", too_many_long_jumps_are_refused },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo trie_build_suite = {
	.pName = "trie_build",
	.pTearDownFunc = teardown,
	.pTests = tests,
};
