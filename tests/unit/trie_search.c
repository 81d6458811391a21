/* SPDX-License-Identifier: Apache-2.0 */
#include "trie_help.h"
#include "trie_naive.h"

static struct trie_words words;

static void teardown(void)
{
	trie_words_free(&words);
}

struct lookup {
	const char *name;
	int number;
};

static void check(const struct lookup *lookups, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ASSERT_INT(trie_help_find(&words, lookups[i].name, 0), lookups[i].number);
}

/* The worked example of docs/trie.md. */
static void finds_the_longest_rule(void)
{
	static const struct lookup lookups[] = {
		{ "io.x.Hot", 0 }, { "io.x.Hot2", 1 }, { "io.x.Ho", 1 },  { "io.x.", 1 },
		{ "io.x", -1 },	   { "io/x/A", 1 },    { "io/x/Hot", 0 }, { "jp", 2 },
		{ "jpa", -1 },	   { "j", -1 },	       { "", -1 },	  { "IO.x.A", -1 },
	};

	trie_help_build("1 io.x.*\n0 io.x.Hot\n2 jp\n", &words);
	check(lookups, ARRAY_SIZE(lookups));
}

static void keeps_the_glob_passed_on_the_way(void)
{
	static const struct lookup lookups[] = {
		{ "a", 1 },	   { "ab", 2 },	     { "abc", 3 },	 { "abcd", 4 },
		{ "abcde", 1 },	   { "abcx", 1 },    { "abx", 1 },	 { "ax", 1 },
		{ "abcdefgh", 5 }, { "abcdefg", 1 }, { "abcdefghi", 1 },
	};

	trie_help_build("1 a*\n2 ab\n3 abc\n4 abcd\n5 abcdefgh\n", &words);
	check(lookups, ARRAY_SIZE(lookups));
}

static void an_empty_trie_matches_nothing(void)
{
	static const struct lookup lookups[] = { { "", -1 }, { "a", -1 }, { "\\u0000", -1 } };

	trie_help_build("# nothing\n", &words);
	ASSERT_INT(words.count, 1);
	ASSERT_INT(words.units[0], 0);
	check(lookups, ARRAY_SIZE(lookups));
}

static void matches_any_unit(void)
{
	static const uint16_t keys[][3] = {
		{ 0, 1, 0 },
		{ 0x7f, 0x80, 0x7ff },
		{ 0x800, 0xffff, 0xd7ff },
		{ 0xd800, 0x41, 0xdc00 },
		{ 0xdc00, 0xd800, 0xffff },
		{ 0xd835, 0xdd18, 0 },
	};
	struct trie_rules rules = { 0 };
	static const struct lookup lookups[] = {
		{ "\\u0000\\u0001\\u0000", 0 },
		{ "\\u007f\\u0080\\u07ff", 1 },
		{ "\\u0800\\uffff\\ud7ff", 2 },
		{ "\\ud800A\\udc00", 3 },
		{ "\\udc00\\ud800\\uffff", 4 },
		{ "\\ud835\\udd18\\u0000", 5 },
		{ "\\u0000\\u0001", -1 },
		{ "\\u0000\\u0001\\u0000\\u0000", -1 },
		{ "\\uffff", -1 },
		{ "\\ud835\\udd18", -1 },
	};

	for (uint32_t i = 0; i < ARRAY_SIZE(keys); i++)
		ASSERT_INT(trie_rules_add(&rules, keys[i], 3, i, 0), 0);
	ASSERT_INT(trie_rules_sort(&rules, NULL, NULL), 0);
	ASSERT_INT(trie_build(&rules, &words), 0);
	trie_rules_free(&rules);
	check(lookups, ARRAY_SIZE(lookups));
}

static void begins_where_it_is_told(void)
{
	trie_help_build("1 $$Lambda*\n2 $Proxy*\n3 \xe4\xb8\xad$\n", &words);
	ASSERT_INT(trie_help_find(&words, "a.B$$Lambda$1", 3), 1);
	ASSERT_INT(trie_help_find(&words, "a.B$$Lambda$1", 4), -1);
	ASSERT_INT(trie_help_find(&words, "\\u8a9e$Proxy7", 1), 2);
	ASSERT_INT(trie_help_find(&words, "\\u8a9e\\u4e2d$", 1), 3);
	ASSERT_INT(trie_help_find(&words, "$Proxy", 6), -1);
	ASSERT_INT(trie_help_find(&words, "$Proxy", 600), -1);
	ASSERT_INT(trie_help_find(&words, "", 0), -1);
}

