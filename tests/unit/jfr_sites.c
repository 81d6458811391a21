/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "jfr/jfr_fill.h"
#include "jfr/jfr_write.h"
#include "unit/rec_lines.h"
#include "unit/rec_random.h"

#include "unit/jfr_made.h" /* last: it has variables */

/* Sites of native memory, budgets and ledgers of a file that is written while it is recorded. */

#define SECOND 1000000000ll

static void setup(void)
{
	struct recording *made = rec_new();

	CU_ASSERT_PTR_NOT_NULL_FATAL(made);
	rec_jvm(made, &(struct rec_jvm){ .pid = 42, .start_time_ns = 1000 });
	rec_samples_keep(made, true);
	rec_meta(made)->start_time_ns = 1700000000 * SECOND;
	rec_meta(made)->tool_version = rec_string(made, "0", 1);
	begin_file(made);
}

static void end_segment(void)
{
	struct rec_meta *meta = rec_meta(rec);

	meta->end_time_ns = (meta->end_time_ns ? meta->end_time_ns : meta->start_time_ns) + SECOND;
	ASSERT_INT(jfr_writer_segment(writer, rec, meta->end_time_ns, -1), 0);
	rec_samples_drop(rec);
}

static struct recording *read_back(bool keep)
{
	const struct jfr_fill_options options = { .name = "memory", .keep_samples = keep };
	struct recording *read = rec_new();
	struct jfr_result result;
	struct jfr_input in;

	jfr_input_memory(bytes, size, &in);
	ASSERT_INT(jfr_fill(&in, &options, read, &result), 0);
	jfr_input_close(&in);
	ASSERT_INT(result.bytes_lost + result.events_damaged, 0);
	return read;
}

static void expect_same(void)
{
	struct recording *read = read_back(false);

	CU_ASSERT(rec_lines_equal(rec, read));
	rec_free(read);
}

static uint32_t text(const char *s)
{
	return rec_string(rec, s, strlen(s));
}

static void add_site(const char *tag, int64_t blocks)
{
	struct rec_native_site site = { .jvm = 1,
					.tag = text(tag),
					.allocated_blocks = blocks,
					.allocated_bytes = blocks * 8,
					.ages = { blocks * 8 } };
	const struct rec_native_chain chain = { { { 1, text(tag), 2 } } };

	rec_native_site(rec, &site);
	rec_native_calls_add(rec, &chain, &site);
}

static void the_last_event_of_a_site_is_right(void)
{
	add_site("a", 10);
	add_site("b", 20);
	end_segment();
	expect_same();
	rec_native_forget_sites(rec, 1);
	add_site("b", 5);
	add_site("c", 7);
	end_segment();
	expect_same();
}

static void what_does_not_change_is_written_once(void)
{
	size_t ends[4] = { 0 };

	add_site("a", 10);
	for (int i = 0; i < 3; i++) {
		rec_native_count_set(rec, 1, "entries", 7 + (uint64_t)i / 2);
		end_segment();
		ends[i + 1] = size;
	}
	/* Nothing the second time, the counter alone the third. */
	CU_ASSERT(ends[2] - ends[1] < ends[1]);
	CU_ASSERT(ends[3] - ends[2] > ends[2] - ends[1]);
	CU_ASSERT(ends[3] - ends[2] < ends[2] - ends[1] + 150);
}

static void add_suspect(const char *tag, int64_t live)
{
	struct rec_native_suspect suspect = { .jvm = 1, .tag = text(tag), .live_bytes = live };

	rec_native_suspect(rec, &suspect);
}

static void suspects_are_those_of_the_last_time(void)
{
	add_suspect("a", 1);
	add_suspect("b", 2);
	end_segment();
	expect_same();
	end_segment();
	rec_native_forget_suspects(rec, 1);
	add_suspect("c", 3);
	end_segment();
	expect_same();
}

static void changes_of_the_budget_are_there_once(void)
{
	struct rec_budget_event event = { .jvm = 1, .to = REC_NATIVE_SAMPLED, .cost_pct = 2.5 };

	for (int i = 0; i < 3; i++) {
		event.time_ns = rec_meta(rec)->start_time_ns + i;
		rec_budget_event(rec, &event);
		rec_native_budget(rec, 1)->cost_pct = i;
		end_segment();
	}
	expect_same();
}

