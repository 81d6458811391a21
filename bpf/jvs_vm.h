/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_VM_H
#define JVS_VM_H

#include "jvs_abi.h"

/*
 * What the VM does by itself: collections, safepoints, VM operations. What vm.bpf.c and userspace
 * agree on. Layouts of the VM's own structures were read on JDK 11 to 28: userspace knows which.
 *
 * Places in the VM belong to groups, which are attached, counted and given up on their own.
 */
#define JVS_VM_GROUP_LIST(X)      \
	X(GC, "gc")               \
	X(SAFEPOINT, "safepoint") \
	X(LOCK, "lock")           \
	X(THREAD, "thread")       \
	X(JIT, "jit")             \
	X(EXCEPTION, "exception") \
	X(ALLOC, "alloc")         \
	X(IO, "io")

enum jvs_vm_group {
#define X(name, text) JVS_VM_##name,
	JVS_VM_GROUP_LIST(X)
#undef X
		JVS_VM_GROUP_NR,
};

#define JVS_VM_SITE_BITS	   4 /* places of one group: 16 */
#define JVS_VM_SITE(group, number) ((__u32)JVS_VM_##group << JVS_VM_SITE_BITS | (number))

/* A place: group and number. */
enum jvs_vm_site {
	/* GCTracer: its address tells collections apart that run at the same time */
	JVS_VM_GC_START = JVS_VM_SITE(GC, 0),	  /* report_gc_start(cause, ...) */
	JVS_VM_GC_HEAP = JVS_VM_SITE(GC, 1),	  /* report_gc_heap_summary(when, summary) */
	JVS_VM_GC_METASPACE = JVS_VM_SITE(GC, 2), /* report_metaspace_summary(when, summary) */
	JVS_VM_GC_PHASES = JVS_VM_SITE(GC, 3),	  /* send_phase_events(partitions) */
	JVS_VM_GC_END = JVS_VM_SITE(GC, 4),	  /* send_garbage_collection_event() */
	JVS_VM_GC_NUMBER = JVS_VM_SITE(GC, 5),	  /* GCIdMark(): a thread takes the next number */

	JVS_VM_SAFEPOINT_BEGIN = JVS_VM_SITE(SAFEPOINT, 0), /* returns when all have stopped */
	JVS_VM_SAFEPOINT_END = JVS_VM_SITE(SAFEPOINT, 1),   /* returns when all may go on */
	JVS_VM_OP_BEGIN = JVS_VM_SITE(SAFEPOINT, 2),	    /* USDT vmops__begin(name, ...) */
	JVS_VM_OP_END = JVS_VM_SITE(SAFEPOINT, 3),	    /* USDT vmops__end */
	JVS_VM_OP_EVALUATE = JVS_VM_SITE(SAFEPOINT, 4),	    /* VMThread::evaluate_operation(op) */
	JVS_VM_SAFEPOINT_BLOCK = JVS_VM_SITE(SAFEPOINT, 5), /* block(thread): it stops there */

	/* jvs_lock.h; of ObjectMonitor, and Parker::park(absolute, time) */
	JVS_VM_LOCK_ENTER = JVS_VM_SITE(LOCK, 0),
	JVS_VM_LOCK_WAIT = JVS_VM_SITE(LOCK, 1), /* wait(milliseconds, interruptible, thread) */
	JVS_VM_LOCK_PARK = JVS_VM_SITE(LOCK, 2),
	JVS_VM_LOCK_HANDS = JVS_VM_SITE(LOCK, 3),  /* ExitEpilog(): wakes who has it next */
	JVS_VM_LOCK_NOTIFY = JVS_VM_SITE(LOCK, 4), /* INotify(): of who has waited longest */

	/* jvs_runtime.h */
	JVS_VM_THREAD_STARTS = JVS_VM_SITE(THREAD, 0), /* Thread::start(Thread), by its parent */
	JVS_VM_THREAD_RUNS = JVS_VM_SITE(THREAD, 1),   /* JavaThread::run() */
	JVS_VM_THREAD_EXITS = JVS_VM_SITE(THREAD, 2),  /* JavaThread::exit(...) */
	JVS_VM_COMPILE = JVS_VM_SITE(JIT, 0), /* CompileBroker::invoke_compiler_on_method(task) */
	JVS_VM_TRAP = JVS_VM_SITE(JIT, 1),    /* uncommon_trap_inner(thread, request) */
	JVS_VM_EXCEPTION_FILL = JVS_VM_SITE(EXCEPTION, 0), /* JVM_FillInStackTrace(env, handle) */
	/* AllocTracer::send_allocation_in_new_tlab(klass, object, TLAB size, size, thread) */
	JVS_VM_ALLOC_TLAB = JVS_VM_SITE(ALLOC, 0),
	/* send_allocation_outside_tlab(klass, object, size, thread) */
	JVS_VM_ALLOC_OUTSIDE = JVS_VM_SITE(ALLOC, 1),
	JVS_VM_ALLOC_END = JVS_VM_SITE(ALLOC, 2), /* JavaThread::exit(...) */

