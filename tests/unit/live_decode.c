/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/decode.h"
#include "model/recording.h"
#include "target/target.h"
#include "unit/unit.h"

static struct process processes[JVS_MAX_TARGETS];
static uint64_t seen[JVS_SEEN_STACKS];
static struct decoder decoder;
static struct recording *rec;

static void setup(void)
{
	decoder = (struct decoder){ .processes = processes,
				    .seen = seen,
				    .slots_per_cpu = JVS_SLOTS_PER_CPU,
				    .period_ns = 1000 };
	memset(processes, 0, sizeof(processes));
	rec = rec_new();
	ASSERT_INT(target_open(getpid(), &processes[0].target), 0);
	processes[0].rec_jvm = rec_jvm(rec, &(struct rec_jvm){ .pid = getpid() });
}

static void teardown(void)
{
	target_close(processes[0].target);
	decode_free(&decoder);
	rec_free(rec);
}

/* Frame n of a made-up stack: a call stub or a mark, which need no JVM to be named. */
static struct jvs_frame frame(uint32_t n)
{
	uint32_t kind = n % 2 ? JVS_FRAME_CALL_STUB : JVS_FRAME_HEAP_FRAMES;

	return (struct jvs_frame){ .word = jvs_frame_word(0x1000 + n, kind, 0), .cookie = n };
}

/* Sends frames first..first+count-1 of a stack of stored frames, as the sampler of a CPU does. */
static void send_part_of(uint32_t cpu, uint64_t hash, uint32_t first, uint32_t count,
			 uint32_t stored)
{
	uint64_t slot = cpu * JVS_SLOTS_PER_CPU + JVS_SLOT_SAMPLE;
	struct jvs_stack_part part = { .event = { .kind = JVS_EVENT_STACK_PART, .cpu = cpu },
				       .stack = hash,
				       .capture = hash << 8 | (slot & 0xff),
				       .first = first,
				       .count = count,
				       .stored = stored,
				       .walked = stored,
				       .status = JVS_STATUS_END };

	for (uint32_t i = 0; i < count; i++)
		part.frames[i] = frame(first + i);
	decode_record(&decoder, rec, &part,
		      JVS_STACK_PART_HEADER + count * sizeof(struct jvs_frame));
}

static void send_part(uint64_t hash, uint32_t first, uint32_t count, uint32_t stored)
{
	send_part_of(0, hash, first, count, stored);
}

static void send_sample(uint64_t hash, uint32_t status)
{
	struct jvs_cpu_sample sample = { .event = { .kind = JVS_EVENT_CPU_SAMPLE,
						    .tid = (uint32_t)getpid() },
					 .stack = hash,
					 .status = status,
					 .thread_state = JVS_THREAD_STATE_UNKNOWN };

	decode_record(&decoder, rec, &sample, sizeof(sample));
}

static void a_stack_in_parts_becomes_one(void)
{
	struct rec_stack stack;
	const struct rec_total *totals;
	size_t count;

	send_part(7, 0, 64, 100);
	send_part(7, 64, 36, 100);
	send_sample(7, JVS_STATUS_END);
	send_sample(7, JVS_STATUS_END);
	totals = rec_totals(rec, &count);
	ASSERT_INT(count, 1);
	ASSERT_INT(totals[0].count, 2);
	ASSERT_INT(totals[0].value, 2000);
	stack = rec_stack_get(rec, totals[0].key.stack);
	ASSERT_INT(stack.count, 100);
	ASSERT_INT(stack.state, REC_STACK_COMPLETE);
	ASSERT_INT(decoder.by_status[JVS_STATUS_END], 2);
}

static void parts_of_many_cpus_may_interleave(void)
{
	enum { CPUS = 300 };

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		send_part_of(cpu, cpu + 1, 0, 64, 66);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		send_part_of(cpu, cpu + 1, 64, 2, 66);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		send_sample(cpu + 1, JVS_STATUS_END);
	ASSERT_INT(decoder.samples, CPUS);
	ASSERT_INT(decoder.lost_stack, 0);
}

static void stacks_cut_short_do_not_stand_in_the_way(void)
{
	enum { CPUS = 100 };

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		send_part_of(cpu, cpu + 1, 0, 64, 66);
	/* The ring was full: their other parts were lost. */
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		send_part_of(cpu, cpu + 1001, 0, 64, 66);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		send_part_of(cpu, cpu + 1001, 64, 2, 66);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		send_sample(cpu + 1001, JVS_STATUS_END);
	ASSERT_INT(decoder.samples, CPUS);
}

static void a_thread_is_a_java_thread_once_it_was_seen_in_a_java_state(void)
{
	struct jvs_cpu_sample sample = { .event = { .kind = JVS_EVENT_CPU_SAMPLE,
						    .tid = (uint32_t)getpid() },
					 .stack = 7,
					 .status = JVS_STATUS_END,
					 .thread_state = JVS_THREAD_STATE_IN_JAVA };

	send_part(7, 0, 1, 1);
	send_sample(7, JVS_STATUS_END);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rec_thread_get(rec, 1)->group), "native");
	decode_record(&decoder, rec, &sample, sizeof(sample));
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rec_thread_get(rec, 1)->group), "java");
	send_sample(7, JVS_STATUS_END);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rec_thread_get(rec, 1)->group), "java");
}