static void each_ledger_is_there_and_parts_of_the_first_and_the_last(void)
{
	struct rec_random random = { 1, rec };
	struct recording *read;
	uint64_t first;
	size_t count;

	for (int i = 0; i < 3; i++) {
		random_ledger(&random, 1, rec_meta(rec)->start_time_ns + i * SECOND + 1, 5);
		random_ledger(&random, 1, rec_meta(rec)->start_time_ns + i * SECOND + 2, 5);
		end_segment();
		expect_same();
	}
	read = read_back(true);
	rec_ledgers(read, &count, &first);
	ASSERT_INT(count, 6);
	rec_free(read);
}

/* A file that ends behind the reading has all of it. */
static void a_ledger_of_a_file_without_readings_has_the_sum_of_its_lines(void)
{
	struct rec_random random = { 2, rec };
	struct recording *read;
	const struct rec_ledger *last;
	int64_t sum = 0;
	char *name;

	random_ledger(&random, 1, rec_meta(rec)->start_time_ns, 0);
	end_segment();
	/* A reader finds types by their names. */
	name = memmem(bytes, size, "jvmscope.LedgerReading", 22);
	CU_ASSERT_PTR_NOT_NULL_FATAL(name);
	memcpy(name, "jvmscope.AnotherRead__", 22);
	read = read_back(false);
	last = rec_ledger_last(read, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(last);
	for (int line = 0; line < REC_LINE_NR; line++)
		sum += rec_ledger_last(rec, 1)->lines[line].resident;
	ASSERT_INT((int64_t)last->rss_bytes, sum);
	rec_free(read);
}

static void numbers_of_a_broken_file_are_bounded(void)
{
	struct rec_native_site site = { .jvm = 1,
					.allocated_blocks = INT64_MAX,
					.allocated_bytes = INT64_MIN,
					.freed_bytes = INT64_MAX,
					.untracked_bytes = INT64_MAX };
	struct rec_ledger ledger = { .jvm = 1, .time_ns = INT64_MAX, .rss_bytes = UINT64_MAX };
	struct recording *read;

	rec_native_site(rec, &site);
	ledger.lines[REC_LINE_MALLOC].resident = INT64_MIN;
	rec_ledger_add(rec, &ledger);
	end_segment();
	read = read_back(false);
	ASSERT_INT(rec_native_site_get(read, 1)->allocated_blocks, REC_BYTES_MAX);
	ASSERT_INT(rec_native_live_bytes(rec_native_site_get(read, 1)), -3 * REC_BYTES_MAX);
	ASSERT_INT(rec_ledger_last(read, 1)->rss_bytes, 0);
	ASSERT_INT(rec_ledger_last(read, 1)->lines[REC_LINE_MALLOC].resident, -REC_BYTES_MAX);
	rec_free(read);
}

static void what_is_of_no_jvm_is_left_out(void)
{
	struct rec_native_site site = { .jvm = 2, .allocated_blocks = 1 };
	struct recording *read;
	size_t count;

	rec_native_site(rec, &site);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rec_native_budget(rec, 2));
	end_segment();
	read = read_back(false);
	ASSERT_INT(rec_native_site_count(read), 0);
	rec_native_budgets(read, &count);
	ASSERT_INT(count, 0);
	rec_free(read);
}

static CU_TestInfo tests[] = {
	{ "the last event of a site is right", the_last_event_of_a_site_is_right },
	{ "what does not change is written once", what_does_not_change_is_written_once },
	{ "suspects are those of the last time", suspects_are_those_of_the_last_time },
	{ "changes of the budget are there once", changes_of_the_budget_are_there_once },
	{ "each ledger is there, and parts of the first and the last",
	  each_ledger_is_there_and_parts_of_the_first_and_the_last },
	{ "a ledger of a file without readings has the sum of its lines",
	  a_ledger_of_a_file_without_readings_has_the_sum_of_its_lines },
	{ "numbers of a broken file are bounded", numbers_of_a_broken_file_are_bounded },
	{ "what is of no JVM is left out", what_is_of_no_jvm_is_left_out },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jfr_sites_suite = {
	.pName = "jfr_sites",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
