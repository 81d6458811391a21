/* SPDX-License-Identifier: Apache-2.0 */
#include "model/native.h"

#include <string.h>

#include "model/native_calls.h"
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
	ASSERT_INT(rec_error(rec), 0);
	rec_free(rec);
}

static uint32_t text(const char *s)
{
	return rec_string(rec, s, strlen(s));
}

/* A stack of one function. */
static uint32_t stack_of(const char *name)
{
	struct rec_method method = { .name = text(name) };
	struct rec_frame frame = { .kind = REC_FRAME_CPP, .line = -1, .bci = -1 };
	uint32_t id;

	frame.method = rec_method(rec, &method);
	id = rec_frame(rec, &frame);
	return rec_stack(rec, &id, 1, REC_STACK_COMPLETE);
}

static void nothing_was_recorded_at_first(void)
{
	size_t count = 1;

	CU_ASSERT_FALSE(rec_has_native(rec));
	ASSERT_INT(rec_native_site_count(rec), 0);
	CU_ASSERT_PTR_NULL(rec_native_site_get(rec, 0));
	CU_ASSERT_PTR_NULL(rec_native_site_get(rec, 1));
	ASSERT_INT(rec_native_calls_count(rec), 0);
	CU_ASSERT_PTR_NULL(rec_native_calls_get(rec, 1));
	CU_ASSERT_PTR_NULL(rec_native_counts(rec, &count));
	ASSERT_INT(count, 0);
	CU_ASSERT_PTR_NULL(rec_native_budgets(rec, &count));
	CU_ASSERT_PTR_NULL(rec_budget_events(rec, &count));
	rec_native_forget_sites(rec, 1);
	CU_ASSERT_FALSE(rec_has_native(rec));
}

static void sites_of_equal_stacks_and_tags_are_one(void)
{
	uint32_t stack = stack_of("f"), tag = text("Other");
	struct rec_native_site site = { .jvm = 1,
					.stack = stack,
					.tag = tag,
					.allocated_blocks = 3,
					.allocated_bytes = 300,
					.freed_blocks = 1,
					.freed_bytes = 100,
					.untracked_blocks = 1,
					.untracked_bytes = 50,
					.error_bytes = 3 };
	const struct rec_native_site *sum;
	uint32_t id = rec_native_site(rec, &site);

	ASSERT_INT(id, 1);
	site.error_bytes = 4;
	ASSERT_INT(rec_native_site(rec, &site), id);
	sum = rec_native_site_get(rec, id);
	ASSERT_INT(sum->allocated_blocks, 6);
	ASSERT_INT(rec_native_live_blocks(sum), 2);
	ASSERT_INT(rec_native_live_bytes(sum), 300);
	/* Errors of independent estimates. */
	ASSERT_INT(sum->error_bytes, 5);
}

static void sites_differ_by_jvm_stack_tag_and_use(void)
{
	const struct rec_native_site site = { .jvm = 1, .stack = stack_of("f"), .tag = text("a") };
	struct rec_native_site others[4] = { site, site, site, site };

	ASSERT_INT(rec_native_site(rec, &site), 1);
	others[0].jvm = 2;
	others[1].stack = stack_of("g");
	others[2].tag = text("b");
	others[3].use = REC_NATIVE_UNKNOWN_FREE;
	for (uint32_t i = 0; i < ARRAY_SIZE(others); i++)
		ASSERT_INT(rec_native_site(rec, &others[i]), 2 + i);
	for (uint32_t i = 0; i < ARRAY_SIZE(others); i++)
		ASSERT_INT(rec_native_site(rec, &others[i]), 2 + i);
	ASSERT_INT(rec_native_site_count(rec), 5);
}

static void what_is_told_anew_replaces_what_was_told(void)
{
	const struct rec_native_chain chain = { { { .address = 0x1000, .function = text("f") } } };
	struct rec_native_site site = {
		.jvm = 1, .stack = stack_of("f"), .tag = text("a"), .allocated_bytes = 100
	};
	uint32_t id = rec_native_site(rec, &site);

	rec_native_site_get(rec, id)->ages[3] = 100;
	rec_native_calls_add(rec, &chain, &site);
	site.jvm = 2;
	rec_native_site(rec, &site);
	rec_native_calls_add(rec, &chain, &site);
	rec_native_forget_sites(rec, 1);
	ASSERT_INT(rec_native_site_get(rec, id)->allocated_bytes, 0);
	ASSERT_INT(rec_native_site_get(rec, id)->ages[3], 0);
	ASSERT_INT(rec_native_site_get(rec, 2)->allocated_bytes, 100);
	ASSERT_INT(rec_native_calls_get(rec, 1)->sum.allocated_bytes, 0);
	ASSERT_INT(rec_native_calls_get(rec, 2)->sum.allocated_bytes, 100);
	site.jvm = 1;
	site.allocated_bytes = 70;
	ASSERT_INT(rec_native_site(rec, &site), id);
	ASSERT_INT(rec_native_site_get(rec, id)->allocated_bytes, 70);
}

