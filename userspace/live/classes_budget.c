/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>

#include "base/log.h"
#include "live/classes_impl.h"
#include "live/cost.h"
#include "live/decode.h"
#include "live/process.h"
#include "model/recording.h"
#include "target/target.h"

/*
 * Keeps the cost of class probes within the budget, by live/governor.h. Its states are here:
 * exact; no stacks, and no probes on linking and initializing; the same in slices; counts alone.
 * Between slices loads are counted: of all that can be done this costs least, one hit a class.
 */

static uint64_t count_of(const struct classes *classes, const struct process *p,
			 enum jvs_class_counter counter)
{
	return cost_percpu_sum(classes->counts_fd, p->index * JVS_CLASS_COUNT_NR + counter);
}

static void measure(const struct classes *classes, const struct process *p,
		    struct governor_input *out)
{
	/* In this order: each is among the hits, which go on. */
	uint64_t phase_hits = count_of(classes, p, JVS_CLASS_COUNT_PHASE_HITS);
	uint64_t hits = count_of(classes, p, JVS_CLASS_COUNT_HITS);

	*out = (struct governor_input){
		/* Those that are left when there is less than all: see sampled_rate(). */
		.hits = hits - phase_hits,
		.trap_ns = classes->trap_ns,
	};
	out->cost_ns = (uint64_t)((double)hits * classes->trap_ns) +
		       count_of(classes, p, JVS_CLASS_COUNT_RUN_NS);
}

/* What is unloaded while loads are only counted is not told: its Klass may be another's after it.
 */
static void set_mode(struct classes *classes, const struct process *p, const struct recording *rec)
{
	static const uint32_t modes[REC_NATIVE_STATE_NR] = {
		[REC_NATIVE_EXACT] = JVS_CLASS_MODE_EXACT,
		[REC_NATIVE_SAMPLED] = JVS_CLASS_MODE_NO_STACKS,
		[REC_NATIVE_SLICES] = JVS_CLASS_MODE_NO_STACKS,
		[REC_NATIVE_COUNTERS] = JVS_CLASS_MODE_COUNTED,
		[REC_NATIVE_DETACHED] = JVS_CLASS_MODE_COUNTED,
	};
	struct class_target *t = &classes->targets[p->index];
	const struct governor *governor = &t->budget.governor;
	uint32_t mode = governor->attached ? modes[governor->state] : JVS_CLASS_MODE_COUNTED;

	if (t->counted && mode != JVS_CLASS_MODE_COUNTED)
		t->unsure = rec_class_count(rec);
	t->counted = mode == JVS_CLASS_MODE_COUNTED;
	bpf_map_update_elem(classes->modes_fd, &p->index, &mode, BPF_ANY);
}

/* What becomes of it when the governor has had its look, and counting was looked at. */
static enum rec_native_state state_of(const struct class_target *t)
{
	return t->uncounted ? REC_NATIVE_DETACHED : t->budget.governor.state;
}

static enum rec_budget_reason reason_of(const struct class_target *t, bool was_uncounted)
{
	if (t->uncounted)
		return REC_BUDGET_OVER;
	return was_uncounted ? REC_BUDGET_CHEAP : t->budget.governor.reason;
}

static void change_state(struct class_target *t, const struct decoder *d, const struct process *p,
			 struct recording *rec, bool was_uncounted)
{
	const struct rec_budget_event event = { .group = REC_PROBES_CLASS,
						.to = state_of(t),
						.reason = reason_of(t, was_uncounted) };

	log_info("pid %d: class loads are %s now, they were %s (probes cost %.2f %% of a core)",
		 p->target->pid, rec_native_state_name(event.to),
		 rec_native_state_name(t->budget.state), governor_cost_pct(&t->budget.governor));
	budget_change(&t->budget, d, p, rec, &event);
}

void classes_begin_budget(struct classes *classes, const struct process *p)
{
	struct class_target *t = &classes->targets[p->index];
	struct governor_input input;

	measure(classes, p, &input);
	budget_begin(&t->budget, classes->max_overhead, p, &input);
	t->uncounted = false;
}

/* Whether even counting costs more than it may, until it would be half of that at most. */
static bool is_too_dear(const struct class_target *t)
{
	const struct governor *governor = &t->budget.governor;
	double cost_pct = governor_cost_pct(governor), limit_pct = 100 * governor->limit;

	if (!(limit_pct > 0) || governor->attached)
		return false;
	return cost_pct > (t->uncounted ? limit_pct / 2 : limit_pct) && governor->account_ns < 0;
}

void classes_keep_budget(struct classes *classes, const struct decoder *d, struct process *p,
			 struct recording *rec)
{
	struct class_target *t = &classes->targets[p->index];
	const struct governor *governor = &t->budget.governor;
	bool was_uncounted = t->uncounted;
	struct governor_input input;

	if (!t->budget.begun)
		return;
	measure(classes, p, &input);
	p->class_cost_ns = budget_look(&t->budget, p, &input, 0);
	t->uncounted = is_too_dear(t);
	if (state_of(t) != t->budget.state)
		change_state(t, d, p, rec, was_uncounted);
	set_mode(classes, p, rec);
	probes_want(&t->sets[CLASS_SET_PHASES], governor->state == REC_NATIVE_EXACT);
	probes_want(&t->sets[CLASS_SET_FACTS], governor->attached);
	probes_want(&t->sets[CLASS_SET_COUNTS], governor->attached || !t->uncounted);
}

void classes_tell_budget(const struct classes *classes, const struct decoder *d,
			 const struct process *p, struct recording *rec)
{
	budget_tell(&classes->targets[p->index].budget, REC_PROBES_CLASS, d, p, rec);
}
