/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "live/classes_impl.h"
#include "live/cost.h"
#include "live/decode.h"
#include "live/process.h"
#include "model/native.h"
#include "model/recording.h"
#include "target/target.h"

/*
 * Keeps the cost of class probes within the budget, by live/governor.h. Its states are here:
 * exact; no stacks, and no probes on linking and initializing; the same in slices; counts alone.
 * Between slices loads are counted: of all that can be done this costs least, one hit a class.
 */

static uint64_t monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t count_of(const struct classes *classes, const struct process *p,
			 enum jvs_class_counter counter)
{
	return cost_percpu_sum(classes->counts_fd, p->index * JVS_CLASS_COUNT_NR + counter);
}

static void measure(const struct classes *classes, const struct process *p,
		    struct governor_input *out)
{
	const struct class_budget *budget = &classes->targets[p->index].budget;
	uint64_t hits = count_of(classes, p, JVS_CLASS_COUNT_HITS);

	*out = (struct governor_input){
		.now_ns = monotonic_now(),
		/* Those that are left when there is less than all: see sampled_rate(). */
		.hits = hits - count_of(classes, p, JVS_CLASS_COUNT_PHASE_HITS),
		.trap_ns = classes->trap_ns,
	};
	out->cost_ns = (uint64_t)((double)hits * classes->trap_ns) +
		       count_of(classes, p, JVS_CLASS_COUNT_RUN_NS) - budget->start_cost_ns;
}

/* CPU time of the target, without what our probes took of it. */
static uint64_t own_work_ns(const struct process *p, const struct governor_input *input)
{
	uint64_t cpu_ns;

	if (target_cpu_ns(p->target, &cpu_ns))
		cpu_ns = p->last_cpu_ns;
	return cpu_ns > input->cost_ns ? cpu_ns - input->cost_ns : 0;
}

static void set_mode(const struct classes *classes, const struct process *p,
		     enum rec_native_state state, bool attached)
{
	static const uint32_t modes[REC_NATIVE_STATE_NR] = {
		[REC_NATIVE_EXACT] = JVS_CLASS_MODE_EXACT,
		[REC_NATIVE_SAMPLED] = JVS_CLASS_MODE_NO_STACKS,
		[REC_NATIVE_SLICES] = JVS_CLASS_MODE_NO_STACKS,
		[REC_NATIVE_COUNTERS] = JVS_CLASS_MODE_COUNTED,
		[REC_NATIVE_DETACHED] = JVS_CLASS_MODE_COUNTED,
	};
	uint32_t mode = attached ? modes[state] : JVS_CLASS_MODE_COUNTED;

	bpf_map_update_elem(classes->modes_fd, &p->index, &mode, BPF_ANY);
}

static void set_link(struct probe_set *set, bool wanted)
{
	if (!set->count || wanted == set->attached)
		return;
	if (wanted)
		probes_attach(set);
	else
		probes_detach(set);
}

/* What becomes of it when the governor has had its look, and counting was looked at. */
static enum rec_native_state state_of(const struct class_budget *budget)
{
	return budget->uncounted ? REC_NATIVE_DETACHED : budget->governor.state;
}

static enum rec_budget_reason reason_of(const struct class_budget *budget, bool was_uncounted)
{
	if (budget->uncounted)
		return REC_BUDGET_OVER;
	return was_uncounted ? REC_BUDGET_CHEAP : budget->governor.reason;
}

static void tell_change(struct classes *classes, const struct decoder *d, const struct process *p,
			struct recording *rec, enum rec_budget_reason reason)
{
	struct class_budget *budget = &classes->targets[p->index].budget;
	const struct governor *governor = &budget->governor;
	enum rec_native_state from = budget->state;
	struct rec_budget_event event = {
		.group = REC_PROBES_CLASS,
		.time_ns = classes_time(d, governor->last.now_ns),
		.jvm = p->rec_jvm,
		.from = from,
		.to = state_of(budget),
		.reason = reason,
		.cost_pct = governor_cost_pct(governor),
		.limit_pct = classes->max_overhead,
	};

