/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/perfdata.h"

#include <errno.h>

#include "unit/perf_bytes.h"
#include "unit/unit.h"

static struct perf_bytes perf;
static struct perfdata table;

static void setup(void)
{
	perf_begin(&perf);
	table = (struct perfdata){ 0 };
}

static void teardown(void)
{
	perfdata_free(&table);
}

static int parse(void)
{
	return perfdata_parse(&perf, sizeof(perf), &table);
}

static void entries_have_names_and_values(void)
{
	char text[16];
	int64_t value;

	perf_number(&perf, "java.threads.live", 17);
	perf_text(&perf, "sun.gc.cause", "No GC", 81);
	perf_text(&perf, "full", "12345678", 8);
	ASSERT_INT(parse(), 0);
	ASSERT_INT(table.count, 3);
	CU_ASSERT_TRUE(perfdata_number(&table, perfdata_find(&table, "java.threads.live"), &value));
	ASSERT_INT(value, 17);
	CU_ASSERT_FALSE(perfdata_number(&table, perfdata_find(&table, "sun.gc.cause"), &value));
	CU_ASSERT_TRUE(
		perfdata_text(&table, perfdata_find(&table, "sun.gc.cause"), text, sizeof(text)));
	CU_ASSERT_STRING_EQUAL(text, "No GC");
	/* A text may fill its place, without a NUL; and may be longer than ours. */
	CU_ASSERT_TRUE(perfdata_text(&table, perfdata_find(&table, "full"), text, sizeof(text)));
	CU_ASSERT_STRING_EQUAL(text, "12345678");
	CU_ASSERT_TRUE(perfdata_text(&table, perfdata_find(&table, "full"), text, 4));
	CU_ASSERT_STRING_EQUAL(text, "123");
}

static void what_is_not_there_is_no_number_and_no_text(void)
{
	char text[8] = "old";
	int64_t value = 7;

	perf_number(&perf, "java.threads.live", 17);
	ASSERT_INT(parse(), 0);
	CU_ASSERT_PTR_NULL(perfdata_find(&table, "java.threads"));
	CU_ASSERT_PTR_NULL(perfdata_find(&table, "java.threads.live.peak"));
	CU_ASSERT_FALSE(perfdata_number(&table, NULL, &value));
	ASSERT_INT(value, 7);
	CU_ASSERT_FALSE(perfdata_text(&table, NULL, text, sizeof(text)));
	CU_ASSERT_STRING_EQUAL(text, "");
}

static void a_prologue_that_is_none_is_said(void)
{
	static const struct {
		uint32_t at;
		uint8_t byte;
	} cases[] = {
		{ 0, 0 }, /* magic */
		{ 4, 0 }, /* big endian */
		{ 5, 1 }, /* another format */
		{ 7, 0 }, /* still being made */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		perf_begin(&perf);
		perf_number(&perf, "java.threads.live", 17);
		ASSERT_INT(perfdata_used(&perf), perf.used);
		((uint8_t *)&perf)[cases[i].at] = cases[i].byte;
		ASSERT_INT(parse(), -ENOENT);
		ASSERT_INT(perfdata_used(&perf), 0);
	}
	perf_begin(&perf);
	ASSERT_INT(perfdata_parse(&perf, PERFDATA_MIN - 1, &table), -ENOENT);
	ASSERT_INT(perfdata_parse(&perf, PERFDATA_MIN, &table), 0);
	ASSERT_INT(table.count, 0);
}

/* A damaged entry is left out; a damaged length ends the list. */
static void damaged_entries_are_left_out(void)
{
	static const struct {
		uint32_t at; /* in the first entry */
		uint32_t value;
		uint32_t left; /* entries that are found */
	} cases[] = {
		{ 0, 0, 0 },	      { 0, 19, 0 },    { 0, 1u << 30, 0 },
		{ 0, UINT32_MAX, 0 }, { 4, 1020, 1 },  { 4, UINT32_MAX, 1 },
		{ 4, 0, 1 },	      { 16, 1020, 1 }, { 16, UINT32_MAX, 1 },
		{ 16, 0, 1 },	      { 8, 1, 1 },     { 8, UINT32_MAX, 1 },
		{ 12, 'B', 1 },	      { 12, 'X', 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t *entry;

		perf_begin(&perf);
		entry = perf_number(&perf, "java.threads.live", 17);
		perf_number(&perf, "sun.rt.safepoints", 5);
		memcpy(entry + cases[i].at, &cases[i].value, 4);
		perf.count = UINT32_MAX;
		ASSERT_INT(parse(), 0);
		ASSERT_INT(table.count, cases[i].left);
		CU_ASSERT_PTR_NULL(perfdata_find(&table, "java.threads.live"));
	}
}

static void a_name_needs_its_end(void)
{
	uint8_t *entry = perf_number(&perf, "java.threads.live", -1);

	memset(entry + 20, 'x', perf.used - 32 - 20);
	ASSERT_INT(parse(), 0);
	ASSERT_INT(table.count, 0);
}

static void the_list_may_begin_anywhere(void)
{
	perf_number(&perf, "java.threads.live", 17);
	perf.first = UINT32_MAX;
	ASSERT_INT(parse(), 0);
	ASSERT_INT(table.count, 0);
	perf.first = sizeof(perf) - 2;
	ASSERT_INT(parse(), 0);
	ASSERT_INT(table.count, 0);
}

/* The bytes are read again each second, and found only once. */
static void bytes_that_change_stay_inside(void)
{
	char text[8];

	perf_text(&perf, "ab", "12345678", 8);
	ASSERT_INT(parse(), 0);
	memset(perf.entries, 'x', sizeof(perf.entries));
	CU_ASSERT_PTR_NULL(perfdata_find(&table, "ab"));
	CU_ASSERT_TRUE(perfdata_text(&table, &table.entries[0], text, sizeof(text)));
	CU_ASSERT_STRING_EQUAL(text, "xxxxxxx");
}

static CU_TestInfo tests[] = {
	{ "entries have names and values", entries_have_names_and_values },
	{ "what is not there is no number and no text",
	  what_is_not_there_is_no_number_and_no_text },
	{ "a prologue that is none is said", a_prologue_that_is_none_is_said },
	{ "damaged entries are left out", damaged_entries_are_left_out },
	{ "a name needs its end", a_name_needs_its_end },
	{ "the list may begin anywhere", the_list_may_begin_anywhere },
	{ "bytes that change stay inside", bytes_that_change_stay_inside },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_perfdata_suite = {
	.pName = "jvm_perfdata",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
