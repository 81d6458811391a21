/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "golden/recording.h"
#include "jfr/jfr_decode.h"
#include "jfr/jfr_events.h"
#include "jfr/jfr_write.h"
#include "model/series.h"
#include "unit/jfr_walk.h"

/* What is counted each second, as events of the JDK: userspace/jfr/jfr_write_counters.c. */

#define NS_PER_S 1000000000ll

static struct recording *rec;
static struct jfr_writer *writer;
static uint8_t *bytes; /* all chunks */
static size_t size;

/* The events of one type, the last one as numbers. */
static struct {
	uint64_t type;
	int count;
	double floats[4];
	uint64_t longs[12];
	uint64_t ticks;
} seen;

static int keep(void *ctx, const struct jfr_finished_segment *segment)
{
	(void)ctx;
	bytes = realloc(bytes, size + segment->size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	memcpy(bytes + size, segment->bytes, segment->size);
	size += segment->size;
	return 0;
}

static void setup(void)
{
	const struct jfr_writer_options options = { .sink = keep };

	bytes = NULL;
	size = 0;
	rec = golden_recording();
	rec_meta(rec)->cpus = 4;
	ASSERT_INT(jfr_writer_open(&options, rec, &writer), 0);
}

static void teardown(void)
{
	jfr_writer_close(writer);
	rec_free(rec);
	free(bytes);
}

static int64_t start_ns(void)
{
	return rec_meta_get(rec)->start_time_ns;
}

/* A value that was read at at_ns since the start. */
static void add(uint32_t jvm, const char *name, int64_t at_ns, int64_t value)
{
	rec_series_add(rec, jvm, jvm ? REC_SERIES_AT : REC_MACHINE_SERIES_AT, start_ns() + at_ns,
		       at_ns);
	rec_series_add(rec, jvm, name, start_ns() + at_ns, value);
}

static void end_segment(int seconds)
{
	ASSERT_INT(jfr_writer_segment(writer, rec, start_ns() + seconds * NS_PER_S, 0.25), 0);
}

static void see(void *ctx, const struct walked_event *event)
{
	struct cursor c = cursor_of(event->fields, event->size), d;

	(void)ctx;
	if (event->type != seen.type)
		return;
	seen.count++;
	seen.ticks = jfr_varint(&c);
	d = c;
	for (int i = 0; i < 12; i++)
		seen.longs[i] = jfr_varint(&d);
	for (int i = 0; i < 4 && cursor_left(&c) >= 4; i++) {
		uint32_t bits = (uint32_t)jfr_big_endian(cursor_bytes(&c, 4), 4);
		float value;

		memcpy(&value, &bits, sizeof(value));
		seen.floats[i] = (double)value;
	}
}

/* How many there are. */
static int look(enum jfr_type_id type)
{
	const struct walker walker = { .event = see };

	memset(&seen, 0, sizeof(seen));
	seen.type = type;
	CU_ASSERT(walk(bytes, size, &walker) > 0);
	return seen.count;
}

static void counters_become_events_when_they_were_read(void)
{
	add(1, "threads_live", NS_PER_S / 2, 17);
	add(1, "threads_daemon", NS_PER_S / 2, 15);
	add(1, "threads_started_total", NS_PER_S / 2, 30);
	add(1, "threads_peak", NS_PER_S / 2, 20);
	end_segment(2);
	ASSERT_INT(look(JFR_JAVA_THREAD_STATISTICS), 1);
	ASSERT_INT(seen.longs[0], 17);
	ASSERT_INT(seen.longs[1], 15);
	ASSERT_INT(seen.longs[2], 30);
	ASSERT_INT(seen.longs[3], 20);
	/* Ticks begin with a second, see jfr_write.c. */
	ASSERT_INT(seen.ticks, NS_PER_S + NS_PER_S / 2);
	ASSERT_INT(look(JFR_CLASS_LOADING_STATISTICS), 0);
}

static void a_reading_is_said_once(void)
{
	add(1, "threads_live", NS_PER_S / 2, 17);
	end_segment(1);
	end_segment(2);
	ASSERT_INT(look(JFR_JAVA_THREAD_STATISTICS), 1);
	add(1, "threads_live", 5 * NS_PER_S / 2, 17);
	end_segment(3);
	ASSERT_INT(look(JFR_JAVA_THREAD_STATISTICS), 2);
	/* A later one of the same second is another one. */
	add(1, "threads_live", 5 * NS_PER_S / 2 + 1000, 18);
	end_segment(4);
	ASSERT_INT(look(JFR_JAVA_THREAD_STATISTICS), 3);
	ASSERT_INT(seen.longs[0], 18);
}

static void what_is_not_known_is_said_so(void)
{
	add(1, "compilations_total", NS_PER_S, 5);
	add(1, "compilation_ns_total", NS_PER_S, 7999999);
	end_segment(2);
	ASSERT_INT(look(JFR_COMPILER_STATISTICS), 1);
	ASSERT_INT(seen.longs[0], 5);
	ASSERT_INT(seen.longs[9], INT64_MIN);
	ASSERT_INT(seen.longs[10], 7);
}

static void rates_are_by_the_time_between_readings(void)
{
	const char *switches = REC_MACHINE "context_switches_total";

	add(0, switches, NS_PER_S, 1000);
	end_segment(2);
	ASSERT_INT(look(JFR_THREAD_CONTEXT_SWITCH_RATE), 0);
	/* A second was missed, and a half. */
	add(0, switches, 7 * NS_PER_S / 2, 2000);
	end_segment(4);
	ASSERT_INT(look(JFR_THREAD_CONTEXT_SWITCH_RATE), 1);
	CU_ASSERT_DOUBLE_EQUAL(seen.floats[0], 400, 0.01);
	/* A counter that fell is another one. */
	add(0, switches, 5 * NS_PER_S, 100);
	end_segment(6);
	ASSERT_INT(look(JFR_THREAD_CONTEXT_SWITCH_RATE), 1);
}

static void loads_are_of_all_JVMs_and_all_CPUs(void)
{
	static const struct rec_jvm second;
	uint32_t other = rec_jvm(rec, &second);

	for (int64_t n = 1; n <= 2; n++) {
		int64_t at_ns = n * NS_PER_S;

		add(0, REC_MACHINE "cpu_ns_total", at_ns, 4 * n * NS_PER_S);
		add(0, REC_MACHINE "cpu_busy_ns_total", at_ns, 3 * n * NS_PER_S);
		add(1, "cpu_user_ns_total", at_ns, n * NS_PER_S);
		add(1, "cpu_system_ns_total", at_ns, n * NS_PER_S / 5);
		/* Read a little later, and so for longer. */
		add(other, "cpu_user_ns_total", at_ns + n * NS_PER_S / 10, 11 * n * NS_PER_S / 10);
		add(other, "cpu_system_ns_total", at_ns + n * NS_PER_S / 10, 0);
	}
	end_segment(3);
	ASSERT_INT(look(JFR_CPU_LOAD), 1);
	CU_ASSERT_DOUBLE_EQUAL(seen.floats[0], 2.0 / 4, 0.001);
	CU_ASSERT_DOUBLE_EQUAL(seen.floats[1], 0.2 / 4, 0.001);
	CU_ASSERT_DOUBLE_EQUAL(seen.floats[2], 0.75, 0.001);
	/* Loads by samples come no more. */
	end_segment(4);
	ASSERT_INT(look(JFR_CPU_LOAD), 1);
}

static void pools_have_the_names_of_their_collector(void)
{
	const char *name = "PS Eden Space";

	rec_jvm_get(rec, 1)->gc_name = rec_string(rec, "Parallel", strlen("Parallel"));
	add(1, "heap_eden_used_bytes", NS_PER_S, 5);
	add(1, "heap_eden_committed_bytes", NS_PER_S, 6);
	add(1, "heap_old_used_bytes", NS_PER_S, 7);
	end_segment(2);
	ASSERT_INT(look(JFR_GC_HEAP_MEMORY_POOL_USAGE), 2);
	CU_ASSERT_PTR_NOT_NULL(memmem(bytes, size, name, strlen(name)));
	/* A collector that is not known has no pools. */
	rec_jvm_get(rec, 1)->gc_name = 0;
	add(1, "heap_eden_used_bytes", 3 * NS_PER_S, 5);
	end_segment(4);
	ASSERT_INT(look(JFR_GC_HEAP_MEMORY_POOL_USAGE), 2);
}

static CU_TestInfo tests[] = {
	{ "counters become events when they were read",
	  counters_become_events_when_they_were_read },
	{ "a reading is said once", a_reading_is_said_once },
	{ "what is not known is said so", what_is_not_known_is_said_so },
	{ "rates are by the time between readings", rates_are_by_the_time_between_readings },
	{ "loads are of all JVMs and all CPUs", loads_are_of_all_JVMs_and_all_CPUs },
	{ "pools have the names of their collector", pools_have_the_names_of_their_collector },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jfr_counters_suite = {
	.pName = "jfr_counters",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
