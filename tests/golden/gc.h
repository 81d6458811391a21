/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_GOLDEN_GC_H
#define JVMSCOPE_GOLDEN_GC_H

#include "golden/recording.h"
#include "model/gc.h"

/* Beside golden/recording.h: collections, safepoints and VM operations, one of each kind. */

static void golden_collections(struct recording *to, int64_t start_ns)
{
	struct rec_collection row = {
		.jvm = 1,
		.gc_id = 7,
		.numbered = true,
		.thread = 1,
		.name = golden_string(to, "G1New"),
		.cause = golden_string(to, "G1 Evacuation Pause"),
		.time_ns = start_ns + 1000000,
		.duration_ns = 5000000,
		.sum_of_pauses_ns = 4500000,
		.longest_pause_ns = 4500000,
	};

	for (uint64_t after = 0; after < 2; after++) {
		row.heap[after] = (struct rec_gc_heap){ true, 0xf4000000, 1000000, 2000000,
							900000 - 500000 * after };
		row.metaspace[after] = (struct rec_gc_metaspace){
			true, 21000000, { 300, 200, 100 }, { 30, 20, 10 }, { 3, 2, 1 + after }
		};
	}
	rec_collection(to, &row);
	/* One that ran before, and sizes that are not known. */
	row = (struct rec_collection){ .jvm = 2, .time_ns = start_ns, .duration_ns = 9000000 };
	row.name = golden_string(to, "Z");
	rec_collection(to, &row);
}

static void golden_gc_phases(struct recording *to, int64_t start_ns)
{
	static const struct {
		const char *name;
		uint32_t collection, level;
		bool concurrent;
	} phases[] = {
		{ "GC Pause", 1, 0, false },
		{ "one", 1, 1, false },
		{ "two", 1, 2, false },
		{ "three", 1, 3, false },
		{ "four", 1, 4, false },
		{ "Concurrent Mark", 2, 0, true },
		{ "Concurrent part", 2, 1, true },
		{ "\"deep\"", 2, 2, true },
		{ "of none", 0, 0, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
		const struct rec_gc_phase row = { .jvm = phases[i].collection == 2 ? 2 : 1,
						  .collection = phases[i].collection,
						  .name = golden_string(to, phases[i].name),
						  .level = phases[i].level,
						  .concurrent = phases[i].concurrent,
						  .time_ns = start_ns + 1000000 * (int64_t)i,
						  .duration_ns = 1000 * i };

		rec_gc_phase(to, &row);
	}
}

static void golden_safepoints(struct recording *to, int64_t start_ns)
{
	const struct rec_safepoint safepoint = {
		.jvm = 1,
		.thread = 1,
		.operation = golden_string(to, "G1CollectForAllocation"),
		.threads = 12,
		.critical = 1,
		.id = 33,
		.time_ns = start_ns + 900000,
		.reach_ns = 80000,
		.duration_ns = 5300000,
		.resume_ns = 20000,
	};
	const struct rec_vm_operation operations[] = {
		{ .jvm = 1,
		  .name = safepoint.operation,
		  .thread = 1,
		  .caller = 1,
		  .stops = true,
		  .safepoint = 33,
		  .time_ns = start_ns + 1000000,
		  .duration_ns = 5000000 },
		{ .jvm = 2,
		  .name = golden_string(to, "HandshakeAllThreads"),
		  .time_ns = start_ns + 1,
		  .duration_ns = 2 },
	};

	const struct rec_straggler stragglers[] = {
		{ .jvm = 1, .safepoint = 1, .thread = 1, .stack = 1, .late_ns = 79000 },
		{ .jvm = 1, .safepoint = 1, .thread = 1, .stack = 2, .sampled = true },
	};

	rec_safepoint(to, &safepoint);
	for (size_t i = 0; i < ARRAY_SIZE(stragglers); i++)
		rec_straggler(to, &stragglers[i]);
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		rec_vm_operation(to, &operations[i]);
}

static void golden_gc(struct recording *to)
{
	int64_t start_ns = rec_meta_get(to)->start_time_ns;

	golden_collections(to, start_ns);
	golden_gc_phases(to, start_ns);
	golden_safepoints(to, start_ns);
	rec_vm_count_set(to, 1, "gc_hits", 12);
	rec_vm_count_set(to, 1, "safepoint_ring_full", 0);
}

#endif
