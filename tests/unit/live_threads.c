/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/process.h"
#include "target/target.h"
#include "unit/fakes_live.h"
#include "unit/unit.h"

#define FORGOTTEN_AFTER 9 /* rounds without the thread */

static struct fake_thread threads[FAKE_THREADS];
static struct jvm_thread java[FAKE_THREADS];
static struct tables tables;
static struct process p;

/* What process_forget_threads told. */
static struct known_thread ended[FAKE_THREADS];
static size_t ended_count;

static void on_ended(const struct known_thread *known, void *ctx)
{
	(void)ctx;
	CU_ASSERT_FATAL(ended_count < FAKE_THREADS);
	ended[ended_count++] = *known;
}

static void setup(void)
{
	fakes_reset();
	fakes.threads = threads;
	fakes.java_threads = java;
	tables = (struct tables){ .pids_fd = FAKE_MAP_FD + 1, .threads_fd = FAKE_MAP_FD };
	p = (struct process){ .jvm = fake_jvm() };
	ASSERT_INT(target_open(getpid(), &p.target), 0);
	ended_count = 0;
}

static void teardown(void)
{
	target_close(p.target);
	map64_free(&p.threads);
	free(p.known);
	fakes_reset();
}

static void run(pid_t tid, uint64_t cpu_ns)
{
	threads[fakes.thread_count++] = (struct fake_thread){ .tid = tid, .cpu_ns = cpu_ns };
}

static void run_java(pid_t tid, uint64_t cpu_ns, uint64_t java_thread)
{
	run(tid, cpu_ns);
	java[fakes.java_count++] = (struct jvm_thread){ .ns_tid = tid, .java_thread = java_thread };
}

static void nothing_runs(void)
{
	fakes.thread_count = 0;
	fakes.java_count = 0;
}

static void rounds(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		process_refresh_threads(&p, &tables, false);
}

static uint64_t shown(pid_t tid)
{
	return fake_map_get(&fakes.maps[0], (uint32_t)tid);
}

static const struct known_thread *known(pid_t tid)
{
	uint32_t at;

	CU_ASSERT_FATAL(map64_get(&p.threads, (uint64_t)tid, &at));
	ASSERT_INT(p.known[at].tid, tid);
	return &p.known[at];
}

static void a_java_thread_is_shown_to_the_kernel_while_it_lives(void)
{
	run(10, 0);
	run_java(11, 0, 0xb00);
	rounds(1);
	ASSERT_INT(shown(10), 0);
	ASSERT_INT(shown(11), 0xb00);

	/* It has ended, though the JVM's list still had it. */
	fakes.thread_count = 1;
	rounds(1);
	ASSERT_INT(fakes.maps[0].count, 0);
	ASSERT_INT(known(11)->java_thread, 0);
}

static void a_thread_that_attaches_and_detaches_is_followed(void)
{
	run(10, 0);
	rounds(1);
	fakes.java_count = 1;
	java[0] = (struct jvm_thread){ .ns_tid = 10, .java_thread = 0xa00 };
	rounds(1);
	ASSERT_INT(shown(10), 0xa00);
	java[0].java_thread = 0xa80;
	rounds(1);
	ASSERT_INT(shown(10), 0xa80);
	fakes.java_count = 0;
	rounds(1);
	ASSERT_INT(shown(10), 0);
}

static void the_kernel_is_told_once(void)
{
	for (pid_t tid = 10; tid < 14; tid++)
		run_java(tid, 0, 0xa00 + (uint64_t)tid);
	rounds(5);
	ASSERT_INT(fakes.maps[0].updates, 4);
}

static void a_thread_that_finds_no_room_is_tried_again(void)
{
	fakes.maps[0].capacity = 1;
	run_java(10, 0, 0xa00);
	run_java(11, 0, 0xb00);
	rounds(2);
	ASSERT_INT(shown(10), 0xa00);
	ASSERT_INT(known(11)->java_thread, 0);
	CU_ASSERT_TRUE(tables.threads_full);
	fakes.maps[0].capacity = 2;
	rounds(1);
	ASSERT_INT(shown(11), 0xb00);
}

static void times_count_from_the_baseline(void)
{
	run(10, 5000);
	process_refresh_threads(&p, &tables, true);
	threads[0].cpu_ns = 7000;
	run(11, 300);
	process_read_times(&p);
	ASSERT_INT(known_thread_cpu_ns(known(10)), 2000);
	ASSERT_INT(known_thread_cpu_ns(known(11)), 300);
}

