/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_GOVERNOR_H
#define JVMSCOPE_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include "model/native.h"

/*
 * What probes may cost a target, and what is given up when they cost more.
 *
 * The budget is an account: it grows with time, by the limit, up to what GOVERNOR_WINDOW_NS give,
 * and pays for the probes. While it is not overdrawn the state is exact. Sampling saves the stacks,
 * but not the traps; where these alone are too dear, probes are attached for slices of time, each
 * when the account has saved for it. So the mean cost is the limit, however dear a slice is.
 *
 * This decides; who has the probes does it. Times are CLOCK_MONOTONIC.
 */
#define GOVERNOR_WINDOW_NS 5000000000ull
#define GOVERNOR_POINTS	   64 /* of the past, for the window and a little more */

/* What was measured so far, all sums since the start. */
struct governor_input {
	uint64_t now_ns;
	uint64_t cost_ns; /* of the target's time, spent in probes */
	uint64_t hits;	  /* programs run */
	double trap_ns;	  /* what a hit costs at least */
};

struct governor {
	double limit; /* of one core: 0.02; 0: no limit */
	enum rec_native_state state;
	enum rec_budget_reason reason; /* of the last change of it */
	bool attached;		       /* slices: in one; else always but when detached */
	double account_ns;
	double slice_rate; /* cost per time within slices; 0: none yet */
	uint64_t state_ns; /* when the state began */
	uint64_t
		forgiven_ns; /* until when cost was that of the start; 0: it was within the limit */
	uint64_t slice_ns;   /* when the slice began */
	uint64_t length_ns;  /* how long it is to be: maybe less than the time to the next look */
	struct governor_input last;
	struct governor_input at_slice;
	struct governor_input points[GOVERNOR_POINTS];
	uint32_t point_count;
	uint32_t cheap_slices; /* one after the other, in which probes all the time would do */
};

/* limit_pct 0: no limit, the state is always exact. */
void governor_start(struct governor *g, double limit_pct, const struct governor_input *input);

/* Looks at the account: state and attached are what they are to be from now on. */
void governor_look(struct governor *g, const struct governor_input *input);

/* Mean cost of the last five seconds, per cent of one core. */
double governor_cost_pct(const struct governor *g);

#endif
