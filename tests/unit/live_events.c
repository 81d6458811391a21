/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live/events.h"
#include "unit/fakes_live.h"
#include "unit/unit.h"

#define PAGE	   4096
#define DATA_BYTES (16 * PAGE) /* of one CPU's records */
#define FREQUENCY  100
#define MILLION	   1000000u

static struct clock_events events;
static struct sideband sideband;

static void setup(void)
{
	fakes_reset();
	fakes.cpus_text = "0-2\n";
	events = (struct clock_events){ 0 };
	sideband = (struct sideband){ .epoll = -1 };
}

static void teardown(void)
{
	clock_close(&events);
	sideband_close(&sideband);
	fakes_reset();
}

static void hardware_counts(void)
{
	fakes.cycles = 3 * MILLION;
	fakes.counter_ns = MILLION;
}

/* ---- CPUs */

static void lists_of_cpus_are_read(void)
{
	static const struct {
		const char *text;
		int count;
		int cpus[6];
	} cases[] = {
		{ "0\n", 1, { 0 } },
		{ "0-3\n", 4, { 0, 1, 2, 3 } },
		{ "0,2-3,8\n", 4, { 0, 2, 3, 8 } },
		{ "5-4,7", 1, { 7 } },
		{ "1,x,3", 1, { 1 } },
	};
	int *cpus;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fakes.cpus_text = cases[i].text;
		ASSERT_INT(online_cpus(&cpus), cases[i].count);
		for (int k = 0; k < cases[i].count; k++)
			ASSERT_INT(cpus[k], cases[i].cpus[k]);
		free(cpus);
	}
}

static void a_list_of_cpus_without_end_is_cut(void)
{
	int *cpus;

	fakes.cpus_text = "0-2147483647\n";
	ASSERT_INT(online_cpus(&cpus), 4096);
	free(cpus);
}

static void without_a_list_the_cpus_are_counted(void)
{
	int *cpus;

	fakes.cpus_text = "";
	ASSERT_INT(online_cpus(&cpus), sysconf(_SC_NPROCESSORS_ONLN));
	free(cpus);
}

/* ---- the clock */

static void auto_takes_cycles_that_count(void)
{
	hardware_counts();
	ASSERT_INT(clock_open(LIVE_CLOCK_AUTO, FREQUENCY, &events), 0);
	CU_ASSERT_TRUE(clock_is_cycles(&events));
	ASSERT_INT(events.count, 3);
	/* 3 million in a millisecond; a fixed period, so that count times period is time. */
	ASSERT_INT(events.attr.sample_period, 3000 * (MILLION / FREQUENCY));
	CU_ASSERT_FALSE(events.attr.freq);
}

static void auto_takes_the_clock_when_cycles_stand_still(void)
{
	fakes.cycles = 0;
	ASSERT_INT(clock_open(LIVE_CLOCK_AUTO, FREQUENCY, &events), 0);
	CU_ASSERT_FALSE(clock_is_cycles(&events));
	ASSERT_INT(events.attr.sample_period, 1000 * MILLION / FREQUENCY);
}

static void auto_takes_the_clock_when_a_cpu_has_no_counter_left(void)
{
	hardware_counts();
	fakes.cycles_error[2] = EBUSY;
	ASSERT_INT(clock_open(LIVE_CLOCK_AUTO, FREQUENCY, &events), 0);
	CU_ASSERT_FALSE(clock_is_cycles(&events));
	ASSERT_INT(events.count, 3);
}

static void cycles_by_name_are_an_error_when_there_are_none(void)
{
	ASSERT_INT(clock_open(LIVE_CLOCK_CYCLES, FREQUENCY, &events), -ENOENT);
	hardware_counts();
	fakes.cycles_error[1] = EBUSY;
	ASSERT_INT(clock_open(LIVE_CLOCK_CYCLES, FREQUENCY, &events), -EBUSY);
	CU_ASSERT_PTR_NULL(events.items);
}

