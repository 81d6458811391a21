/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "model/top.h"
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

static uint32_t frame_of(const char *name, enum rec_frame_kind kind)
{
	struct rec_method method = { .name = rec_string(rec, name, strlen(name)) };
	struct rec_frame frame = { .method = rec_method(rec, &method), .kind = kind };

	return rec_frame(rec, &frame);
}

static void add(const uint32_t *frames, size_t count, uint32_t thread, int64_t samples)
{
	struct rec_key key = {
		.metric = REC_CPU,
		.thread = thread,
		.stack = count ? rec_stack(rec, frames, count, REC_STACK_COMPLETE) : 0,
	};

	rec_add(rec, &key, samples, samples * 1000);
}

static void assert_row(const struct top_row *row, const char *name, int64_t self, int64_t total)
{
	char text[32];

	CU_ASSERT_STRING_EQUAL(rec_method_text(rec, row->method, text, sizeof(text)), name);
	ASSERT_INT(row->self, self);
	ASSERT_INT(row->total, total);
}

static void self_is_the_innermost_java_frame(void)
{
	uint32_t kernel = frame_of("kernel", REC_FRAME_KERNEL);
	uint32_t hot = frame_of("hot", REC_FRAME_C2);
	uint32_t main_frame = frame_of("main", REC_FRAME_INTERPRETED);
	uint32_t start = frame_of("start", REC_FRAME_CPP);
	uint32_t gc = frame_of("gc", REC_FRAME_CPP);
	uint32_t recursive[] = { hot, hot, main_frame, start };
	uint32_t in_kernel[] = { kernel, main_frame, start };
	uint32_t no_java[] = { gc, start };
	struct top_row rows[8];
	int64_t all = 0;

	add(recursive, 4, 1, 5);
	add(recursive, 4, 2, 1);
	add(in_kernel, 3, 1, 3);
	add(no_java, 2, 3, 2);
	add(NULL, 0, 3, 4);

	ASSERT_INT(top_methods(rec, REC_CPU, rows, ARRAY_SIZE(rows), &all), 3);
	ASSERT_INT(all, 15);
	assert_row(&rows[0], "hot", 6, 6);
	assert_row(&rows[1], "main", 3, 9);
	assert_row(&rows[2], "gc", 2, 2);
}

static void only_the_largest_are_written(void)
{
	struct top_row rows[3] = { { .method = 99 }, { .method = 99 }, { .method = 99 } };
	int64_t all = 0;

	for (uint32_t i = 1; i <= 9; i++) {
		char name[] = { 'a', (char)('0' + i), 0 };
		uint32_t frame = frame_of(name, REC_FRAME_C1);

		add(&frame, 1, 1, i);
	}
	ASSERT_INT(top_methods(rec, REC_CPU, rows, 2, &all), 2);
	ASSERT_INT(all, 45);
	assert_row(&rows[0], "a9", 9, 9);
	assert_row(&rows[1], "a8", 8, 8);
	ASSERT_INT(rows[2].method, 99);
	ASSERT_INT(top_methods(rec, REC_CPU, NULL, 0, &all), 0);
}

static void an_empty_recording_has_no_rows(void)
{
	struct top_row row;
	int64_t all = 7;

	ASSERT_INT(top_methods(rec, REC_CPU, &row, 1, &all), 0);
	ASSERT_INT(all, 0);
}

static CU_TestInfo tests[] = {
	{ "self is the innermost Java frame", self_is_the_innermost_java_frame },
	{ "only the largest are written", only_the_largest_are_written },
	{ "an empty recording has no rows", an_empty_recording_has_no_rows },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo model_top_suite = {
	.pName = "top",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
