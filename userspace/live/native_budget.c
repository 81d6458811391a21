/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "live/budget.h"
#include "live/decode.h"
#include "live/native.h"
#include "live/native_impl.h"
#include "live/pace.h"
#include "live/process.h"
#include "model/recording.h"
#include "target/target.h"

/* The part of native.h that keeps the cost of probes within the budget. */

#define INTERVAL     524288ull /* bytes between samples, when all the time is watched */
#define INTERVAL_LOW 1024      /* and at least in slices */
#define EVERY	     8	       /* block that is booked in slices, about */

static uint64_t cost_of(const struct native *native, const struct jvs_native_counts *counts)
{
	double traps = (double)counts->values[JVS_NATIVE_COUNT_ENTRIES] +
		       BUDGET_RETURN_SHARE * (double)counts->values[JVS_NATIVE_COUNT_RETURNS];

	return (uint64_t)(traps * native->trap_ns) + counts->values[JVS_NATIVE_COUNT_RUN_NS];
}

static void measure(struct native *native, const struct process *p, struct governor_input *out)
{
	struct native_target *t = &native->targets[p->index];
	struct jvs_native_counts counts;

	native_counts(native, p->index, &counts);
	*out = (struct governor_input){
		.now_ns = clock_monotonic_ns(),
		/* The budget is one: what other groups use of it is not there for this. */
		.cost_ns = cost_of(native, &counts) + p->class_cost_ns + p->mapping_cost_ns +
			   p->vm_cost_ns - t->start_cost_ns,
		.hits = counts.values[JVS_NATIVE_COUNT_ENTRIES],
		.trap_ns = native->trap_ns,
	};
	t->allocations = counts.values[JVS_NATIVE_COUNT_ALLOCATIONS];
	t->allocated_bytes = counts.values[JVS_NATIVE_COUNT_ALLOCATED_BYTES];
}

/* ---- slices of time */

static bool is_sliced(enum rec_native_state state)
{
	return state != REC_NATIVE_EXACT && state != REC_NATIVE_SAMPLED;
}

static bool is_in_slice(const struct native_target *t)
{
	return is_sliced(t->governor.state) && t->governor.attached;
}

static void begin_sliced(struct native *native, const struct process *p)
{
	struct native_target *t = &native->targets[p->index];

	t->sliced_from_ns = t->now_work_ns;
	t->sliced_seen_ns = 0;
	t->live_lost = true;
	native_start_slices(native, p->index);
}

static void end_slice(struct native *native, const struct process *p, uint64_t cost_ns)
{
	struct native_target *t = &native->targets[p->index];
	uint64_t seen_ns = t->now_work_ns - t->slice_work_ns;

	t->sliced_seen_ns += seen_ns;
	t->slices_work_ns += seen_ns;
	t->sliced_cost_ns += cost_ns - t->governor.at_slice.cost_ns;
	native_end_slice(native, p->index);
}

static void end_sliced(struct native_target *t)
{
	slices_stop(&t->slices);
	t->gone_ns += t->now_work_ns - t->sliced_from_ns - t->sliced_seen_ns;
	t->sliced_seen_ns = t->sliced_from_ns = 0;
}

/* ---- what a state is made of */

static uint64_t interval_of(const struct native_target *t, enum rec_native_state state)
{
	uint64_t mean = t->allocations ? t->allocated_bytes / t->allocations : 0;

	if (state == REC_NATIVE_SAMPLED)
		return INTERVAL;
	return EVERY * mean > INTERVAL_LOW ? EVERY * mean : INTERVAL_LOW;
}

static void set_control(struct native *native, const struct process *p)
{
	static const uint32_t modes[REC_NATIVE_STATE_NR] = {
		[REC_NATIVE_EXACT] = JVS_NATIVE_EXACT,
		[REC_NATIVE_SAMPLED] = JVS_NATIVE_SAMPLED,
		[REC_NATIVE_SLICES] = JVS_NATIVE_SAMPLED | JVS_NATIVE_UNFOLLOWED,
		[REC_NATIVE_COUNTERS] = JVS_NATIVE_COUNTED | JVS_NATIVE_UNFOLLOWED,
		[REC_NATIVE_DETACHED] = JVS_NATIVE_OFF,
	};
	struct native_target *t = &native->targets[p->index];
	struct jvs_native_control *control = &native->controls[p->index];

	t->interval = interval_of(t, t->governor.state);
	__atomic_store_n(&control->interval, t->interval, __ATOMIC_RELAXED);
	__atomic_store_n(&control->epoch, control->epoch + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&control->mode, modes[t->governor.state], __ATOMIC_RELEASE);
}

/* Attaches and detaches what the state wants. Frees are of no use where blocks are not followed. */
static void set_links(struct native_target *t)
{
	bool sliced = is_sliced(t->governor.state);

	for (int set = 0; set < NATIVE_SETS; set++)
		probes_want(&t->sets[set], t->governor.attached && (!sliced || set % 2 == 0));
}

static int64_t epoch_now(const struct decoder *d, uint64_t now_ns)
{
	return d->epoch_ns + (int64_t)now_ns;
}

static void say_change(const struct process *p, enum rec_native_state from,
		       enum rec_native_state to, double cost_pct)
{
	static const char *const how[REC_NATIVE_STATE_NR] = {
		[REC_NATIVE_EXACT] = "block by block",
		[REC_NATIVE_SAMPLED] = "by samples",
		[REC_NATIVE_SLICES] = "by samples in slices of time",
		[REC_NATIVE_COUNTERS] = "as counters only",
		[REC_NATIVE_DETACHED] = "not at all",
	};

