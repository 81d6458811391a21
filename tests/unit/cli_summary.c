/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/summary.h"
#include "model/gc.h"
#include "model/ledger.h"
#include "model/native.h"
#include "model/recording.h"
#include "unit/unit.h"

static const struct colors no_colors = { "", "", "", "", "" };
static struct recording *rec;
static char *text;

static void setup(void)
{
	rec = rec_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(rec);
	text = NULL;
}

static void teardown(void)
{
	rec_free(rec);
	free(text);
}

static uint32_t string(const char *s)
{
	return rec_string(rec, s, strlen(s));
}

static uint32_t add_jvm(pid_t pid)
{
	return rec_jvm(rec, &(struct rec_jvm){ .pid = pid, .main_class = string("Main") });
}

static void add_samples(uint32_t jvm, pid_t tid, const char *name, int64_t count)
{
	struct rec_method method = { .name = string("hot") };
	struct rec_frame frame = { .method = rec_method(rec, &method), .kind = REC_FRAME_C2 };
	uint32_t frames[] = { rec_frame(rec, &frame) };
	struct rec_key key = { .metric = REC_CPU,
			       .jvm = jvm,
			       .thread = rec_thread(rec, jvm, tid),
			       .stack = rec_stack(rec, frames, 1, REC_STACK_COMPLETE) };
	uint32_t name_id = string(name), group = string("java");

	rec_thread_get(rec, key.thread)->name = name_id;
	rec_thread_get(rec, key.thread)->group = group;
	rec_add(rec, &key, count, count * 1000);
}