	/* jvs_io.h: native methods; their second argument is "this", or the class */
	JVS_VM_IO_SOCKET_READ = JVS_VM_SITE(IO, 0),   /* (descriptor, address, length) */
	JVS_VM_IO_SOCKET_WRITE = JVS_VM_SITE(IO, 1),  /* the same */
	JVS_VM_IO_CHANNEL_READ = JVS_VM_SITE(IO, 2),  /* the same, of a file or a socket */
	JVS_VM_IO_CHANNEL_WRITE = JVS_VM_SITE(IO, 3), /* the same */
	JVS_VM_IO_FORCE = JVS_VM_SITE(IO, 4),	      /* (descriptor, with metadata) */
	JVS_VM_IO_POLL = JVS_VM_SITE(IO, 5),	      /* (descriptor, events, milliseconds) */
	JVS_VM_IO_INPUT = JVS_VM_SITE(IO, 6),	      /* FileInputStream(array, from, length) */
	JVS_VM_IO_INPUT_BYTE = JVS_VM_SITE(IO, 7),    /* () */
	JVS_VM_IO_OUTPUT = JVS_VM_SITE(IO, 8),	      /* FileOutputStream(array, from, length) */
	JVS_VM_IO_OUTPUT_BYTE = JVS_VM_SITE(IO, 9),
	JVS_VM_IO_RANDOM_READ = JVS_VM_SITE(IO, 10), /* RandomAccessFile(array, from, length) */
	JVS_VM_IO_RANDOM_READ_BYTE = JVS_VM_SITE(IO, 11),
	JVS_VM_IO_RANDOM_WRITE = JVS_VM_SITE(IO, 12),
	JVS_VM_IO_RANDOM_WRITE_BYTE = JVS_VM_SITE(IO, 13),
	JVS_VM_IO_OLD_READ = JVS_VM_SITE(IO, 14),  /* (descriptor, array, from, length, ...) */
	JVS_VM_IO_OLD_WRITE = JVS_VM_SITE(IO, 15), /* (descriptor, array, from, length) */
};

/* Cookie of a probe: the place, and for a USDT probe the number of its first argument's register.
 */
#define JVS_VM_COOKIE_SITE  0xffu
#define JVS_VM_COOKIE_FIRST 8

/* ---- records */

/* JVS_EVENT_GC_START */
struct jvs_gc_start {
	struct jvs_event event;
	__u64 tracer;
	__u32 next_id; /* GCId::_next_id: the collection has the one before. 0: not known. As its
			  thread left it when it took its number; as it is now where that was
			  not seen, and then another collection may have taken one since */
	__u32 cause;   /* as the JVM numbers it */
};
_Static_assert(sizeof(struct jvs_gc_start) == 48, "no holes");

/* JVS_EVENT_GC_HEAP, JVS_EVENT_GC_METASPACE: the words of the summary behind its vtable, if any. */
#define JVS_GC_WORDS 16
struct jvs_gc_summary {
	struct jvs_event event;
	__u64 tracer;
	__u32 after; /* 0: before the collection */
	__u32 pad;
	__u64 words[JVS_GC_WORDS];
};
_Static_assert(sizeof(struct jvs_gc_summary) == 48 + 8 * JVS_GC_WORDS, "no holes");

/* JVS_EVENT_GC_PHASE: one phase; those of a collection come just before its JVS_EVENT_GC_END. */
#define JVS_GC_PHASE_NAME 64
#define JVS_GC_PHASES	  64 /* of one collection */
struct jvs_gc_phase {
	struct jvs_event event;
	__u64 tracer;
	__u64 start; /* nanoseconds of the JVM's elapsed counter */
	__u64 end;
	__u32 level;
	__u32 concurrent;
	char name[JVS_GC_PHASE_NAME];
};
_Static_assert(sizeof(struct jvs_gc_phase) == 64 + JVS_GC_PHASE_NAME, "no holes");

/* JVS_EVENT_GC_END: times are nanoseconds of the JVM's elapsed counter. */
struct jvs_gc_end {
	struct jvs_event event;
	__u64 tracer;
	__u32 name; /* both as the JVM numbers them */
	__u32 cause;
	__u64 start;
	__u64 end;
	__u64 sum_of_pauses;
	__u64 longest_pause;
};
_Static_assert(sizeof(struct jvs_gc_end) == 80, "no holes");

/* JVS_EVENT_SAFEPOINT. Times are CLOCK_MONOTONIC; event.time_ns is when threads could go on. */
struct jvs_safepoint {
	struct jvs_event event;
	__u64 start_ns;	  /* threads were told to stop */
	__u64 reached_ns; /* all had */
	__u64 end_ns;	  /* threads were told to go on */
	__u64 id;	  /* as the JVM numbers them; 0: not known */
	__u32 threads;	  /* of Java; 0: not known */
	__u32 critical;	  /* threads in a critical section of JNI */
};
_Static_assert(sizeof(struct jvs_safepoint) == 72, "no holes");

