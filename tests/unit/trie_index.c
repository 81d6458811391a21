/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_index.h"

#include <errno.h>

#include "trie_help.h"

static struct trie_words words;
static struct trie_index made;

static void teardown(void)
{
	trie_index_free(&made);
	trie_words_free(&words);
}

static void build(const char *text)
{
	struct trie trie;

	trie_help_build(text, &words);
	trie = trie_of(&words);
	ASSERT_INT(trie_index_build(&trie, &made), 0);
}

/* In a buffer of just this size: eight bytes are read at a time. */
static int find(const char *name, size_t len, size_t from)
{
	char *copy = malloc(len + 1);
	struct trie trie = trie_of(&words);
	int number;

	memcpy(copy + 1, name, len);
	number = trie_index_find(&made, copy + 1, len, from);
	ASSERT_INT(trie_find(&trie, copy + 1, len, from), number);
	free(copy);
	return number;
}

static void finds_what_the_trie_finds(void)
{
	static const struct {
		const char *name;
		int number;
	} cases[] = {
		{ "", -1 },
		{ "java", -1 },
		{ "java.", 1 },
		{ "java.lang.String", 1 },
		{ "java/lang/String", 1 },
		{ "java.util/concurrent.Executors", 0 },
		{ "java.util.concurrent", 1 },
		{ "javax.swing.JFrame", 2 },
		{ "javax-swing-JFrame", -1 },
		{ "com.example.exact.Name", 3 },
		{ "com.example.exact.Names", -1 },
		{ "com.example.exact.Name$1", -1 },
		{ "com.example.prefix", 4 },
		{ "com.example.prefix.and.more.of.it", 4 },
		{ "x", 5 },
		{ "x.y.z.and.so.on", -1 },
		{ "yes.or.no.or.perhaps", 6 },
		{ "/dots.at.the.start", 7 },
		{ "another.one.altogether", -1 },
	};

	build("1 java.*\n0 java.util.concurrent.*\n2 javax.*\n3 com.example.exact.Name\n"
	      "4 com.example.prefix*\n5 x\n6 y*\n7 .dot*\n");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ASSERT_INT(find(cases[i].name, strlen(cases[i].name), 0), cases[i].number);
	ASSERT_INT(find("-java.lang.String", 17, 1), 1);
	ASSERT_INT(find("-java.lang.String", 17, 2), -1);
	ASSERT_INT(find("-java.lang.String", 17, 17), -1);
	ASSERT_INT(find("-java.lang.String", 17, 99), -1);
}

/* '.' and '/' are one letter, and only these: the neighbours of others are not. */
static void letters_that_differ_in_one_bit_are_different(void)
{
	build("1 ab.cdefgh*\n2 abrcdefgh*\n3 abscdefgh*\n4 ab-cdefgh*\n5 ab.cdefgi*\n");
	ASSERT_INT(find("ab.cdefgh.and.on", 16, 0), 1);
	ASSERT_INT(find("ab/cdefgh.and.on", 16, 0), 1);
	ASSERT_INT(find("ab.cdefgi.and.on", 16, 0), 5);
	ASSERT_INT(find("abrcdefgh.and.on", 16, 0), 2);
	ASSERT_INT(find("abscdefgh.and.on", 16, 0), 3);
	ASSERT_INT(find("ab-cdefgh.and.on", 16, 0), 4);
	ASSERT_INT(find("ab,cdefgh.and.on", 16, 0), -1);
	ASSERT_INT(find("abtcdefgh.and.on", 16, 0), -1);
}

static void bytes_that_are_no_name_are_no_rule(void)
{
	build("1 a*\n2 a\xc3\xa4*\n3 a\xe4\xb8\xad.x*\n");
	ASSERT_INT(find("a\xc3\xa4-and-so-on-and-on", 18, 0), 2);
	ASSERT_INT(find("a\xe4\xb8\xad/x-and-so-on", 16, 0), 3);
	ASSERT_INT(find("a\xe4\xb8\xad/y-and-so-on", 16, 0), 1);
	ASSERT_INT(find("a\xc3-and-so-on-and-on", 17, 0), 1);
	ASSERT_INT(find("a\xc1\xa1-and-so-on-and-on", 18, 0), 1);
	ASSERT_INT(find("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 0), -1);
	ASSERT_INT(find("a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 0), 1);
}

static void the_empty_trie_has_an_index(void)
{
	build("");
	ASSERT_INT(find("java.lang.String", 16, 0), -1);
	ASSERT_INT(find("", 0, 0), -1);
}

static void refuses_what_is_too_wide(void)
{
	struct trie_rules rules = { 0 };
	struct trie trie;
	uint16_t name[2] = { 'a' };

	for (uint32_t i = 0; i < 1025; i++) {
		name[1] = (uint16_t)(0x4e00 + i);
		ASSERT_INT(trie_rules_add(&rules, name, 2, 1, 0), 0);
	}
	ASSERT_INT(trie_rules_sort(&rules, NULL, NULL), 0);
	ASSERT_INT(trie_build(&rules, &words), 0);
	trie_rules_free(&rules);
	trie = trie_of(&words);
	ASSERT_INT(trie_index_build(&trie, &made), -E2BIG);
	CU_ASSERT_PTR_NULL(made.slots);
}

static CU_TestInfo tests[] = {
	{ "finds what the trie finds", finds_what_the_trie_finds },
	{ "letters that differ in one bit are different",
	  letters_that_differ_in_one_bit_are_different },
	{ "bytes that are no name are no rule", bytes_that_are_no_name_are_no_rule },
	{ "the empty trie has an index", the_empty_trie_has_an_index },
	{ "refuses what is too wide", refuses_what_is_too_wide },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo trie_index_suite = {
	.pName = "trie_index",
	.pTearDownFunc = teardown,
	.pTests = tests,
};