static void a_cut_name_matches_globs_only(void)
{
	static const struct {
		const char *have;
		size_t len;
		int number;
	} cases[] = {
		{ "a.Exact", 7, 1 },
		{ "a.Exact", 8, 9 },
		{ "a.Exac", 7, 9 },
		{ "a.G", 3, 2 },
		{ "a.G", 100, 2 },
		{ "a.Gx", 100, 2 },
		{ "a.", 3, 9 },
		{ "a", 3, -1 },
		{ "b.\xe4\xb8\xad", 5, 3 },
		{ "b.\xe4\xb8", 5, -1 },
		{ "b.\xe4", 5, -1 },
		{ "b.", 5, -1 },
		{ "long.segment.X", 14, 4 },
		{ "long.segm", 14, -1 },
		{ "long.segment.X", 15, -1 },
	};
	struct trie trie;

	trie_help_build("9 a.*\n1 a.Exact\n2 a.G*\n3 b.\xe4\xb8\xad\n4 long.segment.X\n", &words);
	trie = trie_of(&words);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ASSERT_INT(trie_help_steps(&trie, cases[i].have, strlen(cases[i].have),
					   cases[i].len, 0),
			   cases[i].number);
}

/* Segments of every length at every distance from the end, each byte of them wrong in turn. */
static void segments_are_compared_whole(void)
{
	char rules[256], name[128];
	struct trie trie;

	for (size_t len = 1; len <= 70; len++) {
		size_t rule = (size_t)snprintf(rules, sizeof(rules), "1 a*\n2 a");

		for (size_t i = 0; i < len; i++)
			rules[rule + i] = name[1 + i] = i % 5 == 2 ? '.' : (char)('b' + i % 20);
		strcpy(rules + rule + len, "*\n");
		trie_help_build(rules, &words);
		trie = trie_of(&words);
		name[0] = 'a';
		for (size_t rest = 0; rest <= 40; rest++) {
			uint8_t *copy = malloc(1 + len + rest);

			memset(name + 1 + len, 'x', rest);
			memcpy(copy, name, 1 + len + rest);
			ASSERT_INT(trie_find(&trie, copy, 1 + len + rest, 0), 2);
			for (size_t at = 1; at <= len; at++) {
				copy[at] = (uint8_t)(name[at] == '.' ? '/' : name[at] ^ 0x80);
				ASSERT_INT(trie_find(&trie, copy, 1 + len + rest, 0),
					   name[at] == '.' ? 2 : 1);
				copy[at] = (uint8_t)name[at] + 1;
				if (name[at] != '.')
					ASSERT_INT(trie_find(&trie, copy, 1 + len + rest, 0), 1);
				copy[at] = (uint8_t)name[at];
			}
			free(copy);
		}
		teardown();
	}
}

/* Keys and names with units that a byte could be mistaken for. */
static void bytes_are_not_units(void)
{
	static const uint16_t key[] = { 'a', 'b', 0xe4, 0, 0xff, 'c', '*' };
	static const uint8_t wrong[] = "ab\xe4\0\xff"
				       "cdefghijklmnopqrstuvwxyz";
	static const uint8_t right[] = "ab\xc3\xa4\xc0\x80\xc3\xbf"
				       "cdefghijklmnopqrstuvwxyz";
	static const uint8_t nul[] = "ab\xc3\xa4\0\xc3\xbf"
				     "cdefghijklmnopqrstuvwxyz";
	struct trie_rules rules = { 0 };
	struct trie trie;

	ASSERT_INT(trie_rules_add(&rules, key, ARRAY_SIZE(key), 1, 0), 0);
	ASSERT_INT(trie_build(&rules, &words), 0);
	trie_rules_free(&rules);
	trie = trie_of(&words);
	ASSERT_INT(trie_find(&trie, wrong, sizeof(wrong) - 1, 0), -1);
	ASSERT_INT(trie_find(&trie, right, sizeof(right) - 1, 0), 1);
	ASSERT_INT(trie_find(&trie, nul, sizeof(nul) - 1, 0), -1);
}

