/* SPDX-License-Identifier: Apache-2.0 */
#include "live/vm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/decode.h"
#include "live/vm_impl.h"
#include "model/recording.h"
#include "target/target.h"
#include "unit/fakes_live.h"
#include "unit/unit.h"

/* Records of collections, safepoints and VM operations: what they become. */

#define TRACER 0x7f0000001000ull
#define OTHER  0x7f0000002000ull
#define BEGAN  1000000ull /* CLOCK_MONOTONIC when the JVM's elapsed counter was 0 */

static struct process processes[JVS_MAX_TARGETS];
static struct decoder decoder;
static struct vm *vm;
static struct recording *rec;

static void setup(void)
{
	fakes_reset();
	fakes.major = 17;
	vm = calloc(1, sizeof(*vm));
	CU_ASSERT_PTR_NOT_NULL_FATAL(vm);
	decoder = (struct decoder){ .processes = processes, .vm = vm, .epoch_ns = 7000000000 };
	memset(processes, 0, sizeof(processes));
	rec = rec_new();
	ASSERT_INT(target_open(getpid(), &processes[0].target), 0);
	processes[0].jvm = fake_jvm();
	processes[0].rec_jvm = rec_jvm(rec, &(struct rec_jvm){ .pid = getpid() });
}

static void teardown(void)
{
	target_close(processes[0].target);
	decode_free(&decoder);
	rec_free(rec);
	free(vm);
	fakes_reset();
}

/* ---- records */

static struct jvs_event event_of(uint32_t kind, uint64_t time_ns)
{
	return (struct jvs_event){ .kind = kind,
				   .time_ns = time_ns,
				   .pid = (uint32_t)getpid(),
				   .tid = (uint32_t)getpid() };
}

#define SEND(record) vm_decode(&decoder, rec, &(record), sizeof(record))

static void start(uint64_t tracer, uint32_t next_id)
{
	const struct jvs_gc_start record = { .event = event_of(JVS_EVENT_GC_START, BEGAN),
					     .tracer = tracer,
					     .next_id = next_id };

	SEND(record);
}

/* A heap of 1,000 to 5,000 of 9,000 bytes. */
static void heap(uint64_t tracer, bool after, uint64_t used)
{
	const struct jvs_gc_summary record = { .event = event_of(JVS_EVENT_GC_HEAP, BEGAN),
					       .tracer = tracer,
					       .after = after,
					       .words = { 0x7f, 1000, 5000, 9000, used } };

	SEND(record);
}

/* Words 1 to 10. */
static void metaspace(uint64_t tracer, bool after)
{
	struct jvs_gc_summary record = { .event = event_of(JVS_EVENT_GC_METASPACE, BEGAN),
					 .tracer = tracer,
					 .after = after };

	for (uint64_t i = 0; i < 10; i++)
		record.words[i] = i + 1;
	SEND(record);
}

static void phase(uint64_t tracer, const char *name, uint32_t level, uint64_t from, uint64_t to)
{
	struct jvs_gc_phase record = { .event = event_of(JVS_EVENT_GC_PHASE, BEGAN + to),
				       .tracer = tracer,
				       .start = from,
				       .end = to,
				       .level = level };

	snprintf(record.name, sizeof(record.name), "%s", name);
	SEND(record);
}

static void end(uint64_t tracer, uint64_t from, uint64_t to)
{
	const struct jvs_gc_end record = { .event = event_of(JVS_EVENT_GC_END, BEGAN + to),
					   .tracer = tracer,
					   .name = 4,
					   .cause = 22,
					   .start = from,
					   .end = to,
					   .sum_of_pauses = 30,
					   .longest_pause = 20 };

	SEND(record);
}

/* ---- collections */

