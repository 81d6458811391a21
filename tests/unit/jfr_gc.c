/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/strbuf.h"
#include "golden/gc.h"
#include "jfr/jfr_events.h"
#include "jfr/jfr_fill.h"
#include "jfr/jfr_write.h"
#include "unit/jfr_walk.h"
#include "unit/rec_lines.h"

#include "unit/jfr_made.h" /* last: it has variables */

/* Collections and safepoints of a file that is written while it is recorded. */

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
	const struct jfr_fill_options options = { .name = "memory" };
	struct recording *read = rec_new();
	struct jfr_result result;
	struct jfr_input in;

	jfr_input_memory(bytes, size, &in);
	ASSERT_INT(jfr_fill(&in, &options, read, &result), 0);
	jfr_input_close(&in);
	ASSERT_INT(result.bytes_lost + result.events_damaged, 0);
	return read;
}

/* Of what the VM does: the rest has tests of its own. */
static void expect_same(const struct recording *read)
{
	struct rec_lines expected = { 0 }, got = { 0 };

	rec_lines_of_gc(rec, &expected);
	rec_lines_of_gc(read, &got);
	qsort(expected.lines, expected.count, sizeof(*expected.lines), rec_lines_compare);
	qsort(got.lines, got.count, sizeof(*got.lines), rec_lines_compare);
	ASSERT_INT(got.count, expected.count);
	for (size_t i = 0; i < expected.count; i++)
		CU_ASSERT_STRING_EQUAL(got.lines[i], expected.lines[i]);
	rec_lines_free(&expected);
	rec_lines_free(&got);
}

/* ---- the bytes */

static void dump_event(void *ctx, const struct walked_event *event)
{
	struct strbuf *text = ctx;
	const struct jfr_type *type = jfr_type((unsigned int)event->type);
	size_t count = (size_t)(event->at + event->size - event->fields);

	if (event->type < JFR_VM_EVENT_FIRST || event->type >= JFR_VM_EVENT_END)
		return;
	strbuf_puts(text, type->name);
	for (size_t i = 0; i < count; i++)
		strbuf_printf(text, i % 32 ? " %02x" : "\n\t%02x", event->fields[i]);
	strbuf_puts(text, "\n");
}

static void a_recording_with_collections_has_these_bytes(void)
{
	struct strbuf text = { 0 };
	const struct walker walker = { .event = dump_event, .ctx = &text };

	golden_gc(rec);
	end_segment(1);
	ASSERT_INT(walk(bytes, size, &walker), 1);
	golden_compare("gc.jfr.expected", text.text, text.len);
	strbuf_free(&text);
}

/* ---- segments */

struct counts {
	uint64_t of[JFR_DECLARED_FIRST];
};

static void count_event(void *ctx, const struct walked_event *event)
{
	struct counts *counts = ctx;

	if (event->type < JFR_DECLARED_FIRST)
		counts->of[event->type]++;
}

static struct counts count_events(void)
{
	struct counts counts = { 0 };
	const struct walker walker = { .event = count_event, .ctx = &counts };

	CU_ASSERT(walk(bytes, size, &walker) > 0);
	return counts;
}

static void everything_is_said_once(void)
{
	struct counts counts;

	end_segment(1);
	golden_gc(rec);
	end_segment(2);
	end_segment(3);
	rec_vm_count_set(rec, 1, "gc_hits", 13);
	end_segment(4);
	counts = count_events();
	ASSERT_INT(counts.of[JFR_GARBAGE_COLLECTION], 2);
	ASSERT_INT(counts.of[JFR_YOUNG_GARBAGE_COLLECTION], 1);
	ASSERT_INT(counts.of[JFR_OLD_GARBAGE_COLLECTION], 0);
	ASSERT_INT(counts.of[JFR_GC_HEAP_SUMMARY], 2);
	ASSERT_INT(counts.of[JFR_METASPACE_SUMMARY], 2);
	ASSERT_INT(counts.of[JFR_GC_PHASE_PAUSE], 2);
	ASSERT_INT(counts.of[JFR_GC_PHASE_CONCURRENT], 1);
	ASSERT_INT(counts.of[JFR_SAFEPOINT_BEGIN], 1);
	ASSERT_INT(counts.of[JFR_SAFEPOINT_END], 1);
	ASSERT_INT(counts.of[JFR_EXECUTE_VM_OPERATION], 2);
	ASSERT_INT(counts.of[JFR_VM_COUNT], 3);
}

