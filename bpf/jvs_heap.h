/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_HEAP_H
#define JVS_HEAP_H

#include "jvs_abi.h"

/*
 * The Java heap: what alloc.bpf.c and userspace agree on.
 *
 * Threads allocate in buffers of their own (TLABs), and tell the VM only when they need another
 * one, or have allocated outside of theirs. The object that needs another buffer is a sample of all
 * that the thread has allocated since the last such object, and stands for its bytes, which the VM
 * counts; what is allocated outside is seen one by one. What is in a thread's last buffer is told
 * when the thread ends, for the object that began it.
 *
 * The kernel sums this by class. Some of it goes through the ring with thread and stack: all, or,
 * when that would cost too much, one of so many bytes of each class, which then stands for all that
 * was allocated of the class since the one before. So sums by class are always whole.
 */

/* What identifies a class: its memory may be another's when it is unloaded, with another name. */
struct jvs_heap_class_key {
	__u64 klass;  /* Klass*; 0: of all that found no place */
	__u64 symbol; /* its name's Symbol*; 0: it could not be read (yet) */
	__u32 target;
	__u32 pad;
};
_Static_assert(sizeof(struct jvs_heap_class_key) == 24, "no holes");

struct jvs_heap_class {
	__u64 tlabs; /* buffers that were begun with one of the class */
	__u64 tlab_bytes;
	__u64 inside_bytes; /* what these objects stand for */
	__u64 outside;	    /* objects outside of buffers */
	__u64 outside_bytes;
	__u64 pending;	     /* hits that were not told */
	__u64 pending_bytes; /* what they stand for */
	__s64 left;	     /* bytes until the next is */
	__u32 told;	     /* its name was sent */
	__u32 pad;
};
_Static_assert(sizeof(struct jvs_heap_class) == 72, "no holes");

#define JVS_HEAP_CLASSES  16384 /* of all targets */
#define JVS_HEAP_NAME_MAX 512	/* bytes of a name in a record; longer ones are read from memory */

#define JVS_HEAP_ALL  0ull /* interval: each hit is told */
#define JVS_HEAP_NONE ~0ull

/* Written by userspace, for each target. */
struct jvs_heap_control {
	__u64 interval;		/* bytes of a class between two that are told, in the mean */
	__u32 thread_allocated; /* Thread::_allocated_bytes; 0: not known */
	__u32 klass_name;	/* the three below are not known while it is 0 */
	__u32 symbol_body;
	__u32 symbol_length; /* an offset; the length has 16 bits */
	__u32 tlab_start;    /* of a Thread: its buffer, and how far it is used; 0: not known */
	__u32 tlab_top;
};
_Static_assert(sizeof(struct jvs_heap_control) == 32, "no holes");

/* JVS_EVENT_HEAP_CLASS: a class, before the first record of an object of it. */
struct jvs_heap_name {
	struct jvs_event event;
	__u64 klass;
	__u64 symbol;
	__u32 name_len;	  /* of the whole name */
	__u32 name_bytes; /* in the record */
	char name[JVS_HEAP_NAME_MAX];
};
_Static_assert(sizeof(struct jvs_heap_name) == 56 + JVS_HEAP_NAME_MAX, "no holes");

/* JVS_EVENT_HEAP_ALLOCATION */
struct jvs_heap_allocation {
	struct jvs_event event;
	__u64 klass;
	__u64 symbol;
	__u64 stack; /* hash; 0: it could not be taken */
	__u64 size;  /* of the object; 0: of no other than the last, its thread has ended */
	__u64 tlab;  /* of the buffer it is the first of; 0: it is in none */
	__u64 bytes; /* of the class that it stands for */
	__u64 hits;  /* the same, of the class's hits */
};
_Static_assert(sizeof(struct jvs_heap_allocation) == 88, "no holes");

#endif
