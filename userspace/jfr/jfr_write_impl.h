/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_WRITE_IMPL_H
#define JVMSCOPE_JFR_WRITE_IMPL_H

#include <stdbool.h>

#include "jfr/jfr_bytes.h"
#include "jfr/jfr_pools.h"
#include "jfr/jfr_write.h"
#include "model/classes.h"
#include "model/table.h"

#define JFR_NOT_KNOWN INT64_MIN /* shown as N/A */

/* Inside of the writer, for jfr_write*.c only. */

/* Samples of one thread in the current segment, by where the leaf was. */
struct jfr_load {
	uint64_t user_ns;
	uint64_t system_ns;
};

/* What segments before have said of a thread. */
struct jfr_thread_said {
	bool known; /* that there is one, though it has used no time */
	uint64_t cpu_ns;
	uint64_t state_ns[REC_STATE_NR];
};

/* What segments before have said of rows: [row] is the hash of one, 0 of none. */
struct jfr_rows_said {
	uint64_t *hashes; /* owned */
	size_t capacity;
};

/* What segments before have said of a total. */
struct jfr_total_said {
	int64_t count;
	int64_t value;
};

/* The last value of a series that was said. */
struct jfr_value_said {
	bool known;
	int64_t time_ns;
	int64_t value;
};

struct jfr_writer {
	struct jfr_writer_options options;
	struct jfr_pools *pools;
	struct jfr_bytes bytes; /* the current segment */
	bool begun;		/* it has what it begins with */
	bool failed;		/* memory was out */
	int64_t epoch_ns;	/* since the epoch: when ticks are first_ticks */
	int64_t first_ticks;
	int64_t start_ns; /* of the current segment */

	/* The current chunk. */
	uint8_t header[JFR_HEADER_SIZE];
	uint64_t chunk_size; /* of its finished segments; 0: the current one is the first */
	int64_t chunk_start_ns;
	size_t metadata;      /* where it is in the chunk */
	uint64_t checkpoint;  /* the last one; 0: none yet */
	struct rec_jvm *jvms; /* owned; [JVM id - 1]: as the chunk has them */
	size_t jvm_capacity;
	uint32_t jvm_count;

	struct jfr_load *loads; /* owned; [thread id] */
	size_t load_capacity;

	/* What was said already: a segment has what came since. */
	struct jfr_thread_said *threads; /* owned; [thread id] */
	size_t thread_capacity;
	uint64_t *quality; /* owned; [row] */
	size_t quality_capacity;
	size_t quality_count; /* rows that were said, also those of 0 */
	uint64_t lost;
	bool filter_said;
	uint8_t *classes; /* owned; [row]: what was said of a class */
	size_t class_capacity;
	uint64_t ledgers;   /* said so far */
	struct table sites; /* of native memory, and what was said of each */
	uint64_t pieces;    /* of them */
	struct jfr_rows_said native_sites, native_calls, native_counts, suspects, heap_classes;
	size_t budget_events;	       /* said so far */
	struct jfr_value_said *values; /* owned; [series] */
	size_t value_capacity;
	uint32_t settings; /* said in the chunk */
	int64_t *counted;  /* owned; [JVM id, 0 the machine]: the last reading that was said */
	size_t counted_capacity;
	bool has_loads;			/* jdk.CPULoad by them: by samples there is none then */
	struct rec_class_agent *agents; /* owned; [agent id - 1]: as the chunk has them */
	uint32_t agent_count;
	uint8_t *collections; /* owned; [row]: what was said of a collection */
	size_t collection_capacity;
	size_t gc_phases, safepoints, stragglers, vm_operations; /* said so far */
	struct jfr_rows_said vm_counts;
	size_t thread_events, compilations, io; /* said so far */
	bool exceptions_begun;			/* how many there were has been said once */
	struct jfr_total_said *totals;		/* owned; [row] */
	size_t total_capacity;
};

uint64_t jfr_ticks(const struct jfr_writer *writer, int64_t time_ns);

/* The process of a JVM; 0 for none. */
static inline uint64_t jfr_pid_of(const struct recording *rec, uint32_t jvm)
{
	const struct rec_jvm *row = rec_jvm_get(rec, jvm);

	return row ? (uint64_t)row->pid : 0;
}

