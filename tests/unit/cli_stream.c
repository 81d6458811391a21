/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/options.h"
#include "golden/recording.h"
#include "jfr/jfr_events.h"
#include "unit/jfr_walk.h"

static char folder[] = "/tmp/jvmscope-unit-XXXXXX";
static char path[64];
static struct options options;
static struct recording *rec;
static struct filter filter;
static struct trie_words words;
static struct stream *stream;

static void setup(void)
{
	static const char rules[] = "7 java.*\n0 com.example.Main\n";

	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.jfr", folder);
	log_set_level(LOG_LEVEL_ERROR);
	options = (struct options){ 0 };
	rec = golden_recording();
	rec_samples_keep(rec, true);
	ASSERT_INT(trie_from_text(rules, sizeof(rules) - 1, &words, NULL, NULL), 0);
	filter = (struct filter){ .rec = rec, .trie = trie_of(&words), .mode = FILTER_MARK };
	stream = NULL;
}

static void teardown(void)
{
	log_set_level(LOG_LEVEL_INFO);
	stream_close(stream);
	filter_free(&filter);
	trie_words_free(&words);
	rec_free(rec);
	unlink(path);
	CU_ASSERT(rmdir(folder) == 0);
}

static int64_t after(int seconds)
{
	return rec_meta_get(rec)->start_time_ns + seconds * 1000000000ll;
}

/* A row for each total of the recording. */
static size_t add_rows(void)
{
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);

	for (size_t i = 0; i < count; i++) {
		struct rec_sample sample = { .time_ns = after(0), .key = totals[i].key };

		rec_sample(rec, &sample);
	}
	return count;
}

struct seen {
	size_t samples;
	uint64_t stacks[32];
};

static void see_event(void *ctx, const struct walked_event *event)
{
	struct seen *seen = ctx;
	struct cursor c = cursor_of(event->fields, event->size);

	if (event->type != JFR_EXECUTION_SAMPLE || seen->samples >= 32)
		return;
	jfr_varint(&c);
	jfr_varint(&c);
	seen->stacks[seen->samples++] = jfr_varint(&c);
}

static int look(struct seen *seen)
{
	static uint8_t bytes[1 << 20];
	const struct walker walker = { .event = see_event, .ctx = seen };
	FILE *file = fopen(path, "re");
	size_t size;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	return walk(bytes, size, &walker);
}

static void each_chunk_has_its_samples(void)
{
	struct seen seen = { 0 };
	size_t count;

	ASSERT_INT(stream_open(path, &options, rec, &stream), 0);
	count = add_rows();
	ASSERT_INT(stream_chunk(stream, rec, &filter, after(1)), 0);
	ASSERT_INT(look(&seen), 1);
	ASSERT_INT(seen.samples, count);
	rec_samples_drop(rec);
	add_rows();
	ASSERT_INT(stream_end(stream, rec, &filter, after(2)), 0);
	seen.samples = 0;
	/* Two segments of one chunk. */
	ASSERT_INT(look(&seen), 1);
	ASSERT_INT(seen.samples, 2 * count);
}

/* Stacks with a frame of com.example.Main, or with none that any rule is about. */
static void samples_of_libraries_are_dropped(void)
{
	struct seen all = { 0 }, left = { 0 };

	ASSERT_INT(stream_open(path, &options, rec, &stream), 0);
	add_rows();
	ASSERT_INT(stream_chunk(stream, rec, &filter, after(1)), 0);
	look(&all);
	stream_close(stream);
	filter.mode = FILTER_DROP;
	ASSERT_INT(stream_open(path, &options, rec, &stream), 0);
	ASSERT_INT(stream_chunk(stream, rec, &filter, after(1)), 0);
	look(&left);
	CU_ASSERT(left.samples > 0 && left.samples < all.samples);
}

/* A sample without a stack has no application frame, in JFR as in the totals of other outputs. */
static void samples_without_a_stack_are_dropped(void)
{
	struct rec_sample sample = { .time_ns = after(0), .key = { .metric = REC_CPU } };
	struct seen folded = { 0 }, left = { 0 };
	struct seen *const seen[] = { [FILTER_FOLD] = &folded, [FILTER_DROP] = &left };
	size_t count;

	for (enum filter_mode mode = FILTER_FOLD; mode <= FILTER_DROP; mode++) {
		rec_sample(rec, &sample);
		filter.mode = mode;
		ASSERT_INT(stream_open(path, &options, rec, &stream), 0);
		ASSERT_INT(stream_chunk(stream, rec, &filter, after(1)), 0);
		look(seen[mode]);
		stream_close(stream);
		stream = NULL;
		rec_samples_drop(rec);
	}
	ASSERT_INT(folded.samples, 1);
	ASSERT_INT(folded.stacks[0], 0);
	ASSERT_INT(left.samples, 0);
	rec_add(rec, &sample.key, 1000, 1000);
	ASSERT_INT(filter_apply(&filter, ""), 0);
	rec_totals(rec, &count);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT(rec_totals(rec, &count)[i].key.stack != 0);
}

static void library_frames_are_folded(void)
{
	struct seen all = { 0 }, folded = { 0 };

	ASSERT_INT(stream_open(path, &options, rec, &stream), 0);
	add_rows();
	ASSERT_INT(stream_chunk(stream, rec, &filter, after(1)), 0);
	look(&all);
	filter.mode = FILTER_FOLD;
	stream_close(stream);
	ASSERT_INT(stream_open(path, &options, rec, &stream), 0);
	ASSERT_INT(stream_chunk(stream, rec, &filter, after(1)), 0);
	look(&folded);
	ASSERT_INT(folded.samples, all.samples);
	CU_ASSERT(memcmp(folded.stacks, all.stacks, sizeof(all.stacks)) != 0);
}

static void what_failed_once_stays_failed(void)
{
	snprintf(path, sizeof(path), "%s/no/x.jfr", folder);
	ASSERT_INT(stream_open(path, &options, rec, &stream), 0);
	ASSERT_INT(stream_chunk(stream, rec, &filter, after(1)), -ENOENT);
	/* Without another message. */
	ASSERT_INT(stream_chunk(stream, rec, &filter, after(2)), -ENOENT);
	ASSERT_INT(stream_end(stream, rec, &filter, after(3)), -ENOENT);
}

static CU_TestInfo tests[] = {
	{ "each chunk has its samples", each_chunk_has_its_samples },
	{ "samples of libraries are dropped", samples_of_libraries_are_dropped },
	{ "samples without a stack are dropped", samples_without_a_stack_are_dropped },
	{ "library frames are folded", library_frames_are_folded },
	{ "what failed once stays failed", what_failed_once_stays_failed },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo cli_stream_suite = {
	.pName = "cli_stream",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
