/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_write.h"

#include <errno.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "golden/recording.h"
#include "jfr/jfr_events.h"
#include "unit/jfr_walk.h"

static struct recording *rec;
static struct jfr_writer *writer;
static uint8_t *bytes; /* all chunks */
static size_t size;
static size_t last_chunk; /* where the last one is */
static int sink_err;

static int keep(void *ctx, const struct jfr_finished_segment *segment)
{
	(void)ctx;
	if (sink_err)
		return sink_err;
	bytes = realloc(bytes, size + segment->size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	memcpy(bytes + size, segment->bytes, segment->size);
	if (segment->begins_chunk)
		last_chunk = size;
	CU_ASSERT(!segment->begins_chunk ||
		  memcmp(segment->bytes, segment->header, JFR_HEADER_SIZE) == 0);
	memcpy(bytes + last_chunk, segment->header, JFR_HEADER_SIZE);
	size += segment->size;
	return 0;
}

static struct jfr_writer *open_writer(uint64_t chunk_bytes, uint64_t chunk_ns)
{
	const struct jfr_writer_options options = {
		.sink = keep,
		.destination = "x.jfr",
		.chunk_bytes = chunk_bytes,
		.chunk_ns = chunk_ns,
	};
	struct jfr_writer *opened = NULL;

	ASSERT_INT(jfr_writer_open(&options, rec, &opened), 0);
	return opened;
}

static void setup(void)
{
	bytes = NULL;
	size = 0;
	sink_err = 0;
	rec = golden_recording();
	writer = open_writer(0, 0);
}

/* Instead of the writer whose segments are chunks. */
static void set_up_segments(uint64_t chunk_bytes, uint64_t chunk_ns)
{
	jfr_writer_close(writer);
	writer = open_writer(chunk_bytes, chunk_ns);
}

static void teardown(void)
{
	jfr_writer_close(writer);
	rec_free(rec);
	free(bytes);
}

/* A sample of each total, one a millisecond. */
static void add_samples(void)
{
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);

	for (size_t i = 0; i < count; i++) {
		struct rec_sample sample = {
			.time_ns = rec_meta_get(rec)->start_time_ns + 1000000 * (int64_t)i,
			.key = totals[i].key,
			.state = (enum rec_thread_state)(i % REC_STATE_NR),
			.value = 10101010,
		};

		jfr_writer_sample(writer, rec, &sample);
	}
}

static int64_t after(int seconds)
{
	return rec_meta_get(rec)->start_time_ns + seconds * 1000000000ll;
}

/* ---- the bytes */

static void dump_chunk(void *ctx, const struct walked_chunk *chunk)
{
	struct strbuf *text = ctx;

	/* Not the size: that of the metadata is in it. */
	strbuf_printf(text, "chunk: start %llu ns, %llu ns long, %llu ticks, %llu Hz\n",
		      (unsigned long long)chunk->start_ns, (unsigned long long)chunk->duration_ns,
		      (unsigned long long)chunk->start_ticks, (unsigned long long)chunk->hz);
}

static void dump_event(void *ctx, const struct walked_event *event)
{
	struct strbuf *text = ctx;
	const struct jfr_type *type = jfr_type((unsigned int)event->type);
	size_t count = (size_t)(event->at + event->size - event->fields);

	if (event->type == JFR_METADATA) {
		strbuf_puts(text, "metadata\n");
		return;
	}
	strbuf_puts(text, type ? type->name : "checkpoint");
	for (size_t i = 0; i < count; i++)
		strbuf_printf(text, i % 32 ? " %02x" : "\n\t%02x", event->fields[i]);
	strbuf_puts(text, "\n");
}

static void a_full_recording_has_these_bytes(void)
{
	struct strbuf text = { 0 };
	const struct walker walker = { dump_chunk, dump_event, &text };

	add_samples();
	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), 0.5), 0);
	ASSERT_INT(walk(bytes, size, &walker), 1);
	golden_compare("full.jfr.expected", text.text, text.len);
	strbuf_free(&text);
}

/* ---- rules of the format */

static void a_chunk_without_samples_is_one_too(void)
{
	const struct walker walker = { 0 };

	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	ASSERT_INT(jfr_writer_segment(writer, rec, after(2), -1), 0);
	ASSERT_INT(walk(bytes, size, &walker), 2);
}

#define OF_A_JVM 4096 /* of its settings, flags and constants: 3.5 KiB of one of 25 */

static void the_fixed_part_of_a_chunk_is_small(void)
{
	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	CU_ASSERT(size <= (48 << 10) - OF_A_JVM);
}