static void a_thread_that_got_the_id_of_an_ended_one_adds_its_time(void)
{
	run_java(10, 5000, 0xa00);
	process_refresh_threads(&p, &tables, true);
	threads[0].cpu_ns = 9000;
	process_read_times(&p);
	/* Another thread, and another JavaThread, with the same number. */
	nothing_runs();
	run_java(10, 200, 0xc00);
	rounds(1);
	process_read_times(&p);
	ASSERT_INT(shown(10), 0xc00);
	ASSERT_INT(known_thread_cpu_ns(known(10)), 4000 + 200);
	threads[0].cpu_ns = 700;
	process_read_times(&p);
	ASSERT_INT(known_thread_cpu_ns(known(10)), 4000 + 700);
}

static void ended_threads_are_forgotten_once_with_their_times(void)
{
	for (pid_t tid = 10; tid < 15; tid++)
		run(tid, 0);
	process_refresh_threads(&p, &tables, true);
	for (size_t i = 0; i < 5; i++)
		threads[i].cpu_ns = 1000 + i;
	process_read_times(&p);
	/* 10 and 12 end. */
	threads[0] = threads[4];
	threads[2] = threads[3];
	fakes.thread_count = 3;
	rounds(FORGOTTEN_AFTER - 1);
	process_forget_threads(&p, on_ended, NULL);
	ASSERT_INT(ended_count, 0);
	rounds(1);
	process_forget_threads(&p, on_ended, NULL);
	process_forget_threads(&p, on_ended, NULL);
	ASSERT_INT(ended_count, 2);
	ASSERT_INT(ended[0].tid, 10);
	ASSERT_INT(known_thread_cpu_ns(&ended[0]), 1000);
	ASSERT_INT(ended[1].tid, 12);
	ASSERT_INT(known_thread_cpu_ns(&ended[1]), 1002);
	ASSERT_INT(p.known_count, 3);
	ASSERT_INT(known_thread_cpu_ns(known(13)), 1003);
	ASSERT_INT(known_thread_cpu_ns(known(14)), 1004);

	/* The number may come again. */
	run(12, 50);
	rounds(1);
	process_read_times(&p);
	ASSERT_INT(p.known_count, 4);
	ASSERT_INT(known_thread_cpu_ns(known(12)), 50);
}

static void threads_that_come_and_go_for_hours_need_no_more_room(void)
{
	for (pid_t tid = 100; tid < 10100; tid++) {
		nothing_runs();
		run_java(tid, 1, (uint64_t)tid << 8);
		rounds(1);
		ended_count = 0;
		process_forget_threads(&p, on_ended, NULL);
		CU_ASSERT_FATAL(p.known_count <= FORGOTTEN_AFTER + 1);
		CU_ASSERT_FATAL(fakes.maps[0].count == 1);
	}
}

static void a_thread_whose_number_in_the_container_is_unknown_is_no_java_thread(void)
{
	/* 1 in the container. Of the two threads one, ourselves, has a status file. */
	p.target->ns_pid = 1;
	run_java(getpid(), 0, 0xa00);
	run_java(1 << 22, 0, 0xb00);
	rounds(1);
	ASSERT_INT(shown(getpid()), 0xa00);
	ASSERT_INT(shown(1 << 22), 0);
}

static CU_TestInfo tests[] = {
	{ "a Java thread is shown to the kernel while it lives",
	  a_java_thread_is_shown_to_the_kernel_while_it_lives },
	{ "a thread that attaches and detaches is followed",
	  a_thread_that_attaches_and_detaches_is_followed },
	{ "the kernel is told once", the_kernel_is_told_once },
	{ "a thread that finds no room is tried again",
	  a_thread_that_finds_no_room_is_tried_again },
	{ "times count from the baseline", times_count_from_the_baseline },
	{ "a thread that got the id of an ended one adds its time",
	  a_thread_that_got_the_id_of_an_ended_one_adds_its_time },
	{ "ended threads are forgotten once, with their times",
	  ended_threads_are_forgotten_once_with_their_times },
	{ "threads that come and go for hours need no more room",
	  threads_that_come_and_go_for_hours_need_no_more_room },
	{ "a thread whose number in the container is unknown is no Java thread",
	  a_thread_whose_number_in_the_container_is_unknown_is_no_java_thread },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_threads_suite = {
	.pName = "live threads",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
