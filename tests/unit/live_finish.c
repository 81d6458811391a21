/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/live_impl.h"
#include "model/recording.h"
#include "target/target.h"
#include "unit/fakes_live.h"
#include "unit/unit.h"

#define TARGETS	  2
#define PERIOD_NS 1000

static uint64_t counters[TARGETS * JVS_COUNT_NR];
static uint64_t seen[JVS_SEEN_STACKS];
static struct live live;
static struct recording *rec;

/* Target 0 lives, target 1 is gone. */
static void setup(void)
{
	fakes_reset();
	memset(counters, 0, sizeof(counters));
	fakes.counters = counters;
	fakes.counter_count = ARRAY_SIZE(counters);
	live = (struct live){ .counters_fd = FAKE_MAP_FD, .process_count = TARGETS };
	live.decoder = (struct decoder){ .processes = live.processes,
					 .seen = seen,
					 .slots_per_cpu = 1,
					 .period_ns = PERIOD_NS };
	rec = rec_new();
	ASSERT_INT(target_open(getpid(), &live.processes[0].target), 0);
	live.processes[0].rec_jvm = rec_jvm(rec, &(struct rec_jvm){ .pid = getpid() });
}

static void teardown(void)
{
	target_close(live.processes[0].target);
	decode_free(&live.decoder);
	rec_free(rec);
	fakes_reset();
}

static void kernel(uint32_t target, uint32_t counter, uint64_t value)
{
	counters[target * JVS_COUNT_NR + counter] += value;
}

/* What the kernel saw, and sent. */
static void sample(uint32_t target, uint64_t stack, uint32_t status, size_t size)
{
	struct jvs_cpu_sample record = { .event = { .kind = JVS_EVENT_CPU_SAMPLE,
						    .target = target,
						    .tid = (uint32_t)getpid() },
					 .stack = stack,
					 .status = status,
					 .thread_state = JVS_THREAD_STATE_UNKNOWN };

	kernel(target, JVS_COUNT_SEEN, 1);
	decode_record(&live.decoder, rec, &record, size);
}

static void part(uint32_t target, uint64_t stack, uint32_t first, uint32_t count, uint32_t stored)
{
	struct jvs_stack_part record = { .event = { .kind = JVS_EVENT_STACK_PART,
						    .target = target },
					 .stack = stack,
					 .capture = stack << 8,
					 .first = first,
					 .count = count,
					 .stored = stored,
					 .walked = stored,
					 .status = JVS_STATUS_END };

	for (uint32_t i = 0; i < count; i++)
		record.frames[i].word = jvs_frame_word(0x1000 + i, JVS_FRAME_CALL_STUB, 0);
	decode_record(&live.decoder, rec, &record,
		      JVS_STACK_PART_HEADER + count * sizeof(struct jvs_frame));
}

static uint64_t kept(void)
{
	const struct rec_total *totals;
	uint64_t sum = 0;
	size_t count;

	totals = rec_totals(rec, &count);
	for (size_t i = 0; i < count; i++)
		sum += totals[i].count;
	return sum;
}

static uint64_t lost(const char *name)
{
	const struct rec_quality_row *rows;
	size_t count;

	rows = rec_quality_rows(rec, &count);
	for (size_t i = 0; i < count; i++)
		if (rows[i].group == REC_QUALITY_LOST && strcmp(rows[i].name, name) == 0)
			return rows[i].count;
	return 0;
}

