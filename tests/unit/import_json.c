/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "exporters/json.h"
#include "golden/recording.h"
#include "import/import_impl.h"
#include "unit/rec_lines.h"
#include "unit/rec_random.h"

static char *write_json(const struct recording *rec, size_t *size)
{
	const struct export_options options = { 0 };
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	ASSERT_INT(json_write(rec, &options, out), 0);
	fclose(out);
	return bytes;
}

static struct recording *read_json(const char *json, size_t size, int expected)
{
	struct recording *rec = rec_new();
	char why[256] = "";

	ASSERT_INT(import_json(json, size, rec, why, sizeof(why)), expected);
	CU_ASSERT_EQUAL(*why != 0, expected != 0);
	CU_ASSERT_PTR_NULL(strchr(why, '\n'));
	return rec;
}

static void what_was_written_is_read(void)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct recording *written = random_recording(seed, false), *read;
		size_t size;
		char *json = write_json(written, &size);

		read = read_json(json, size, 0);
		CU_ASSERT_FATAL(rec_lines_equal(written, read));
		rec_free(written);
		rec_free(read);
		free(json);
	}
}

/*
 * Names in it that are no UTF-8 are replaced in the file, so what is read of a second file is
 * compared. Rules of class names are not read: whoever reads applies those of today.
 */
static void a_full_recording_is_read_whole(void)
{
	struct recording *written = golden_recording(), *read, *read_again;
	size_t size, again_size;
	char *json = write_json(written, &size), *again;

	read = read_json(json, size, 0);
	ASSERT_INT(rec_frame_count(read), rec_frame_count(written));
	ASSERT_INT(rec_thread_count(read), rec_thread_count(written));
	ASSERT_INT(rec_quality_sum(read, REC_QUALITY_LOST),
		   rec_quality_sum(written, REC_QUALITY_LOST));
	for (uint32_t id = 1; id <= rec_frame_count(read); id++)
		CU_ASSERT_EQUAL(rec_frame_get(read, id)->offset,
				rec_frame_get(written, id)->offset);
	again = write_json(read, &again_size);
	read_again = read_json(again, again_size, 0);
	CU_ASSERT(rec_lines_equal(read, read_again));
	rec_free(written);
	rec_free(read);
	rec_free(read_again);
	free(json);
	free(again);
}

static void what_is_no_recording_is_refused(void)
{
	static const char *const bad[] = {
		"{",
		"{}",
		"[1, 2]",
		"{\"schema\": \"jvmscope/2\", \"profiles\": []}",
		"{\"schema\": \"jvmscope/1\"}",
		"{\"schema\": \"jvmscope/1\", \"profiles\": [{\"metric\": \"cpu\", \"jvm\": 3}]}",
		"{\"schema\": \"jvmscope/1\", \"stacks\": [[0]], \"profiles\": []}",
		"{\"schema\": \"jvmscope/1\", \"frames\": [[\"odd\"]], \"profiles\": []}",
		"{\"schema\": \"jvmscope/1\", \"profiles\": []} x",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		rec_free(read_json(bad[i], strlen(bad[i]), -EBADMSG));
}

static void nesting_without_end_is_refused(void)
{
	size_t size = 1000000;
	char *json = malloc(size);

	memset(json, '[', size);
	json[0] = '{';
	rec_free(read_json(json, size, -EBADMSG));
	free(json);
}

static void odd_values_are_none(void)
{
	static const char json[] =
		"{\"schema\": \"jvmscope/1\", \"meta\": 5, \"jvms\": {}, \"quality\": [],"
		" \"strings\": [1, null, \"a\"], \"frames\": [[\"cpp\", 99, 1.5]], \"stacks\": [5, [0]],"
		" \"profiles\": [{\"metric\": \"none\"}, {\"metric\": \"cpu\", \"samples\": [[1, null, 2, 3, 4]]}]}";
	struct recording *rec = read_json(json, strlen(json), 0);
	size_t count;

	ASSERT_INT(rec_totals(rec, &count)[0].count, 3);
	ASSERT_INT(count, 1);
	rec_free(rec);
}

static CU_TestInfo tests[] = {
	{ "what was written is read", what_was_written_is_read },
	{ "a full recording is read whole", a_full_recording_is_read_whole },
	{ "what is no recording is refused", what_is_no_recording_is_refused },
	{ "nesting without end is refused", nesting_without_end_is_refused },
	{ "odd values are none", odd_values_are_none },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo import_json_suite = {
	.pName = "import_json",
	.pTests = tests,
};
