/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_LOCK_H
#define JVS_LOCK_H

#include "jvs_object.h"
#include "jvs_vm.h"

/*
 * Threads that wait for monitors, in Object.wait() and in LockSupport.park(): what lock.bpf.c and
 * userspace agree on. What lasts long enough is a record with its stack, all else a sum by class.
 */

enum jvs_lock_op {
	JVS_LOCK_ENTER, /* a monitor that another thread has */
	JVS_LOCK_WAIT,	/* Object.wait() */
	JVS_LOCK_PARK,	/* LockSupport.park*() */
	JVS_LOCK_OPS,
};

#define JVS_LOCK_NO_TIMEOUT (~0ull)

/* JVS_EVENT_LOCK. event.time_ns is when the thread went on. */
struct jvs_lock_event {
	struct jvs_event event;
	__u64 start_ns;
	__u64 stack;   /* hash; 0: it was not taken */
	__u64 klass;   /* Klass* of the object; 0: none, or not known */
	__u64 address; /* of the monitor, or of the object that a parked thread is blocked by */
	__u64 timeout; /* nanoseconds, or JVS_LOCK_NO_TIMEOUT */
	__u32 op;      /* enum jvs_lock_op */
	__u32 by;      /* thread that had the monitor before, or that notified; 0: not known */
};
_Static_assert(sizeof(struct jvs_lock_event) == 80, "no holes");

/* Written by userspace for each target. */
struct jvs_lock_control {
	struct jvs_object_layout objects; /* zeroed: not known yet, no wait has a class */
	__u64 threshold_ns;		  /* what takes less is only counted */
	__u32 monitor_object;		  /* ObjectMonitor::_object */
	__u32 epoch; /* of the links: a wait that began in another is not seen to end */
	/*
	 * Where a JavaThread has its Parker, when it is a part of it (16 on): found out here with
	 * the first thread that is known, for those that are not yet. 0: not known.
	 */
	__u64 parker;
};
_Static_assert(sizeof(struct jvs_lock_control) == 72, "no holes");
#define JVS_LOCK_PARKER_MAX 8192

/* What was shorter, by class, since the first look at the target. */
struct jvs_lock_key {
	__u32 target;
	__u32 op;
	__u64 klass;
};
struct jvs_lock_sum {
	__u64 count;
	__u64 ns;
};
#define JVS_LOCK_SUMS 8192 /* of all targets */

/*
 * Who ends waits: of a monitor the thread that woke another for it last, of a JavaThread the one
 * that has notified it last. Only of those that somebody waits for.
 */
struct jvs_lock_by_key {
	__u32 target;
	__u32 op; /* enum jvs_lock_op */
	__u64 address;
};
struct jvs_lock_by {
	__u64 time_ns; /* 0: nobody yet */
	__u32 tid;
	__u32 pad;
};
#define JVS_LOCK_BYS 4096 /* of all targets; one that is pushed out is not known */

#endif
