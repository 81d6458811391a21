/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "model/recording_impl.h"
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

static uint32_t string_of(const char *text)
{
	return rec_string(rec, text, strlen(text));
}

static uint64_t counter(enum rec_quality_group group, const char *name)
{
	size_t count;
	const struct rec_quality_row *rows = rec_quality_rows(rec, &count);

	for (size_t i = 0; i < count; i++) {
		if (rows[i].group == group && !strcmp(rows[i].name, name))
			return rows[i].count;
	}
	return 0;
}

static int64_t count_of_stack(uint32_t stack)
{
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += totals[i].key.stack == stack ? totals[i].count : 0;
	return sum;
}

static void add_sample(uint32_t stack)
{
	struct rec_key key = { .metric = REC_CPU, .jvm = 1, .stack = stack, .thread = 1 };

	rec_add(rec, &key, 1, 10);
}

static void equal_facts_have_one_id(void)
{
	struct rec_method method = { .class_name = string_of("Foo"), .name = string_of("bar") };
	struct rec_frame frame = { .kind = REC_FRAME_C2, .line = 7, .bci = 3 };
	uint32_t other;

	frame.method = rec_method(rec, &method);
	ASSERT_INT(frame.method, 1);
	ASSERT_INT(rec_method(rec, &method), 1);
	ASSERT_INT(rec_frame(rec, &frame), 1);
	ASSERT_INT(rec_frame(rec, &frame), 1);
	frame.kind = REC_FRAME_C1;
	other = rec_frame(rec, &frame);
	ASSERT_INT(other, 2);
	method.file = string_of("Foo.java");
	ASSERT_INT(rec_method(rec, &method), 2);

	ASSERT_INT(rec_frame_get(rec, 1)->kind, REC_FRAME_C2);
	ASSERT_INT(rec_frame_get(rec, other)->line, 7);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rec_method_get(rec, 2)->file), "Foo.java");
	ASSERT_INT(rec_method_count(rec), 2);
	ASSERT_INT(rec_frame_count(rec), 2);
}

static void unknown_ids_are_empty(void)
{
	CU_ASSERT_STRING_EQUAL(rec_text(rec, 0), "");
	CU_ASSERT_STRING_EQUAL(rec_text(rec, 99), "");
	ASSERT_INT(rec_method_get(rec, 99)->name, 0);
	ASSERT_INT(rec_frame_get(rec, 0)->method, 0);
	ASSERT_INT(rec_stack_get(rec, 0).count, 0);
	CU_ASSERT_PTR_NULL(rec_thread_get(rec, 0));
	CU_ASSERT_PTR_NULL(rec_jvm_get(rec, 1));
	rec_free(NULL);
}

static void a_stack_is_its_frames_and_its_state(void)
{
	static const uint32_t frames[] = { 3, 2, 1 };
	static const uint32_t other[] = { 3, 2, 2 };
	struct rec_stack stack;

	ASSERT_INT(rec_stack(rec, frames, 3, REC_STACK_COMPLETE), 1);
	ASSERT_INT(rec_stack(rec, frames, 3, REC_STACK_BROKEN), 2);
	ASSERT_INT(rec_stack(rec, frames, 2, REC_STACK_COMPLETE), 3);
	ASSERT_INT(rec_stack(rec, other, 3, REC_STACK_COMPLETE), 4);
	ASSERT_INT(rec_stack(rec, NULL, 0, REC_STACK_BROKEN), 5);
	ASSERT_INT(rec_stack(rec, frames, 3, REC_STACK_COMPLETE), 1);
	ASSERT_INT(rec_stack(rec, NULL, 0, REC_STACK_BROKEN), 5);
	ASSERT_INT(rec_stack_count(rec), 5);

	stack = rec_stack_get(rec, 2);
	ASSERT_INT(stack.count, 3);
	ASSERT_INT(stack.state, REC_STACK_BROKEN);
	ASSERT_INT(memcmp(stack.frames, frames, sizeof(frames)), 0);
	ASSERT_INT(rec_stack_get(rec, 5).count, 0);
}

