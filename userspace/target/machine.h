/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TARGET_MACHINE_H
#define JVMSCOPE_TARGET_MACHINE_H

#include <stdint.h>

/* What the whole machine has used since it booted: /proc/stat, of all CPUs together. */
struct machine_cpu {
	uint64_t user_ns;   /* with nice; guests are in it */
	uint64_t system_ns; /* with interrupts */
	uint64_t busy_ns;   /* the two, and what a hypervisor took */
	uint64_t all_ns;    /* busy or not */
	uint64_t context_switches;
};

/* /proc/meminfo, bytes. */
struct machine_memory {
	uint64_t total;
	uint64_t used; /* total without what is available to new programs */
	uint64_t swap_total;
	uint64_t swap_used;
};

/* Both read one file. Return 0 or a negative errno; never log. */
int machine_cpu_read(struct machine_cpu *out);
int machine_memory_read(struct machine_memory *out);

/* The same from text, for tests. -EBADMSG: it is not such a file. */
int machine_cpu_parse(const char *text, struct machine_cpu *out);
int machine_memory_parse(const char *text, struct machine_memory *out);

#endif
