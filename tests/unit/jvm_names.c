/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "jvm/names.h"
#include "unit/unit.h"

static struct names names;

static void setup(void)
{
	names = (struct names){ 0 };
}

static void teardown(void)
{
	names_free(&names);
}

static void keeps_each_string_once(void)
{
	const char *first = names_keep(&names, "java/lang/String", 16);

	CU_ASSERT_STRING_EQUAL(first, "java/lang/String");
	CU_ASSERT_PTR_EQUAL(names_keep(&names, "java/lang/String", 16), first);
	CU_ASSERT_STRING_EQUAL(names_keep(&names, "java/lang/String", 9), "java/lang");
	CU_ASSERT_STRING_EQUAL(names_keep(&names, "a\0b", 3), "a");
	CU_ASSERT_STRING_EQUAL(names_keep(&names, "", 0), "");
}

/* What was handed out does not move when much more is added. */
static void never_moves(void)
{
	const char *first = names_keep(&names, "first", 5);
	char *large = calloc(1, 200000);
	char text[32];

	CU_ASSERT_PTR_NOT_NULL_FATAL(large);
	memset(large, 'x', 199999);
	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "string number %d", i);
		CU_ASSERT_PTR_NOT_NULL_FATAL(names_keep(&names, text, strlen(text)));
	}
	CU_ASSERT_STRING_EQUAL(names_keep(&names, large, 199999), large);
	CU_ASSERT_STRING_EQUAL(first, "first");
	CU_ASSERT_PTR_EQUAL(names_keep(&names, "first", 5), first);
	CU_ASSERT(names_memory(&names) > 20000 * 16);
	free(large);
}

static void gives_zeroed_memory(void)
{
	uint64_t *one = names_alloc(&names, 24);
	uint64_t *two = names_alloc(&names, 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(one);
	CU_ASSERT_PTR_NOT_NULL_FATAL(two);
	CU_ASSERT(one != two);
	CU_ASSERT(!one[0] && !one[1] && !one[2]);
	CU_ASSERT_PTR_NULL(names_alloc(&names, SIZE_MAX));
}

static CU_TestInfo tests[] = {
	{ "keeps each string once", keeps_each_string_once },
	{ "never moves", never_moves },
	{ "gives zeroed memory", gives_zeroed_memory },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_names_suite = {
	.pName = "jvm names",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