struct starts {
	uint64_t ns[4], ticks[4], end_ns[4];
	int count;
};

static void see_start(void *ctx, const struct walked_chunk *chunk)
{
	struct starts *starts = ctx;

	starts->ns[starts->count] = chunk->start_ns;
	starts->end_ns[starts->count] = chunk->start_ns + chunk->duration_ns;
	starts->ticks[starts->count++] = chunk->start_ticks;
}

static void chunks_have_one_clock_and_different_starts(void)
{
	struct starts starts = { .count = 0 };
	const struct walker walker = { .chunk = see_start, .ctx = &starts };

	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	/* No time has passed, or it went back. */
	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	ASSERT_INT(jfr_writer_segment(writer, rec, after(0), -1), 0);
	ASSERT_INT(jfr_writer_segment(writer, rec, after(9), -1), 0);
	ASSERT_INT(walk(bytes, size, &walker), 4);
	for (int i = 1; i < 4; i++) {
		ASSERT_INT(starts.ns[i], starts.end_ns[i - 1]);
		CU_ASSERT(starts.ns[i] > starts.ns[i - 1]);
		ASSERT_INT(starts.ticks[i] - starts.ticks[0], starts.ns[i] - starts.ns[0]);
	}
	ASSERT_INT(starts.end_ns[3], after(9));
}

/* The first event may be covered by one of 8 bytes and more whose size takes one byte. */
static void the_first_event_is_neither_long_nor_short(void)
{
	struct walked_event event;

	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	CU_ASSERT(walk_event(bytes + JFR_HEADER_SIZE, bytes + size, &event));
	CU_ASSERT(event.size >= 8 && event.size < 128);
	CU_ASSERT(event.type != JFR_METADATA && event.type != JFR_CHECKPOINT);
	CU_ASSERT_PTR_NULL(jfr_type(JFR_UNDECLARED));
	CU_ASSERT_PTR_NULL(jfr_type('L'));
}

struct samples {
	uint64_t type[32], ticks[32], thread[32], stack[32], state[32];
	int count;
};

static void see_sample(void *ctx, const struct walked_event *event)
{
	struct samples *samples = ctx;
	struct cursor c = cursor_of(event->fields, event->size);
	int n = samples->count;

	if (event->type != JFR_EXECUTION_SAMPLE && event->type != JFR_NATIVE_METHOD_SAMPLE)
		return;
	CU_ASSERT_FATAL(n < 32);
	samples->type[n] = event->type;
	samples->ticks[n] = jfr_varint(&c);
	samples->thread[n] = jfr_varint(&c);
	samples->stack[n] = jfr_varint(&c);
	samples->state[n] = jfr_varint(&c);
	CU_ASSERT(c.at == event->at + event->size);
	samples->count++;
}

static void see_samples(struct samples *samples)
{
	const struct walker walker = { .event = see_sample, .ctx = samples };

	samples->count = 0;
	CU_ASSERT_FATAL(walk(bytes, size, &walker) > 0);
}

static void samples_say_when_who_and_where(void)
{
	struct samples seen;
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);

	add_samples();
	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	see_samples(&seen);
	ASSERT_INT(seen.count, count);
	for (size_t i = 0; i < count; i++) {
		enum rec_thread_state state = (enum rec_thread_state)(i % REC_STATE_NR);
		bool in_native = state == REC_STATE_IN_NATIVE;
		uint32_t depth = rec_stack_get(rec, totals[i].key.stack).count;

		ASSERT_INT(seen.type[i],
			   in_native ? JFR_NATIVE_METHOD_SAMPLE : JFR_EXECUTION_SAMPLE);
		ASSERT_INT(seen.ticks[i], 1000000000 + 1000000 * (long long)i);
		ASSERT_INT(seen.stack[i], depth ? totals[i].key.stack : 0);
		ASSERT_INT(seen.state[i], JFR_STATE_DEFAULT);
		CU_ASSERT(seen.thread[i] > 0);
	}
}

static void a_value_keeps_its_id_in_the_next_chunk(void)
{
	struct samples seen;
	int half;

	for (int second = 1; second <= 2; second++) {
		add_samples();
		ASSERT_INT(jfr_writer_segment(writer, rec, after(second), -1), 0);
	}
	see_samples(&seen);
	half = seen.count / 2;
	for (int i = 0; i < half; i++) {
		ASSERT_INT(seen.thread[i], seen.thread[half + i]);
		ASSERT_INT(seen.stack[i], seen.stack[half + i]);
	}
}

