/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/collapsed.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "golden/exported.h"

static int write_collapsed(const struct recording *from, const struct export_options *options)
{
	return golden_export(collapsed_write, from, options);
}

static void a_full_recording_has_these_lines(void)
{
	struct export_options options = { 0 };

	ASSERT_INT(write_collapsed(rec, &options), 0);
	golden_compare("full.collapsed.expected", exported.bytes, exported.size);
}

static void options_add_threads_lines_and_suffixes(void)
{
	struct export_options options = { .lines = true, .annotate = true, .threads = true };

	ASSERT_INT(write_collapsed(rec, &options), 0);
	golden_compare("options.collapsed.expected", exported.bytes, exported.size);
}

static void folded_stacks_are_one_line(void)
{
	struct export_options options = { 0 };

	golden_filter(rec, FILTER_FOLD);
	ASSERT_INT(write_collapsed(rec, &options), 0);
	golden_compare("fold.collapsed.expected", exported.bytes, exported.size);
}

/* Samples of the CPU, and what else is recorded in its own unit. */
static void each_metric_is_in_its_unit(void)
{
	static const struct {
		enum rec_metric metric;
		const char *text;
	} cases[] = {
		{ REC_CPU, "f 2\n" },
		{ REC_NATIVE_ALLOC, "f 4096\n" },
		{ REC_NATIVE_LIVE, "" }, /* all of it was freed */
		{ REC_CLASS_LOAD, "[unknown] 7\n" },
	};
	static const struct rec_key keys[] = {
		{ .metric = REC_CPU, .stack = 1 },
		{ .metric = REC_NATIVE_ALLOC, .stack = 1 },
		{ .metric = REC_NATIVE_LIVE, .stack = 1 },
		{ .metric = REC_CLASS_LOAD },
	};
	struct recording *some = rec_new();
	struct rec_method method = { .name = rec_string(some, "f", 1) };
	struct rec_frame frame = { .kind = REC_FRAME_CPP, .method = rec_method(some, &method) };
	uint32_t leaf = rec_frame(some, &frame);

	ASSERT_INT(rec_stack(some, &leaf, 1, REC_STACK_COMPLETE), 1);
	rec_add(some, &keys[0], 2, 20202020);
	rec_add(some, &keys[1], 3, 4096);
	rec_add(some, &keys[2], 3, 4096);
	rec_add(some, &keys[2], -3, -4096);
	rec_add(some, &keys[3], 7, 7);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct export_options options = { .metric = cases[i].metric };

		ASSERT_INT(write_collapsed(some, &options), 0);
		CU_ASSERT_STRING_EQUAL(exported.bytes, cases[i].text);
	}
	rec_free(some);
}

static void an_empty_recording_is_an_empty_file(void)
{
	struct export_options options = { .threads = true };
	struct recording *empty = rec_new();

	ASSERT_INT(write_collapsed(empty, &options), 0);
	ASSERT_INT(exported.size, 0);
	rec_free(empty);
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* 3,000 random stacks of a few names that are prefixes of each other, checked by sorting text. */
static void lines_are_merged_and_sorted_by_bytes(void)
{
	static const char *const names[] = { "a", "a$b", "a b", "a:", "ab", "b", "a<c" };
	struct export_options options = { 0 };
	struct recording *many = rec_new();
	static char *lines[4096];
	int64_t sum = 0;
	size_t count = 0;
	uint32_t random = 3;

	for (int i = 0; i < 3000; i++) {
		uint32_t frames[6];
		struct rec_key key = { .metric = REC_CPU, .thread = (uint32_t)i };
		size_t depth = 1 + (size_t)i % ARRAY_SIZE(frames);

		for (size_t n = 0; n < depth; n++) {
			struct golden_frame frame = { "", "", "", "", "", "", { .line = i % 3 } };

			random = random * 1664525 + 1013904223;
			frame.name = names[(random >> 20) % ARRAY_SIZE(names)];
			frames[n] = golden_frame(many, &frame);
		}
		key.stack = rec_stack(many, frames, depth, REC_STACK_COMPLETE);
		rec_add(many, &key, 1, 1);
	}
	ASSERT_INT(write_collapsed(many, &options), 0);
	for (char *at = strtok(exported.bytes, "\n"); at; at = strtok(NULL, "\n"))
		lines[count++] = at;
	for (size_t i = 0; i < count; i++) {
		sum += atoll(strrchr(lines[i], ' '));
		CU_ASSERT_FATAL(!i || compare_text(&lines[i - 1], &lines[i]) < 0);
	}
	ASSERT_INT(sum, 3000);
	for (size_t i = 0; i < count; i++)
		*strrchr(lines[i], ' ') = 0;
	qsort(lines, count, sizeof(*lines), compare_text);
	for (size_t i = 1; i < count; i++)
		CU_ASSERT_FATAL(strcmp(lines[i - 1], lines[i]) != 0);
	rec_free(many);
}

static void a_full_disk_is_noticed(void)
{
	struct export_options options = { 0 };
	FILE *out = fopen("/dev/full", "we");

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	ASSERT_INT(collapsed_write(rec, &options, out), -ENOSPC);
	fclose(out);
}

static void a_closed_pipe_is_noticed(void)
{
	struct export_options options = { 0 };
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	int ends[2];
	FILE *out;

	ASSERT_INT(pipe(ends), 0);
	close(ends[0]);
	out = fdopen(ends[1], "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	ASSERT_INT(collapsed_write(rec, &options, out), -EPIPE);
	fclose(out);
	signal(SIGPIPE, before);
}

static CU_TestInfo tests[] = {
	{ "a full recording has these lines", a_full_recording_has_these_lines },
	{ "options add threads, lines and suffixes", options_add_threads_lines_and_suffixes },
	{ "folded stacks are one line", folded_stacks_are_one_line },
	{ "each metric is in its unit", each_metric_is_in_its_unit },
	{ "an empty recording is an empty file", an_empty_recording_is_an_empty_file },
	{ "lines are merged and sorted by bytes", lines_are_merged_and_sorted_by_bytes },
	{ "a full disk is noticed", a_full_disk_is_noticed },
	{ "a closed pipe is noticed", a_closed_pipe_is_noticed },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo exporters_collapsed_suite = {
	.pName = "collapsed",
	.pSetUpFunc = golden_setup,
	.pTearDownFunc = golden_teardown,
	.pTests = tests,
};
