/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_FAKES_LIVE_H
#define JVMSCOPE_FAKES_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "jvm/jvm.h"

/*
 * What userspace/live asks of the kernel, of /proc and of a JVM, answered by a test. The linker
 * sends the calls here (--wrap); a fake that is not switched on passes its call on.
 */

#define FAKE_MAP_ROWS 32
#define FAKE_THREADS  16
#define FAKE_CPUS     8

/*
 * A BPF hash map of u32 to u64, or of u32 to u32 with the rest 0. Without a key it is a queue: keys
 * are the numbers of its updates.
 */
struct fake_map {
	uint32_t keys[FAKE_MAP_ROWS];
	uint64_t values[FAKE_MAP_ROWS];
	size_t count;
	size_t capacity;   /* one more fails with E2BIG */
	size_t value_size; /* 8; 4 when a test says so */
	size_t updates;
};

#define FAKE_MAP_FD  1000000 /* of maps[0]; the others follow */
#define FAKE_MAPS    4
#define FAKE_LINK_FD (FAKE_MAP_FD + FAKE_MAPS)

struct fakes {
	struct fake_map maps[FAKE_MAPS];
	/* per-CPU counters, by key: the sum, which is put on the first CPU */
	const uint64_t *counters;
	size_t counter_count;
	void (*counter_was_read)(void); /* they go on while they are read; or NULL */

	/* keys of every hash map, in its order; on while not NULL */
	char *keys;
	size_t key_size, key_count;

	/* threads of every target; the fake is on while threads is not NULL */
	struct fake_thread {
		pid_t tid;
		uint64_t cpu_ns;
	} * threads;
	size_t thread_count;

	/* of every JVM; on while not NULL */
	const struct jvm_thread *java_threads;
	size_t java_count;
	int major;
	const int *object_errors; /* of jvm_object_layout(), the last for ever; NULL: 0 */
	size_t object_error_count;
	unsigned int objects_asked;
	int task_error; /* of jvm_task_layout() */
	uint64_t code_heap_low, code_heap_high;
	struct jvm_method method; /* of every Java frame */
	unsigned int described;	  /* frames */

	const char *maps_text; /* /proc/PID/maps; on while not NULL */

	/* perf_event_open; on while cpus_text, the file of CPUs on line, is not NULL */
	const char *cpus_text;
	uint64_t cycles; /* that a counter has counted in counter_ns */
	uint64_t counter_ns;
	int open_error[FAKE_CPUS];   /* errno of the CPU's event */
	int cycles_error[FAKE_CPUS]; /* the same, of hardware cycles alone */
	int event_fd[FAKE_CPUS];     /* of the last event opened */
	unsigned int attached, destroyed;
	bool refuse_attach;

	/* multi links, FAKE_LINK_FD and the next ones: closing one takes until so many are closed
	 */
	unsigned int links;
	unsigned int closing; /* most at one time */
};
extern struct fakes fakes;

/* All off, all empty. */
void fakes_reset(void);

/* The value at key, or 0. */
uint64_t fake_map_get(const struct fake_map *map, uint32_t key);

/* A pointer to stand for a JVM, of which only the fakes know something. */
struct jvm *fake_jvm(void);

#endif