static void a_cpu_that_went_off_line_is_left_out(void)
{
	fakes.open_error[1] = ENODEV;
	ASSERT_INT(clock_open(LIVE_CLOCK_CPU, FREQUENCY, &events), 0);
	ASSERT_INT(events.count, 2);
	ASSERT_INT(events.items[1].cpu, 2);
}

static void no_right_is_eperm(void)
{
	fakes.open_error[0] = EACCES;
	ASSERT_INT(clock_open(LIVE_CLOCK_CPU, FREQUENCY, &events), -EPERM);
	ASSERT_INT(clock_allowed(), -EACCES);
}

static void the_program_runs_once_on_each_cpu(void)
{
	ASSERT_INT(clock_open(LIVE_CLOCK_CPU, FREQUENCY, &events), 0);
	ASSERT_INT(clock_attach(&events, NULL), 0);
	ASSERT_INT(clock_attach(&events, NULL), 0);
	ASSERT_INT(fakes.attached, 3);
	clock_detach(&events);
	ASSERT_INT(fakes.destroyed, 3);
}

static void cpus_that_come_and_go_are_followed(void)
{
	ASSERT_INT(clock_open(LIVE_CLOCK_CPU, FREQUENCY, &events), 0);
	ASSERT_INT(clock_attach(&events, NULL), 0);
	ASSERT_INT(clock_follow_cpus(&events, NULL), 0);
	ASSERT_INT(fakes.attached, 3);

	fakes.cpus_text = "0,2\n";
	ASSERT_INT(clock_follow_cpus(&events, NULL), 0);
	ASSERT_INT(events.count, 2);
	ASSERT_INT(fakes.destroyed, 1);

	/* One goes and another comes: their number is the same. */
	fakes.cpus_text = "0,5\n";
	ASSERT_INT(clock_follow_cpus(&events, NULL), 0);
	ASSERT_INT(events.count, 2);
	ASSERT_INT(events.items[1].cpu, 5);
	ASSERT_INT(fakes.attached, 4);
	ASSERT_INT(fakes.destroyed, 2);
}

static void a_refused_attach_is_told(void)
{
	ASSERT_INT(clock_open(LIVE_CLOCK_CPU, FREQUENCY, &events), 0);
	fakes.refuse_attach = true;
	ASSERT_INT(clock_attach(&events, NULL), -EPERM);
}

/* ---- the side band */

struct ring {
	struct perf_event_mmap_page *page;
	uint8_t *data;
};

static struct ring ring_of(int cpu)
{
	struct ring ring;
	void *at = mmap(NULL, PAGE + DATA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			fakes.event_fd[cpu], 0);

	CU_ASSERT_FATAL(at != MAP_FAILED);
	ring.page = at;
	ring.data = (uint8_t *)at + PAGE;
	return ring;
}

static void unmap_ring(struct ring *ring)
{
	munmap(ring->page, PAGE + DATA_BYTES);
}

/* Appends a record, round the end of the area when it must be. */
static void put(struct ring *ring, uint32_t type, uint16_t misc, uint16_t size, uint32_t pid)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t address; /* of PERF_RECORD_MMAP2 */
	} record = { { .type = type, .misc = misc, .size = size }, pid, pid, 0x7000 + pid };
	const uint8_t *bytes = (const uint8_t *)&record;

	for (size_t i = 0; i < sizeof(record); i++)
		ring->data[(ring->page->data_head + i) % DATA_BYTES] = bytes[i];
	ring->page->data_head += size;
}

static struct sideband_record seen[16];
static size_t seen_count;

static void on_seen(const struct sideband_record *record, void *ctx)
{
	(void)ctx;
	if (seen_count < ARRAY_SIZE(seen))
		seen[seen_count++] = *record;
}

static void drain(void)
{
	seen_count = 0;
	sideband_drain(&sideband, on_seen, NULL);
}

