/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_EVENTS_H
#define JVMSCOPE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "live/live.h"

struct bpf_link;
struct bpf_program;

/* ---- the sampling clock: one perf event on every CPU */

struct clock_events {
	int *fds;		 /* owned; one for each CPU that is online */
	struct bpf_link **links; /* owned */
	size_t count;
	bool cycles; /* hardware cycles, else cpu-clock */
};

/*
 * Opens the events, disabled. With LIVE_CLOCK_AUTO hardware cycles are taken only when they are
 * seen to count, since a virtual machine may offer a PMU that does not.
 *
 * Returns 0, -EPERM (logged: what is missing), -ENOENT (LIVE_CLOCK_CYCLES without a PMU, logged).
 */
int clock_open(enum live_clock clock, uint32_t frequency, struct clock_events *out);

/* Runs the program at every tick from now on. Returns 0 or a negative errno, logged. */
int clock_attach(struct clock_events *events, struct bpf_program *program);

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
	SIDEBAND_MAPPED, /* a file was mapped with PROT_EXEC */
	SIDEBAND_NAMED,	 /* exec, or a thread got a name: JVMs name each at its start */
	SIDEBAND_LOST,	 /* records were lost: pid is -1, anything may have happened */
};

/* Calls seen for every record read; the same pid may come many times. */
void sideband_drain(struct sideband *sideband,
		    void (*seen)(pid_t pid, enum sideband_event event, void *ctx), void *ctx);
void sideband_close(struct sideband *sideband);

/* The numbers of the CPUs that are online; *out is the caller's to free. Returns how many or
 * -errno. */
int online_cpus(int **out);

#endif
