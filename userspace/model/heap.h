/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_HEAP_H
#define JVMSCOPE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct recording;

/*
 * Allocation in the Java heap, by class: the metric heap_alloc (recording.h) has the same by stack
 * and thread, its label is the class.
 *
 * Threads allocate in buffers of their own, TLABs. The JVM tells of an object that needs another
 * buffer, and of one that is allocated outside of them. The first is a sample, and stands for all
 * that its thread has allocated in buffers since the one before; the second is counted as it is.
 */
#define REC_MAX_HEAP_CLASSES (1u << 18)

struct rec_heap_class {
	uint32_t jvm;
	uint32_t name; /* string id: "com.example.Foo", "byte[]", "com.example.Foo$$Lambda" */
	/* The key ends here. */
	uint64_t tlabs; /* buffers that were begun with an object of the class */
	uint64_t tlab_bytes;
	uint64_t inside_bytes; /* what these objects stand for */
	uint64_t outside;      /* objects outside of buffers */
	uint64_t outside_bytes;
};

/* What was allocated of a class, as far as it is known. */
static inline uint64_t rec_heap_bytes(const struct rec_heap_class *class)
{
	return class->inside_bytes + class->outside_bytes;
}

/* The row of a class, made when it is new; NULL when memory is out or there are too many. */
struct rec_heap_class *rec_heap_class(struct recording *rec, uint32_t jvm, uint32_t name);

/* Sets all numbers of a JVM's rows to 0: they are told anew. */
void rec_heap_forget(struct recording *rec, uint32_t jvm);

struct rec_heap_class *rec_heap_class_get(const struct recording *rec, uint32_t id);
uint32_t rec_heap_class_count(const struct recording *rec); /* ids are 1..count */

/* Whether heap allocation was recorded. */
bool rec_has_heap(const struct recording *rec);

/* For rec_free() alone. */
struct rec_heap;
void rec_heap_free(struct rec_heap *heap);

#endif
