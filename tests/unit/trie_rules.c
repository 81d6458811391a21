/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_rules.h"

#include <errno.h>

#include "trie_help.h"
#include "trie_naive.h"

static struct trie_words words;
static char messages[8192];

static void setup(void)
{
	messages[0] = '\0';
}

static void teardown(void)
{
	trie_words_free(&words);
}

/* "error 3:5 text" each, with a line end. */
static void collect(const struct trie_message *message, void *ctx)
{
	size_t len = strlen(messages);

	(void)ctx;
	snprintf(messages + len, sizeof(messages) - len, "%s %u:%u %s\n",
		 message->error ? "error" : "warning", message->line, message->column,
		 message->text);
}

static int parse(const char *text, size_t size)
{
	return trie_from_text(text, size, &words, collect, NULL);
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

static void check_messages(const char *expected)
{
	if (strcmp(messages, expected))
		fprintf(stderr, "said:\n%sexpected:\n%s", messages, expected);
	CU_ASSERT_STRING_EQUAL_FATAL(messages, expected);
}

/* What a line is, and each way to misread one. */
static void reads_every_oddity(void)
{
	static const char text[] =
		"# comment\n   # indented\n\n   \nno.number\n7 seven.*\n\t8\teight\n"
		"9   nine.trailing and the rest\n10 ten.hash#glued\n11\tslash/in/*\n0012 leading.zeros\n"
		"13 mid*star\n14 double.**\n1. com.typo.*\n42\n43 # only a number\n44 45 twice\n"
		"-3 negative\n+4 plus\n8191 max\n0 zero.*\n"
		"\xc2\xa0nbsp.start\n25\xc2\xa0nbsp.sep\n26 \xc2\xa0nbsp.name\n28\vvt\n29\fff\n"
		"00000000000000000000030 many.zeros\n31 [Larray;\n32 $start\n33 UPPER.*\n34#x\n35";
	static const struct lookup lookups[] = {
		{ "no.number", 1 },
		{ "seven.x", 7 },
		{ "eight", 8 },
		{ "nine.trailing", 9 },
		{ "and", -1 },
		{ "ten.hash", 10 },
		{ "slash.in.x", 11 },
		{ "leading.zeros", 12 },
		{ "mid*star", 13 },
		{ "midxstar", -1 },
		{ "double.*x", 14 },
		{ "double.x", -1 },
		{ "1.", 1 },
		{ "com.typo.X", -1 },
		{ "42", 1 },
		{ "43", 1 },
		{ "45", 44 },
		{ "twice", -1 },
		{ "-3", 1 },
		{ "negative", -1 },
		{ "+4", 1 },
		{ "max", 8191 },
		{ "zero.x", 0 },
		{ "\\u00a0nbsp.start", 1 },
		{ "25\\u00a0nbsp.sep", 1 },
		{ "\\u00a0nbsp.name", 26 },
		{ "vt", 28 },
		{ "ff", 29 },
		{ "many.zeros", 30 },
		{ "[Larray;", 31 },
		{ "$start", 32 },
		{ "upper.x", -1 },
		{ "34", 1 },
		{ "35", 1 },
		{ "#", -1 },
		{ "", -1 },
	};

	ASSERT_INT(parse(text, strlen(text)), 0);
	check(lookups, ARRAY_SIZE(lookups));
}

static void warns_of_likely_mistakes(void)
{
	static const struct {
		const char *text;
		const char *said;
	} cases[] = {
		{ "1 a # remark\na#remark\n\n#\n", "" },
		{ "1. com.x.*\n", "warning 1:1 '1.' is taken as the name, not as a number\n"
				  "warning 1:4 'com.x.*' behind the name is ignored\n" },
		{ "a\n  42 # x\n", "warning 2:3 '42' is taken as the name, not as a number\n" },
		{ "1 a b c # d\n", "warning 1:5 'b' behind the name is ignored\n" },
		{ "1 \xe4\xb8\xad\xe4\xb8\xad b\n",
		  "warning 1:6 'b' behind the name is ignored\n" },
		{ "\xef\xbb\xbf"
		  "1 a.b\n",
		  "warning 1:1 the name begins with a byte order mark and "
		  "matches no class\nwarning 1:4 'a.b' behind the name is "
		  "ignored\n" },
		{ "1 a\x01z\n", "warning 1:3 control character in the name\n" },
		{ "1 a\n2 b\n2 a\n",
		  "warning 3:1 line 1 gave this name the number 1: now it is 2\n" },
		{ "1 a\n1 a*\n1 a\n", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		setup();
		ASSERT_INT(parse(cases[i].text, strlen(cases[i].text)), 0);
		check_messages(cases[i].said);
		teardown();
	}
}

static void refuses_with_line_and_column(void)
{
	static const struct {
		const char *text;
		const char *said;
	} cases[] = {
		{ "ok\n  8192 a\n", "error 2:3 the number is larger than 8191\n" },
		{ "99999999999999999999 a\n", "error 1:1 the number is larger than 8191\n" },
		{ "1 *a\n2 *\n", "error 1:3 a rule cannot begin with '*'\n"
				 "error 2:3 a rule cannot begin with '*'\n" },
		{ "1 a\xff\n", "error 1:4 this is not UTF-8\n" },
		{ "1 a # \xc0\xaf\n", "error 1:7 this is not UTF-8\n" },
		{ "# \xed\xa0\x80\n", "error 1:3 this is not UTF-8\n" },
		{ "\xf4\x90\x80\x80\n", "error 1:1 this is not UTF-8\n" },
		{ "a \xe4\xb8", "error 1:3 this is not UTF-8\n" },
		{ "a\r\nb\r9000 c\n9001 d", "error 3:1 the number is larger than 8191\n"
					    "error 4:1 the number is larger than 8191\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		setup();
		ASSERT_INT(parse(cases[i].text, strlen(cases[i].text)), -EINVAL);
		CU_ASSERT_PTR_NULL(words.units);
		check_messages(cases[i].said);
	}
}

static void a_name_has_a_longest_length(void)
{
	char *text = malloc(8200);

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	memset(text, 'x', 8200);
	ASSERT_INT(parse(text, 8191), 0);
	teardown();
	ASSERT_INT(parse(text, 8192), -EINVAL);
	check_messages("error 1:1 the name is longer than 8191 characters\n");
	text[8190] = '*';
	text[8191] = '\n';
	ASSERT_INT(parse(text, 8191), 0);
	free(text);
}

/* Line ends of every kind, none at the end, and a NUL, which is a unit like others. */
static void reads_files_of_other_systems(void)
{
	static const char text[] = "1 a\r\n2 b.*\r\r\n3 c\n\n4 d\0e\n5 f";
	static const struct lookup lookups[] = {
		{ "a", 1 }, { "b.x", 2 }, { "c", 3 }, { "d\\u0000e", 4 }, { "d", -1 }, { "f", 5 },
	};

	ASSERT_INT(parse(text, sizeof(text) - 1), 0);
	check(lookups, ARRAY_SIZE(lookups));
	check_messages("warning 6:3 control character in the name\n");
}

/* Random bytes from those that mean something: no crash, and what is built is a trie. */
static void random_text_is_harmless(void)
{
	static const char alphabet[] = "ab.*#0189 \t\r\n\n/$\xc3\xa4\xed\xf0\x80";
	struct trie_visitor nothing = { 0 };
	struct trie_walk_end end;
	struct trie trie;
	uint64_t seed = 11;
	int built = 0;

	for (int round = 0; round < 20000; round++) {
		size_t size = naive_random(&seed, 60);
		char *text = malloc(size + 1); /* of just this size, but never NULL */

		for (size_t i = 0; i < size; i++)
			text[i + 1] = alphabet[naive_random(&seed, 18 + (round & 4))];
		if (!trie_from_text(text + 1, size, &words, collect, NULL)) {
			trie = trie_of(&words);
			ASSERT_INT(trie_walk(&trie, &nothing, &end), 0);
			trie_words_free(&words);
			built++;
		}
		free(text);
	}
	CU_ASSERT(built > 1000);
}

/* No limit but memory, and each is there. */
static void a_million_rules_are_built(void)
{
	size_t size;
	char *text, name[32];
	FILE *to = open_memstream(&text, &size);

	for (int i = 0; i < 1000000; i++)
		fprintf(to, "%d c%d.C%d%s\n", i % 8192, i % 1009, i, i % 2 ? "" : "*");
	fclose(to);
	ASSERT_INT(parse(text, size), 0);
	check_messages("");
	for (int i = 0; i < 1000000; i += 9973) {
		snprintf(name, sizeof(name), "c%d.C%d", i % 1009, i);
		ASSERT_INT(trie_help_find(&words, name, 0), i % 8192);
	}
	free(text);
}

/* Text, words, text: the second text is sorted, has numbers, and builds the same words. */
static void words_become_rules_again(void)
{
	static const char text[] =
		"b.*\n2 a\n0 a.c*\n8191 \xf0\x9d\x94\x98.\xe4\xb8\xad**\n44 45\n";
	static const char expected[] =
		"44 45\n2 a\n0 a.c*\n1 b.*\n8191 \xf0\x9d\x94\x98.\xe4\xb8\xad**\n";
	size_t unwritable = 1, size;
	struct trie_words again;
	struct trie trie;
	char *written;
	FILE *to = open_memstream(&written, &size);

	ASSERT_INT(parse(text, strlen(text)), 0);
	trie = trie_of(&words);
	ASSERT_INT(trie_rules_write(&trie, to, &unwritable), 0);
	fclose(to);
	ASSERT_INT(unwritable, 0);
	CU_ASSERT_STRING_EQUAL_FATAL(written, expected);
	trie_help_build(written, &again);
	ASSERT_INT(again.count, words.count);
	CU_ASSERT(!memcmp(again.units, words.units, words.count * 2));
	trie_words_free(&again);
	free(written);
}

static void keys_that_are_no_text_become_remarks(void)
{
	static const uint16_t keys[][3] = { { 'a', ' ', 'b' },	  { 'a', '#', 'b' },
					    { 'a', 0xd800, 'b' }, { 0xdc00, 'a', 'b' },
					    { 'a', 'b', 0xd800 }, { 'c', 'd', 'e' } };
	struct trie_rules rules = { 0 };
	size_t unwritable = 0, size;
	struct trie trie;
	char *written;
	FILE *to = open_memstream(&written, &size);

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		ASSERT_INT(trie_rules_add(&rules, keys[i], 3, 1, 0), 0);
	ASSERT_INT(trie_rules_sort(&rules, NULL, NULL), 0);
	ASSERT_INT(trie_build(&rules, &words), 0);
	trie = trie_of(&words);
	ASSERT_INT(trie_rules_write(&trie, to, &unwritable), 0);
	fclose(to);
	ASSERT_INT(unwritable, 5);
	CU_ASSERT_STRING_EQUAL(written, "# not a rule in text: 1 a\\u0020b\n"
					"# not a rule in text: 1 a#b\n"
					"# not a rule in text: 1 ab\\ud800\n"
					"# not a rule in text: 1 a\\ud800b\n"
					"1 cde\n"
					"# not a rule in text: 1 \\udc00ab\n");
	free(written);
	trie_rules_free(&rules);
}

static CU_TestInfo tests[] = {
	{ "reads every oddity", reads_every_oddity },
	{ "warns of likely mistakes", warns_of_likely_mistakes },
	{ "refuses with line and column", refuses_with_line_and_column },
	{ "a name has a longest length", a_name_has_a_longest_length },
	{ "reads files of other systems", reads_files_of_other_systems },
	{ "random text is harmless", random_text_is_harmless },
	{ "a million rules are built", a_million_rules_are_built },
	{ "words become rules again", words_become_rules_again },
	{ "keys that are no text become remarks", keys_that_are_no_text_become_remarks },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo trie_rules_suite = {
	.pName = "trie_rules",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
