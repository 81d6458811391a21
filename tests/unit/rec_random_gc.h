/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_REC_RANDOM_GC_H
#define JVMSCOPE_REC_RANDOM_GC_H

#include "model/gc.h"
#include "unit/rec_random_memory.h"

/* The part of rec_random.h for what the VM does by itself. */

static inline int64_t random_moment(struct rec_random *r)
{
	return rec_meta(r->rec)->start_time_ns + random_amount(r);
}

static inline uint32_t random_thread_of(struct rec_random *r, uint32_t jvm)
{
	return random_below(r, 4)
		       ? rec_thread(r->rec, jvm, (pid_t)(1000 * jvm + random_below(r, 5)))
		       : 0;
}

static inline struct rec_gc_space random_space(struct rec_random *r)
{
	return (struct rec_gc_space){ (uint64_t)random_amount(r), (uint64_t)random_amount(r),
				      (uint64_t)random_amount(r) };
}

static inline void random_sizes(struct rec_random *r, struct rec_collection *row, int after)
{
	if (random_below(r, 4))
		row->heap[after] = (struct rec_gc_heap){ .known = true,
							 .start = (uint64_t)random_amount(r),
							 .committed = (uint64_t)random_amount(r),
							 .reserved = (uint64_t)random_amount(r),
							 .used = (uint64_t)random_amount(r) };
	if (random_below(r, 4))
		row->metaspace[after] =
			(struct rec_gc_metaspace){ .known = true,
						   .threshold = (uint64_t)random_amount(r),
						   .all = random_space(r),
						   .data = random_space(r),
						   .class = random_space(r) };
}

/* Some have no number; what is numbered is numbered once. */
static inline uint32_t random_collection(struct rec_random *r, uint32_t jvm, uint32_t number)
{
	static const char *const names[] = { "G1New", "G1Full", "ZGC Minor", "Shenandoah", "" };
	static const char *const causes[] = { "System.gc()", "G1 Evacuation Pause", "" };
	bool numbered = random_below(r, 4);
	struct rec_collection row = {
		.jvm = jvm,
		.gc_id = numbered ? number : 0,
		.numbered = numbered,
		.thread = random_thread_of(r, jvm),
		.name = random_text(r, RANDOM_OF(r, names)),
		.cause = random_text(r, RANDOM_OF(r, causes)),
		.time_ns = random_moment(r),
		.duration_ns = (uint64_t)random_amount(r),
		.sum_of_pauses_ns = (uint64_t)random_amount(r),
		.longest_pause_ns = (uint64_t)random_amount(r),
	};

	random_sizes(r, &row, 0);
	random_sizes(r, &row, 1);
	return rec_collection(r->rec, &row);
}

static inline void random_phase(struct rec_random *r, uint32_t jvm, uint32_t collection)
{
	static const char *const names[] = { "GC Pause", "Concurrent Mark", "" };
	bool concurrent = random_below(r, 2);
	const struct rec_gc_phase row = {
		.jvm = jvm,
		.collection = collection,
		.name = random_text(r, RANDOM_OF(r, names)),
		.level = random_below(r, concurrent ? 3 : 5),
		.concurrent = concurrent,
		.time_ns = random_moment(r),
		.duration_ns = (uint64_t)random_amount(r),
	};

	rec_gc_phase(r->rec, &row);
}

static inline void random_stragglers(struct rec_random *r, uint32_t jvm, uint32_t safepoint)
{
	for (uint32_t i = random_below(r, 3); i; i--) {
		const struct rec_straggler row = {
			.jvm = jvm,
			.safepoint = safepoint,
			.thread = random_thread_of(r, jvm),
			.stack = random_below(r, 4) ? random_stack(r) : 0,
			.sampled = random_below(r, 2),
			.late_ns = (uint64_t)random_amount(r),
		};

		rec_straggler(r->rec, &row);
	}
}

/* With up to two operations at it, the first of which names it. */
static inline void random_safepoint(struct rec_random *r, uint32_t jvm, uint64_t number)
{
	static const char *const names[] = { "G1CollectForAllocation", "Cleanup" };
	struct rec_safepoint row = {
		.jvm = jvm,
		.thread = random_thread_of(r, jvm),
		.threads = random_below(r, 100),
		.critical = random_below(r, 3),
		.id = number,
		.time_ns = random_moment(r),
		.reach_ns = random_below(r, 1000),
		.resume_ns = random_below(r, 1000),
	};

	row.duration_ns = row.reach_ns + row.resume_ns + (uint64_t)random_amount(r);
	for (uint32_t i = random_below(r, 3); i; i--) {
		const struct rec_vm_operation op = {
			.jvm = jvm,
			.name = random_text(r, RANDOM_OF(r, names)),
			.thread = row.thread,
			.caller = random_thread_of(r, jvm),
			.stops = true,
			.safepoint = number,
			.time_ns = row.time_ns + (int64_t)row.reach_ns,
			.duration_ns = (uint64_t)random_amount(r),
		};

		row.operation = row.operation ? row.operation : op.name;
		rec_vm_operation(r->rec, &op);
	}
	random_stragglers(r, jvm, rec_safepoint(r->rec, &row));
}

static inline void random_gc(struct rec_random *r, uint32_t jvm)
{
	static const char *const counts[] = { "gc_hits", "safepoint_ring_full" };

	for (uint32_t number = random_below(r, 6); number; number--) {
		uint32_t id = random_collection(r, jvm, number - 1);

		for (uint32_t i = random_below(r, 4); i; i--)
			random_phase(r, jvm, random_below(r, 8) ? id : 0);
	}
	for (uint32_t number = random_below(r, 6); number; number--)
		random_safepoint(r, jvm, number);
	for (uint32_t i = random_below(r, 3); i; i--)
		rec_vm_count_set(r->rec, jvm, RANDOM_OF(r, counts), (uint64_t)random_amount(r));
}

#endif
