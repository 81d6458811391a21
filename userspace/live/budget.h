/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_BUDGET_H
#define JVMSCOPE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "live/governor.h"
#include "model/native.h"

struct decoder;
struct process;
struct recording;

/*
 * The budget of one group of probes of one target: what the governor says of it, and what the
 * recording is told. For groups that are attached or not, as a whole: native_budget.c has more.
 */
struct probe_budget {
	bool begun;
	bool unwatched; /* for a while: some calls were only counted, or not even that */
	double limit_pct;
	struct governor governor;
	enum rec_native_state state; /* as it was told last */
	uint64_t start_ns;	     /* CLOCK_MONOTONIC */
	uint64_t start_cost_ns;
	uint64_t state_ns[REC_NATIVE_STATE_NR];
	/* CPU time of the target without that of the probes: until now, since the start, watched */
	uint64_t now_work_ns;
	uint64_t all_work_ns;
	uint64_t watched_work_ns;
};

/*
 * What a return costs beside the trap of the entry it belongs to, in traps: 0.24 to 0.42 us, see
 * docs/overhead.md.
 */
#define BUDGET_RETURN_SHARE 0.57

/* CPU time of the target, without what probes took of it. */
uint64_t budget_own_work_ns(const struct process *p, uint64_t cost_ns);

/*
 * From when the probes are attached. input is what the kernel has counted in this place, for others
 * too; its time is not looked at.
 */
void budget_begin(struct probe_budget *budget, double limit_pct, const struct process *p,
		  const struct governor_input *input);

/*
 * A look at what they cost, counted as above. others_ns: what other groups use of the same budget.
 * Returns what these use. The state that is told is the caller's to change.
 */
uint64_t budget_look(struct probe_budget *budget, const struct process *p,
		     const struct governor_input *input, uint64_t others_ns);

/* The state is another from now on. */
void budget_change(struct probe_budget *budget, const struct decoder *d, const struct process *p,
		   struct recording *rec, const struct rec_budget_event *event);

/* The row of the group: nothing before it has begun. */
void budget_tell(const struct probe_budget *budget, enum rec_probe_group group,
		 const struct decoder *d, const struct process *p, struct recording *rec);

#endif
