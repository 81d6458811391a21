/* SPDX-License-Identifier: Apache-2.0 */
#include "live/budget.h"

#include <string.h>

#include "base/clock.h"
#include "live/decode.h"
#include "live/process.h"
#include "model/recording.h"
#include "target/target.h"

static int64_t epoch_of(const struct decoder *d, uint64_t time_ns)
{
	return d->epoch_ns + (int64_t)time_ns;
}

uint64_t budget_own_work_ns(const struct process *p, uint64_t cost_ns)
{
	uint64_t cpu_ns;

	if (target_cpu_ns(p->target, &cpu_ns))
		cpu_ns = p->last_cpu_ns;
	return cpu_ns > cost_ns ? cpu_ns - cost_ns : 0;
}

void budget_begin(struct probe_budget *budget, double limit_pct, const struct process *p,
		  const struct governor_input *input)
{
	struct governor_input first = *input;

	first.cost_ns = 0;
	first.now_ns = clock_monotonic_ns();
	*budget = (struct probe_budget){ .begun = true, .limit_pct = limit_pct };
	budget->start_ns = first.now_ns;
	budget->start_cost_ns = input->cost_ns;
	budget->now_work_ns = budget_own_work_ns(p, 0);
	governor_start(&budget->governor, limit_pct, &first);
	budget->state = budget->governor.state;
}

uint64_t budget_look(struct probe_budget *budget, const struct process *p,
		     const struct governor_input *input, uint64_t others_ns)
{
	struct governor_input now = *input;
	bool was_attached = budget->governor.attached;
	uint64_t cost_ns = input->cost_ns - budget->start_cost_ns, work_ns;

	now.now_ns = clock_monotonic_ns();
	now.cost_ns = cost_ns + others_ns;
	work_ns = budget_own_work_ns(p, now.cost_ns);
	if (work_ns > budget->now_work_ns) {
		budget->all_work_ns += work_ns - budget->now_work_ns;
		budget->watched_work_ns += was_attached ? work_ns - budget->now_work_ns : 0;
		budget->now_work_ns = work_ns;
	}
	budget->state_ns[budget->state] += now.now_ns - budget->governor.last.now_ns;
	governor_look(&budget->governor, &now);
	budget->unwatched |= !budget->governor.attached;
	return cost_ns;
}

void budget_change(struct probe_budget *budget, const struct decoder *d, const struct process *p,
		   struct recording *rec, const struct rec_budget_event *event)
{
	struct rec_budget_event row = *event;

	row.jvm = p->rec_jvm;
	row.from = budget->state;
	row.time_ns = epoch_of(d, budget->governor.last.now_ns);
	row.cost_pct = governor_cost_pct(&budget->governor);
	row.limit_pct = budget->limit_pct;
	budget->state = row.to;
	if (p->rec_jvm)
		rec_budget_event(rec, &row);
}

void budget_tell(const struct probe_budget *budget, enum rec_probe_group group,
		 const struct decoder *d, const struct process *p, struct recording *rec)
{
	const struct governor *governor = &budget->governor;
	struct rec_native_budget *row = budget->begun ? rec_budget(rec, group, p->rec_jvm) : NULL;
	uint64_t elapsed_ns;

	if (!row)
		return;
	elapsed_ns = governor->last.now_ns - budget->start_ns;
	row->limit_pct = budget->limit_pct;
	row->cost_pct = governor_cost_pct(governor);
	row->total_cost_pct =
		elapsed_ns ? 100 * (double)governor->last.cost_ns / (double)elapsed_ns : 0;
	row->state = budget->state;
	row->attached_ns = epoch_of(d, budget->start_ns);
	memcpy(row->state_ns, budget->state_ns, sizeof(row->state_ns));
	row->all_cpu_ns = budget->all_work_ns;
	row->watched_cpu_ns = budget->watched_work_ns;
	row->live_known = !budget->unwatched;
}
