/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_STATUS_H
#define JVMSCOPE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/live.h"

/*
 * What is said on standard error while recording: on a terminal one line that is written over
 * twice a second, elsewhere a line every ten seconds.
 */
struct status {
	bool rewrite;
	bool silent;
	bool shown; /* the line is on the terminal now */
	uint64_t start_ns;
	uint64_t duration_ns; /* 0: no end */
	uint64_t next_ns;
	uint64_t last_ns; /* own_cpu_ns and samples below are of this time */
	uint64_t last_own_cpu_ns;
};

/* start_ns: when sampling began, by clock_monotonic_ns(); own_cpu_ns: our CPU time until then. */
void status_start(struct status *status, uint64_t start_ns, uint64_t own_cpu_ns,
		  uint64_t duration_ns, bool silent);

/* Call it at each tick; it writes when it is time. */
void status_tick(struct status *status, struct live *live, uint64_t now_ns);

/* Takes the line off the terminal. */
void status_stop(struct status *status);

/*
 * The line itself: "12s left, 1,234 samples, 99.9 % complete, 0 lost, own CPU 0.4 %, 1 of 2 JVMs
 * ...". own_pct is the part of one core that jvmscope used of late.
 */
void status_text(const struct status *status, const struct live_status *live, uint64_t now_ns,
		 char *to, size_t size);

#endif