static void a_collection_is_all_that_was_told_of_it(void)
{
	const struct rec_collection *row;
	const struct rec_gc_phase *phases;
	size_t count;

	start(TRACER, 8);
	heap(TRACER, false, 4000);
	metaspace(TRACER, false);
	heap(TRACER, true, 2000);
	metaspace(TRACER, true);
	phase(TRACER, "GC Pause", 0, 110, 140);
	phase(TRACER, "Mark", 1, 115, 120);
	end(TRACER, 100, 200);
	ASSERT_INT(rec_collection_count(rec), 1);
	row = rec_collection_get(rec, 1);
	CU_ASSERT(row->numbered && row->gc_id == 7 && row->jvm == 1);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, row->name), "G1New");
	CU_ASSERT_STRING_EQUAL(rec_text(rec, row->cause), "G1 Evacuation Pause");
	ASSERT_INT(row->time_ns, decoder.epoch_ns + (int64_t)BEGAN + 100);
	ASSERT_INT(row->duration_ns, 100);
	ASSERT_INT(row->sum_of_pauses_ns, 30);
	ASSERT_INT(row->longest_pause_ns, 20);
	ASSERT_INT(rec_thread_get(rec, row->thread)->tid, getpid());
	for (int after = 0; after < 2; after++) {
		const struct rec_gc_heap *size = &row->heap[after];

		CU_ASSERT(size->known && row->metaspace[after].known);
		ASSERT_INT(size->start, 1000);
		ASSERT_INT(size->committed, 4000);
		ASSERT_INT(size->reserved, 8000);
		ASSERT_INT(size->used, after ? 2000 : 4000);
	}
	phases = rec_gc_phases(rec, &count);
	ASSERT_INT(count, 2);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, phases[0].name), "GC Pause");
	ASSERT_INT(phases[0].time_ns, decoder.epoch_ns + (int64_t)BEGAN + 110);
	ASSERT_INT(phases[0].duration_ns, 30);
	ASSERT_INT(phases[1].level, 1);
	CU_ASSERT(phases[0].collection == 1 && phases[1].collection == 1);
}