static void each_record_of_interest_is_told(void)
{
	struct ring ring;

	ASSERT_INT(sideband_open(&sideband), 0);
	ASSERT_INT(sideband.count, 3);
	ring = ring_of(1);
	put(&ring, PERF_RECORD_MMAP2, 0, 104, 40);
	put(&ring, PERF_RECORD_COMM, 0, 32, 41);
	put(&ring, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 32, 42);
	put(&ring, PERF_RECORD_EXIT, 0, 48, 43);
	put(&ring, PERF_RECORD_LOST, 0, 24, 44);
	drain();
	ASSERT_INT(seen_count, 4);
	CU_ASSERT(seen[0].pid == 40 && seen[0].event == SIDEBAND_MAPPED);
	ASSERT_INT(seen[0].address, 0x7000 + 40);
	CU_ASSERT(seen[1].pid == 41 && seen[1].event == SIDEBAND_NAMED);
	CU_ASSERT(seen[2].pid == 42 && seen[2].event == SIDEBAND_EXEC);
	CU_ASSERT(seen[3].pid == -1 && seen[3].event == SIDEBAND_LOST);
	CU_ASSERT_EQUAL(ring.page->data_tail, ring.page->data_head);
	drain();
	ASSERT_INT(seen_count, 0);
	unmap_ring(&ring);
}

static void a_record_may_lie_across_the_end(void)
{
	struct ring ring;

	ASSERT_INT(sideband_open(&sideband), 0);
	ring = ring_of(0);
	for (uint64_t cut = 1; cut < 12; cut++) {
		ring.page->data_head = ring.page->data_tail = 7 * DATA_BYTES - cut;
		put(&ring, PERF_RECORD_COMM, 0, 32, 50 + (uint32_t)cut);
		drain();
		ASSERT_INT(seen_count, 1);
		ASSERT_INT(seen[0].pid, 50 + cut);
	}
	unmap_ring(&ring);
}

static void a_record_of_no_size_ends_the_reading(void)
{
	struct ring ring;

	ASSERT_INT(sideband_open(&sideband), 0);
	ring = ring_of(0);
	put(&ring, PERF_RECORD_COMM, 0, 32, 50);
	put(&ring, PERF_RECORD_COMM, 0, 0, 51);
	ring.page->data_head += 32;
	drain();
	ASSERT_INT(seen_count, 1);
	/* What follows it makes sense again. */
	put(&ring, PERF_RECORD_COMM, 0, 32, 52);
	drain();
	ASSERT_INT(seen_count, 1);
	ASSERT_INT(seen[0].pid, 52);
	unmap_ring(&ring);
}

static void a_side_band_that_is_refused_holds_nothing(void)
{
	fakes.open_error[2] = EACCES;
	ASSERT_INT(sideband_open(&sideband), -EACCES);
	CU_ASSERT_PTR_NULL(sideband.cpus);
	fakes.open_error[2] = ENODEV;
	ASSERT_INT(sideband_open(&sideband), 0);
	ASSERT_INT(sideband.count, 2);
}

static CU_TestInfo tests[] = {
	{ "lists of CPUs are read", lists_of_cpus_are_read },
	{ "a list of CPUs without end is cut", a_list_of_cpus_without_end_is_cut },
	{ "without a list the CPUs are counted", without_a_list_the_cpus_are_counted },
	{ "auto takes cycles that count", auto_takes_cycles_that_count },
	{ "auto takes the clock when cycles stand still",
	  auto_takes_the_clock_when_cycles_stand_still },
	{ "auto takes the clock when a CPU has no counter left",
	  auto_takes_the_clock_when_a_cpu_has_no_counter_left },
	{ "cycles by name are an error when there are none",
	  cycles_by_name_are_an_error_when_there_are_none },
	{ "a CPU that went off line is left out", a_cpu_that_went_off_line_is_left_out },
	{ "no right is EPERM", no_right_is_eperm },
	{ "the program runs once on each CPU", the_program_runs_once_on_each_cpu },
	{ "CPUs that come and go are followed", cpus_that_come_and_go_are_followed },
	{ "a refused attach is told", a_refused_attach_is_told },
	{ "each record of interest is told", each_record_of_interest_is_told },
	{ "a record may lie across the end", a_record_may_lie_across_the_end },
	{ "a record of no size ends the reading", a_record_of_no_size_ends_the_reading },
	{ "a side band that is refused holds nothing", a_side_band_that_is_refused_holds_nothing },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_events_suite = {
	.pName = "live events",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