/* The line of the summary that begins with this title, without it. */
static const char *line_of(const char *title)
{
	size_t size;
	FILE *out;
	char *at;

	free(text);
	text = NULL;
	out = open_memstream(&text, &size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	summary_write(rec, 0, &no_colors, out);
	fclose(out);
	at = strstr(text, title);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	at += strlen(title);
	at[strcspn(at, "\n")] = '\0';
	return at + strspn(at, " ");
}

static void threads_of_one_jvm_go_by_name(void)
{
	uint32_t jvm = add_jvm(4242);

	add_samples(jvm, 4243, "main", 30);
	add_samples(jvm, 4244, "worker", 70);
	CU_ASSERT_STRING_EQUAL(line_of("\nthreads"),
			       "java 100.0 %; \"worker\" 70.0 %, \"main\" 30.0 %");
}

static void threads_of_several_jvms_have_their_pid(void)
{
	uint32_t first = add_jvm(4242), second = add_jvm(777);

	add_samples(first, 4243, "main", 25);
	add_samples(second, 778, "main", 75);
	CU_ASSERT_STRING_EQUAL(
		line_of("\nthreads"),
		"java 100.0 %; \"main\" of pid 777 75.0 %, \"main\" of pid 4242 25.0 %");
	CU_ASSERT_STRING_EQUAL(line_of("target"), "2 JVMs, the first: pid 4242 Main");
}

static void a_thread_of_no_jvm_has_no_pid(void)
{
	add_jvm(4242);
	add_jvm(777);
	add_samples(0, 5, "main", 10);
	CU_ASSERT_STRING_EQUAL(line_of("\nthreads"), "java 100.0 %; \"main\" 100.0 %");
}

static void without_samples_there_are_no_threads(void)
{
	add_jvm(4242);
	(void)line_of("own cost");
	CU_ASSERT_PTR_NULL(strstr(text, "threads"));
}

static void add_ledger(uint32_t jvm, uint64_t heap_mib, uint64_t malloc_mib, uint64_t rest_kib)
{
	struct rec_ledger ledger = { .jvm = jvm };

	ledger.lines[REC_LINE_JAVA_HEAP].resident = (int64_t)heap_mib << 20;
	ledger.lines[REC_LINE_MALLOC].resident = (int64_t)malloc_mib << 20;
	ledger.lines[REC_LINE_UNEXPLAINED].resident = (int64_t)rest_kib << 10;
	ledger.rss_bytes = (heap_mib << 20) + (malloc_mib << 20) + (rest_kib << 10);
	rec_ledger_add(rec, &ledger);
}

static void memory_says_what_it_is_and_what_grew(void)
{
	add_jvm(4242);
	add_ledger(1, 300, 10, 4);
	add_ledger(1, 290, 90, 4);
	CU_ASSERT_STRING_EQUAL(line_of("\nmemory"), "RSS 380.0 MiB: java_heap 290.0 MiB, malloc "
						    "90.0 MiB; unexplained 4.0 KiB");
	CU_ASSERT_STRING_EQUAL(line_of("\ngrowth"),
			       "RSS +70.0 MiB: malloc +80.0 MiB, java_heap -10.0 MiB");
}

static void memory_is_of_the_jvm_that_grew_most(void)
{
	add_jvm(4242);
	add_jvm(777);
	add_ledger(1, 300, 10, 0);
	add_ledger(2, 30, 10, 0);
	add_ledger(1, 301, 10, 0);
	add_ledger(2, 35, 10, 0);
	CU_ASSERT_STRING_EQUAL(line_of("\nmemory"), "RSS 45.0 MiB of pid 777: java_heap 35.0 MiB, "
						    "malloc 10.0 MiB; unexplained 0 B");
	CU_ASSERT_STRING_EQUAL(line_of("\ngrowth"), "RSS +5.0 MiB: java_heap +5.0 MiB");
}

static void memory_that_does_not_move_is_said_so(void)
{
	add_jvm(4242);
	(void)line_of("own cost");
	CU_ASSERT_PTR_NULL(strstr(text, "memory"));
	add_ledger(1, 300, 10, 0);
	CU_ASSERT_STRING_EQUAL(line_of("\ngrowth"), "RSS +0 B: nothing");
}

/* Less than a part of Rss that is worth a place, and yet all that moved. */
static void little_growth_is_said_too(void)
{
	add_jvm(4242);
	add_ledger(1, 1000, 10, 0);
	add_ledger(1, 1003, 10, 8);
	CU_ASSERT_STRING_EQUAL(line_of("\ngrowth"), "RSS +3.0 MiB: java_heap +3.0 MiB");
}

static void what_is_not_known_of_a_jvm_is_left_out(void)
{
	rec_jvm(rec, &(struct rec_jvm){
			     .pid = 4242, .main_class = string(""), .version = string("17") });
	CU_ASSERT_STRING_EQUAL(line_of("target"), "pid 4242, JDK 17");
}

static void without_cpu_events_no_samples_are_counted(void)
{
	struct rec_meta *meta = rec_meta(rec);

	meta->frequency_hz = 99;
	meta->end_time_ns = 2000000000;
	meta->target_cpu_ns = 500000000;
	meta->events = string("native,class,counter");
	add_jvm(4242);
	CU_ASSERT_STRING_EQUAL(line_of("\nrecorded"), "2.0 s; CPU 500.0 ms = 0.25 cores");
	CU_ASSERT_PTR_NULL(strstr(text, "samples"));
	meta->events = string("cpu,class");
	CU_ASSERT_STRING_EQUAL(line_of("\nsamples"),
			       "0 in 2.0 s, 0 a second of CPU time (99 asked, "
			       "); CPU 500.0 ms = 0.25 cores");
}

static void add_site(uint32_t jvm, const char *tag, int64_t allocated_mib, int64_t freed_mib)
{
	struct rec_native_site site = { .jvm = jvm,
					.tag = string(tag),
					.use = REC_NATIVE_HEAP,
					.allocated_blocks = allocated_mib * 1000,
					.freed_blocks = freed_mib * 1000,
					.allocated_bytes = allocated_mib << 20,
					.freed_bytes = freed_mib << 20 };

	CU_ASSERT_NOT_EQUAL_FATAL(rec_native_site(rec, &site), 0);
}

static struct rec_native_budget *add_budget(uint32_t jvm)
{
	struct rec_native_budget *budget = rec_native_budget(rec, jvm);

	CU_ASSERT_PTR_NOT_NULL_FATAL(budget);
	budget->estimated = budget->live_known = true;
	budget->state_ns[REC_NATIVE_EXACT] = 1;
	budget->watched_cpu_ns = budget->all_cpu_ns = 400;
	return budget;
}

static void native_memory_is_what_lives_by_tag(void)
{
	uint32_t jvm = add_jvm(4242);

	(void)line_of("own cost");
	CU_ASSERT_PTR_NULL(strstr(text, "\nnative"));
	add_budget(jvm);
	CU_ASSERT_STRING_EQUAL(line_of("\nnative"), "0 B live of 0 B in 0 blocks allocated");
	add_site(jvm, "Other", 64, 0);
	add_site(jvm, "Compiler", 30, 29);
	add_site(jvm, "GC", 8, 8);
	rec_native_site(rec, &(struct rec_native_site){ .jvm = jvm,
							.tag = string("unknown"),
							.use = REC_NATIVE_UNKNOWN_FREE,
							.freed_blocks = 5 });
	CU_ASSERT_STRING_EQUAL(line_of("\nnative"),
			       "65.0 MiB live of 102.0 MiB in 102,000 blocks allocated: Other "
			       "+64.0 MiB, Compiler +1.0 MiB");
}

static void native_memory_says_how_much_was_seen(void)
{
	uint32_t jvm = add_jvm(4242);
	struct rec_native_budget *budget = add_budget(jvm);

	add_site(jvm, "Other", 4, 3);
	budget->state_ns[REC_NATIVE_SAMPLED] = 1;
	CU_ASSERT_STRING_EQUAL(line_of("\nnative"),
			       "1.0 MiB live of 4.0 MiB in 4,000 blocks allocated: Other "
			       "+1.0 MiB; estimated from samples");
	budget->watched_cpu_ns = 100;
	budget->error_pct = 3.5;
	budget->live_known = false;
	CU_ASSERT_STRING_EQUAL(line_of("\nnative"),
			       "4.0 MiB in 4,000 blocks allocated, how much lives is not known: "
			       "Other 4.0 MiB; estimated from 25.0 % of its CPU time, standard "
			       "error 3.5 %");
	budget->estimated = false;
	CU_ASSERT_STRING_EQUAL(line_of("\nnative"),
			       "4.0 MiB in 4,000 blocks allocated, how much lives is not known: "
			       "Other 4.0 MiB; only what was seen in 25.0 % of its CPU time");
}

static void add_mapped(uint32_t jvm, enum rec_native_use use, const char *tag, int64_t mib)
{
	const struct rec_native_site site = { .jvm = jvm,
					      .tag = string(tag),
					      .use = use,
					      .allocated_blocks = 2,
					      .freed_blocks = 1,
					      .allocated_bytes = (mib + 1) << 20,
					      .freed_bytes = 1 << 20 };

	CU_ASSERT_NOT_EQUAL_FATAL(rec_native_site(rec, &site), 0);
}

static void what_is_mapped_is_a_line(void)
{
	uint32_t jvm = add_jvm(4242);

	(void)line_of("own cost");
	CU_ASSERT_PTR_NULL(strstr(text, "\nmapped"));
	add_mapped(jvm, REC_NATIVE_COMMITTED, "Java Heap", 40);
	add_mapped(jvm, REC_NATIVE_COMMITTED, "Code", 2);
	add_mapped(jvm, REC_NATIVE_RESERVED, "Java Heap", 100);
	add_mapped(jvm, REC_NATIVE_STACK, "Thread Stack", 1);
	CU_ASSERT_STRING_EQUAL(line_of("\nmapped"),
			       "42.0 MiB committed, 100.0 MiB reserved, 1 thread stacks of 1.0 "
			       "MiB: Java Heap +40.0 MiB, Code +2.0 MiB");
	rec_budget(rec, REC_PROBES_MAPPING, jvm)->live_known = false;
	(void)line_of("own cost");
	CU_ASSERT_PTR_NULL(strstr(text, "\nmapped"));
}

static void changes_of_the_budget_have_their_reason(void)
{
	uint32_t jvm = add_jvm(4242);
	struct rec_budget_event event = { .jvm = jvm,
					  .group = REC_PROBES_NATIVE,
					  .time_ns = rec_meta(rec)->start_time_ns + 2100000000,
					  .to = REC_NATIVE_SLICES,
					  .reason = REC_BUDGET_OVER,
					  .cost_pct = 9.4,
					  .limit_pct = 2 };

	(void)line_of("own cost");
	CU_ASSERT_PTR_NULL(strstr(text, "\nprobes"));
	rec_budget_event(rec, &event);
	CU_ASSERT_STRING_EQUAL(line_of("\nprobes"),
			       "native exact -> slices after 2.1 s, over_limit: 9.40 % of a "
			       "core, limit 2.00 %");
	for (int i = 0; i < 4; i++)
		rec_budget_event(rec, &event);
	(void)line_of("own cost");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "limit 2.00 %; 2 more changes\n"));
}

