/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_OFFCPU_H
#define JVS_OFFCPU_H

#include "jvs_abi.h"

/* Threads that do not run: what offcpu.bpf.c and userspace agree on. */

#define JVS_OFFCPU_NO_CALL (-1) /* not in a system call */

/* JVS_EVENT_OFFCPU. event has the thread, and the time when it ran again. */
struct jvs_offcpu_event {
	struct jvs_event event;
	__u64 start_ns; /* it left its CPU */
	__u64 woken_ns; /* and could run again; 0: it could all the time */
	__u64 stack;	/* where it left; 0: not taken */
	__s32 call;	/* the system call it was in, or JVS_OFFCPU_NO_CALL */
	__u32 state;	/* as the kernel numbers it; 0: it could have gone on */
	__u32 waker;	/* thread of the same process that woke it; 0: another, or an interrupt */
	__u32 weight;	/* times off the CPU that this one stands for */
};
_Static_assert(sizeof(struct jvs_offcpu_event) == 72, "no holes");

/* Written by userspace for each target. */
struct jvs_offcpu_control {
	__u32 on;
	__u32 every;	/* one of so many is looked at, by chance */
	__u64 least_ns; /* shorter ones are only counted */
};
_Static_assert(sizeof(struct jvs_offcpu_control) == 16, "no holes");

/* X(NAME, "name in outputs"): of a target, on each CPU. */
#define JVS_OFFCPU_COUNTER_LIST(X)                             \
	X(SWITCHES, "switches") /* times off the CPU */        \
	X(SKIPPED, "skipped")	/* not looked at, by chance */ \
	X(SHORT, "short")	/* and over soon */            \
	X(SHORT_NS, "short_ns")                                \
	X(RUN_NS, "run_ns")  /* time of the programs */        \
	X(LOST, "ring_full") /* records that did not fit */    \
	X(NO_STACK, "stacks_lost")                             \
	X(NO_STATE, "no_thread_state")

enum jvs_offcpu_counter {
#define X(name, text) JVS_OFFCPU_COUNT_##name,
	JVS_OFFCPU_COUNTER_LIST(X)
#undef X
		JVS_OFFCPU_COUNT_NR,
};

struct jvs_offcpu_counts {
	__u64 values[JVS_OFFCPU_COUNT_NR];
};

#endif
