/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "model/io.h"
#include "model/recording.h"
#include "unit/unit.h"

static struct recording *rec;

static void setup(void)
{
	rec = rec_new();
}

static void teardown(void)
{
	rec_free(rec);
}

static uint32_t stack_of(const char *name)
{
	const struct rec_method method = { .name = rec_string(rec, name, strlen(name)) };
	const struct rec_frame frame = { .method = rec_method(rec, &method) };
	uint32_t id = rec_frame(rec, &frame);

	return rec_stack(rec, &id, 1, REC_STACK_COMPLETE);
}

static const char *leaf_of(uint32_t stack)
{
	const struct rec_stack frames = rec_stack_get(rec, stack);
	uint32_t method = rec_frame_get(rec, frames.frames[0])->method;

	return rec_text(rec, rec_method_get(rec, method)->name);
}

static void rows_come_back_in_order(void)
{
	const struct rec_io first = { .metric = REC_FILE_READ, .duration_ns = 7, .bytes = 3 };
	const struct rec_io second = { .metric = REC_FILE_FORCE, .metadata = true };
	const struct rec_io *rows;
	size_t count;

	rec_ios(rec, &count);
	ASSERT_INT(count, 0);
	ASSERT_INT(rec_io(rec, &first), 1);
	ASSERT_INT(rec_io(rec, &second), 2);
	rows = rec_ios(rec, &count);
	ASSERT_INT(count, 2);
	ASSERT_INT(rows[0].bytes, 3);
	ASSERT_INT(rows[0].duration_ns, 7);
	CU_ASSERT_TRUE(rows[1].metadata);
}

static void rows_over_the_limit_are_counted(void)
{
	const struct rec_io row = { .metric = REC_FILE_READ };
	uint64_t lost;

	for (uint32_t i = 0; i < REC_MAX_IO; i++)
		CU_ASSERT_FATAL(rec_io(rec, &row) == i + 1);
	ASSERT_INT(rec_io(rec, &row), 0);
	lost = rec_quality_sum(rec, REC_QUALITY_LOST) + rec_quality_sum(rec, REC_QUALITY_INFO);
	ASSERT_INT(lost, 1);
	ASSERT_INT(rec_error(rec), 0);
}

static bool keep(uint32_t *frames, size_t *count, void *ctx)
{
	(void)frames;
	(void)count;
	(void)ctx;
	return true;
}

/* All stacks are made anew in another order: what nothing refers to is forgotten. */
static void a_row_keeps_its_stack_when_stacks_are_edited(void)
{
	struct rec_io row = { .metric = REC_SOCKET_READ };
	const struct rec_io *rows;
	size_t count;

	stack_of("nobody");
	row.stack = stack_of("reader");
	rec_io(rec, &row);
	ASSERT_INT(rec_edit_stacks(rec, keep, NULL), 0);
	ASSERT_INT(rec_stack_count(rec), 1);
	rows = rec_ios(rec, &count);
	ASSERT_INT(rows[0].stack, 1);
	CU_ASSERT_STRING_EQUAL(leaf_of(rows[0].stack), "reader");
}

static void times_and_bytes_are_told_apart(void)
{
	enum rec_metric bytes;

	CU_ASSERT_TRUE(rec_io_metric(REC_SOCKET_WRITE, &bytes));
	ASSERT_INT(bytes, REC_SOCKET_WRITE_BYTES);
	CU_ASSERT_TRUE(rec_io_metric(REC_FILE_FORCE, &bytes));
	ASSERT_INT(bytes, REC_METRIC_NR);
	CU_ASSERT_FALSE(rec_io_metric(REC_SOCKET_WRITE_BYTES, &bytes));
	CU_ASSERT_FALSE(rec_io_metric(REC_CPU, &bytes));
}

static CU_TestInfo tests[] = {
	{ "rows come back in order", rows_come_back_in_order },
	{ "rows over the limit are counted", rows_over_the_limit_are_counted },
	{ "a row keeps its stack when stacks are edited",
	  a_row_keeps_its_stack_when_stacks_are_edited },
	{ "times and bytes are told apart", times_and_bytes_are_told_apart },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo model_io_suite = {
	.pName = "model_io",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
