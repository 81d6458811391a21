/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "jvm/debuginfo.h"
#include "unit/jvm_fake.h"
#include "unit/unit.h"

static void reads_unsigned5_of_both_biases(void)
{
	static const struct {
		unsigned int bias;
		uint8_t bytes[5];
		size_t size;
		uint32_t value;
	} cases[] = {
		{ 0, { 0 }, 1, 0 },
		{ 0, { 191 }, 1, 191 },
		{ 0, { 192, 0 }, 2, 192 },
		{ 0, { 255, 191 }, 2, 255 + (191 << 6) },
		{ 0, { 192, 192, 0 }, 3, 192 + (192 << 6) },
		{ 0, { 255, 252, 252, 252, 252 }, 5, 0xffffffff },
		{ 1, { 1 }, 1, 0 },
		{ 1, { 191 }, 1, 190 },
		{ 1, { 192, 1 }, 2, 191 },
		{ 1, { 193, 1 }, 2, 192 },
		{ 1, { 255, 2 }, 2, 254 + 64 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cursor c = cursor_of(cases[i].bytes, cases[i].size);

		ASSERT_INT(debuginfo_unsigned5(&c, cases[i].bias), cases[i].value);
		CU_ASSERT(!c.failed);
		ASSERT_INT(cursor_left(&c), 0);
	}
}

static void reads_back_what_was_written(void)
{
	uint8_t bytes[8];

	for (unsigned int bias = 0; bias < 2; bias++) {
		for (uint64_t value = 0; value <= UINT32_MAX; value = value * 3 + 1) {
			size_t size = fake_unsigned5(bytes, bias, (uint32_t)value);
			struct cursor c = cursor_of(bytes, size);

			ASSERT_INT(debuginfo_unsigned5(&c, bias), (uint32_t)value);
			ASSERT_INT(cursor_left(&c), 0);
		}
	}
}

static void refuses_cut_and_excluded_numbers(void)
{
	struct cursor cut = cursor_of("\xc0", 1);
	struct cursor zero = cursor_of("\0", 1);

	ASSERT_INT(debuginfo_unsigned5(&cut, 0), 0);
	CU_ASSERT(cut.failed);
	ASSERT_INT(debuginfo_unsigned5(&zero, 1), 0);
	CU_ASSERT(zero.failed);
}

/* bci 0 line 10, bci 4 line 12, bci 9 line 11 (backwards: long form), end. */
static const uint8_t lines_0[] = { 0xff, 0, 20, 4 << 3 | 2, 0xff, 10, 1, 0, 99 };
static const uint8_t lines_1[] = { 0xff, 1, 21, 4 << 3 | 2, 0xff, 11, 2, 0, 99 };

static void finds_lines(void)
{
	static const struct {
		int bci;
		int line;
	} cases[] = { { 0, 10 }, { 3, 10 }, { 4, 12 }, { 8, 12 }, { 9, 11 }, { 60000, 11 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_INT(debuginfo_line(lines_0, sizeof(lines_0), 0, cases[i].bci),
			   cases[i].line);
		ASSERT_INT(debuginfo_line(lines_1, sizeof(lines_1), 1, cases[i].bci),
			   cases[i].line);
	}
	ASSERT_INT(debuginfo_line(lines_0, sizeof(lines_0), 0, -1), -1);
}

static void measures_line_tables(void)
{
	ASSERT_INT(debuginfo_line_table_size(lines_0, sizeof(lines_0), 0), 8);
	ASSERT_INT(debuginfo_line_table_size(lines_0, 7, 0), 0);
	ASSERT_INT(debuginfo_line_table_size(lines_0, 0, 0), 0);
}

/* The best entry below a bci wins also when the table is not sorted. */
static void takes_the_nearest_entry_of_an_unsorted_table(void)
{
	/* bci 8 line 1, bci 2 line 5 (-6 zigzag 11, +4 zigzag 8), bci 5 line 6, end. */
	static const uint8_t table[] = { 8 << 3 | 1, 0xff, 11, 8, 3 << 3 | 1, 0 };

	ASSERT_INT(debuginfo_line(table, sizeof(table), 0, 4), 5);
	ASSERT_INT(debuginfo_line(table, sizeof(table), 0, 7), 6);
	ASSERT_INT(debuginfo_line(table, sizeof(table), 0, 100), 1);
	ASSERT_INT(debuginfo_line(table, sizeof(table), 0, 1), -1);
}

struct desc {
	int32_t pc_offset;
	uint32_t scope;
	uint32_t rest[2];
};

static const struct desc descs[] = {
	{ -1, 0, { 0 } }, { 16, 1, { 0 } }, { 20, 2, { 0 } }, { 90, 3, { 0 } }, { 1000, 0, { 0 } },
};

static uint32_t scope_at(uint32_t offset, bool leaf)
{
	uint32_t scope = 77;

	if (!debuginfo_find_pc((const uint8_t *)descs, ARRAY_SIZE(descs), offset, leaf, &scope))
		return 99;
	return scope;
}

static void finds_the_description_of_a_pc(void)
{
	static const struct {
		uint32_t offset;
		bool leaf;
		uint32_t scope;
	} cases[] = {
		{ 16, false, 1 },   /* a return address: exactly this one */
		{ 16, true, 2 },    /* a leaf at the same place: what comes after it */
		{ 15, true, 1 },    /* the next instruction's */
		{ 0, true, 1 },	    /* before the first */
		{ 20, false, 2 },   /* */
		{ 21, false, 3 },   /* a call of a leaf stub has none: the next */
		{ 90, true, 0 },    /* only the end mark follows */
		{ 2000, true, 99 }, /* behind the code */
		{ UINT32_MAX, true, 99 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ASSERT_INT(scope_at(cases[i].offset, cases[i].leaf), cases[i].scope);
	CU_ASSERT(!debuginfo_find_pc(NULL, 0, 1, true, &(uint32_t){ 0 }));
}

static void decodes_scopes(void)
{
	/* At 1: outermost, method 3, bci -1. At 4: called from 1, method 2, bci 199. */
	static const uint8_t scopes[] = { 0, 0, 3, 0, 1, 2, 200, 0 };
	struct scope scope;

	ASSERT_INT(debuginfo_scope(scopes, sizeof(scopes), 0, 1, &scope), 0);
	ASSERT_INT(scope.sender, 0);
	ASSERT_INT(scope.method, 3);
	ASSERT_INT(scope.bci, -1);
	ASSERT_INT(debuginfo_scope(scopes, sizeof(scopes), 0, 4, &scope), 0);
	ASSERT_INT(scope.sender, 1);
	ASSERT_INT(scope.method, 2);
	ASSERT_INT(scope.bci, 199);
}

static void refuses_scopes_that_make_no_sense(void)
{
	static const struct {
		uint8_t bytes[8];
		size_t size;
		uint32_t offset;
	} cases[] = {
		{ { 0, 0, 3, 0 }, 4, 4 },		 /* starts behind the bytes */
		{ { 0, 0, 3, 192 }, 4, 1 },		 /* cut */
		{ { 0, 1, 3, 1 }, 4, 1 },		 /* called from itself */
		{ { 0, 9, 3, 1 }, 4, 1 },		 /* called from a later one */
		{ { 0, 0, 3, 255, 255, 255, 9 }, 7, 1 }, /* a bci no method has */
	};
	struct scope scope;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ASSERT_INT(
			debuginfo_scope(cases[i].bytes, cases[i].size, 0, cases[i].offset, &scope),
			-EBADMSG);
}

static CU_TestInfo tests[] = {
	{ "reads UNSIGNED5 of both biases", reads_unsigned5_of_both_biases },
	{ "reads back what was written", reads_back_what_was_written },
	{ "refuses cut and excluded numbers", refuses_cut_and_excluded_numbers },
	{ "finds lines", finds_lines },
	{ "measures line tables", measures_line_tables },
	{ "takes the nearest entry of an unsorted table",
	  takes_the_nearest_entry_of_an_unsorted_table },
	{ "finds the description of a pc", finds_the_description_of_a_pc },
	{ "decodes scopes", decodes_scopes },
	{ "refuses scopes that make no sense", refuses_scopes_that_make_no_sense },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_debuginfo_suite = {
	.pName = "jvm debuginfo",
	.pTests = tests,
};