/*
 * JVS_EVENT_STRAGGLER: a thread that stopped long after it was told to. event.time_ns is when it
 * did, at its first safepoint poll since then.
 */
struct jvs_straggler {
	struct jvs_event event;
	__u64 start_ns; /* that of the safepoint */
	__u64 stack;	/* hash; 0: it was not taken */
	__u64 saved_pc; /* JavaThread::_saved_exception_pc: the poll, when it came by one; 0: not
			   known */
};
_Static_assert(sizeof(struct jvs_straggler) == 56, "no holes");

/* JVS_EVENT_VM_OPERATION. event.time_ns is when it had been done. */
#define JVS_VM_OP_NAME 64
struct jvs_vm_operation {
	struct jvs_event event;
	__u64 start_ns;
	__u64 caller;	 /* the VM's Thread that asked for it; 0: not known */
	__u64 safepoint; /* the JVM's number of that; 0: at none, or not known */
	__u32 stops;	 /* 1: at a safepoint that was seen to begin before it */
	__u32 pad;
	char name[JVS_VM_OP_NAME];
};
_Static_assert(sizeof(struct jvs_vm_operation) == 64 + JVS_VM_OP_NAME, "no holes");

/* ---- what userspace says of a target, and what is counted of it */

struct jvs_vm_layout {
	/* Addresses of variables; 0: not known. */
	__u64 next_gc_id;	  /* GCId::_next_id */
	__u64 safepoint_id;	  /* SafepointSynchronize::_safepoint_id, a counter before that */
	__u64 safepoint_reached;  /* SafepointTracing::_last_safepoint_sync_time_ns */
	__u64 safepoint_threads;  /* SafepointTracing::_nof_threads */
	__u64 safepoint_critical; /* SafepointSynchronize::_current_jni_active_count */
	__u32 phases;		  /* TimePartitions: its array of phases */
	__u32 phases_data;	  /* the array: its elements */
	__u32 phase_size;
	__u32 phase_level;
	__u32 phase_start; /* a pair of counters: the first is in nanoseconds */
	__u32 phase_end;
	__u32 phase_type;
	__u32 op_caller; /* VM_Operation::_calling_thread */
	__u32 epoch;	 /* of the links: what a thread began in another was not seen to end */
	__u32 no_stacks; /* bits: groups that have to do without, for their cost */
	__u32 safepoint_id_size; /* bytes: 4 or 8 */
	__u32 straggler_ns;	 /* who takes longer to stop is told */
	__u32 thread_safepoint;	 /* JavaThread::_safepoint_state; 0: not known */
	__u32 pad;
};
#define JVS_VM_SAFEPOINT_SAFE 16 /* ThreadSafepointState::_safepoint_safe */
_Static_assert(sizeof(struct jvs_vm_layout) == 96, "no holes");

/* X(NAME, "name in outputs", loss): of a group of a target, on each CPU. */
#define JVS_VM_COUNTER_LIST(X)                                                           \
	X(HITS, "hits", 0)	   /* programs run at entries */                         \
	X(RETURNS, "returns", 0)   /* and at returns */                                  \
	X(RUN_NS, "run_ns", 0)	   /* time of the programs */                            \
	X(LOST, "ring_full", 1)	   /* records that did not fit */                        \
	X(UNREAD, "unreadable", 1) /* structures that could not be read */               \
	X(NO_STATE, "no_thread_state", 1)                                                \
	X(NO_STACK, "stack_slot_busy", 0)   /* all scratch slots were in use */          \
	X(STACK_FULL, "stack_ring_full", 0) /* it is sent again the next time */         \
	X(RECALLED, "recalled_stacks", 0)                                                \
	X(UNSUMMED, "sums_full", 1)	  /* of what was short: no place for one more */ \
	X(CUT, "cut", 1)		  /* phases beyond JVS_GC_PHASES */              \
	X(UNPLACED, "classes_full", 1)	  /* hits without a place for one more class */  \
	X(NO_RETURN, "unseen_returns", 1) /* calls lost: they have returned unprobed */  \
	X(NO_ENTRY, "unseen_entries", 0)  /* returns of what began before the probes */  \
	X(NO_LAYOUT, "unreadable_yet", 1) /* before the JVM's structures were known */

enum jvs_vm_counter {
#define X(name, text, loss) JVS_VM_COUNT_##name,
	JVS_VM_COUNTER_LIST(X)
#undef X
		JVS_VM_COUNT_NR,
};

struct jvs_vm_counts {
	__u64 values[JVS_VM_GROUP_NR][JVS_VM_COUNT_NR];
};

#endif