static void metaspace_is_read_by_the_release(void)
{
	static const struct {
		int major;
		struct rec_gc_space all, data, class;
	} cases[] = {
		/* threshold, {committed, used, reserved} of all, data, class */
		{ 11, { 4, 2, 3 }, { 7, 5, 6 }, { 10, 8, 9 } },
		{ 15, { 4, 2, 3 }, { 7, 5, 6 }, { 10, 8, 9 } },
		/* threshold, {reserved, committed, used} of all, class, data */
		{ 16, { 2, 3, 4 }, { 8, 9, 10 }, { 5, 6, 7 } },
		{ 25, { 2, 3, 4 }, { 8, 9, 10 }, { 5, 6, 7 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct rec_gc_metaspace *got;

		fakes.major = cases[i].major;
		start(TRACER, 1);
		metaspace(TRACER, true);
		end(TRACER, 1, 2);
		got = &rec_collection_get(rec, (uint32_t)i + 1)->metaspace[1];
		ASSERT_INT(got->threshold, 1);
		ASSERT_INT(memcmp(&got->all, &cases[i].all, sizeof(got->all)), 0);
		ASSERT_INT(memcmp(&got->data, &cases[i].data, sizeof(got->data)), 0);
		ASSERT_INT(memcmp(&got->class, &cases[i].class, sizeof(got->class)), 0);
	}
}

/* It ran when recording began, or its record did not fit. */
static void without_its_start_it_has_no_number(void)
{
	start(TRACER, 5);
	heap(TRACER, false, 1);
	end(TRACER, 1, 2);
	heap(TRACER, false, 2);
	phase(TRACER, "GC Pause", 0, 3, 4);
	end(TRACER, 3, 4);
	ASSERT_INT(rec_collection_count(rec), 2);
	CU_ASSERT(rec_collection_get(rec, 1)->numbered);
	CU_ASSERT(!rec_collection_get(rec, 2)->numbered);
	ASSERT_INT(rec_collection_get(rec, 1)->heap[0].used, 1);
	ASSERT_INT(rec_collection_get(rec, 2)->heap[0].used, 2);
	/* Nothing at all but its end. */
	end(OTHER, 5, 6);
	CU_ASSERT(!rec_collection_get(rec, 3)->numbered);
	CU_ASSERT(!rec_collection_get(rec, 3)->heap[0].known);
}

/* Its end did not fit: what was told of it is not told of the next. */
static void a_lost_end_leaves_nothing(void)
{
	start(TRACER, 5);
	heap(TRACER, true, 77);
	phase(TRACER, "GC Pause", 0, 1, 2);
	start(TRACER, 6);
	end(TRACER, 3, 4);
	ASSERT_INT(rec_collection_count(rec), 1);
	ASSERT_INT(rec_collection_get(rec, 1)->gc_id, 5);
	CU_ASSERT(!rec_collection_get(rec, 1)->heap[1].known);
	CU_ASSERT_PTR_NULL(rec_gc_phase_get(rec, 1));
}

/* ZGC of JDK 21 and later: what is left is told when the collection has ended. */
static void sizes_may_come_after_the_end(void)
{
	start(TRACER, 5);
	heap(TRACER, false, 300);
	end(TRACER, 1, 2);
	CU_ASSERT(!rec_collection_get(rec, 1)->heap[1].known);
	heap(TRACER, true, 100);
	metaspace(TRACER, true);
	CU_ASSERT(rec_collection_get(rec, 1)->heap[1].known);
	CU_ASSERT(rec_collection_get(rec, 1)->metaspace[1].known);
	ASSERT_INT(rec_collection_get(rec, 1)->heap[1].used, 100);
	start(TRACER, 6);
	heap(TRACER, false, 200);
	end(TRACER, 3, 4);
	ASSERT_INT(rec_collection_get(rec, 1)->heap[0].used, 300);
	ASSERT_INT(rec_collection_get(rec, 2)->heap[0].used, 200);
	CU_ASSERT(!rec_collection_get(rec, 2)->heap[1].known);
}

/* A young collection within an old one. */
static void tracers_do_not_mix(void)
{
	size_t count;
	const struct rec_gc_phase *phases;

	start(TRACER, 11);
	heap(TRACER, false, 1);
	start(OTHER, 12);
	heap(OTHER, false, 2);
	heap(OTHER, true, 3);
	phase(OTHER, "Young", 0, 10, 20);
	end(OTHER, 10, 20);
	heap(TRACER, true, 4);
	phase(TRACER, "Old", 0, 1, 30);
	end(TRACER, 1, 30);
	ASSERT_INT(rec_collection_count(rec), 2);
	ASSERT_INT(rec_collection_get(rec, 1)->gc_id, 11);
	ASSERT_INT(rec_collection_get(rec, 2)->gc_id, 10);
	ASSERT_INT(rec_collection_get(rec, 1)->heap[1].used, 3);
	ASSERT_INT(rec_collection_get(rec, 2)->heap[0].used, 1);
	ASSERT_INT(rec_collection_get(rec, 2)->heap[1].used, 4);
	phases = rec_gc_phases(rec, &count);
	ASSERT_INT(count, 2);
	CU_ASSERT(phases[0].collection == 1 && phases[1].collection == 2);
}

static uint32_t id_of(uint64_t tracer, uint32_t next_id)
{
	start(tracer, next_id);
	end(tracer, 1, 2);
	return rec_collection_get(rec, rec_collection_count(rec))->gc_id;
}

static void a_number_that_is_seen_twice_is_that_of_the_later(void)
{
	ASSERT_INT(id_of(TRACER, 41), 40);
	/* It is the first: what was before it is not known. */
	ASSERT_INT(id_of(OTHER, 41), 40);
	/* 41 had taken its number, and began behind 42. */
	ASSERT_INT(id_of(TRACER, 43), 42);
	ASSERT_INT(id_of(OTHER, 43), 41);
	ASSERT_INT(id_of(TRACER, 44), 43);
	/* One that tells two starts, as both parts of a collection of ZGC. */
	ASSERT_INT(id_of(OTHER, 44), 43);
	/* Too many were not seen. */
	ASSERT_INT(id_of(TRACER, 200), 199);
	ASSERT_INT(id_of(OTHER, 200), 199);
}

/* More at once than there are places for: what is not whole is counted. */
static void a_collection_that_is_pushed_out_is_counted(void)
{
	const uint64_t *pushed_out = &vm->targets[0].losses[VM_LOSS_PUSHED_OUT];

	for (uint64_t i = 0; i < VM_COLLECTIONS; i++)
		start(TRACER + 64 * i, (uint32_t)i + 2);
	end(TRACER + 64, 1, 2);
	start(OTHER, 100);
	ASSERT_INT(*pushed_out, 0);
	start(OTHER + 64, 101);
	ASSERT_INT(*pushed_out, 1);
	for (uint64_t i = 0; i < VM_COLLECTIONS; i++)
		if (i != 1)
			end(TRACER + 64 * i, 1, 2);
	ASSERT_INT(rec_collection_count(rec), VM_COLLECTIONS);
	CU_ASSERT(rec_collection_get(rec, 1)->numbered);
	CU_ASSERT(!rec_collection_get(rec, 2)->numbered);
}

static void only_so_many_phases_are_kept(void)
{
	size_t count;

	start(TRACER, 1);
	for (uint64_t i = 0; i < JVS_GC_PHASES + 10; i++)
		phase(TRACER, "GC Pause", 0, i, i + 1);
	end(TRACER, 1, 2);
	rec_gc_phases(rec, &count);
	ASSERT_INT(count, JVS_GC_PHASES);
}

/* Numbers of a release that is not here are those of the one before it. */
static void numbers_have_names_by_release(void)
{
	static const struct {
		int major;
		uint32_t number;
		const char *name, *cause;
	} cases[] = {
		{ 8, 6, "G1New", "Heap Inspection Initiated GC" },
		{ 11, 6, "G1New", "Heap Inspection Initiated GC" },
		{ 17, 4, "G1New", "JvmtiEnv ForceGarbageCollection" },
		{ 20, 8, "Shenandoah", "WhiteBox Initiated Young GC" },
		{ 21, 7, "ZGC Minor", "Heap Dump Initiated GC" },
		{ 25, 9, "Shenandoah", "WhiteBox Initiated Run to Breakpoint" },
		{ 99, 9, "Shenandoah", "WhiteBox Initiated Run to Breakpoint" },
		{ 25, 1000, "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CU_ASSERT_STRING_EQUAL(vm_gc_name(cases[i].major, cases[i].number), cases[i].name);
		CU_ASSERT_STRING_EQUAL(vm_gc_cause(cases[i].major, cases[i].number),
				       cases[i].cause);
	}
}

/* ---- safepoints */

static void operation(const char *name, uint64_t from, uint64_t to, bool stops, uint64_t number)
{
	struct jvs_vm_operation record = { .event = event_of(JVS_EVENT_VM_OPERATION, to),
					   .start_ns = from,
					   .safepoint = number,
					   .stops = stops };

	snprintf(record.name, sizeof(record.name), "%s", name);
	SEND(record);
}

static void safepoint(uint64_t from, uint64_t reached, uint64_t resumed, uint64_t to)
{
	const struct jvs_safepoint record = { .event = event_of(JVS_EVENT_SAFEPOINT, to),
					      .start_ns = from,
					      .reached_ns = reached,
					      .end_ns = resumed,
					      .id = 42,
					      .threads = 9,
					      .critical = 1 };

	SEND(record);
}

static void a_safepoint_is_named_by_its_first_operation(void)
{
	size_t count;
	const struct rec_safepoint *safepoints;
	const struct rec_vm_operation *operations;

	operation("HandshakeAllThreads", 1, 5, false, 0);
	operation("G1CollectForAllocation", 110, 150, true, 42);
	operation("Shenandoah Final Mark and Start Evacuation", 150, 160, true, 42);
	safepoint(100, 108, 170, 180);
	safepoint(200, 0, 210, 220);
	safepoints = rec_safepoints(rec, &count);
	ASSERT_INT(count, 2);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, safepoints[0].operation), "G1CollectForAllocation");
	ASSERT_INT(safepoints[0].time_ns, decoder.epoch_ns + 100);
	ASSERT_INT(safepoints[0].reach_ns, 8);
	ASSERT_INT(safepoints[0].duration_ns, 80);
	ASSERT_INT(safepoints[0].resume_ns, 10);
	CU_ASSERT(safepoints[0].id == 42 && safepoints[0].threads == 9 &&
		  safepoints[0].critical == 1);
	ASSERT_INT(safepoints[1].operation, 0);
	ASSERT_INT(safepoints[1].reach_ns, 0);
	operations = rec_vm_operations(rec, &count);
	ASSERT_INT(count, 3);
	CU_ASSERT(!operations[0].stops && operations[1].stops);
	ASSERT_INT(operations[1].safepoint, 42);
	ASSERT_INT(operations[1].duration_ns, 40);
	/* As the JVM's own recordings have it. */
	CU_ASSERT_STRING_EQUAL(rec_text(rec, operations[2].name), "ShenandoahFinalMarkStartEvac");
}

/* ---- locks, objects */

static void a_sum_is_told_once(void)
{
	const struct jvs_lock_key key = { .op = JVS_LOCK_WAIT, .klass = 0 };
	struct jvs_lock_sum sum = { 0 };
	struct vm_target *t = &vm->targets[0];
	const struct rec_total *totals;
	size_t count;

	/* Nothing was short: no stack says so. */
	vm_tell_lock(t, &processes[0], rec, &key, &sum);
	ASSERT_INT(rec_stack_count(rec), 0);
	sum = (struct jvs_lock_sum){ .count = 3, .ns = 30 };
	vm_tell_lock(t, &processes[0], rec, &key, &sum);
	vm_tell_lock(t, &processes[0], rec, &key, &sum);
	sum = (struct jvs_lock_sum){ .count = 5, .ns = 70 };
	vm_tell_lock(t, &processes[0], rec, &key, &sum);
	ASSERT_INT(rec_stack_count(rec), 1);
	totals = rec_totals(rec, &count);
	ASSERT_INT(count, 1);
	ASSERT_INT(totals[0].key.metric, REC_OBJECT_WAIT);
	ASSERT_INT(totals[0].count, 5);
	ASSERT_INT(totals[0].value, 70);
	table_free(&t->lock_sums);
}

static void tick(int times)
{
	while (times--)
		vm_show_objects(vm, &processes[0]);
}

static void watch_objects(const int *errors, size_t count)
{
	fakes.object_errors = errors;
	fakes.object_error_count = count;
	vm->groups = 1u << JVS_VM_EXCEPTION | 1u << JVS_VM_JIT;
	vm->runtime_fd = vm->locks_fd = FAKE_MAP_FD;
}

/* Compilations do not wait for it. */
static void objects_are_asked_for_less_and_less_often(void)
{
	static const int errors[] = { -EAGAIN, -EFAULT, -EAGAIN, 0 };
	const struct vm_target *t = &vm->targets[0];

	watch_objects(errors, ARRAY_SIZE(errors));
	tick(1);
	CU_ASSERT(t->runtime.ready && !t->objects.known);
	tick(1);
	ASSERT_INT(fakes.objects_asked, 2);
	tick(1);
	ASSERT_INT(fakes.objects_asked, 2);
	tick(5);
	ASSERT_INT(fakes.objects_asked, 4);
	CU_ASSERT(t->objects.known && t->runtime.objects.klass_kind == JVS_KLASS_NARROW);
	tick(1000);
	ASSERT_INT(fakes.objects_asked, 4);
}

static void what_a_jvm_does_not_show_is_not_asked_for_again(void)
{
	static const int errors[] = { -ENOENT };
	const struct vm_target *t = &vm->targets[0];

	watch_objects(errors, 1);
	fakes.task_error = -ENOENT;
	tick(1000);
	ASSERT_INT(fakes.objects_asked, 1);
	CU_ASSERT(t->objects.given_up && !t->runtime.ready);
}

static void errors_for_ever_are_met_every_six_seconds(void)
{
	static const int errors[] = { -EFAULT };

	watch_objects(errors, 1);
	tick(1 + 1 + 2 + 4 + 8 + 16 + 32 + 64);
	ASSERT_INT(fakes.objects_asked, 8);
	tick(640);
	ASSERT_INT(fakes.objects_asked, 18);
}

/* ---- threads that are slow to stop */

#define MS 1000000ull

static uint32_t stack_of(const char *const *names, size_t count, enum rec_frame_kind kind)
{
	uint32_t frames[8];

	for (size_t i = 0; i < count; i++) {
		const struct rec_method method = { .name = rec_string(rec, names[i],
								      strlen(names[i])) };
		const struct rec_frame frame = {
			.method = rec_method(rec, &method),
			.kind = i + 1 == count ? kind : REC_FRAME_CPP,
			.line = -1,
			.bci = -1,
		};

		frames[i] = rec_frame(rec, &frame);
	}
	return rec_stack(rec, frames, count, REC_STACK_COMPLETE);
}

static void straggler(uint32_t tid, uint64_t start_ns, uint64_t time_ns, uint64_t saved_pc)
{
	struct jvs_straggler record = { .event = event_of(JVS_EVENT_STRAGGLER, time_ns),
					.start_ns = start_ns,
					.stack = 0xabc,
					.saved_pc = saved_pc };

	record.event.tid = tid;
	SEND(record);
}

static void running(uint32_t tid, uint64_t time_ns, uint32_t stack)
{
	const struct vm_running sample = { .time_ns = time_ns,
					   .thread = rec_thread(rec, 1, (pid_t)tid),
					   .stack = stack };

	vm_see_running(&vm->targets[0], &sample);
}

static void a_safepoint_has_the_threads_it_waited_for(void)
{
	static const char *const names[] = { "stopped", "sampled" };
	uint32_t stopped = stack_of(&names[0], 1, REC_FRAME_C2);
	uint32_t sampled = stack_of(&names[1], 1, REC_FRAME_C2);
	const struct rec_straggler *rows;
	size_t count;

	ASSERT_INT(map64_set(&decoder.stacks, 0xabc, stopped), 0);
	straggler(1, 50 * MS, 70 * MS, 0); /* of another safepoint */
	running(2, 99 * MS, sampled);	   /* before it */
	running(2, 101 * MS, 0);	   /* the last one counts */
	running(2, 102 * MS, sampled);
	running(3, 105 * MS, sampled); /* it may have stopped at once */
	running(4, 111 * MS, sampled); /* it never did */
	running(4, 112 * MS, sampled);
	straggler(2, 100 * MS, 120 * MS, 0);
	straggler(5, 100 * MS, 125 * MS, 0);
	running(6, 126 * MS, sampled); /* all had */
	safepoint(100 * MS, 126 * MS, 130 * MS, 131 * MS);
	rows = rec_stragglers(rec, &count);
	ASSERT_INT(count, 3);
	CU_ASSERT(rows[0].safepoint == 1 && rows[0].jvm == 1);
	ASSERT_INT(rec_thread_get(rec, rows[0].thread)->tid, 2);
	CU_ASSERT(rows[0].sampled && rows[0].stack == sampled && rows[0].late_ns == 20 * MS);
	ASSERT_INT(rec_thread_get(rec, rows[1].thread)->tid, 5);
	CU_ASSERT(!rows[1].sampled && rows[1].stack == stopped && rows[1].late_ns == 25 * MS);
	ASSERT_INT(rec_thread_get(rec, rows[2].thread)->tid, 4);
	CU_ASSERT(rows[2].sampled && rows[2].late_ns == 12 * MS);
	safepoint(200 * MS, 230 * MS, 240 * MS, 250 * MS);
	rec_stragglers(rec, &count);
	ASSERT_INT(count, 3);
}

/* The last ones are what a safepoint waits for. */
static void of_many_the_last_are_kept(void)
{
	const struct rec_straggler *rows;
	size_t count;

	map64_set(&decoder.stacks, 0xabc, 1);
	for (uint32_t i = 0; i < VM_STOPPED + 5; i++)
		straggler(100 + i, 100 * MS, (120 + i) * MS, 0);
	safepoint(100 * MS, 300 * MS, 310 * MS, 320 * MS);
	rows = rec_stragglers(rec, &count);
	ASSERT_INT(count, VM_STOPPED);
	ASSERT_INT(rec_thread_get(rec, rows[0].thread)->tid, 105);
	ASSERT_INT(vm->targets[0].losses[VM_LOSS_STRAGGLERS], 5);
}

/* Its poll is at its return, where its frame is gone. */
static void a_method_that_returns_is_put_back(void)
{
	static const char *const polled[] = { "SafepointSynchronize::block",
					      "T::handle_polling_page_exception", "SafepointBlob",
					      "caller" };
	static const struct {
		const char *second; /* what is called by the stub */
		uint64_t pc;
		size_t frames;
	} cases[] = {
		{ "T::handle_polling_page_exception", 0x1000, 5 },
		{ "T::handle_polling_page_exception", 0, 4 }, /* it is not known where */
		{ "Runtime::something_else", 0x1000, 4 },     /* the pc is of another poll */
	};
	size_t count;

	fakes.method = (struct jvm_method){ .class_name = "A", .name = "left", .signature = "()V" };
	fakes.method.number = 1;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *names[] = { polled[0], cases[i].second, polled[2], polled[3] };
		const struct rec_straggler *rows;
		struct rec_stack stack;
		uint64_t start_ns = 1000 * (i + 1) * MS;

		map64_set(&decoder.stacks, 0xabc, stack_of(names, 4, REC_FRAME_C2));
		straggler(1, start_ns, start_ns + 20 * MS, cases[i].pc);
		safepoint(start_ns, start_ns + 21 * MS, start_ns + 22 * MS, start_ns + 23 * MS);
		rows = rec_stragglers(rec, &count);
		ASSERT_INT(count, i + 1);
		stack = rec_stack_get(rec, rows[i].stack);
		ASSERT_INT(stack.count, cases[i].frames);
		if (cases[i].frames == 5) {
			const struct rec_frame *frame = rec_frame_get(rec, stack.frames[3]);

			CU_ASSERT_STRING_EQUAL(
				rec_text(rec, rec_method_get(rec, frame->method)->name), "left");
		}
	}
}