static void a_thread_that_is_named_anew_is_another_constant(void)
{
	struct samples seen;
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);
	struct rec_sample sample = { .time_ns = after(0), .key = totals[0].key };

	jfr_writer_sample(writer, rec, &sample);
	rec_thread_get(rec, sample.key.thread)->name = golden_string(rec, "renamed");
	jfr_writer_sample(writer, rec, &sample);
	jfr_writer_sample(writer, rec, &sample);
	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	see_samples(&seen);
	ASSERT_INT(seen.count, 3);
	CU_ASSERT(seen.thread[0] != seen.thread[1]);
	ASSERT_INT(seen.thread[1], seen.thread[2]);
}

static void a_time_before_the_recording_is_not_negative(void)
{
	struct rec_sample sample = { .time_ns = after(-5) };
	struct samples seen;

	jfr_writer_sample(writer, rec, &sample);
	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	see_samples(&seen);
	ASSERT_INT(seen.ticks[0], 1);
	ASSERT_INT(seen.thread[0], 0);
	ASSERT_INT(seen.stack[0], 0);
}

/* ---- names */

/* A string of the file: encoding 3, its length in one byte, and its bytes. */
static bool has_string(const char *text)
{
	size_t len = strlen(text);
	uint8_t needle[2 + 127] = { 3, (uint8_t)len };

	CU_ASSERT_FATAL(len < 128);
	memcpy(needle + 2, text, len);
	return memmem(bytes, size, needle, len + 2) != NULL;
}

static void names_are_those_that_readers_accept(void)
{
	static const char *const there[] = {
		"com/example/Main$$Lambda+0x00007f0001", /* hidden classes as the JVM has them */
		"com/example",
		"libfoo.so+0x1234", /* code without a symbol */
		"kernel",
		"(Lk;)L;",
		"()L;",					       /* no class may begin with [ */
		"com/example/\xed\x95\x9c\xea\xb8\x80",	       /* true UTF-8 */
		"a;b\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd", /* and nothing else */
		"Main.java",
		"jvm 4242",
	};

	add_samples();
	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	for (size_t i = 0; i < ARRAY_SIZE(there); i++) {
		if (!has_string(there[i]))
			fprintf(stderr, "not in the file: %s\n", there[i]);
		CU_ASSERT(has_string(there[i]));
	}
	CU_ASSERT(!has_string("[kernel]"));
}

static void long_text_makes_long_events(void)
{
	static const size_t lengths[] = { 100, 127, 128, 16300, 16383, 16384, 2100000 };
	const struct walker walker = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		char *text = malloc(lengths[i]);

		CU_ASSERT_PTR_NOT_NULL_FATAL(text);
		memset(text, 'x', lengths[i]);
		rec_jvm_get(rec, 1)->arguments = rec_string(rec, text, lengths[i]);
		free(text);
		ASSERT_INT(jfr_writer_segment(writer, rec, after((int)i + 1), -1), 0);
		ASSERT_INT(walk(bytes, size, &walker), i + 1);
	}
}

/* ---- the end of a chunk */

struct sums {
	uint64_t counts;   /* of jvmscope.Quality */
	uint64_t loads[8]; /* the bytes of jvmUser of each jdk.CPULoad */
	int events[128];
};

static void add_up(void *ctx, const struct walked_event *event)
{
	struct sums *sums = ctx;
	struct cursor c = cursor_of(event->fields, event->size);

	if (event->type == JFR_CPU_LOAD && sums->events[JFR_CPU_LOAD] < 8) {
		jfr_varint(&c);
		sums->loads[sums->events[JFR_CPU_LOAD]] = jfr_big_endian(c.at, 4);
		c = cursor_of(event->fields, event->size);
	}
	if (event->type < 128)
		sums->events[event->type]++;
	if (event->type != JFR_QUALITY)
		return;
	jfr_varint(&c);
	jfr_string(&c);
	jfr_string(&c);
	sums->counts += jfr_varint(&c);
}

static void what_was_said_is_not_said_again(void)
{
	struct sums sums = { 0 };
	const struct walker walker = { .event = add_up, .ctx = &sums };

	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	ASSERT_INT(jfr_writer_segment(writer, rec, after(2), -1), 0);
	rec_quality_add(rec, REC_QUALITY_LOST, "ring-full", 40);
	rec_thread_get(rec, 1)->cpu_ns += 5;
	ASSERT_INT(jfr_writer_segment(writer, rec, after(3), -1), 0);
	ASSERT_INT(walk(bytes, size, &walker), 3);
	ASSERT_INT(sums.counts, 12 + 2 + 4 + 2 + 1 + 1 + 40);
	ASSERT_INT(sums.events[JFR_QUALITY], 7 + 1);
	ASSERT_INT(sums.events[JFR_THREAD_TIME], rec_thread_count(rec) + 1);
	ASSERT_INT(sums.events[JFR_DATA_LOSS], 2);
	ASSERT_INT(sums.events[JFR_CPU_LOAD], 3);
}

