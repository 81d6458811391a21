/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_PROCESS_H
#define JVMSCOPE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map64.h"
#include "live/images.h"
#include "live/tables.h"
#include "target/maps.h"

struct jvm;
struct recording;
struct target;

enum process_state {
	PROCESS_WAITING, /* no JVM in it yet, or one that is still starting */
	PROCESS_JAVA,	 /* Java frames are named */
	PROCESS_NATIVE,	 /* not a JVM we can read: native frames only */
	PROCESS_ENDED,
};

/* One executable mapping that the kernel side knows. */
struct process_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t inode;
	uint64_t bias;
	uint32_t id;		     /* the cookie of frames in it */
	struct loaded_image *loaded; /* NULL: anonymous. One user */
};

struct process_mappings {
	struct process_mapping *items; /* owned; sorted by start */
	size_t count;
	struct extent extent; /* in the BPF array */
};

/* One target: what userspace knows of it and keeps in the kernel's tables. */
struct process {
	struct target *target; /* owned */
	struct jvm *jvm;       /* owned; NULL unless PROCESS_JAVA was reached */
	enum process_state state;
	uint32_t index;	  /* in the targets table */
	uint32_t rec_jvm; /* in the recording; 0 until described */
	struct process_mappings current;
	struct process_mappings previous; /* frames captured a moment ago may still name it */
	bool libjvm_mapped;
	bool exec;     /* it has become another program: whatever is known of its JVM is wrong */
	bool remap;    /* the mappings must be read again */
	bool rethread; /* so must the list of threads */
	bool unmapped; /* code was seen that is in no mapping known */
	bool mappings_full;	    /* was said */
	uint64_t remap_ns;	    /* CLOCK_MONOTONIC, from when they may be read again */
	uint64_t threads_ns;	    /* CLOCK_MONOTONIC, when it was read last */
	uint64_t start_cpu_ns;	    /* of the process, when recording began */
	uint64_t last_cpu_ns;	    /* the last that could be read */
	uint64_t class_cost_ns;	    /* of its time, in probes of class loads */
	uint64_t mapping_cost_ns;   /* the same, of what the VM maps */
	uint64_t vm_cost_ns;	    /* the same, of what the VM does: see vm.h */
	uint32_t looks;		    /* for the JVM */
	uint32_t programs;	    /* counts exec: what was known of another is not of this */
	uint32_t refreshes;	    /* of the JVM's layout */
	struct map64 threads;	    /* tid to index of known */
	struct known_thread *known; /* owned */
	size_t known_count;
	size_t known_capacity;
	uint32_t round; /* of process_refresh_threads */
};

struct known_thread {
	pid_t tid;
	pid_t ns_tid;
	uint64_t java_thread;  /* JavaThread*, 0: not a Java thread */
	uint64_t start_cpu_ns; /* when recording began, or 0 for a thread that started later */
	uint64_t last_cpu_ns;
	uint64_t before_cpu_ns; /* used by ended threads that had the same tid */
	uint32_t round;		/* last seen in */
	uint64_t ask_ns;	/* from when on its Java name is asked for (again) */
	uint64_t wait_ns;	/* between the last time and the next */
	bool named;		/* by it */
};

/*
 * Opens the process, installs its mappings and lets the kernel know it; nothing is sampled before
 * process_enable. Returns 0 or a negative errno, which is logged. Takes nothing on failure.
 */
int process_open(struct process *p, struct images *images, struct tables *tables, pid_t pid,
		 uint32_t index);

/* Reads the mappings again and, when they differ, installs them. Returns 0 or a negative errno. */
int process_refresh_mappings(struct process *p, struct images *images, struct tables *tables);

/*
 * Tries to read the JVM. Returns 0 when it became PROCESS_JAVA; -EAGAIN, when it is still
 * starting; -ENOENT, when there is none (now); another negative errno when there is one that
 * cannot be read (state is PROCESS_NATIVE then, and why is logged).
 */
int process_find_jvm(struct process *p, struct tables *tables);

/* The JVM is gone, by exec: back to PROCESS_WAITING. What was named keeps its name. */
void process_forget_jvm(struct process *p, struct tables *tables);

/* Sets or clears JVS_TARGET_ON. */
void process_enable(struct process *p, struct tables *tables, bool on);

/* Which threads there are, and which are Java threads. from_start: baseline of CPU times. */
void process_refresh_threads(struct process *p, struct tables *tables, bool from_start);

/*
 * Forgets the threads that ended some rounds ago, so that a process which starts threads for hours
 * has room for the next. ended is told of each: nobody else remembers its times.
 */
void process_forget_threads(struct process *p,
			    void (*ended)(const struct known_thread *known, void *ctx), void *ctx);

/* The CPU times once more, of all threads: the last word of a recording. */
void process_read_times(struct process *p);

/* CPU time used since recording began, by all threads that had this tid one after the other. */
uint64_t known_thread_cpu_ns(const struct known_thread *known);

/* Notes the CPU time the process has used until now; from_start: nothing before it counts. */
void process_read_cpu(struct process *p, bool from_start);

/* CPU time used between the first and the last process_read_cpu() that succeeded. */
uint64_t process_cpu_ns(const struct process *p);

/* The mapping a frame's cookie names, or that holds addr; NULL. */
const struct process_mapping *process_mapping_by_id(const struct process *p, uint32_t id);
const struct process_mapping *process_mapping_at(const struct process *p, uint64_t addr);

/* The mapping with code of a file called name ("libjvm.so"), and its image; NULL. */
const struct mapping *process_find_file(const struct process *p, const struct maps *maps,
					const char *name, struct image **image);

/* The process has ended: the kernel forgets it, names stay. */
void process_end(struct process *p, struct tables *tables);
void process_close(struct process *p, struct images *images, struct tables *tables);

#endif