static void calls_are_one_site_whatever_their_stacks(void)
{
	struct rec_native_chain chain = { { { .address = 0x1000 }, { .address = 0x2000 } } };
	struct rec_native_site site = {
		.jvm = 1, .stack = stack_of("f"), .tag = text("a"), .allocated_blocks = 1
	};

	rec_native_calls_add(rec, &chain, &site);
	site.stack = stack_of("g");
	rec_native_calls_add(rec, &chain, &site);
	ASSERT_INT(rec_native_calls_count(rec), 1);
	ASSERT_INT(rec_native_calls_get(rec, 1)->sum.allocated_blocks, 2);
	ASSERT_INT(rec_native_calls_get(rec, 1)->sum.stack, 0);
	chain.calls[1].address++;
	rec_native_calls_add(rec, &chain, &site);
	site.tag = text("b");
	rec_native_calls_add(rec, &chain, &site);
	site.use = REC_NATIVE_UNKNOWN_FREE;
	rec_native_calls_add(rec, &chain, &site);
	ASSERT_INT(rec_native_calls_count(rec), 4);
}

static bool keep_all(uint32_t *frames, size_t *count, void *ctx)
{
	(void)frames;
	(void)count;
	(void)ctx;
	return true;
}

/* Stacks that nothing else refers to: edited ones have other ids. */
static void stacks_of_sites_follow_an_edit(void)
{
	struct rec_native_site site = { .jvm = 1, .tag = text("a") };
	struct rec_stack stack;
	const struct rec_frame *frame;

	stack_of("unused");
	site.stack = stack_of("used");
	rec_native_site(rec, &site);
	ASSERT_INT(rec_edit_stacks(rec, keep_all, NULL), 0);
	stack = rec_stack_get(rec, rec_native_site_get(rec, 1)->stack);
	ASSERT_INT(stack.count, 1);
	frame = rec_frame_get(rec, stack.frames[0]);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rec_method_get(rec, frame->method)->name), "used");
}

static void counts_are_set_by_name_and_jvm(void)
{
	const struct rec_count *rows;
	size_t count;

	rec_native_count_set(rec, 1, "entries", 5);
	rec_native_count_set(rec, 2, "entries", 6);
	rec_native_count_set(rec, 1, "failed", 7);
	rec_native_count_set(rec, 1, "entries", 8);
	rows = rec_native_counts(rec, &count);
	ASSERT_INT(count, 3);
	ASSERT_INT(rows[0].value, 8);
	ASSERT_INT(rows[1].value, 6);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rows[2].name), "failed");
}

static void each_jvm_has_one_budget(void)
{
	size_t count;

	rec_native_budget(rec, 3)->interval = 1;
	rec_native_budget(rec, 1)->interval = 2;
	ASSERT_INT(rec_native_budget(rec, 3)->interval, 1);
	ASSERT_INT(rec_native_budgets(rec, &count)[1].jvm, 1);
	ASSERT_INT(count, 2);
	CU_ASSERT_TRUE(rec_has_native(rec));
}

static void changes_of_state_are_bounded(void)
{
	struct rec_budget_event event = { .jvm = 1, .to = REC_NATIVE_SAMPLED };
	size_t count = 0;

	for (int i = 0; i < 70000; i++) {
		event.time_ns = i;
		rec_budget_event(rec, &event);
	}
	ASSERT_INT(rec_budget_events(rec, &count)[65535].time_ns, 65535);
	ASSERT_INT(count, 65536);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_INFO), 70000 - 65536);
}

static void sites_over_the_limit_are_counted(void)
{
	struct rec_native_site site = { .jvm = 1 };

	for (site.stack = 1; site.stack <= REC_MAX_NATIVE_SITES; site.stack++)
		CU_ASSERT_EQUAL_FATAL(rec_native_site(rec, &site), site.stack);
	ASSERT_INT(rec_native_site(rec, &site), 0);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_INFO), 1);
	site.stack = 7;
	ASSERT_INT(rec_native_site(rec, &site), 7);
}

static void states_and_uses_have_names(void)
{
	CU_ASSERT_STRING_EQUAL(rec_native_state_name(REC_NATIVE_EXACT), "exact");
	for (int i = 0; i < REC_NATIVE_STATE_NR; i++)
		CU_ASSERT_PTR_NOT_NULL(rec_native_state_name((enum rec_native_state)i));
	for (int i = 0; i < REC_NATIVE_USE_NR; i++)
		CU_ASSERT_PTR_NOT_NULL(rec_native_use_name((enum rec_native_use)i));
}

static CU_TestInfo tests[] = {
	{ "nothing was recorded at first", nothing_was_recorded_at_first },
	{ "sites of equal stacks and tags are one", sites_of_equal_stacks_and_tags_are_one },
	{ "sites differ by JVM, stack, tag and use", sites_differ_by_jvm_stack_tag_and_use },
	{ "what is told anew replaces what was told", what_is_told_anew_replaces_what_was_told },
	{ "calls are one site whatever their stacks", calls_are_one_site_whatever_their_stacks },
	{ "stacks of sites follow an edit", stacks_of_sites_follow_an_edit },
	{ "counts are set by name and JVM", counts_are_set_by_name_and_jvm },
	{ "each JVM has one budget", each_jvm_has_one_budget },
	{ "changes of state are bounded", changes_of_state_are_bounded },
	{ "sites over the limit are counted", sites_over_the_limit_are_counted },
	{ "states and uses have names", states_and_uses_have_names },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo model_native_suite = {
	.pName = "model_native",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