/* 19,000 stacks of all kinds and 1,000 whose hashes agree in the low 10 bits. */
static void many_stacks_with_equal_low_hash_bits_stay_apart(void)
{
	enum { ALIKE = 1000, ALL = 20000 };
	static uint32_t ids[ALL];
	uint32_t frames[3] = { 1, 1, 0 };
	uint32_t made = 0;

	while (made < ALL) {
		uint64_t hash = map64_hash(frames, sizeof(frames));

		if (made >= ALIKE || (hash & 1023) == 77) {
			ids[made] = rec_stack(rec, frames, 3, REC_STACK_COMPLETE);
			ASSERT_INT(ids[made], ++made);
		}
		frames[2]++;
	}
	for (uint32_t i = 0; i < ALL; i++) {
		for (uint32_t n = 0; n <= i % 7; n++)
			add_sample(ids[i]);
	}
	ASSERT_INT(rec_stack_count(rec), ALL);
	for (uint32_t i = 0; i < ALL; i++) {
		size_t count;
		const struct rec_total *totals = rec_totals(rec, &count);

		ASSERT_INT(count, ALL);
		ASSERT_INT(totals[i].key.stack, ids[i]);
		ASSERT_INT(totals[i].count, i % 7 + 1);
	}
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_INFO), 0);
}

/* All 64 bits equal is out of reach, so the map is told that they are. */
static void equal_hashes_are_told_apart_by_content(void)
{
	static const uint32_t first[] = { 1, 2 }, second[] = { 1, 3 };
	struct rec_frame frame = { .method = 1, .line = 1 }, other = { .method = 1, .line = 2 };

	ASSERT_INT(rec_stack(rec, first, 2, REC_STACK_COMPLETE), 1);
	map64_set(&rec->stacks_by_hash, map64_hash(second, sizeof(second)), 1);
	ASSERT_INT(rec_stack(rec, second, 2, REC_STACK_COMPLETE), 2);
	map64_set(&rec->stacks_by_hash, map64_hash(first, sizeof(first)), 2);
	ASSERT_INT(rec_stack(rec, first, 2, REC_STACK_COMPLETE), 1);
	ASSERT_INT(rec_stack(rec, second, 2, REC_STACK_COMPLETE), 2);

	ASSERT_INT(rec_frame(rec, &frame), 1);
	map64_set(&rec->frames.by_hash, map64_hash(&other, sizeof(other)), 1);
	ASSERT_INT(rec_frame(rec, &other), 2);
	map64_set(&rec->frames.by_hash, map64_hash(&frame, sizeof(frame)), 2);
	ASSERT_INT(rec_frame(rec, &frame), 1);
	ASSERT_INT(rec_frame(rec, &other), 2);
}

static void stacks_over_the_limit_become_one(void)
{
	uint32_t frames[2] = { 1, 0 };
	uint32_t last = 0;
	char text[64];

	rec->limits.stacks = 10;
	for (uint32_t i = 1; i <= 30; i++) {
		frames[1] = i;
		last = rec_stack(rec, frames, 2, REC_STACK_COMPLETE);
		add_sample(last);
	}
	ASSERT_INT(rec_stack_count(rec), 11);
	ASSERT_INT(last, 11);
	ASSERT_INT(count_of_stack(last), 20);
	ASSERT_INT(counter(REC_QUALITY_INFO, "stacks_over_limit"), 20);
	ASSERT_INT(rec_stack_get(rec, last).state, REC_STACK_TRUNCATED);
	CU_ASSERT_STRING_EQUAL(
		rec_frame_text(rec, rec_stack_get(rec, last).frames[0], text, sizeof(text)),
		"(truncated)");

	frames[1] = 3;
	ASSERT_INT(rec_stack(rec, frames, 2, REC_STACK_COMPLETE), 3);
	ASSERT_INT(counter(REC_QUALITY_INFO, "stacks_over_limit"), 20);
}

static void frames_of_all_stacks_are_limited_too(void)
{
	static const uint32_t frames[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	rec->limits.stack_frames = 10;
	ASSERT_INT(rec_stack(rec, frames, 8, REC_STACK_COMPLETE), 1);
	ASSERT_INT(rec_stack(rec, frames, 3, REC_STACK_COMPLETE), 2);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, 1), "(truncated)");
	ASSERT_INT(rec_stack(rec, frames, 2, REC_STACK_COMPLETE), 2);
	ASSERT_INT(rec_stack(rec, frames, SIZE_MAX, REC_STACK_COMPLETE), 2);
	ASSERT_INT(counter(REC_QUALITY_INFO, "stacks_over_limit"), 3);
	ASSERT_INT(rec_error(rec), 0);
}

