/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gc.h"

#include "model/recording.h"
#include "unit/unit.h"

static struct recording *rec;

static void setup(void)
{
	rec = rec_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(rec);
}

static void teardown(void)
{
	rec_free(rec);
}

static void add_pause(uint32_t jvm, uint64_t duration_ns)
{
	const struct rec_gc_phase row = { .jvm = jvm, .duration_ns = duration_ns };

	CU_ASSERT_FATAL(rec_gc_phase(rec, &row) != 0);
}

static void nothing_is_no_pause(void)
{
	struct rec_pauses pauses = { .count = 7 };

	CU_ASSERT(!rec_has_gc(rec));
	rec_gc_pauses(rec, 0, &pauses);
	ASSERT_INT(pauses.count, 0);
	rec_safepoint_pauses(rec, 0, &pauses);
	ASSERT_INT(pauses.max_ns, 0);
	CU_ASSERT(!rec_has_gc(rec));
}

/* Nearest rank: of 1, 2 ... n, the pause at n / 2 and at n * 99 / 100, both rounded up. */
static void percentiles_are_pauses(void)
{
	static const struct {
		uint64_t count, p50, p99;
	} cases[] = {
		{ 1, 1, 1 },	   { 2, 1, 2 },	       { 3, 2, 3 },	 { 4, 2, 4 },
		{ 99, 50, 99 },	   { 100, 50, 99 },    { 101, 51, 100 }, { 200, 100, 198 },
		{ 999, 500, 990 }, { 1000, 500, 990 },
	};
	uint32_t jvm = 0;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rec_pauses pauses;

		jvm++;
		for (uint64_t k = 0; k < cases[i].count; k++)
			add_pause(jvm, 1 + (cases[i].count - k - 1));
		rec_gc_pauses(rec, jvm, &pauses);
		ASSERT_INT(pauses.count, cases[i].count);
		ASSERT_INT(pauses.p50_ns, cases[i].p50);
		ASSERT_INT(pauses.p99_ns, cases[i].p99);
		ASSERT_INT(pauses.max_ns, cases[i].count);
		ASSERT_INT(pauses.total_ns, cases[i].count * (cases[i].count + 1) / 2);
	}
}

static void parts_and_what_runs_beside_are_no_pauses(void)
{
	const struct rec_gc_phase part = { .jvm = 1, .level = 1, .duration_ns = 100 };
	const struct rec_gc_phase beside = { .jvm = 1, .concurrent = true, .duration_ns = 100 };
	struct rec_pauses pauses;

	add_pause(1, 7);
	rec_gc_phase(rec, &part);
	rec_gc_phase(rec, &beside);
	add_pause(2, 9);
	rec_gc_pauses(rec, 1, &pauses);
	CU_ASSERT(pauses.count == 1 && pauses.total_ns == 7 && pauses.max_ns == 7);
	rec_gc_pauses(rec, 0, &pauses);
	CU_ASSERT(pauses.count == 2 && pauses.total_ns == 16 && pauses.p50_ns == 7);
}

static void safepoints_stop_from_begin_to_end(void)
{
	const struct rec_safepoint rows[] = {
		{ .jvm = 1, .reach_ns = 5, .duration_ns = 50 },
		{ .jvm = 2, .reach_ns = 1, .duration_ns = 10 },
	};
	struct rec_pauses pauses;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rec_safepoint(rec, &rows[i]);
	rec_safepoint_pauses(rec, 0, &pauses);
	CU_ASSERT(pauses.count == 2 && pauses.total_ns == 60 && pauses.max_ns == 50);
	rec_safepoint_pauses(rec, 2, &pauses);
	CU_ASSERT(pauses.count == 1 && pauses.total_ns == 10);
}

static void what_is_no_id_is_null(void)
{
	const struct rec_collection collection = { .jvm = 1 };

	CU_ASSERT_PTR_NULL(rec_collection_get(rec, 1));
	CU_ASSERT_PTR_NULL(rec_gc_phase_get(rec, 1));
	ASSERT_INT(rec_collection(rec, &collection), 1);
	add_pause(1, 1);
	CU_ASSERT_PTR_NOT_NULL(rec_collection_get(rec, 1));
	CU_ASSERT_PTR_NOT_NULL(rec_gc_phase_get(rec, 1));
	CU_ASSERT_PTR_NULL(rec_collection_get(rec, 0));
	CU_ASSERT_PTR_NULL(rec_collection_get(rec, 2));
	CU_ASSERT_PTR_NULL(rec_gc_phase_get(rec, UINT32_MAX));
}

static void rows_over_the_limit_are_counted(void)
{
	const struct rec_safepoint row = { .jvm = 1 };
	size_t count;
	const struct rec_quality_row *rows;

	for (uint32_t i = 0; i < REC_MAX_SAFEPOINTS; i++)
		CU_ASSERT_FATAL(rec_safepoint(rec, &row) == i + 1);
	ASSERT_INT(rec_safepoint(rec, &row), 0);
	ASSERT_INT(rec_safepoint(rec, &row), 0);
	ASSERT_INT(rec_error(rec), 0);
	rows = rec_quality_rows(rec, &count);
	ASSERT_INT(count, 1);
	CU_ASSERT_STRING_EQUAL(rows[0].name, "safepoints_over_limit");
	ASSERT_INT(rows[0].count, 2);
}

static CU_TestInfo tests[] = {
	{ "nothing is no pause", nothing_is_no_pause },
	{ "percentiles are pauses", percentiles_are_pauses },
	{ "parts and what runs beside are no pauses", parts_and_what_runs_beside_are_no_pauses },
	{ "safepoints stop from begin to end", safepoints_stop_from_begin_to_end },
	{ "what is no id is NULL", what_is_no_id_is_null },
	{ "rows over the limit are counted", rows_over_the_limit_are_counted },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo model_gc_suite = {
	.pName = "model_gc",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