static void rules_are_said_once_when_they_are_counted(void)
{
	struct sums sums = { 0 };
	const struct walker walker = { .event = add_up, .ctx = &sums };

	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	ASSERT_INT(walk(bytes, size, &walker), 1);
	ASSERT_INT(sums.events[JFR_FILTER] + sums.events[JFR_FILTER_RULE], 0);
	golden_filter(rec, FILTER_MARK);
	ASSERT_INT(jfr_writer_segment(writer, rec, after(2), -1), 0);
	ASSERT_INT(jfr_writer_segment(writer, rec, after(3), -1), 0);
	ASSERT_INT(walk(bytes, size, &walker), 3);
	ASSERT_INT(sums.events[JFR_FILTER], 1);
	CU_ASSERT(rec_rule_count(rec) > 1);
	ASSERT_INT(sums.events[JFR_FILTER_RULE], rec_rule_count(rec));
}

static void the_error_of_the_sink_comes_back(void)
{
	sink_err = -ENOSPC;
	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), -ENOSPC);
	sink_err = 0;
	ASSERT_INT(jfr_writer_segment(writer, rec, after(2), -1), 0);
}

/* ---- chunks of several segments */

#define SECOND_NS 1000000000ull

struct parts {
	struct sums sums;
	int checkpoints, back;
	uint64_t duration_ns;
};

/* The chunk's part, before its events. */
static void see_part(void *ctx, const struct walked_chunk *seen)
{
	struct parts *parts = ctx;

	parts->back += walk_back(seen);
	parts->duration_ns = seen->duration_ns;
}

static void see_event_of_part(void *ctx, const struct walked_event *event)
{
	struct parts *parts = ctx;

	parts->checkpoints += event->type == JFR_CHECKPOINT;
	add_up(&parts->sums, event);
}

/* Returns how many chunks there are; all their checkpoints are on the way back. */
static int see_parts(struct parts *parts)
{
	const struct walker walker = { see_part, see_event_of_part, parts };
	int chunks;

	*parts = (struct parts){ 0 };
	chunks = walk(bytes, size, &walker);
	ASSERT_INT(parts->back, parts->checkpoints);
	return chunks;
}

static void a_chunk_says_what_it_knows_once(void)
{
	struct parts parts;
	size_t first, second, third;

	set_up_segments(UINT64_MAX, 3 * SECOND_NS);
	add_samples();
	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	first = size;
	add_samples();
	ASSERT_INT(jfr_writer_segment(writer, rec, after(2), -1), 0);
	second = size - first;
	ASSERT_INT(jfr_writer_segment(writer, rec, after(3), -1), 0);
	third = size - second - first;
	ASSERT_INT(see_parts(&parts), 1);
	ASSERT_INT(parts.checkpoints, 3);
	ASSERT_INT(parts.duration_ns, 3 * SECOND_NS);
	ASSERT_INT(parts.sums.events[JFR_METADATA], 1);
	ASSERT_INT(parts.sums.events[JFR_OS_INFORMATION], 1);
	ASSERT_INT(parts.sums.events[JFR_JVM], rec_jvm_count(rec));
	ASSERT_INT(parts.sums.events[JFR_RECORDING], 3);
	CU_ASSERT(second < 1500 && third < second && first > 20 * second);
}

static void the_next_chunk_can_be_read_alone(void)
{
	struct parts parts;
	size_t first = 0, one;

	set_up_segments(UINT64_MAX, 2 * SECOND_NS);
	for (int second = 1; second <= 5; second++) {
		add_samples();
		ASSERT_INT(jfr_writer_segment(writer, rec, after(second), -1), 0);
		first = first ? first : size;
	}
	ASSERT_INT(see_parts(&parts), 3);
	ASSERT_INT(parts.checkpoints, 5);
	ASSERT_INT(parts.sums.events[JFR_JVM], 3 * rec_jvm_count(rec));
	/* The last chunk has one segment, with the constants that the first one had. */
	one = size - last_chunk;
	CU_ASSERT(one > first - 1000 && one < first + 1000);
}

