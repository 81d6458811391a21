/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LEDGER_COUNTERS_H
#define JVMSCOPE_LEDGER_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/memory.h"
#include "target/cgroup.h"

struct recording;
struct target;

/*
 * What one JVM counts by itself, and what the kernel counts of its process, as values over time
 * (model/series.h). No probe, no list of threads, and nothing runs in the JVM.
 *
 * A counter that a JVM does not have has no series. Heap pools are as the JVM counts them: G1
 * counts eden by regions, Parallel of JDK 25, ZGC, and Shenandoah count when they collect.
 */
#define COUNTERS_NR  40
#define COUNTERS_SUM 4

struct counters {
	struct vm_counters perf;
	uint32_t tables; /* of perf.tables: that the places are of; 0: of none */
	const struct perfdata_entry *entries[COUNTERS_NR][COUNTERS_SUM];
	int64_t hrt_hz;	 /* of the JVM's clock */
	uint32_t misses; /* times in a row that there were no counters */
	/* Where the process is, and may use; looked at again now and then. */
	struct cgroup cgroup;
	bool in_cgroup;
	uint32_t readings;
};

/*
 * Adds one value to each series, at a time since the epoch. *rss_bytes: what is resident. Returns
 * 0, or a negative errno when the process has ended.
 */
int counters_add(struct counters *counters, const struct target *t, const struct vm_memory *memory,
		 struct recording *rec, uint32_t jvm, uint64_t *rss_bytes);
void counters_free(struct counters *counters);

/* The same of the machine: series of no JVM. */
void counters_add_machine(struct recording *rec);

#endif