static void a_short_record_is_a_bad_one(void)
{
	const struct jvs_gc_end record = { .event = event_of(JVS_EVENT_GC_END, 1) };

	vm_decode(&decoder, rec, &record, sizeof(record) - 1);
	ASSERT_INT(decoder.bad_records, 1);
	ASSERT_INT(rec_collection_count(rec), 0);
}

static CU_TestInfo tests[] = {
	{ "a collection is all that was told of it", a_collection_is_all_that_was_told_of_it },
	{ "metaspace is read by the release", metaspace_is_read_by_the_release },
	{ "without its start it has no number", without_its_start_it_has_no_number },
	{ "a lost end leaves nothing", a_lost_end_leaves_nothing },
	{ "sizes may come after the end", sizes_may_come_after_the_end },
	{ "tracers do not mix", tracers_do_not_mix },
	{ "a number that is seen twice is that of the later",
	  a_number_that_is_seen_twice_is_that_of_the_later },
	{ "a collection that is pushed out is counted",
	  a_collection_that_is_pushed_out_is_counted },
	{ "only so many phases are kept", only_so_many_phases_are_kept },
	{ "numbers have names by release", numbers_have_names_by_release },
	{ "a safepoint is named by its first operation",
	  a_safepoint_is_named_by_its_first_operation },
	{ "a sum is told once", a_sum_is_told_once },
	{ "objects are asked for less and less often", objects_are_asked_for_less_and_less_often },
	{ "what a JVM does not show is not asked for again",
	  what_a_jvm_does_not_show_is_not_asked_for_again },
	{ "errors for ever are met every six seconds", errors_for_ever_are_met_every_six_seconds },
	{ "a safepoint has the threads it waited for", a_safepoint_has_the_threads_it_waited_for },
	{ "of many the last are kept", of_many_the_last_are_kept },
	{ "a method that returns is put back", a_method_that_returns_is_put_back },
	{ "a short record is a bad one", a_short_record_is_a_bad_one },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_vm_suite = {
	.pName = "live_vm",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
