/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "model/recording.h"
#include "model/series.h"
#include "unit/unit.h"

#define START_NS 1000000000000ll
#define SECOND	 1000000000ll

static struct recording *rec;

static void setup(void)
{
	rec = rec_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(rec);
	rec_meta(rec)->start_time_ns = START_NS;
}

static void teardown(void)
{
	rec_free(rec);
}

static void add(uint32_t jvm, uint64_t rss_bytes)
{
	struct rec_ledger ledger = { .jvm = jvm, .rss_bytes = rss_bytes };

	ledger.parts = calloc(2, sizeof(*ledger.parts));
	ledger.part_count = 2;
	ledger.nmt = calloc(1, sizeof(*ledger.nmt));
	ledger.nmt_count = 1;
	ledger.nmt[0].malloc_bytes = rss_bytes;
	rec_ledger_add(rec, &ledger);
	/* It is the recording's now. */
	CU_ASSERT_PTR_NULL(ledger.parts);
}

static void the_first_and_the_last_stay(void)
{
	uint64_t before;
	size_t count;

	CU_ASSERT_PTR_NULL(rec_ledger_first(rec, 1));
	CU_ASSERT_PTR_NULL(rec_ledger_last(rec, 1));
	add(1, 10);
	ASSERT_INT(rec_ledger_last(rec, 1)->rss_bytes, 10);
	add(2, 20);
	add(1, 11);
	add(1, 12);
	ASSERT_INT(rec_ledger_first(rec, 1)->rss_bytes, 10);
	ASSERT_INT(rec_ledger_last(rec, 1)->rss_bytes, 12);
	ASSERT_INT(rec_ledger_last(rec, 1)->part_count, 2);
	ASSERT_INT(rec_ledger_first(rec, 2)->rss_bytes, 20);
	/* Nobody asked for all of them. */
	rec_ledgers(rec, &count, &before);
	ASSERT_INT(count, 0);
}

static void all_are_kept_for_who_asks(void)
{
	const struct rec_ledger *rows;
	uint64_t before;
	size_t count;

	rec_samples_keep(rec, true);
	for (uint64_t i = 0; i < 100; i++)
		add(1, i);
	rows = rec_ledgers(rec, &count, &before);
	ASSERT_INT(before, 0);
	ASSERT_INT(count, 100);
	ASSERT_INT(rows[99].rss_bytes, 99);
	CU_ASSERT_PTR_NULL(rows[0].parts);
	ASSERT_INT(rows[99].nmt_count, 1);
	ASSERT_INT(rows[99].nmt[0].malloc_bytes, 99);
	rec_samples_drop(rec);
	rec_ledgers(rec, &count, &before);
	ASSERT_INT(count, 0);
	ASSERT_INT(before, 100);
	ASSERT_INT(rec_ledger_last(rec, 1)->rss_bytes, 99);
}

static void the_last_stays_when_there_are_too_many(void)
{
	const struct rec_ledger *rows;
	uint64_t before;
	size_t count;

	rec_samples_keep(rec, true);
	add(2, 7);
	for (uint64_t i = 1; i < REC_MAX_LEDGERS + 10; i++)
		add(1, i);
	add(3, 8);
	rows = rec_ledgers(rec, &count, &before);
	ASSERT_INT(count, REC_MAX_LEDGERS);
	ASSERT_INT(rows[0].rss_bytes, 7);
	ASSERT_INT(rows[count - 1].rss_bytes, REC_MAX_LEDGERS + 9);
	ASSERT_INT(rec_ledger_last(rec, 3)->rss_bytes, 8);
	/* Ten that took the place of another, one that found none. */
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_INFO), 11);
}

static void rows_of_a_ledger_are_bounded(void)
{
	struct rec_ledger ledger = { .jvm = 1 };

	for (uint32_t i = 1; i <= REC_MAX_LEDGER_PARTS + 3; i++)
		rec_ledger_add_part(rec, &ledger, &(struct rec_ledger_part){ .name = i });
	for (uint32_t i = 1; i <= REC_MAX_NMT_TAGS + 4; i++)
		rec_ledger_add_nmt(rec, &ledger, &(struct rec_nmt){ .tag = i });
	ASSERT_INT(ledger.part_count, REC_MAX_LEDGER_PARTS);
	ASSERT_INT(ledger.nmt_count, REC_MAX_NMT_TAGS);
	for (uint32_t i = 0; i < REC_MAX_LEDGER_PARTS; i++)
		ASSERT_INT(ledger.parts[i].name, i + 1);
	for (uint32_t i = 0; i < REC_MAX_NMT_TAGS; i++)
		ASSERT_INT(ledger.nmt[i].tag, i + 1);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_INFO), 7);
	rec_ledger_free(&ledger);
}

static void ledgers_of_too_many_jvms_are_counted(void)
{
	for (uint32_t jvm = 1; jvm <= REC_MAX_LEDGER_JVMS + 2; jvm++)
		add(jvm, 1);
	CU_ASSERT_PTR_NOT_NULL(rec_ledger_first(rec, REC_MAX_LEDGER_JVMS));
	CU_ASSERT_PTR_NULL(rec_ledger_first(rec, REC_MAX_LEDGER_JVMS + 1));
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_INFO), 2);
}

static void every_line_has_a_name_of_its_own(void)
{
	for (int line = 0; line < REC_LINE_NR; line++) {
		const struct rec_line_info *info = rec_line_info((enum rec_line)line);

		CU_ASSERT_PTR_NOT_NULL_FATAL(info->name);
		CU_ASSERT_PTR_NOT_NULL(info->help);
		for (int other = 0; other < line; other++)
			CU_ASSERT(strcmp(info->name, rec_line_info((enum rec_line)other)->name));
		ASSERT_INT(rec_line_find(info->name), line);
	}
}