/* Begins an event, with its time. Returns where, for jfr_end_event(). */
size_t jfr_begin(struct jfr_writer *writer, enum jfr_type_id type, int64_t time_ns);

/* rows with room for [at], new ones zeroed; NULL when memory is out, which is remembered. */
void *jfr_reach(struct jfr_writer *writer, void *rows, size_t *capacity, size_t at,
		size_t row_size);

/* Whether a row is not as it was said last; it is then taken for said. */
bool jfr_is_news(struct jfr_writer *writer, struct jfr_rows_said *said, size_t at, const void *row,
		 size_t size);

/* ---- jfr_write_around.c: the events before and behind the samples of a segment */

/* The first event of a chunk, which is short: see jfr_write.h. */
void jfr_put_first(struct jfr_writer *writer);

/* What was recorded, where, and how: at the start of a chunk. */
void jfr_put_environment(struct jfr_writer *writer, const struct recording *rec);

/* JVMs that the chunk does not have yet, or not as they are known now. */
void jfr_put_jvms(struct jfr_writer *writer, const struct recording *rec);

/* Remembers the CPU time of a sample. */
void jfr_count_load(struct jfr_writer *writer, const struct recording *rec,
		    const struct rec_sample *sample);

/* Classes that were loaded, redefined and unloaded since the last segment: jfr_write_classes.c. */
void jfr_put_classes(struct jfr_writer *writer, const struct recording *rec, int64_t end_ns);

/* Memory ledgers since the last segment: jfr_write_memory.c. */
void jfr_put_ledgers(struct jfr_writer *writer, const struct recording *rec);

/* Native memory since the last segment: jfr_write_native.c. */
void jfr_put_native(struct jfr_writer *writer, const struct recording *rec, int64_t end_ns);
void jfr_free_native(struct jfr_writer *writer);

/* What probes cost, and what was given up for it since the last segment: jfr_write_budget.c. */
void jfr_put_budgets(struct jfr_writer *writer, const struct recording *rec, int64_t end_ns);

/* What is known of its sites beside that: jfr_write_sites.c. */
void jfr_put_sites(struct jfr_writer *writer, const struct recording *rec, int64_t end_ns);
void jfr_free_sites(struct jfr_writer *writer);

/* One sample of the metric heap_alloc, and the sums of classes: jfr_write_heap.c. */
void jfr_put_allocation(struct jfr_writer *writer, const struct recording *rec,
			const struct rec_sample *sample);
void jfr_put_heap(struct jfr_writer *writer, const struct recording *rec, int64_t end_ns);

/* What the VM did by itself since then: jfr_write_gc.c. */
void jfr_put_gc(struct jfr_writer *writer, const struct recording *rec, int64_t end_ns);
void jfr_free_gc(struct jfr_writer *writer);

/* A sample that is not of a CPU: jfr_write_events.c. */
void jfr_put_sample_event(struct jfr_writer *writer, const struct recording *rec,
			  const struct rec_sample *sample);
/* Threads that started or ended, and compilations, since the last segment. */
void jfr_put_runtime(struct jfr_writer *writer, const struct recording *rec);
/* How many exceptions there were since the start, where they were recorded. */
void jfr_put_exceptions(struct jfr_writer *writer, const struct recording *rec, int64_t end_ns);

/* Totals of waits, as far as no sample says it, since the last segment: jfr_write_totals.c. */
void jfr_put_totals(struct jfr_writer *writer, const struct recording *rec, int64_t end_ns);

/* Reads and writes of sockets and files that took long, since then: jfr_write_io.c. */
void jfr_put_io(struct jfr_writer *writer, const struct recording *rec);

/* Values over time since the last segment: jfr_write_series.c. */
void jfr_put_series(struct jfr_writer *writer, const struct recording *rec);

/* What JVMs run with, as far as the chunk does not have it: jfr_write_settings.c. */
void jfr_put_settings(struct jfr_writer *writer, const struct recording *rec);

/* What of them the JDK has events for, and loads: jfr_write_counters.c. */
void jfr_put_counters(struct jfr_writer *writer, const struct recording *rec);

/* Loads of the segment, and what else was added to the recording since the last one. */
void jfr_put_ending(struct jfr_writer *writer, const struct recording *rec, int64_t end_ns,
		    double machine_load);

#endif
