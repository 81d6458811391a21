/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/summary.h"
#include "model/ledger.h"
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
	(void)line_of("target");
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
	(void)line_of("target");
	CU_ASSERT_PTR_NULL(strstr(text, "memory"));
	add_ledger(1, 300, 10, 0);
	CU_ASSERT_STRING_EQUAL(line_of("\ngrowth"), "RSS +0 B: nothing");
}

static CU_TestInfo tests[] = {
	{ "threads of one JVM go by name", threads_of_one_jvm_go_by_name },
	{ "threads of several JVMs have their pid", threads_of_several_jvms_have_their_pid },
	{ "a thread of no JVM has no pid", a_thread_of_no_jvm_has_no_pid },
	{ "without samples there are no threads", without_samples_there_are_no_threads },
	{ "memory says what it is and what grew", memory_says_what_it_is_and_what_grew },
	{ "memory is of the JVM that grew most", memory_is_of_the_jvm_that_grew_most },
	{ "memory that does not move is said so", memory_that_does_not_move_is_said_so },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo cli_summary_suite = {
	.pName = "cli summary",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