	log_info("pid %d: native memory is recorded %s from now on, before %s: probes cost %.2f %% "
		 "of a core (see --max-overhead)",
		 p->target->pid, how[to], how[from], cost_pct);
}

static void change_state(struct native *native, struct decoder *d, const struct process *p,
			 struct recording *rec, enum rec_native_state from)
{
	struct native_target *t = &native->targets[p->index];
	enum rec_native_state to = t->governor.state;
	struct rec_budget_event event = {
		.group = REC_PROBES_NATIVE,
		.jvm = p->rec_jvm,
		.from = from,
		.to = to,
		.reason = t->governor.reason,
		.limit_pct = native->max_overhead,
	};

	event.time_ns = epoch_now(d, t->governor.last.now_ns);
	event.cost_pct = governor_cost_pct(&t->governor);
	if (p->rec_jvm)
		rec_budget_event(rec, &event);
	say_change(p, from, to, event.cost_pct);
	if (is_sliced(to) && !is_sliced(from))
		begin_sliced(native, p);
	else if (is_sliced(from) && !is_sliced(to))
		end_sliced(t);
}

static void look(struct native *native, struct decoder *d, const struct process *p,
		 struct recording *rec)
{
	struct native_target *t = &native->targets[p->index];
	enum rec_native_state from = t->governor.state;
	bool was_attached = t->governor.attached, was_in_slice = is_in_slice(t);
	struct governor_input input;

	measure(native, p, &input);
	t->state_ns[from] += input.now_ns - t->governor.last.now_ns;
	t->now_work_ns = budget_own_work_ns(p, input.cost_ns);
	governor_look(&t->governor, &input);
	if (was_in_slice && !is_in_slice(t))
		end_slice(native, p, input.cost_ns);
	if (t->governor.state != from)
		change_state(native, d, p, rec, from);
	if (t->governor.state == from && t->governor.attached == was_attached)
		return;
	set_control(native, p);
	set_links(t);
	measure(native, p, &input);
	t->slice_work_ns = t->now_work_ns = budget_own_work_ns(p, input.cost_ns);
	if (is_in_slice(t))
		native_begin_slice(native, p->index);
}

void native_begin_budget(struct native *native, const struct process *p)
{
	struct native_target *t = &native->targets[p->index];
	struct governor_input input;

	t->start_cost_ns = 0;
	measure(native, p, &input);
	t->start_ns = input.now_ns;
	t->start_cost_ns = input.cost_ns;
	input.cost_ns = 0;
	t->start_work_ns = t->now_work_ns = budget_own_work_ns(p, input.cost_ns);
	governor_start(&t->governor, native->max_overhead, &input);
	t->begun = true;
}

void native_keep_budget(struct native *native, struct decoder *d, const struct process *p,
			struct recording *rec)
{
	struct native_target *t = &native->targets[p->index];

	if (!t->begun)
		return;
	look(native, d, p, rec);
	t->slice_end_ns = is_in_slice(t) ? t->governor.slice_ns + t->governor.length_ns : 0;
}

uint64_t native_slice_end_ns(const struct native *native)
{
	uint64_t first_ns = 0;

	for (int i = 0; i < JVS_MAX_TARGETS; i++)
		first_ns = pace_earlier(first_ns, native->targets[i].slice_end_ns);
	return first_ns;
}

void native_look_at_slices(struct native *native, struct decoder *d, struct recording *rec,
			   uint64_t now_ns)
{
	for (int i = 0; i < JVS_MAX_TARGETS; i++) {
		uint64_t end_ns = native->targets[i].slice_end_ns;

		if (end_ns && end_ns <= now_ns)
			native_keep_budget(native, d, &d->processes[i], rec);
	}
}

void native_tell_budget(struct native *native, const struct decoder *d, const struct process *p,
			struct recording *rec)
{
	const struct native_target *t = &native->targets[p->index];
	struct rec_native_budget *row = t->begun ? rec_native_budget(rec, p->rec_jvm) : NULL;
	uint64_t all_ns = t->now_work_ns - t->start_work_ns, unseen_ns = t->gone_ns;
	uint64_t elapsed_ns;

	if (!row)
		return;
	if (is_sliced(t->governor.state))
		unseen_ns += t->now_work_ns - t->sliced_from_ns - t->sliced_seen_ns;
	elapsed_ns = t->governor.last.now_ns - t->start_ns;
	row->limit_pct = native->max_overhead;
	row->cost_pct = governor_cost_pct(&t->governor);
	row->total_cost_pct =
		elapsed_ns ? 100 * (double)t->governor.last.cost_ns / (double)elapsed_ns : 0;
	row->state = t->governor.state;
	row->attached_ns = epoch_now(d, t->start_ns);
	memcpy(row->state_ns, t->state_ns, sizeof(row->state_ns));
	row->all_cpu_ns = all_ns;
	row->watched_cpu_ns = all_ns > unseen_ns ? all_ns - unseen_ns : 0;
	row->interval = t->governor.state == REC_NATIVE_EXACT ? 0 : t->interval;
	row->live_known = !t->live_lost;
	row->estimated = !t->unestimated;
	row->error_pct = t->error_pct;
}