static void native_memory_is_of_the_jvm_that_has_most(void)
{
	uint32_t first = add_jvm(4242), second = add_jvm(777);

	add_budget(first);
	add_budget(second);
	add_site(first, "Other", 9, 8);
	add_site(second, "Other", 2, 0);
	CU_ASSERT_STRING_EQUAL(line_of("\nnative"), "2.0 MiB live of 2.0 MiB in 2,000 blocks "
						    "allocated, of pid 777: Other +2.0 MiB");
}

/* ---- collections and safepoints */

#define MS 1000000ull

static void add_pause(const char *cause, uint64_t duration_ns)
{
	const struct rec_collection row = { .jvm = 1, .cause = string(cause) };
	const struct rec_gc_phase pause = { .jvm = 1,
					    .collection = rec_collection(rec, &row),
					    .duration_ns = duration_ns };

	rec_gc_phase(rec, &pause);
}

static void pauses_have_their_longest_with_its_cause(void)
{
	add_jvm(4242);
	add_pause("G1 Evacuation Pause", 2 * MS);
	CU_ASSERT_STRING_EQUAL(line_of("\ngc"), "1 collection, 1 pause of 2.0 ms in all: p50 2.0 "
						"ms, p99 2.0 ms, longest 2.0 ms (G1 Evacuation "
						"Pause)");
	add_pause("System.gc()", 8 * MS);
	add_pause("", 1 * MS);
	CU_ASSERT_STRING_EQUAL(line_of("\ngc"), "3 collections, 3 pauses of 11.0 ms in all: p50 "
						"2.0 ms, p99 8.0 ms, longest 8.0 ms "
						"(System.gc())");
}

