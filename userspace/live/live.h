/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LIVE_H
#define JVMSCOPE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct recording;
struct trie;

/*
 * BPF from userspace: loads the programs, knows the targets, drains the ring into a recording.
 *
 * One thread. The caller waits on live_fd() (epoll) and calls live_poll() when it is readable,
 * and live_tick() about ten times a second.
 */
struct live;

enum live_clock {
	LIVE_CLOCK_AUTO,   /* hardware cycles when a PMU counts them, else cpu-clock */
	LIVE_CLOCK_CPU,	   /* cpu-clock, a software timer */
	LIVE_CLOCK_CYCLES, /* hardware cycles, or an error */
};

/* Bits: what is recorded. */
enum live_event {
	LIVE_EVENT_CPU = 1,
	LIVE_EVENT_NATIVE = 2,	   /* the VM's own native memory */
	LIVE_EVENT_LIBC = 4,	   /* also that of every other caller of libc's allocator */
	LIVE_EVENT_CLASS = 8,	   /* class loads */
	LIVE_EVENT_COUNTER = 16,   /* the memory ledger, and what is counted each second */
	LIVE_EVENT_GC = 32,	   /* collections and their pauses */
	LIVE_EVENT_SAFEPOINT = 64, /* safepoints and VM operations */
	LIVE_EVENT_LOCK = 128,	   /* threads that wait for monitors, in wait() and park() */
	LIVE_EVENT_THREAD = 256,   /* threads that start and end */
	LIVE_EVENT_JIT = 512,	   /* compilations and deoptimizations */
	LIVE_EVENT_EXCEPTION = 1024,
	LIVE_EVENT_ALLOC = 4096,  /* allocation in the Java heap */
	LIVE_EVENT_OFFCPU = 2048, /* threads that do not run, and why */
	LIVE_EVENT_IO = 8192,	  /* reads and writes of sockets and files */
};
/* Those that come from probes. */
#define LIVE_EVENT_VM                                                                 \
	(LIVE_EVENT_GC | LIVE_EVENT_SAFEPOINT | LIVE_EVENT_LOCK | LIVE_EVENT_THREAD | \
	 LIVE_EVENT_JIT | LIVE_EVENT_EXCEPTION | LIVE_EVENT_ALLOC | LIVE_EVENT_IO) /* see vm.h */
#define LIVE_EVENT_PROBES (LIVE_EVENT_NATIVE | LIVE_EVENT_LIBC | LIVE_EVENT_CLASS | LIVE_EVENT_VM)

struct live_options {
	unsigned int events;  /* enum live_event, or-ed */
	double max_overhead;  /* per cent of one core a target, for probes; 0: no limit */
	uint32_t frequency;   /* samples per second and CPU */
	uint32_t max_depth;   /* frames kept of a stack */
	uint64_t ring_bytes;  /* rounded up to a power of two pages */
	uint32_t live_blocks; /* native memory: that are followed at once; 0: a default */
	uint32_t sites;	      /* that are told apart at once; 0: a default */
	enum live_clock clock;
	const struct trie *trie; /* borrowed; classes of libraries are only counted. NULL: listed */
	bool switches;		 /* test: also a stack whenever a thread leaves its CPU */
	const pid_t *pids; /* borrowed: will be added; who is no process ends live_open at once */
	size_t pid_count;
};

/*
 * Opens and loads the programs and opens the (disabled) CPU events.
 *
 * Logs one line and returns -EPERM (which right is missing), -ENOTSUP (which kernel feature),
 * -ESRCH (which pid is no process), -ENOMEM or another negative errno; never only a libbpf log.
 */
int live_open(const struct live_options *options, struct live **out);
void live_close(struct live *live);

/*
 * Adds a process. It is sampled with native frames at once, and with Java frames as soon as its
 * JVM can be read: now, or, when it is still starting, in one of the next ticks.
 *
 * must_be_jvm: a process without libjvm.so is refused (-ENOENT, logged); else it is awaited.
 * Returns 0 and the target's index (>= 0) in *index, or a negative errno; failures are logged.
 */
int live_add(struct live *live, pid_t pid, bool must_be_jvm, uint32_t *index);

/*
 * The target is about to execute this program. When it is a java launcher, the unwind rows and
 * symbols of the C library and of its JDK are read now, so that they are there from the first
 * instruction.
 */
void live_expect(struct live *live, uint32_t index, const char *program);

/* Starts and stops sampling. live_stop drains the ring and adds all counters to the recording. */
int live_start(struct live *live, struct recording *rec);
int live_stop(struct live *live, struct recording *rec);

/* Adds all counters so far to the recording, which goes on; every frame in it has its name then. */
void live_snapshot(struct live *live, struct recording *rec);

/* Readable when records wait. */
int live_fd(const struct live *live);

/* Drains what is there; never waits. Returns the number of records, or a negative errno. */
int live_poll(struct live *live, struct recording *rec);

/*
 * What needs doing now and then: targets that ended, JVMs that became readable, new threads and
 * mappings. Returns how many targets still live.
 */
int live_tick(struct live *live, struct recording *rec);

/* For the status line. */
struct live_status {
	uint64_t samples; /* kept */
	uint64_t complete;
	uint64_t truncated;
	uint64_t broken;
	uint64_t lost;
	uint64_t own_cpu_ns; /* since live_open */
	uint32_t targets;    /* alive */
	uint32_t java;	     /* of which Java frames are named */
	const char *clock;   /* "cpu-clock", "cycles" */
	/* Native memory of all targets: what was allocated and lives, as far as it is known. */
	const char *native_state; /* "exact" ..., of the one that sees least; NULL: not recorded */
	bool native_known;
	int64_t native_bytes;
	/* Of all targets, also of those that have ended. */
	bool gc_known; /* collections are recorded */
	uint64_t collections;
	uint64_t paused_ns;
};
void live_status(struct live *live, struct live_status *out);

/* Whether every target that was added turned out to be a JVM whose Java frames could be read. */
bool live_all_java(const struct live *live);

/* What the kernel can do for us, for doctor: one line per need. */
enum live_need_state { LIVE_NEED_OK, LIVE_NEED_DEGRADED, LIVE_NEED_MISSING };
struct live_need {
	const char *name; /* "BTF", "CAP_BPF", "perf cpu-clock" */
	enum live_need_state state;
	char text[160]; /* what is so, and when not ok what to do */
};
/* Fills at most max; returns how many. Never logs, leaves nothing loaded. */
size_t live_needs(struct live_need *out, size_t max);

#endif
