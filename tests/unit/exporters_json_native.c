/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json.h"

#include "golden/exported.h"
#include "model/native_calls.h"

static uint32_t any_stack(uint32_t number)
{
	CU_ASSERT_FATAL(number && number <= rec_stack_count(rec));
	return number;
}

static struct rec_native_site site(uint32_t jvm, uint32_t stack, const char *tag, int64_t blocks)
{
	return (struct rec_native_site){ .jvm = jvm,
					 .stack = stack,
					 .tag = golden_string(rec, tag),
					 .allocated_blocks = blocks,
					 .allocated_bytes = blocks * 1000,
					 .freed_blocks = blocks / 4,
					 .freed_bytes = blocks / 4 * 1000 };
}

static void add(struct rec_native_site row)
{
	CU_ASSERT_FATAL(rec_native_site(rec, &row) != 0);
}

static void add_suspect(const char *tag, enum growth_kind kind, int64_t blocks)
{
	struct rec_native_suspect suspect = { .jvm = 1,
					      .stack = any_stack(1),
					      .tag = golden_string(rec, tag),
					      .sites = 2,
					      .live_blocks = blocks,
					      .live_bytes = blocks * 1000,
					      .oldest_ns = 70000000000,
					      .kind = kind,
					      .bytes_per_minute = (double)blocks / 4,
					      .survived = 3 };

	for (int age = 0; age < REC_NATIVE_AGES; age++)
		suspect.ages[age] = age * blocks;
	rec_native_suspect(rec, &suspect);
}

/* One JVM was seen as a whole, the other in slices. */
static void add_budgets(void)
{
	struct rec_native_budget *exact = rec_native_budget(rec, 1), *slices;
	struct rec_budget_event event = { .time_ns = rec_meta_get(rec)->start_time_ns + 1,
					  .jvm = 2,
					  .from = REC_NATIVE_EXACT,
					  .to = REC_NATIVE_SLICES,
					  .reason = REC_BUDGET_SLICE,
					  .cost_pct = 7.25,
					  .limit_pct = 2 };

	exact->attached_ns = rec_meta_get(rec)->start_time_ns;
	exact->estimated = exact->live_known = true;
	exact->state_ns[REC_NATIVE_EXACT] = 10500000000;
	slices = rec_native_budget(rec, 2);
	slices->limit_pct = 2;
	slices->cost_pct = 1.5;
	slices->total_cost_pct = 2.25;
	slices->state = REC_NATIVE_SLICES;
	slices->attached_ns = 1;
	slices->watched_cpu_ns = 250;
	slices->all_cpu_ns = 1000;
	slices->interval = 524288;
	slices->state_ns[REC_NATIVE_SLICES] = 9000000000;
	rec_budget_event(rec, &event);
}

static void add_calls(void)
{
	struct rec_native_chain chain = { { { 0xffff800012345678, golden_string(rec, "os::malloc"),
					      0x7c },
					    { 0x7f1000000000, 0, 0 } } };
	struct rec_native_chain unknown = { { { 0 } } };
	struct rec_native_site numbers = site(1, 0, "Other", 40);

	rec_native_calls_add(rec, &chain, &numbers);
	numbers.jvm = 2;
	rec_native_calls_add(rec, &unknown, &numbers);
	numbers.allocated_blocks = numbers.freed_blocks = 0; /* moved to another: not told */
	numbers.tag = golden_string(rec, "Code");
	rec_native_calls_add(rec, &chain, &numbers);
}

static void a_recording_with_native_memory_has_these_bytes(void)
{
	struct rec_native_site old = site(1, any_stack(1), "Other", 40);
	struct rec_native_site freed = site(1, any_stack(3), "unknown", 8);
	struct rec_native_site sampled = site(1, any_stack(2), "Arena \"Chunk\"", 100);

	old.ages[2] = 30000;
	old.oldest_ns = 59000000000;
	add(old);
	sampled.error_bytes = 1234.5;
	add(sampled);
	add(site(1, 0, "Other", 400)); /* its stack was lost */
	freed.use = REC_NATIVE_UNKNOWN_FREE;
	freed.allocated_blocks = freed.allocated_bytes = 0;
	add(freed);
	add(site(2, any_stack(1), "Other", 12));
	add(site(2, any_stack(2), "Other", 0)); /* moved to another: not told */
	add_suspect("Other", GROWTH_POOL, 400);
	add_suspect("Arena \"Chunk\"", GROWTH_LEAK, 75);
	rec_native_count_set(rec, 1, "entries", 12345678901);
	rec_native_count_set(rec, 2, "entries", 3);
	add_calls();
	add_budgets();
	ASSERT_INT(golden_export(json_write, rec, NULL), 0);
	golden_compare("native.json.expected", exported.bytes, exported.size);
}

/* How often a text is in what was written. */
static int occurrences(const char *of)
{
	int count = 0;

	ASSERT_INT(golden_export(json_write, rec, NULL), 0);
	for (const char *at = exported.bytes; (at = strstr(at, of)); at++)
		count++;
	return count;
}

static void no_section_without_native_memory(void)
{
	ASSERT_INT(occurrences("\"by_tag\""), 0);
	ASSERT_INT(occurrences("\"budget\""), 0);
}

static void suspects_are_not_too_many(void)
{
	for (int i = 1; i <= 150; i++)
		add_suspect("Other", GROWTH_LEAK, i);
	ASSERT_INT(occurrences("\"age_histogram\""), 100);
	/* The fastest. */
	ASSERT_INT(occurrences("\"live_blocks\":150,"), 1);
	ASSERT_INT(occurrences("\"live_blocks\":50,"), 0);
}

static CU_TestInfo tests[] = {
	{ "a recording with native memory has these bytes",
	  a_recording_with_native_memory_has_these_bytes },
	{ "no section without native memory", no_section_without_native_memory },
	{ "suspects are not too many", suspects_are_not_too_many },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo exporters_json_native_suite = {
	.pName = "exporters_json_native",
	.pSetUpFunc = golden_setup,
	.pTearDownFunc = golden_teardown,
	.pTests = tests,
};
