/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_DECODE_H
#define JVMSCOPE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map64.h"
#include "bpf/jvs_abi.h"
#include "live/process.h"
#include "live/resolve.h"

struct calls;
struct classes;
struct mappings;
struct rec_thread;
struct recording;
struct vm;

/* A stack whose parts are still coming in. */
struct assembly {
	uint64_t capture; /* 0: free */
	uint32_t have;
	struct raw_stack stack;
};

/* For tests: sees what came out of the kernel. Members may be NULL. */
struct decode_hooks {
	void *ctx;
	/* A stack is complete; part is its last one. Before it is named. */
	void (*stack)(void *ctx, const struct jvs_stack_part *part, const struct raw_stack *raw);
	/* A sample, and its stack in the recording. */
	void (*sample)(void *ctx, const struct jvs_cpu_sample *sample, uint32_t stack);
};

/*
 * Records of the ring to facts of the recording.
 *
 * A stack is known by its hash, which includes the process, from the moment its last part came.
 * Known stacks are kept in two generations, so that the memory for them is bounded and one in use
 * is never forgotten.
 */
struct decoder {
	struct process *processes;	  /* borrowed; [JVS_MAX_TARGETS] */
	const struct decode_hooks *hooks; /* borrowed; NULL but in tests */
	struct resolver resolver;
	struct assembly *assemblies; /* owned; [CPU * slots_per_cpu + enum jvs_slot] */
	size_t assembly_count;
	struct map64 stacks; /* to stack id */
	struct map64 older;
	uint64_t *seen; /* borrowed; which stacks the kernel takes for known: see tables.h */
	struct classes *classes;   /* borrowed; NULL: class loads are not recorded */
	struct calls *calls;	   /* borrowed; NULL: native memory is not recorded */
	struct mappings *mappings; /* the same */
	struct vm *vm;		   /* borrowed; NULL: what the VM does is not recorded */
	uint32_t slots_per_cpu;
	uint64_t period_ns; /* what one CPU sample stands for */
	int64_t epoch_ns;   /* since the epoch, when CLOCK_MONOTONIC was 0 */
	/* since the start */
	uint64_t by_status[JVS_STATUS_NR]; /* samples kept */
	uint64_t samples;
	uint64_t whole_stacks; /* that came */
	uint64_t lost_stack;   /* sample whose stack is not known: a loss */
	uint64_t bad_records;  /* not understood: a bug of ours */
	uint64_t lost_bad;     /* of which samples: a loss */
};

/* Handles one record. */
void decode_record(struct decoder *d, struct recording *rec, const void *data, size_t size);

/* Sets name and group of a thread of the recording, unless it has them and is gone. */
void decode_name_thread(struct process *p, struct recording *rec, struct rec_thread *thread);

/*
 * The stack with this hash, whose parts came before. Returns whether it is known; else the kernel
 * sends it again when it is met again.
 */
bool decode_stack(struct decoder *d, uint64_t hash, uint32_t *stack);

/* The thread of a record, named. */
uint32_t decode_thread(struct process *p, struct recording *rec, const struct jvs_event *event);

/* For the next recording, which has its own ids. */
void decode_forget(struct decoder *d);
void decode_free(struct decoder *d);

#endif