/* ZGC of JDK 21 and later tells what is left when the collection has ended. */
static void sizes_that_come_later_are_those_of_their_collection(void)
{
	struct recording *read;

	golden_gc(rec);
	end_segment(1);
	rec_collection_get(rec, 2)->heap[1] = (struct rec_gc_heap){ true, 1, 2, 3, 4 };
	end_segment(2);
	rec_collection_get(rec, 2)->metaspace[0].known = true;
	rec_collection_get(rec, 2)->metaspace[0].threshold = 5;
	end_segment(3);
	ASSERT_INT(count_events().of[JFR_GC_HEAP_SUMMARY], 3);
	read = read_back();
	expect_same(read);
	rec_free(read);
}

/* Two that ran when recording of their JVMs began, and have no number. */
static void those_without_a_number_do_not_mix(void)
{
	const struct rec_collection rows[] = {
		{ .jvm = 1, .time_ns = 1, .heap = { { true, 1, 2, 3, 4 } } },
		{ .jvm = 1, .time_ns = 2, .heap = { { true, 5, 6, 7, 8 } } },
		{ .jvm = 1, .time_ns = 3, .numbered = true },
	};
	struct recording *read;

	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rec_collection row = rows[i];
		struct rec_gc_phase phase = { .jvm = 1, .level = i };

		row.time_ns += rec_meta_get(rec)->start_time_ns;
		phase.collection = rec_collection(rec, &row);
		phase.time_ns = row.time_ns;
		rec_gc_phase(rec, &phase);
	}
	end_segment(1);
	read = read_back();
	expect_same(read);
	rec_free(read);
}

/* As profile settings of JDK have it: the end of safepoints is not recorded. */
static void a_safepoint_without_an_end_lasts_as_its_operations(void)
{
	const int64_t start_ns = rec_meta_get(rec)->start_time_ns;
	const struct rec_safepoint safepoint = {
		.jvm = 1, .id = 5, .time_ns = start_ns + 100, .reach_ns = 10, .duration_ns = 1000
	};
	const struct rec_vm_operation operation = { .jvm = 1,
						    .name = golden_string(rec, "Cleanup"),
						    .stops = true,
						    .safepoint = 5,
						    .time_ns = start_ns + 120,
						    .duration_ns = 300 };
	const struct rec_safepoint *got;
	struct recording *read;
	struct walked_event event;
	size_t count;

	rec_safepoint(rec, &safepoint);
	rec_vm_operation(rec, &operation);
	end_segment(1);
	for (uint8_t *at = bytes + JFR_HEADER_SIZE; walk_event(at, bytes + size, &event);
	     at += event.size)
		if (event.type == JFR_SAFEPOINT_END)
			bytes[event.fields - 2 - bytes]++; /* of two bytes: the next type */
	read = read_back();
	got = rec_safepoints(read, &count);
	ASSERT_INT(count, 1);
	ASSERT_INT(got[0].duration_ns, 320);
	ASSERT_INT(got[0].reach_ns, 10);
	CU_ASSERT_STRING_EQUAL(rec_text(read, got[0].operation), "Cleanup");
	rec_free(read);
}

static CU_TestInfo tests[] = {
	{ "a recording with collections has these bytes",
	  a_recording_with_collections_has_these_bytes },
	{ "everything is said once", everything_is_said_once },
	{ "sizes that come later are those of their collection",
	  sizes_that_come_later_are_those_of_their_collection },
	{ "those without a number do not mix", those_without_a_number_do_not_mix },
	{ "a safepoint without an end lasts as its operations",
	  a_safepoint_without_an_end_lasts_as_its_operations },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jfr_gc_suite = {
	.pName = "jfr_gc",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
