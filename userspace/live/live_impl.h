/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LIVE_IMPL_H
#define JVMSCOPE_LIVE_IMPL_H

#include "live/classes.h"
#include "live/decode.h"
#include "live/events.h"
#include "live/images.h"
#include "live/live.h"
#include "live/native.h"
#include "live/offcpu.h"
#include "live/pace.h"
#include "live/process.h"
#include "live/tables.h"
#include "live/vm.h"

struct bpf_link;
struct bpf_object;
struct bpf_program;
struct jvmscope_bpf;
struct recording;
struct ring_buffer;

/* What stands behind live.h: live.c opens and loads, run.c drains, finish.c counts. */
struct live {
	struct live_options options;
	struct jvmscope_bpf *skel; /* owned; only live.c knows its members */
	struct bpf_object *object; /* the same, as libbpf sees it */
	struct bpf_program *on_sample;
	struct bpf_program *on_switch;
	struct bpf_link *switch_link; /* owned; NULL but in tests */
	int counters_fd;
	struct ring_buffer *ring;
	struct clock_events clock;
	struct sideband sideband;
	struct tables tables;
	struct images images;
	struct process processes[JVS_MAX_TARGETS];
	uint32_t process_count;
	struct decoder decoder;
	struct native *native;	 /* owned; NULL: native memory is not recorded */
	struct classes *classes; /* owned; NULL: class loads are not recorded */
	struct offcpu *offcpu;	 /* owned; NULL: off-CPU time is not recorded */
	struct vm *vm;		 /* owned; NULL: what the VM does is not recorded */
	struct probes_leaving leaving;
	struct recording *rec; /* while live_poll drains */
	struct pace pace;
	struct paced ring_pace;
	uint64_t ring_ns;    /* CLOCK_MONOTONIC, when the ring was due last */
	uint64_t ring_bytes; /* drained since */
	struct paced sideband_pace;
	/* records of the side band at the last look, by whether they told of a target */
	uint32_t told, foreign;
	uint64_t prompt_ns; /* CLOCK_MONOTONIC: until then the ring wakes us at once */
	uint64_t retry_ns;  /* the same: a JVM that is starting is looked at; 0: none is */
	uint64_t open_cpu_ns;
	/* of ended targets whose place was taken */
	uint64_t gone_cpu_ns;
	bool gone_native; /* one had no JVM that could be read */
	uint32_t ticks;
	bool running;
};

/* What is left to say of one thread, for the last time or so far. */
void live_finish_thread(struct process *p, const struct known_thread *known, struct recording *rec);

/* What is left to say of a target's threads: while it lives, or when it has just ended. */
void live_finish_process(struct process *p, struct recording *rec);

/* The same of its classes and its native memory. */
void live_finish_probes(struct live *live, const struct process *p, struct recording *rec);

/* Counters, times and own cost, when all records are drained. */
void live_finish(struct live *live, struct recording *rec);

#endif