/* What is no modified UTF-8 ends the name, and no exact rule ends there. */
static void malformed_bytes_match_nothing(void)
{
	static const char *const bad[] = {
		"a.\x80",
		"a.\xc3",
		"a.\xc3\x28",
		"a.\xe4\xb8",
		"a.\xe4\xb8\x28",
		"a.\xe4\x28\xad",
		"a.\xf0\x9f\x98\x80",
		"a.\xff",
		/* One byte would do, or two. */
		"a.\xc1\xa1",
		"a.\xe0\x81\xa1",
		"a.\xe0\x83\xa4",
	};
	struct trie trie;

	trie_help_build(
		"1 a.*\n2 a.\xc3\xa4*\n3 a.\xe4\xb8\xad*\n4 a.\xf0\x9f\x98\x80*\n6 a.a*\n5 a.\xc3\xbf*\n",
		&words);
	trie = trie_of(&words);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		size_t len = strlen(bad[i]);

		ASSERT_INT(trie_find(&trie, bad[i], len, 0), 1);
		ASSERT_INT(trie_help_steps(&trie, bad[i], len, len, 0), 1);
		ASSERT_INT(trie_find(&trie, bad[i] + 2, len - 2, 0), -1);
	}
	ASSERT_INT(trie_find(&trie, "a\0", 2, 0), -1);
	ASSERT_INT(trie_find(&trie, "a.\0", 3, 0), 1);
	ASSERT_INT(trie_help_steps(&trie, "a.\0", 3, 3, 0), 1);
}

static void says_what_matched(void)
{
	static const struct {
		const char *name;
		struct trie_match match;
	} cases[] = {
		{ "io/x/Hot2", { 1, 5, true } }, { "io/x/Hot", { 0, 8, false } },
		{ "jp", { 2, 2, false } },	 { "\xe4\xb8\xad.A", { 3, 4, true } },
		{ "none", { -1, 0, false } },
	};
	struct trie trie;

	trie_help_build("1 io.x.*\n0 io.x.Hot\n2 jp\n3 \xe4\xb8\xad.*\n", &words);
	trie = trie_of(&words);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct trie_match match =
			trie_match(&trie, cases[i].name, strlen(cases[i].name), 0);

		ASSERT_INT(match.number, cases[i].match.number);
		ASSERT_INT(match.matched, cases[i].match.matched);
		ASSERT_INT(match.glob, cases[i].match.glob);
	}
}

/* Reads stay inside the words and it ends, whatever they are. The copy is of just this size. */
static void random_words_are_harmless(void)
{
	uint64_t seed = 7;

	for (int round = 0; round < 20000; round++) {
		uint32_t count = naive_random(&seed, 40), longs = naive_random(&seed, 3);
		uint16_t *units = calloc(count + 2 * longs, 2);
		struct trie trie = { units, count, longs };
		uint8_t name[64];

		for (uint32_t i = 0; i < count + 2 * longs; i++)
			units[i] = (uint16_t)(naive_random(&seed, 3) ? naive_random(&seed, 8)
								     : naive_random(&seed, 65536));
		for (size_t i = 0; i < sizeof(name); i++)
			name[i] = (uint8_t)naive_random(&seed, naive_random(&seed, 4) ? 8 : 256);
		trie_help_steps(&trie, name, naive_random(&seed, 65), 64, naive_random(&seed, 4));
		free(units);
	}
}

/* The longest name the JVM allows. */
static void very_long_names_end(void)
{
	char *name = malloc(65536);

	CU_ASSERT_PTR_NOT_NULL_FATAL(name);
	memset(name, 'a', 65535);
	name[65535] = '\0';
	trie_help_build("1 a\n2 aaaa*\n3 aaaab*\n", &words);
	ASSERT_INT(trie_help_find(&words, name, 0), 2);
	ASSERT_INT(trie_help_find(&words, name, 65534), 1);
	free(name);
}

static CU_TestInfo tests[] = {
	{ "finds the longest rule", finds_the_longest_rule },
	{ "keeps the glob passed on the way", keeps_the_glob_passed_on_the_way },
	{ "an empty trie matches nothing", an_empty_trie_matches_nothing },
	{ "matches any unit", matches_any_unit },
	{ "begins where it is told", begins_where_it_is_told },
	{ "a cut name matches globs only", a_cut_name_matches_globs_only },
	{ "segments are compared whole", segments_are_compared_whole },
	{ "bytes are not units", bytes_are_not_units },
	{ "malformed bytes match nothing", malformed_bytes_match_nothing },
	{ "says what matched", says_what_matched },
	{ "random words are harmless", random_words_are_harmless },
	{ "very long names end", very_long_names_end },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo trie_search_suite = {
	.pName = "trie_search",
	.pTearDownFunc = teardown,
	.pTests = tests,
};
