/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_fill.h"

#include <errno.h>

#include "exporters/jfr.h"
#include "jfr/jfr_write.h"
#include "unit/rec_lines.h"
#include "unit/rec_random.h"

static char *bytes;
static size_t size;

static void setup(void)
{
	bytes = NULL;
	size = 0;
}

static void teardown(void)
{
	free(bytes);
}

static void write_jfr(const struct recording *rec)
{
	const struct export_options options = { 0 };
	FILE *out = open_memstream(&bytes, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	ASSERT_INT(jfr_export(rec, &options, out), 0);
	fclose(out);
}

static struct recording *read_jfr(bool keep_samples, struct jfr_result *result)
{
	const struct jfr_fill_options options = { .name = "memory", .keep_samples = keep_samples };
	struct recording *rec = rec_new();
	struct jfr_input in;

	jfr_input_memory(bytes, size, &in);
	ASSERT_INT(jfr_fill(&in, &options, rec, result), 0);
	jfr_input_close(&in);
	return rec;
}

static void what_was_written_is_read(void)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		bool with_rows = seed & 1;
		struct recording *written = random_recording(seed, with_rows), *read;
		struct jfr_result result;

		write_jfr(written);
		read = read_jfr(with_rows, &result);
		ASSERT_INT(result.bytes_lost + result.events_damaged + result.unfinished, 0);
		if (!rec_lines_equal(written, read))
			fprintf(stderr, "seed %d\n", (int)seed);
		CU_ASSERT_FATAL(rec_lines_equal(written, read));
		rec_free(written);
		rec_free(read);
		free(bytes);
		bytes = NULL;
	}
}

/* ---- segments */

#define SEGMENTS_MAX 64

/* A file as it is written while the recording goes on. */
struct growing {
	size_t chunk;		      /* where the last one is */
	size_t ends[SEGMENTS_MAX];    /* of segments */
	size_t samples[SEGMENTS_MAX]; /* until there */
	size_t added;
	int count;
	int chunks;
};

static int grow(void *ctx, const struct jfr_finished_segment *segment)
{
	struct growing *growing = ctx;

	CU_ASSERT_FATAL(growing->count < SEGMENTS_MAX);
	bytes = realloc(bytes, size + segment->size);
	memcpy(bytes + size, segment->bytes, segment->size);
	if (segment->begins_chunk)
		growing->chunk = size;
	growing->chunks += segment->begins_chunk;
	memcpy(bytes + growing->chunk, segment->header, JFR_HEADER_SIZE);
	size += segment->size;
	growing->ends[growing->count] = size;
	growing->samples[growing->count++] = growing->added;
	return 0;
}

/* Segments of random lengths, in chunks of random lengths. */
static struct growing write_growing(const struct recording *rec, uint64_t seed)
{
	struct rec_random random = { seed, NULL };
	struct growing growing = { 0 };
	const struct jfr_writer_options options = {
		.sink = grow,
		.ctx = &growing,
		.chunk_bytes = random_below(&random, 2) ? UINT64_MAX : 100000,
		.chunk_ns = random_below(&random, 300),
	};
	const struct rec_sample *rows;
	struct jfr_writer *writer;
	size_t count;

	size = 0;
	rows = rec_samples(rec, &count);
	ASSERT_INT(jfr_writer_open(&options, rec, &writer), 0);
	for (growing.added = 0; growing.added < count; growing.added++) {
		const struct rec_sample *row = &rows[growing.added];

		if (growing.count < SEGMENTS_MAX - 1 && !random_below(&random, 10))
			ASSERT_INT(jfr_writer_segment(writer, rec, row->time_ns, -1), 0);
		jfr_writer_sample(writer, rec, row);
	}
	ASSERT_INT(jfr_writer_segment(writer, rec, rec_meta_get(rec)->end_time_ns, -1), 0);
	jfr_writer_close(writer);
	return growing;
}

static void what_was_written_in_segments_is_read(void)
{
	int segments = 0, chunks = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct recording *written = random_recording(seed, true), *read;
		struct jfr_result result;
		struct growing growing = write_growing(written, seed);

		read = read_jfr(true, &result);
		ASSERT_INT(result.bytes_lost + result.events_damaged + result.unfinished, 0);
		ASSERT_INT(result.chunks, growing.chunks);
		if (!rec_lines_equal(written, read))
			fprintf(stderr, "seed %d\n", (int)seed);
		CU_ASSERT_FATAL(rec_lines_equal(written, read));
		segments += growing.count;
		chunks += growing.chunks;
		rec_free(written);
		rec_free(read);
		free(bytes);
		bytes = NULL;
	}
	/* Else nothing was tested. */
	CU_ASSERT(chunks > 60 && segments > 2 * chunks);
}

/* What a reader of totals has of the stacks of the first samples: all of them. */
static void check_stacks(const struct recording *written, const struct recording *read,
			 size_t count)
{
	size_t got;
	const struct rec_sample *a = rec_samples(written, &got), *b = rec_samples(read, &got);

	ASSERT_INT(got, count);
	for (size_t i = 0; i < count; i++) {
		struct rec_stack x = rec_stack_get(written, a[i].key.stack);
		struct rec_stack y = rec_stack_get(read, b[i].key.stack);

		CU_ASSERT_EQUAL_FATAL(a[i].time_ns, b[i].time_ns);
		CU_ASSERT_EQUAL_FATAL(x.count, y.count);
		CU_ASSERT_EQUAL_FATAL(!a[i].key.thread, !b[i].key.thread);
	}
}