/* ---- series */

static void values_lie_in_their_second(void)
{
	const struct rec_series *rows;
	uint64_t bucket_ns;
	size_t count;

	rec_series_add(rec, 1, "rss", START_NS, 5);
	rec_series_add(rec, 1, "rss", START_NS + 2 * SECOND + 1, 6);
	rec_series_add(rec, 1, "rss", START_NS + 3 * SECOND - 1, 7);
	rec_series_add(rec, 1, "rss", START_NS - 1, 8); /* before the recording */
	rec_series_add(rec, 2, "rss", START_NS + SECOND, -9);
	rows = rec_series(rec, &count, &bucket_ns);
	ASSERT_INT(count, 2);
	ASSERT_INT(bucket_ns, SECOND);
	ASSERT_INT(rows[0].buckets, 3);
	CU_ASSERT_TRUE(rows[0].values[0].there);
	CU_ASSERT_FALSE(rows[0].values[1].there);
	ASSERT_INT(rows[0].values[2].value, 7);
	ASSERT_INT(rows[1].values[1].value, -9);
	ASSERT_INT(rows[1].jvm, 2);
}

static void buckets_double_when_there_are_too_many(void)
{
	const struct rec_series *rows;
	uint64_t bucket_ns;
	size_t count;

	for (int64_t i = 0; i < REC_MAX_BUCKETS; i++)
		rec_series_add(rec, 1, "all", START_NS + i * SECOND, i);
	rec_series_add(rec, 1, "even", START_NS + 2 * SECOND, 2);
	rec_series_add(rec, 1, "odd", START_NS + 3 * SECOND, 3);
	rec_series_add(rec, 1, "all", START_NS + REC_MAX_BUCKETS * SECOND, 1);
	rows = rec_series(rec, &count, &bucket_ns);
	ASSERT_INT(bucket_ns, 2 * SECOND);
	ASSERT_INT(rows[0].buckets, REC_MAX_BUCKETS / 2 + 1);
	for (int64_t i = 0; i < REC_MAX_BUCKETS / 2; i++)
		ASSERT_INT(rows[0].values[i].value, 2 * i + 1);
	ASSERT_INT(rows[0].values[REC_MAX_BUCKETS / 2].value, 1);
	ASSERT_INT(rows[1].values[1].value, 2);
	CU_ASSERT_TRUE(rows[1].values[1].there && !rows[1].values[0].there);
	ASSERT_INT(rows[2].values[1].value, 3);
	/* A clock that was set: it takes as long as it takes. */
	rec_series_add(rec, 1, "all", INT64_MAX, 4);
	rows = rec_series(rec, &count, &bucket_ns);
	CU_ASSERT(rows[0].buckets <= REC_MAX_BUCKETS);
	ASSERT_INT(rec_error(rec), 0);
}

static void there_is_a_limit_to_values(void)
{
	const struct rec_series *rows;
	uint64_t bucket_ns, room = 0;
	char name[32];
	size_t count;

	for (uint32_t i = 0; i < REC_MAX_SERIES; i++) {
		snprintf(name, sizeof(name), "series %u", i);
		rec_series_add(rec, 1, name, START_NS + 7 * SECOND, i);
		rec_series_add(rec, 1, name, START_NS + 3590 * SECOND, i + 1);
	}
	rows = rec_series(rec, &count, &bucket_ns);
	ASSERT_INT(count, REC_MAX_SERIES);
	CU_ASSERT(bucket_ns > 2 * SECOND);
	for (size_t i = 0; i < count; i++) {
		ASSERT_INT(rows[i].values[7 * SECOND / bucket_ns].value, i);
		ASSERT_INT(rows[i].values[3590 * SECOND / bucket_ns].value, i + 1);
		room += rows[i].capacity;
	}
	CU_ASSERT(room <= REC_MAX_VALUES);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_INFO), 0);
	ASSERT_INT(rec_error(rec), 0);
}

static void there_is_a_limit_to_series(void)
{
	char name[32];
	uint64_t bucket_ns;
	size_t count;

	for (uint32_t i = 0; i < REC_MAX_SERIES + 10; i++) {
		snprintf(name, sizeof(name), "series %u", i);
		rec_series_add(rec, 1, name, START_NS, 1);
	}
	rec_series(rec, &count, &bucket_ns);
	ASSERT_INT(count, REC_MAX_SERIES);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_INFO), 10);
	ASSERT_INT(rec_error(rec), 0);
}

static CU_TestInfo tests[] = {
	{ "the first and the last stay", the_first_and_the_last_stay },
	{ "all are kept for who asks", all_are_kept_for_who_asks },
	{ "the last stays when there are too many", the_last_stays_when_there_are_too_many },
	{ "rows of a ledger are bounded", rows_of_a_ledger_are_bounded },
	{ "ledgers of too many JVMs are counted", ledgers_of_too_many_jvms_are_counted },
	{ "every line has a name of its own", every_line_has_a_name_of_its_own },
	{ "values lie in their second", values_lie_in_their_second },
	{ "buckets double when there are too many", buckets_double_when_there_are_too_many },
	{ "there is a limit to values", there_is_a_limit_to_values },
	{ "there is a limit to series", there_is_a_limit_to_series },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo model_ledger_suite = {
	.pName = "model_ledger",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