static void safepoints_say_how_long_they_stopped(void)
{
	const struct rec_safepoint rows[] = {
		{ .jvm = 1, .reach_ns = 1 * MS, .duration_ns = 20 * MS },
		{ .jvm = 1,
		  .reach_ns = 3 * MS,
		  .duration_ns = 5 * MS,
		  .operation = string("Cleanup") },
	};

	add_jvm(4242);
	rec_meta(rec)->end_time_ns = (int64_t)(1000 * MS);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rec_safepoint(rec, &rows[i]);
	CU_ASSERT_STRING_EQUAL(line_of("\nstopped"),
			       "2 safepoints stopped all threads for 25.0 ms = 2.50 % of the time, "
			       "longest 20.0 ms; worst time to safepoint 3.0 ms (Cleanup)");
}

static void the_slowest_safepoint_names_whom_it_waited_for(void)
{
	const struct rec_safepoint row = { .jvm = 1, .reach_ns = 30 * MS, .duration_ns = 31 * MS };
	const struct rec_method method = { .class_name = string("com.example.Foo"),
					   .name = string("bar"),
					   .signature = string("()V") };
	struct rec_thread *thread;
	struct rec_frame frame = { .kind = REC_FRAME_CPP, .line = -1, .bci = -1 };
	struct rec_straggler straggler = { .jvm = 1, .late_ns = 20 * MS };
	uint32_t frames[2];

	add_jvm(4242);
	rec_meta(rec)->end_time_ns = (int64_t)(1000 * MS);
	frame.method = rec_method(rec, &(struct rec_method){ .name = string("block") });
	frames[0] = rec_frame(rec, &frame);
	frame = (struct rec_frame){ .kind = REC_FRAME_C2, .line = -1, .bci = -1 };
	frame.method = rec_method(rec, &method);
	frames[1] = rec_frame(rec, &frame);
	straggler.safepoint = rec_safepoint(rec, &row);
	straggler.thread = rec_thread(rec, 1, 7);
	rec_straggler(rec, &straggler);
	straggler.thread = rec_thread(rec, 1, 8);
	thread = rec_thread_get(rec, straggler.thread);
	thread->name = string("worker");
	straggler.late_ns = 29 * MS;
	straggler.stack = rec_stack(rec, frames, 2, REC_STACK_COMPLETE);
	rec_straggler(rec, &straggler);
	CU_ASSERT_STRING_EQUAL(line_of("\nstopped"),
			       "1 safepoint stopped all threads for 31.0 ms = 3.10 % of the time, "
			       "longest 31.0 ms; worst time to safepoint 30.0 ms: worker in "
			       "com.example.Foo.bar");
}