static void what_was_seen_is_kept_or_lost(void)
{
	const size_t whole = sizeof(struct jvs_cpu_sample);

	/* Kept: known, and known again. */
	part(0, 1, 0, 64, 70);
	part(0, 1, 64, 6, 70);
	sample(0, 1, JVS_STATUS_END, whole);
	sample(0, 1, JVS_STATUS_DEPTH, whole);
	/* Lost: before its stack, whose parts come later; kept: after it. */
	sample(0, 2, JVS_STATUS_END, whole);
	part(0, 2, 0, 3, 3);
	sample(0, 2, JVS_STATUS_NO_ROW, whole);
	/* Lost: a part is missing, at the end, at the start, in between. */
	part(0, 3, 0, 64, 70);
	sample(0, 3, JVS_STATUS_END, whole);
	part(0, 4, 64, 6, 70);
	sample(0, 4, JVS_STATUS_END, whole);
	part(0, 5, 0, 64, 190);
	part(0, 5, 128, 62, 190);
	sample(0, 5, JVS_STATUS_END, whole);
	/* Lost: parts in another order. */
	part(0, 6, 64, 6, 70);
	part(0, 6, 0, 64, 70);
	sample(0, 6, JVS_STATUS_END, whole);
	/* Lost: its target is gone. */
	part(1, 7, 0, 3, 3);
	sample(1, 7, JVS_STATUS_END, whole);
	/* Lost: not understood. */
	sample(0, 1, JVS_STATUS_END, whole - 1);
	sample(0, 1, JVS_STATUS_NR, whole);
	/* Lost in the kernel. */
	kernel(0, JVS_COUNT_SEEN, 6);
	kernel(0, JVS_COUNT_RING_FULL, 1);
	kernel(0, JVS_COUNT_STACK_RING_FULL, 2);
	kernel(1, JVS_COUNT_SEEN, 1);
	kernel(1, JVS_COUNT_RING_FULL, 1);
	kernel(0, JVS_COUNT_SLOT_BUSY, 3);

	live_finish(&live, rec);
	ASSERT_INT(kept(), 3);
	ASSERT_INT(rec_meta(rec)->seen, 18);
	ASSERT_INT(rec_meta(rec)->seen, kept() + rec_quality_sum(rec, REC_QUALITY_LOST));
	ASSERT_INT(lost("stack_unknown"), 6);
	ASSERT_INT(lost("bad_record"), 2);
	ASSERT_INT(lost("ring_full"), 2);
	ASSERT_INT(lost("stack_ring_full"), 2);
	ASSERT_INT(lost("slot_busy"), 3);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_COMPLETE), 1);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_TRUNCATED_BY), 1);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_BROKEN_BY), 1);
}

static void records_that_are_no_samples_are_no_losses(void)
{
	struct jvs_event foreign = { .kind = 99 };

	decode_record(&live.decoder, rec, &foreign, sizeof(foreign));
	decode_record(&live.decoder, rec, &foreign, 3);
	part(0, 1, 0, 3, 2);
	live_finish(&live, rec);
	ASSERT_INT(live.decoder.bad_records, 3);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_LOST), 0);
}

/* A stack that userspace did not get whole must be sent again. */
static void the_kernel_is_told_what_to_send_again(void)
{
	const uint64_t hash = 0x1234560;
	size_t at = hash & (JVS_SEEN_STACKS - 2);

	seen[at] = hash;
	seen[at + 1] = hash + JVS_SEEN_STACKS;
	part(0, hash, 0, 64, 70);
	sample(0, hash, JVS_STATUS_END, sizeof(struct jvs_cpu_sample));
	CU_ASSERT_EQUAL(seen[at], 0);
	CU_ASSERT_EQUAL(seen[at + 1], hash + JVS_SEEN_STACKS);
	seen[at + 1] = 0;
}

static void a_thread_that_ended_unseen_has_the_time_of_its_samples(void)
{
	part(0, 1, 0, 3, 3);
	for (int i = 0; i < 5; i++)
		sample(0, 1, JVS_STATUS_END, sizeof(struct jvs_cpu_sample));
	live_finish(&live, rec);
	ASSERT_INT(rec_thread_get(rec, 1)->cpu_ns, 5 * PERIOD_NS);
}

static CU_TestInfo tests[] = {
	{ "what was seen is kept or lost", what_was_seen_is_kept_or_lost },
	{ "records that are no samples are no losses", records_that_are_no_samples_are_no_losses },
	{ "the kernel is told what to send again", the_kernel_is_told_what_to_send_again },
	{ "a thread that ended unseen has the time of its samples",
	  a_thread_that_ended_unseen_has_the_time_of_its_samples },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_finish_suite = {
	.pName = "live finish",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