static void code_in_no_mapping_concerns_its_own_process_only(void)
{
	struct jvs_stack_part part = {
		.event = { .kind = JVS_EVENT_STACK_PART, .target = 0 },
		.capture = 1 << 8,
		.count = 1,
		.stored = 1,
		.walked = 1,
		.frames = { { .word = jvs_frame_word(0x1000, JVS_FRAME_UNMAPPED, 0) } },
	};

	decode_record(&decoder, rec, &part, sizeof(part));
	CU_ASSERT_TRUE(processes[0].unmapped);
	CU_ASSERT_FALSE(processes[1].unmapped);
}

static void a_sample_without_its_stack_is_a_counted_loss(void)
{
	send_part(1, 0, 64, 65);
	send_sample(1, JVS_STATUS_END); /* the second part is missing */
	send_sample(3, JVS_STATUS_END);
	ASSERT_INT(decoder.samples, 0);
	ASSERT_INT(decoder.lost_stack, 2);
}

static void a_cut_stack_keeps_its_root_and_marks_the_gap(void)
{
	enum { DEPTH = 64, WALKED = 200 };
	struct raw_stack raw = { .stored = DEPTH, .walked = WALKED, .status = JVS_STATUS_DEPTH };
	struct rec_stack stack;
	char text[64];
	uint32_t id;

	raw.frames = calloc(DEPTH, sizeof(*raw.frames));
	for (uint32_t n = 0; n < WALKED; n++) {
		uint32_t at =
			n < DEPTH ? n : DEPTH - JVS_ROOT_FRAMES + (n - DEPTH) % JVS_ROOT_FRAMES;

		raw.frames[at] = frame(n);
	}
	id = resolve_stack(&decoder.resolver, &processes[0], rec, &raw);
	free(raw.frames);
	stack = rec_stack_get(rec, id);
	ASSERT_INT(stack.count, DEPTH + 1);
	ASSERT_INT(stack.state, REC_STACK_TRUNCATED);
	rec_frame_text(rec, stack.frames[DEPTH - JVS_ROOT_FRAMES], text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "[truncated]");
	/* The outermost frame is number 199, odd: the call stub. The one kept first is 168, even.
	 */
	rec_frame_text(rec, stack.frames[DEPTH], text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "call_stub");
	rec_frame_text(rec, stack.frames[DEPTH - JVS_ROOT_FRAMES + 1], text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "[frames in heap]");
}

static void nonsense_is_counted_and_does_no_harm(void)
{
	struct jvs_stack_part part = { .event = { .kind = JVS_EVENT_STACK_PART } };
	struct jvs_event event = { .kind = 99 };

	decode_record(&decoder, rec, &event, sizeof(event));
	decode_record(&decoder, rec, &event, 3);
	event = (struct jvs_event){ .kind = JVS_EVENT_CPU_SAMPLE };
	decode_record(&decoder, rec, &event, sizeof(event));
	event.target = JVS_MAX_TARGETS;
	decode_record(&decoder, rec, &event, sizeof(event));
	part.count = JVS_PART_FRAMES + 1;
	decode_record(&decoder, rec, &part, sizeof(part));
	part.count = 10;
	part.stored = 5;
	decode_record(&decoder, rec, &part, sizeof(part));
	part.stored = JVS_DEPTH_MAX + JVS_KERNEL_DEPTH + 1;
	decode_record(&decoder, rec, &part, sizeof(part));
	part.stored = 10;
	decode_record(&decoder, rec, &part, JVS_STACK_PART_HEADER + 9 * sizeof(struct jvs_frame));
	ASSERT_INT(decoder.bad_records, 8);
	/* Of these one was a sample of a target: seen, and not kept. */
	ASSERT_INT(decoder.lost_bad, 1);
}

static CU_TestInfo tests[] = {
	{ "a stack in parts becomes one", a_stack_in_parts_becomes_one },
	{ "parts of many CPUs may interleave", parts_of_many_cpus_may_interleave },
	{ "stacks cut short do not stand in the way", stacks_cut_short_do_not_stand_in_the_way },
	{ "a thread is a Java thread once it was seen in a Java state",
	  a_thread_is_a_java_thread_once_it_was_seen_in_a_java_state },
	{ "code in no mapping concerns its own process only",
	  code_in_no_mapping_concerns_its_own_process_only },
	{ "a sample without its stack is a counted loss",
	  a_sample_without_its_stack_is_a_counted_loss },
	{ "a cut stack keeps its root and marks the gap",
	  a_cut_stack_keeps_its_root_and_marks_the_gap },
	{ "nonsense is counted and does no harm", nonsense_is_counted_and_does_no_harm },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_decode_suite = {
	.pName = "live decode",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
