/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "unit/unit.h"

static struct intern table;

static void setup(void)
{
	table = (struct intern){ 0 };
}

static void teardown(void)
{
	intern_free(&table);
}

static void equal_bytes_have_one_id(void)
{
	ASSERT_INT(intern_add(&table, "abc", 3), 1);
	ASSERT_INT(intern_add(&table, "abcd", 4), 2);
	ASSERT_INT(intern_add(&table, "abc", 3), 1);
	ASSERT_INT(intern_add(&table, "abcd", 3), 1);
	ASSERT_INT(table.count, 2);
}

static void the_empty_string_is_an_entry(void)
{
	size_t len = 9;

	ASSERT_INT(intern_find(&table, "", 0), 0);
	ASSERT_INT(intern_add(&table, NULL, 0), 1);
	ASSERT_INT(intern_find(&table, "", 0), 1);
	CU_ASSERT_STRING_EQUAL(intern_get(&table, 1, &len), "");
	ASSERT_INT(len, 0);
}

static void nul_bytes_belong_to_the_string(void)
{
	size_t len;

	ASSERT_INT(intern_add(&table, "a\0b", 3), 1);
	ASSERT_INT(intern_add(&table, "a\0c", 3), 2);
	ASSERT_INT(intern_add(&table, "a", 1), 3);
	ASSERT_INT(memcmp(intern_get(&table, 2, &len), "a\0c", 4), 0);
	ASSERT_INT(len, 3);
}

static void unknown_ids_are_empty(void)
{
	size_t len = 9;

	CU_ASSERT_STRING_EQUAL(intern_get(&table, 0, &len), "");
	ASSERT_INT(len, 0);
	CU_ASSERT_STRING_EQUAL(intern_get(&table, 1, NULL), "");
	CU_ASSERT_STRING_EQUAL(intern_get(&table, UINT32_MAX, NULL), "");
}

static void many_strings_come_back(void)
{
	char text[32];

	for (uint32_t i = 1; i <= 50000; i++) {
		int len = snprintf(text, sizeof(text), "name %u", i);

		ASSERT_INT(intern_add(&table, text, (size_t)len), i);
	}
	for (uint32_t i = 1; i <= 50000; i++) {
		int len = snprintf(text, sizeof(text), "name %u", i);

		ASSERT_INT(intern_find(&table, text, (size_t)len), i);
		CU_ASSERT_STRING_EQUAL_FATAL(intern_get(&table, i, NULL), text);
	}
}

/* Two strings with one 64-bit hash are hard to find, so the chain is made by hand. */
static void strings_with_the_same_hash_stay_apart(void)
{
	uint32_t first = intern_add(&table, "first", 5);

	ASSERT_INT(map64_set(&table.by_hash, map64_hash("second", 6), first), 0);
	ASSERT_INT(intern_find(&table, "second", 6), 0);
	ASSERT_INT(intern_add(&table, "second", 6), 2);
	ASSERT_INT(map64_set(&table.by_hash, map64_hash("first", 5), 2), 0);

	ASSERT_INT(intern_add(&table, "first", 5), first);
	ASSERT_INT(intern_add(&table, "second", 6), 2);
	ASSERT_INT(table.count, 2);
}

static CU_TestInfo tests[] = {
	{ "equal bytes have one id", equal_bytes_have_one_id },
	{ "the empty string is an entry", the_empty_string_is_an_entry },
	{ "NUL bytes belong to the string", nul_bytes_belong_to_the_string },
	{ "unknown ids are empty", unknown_ids_are_empty },
	{ "many strings come back", many_strings_come_back },
	{ "strings with the same hash stay apart", strings_with_the_same_hash_stay_apart },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo base_intern_suite = {
	.pName = "intern",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