static void a_chunk_that_would_be_too_large_ends(void)
{
	struct parts parts;

	set_up_segments(100000, UINT64_MAX);
	for (int second = 1; second <= 4; second++)
		ASSERT_INT(jfr_writer_segment(writer, rec, after(second), -1), 0);
	ASSERT_INT(see_parts(&parts), 1);
	for (int second = 5; see_parts(&parts) == 1; second++) {
		CU_ASSERT_FATAL(size <= 100000);
		add_samples();
		ASSERT_INT(jfr_writer_segment(writer, rec, after(second), -1), 0);
	}
	CU_ASSERT(last_chunk > 95000 && last_chunk <= 100000);
}

static void a_jvm_is_said_when_it_is_known(void)
{
	struct rec_jvm jvm = { .pid = 77 };
	struct parts parts;
	int before = (int)rec_jvm_count(rec);

	set_up_segments(UINT64_MAX, 60 * SECOND_NS);
	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	CU_ASSERT_FATAL(rec_jvm(rec, &jvm) > 0);
	ASSERT_INT(jfr_writer_segment(writer, rec, after(2), -1), 0);
	ASSERT_INT(see_parts(&parts), 1);
	ASSERT_INT(parts.sums.events[JFR_JVM], before + 1);
	rec_jvm_get(rec, 1)->gc_name = golden_string(rec, "Epsilon");
	ASSERT_INT(jfr_writer_segment(writer, rec, after(3), -1), 0);
	ASSERT_INT(jfr_writer_segment(writer, rec, after(4), -1), 0);
	ASSERT_INT(see_parts(&parts), 1);
	ASSERT_INT(parts.sums.events[JFR_JVM], before + 2);
}

static void loads_are_those_of_the_segment(void)
{
	struct parts parts;

	set_up_segments(UINT64_MAX, 60 * SECOND_NS);
	for (int second = 1; second <= 2; second++) {
		add_samples();
		ASSERT_INT(jfr_writer_segment(writer, rec, after(second), -1), 0);
	}
	ASSERT_INT(see_parts(&parts), 1);
	CU_ASSERT(parts.sums.events[JFR_CPU_LOAD] == 2);
	CU_ASSERT(parts.sums.loads[0] > 0);
	CU_ASSERT(parts.sums.loads[0] == parts.sums.loads[1]);
}

static void a_segment_that_was_not_taken_ends_the_chunk(void)
{
	struct parts parts;

	set_up_segments(UINT64_MAX, 60 * SECOND_NS);
	ASSERT_INT(jfr_writer_segment(writer, rec, after(1), -1), 0);
	sink_err = -ENOSPC;
	add_samples();
	ASSERT_INT(jfr_writer_segment(writer, rec, after(2), -1), -ENOSPC);
	sink_err = 0;
	add_samples();
	ASSERT_INT(jfr_writer_segment(writer, rec, after(3), -1), 0);
	ASSERT_INT(see_parts(&parts), 2);
}

static CU_TestInfo tests[] = {
	{ "a full recording has these bytes", a_full_recording_has_these_bytes },
	{ "a chunk without samples is one, too", a_chunk_without_samples_is_one_too },
	{ "the fixed part of a chunk is small", the_fixed_part_of_a_chunk_is_small },
	{ "chunks have one clock and different starts",
	  chunks_have_one_clock_and_different_starts },
	{ "the first event is neither long nor short", the_first_event_is_neither_long_nor_short },
	{ "samples say when, who and where", samples_say_when_who_and_where },
	{ "a value keeps its id in the next chunk", a_value_keeps_its_id_in_the_next_chunk },
	{ "a thread that is named anew is another constant",
	  a_thread_that_is_named_anew_is_another_constant },
	{ "a time before the recording is not negative",
	  a_time_before_the_recording_is_not_negative },
	{ "names are those that readers accept", names_are_those_that_readers_accept },
	{ "long text makes long events", long_text_makes_long_events },
	{ "what was said is not said again", what_was_said_is_not_said_again },
	{ "rules are said once, when they are counted", rules_are_said_once_when_they_are_counted },
	{ "the error of the sink comes back", the_error_of_the_sink_comes_back },
	{ "a chunk says what it knows once", a_chunk_says_what_it_knows_once },
	{ "the next chunk can be read alone", the_next_chunk_can_be_read_alone },
	{ "a chunk that would be too large ends", a_chunk_that_would_be_too_large_ends },
	{ "a JVM is said when it is known", a_jvm_is_said_when_it_is_known },
	{ "loads are those of the segment", loads_are_those_of_the_segment },
	{ "a segment that was not taken ends the chunk",
	  a_segment_that_was_not_taken_ends_the_chunk },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jfr_write_suite = {
	.pName = "jfr_write",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
