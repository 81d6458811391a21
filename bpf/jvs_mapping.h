/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_MAPPING_H
#define JVS_MAPPING_H

#include "jvs_abi.h"

/*
 * Memory that the VM maps: what mapping.bpf.c and userspace agree on. Such calls are few, so each
 * is a record of its own, and userspace keeps the ranges.
 */

enum jvs_mapping_op {
	JVS_MAPPING_RESERVE = 1, /* the address is what the function returns */
	JVS_MAPPING_MAP,	 /* the same, and committed */
	JVS_MAPPING_COMMIT,	 /* returns whether it was done */
	JVS_MAPPING_COMMIT_EXIT, /* returns nothing, or not at all */
	JVS_MAPPING_UNCOMMIT,
	JVS_MAPPING_RELEASE,
	JVS_MAPPING_STACK,	/* of a new thread: the address is that of the VM's Thread */
	JVS_MAPPING_STACK_SIZE, /* no record: the size of the stack that the thread is making */
	JVS_MAPPING_STACK_END,
};

/*
 * Cookie of a probe: which arguments of the function are the address, the size and the tag. They
 * count from 1; 0: it has none.
 */
#define JVS_MAPPING_COOKIE(op, address, size, tag) \
	((op) | (address) << 8 | (size) << 12 | (tag) << 16)
#define JVS_MAPPING_ARGUMENTS 5 /* what every system call convention has in registers */

#define JVS_MAPPING_NO_TAG 255u

/* JVS_EVENT_MAPPING. The time of what ends is that of the call, of what begins that of its end. */
struct jvs_mapped {
	struct jvs_event event;
	__u64 stack; /* hash; 0: not known, or not taken */
	__u64 address;
	__u64 size;
	__u32 op;  /* enum jvs_mapping_op */
	__u32 tag; /* as the JVM numbers it, or JVS_MAPPING_NO_TAG */
};
_Static_assert(sizeof(struct jvs_mapped) == 64, "no holes");

/* Written by userspace, for each target. */
struct jvs_mapping_control {
	__u32 no_stacks; /* 1: calls are told without */
	__u32 epoch;	 /* of the links: a call that began in another has no return to wait for */
};

/* X(NAME, "name in outputs"): of a target, on each CPU. */
#define JVS_MAPPING_COUNTER_LIST(X)                                                                \
	X(CALLS, "mapping_calls")	       /* that were looked at */                           \
	X(RETURNS, "mapping_returns")	       /* and waited for */                                \
	X(RUN_NS, "mapping_run_ns")	       /* time of the programs */                          \
	X(LOST, "mapping_ring_full")	       /* records that did not fit */                      \
	X(NO_STACK, "mapping_no_stack")	       /* stacks that were not taken */                    \
	X(NESTED, "mapping_nested")	       /* within another call, which is told as a whole */ \
	X(NO_RETURN, "mapping_unseen_returns") /* calls lost: they have returned unprobed */       \
	X(NO_STATE, "mapping_no_thread_state")

enum jvs_mapping_counter {
#define X(name, text) JVS_MAPPING_COUNT_##name,
	JVS_MAPPING_COUNTER_LIST(X)
#undef X
		JVS_MAPPING_COUNT_NR,
};

struct jvs_mapping_counts {
	__u64 values[JVS_MAPPING_COUNT_NR];
};

#endif