	budget->state = event.to;
	rec_budget_event(rec, &event);
	log_info("pid %d: class loads are %s now, they were %s (probes cost %.2f %% of a core)",
		 p->target->pid, rec_native_state_name(event.to), rec_native_state_name(from),
		 event.cost_pct);
}

void classes_begin_budget(struct classes *classes, const struct process *p)
{
	struct class_budget *budget = &classes->targets[p->index].budget;
	struct governor_input input;

	measure(classes, p, &input);
	budget->start_ns = input.now_ns;
	budget->start_cost_ns = input.cost_ns;
	input.cost_ns = 0;
	budget->now_work_ns = own_work_ns(p, &input);
	governor_start(&budget->governor, classes->max_overhead, &input);
	budget->state = budget->governor.state;
	budget->begun = true;
}

/* Whether even counting costs more than it may, until it would be half of that at most. */
static bool is_too_dear(const struct class_budget *budget)
{
	const struct governor *governor = &budget->governor;
	double cost_pct = governor_cost_pct(governor), limit_pct = 100 * governor->limit;

	if (!(limit_pct > 0) || governor->attached)
		return false;
	return cost_pct > (budget->uncounted ? limit_pct / 2 : limit_pct) &&
	       governor->account_ns < 0;
}

void classes_keep_budget(struct classes *classes, const struct decoder *d, struct process *p,
			 struct recording *rec)
{
	struct class_target *t = &classes->targets[p->index];
	struct class_budget *budget = &t->budget;
	bool was_attached = budget->governor.attached, was_uncounted = budget->uncounted;
	struct governor_input input;
	uint64_t work_ns;

	if (!budget->begun)
		return;
	measure(classes, p, &input);
	p->class_cost_ns = input.cost_ns;
	work_ns = own_work_ns(p, &input);
	if (work_ns > budget->now_work_ns) {
		budget->all_work_ns += work_ns - budget->now_work_ns;
		budget->watched_work_ns += was_attached ? work_ns - budget->now_work_ns : 0;
		budget->now_work_ns = work_ns;
	}
	budget->state_ns[budget->state] += input.now_ns - budget->governor.last.now_ns;
	governor_look(&budget->governor, &input);
	budget->unwatched |= !budget->governor.attached;
	budget->uncounted = is_too_dear(budget);
	if (state_of(budget) != budget->state)
		tell_change(classes, d, p, rec, reason_of(budget, was_uncounted));
	set_mode(classes, p, budget->governor.state, budget->governor.attached);
	set_link(&t->sets[CLASS_SET_PHASES], budget->governor.state == REC_NATIVE_EXACT);
	set_link(&t->sets[CLASS_SET_FACTS], budget->governor.attached);
	set_link(&t->sets[CLASS_SET_COUNTS], budget->governor.attached || !budget->uncounted);
}

void classes_tell_budget(const struct classes *classes, const struct decoder *d,
			 const struct process *p, struct recording *rec)
{
	const struct class_budget *budget = &classes->targets[p->index].budget;
	const struct governor *governor = &budget->governor;
	struct rec_native_budget *row =
		budget->begun ? rec_budget(rec, REC_PROBES_CLASS, p->rec_jvm) : NULL;
	uint64_t elapsed_ns;

	if (!row)
		return;
	elapsed_ns = governor->last.now_ns - budget->start_ns;
	row->limit_pct = classes->max_overhead;
	row->cost_pct = governor_cost_pct(governor);
	row->total_cost_pct =
		elapsed_ns ? 100 * (double)governor->last.cost_ns / (double)elapsed_ns : 0;
	row->state = budget->state;
	row->attached_ns = classes_time(d, budget->start_ns);
	memcpy(row->state_ns, budget->state_ns, sizeof(row->state_ns));
	row->all_cpu_ns = budget->all_work_ns;
	row->watched_cpu_ns = budget->watched_work_ns;
	row->live_known = !budget->unwatched;
}