static void strings_over_the_limit_become_one(void)
{
	rec->limits.string_bytes = 8;
	ASSERT_INT(string_of("abc"), 1);
	ASSERT_INT(string_of("xyz"), 2);
	ASSERT_INT(string_of("d"), 3);
	ASSERT_INT(string_of("a string longer than all"), 3);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, 3), "(truncated)");
	ASSERT_INT(string_of("abc"), 1);
	ASSERT_INT(rec_string_count(rec), 3);
	ASSERT_INT(counter(REC_QUALITY_INFO, "strings_over_limit"), 2);
}

static void names_over_the_limit_become_one(void)
{
	char text[64];

	rec->limits.methods = rec->limits.frames = rec->limits.threads = rec->limits.jvms = 2;
	for (uint32_t i = 1; i <= 5; i++) {
		struct rec_method method = { .file = i };
		struct rec_frame frame = { .line = (int32_t)i };
		struct rec_jvm jvm = { .pid = (pid_t)i };
		uint32_t id = i < 3 ? i : 3;

		ASSERT_INT(rec_method(rec, &method), id);
		ASSERT_INT(rec_frame(rec, &frame), id);
		ASSERT_INT(rec_thread(rec, 1, (pid_t)i), id);
		ASSERT_INT(rec_jvm(rec, &jvm), id);
	}
	CU_ASSERT_STRING_EQUAL(rec_frame_text(rec, 3, text, sizeof(text)), "(truncated)");
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rec_thread_get(rec, 3)->name), "(truncated)");
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rec_jvm_get(rec, 3)->main_class), "(truncated)");
	ASSERT_INT(counter(REC_QUALITY_INFO, "methods_over_limit"), 3);
	ASSERT_INT(counter(REC_QUALITY_INFO, "frames_over_limit"), 3);
	ASSERT_INT(counter(REC_QUALITY_INFO, "threads_over_limit"), 3);
	ASSERT_INT(counter(REC_QUALITY_INFO, "jvms_over_limit"), 3);
}

static void totals_over_the_limit_keep_the_sum(void)
{
	size_t count;
	const struct rec_total *totals;

	rec->limits.totals = 4;
	for (uint32_t i = 1; i <= 10; i++)
		add_sample(i);
	totals = rec_totals(rec, &count);
	ASSERT_INT(count, 5);
	ASSERT_INT(totals[4].count, 6);
	ASSERT_INT(totals[4].value, 60);
	ASSERT_INT(totals[4].key.thread, 0);
	ASSERT_INT(rec_stack_get(rec, totals[4].key.stack).state, REC_STACK_TRUNCATED);
	ASSERT_INT(counter(REC_QUALITY_INFO, "totals_over_limit"), 6);
}

static void threads_are_found_by_jvm_and_tid(void)
{
	ASSERT_INT(rec_thread(rec, 1, 100), 1);
	ASSERT_INT(rec_thread(rec, 2, 100), 2);
	rec_thread_get(rec, 1)->name = string_of("main");
	rec_thread_get(rec, 1)->cpu_ns += 5;
	ASSERT_INT(rec_thread(rec, 1, 100), 1);
	ASSERT_INT(rec_thread_count(rec), 2);
	ASSERT_INT(rec_thread_get(rec, 1)->cpu_ns, 5);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rec_thread_get(rec, 1)->name), "main");
}

static void totals_add_up_in_order_of_first_sight(void)
{
	struct rec_key key = { .metric = REC_CPU, .jvm = 1, .stack = 5, .thread = 1, .label = 3 };
	const struct rec_total *totals;
	size_t count;

	rec_add(rec, &key, 1, 100);
	key.label = 4;
	rec_add(rec, &key, 2, 50);
	key.label = 3;
	rec_add(rec, &key, 3, -20);
	totals = rec_totals(rec, &count);
	ASSERT_INT(count, 2);
	ASSERT_INT(totals[0].key.label, 3);
	ASSERT_INT(totals[0].count, 4);
	ASSERT_INT(totals[0].value, 80);
	ASSERT_INT(totals[1].count, 2);
	rec_add(rec, &key, INT64_MAX, INT64_MIN);
	rec_add(rec, &key, INT64_MAX, INT64_MIN);
	totals = rec_totals(rec, &count);
	CU_ASSERT_EQUAL(totals[0].count, INT64_MAX);
	CU_ASSERT_EQUAL(totals[0].value, INT64_MIN);
}

