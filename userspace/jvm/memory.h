/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JVM_MEMORY_H
#define JVMSCOPE_JVM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/perfdata.h"

struct maps;
struct target;

/*
 * Which addresses the VM uses for what: from its tables (vmStructs), and from symbols of libjvm
 * where it has them. Without symbols some parts of the collector stay unknown.
 */

enum vm_use {
	VM_JAVA_HEAP,
	VM_CDS,
	VM_CODE,
	VM_METASPACE,
	VM_CLASS_SPACE,
	VM_GC,
	VM_PERF_DATA,
	VM_OTHER,
};

struct vm_area {
	enum vm_use use;
	const char *what; /* "card table"; a constant */
	uint64_t start;
	uint64_t end;
	/* A mapping that holds what it is said to hold, and may hold more: others come first. */
	bool loose;
};

typedef void vm_area_fn(const struct vm_area *area, void *ctx);

struct vm_memory;

/* As jvm_major() and jvm_gc_name() have it. */
struct vm_kind {
	int major;
	const char *gc_name;
};

/*
 * Opens the VM in a process; t is borrowed. Returns 0, -ENOENT
 * (no libjvm.so), -EAGAIN (still starting), -EPROTO (no field that tells of memory), or another
 * negative errno. Never logs.
 */
int vm_memory_open(const struct target *t, const struct maps *maps, const struct vm_kind *kind,
		   struct vm_memory **out);
void vm_memory_close(struct vm_memory *memory);

/*
 * Tells of all areas, in an order where of two that overlap the first one is right; loose ones come
 * after all others. What cannot be read is left out. Returns 0 or -ESRCH.
 */
int vm_memory_areas(struct vm_memory *memory, const struct maps *maps, vm_area_fn *found,
		    void *ctx);

/* ---- Native Memory Tracking: the JVM's own counters, where it was started with them on */

#define VM_TAGS_MAX	64 /* 28 in JDK 25 */
#define VM_TAG_NAME_MAX 48

struct vm_tag {
	char name[VM_TAG_NAME_MAX]; /* "Class", "Thread Stack", as the JVM spells it */
	uint64_t malloc_count, malloc_bytes;
	uint64_t arena_count, arena_bytes;
	uint64_t reserved, committed;
};

/* Returns how many tags were written; 0 when it is off, or libjvm has no symbols. */
uint32_t vm_memory_tags(const struct vm_memory *memory, struct vm_tag tags[VM_TAGS_MAX]);

/* ---- buffers outside the Java heap, by the counters of the classes that make them */

struct vm_buffers {
	uint64_t count;
	uint64_t capacity_bytes;
	uint64_t reserved_bytes;
	uint64_t max_bytes; /* the limit; 0: unknown */
};

/* Where the counters are; a zeroed struct looks for them. */
struct vm_buffer_classes {
	uint64_t direct, mapped, number; /* InstanceKlass*, 0: not found */
	uint32_t looks;			 /* for them so far */
};

/*
 * Reads the counters; classes that are not loaded yet are looked for again, some times. What
 * cannot be read stays 0.
 */
void vm_memory_buffers(const struct vm_memory *memory, struct vm_buffer_classes *classes,
		       struct vm_buffers *direct, struct vm_buffers *mapped);

/* ---- performance counters (hsperfdata), from memory: the file is missing in many containers */

struct vm_counters {
	uint64_t start;	       /* of the counters, in the target */
	uint32_t bytes;	       /* of data, used or not */
	uint8_t *data;	       /* owned; a copy */
	struct perfdata table; /* of data */
	uint32_t tables;       /* counts them: entries found in one are not of the next */
};

/* Reads all. A zeroed struct is empty. Returns 0, -ENOENT (there are none), or a negative errno. */
int vm_counters_read(const struct vm_memory *memory, struct vm_counters *counters);

void vm_counters_free(struct vm_counters *counters);

#endif
