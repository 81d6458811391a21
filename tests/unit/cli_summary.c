/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/summary.h"
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

static CU_TestInfo tests[] = {
	{ "threads of one JVM go by name", threads_of_one_jvm_go_by_name },
	{ "threads of several JVMs have their pid", threads_of_several_jvms_have_their_pid },
	{ "a thread of no JVM has no pid", a_thread_of_no_jvm_has_no_pid },
	{ "without samples there are no threads", without_samples_there_are_no_threads },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo cli_summary_suite = {
	.pName = "cli summary",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
