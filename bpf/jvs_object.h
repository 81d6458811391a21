/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_OBJECT_H
#define JVS_OBJECT_H

#include "jvs_abi.h"

/* How a JVM keeps references to objects, and the class of an object; made by jvm/objects.c. */

enum jvs_oop_kind {
	JVS_OOP_UNKNOWN,
	JVS_OOP_NARROW,	 /* 4 bytes: base + value << shift. In the VM's own memory: the address */
	JVS_OOP_WIDE,	 /* the address */
	JVS_OOP_MASKED,	 /* ZGC to 20: the address with a colour, mapped three times */
	JVS_OOP_SHIFTED, /* ZGC from 21 on: a colour below the address, which says how long it is */
};

enum jvs_klass_kind {
	JVS_KLASS_UNKNOWN,
	JVS_KLASS_NARROW,  /* 4 bytes at 8: base + value << shift */
	JVS_KLASS_WIDE,	   /* 8 bytes at 8 */
	JVS_KLASS_COMPACT, /* the upper 22 bits of the first 8 bytes: base + value << shift */
};

struct jvs_object_layout {
	__u32 oop_kind; /* enum jvs_oop_kind */
	__u32 oop_shift;
	__u64 oop_base;
	__u32 klass_kind; /* enum jvs_klass_kind */
	__u32 klass_shift;
	__u64 klass_base;
	__u32 thread_object;  /* JavaThread::_threadObj */
	__u32 handles;	      /* 1 (16 on): the VM's references to objects point to a slot for it */
	__u32 thread_blocker; /* java.lang.Thread.parkBlocker; 0: not known */
	__u32 wait_set;	      /* ObjectMonitor::_WaitSet; 0: not known */
};
_Static_assert(sizeof(struct jvs_object_layout) == 48, "no holes");

#define JVS_KLASS_COMPACT_SHIFT 42
#define JVS_OOP_SINCE_SHIFT	12 /* the four bits of a shifted reference that say how long */

#endif
