/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "unit/unit.h"

/* Files of several windows, whose bytes tell where they are. */

#define FILE_SIZE 1000003

static int fd;
static struct jfr_input in;

static uint8_t byte_at(uint64_t offset)
{
	return (uint8_t)(offset * 2654435761u >> 13);
}

static void setup(void)
{
	uint8_t *bytes = malloc(FILE_SIZE);
	char path[64];

	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	for (uint64_t i = 0; i < FILE_SIZE; i++)
		bytes[i] = byte_at(i);
	fd = memfd_create("input", MFD_CLOEXEC);
	ASSERT_INT(write(fd, bytes, FILE_SIZE), FILE_SIZE);
	free(bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ASSERT_INT(jfr_input_open(path, &in), 0);
}

static void teardown(void)
{
	jfr_input_close(&in);
	close(fd);
}

static void expect_at(uint64_t offset)
{
	ASSERT_INT(in.offset, offset);
	CU_ASSERT_FATAL(jfr_input_need(&in, 2) >= 2);
	ASSERT_INT(in.at[0], byte_at(offset));
	ASSERT_INT(in.at[1], byte_at(offset + 1));
}

static void steps_of_all_sizes_lead_to_the_bytes_there(void)
{
	static const uint64_t steps[] = { 0,	  1,	 4095,	 4096, 4097,   300000,
					  262144, 65536, 130000, 7,    200000, 30000 };
	uint64_t offset = 0;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		ASSERT_INT(jfr_input_skip(&in, steps[i]), steps[i]);
		offset += steps[i];
		expect_at(offset);
	}
	ASSERT_INT(jfr_input_skip(&in, UINT64_MAX), FILE_SIZE - offset);
	ASSERT_INT(in.offset, FILE_SIZE);
	ASSERT_INT(jfr_input_need(&in, 1), 0);
	ASSERT_INT(in.err, 0);
}

static void what_is_stepped_over_is_not_read(void)
{
	ASSERT_INT(jfr_input_skip(&in, FILE_SIZE - 10), FILE_SIZE - 10);
	/* The first window, the byte before and what is left. */
	CU_ASSERT(in.end - in.window <= 11);
	expect_at(FILE_SIZE - 10);
}

static void a_file_that_is_cut_meanwhile_ends_where_a_read_says(void)
{
	ASSERT_INT(ftruncate(fd, 500000), 0);
	CU_ASSERT(jfr_input_skip(&in, 900000) < 900000);
	ASSERT_INT(jfr_input_need(&in, 1), 0);
	ASSERT_INT(in.err, 0);
}

static void a_file_that_grows_meanwhile_is_read_on(void)
{
	uint8_t more[2] = { byte_at(FILE_SIZE), byte_at(FILE_SIZE + 1) };

	ASSERT_INT(pwrite(fd, more, sizeof(more), FILE_SIZE), sizeof(more));
	ASSERT_INT(jfr_input_skip(&in, FILE_SIZE), FILE_SIZE);
	expect_at(FILE_SIZE);
}

static void a_pipe_is_read_to_where_a_step_leads(void)
{
	int ends[2];
	char path[64];
	uint8_t bytes[30000];

	for (uint64_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = byte_at(i);
	jfr_input_close(&in);
	ASSERT_INT(pipe(ends), 0);
	ASSERT_INT(write(ends[1], bytes, sizeof(bytes)), sizeof(bytes));
	close(ends[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	ASSERT_INT(jfr_input_open(path, &in), 0);
	close(ends[0]);
	ASSERT_INT(jfr_input_skip(&in, 20000), 20000);
	expect_at(20000);
	ASSERT_INT(jfr_input_skip(&in, 20000), 10000);
}

/* As --ultra -22 does it: the window is as large as all that is packed. */
static size_t pack_in_one_window(void *to, size_t room, const void *plain, size_t size)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	size_t packed;

	CU_ASSERT_PTR_NOT_NULL_FATAL(ctx);
	ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(ctx, ZSTD_c_windowLog, 27);
	packed = ZSTD_compress2(ctx, to, room, plain, size);
	ZSTD_freeCCtx(ctx);
	CU_ASSERT_FALSE_FATAL(ZSTD_isError(packed));
	return packed;
}

static void a_window_of_zstd_is_not_far_larger_than_its_file(void)
{
	static const struct {
		size_t size;
		int err;
	} rows[] = { { 15 << 20, 0 }, { 40 << 20, -EFBIG } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t room = ZSTD_compressBound(rows[i].size);
		void *plain = calloc(1, rows[i].size), *packed = malloc(room);
		uint64_t packed_size, skipped;
		char path[64];

		CU_ASSERT_FATAL(plain && packed);
		packed_size = pack_in_one_window(packed, room, plain, rows[i].size);
		teardown();
		fd = memfd_create("packed", MFD_CLOEXEC);
		ASSERT_INT(write(fd, packed, packed_size), packed_size);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ASSERT_INT(jfr_input_open(path, &in), 0);
		skipped = jfr_input_skip(&in, UINT64_MAX);
		ASSERT_INT(skipped, rows[i].err ? 0 : rows[i].size);
		ASSERT_INT(in.err, rows[i].err);
		CU_ASSERT(!in.err || strstr(jfr_input_strerror(in.err), "far more"));
		free(plain);
		free(packed);
	}
}

static CU_TestInfo tests[] = {
	{ "steps of all sizes lead to the bytes there",
	  steps_of_all_sizes_lead_to_the_bytes_there },
	{ "what is stepped over is not read", what_is_stepped_over_is_not_read },
	{ "a file that is cut meanwhile ends where a read says",
	  a_file_that_is_cut_meanwhile_ends_where_a_read_says },
	{ "a file that grows meanwhile is read on", a_file_that_grows_meanwhile_is_read_on },
	{ "a pipe is read to where a step leads", a_pipe_is_read_to_where_a_step_leads },
	{ "a window of zstd is not far larger than its file",
	  a_window_of_zstd_is_not_far_larger_than_its_file },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jfr_input_suite = {
	.pName = "jfr_input",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