static void quality_rows_are_added_set_and_summed(void)
{
	char name[] = "ring full";
	size_t count;

	rec_quality_add(rec, REC_QUALITY_LOST, name, 2);
	rec_quality_add(rec, REC_QUALITY_LOST, "ring full", 3);
	name[0] = 'X';
	rec_quality_add(rec, REC_QUALITY_LOST, "slot busy", 0);
	rec_quality_set(rec, REC_QUALITY_INFO, "ring full", 7);
	rec_quality_set(rec, REC_QUALITY_INFO, "ring full", 8);
	rec_quality_rows(rec, &count);
	ASSERT_INT(count, 3);
	ASSERT_INT(counter(REC_QUALITY_LOST, "ring full"), 5);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_LOST), 5);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_INFO), 8);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_BROKEN_BY), 0);
}

static void quality_names_are_limited(void)
{
	size_t count;

	rec->limits.quality_rows = 2;
	for (int i = 0; i < 9; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		rec_quality_add(rec, REC_QUALITY_LOST, name, 1);
	}
	rec_quality_rows(rec, &count);
	ASSERT_INT(count, 3);
	ASSERT_INT(counter(REC_QUALITY_LOST, "(truncated)"), 7);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_LOST), 9);
}

/* Counters near the end of 32 bits make the next growth impossible, as a lack of memory does. */
static void a_failed_allocation_is_remembered(void)
{
	static const uint32_t frames[] = { 1, 2 };
	struct rec_method method = { .name = 1 };
	const struct table before = rec->methods;

	ASSERT_INT(rec_error(rec), 0);
	rec->limits.stack_frames = UINT32_MAX;
	rec->stack_frames_count = UINT32_MAX - 3;
	ASSERT_INT(rec_stack(rec, frames, 2, REC_STACK_COMPLETE), 0);
	ASSERT_INT(rec_stack_count(rec), 0);
	ASSERT_INT(rec_error(rec), -ENOMEM);

	rec->err = 0;
	rec->limits.methods = UINT32_MAX;
	rec->methods.count = rec->methods.capacity = 1u << 31;
	ASSERT_INT(rec_method(rec, &method), 0);
	ASSERT_INT(rec_error(rec), -ENOMEM);
	rec->methods = before;

	/* What is added to ids that could not be made is dropped, not written somewhere. */
	rec->stack_frames_count = 0;
	add_sample(0);
	ASSERT_INT(rec_stack(rec, frames, 2, REC_STACK_COMPLETE), 1);
	ASSERT_INT(rec_error(rec), -ENOMEM);
}

static CU_TestInfo tests[] = {
	{ "equal facts have one id", equal_facts_have_one_id },
	{ "unknown ids are empty", unknown_ids_are_empty },
	{ "a stack is its frames and its state", a_stack_is_its_frames_and_its_state },
	{ "many stacks with equal low hash bits stay apart",
	  many_stacks_with_equal_low_hash_bits_stay_apart },
	{ "equal hashes are told apart by content", equal_hashes_are_told_apart_by_content },
	{ "stacks over the limit become one", stacks_over_the_limit_become_one },
	{ "frames of all stacks are limited too", frames_of_all_stacks_are_limited_too },
	{ "strings over the limit become one", strings_over_the_limit_become_one },
	{ "names over the limit become one", names_over_the_limit_become_one },
	{ "totals over the limit keep the sum", totals_over_the_limit_keep_the_sum },
	{ "threads are found by JVM and tid", threads_are_found_by_jvm_and_tid },
	{ "totals add up in order of first sight", totals_add_up_in_order_of_first_sight },
	{ "quality rows are added, set and summed", quality_rows_are_added_set_and_summed },
	{ "quality names are limited", quality_names_are_limited },
	{ "a failed allocation is remembered", a_failed_allocation_is_remembered },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo model_recording_suite = {
	.pName = "recording",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
