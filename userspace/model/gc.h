/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_MODEL_GC_H
#define JVMSCOPE_MODEL_GC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/recording.h"

/*
 * Collections and pauses of a recording: what the collectors did, and when and for what the JVM
 * stopped its threads.
 *
 * Ids are 1..count, 0 is none, as everywhere in the recording. Names, causes are string ids.
 */

#define REC_MAX_COLLECTIONS   (1u << 20) /* rows of each table; more are counted */
#define REC_MAX_GC_PHASES     (1u << 22)
#define REC_MAX_SAFEPOINTS    (1u << 20)
#define REC_MAX_VM_OPERATIONS (1u << 20)
#define REC_MAX_STRAGGLERS    (1u << 20)

/* Sizes of the heap before or after a collection, bytes. */
struct rec_gc_heap {
	bool known;
	uint64_t start; /* address */
	uint64_t committed;
	uint64_t reserved;
	uint64_t used;
};

struct rec_gc_space {
	uint64_t reserved;
	uint64_t committed;
	uint64_t used;
};

/* Metaspace before or after a collection, bytes. */
struct rec_gc_metaspace {
	bool known;
	uint64_t threshold; /* of the next collection because of it */
	struct rec_gc_space all;
	struct rec_gc_space data;
	struct rec_gc_space class;
};

struct rec_collection {
	uint32_t jvm;
	uint32_t gc_id;	 /* as the JVM numbers them, from 0 */
	bool numbered;	 /* gc_id is the JVM's */
	uint32_t thread; /* that ended it; 0 not known */
	uint32_t name;	 /* "G1New" */
	uint32_t cause;	 /* "G1 Evacuation Pause" */
	int64_t time_ns;
	uint64_t duration_ns;
	uint64_t sum_of_pauses_ns;
	uint64_t longest_pause_ns;
	struct rec_gc_heap heap[2];	      /* before, after */
	struct rec_gc_metaspace metaspace[2]; /* before, after */
};

/* A part of a collection; pauses of level 0 are those that stop the JVM. */
struct rec_gc_phase {
	uint32_t jvm;
	uint32_t collection; /* its row */
	uint32_t name;	     /* "GC Pause" */
	uint32_t level;
	bool concurrent;
	int64_t time_ns;
	uint64_t duration_ns;
};

struct rec_safepoint {
	uint32_t jvm;
	uint32_t thread;    /* the VM's; 0 not known */
	uint32_t operation; /* string id: of the first VM operation; 0: none */
	uint32_t threads;   /* of Java that there were; 0 not known */
	uint32_t critical;  /* threads in a critical section of JNI, which holds collections off */
	uint64_t id;	    /* as the JVM numbers them; 0 not known */
	int64_t time_ns;    /* threads were told to stop */
	uint64_t reach_ns;  /* until all had stopped; 0 not known */
	uint64_t duration_ns; /* until they could go on */
	uint64_t resume_ns;   /* of it, since they were told to; 0 not known */
};

/* A thread that was slow to stop at a safepoint, and where it was meanwhile. */
struct rec_straggler {
	uint32_t jvm;
	uint32_t safepoint; /* its row; 0 not known */
	uint32_t thread;
	uint32_t stack;	  /* 0 not known */
	bool sampled;	  /* the stack is of a CPU sample while it ran, else of where it stopped */
	uint64_t late_ns; /* from when it was told to until it stopped, or was seen last */
};

struct rec_vm_operation {
	uint32_t jvm;
	uint32_t name;	    /* "G1CollectForAllocation" */
	uint32_t thread;    /* that did it; 0 not known */
	uint32_t caller;    /* thread that asked for it; 0 not known */
	bool stops;	    /* at a safepoint */
	uint64_t safepoint; /* the JVM's number of that; 0 not known */
	int64_t time_ns;
	uint64_t duration_ns;
};

/* All adds return the id, or 0 when there was no more room, which is counted, or memory. */
uint32_t rec_collection(struct recording *rec, const struct rec_collection *collection);
struct rec_collection *rec_collection_get(const struct recording *rec, uint32_t id);
uint32_t rec_collection_count(const struct recording *rec);

uint32_t rec_gc_phase(struct recording *rec, const struct rec_gc_phase *phase);
/* NULL for 0, and for what is no id. */
struct rec_gc_phase *rec_gc_phase_get(const struct recording *rec, uint32_t id);
const struct rec_gc_phase *rec_gc_phases(const struct recording *rec, size_t *count);

uint32_t rec_safepoint(struct recording *rec, const struct rec_safepoint *safepoint);
const struct rec_safepoint *rec_safepoints(const struct recording *rec, size_t *count);

uint32_t rec_straggler(struct recording *rec, const struct rec_straggler *straggler);
const struct rec_straggler *rec_stragglers(const struct recording *rec, size_t *count);
/* Gives each stack of them the id that change() makes of it. */
void rec_gc_each_stack(struct recording *rec, uint32_t (*change)(uint32_t stack, void *ctx),
		       void *ctx);

uint32_t rec_vm_operation(struct recording *rec, const struct rec_vm_operation *operation);
const struct rec_vm_operation *rec_vm_operations(const struct recording *rec, size_t *count);

/* Counters of the probes by name: "gc_hits", "safepoint_ring_full". */
void rec_vm_count_set(struct recording *rec, uint32_t jvm, const char *name, uint64_t count);
const struct rec_count *rec_vm_counts(const struct recording *rec, size_t *count);

/* How long the JVMs stood still for collections: phases of level 0 that are pauses. jvm 0: all. */
struct rec_pauses {
	uint64_t count;
	uint64_t total_ns;
	uint64_t p50_ns; /* half of them were not longer */
	uint64_t p99_ns;
	uint64_t max_ns;
};
void rec_gc_pauses(const struct recording *rec, uint32_t jvm, struct rec_pauses *out);
/* The same of safepoints, from when threads are told to stop until they can go on. */
void rec_safepoint_pauses(const struct recording *rec, uint32_t jvm, struct rec_pauses *out);

/* Whether collections and safepoints were looked for. */
bool rec_has_gc(const struct recording *rec);

/* For rec_free() alone. */
struct rec_gc;
void rec_gc_free(struct rec_gc *gc);

#endif
