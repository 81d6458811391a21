/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_EVENTS_H
#define JVMSCOPE_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "live/live.h"

struct bpf_link;
struct bpf_program;

/* ---- the sampling clock: one perf event on every CPU */

struct clock_cpu {
	int cpu;
	int fd;		       /* owned; -1 when the link owns it */
	struct bpf_link *link; /* owned */
};

struct clock_events {
	struct perf_event_attr attr;
	struct clock_cpu *items; /* owned; one for each CPU that is on line */
	size_t count;
};

/*
 * Opens the events, disabled. With LIVE_CLOCK_AUTO hardware cycles are taken only when they are
 * seen to count, since a virtual machine may offer a PMU that does not.
 *
 * Returns 0, -EPERM (logged: what is missing), -ENOENT (LIVE_CLOCK_CYCLES without a PMU, logged).
 */
int clock_open(enum live_clock clock, uint32_t frequency, struct clock_events *out);

/* Hardware cycles, else cpu-clock. */
bool clock_is_cycles(const struct clock_events *events);

/* Runs the program at every tick from now on, on CPUs where it does not yet. Returns 0 or a
 * negative errno, logged. */
int clock_attach(struct clock_events *events, struct bpf_program *program);

/*
 * Looks which CPUs are on line, and samples those that came. To be called once a second while
 * attached. Returns 0 or a negative errno.
 */
int clock_follow_cpus(struct clock_events *events, struct bpf_program *program);

/* No tick runs the program after this returns. */
void clock_detach(struct clock_events *events);
void clock_close(struct clock_events *events);

/* 0 when a sampling clock may be opened on any process and CPU, else a negative errno. Never logs.
 */
int clock_allowed(void);

/* Whether this machine has a hardware cycle counter that counts. */
bool clock_has_cycles(void);

/* ---- the side band: which process maps executable files, and execs */

struct sideband {
	struct sideband_cpu *cpus; /* owned */
	size_t count;
	int epoll; /* readable when records wait */
};

/*
 * Opens one dummy event on every CPU. Returns 0 or a negative errno; without it mappings are
 * looked up once a second. Never logs.
 */
int sideband_open(struct sideband *out);

enum sideband_event {
	SIDEBAND_MAPPED, /* memory was mapped with PROT_EXEC */
	SIDEBAND_NAMED,	 /* a thread got a name: JVMs name each at its start */
	SIDEBAND_EXEC,	 /* the process became another program */
	SIDEBAND_LOST,	 /* records were lost: pid is -1, anything may have happened */
};

struct sideband_record {
	enum sideband_event event;
	pid_t pid;
	uint64_t address; /* SIDEBAND_MAPPED: where */
};

/* Calls seen for every record read; the same pid may come many times. */
void sideband_drain(struct sideband *sideband,
		    void (*seen)(const struct sideband_record *record, void *ctx), void *ctx);
void sideband_close(struct sideband *sideband);

/* The largest number a CPU can have, and 1: the size of tables by CPU. Or a negative errno. */
int possible_cpus(void);

/* The numbers of the CPUs that are online; *out is the caller's to free. Returns how many or
 * -errno. */
int online_cpus(int **out);

#endif
