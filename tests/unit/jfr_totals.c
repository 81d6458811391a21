/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/strbuf.h"
#include "golden/events.h"
#include "jfr/jfr_events.h"
#include "jfr/jfr_fill.h"
#include "jfr/jfr_write.h"
#include "unit/jfr_walk.h"
#include "unit/rec_lines.h"

#include "unit/jfr_made.h" /* last: it has variables */

/* What happens at a moment, of a file that is written while it is recorded. */

static void setup(void)
{
	begin_file(golden_recording());
}

static void end_segment(int seconds)
{
	int64_t start_ns = rec_meta_get(rec)->start_time_ns;

	ASSERT_INT(jfr_writer_segment(writer, rec, start_ns + seconds * 1000000000ll, -1), 0);
}

static struct recording *read_back(void)
{
	const struct jfr_fill_options options = { .name = "memory", .keep_samples = true };
	struct recording *read = rec_new();
	struct jfr_result result;
	struct jfr_input in;

	jfr_input_memory(bytes, size, &in);
	ASSERT_INT(jfr_fill(&in, &options, read, &result), 0);
	jfr_input_close(&in);
	ASSERT_INT(result.bytes_lost + result.events_damaged, 0);
	return read;
}

/* Rows are written, and dropped, as they are while a JVM is recorded. */
static void write_samples(void)
{
	size_t count;
	const struct rec_sample *rows = rec_samples(rec, &count);

	for (size_t i = 0; i < count; i++)
		jfr_writer_sample(writer, rec, &rows[i]);
	rec_samples_drop(rec);
}

/* ---- the bytes */

static bool is_event(uint64_t type)
{
	static const enum jfr_type_id types[] = {
		JFR_THREAD_START, JFR_THREAD_END,  JFR_JAVA_MONITOR_ENTER, JFR_JAVA_MONITOR_WAIT,
		JFR_THREAD_PARK,  JFR_COMPILATION, JFR_DEOPTIMIZATION,	   JFR_JAVA_EXCEPTION_THROW,
		JFR_TOTAL,	  JFR_OFF_CPU,
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (type == types[i])
			return true;
	return false;
}

static void dump_event(void *ctx, const struct walked_event *event)
{
	struct strbuf *text = ctx;
	size_t count = (size_t)(event->at + event->size - event->fields);

	if (!is_event(event->type))
		return;
	strbuf_puts(text, jfr_type((unsigned int)event->type)->name);
	for (size_t i = 0; i < count; i++)
		strbuf_printf(text, i % 32 ? " %02x" : "\n\t%02x", event->fields[i]);
	strbuf_puts(text, "\n");
}

static void a_recording_with_events_has_these_bytes(void)
{
	struct strbuf text = { 0 };
	const struct walker walker = { .event = dump_event, .ctx = &text };

	rec_samples_keep(rec, true);
	golden_events(rec);
	write_samples();
	end_segment(1);
	ASSERT_INT(walk(bytes, size, &walker), 1);
	golden_compare("events.jfr.expected", text.text, text.len);
	strbuf_free(&text);
}

/* ---- segments */

static void count_event(void *ctx, const struct walked_event *event)
{
	int *counts = ctx;

	if (event->type < JFR_DECLARED_FIRST)
		counts[event->type]++;
}

static void expect_counts(int waits, int totals, int off_cpu)
{
	int counts[JFR_DECLARED_FIRST] = { 0 };
	const struct walker walker = { .event = count_event, .ctx = counts };

	CU_ASSERT(walk(bytes, size, &walker) > 0);
	ASSERT_INT(counts[JFR_JAVA_MONITOR_ENTER], waits);
	ASSERT_INT(counts[JFR_TOTAL], totals);
	ASSERT_INT(counts[JFR_OFF_CPU], off_cpu);
}

/* Those that events are of. */
static void lines_of(const struct recording *of, struct rec_lines *to)
{
	size_t count;
	const struct rec_total *totals = rec_totals(of, &count);

	for (size_t i = 0; i < count; i++) {
		if (!rec_metric_info(totals[i].key.metric)->is_partly_sampled)
			continue;
		REC_LINE(to, out)
		rec_print_total(of, &totals[i], out);
	}
	qsort(to->lines, to->count, sizeof(*to->lines), rec_lines_compare);
}

static void expect_same_totals(void)
{
	struct rec_lines expected = { 0 }, got = { 0 };
	struct recording *read = read_back();

	lines_of(rec, &expected);
	lines_of(read, &got);
	CU_ASSERT(expected.count > 0);
	ASSERT_INT(got.count, expected.count);
	for (size_t i = 0; i < expected.count; i++)
		CU_ASSERT_STRING_EQUAL(got.lines[i], expected.lines[i]);
	rec_lines_free(&expected);
	rec_lines_free(&got);
	rec_free(read);
}

static void a_total_is_said_as_far_as_no_sample_says_it(void)
{
	rec_samples_keep(rec, true);
	end_segment(1);
	expect_counts(0, 0, 0);
	golden_events(rec);
	write_samples();
	end_segment(2);
	/* Three short ones and the waker. */
	expect_counts(1, 4, 1);
	end_segment(3);
	expect_counts(1, 4, 1);
	golden_events(rec);
	write_samples();
	end_segment(4);
	expect_counts(2, 8, 2);
	expect_same_totals();
}

/* As when there are too many to be kept: the sums are right all the same. */
static void what_has_no_sample_is_in_the_total(void)
{
	golden_events(rec);
	write_samples();
	end_segment(1);
	expect_counts(0, 9, 1);
	expect_same_totals();
}

/* Whether rows were written before or after the end of a segment is nothing to the sums. */
static void samples_of_a_later_segment_are_not_in_the_total(void)
{
	rec_samples_keep(rec, true);
	golden_events(rec);
	end_segment(1);
	write_samples();
	end_segment(2);
	expect_counts(1, 4, 1);
	expect_same_totals();
}

/* ---- stacks */

/* Innermost first, as they are when an exception is made. */
static uint32_t stack_of_exception(void)
{
	static const struct {
		const char *module, *class_name, *name;
		enum rec_frame_kind kind;
	} frames[] = {
		{ "libjvm.so", "", "JVM_FillInStackTrace", REC_FRAME_CPP },
		{ "", "java.lang.Throwable", "fillInStackTrace", REC_FRAME_NATIVE },
		{ "", "java.lang.Throwable", "fillInStackTrace", REC_FRAME_INTERPRETED },
		{ "", "java.lang.Throwable", "<init>", REC_FRAME_INTERPRETED },
		{ "", "com.example.Bad", "<init>", REC_FRAME_INTERPRETED },
		{ "", "com.example.Foo", "bar", REC_FRAME_C2 },
	};
	uint32_t ids[ARRAY_SIZE(frames)];

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		const struct rec_method method = {
			.module = golden_string(rec, frames[i].module),
			.class_name = golden_string(rec, frames[i].class_name),
			.name = golden_string(rec, frames[i].name),
		};
		struct rec_frame frame = {
			.kind = frames[i].kind,
			.line = frames[i].kind == REC_FRAME_NATIVE ? -2 : -1,
			.bci = -1,
		};

		frame.method = rec_method(rec, &method);
		ids[i] = rec_frame(rec, &frame);
	}
	return rec_stack(rec, ids, ARRAY_SIZE(frames), REC_STACK_COMPLETE);
}