static void a_file_cut_behind_a_segment_has_all_of_it(void)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct recording *written = random_recording(seed, true);
		struct growing growing = write_growing(written, seed);

		for (int i = 0; i < growing.count; i++) {
			struct jfr_result result;
			struct recording *read;

			size = growing.ends[i];
			read = read_jfr(true, &result);
			ASSERT_INT(result.events_damaged, 0);
			check_stacks(written, read, growing.samples[i]);
			rec_free(read);
		}
		rec_free(written);
		free(bytes);
		bytes = NULL;
	}
}

static void rows_of_samples_keep_their_times(void)
{
	struct recording *written = random_recording(7, true), *read;
	struct jfr_result result;
	size_t expected, got;
	const struct rec_sample *a = rec_samples(written, &expected), *b;

	write_jfr(written);
	read = read_jfr(true, &result);
	b = rec_samples(read, &got);
	ASSERT_INT(got, expected);
	for (size_t i = 0; i < got; i++) {
		CU_ASSERT_EQUAL_FATAL(a[i].time_ns, b[i].time_ns);
		CU_ASSERT_EQUAL_FATAL(a[i].value, b[i].value);
	}
	rec_free(written);
	rec_free(read);
}

/* cat a.jfr b.jfr: constants of one JVM are not those of the other. */
static void two_files_behind_each_other_are_both_read(void)
{
	struct recording *a = random_recording(3, true), *b = random_recording(4, true), *both;
	struct jfr_result result;
	char *first, *joined;
	size_t first_size, count_a, count_b, count;

	write_jfr(a);
	first = bytes;
	first_size = size;
	write_jfr(b);
	joined = malloc(first_size + size);
	memcpy(joined, first, first_size);
	memcpy(joined + first_size, bytes, size);
	free(first);
	free(bytes);
	bytes = joined;
	size += first_size;
	both = read_jfr(true, &result);
	rec_samples(a, &count_a);
	rec_samples(b, &count_b);
	rec_samples(both, &count);
	ASSERT_INT(count, count_a + count_b);
	ASSERT_INT(result.chunks, 2);
	rec_free(a);
	rec_free(b);
	rec_free(both);
}

/* Every file that was cut is read without an error, and has no sample more than the whole. */
static void a_file_cut_anywhere_gives_what_is_there(void)
{
	struct recording *written = random_recording(11, true);
	size_t whole, before = 0;

	write_jfr(written);
	whole = size;
	for (size = 68; size < whole; size += 1 + whole / 300) {
		const struct jfr_fill_options options = { .name = "memory", .keep_samples = true };
		char *exact = malloc(size);
		struct recording *read = rec_new();
		struct jfr_result result;
		struct jfr_input in;
		size_t count;

		memcpy(exact, bytes, size);
		jfr_input_memory(exact, size, &in);
		ASSERT_INT(jfr_fill(&in, &options, read, &result), 0);
		CU_ASSERT(result.unfinished);
		rec_samples(read, &count);
		CU_ASSERT(count >= before);
		before = count;
		rec_free(read);
		free(exact);
	}
	CU_ASSERT(before > 0);
	rec_free(written);
}

/* Of a quality row of the recording; 0 when it has none of the name. */
static uint64_t quality_of(const struct recording *rec, const char *name)
{
	size_t count;
	const struct rec_quality_row *rows = rec_quality_rows(rec, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].name, name))
			return rows[i].count;
	return 0;
}

static void a_name_that_is_cut_is_counted(void)
{
	const size_t longest = 1 << 20, lengths[] = { longest, longest + 1 };
	char *name = malloc(longest + 1);

	memset(name, 'n', longest + 1);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct recording *written = random_recording(3, false), *read;
		struct jfr_result result;

		rec_thread_get(written, 1)->name = rec_string(written, name, lengths[i]);
		write_jfr(written);
		read = read_jfr(false, &result);
		ASSERT_INT(quality_of(read, "file_names_cut"), i);
		rec_free(written);
		rec_free(read);
		free(bytes);
		bytes = NULL;
	}
	free(name);
}

static void what_is_no_recording_is_refused(void)
{
	static const char *const bad[] = { "", "FLR",
					   "FLR\1 and then something that is long enough "
					   "for a header, but has no version" };
	const struct jfr_fill_options options = { .name = "memory" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct recording *rec = rec_new();
		struct jfr_result result;
		struct jfr_input in;

		jfr_input_memory(bad[i], strlen(bad[i]), &in);
		ASSERT_INT(jfr_fill(&in, &options, rec, &result), -EBADMSG);
		CU_ASSERT_PTR_NOT_NULL(result.refusal);
		rec_free(rec);
	}
}

static CU_TestInfo tests[] = {
	{ "what was written is read", what_was_written_is_read },
	{ "what was written in segments is read", what_was_written_in_segments_is_read },
	{ "a file cut behind a segment has all of it", a_file_cut_behind_a_segment_has_all_of_it },
	{ "rows of samples keep their times", rows_of_samples_keep_their_times },
	{ "two files behind each other are both read", two_files_behind_each_other_are_both_read },
	{ "a file cut anywhere gives what is there", a_file_cut_anywhere_gives_what_is_there },
	{ "a name that is cut is counted", a_name_that_is_cut_is_counted },
	{ "what is no recording is refused", what_is_no_recording_is_refused },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jfr_fill_suite = {
	.pName = "jfr_fill",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
