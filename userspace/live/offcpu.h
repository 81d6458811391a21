/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LIVE_OFFCPU_H
#define JVMSCOPE_LIVE_OFFCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/jvs_offcpu.h"
#include "live/budget.h"

struct bpf_link;
struct bpf_object;
struct decoder;
struct process;
struct recording;

/*
 * Threads that do not run: attaches bpf/offcpu.bpf.c to the scheduler, tells it which targets are
 * wanted, and turns its records into totals of REC_OFFCPU, by reason, and of
 * REC_WAKEUP, by who woke.
 */

struct offcpu_target {
	struct probe_budget budget;
	struct jvs_offcpu_control control;
	struct jvs_offcpu_counts before; /* what the kernel counted for others in this place */
};

struct offcpu {
	struct bpf_link *links[2]; /* owned; of switches, of wake-ups */
	double max_overhead;	   /* per cent of a core; 0: no limit */
	int controls_fd;
	int counts_fd;
	struct offcpu_target targets[JVS_MAX_TARGETS];
};

/* Before the object is loaded: whether the programs are wanted. Returns 0 or a negative errno. */
int offcpu_choose(struct bpf_object *object, bool wanted);

/* After it: *out is to be closed. Logs and returns a negative errno where it cannot attach. */
int offcpu_open(struct bpf_object *object, double max_overhead, struct offcpu **out);
void offcpu_close(struct offcpu *offcpu);

/* From now on nothing is looked at any more. */
void offcpu_stop(struct offcpu *offcpu);

/* Ten times a second: a target that is not looked at yet is from now on, within its budget. */
void offcpu_tick(struct offcpu *offcpu, const struct decoder *d, struct process *p,
		 struct recording *rec);
void offcpu_finish(const struct offcpu *offcpu, const struct decoder *d, const struct process *p,
		   struct recording *rec);
/* The target's place is given to another. */
void offcpu_forget(struct offcpu *offcpu, const struct process *p);

/* A record of the ring. */
void offcpu_decode(struct decoder *d, struct recording *rec, const void *data, size_t size);

#endif