static void what_was_looked_for_and_not_seen_is_said(void)
{
	add_jvm(4242);
	(void)line_of("own cost");
	CU_ASSERT_PTR_NULL(strstr(text, "\ngc"));
	rec_vm_count_set(rec, 1, "gc_hits", 0);
	rec_meta(rec)->events = string("gc");
	CU_ASSERT_STRING_EQUAL(line_of("\ngc"), "0 collections");
	(void)line_of("own cost");
	CU_ASSERT_PTR_NULL(strstr(text, "\nstopped"));
	rec_meta(rec)->events = string("safepoint");
	CU_ASSERT_STRING_EQUAL(line_of("\nstopped"), "0 safepoints");
}

static CU_TestInfo tests[] = {
	{ "threads of one JVM go by name", threads_of_one_jvm_go_by_name },
	{ "threads of several JVMs have their pid", threads_of_several_jvms_have_their_pid },
	{ "a thread of no JVM has no pid", a_thread_of_no_jvm_has_no_pid },
	{ "without samples there are no threads", without_samples_there_are_no_threads },
	{ "memory says what it is and what grew", memory_says_what_it_is_and_what_grew },
	{ "memory is of the JVM that grew most", memory_is_of_the_jvm_that_grew_most },
	{ "memory that does not move is said so", memory_that_does_not_move_is_said_so },
	{ "little growth is said too", little_growth_is_said_too },
	{ "what is not known of a JVM is left out", what_is_not_known_of_a_jvm_is_left_out },
	{ "without CPU events no samples are counted", without_cpu_events_no_samples_are_counted },
	{ "native memory is what lives, by tag", native_memory_is_what_lives_by_tag },
	{ "native memory says how much was seen", native_memory_says_how_much_was_seen },
	{ "what is mapped is a line", what_is_mapped_is_a_line },
	{ "changes of the budget have their reason", changes_of_the_budget_have_their_reason },
	{ "native memory is of the JVM that has most", native_memory_is_of_the_jvm_that_has_most },
	{ "pauses have their longest with its cause", pauses_have_their_longest_with_its_cause },
	{ "safepoints say how long they stopped", safepoints_say_how_long_they_stopped },
	{ "the slowest safepoint names whom it waited for",
	  the_slowest_safepoint_names_whom_it_waited_for },
	{ "what was looked for and not seen is said", what_was_looked_for_and_not_seen_is_said },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo cli_summary_suite = {
	.pName = "cli summary",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