enum { THROW, STACKS, FRAMES, METHODS };

/* The innermost method of the event's own stack, without what our reader puts before it. */
static void on_throw(void *ctx, const struct jfr_item *e)
{
	struct jfr_item stack, frame, method;
	struct jfr_elements frames;

	CU_ASSERT_FATAL(jfr_constant(e->chunk, STACKS, jfr_number(e, 0), &stack));
	frames = jfr_elements(&stack, 0, FRAMES);
	CU_ASSERT_FATAL(jfr_next(&frames, &frame));
	CU_ASSERT_FATAL(jfr_constant(e->chunk, METHODS, jfr_number(&frame, 0), &method));
	CU_ASSERT(jfr_text(&method, 0, ctx));
}

static void expect_innermost(const char *name)
{
	static const struct jfr_want wants[] = {
		[THROW] = { "jdk.JavaExceptionThrow", { "stackTrace" }, on_throw, true },
		[STACKS] = { "jdk.types.StackTrace", { "frames" } },
		[FRAMES] = { "jdk.types.StackFrame", { "method" } },
		[METHODS] = { "jdk.types.Method", { "name" } },
	};
	const struct jfr_visitor visitor = { .wants = wants, .want_count = ARRAY_SIZE(wants) };
	struct strbuf text = { 0 };
	struct jfr_result result;
	struct jfr_input in;

	jfr_input_memory(bytes, size, &in);
	ASSERT_INT(jfr_each_event(&in, &visitor, &text, &result), 0);
	jfr_input_close(&in);
	CU_ASSERT_STRING_EQUAL(strbuf_text(&text), name);
	strbuf_free(&text);
}

static void an_exception_was_made_where_it_is_constructed(void)
{
	struct rec_sample sample = {
		.time_ns = rec_meta_get(rec)->start_time_ns + 5000,
		.key = { .metric = REC_EXCEPTION, .jvm = 1, .thread = 1 },
		.value = 1,
	};

	rec_samples_keep(rec, true);
	sample.key.stack = stack_of_exception();
	rec_add(rec, &sample.key, 1, 1);
	rec_sample(rec, &sample);
	write_samples();
	end_segment(1);
	expect_innermost("<init>");
	expect_same_totals();
}

static CU_TestInfo tests[] = {
	{ "a recording with events has these bytes", a_recording_with_events_has_these_bytes },
	{ "a total is said as far as no sample says it",
	  a_total_is_said_as_far_as_no_sample_says_it },
	{ "what has no sample is in the total", what_has_no_sample_is_in_the_total },
	{ "samples of a later segment are not in the total",
	  samples_of_a_later_segment_are_not_in_the_total },
	{ "an exception was made where it is constructed",
	  an_exception_was_made_where_it_is_constructed },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jfr_totals_suite = {
	.pName = "jfr_totals",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
