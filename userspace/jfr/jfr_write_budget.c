/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/native.h"
#include "model/recording.h"

/* Events of what probes may cost: how it is now, and each change of what is recorded for it. */

static void put_probes(struct jfr_writer *w, const struct recording *rec, uint32_t jvm_id,
		       enum rec_probe_group group)
{
	jfr_put_long(&w->bytes, jfr_pid_of(rec, jvm_id));
	jfr_put_text(&w->bytes, rec_probe_group_name(group));
}

static void put_change(struct jfr_writer *w, const struct recording *rec,
		       const struct rec_budget_event *event)
{
	size_t at = jfr_begin(w, JFR_PROBE_STATE, event->time_ns);

	put_probes(w, rec, event->jvm, event->group);
	jfr_put_text(&w->bytes, rec_native_state_name(event->from));
	jfr_put_text(&w->bytes, rec_native_state_name(event->to));
	jfr_put_text(&w->bytes, rec_budget_reason_name(event->reason));
	jfr_put_double(&w->bytes, event->cost_pct / 100);
	jfr_put_double(&w->bytes, event->limit_pct / 100);
	jfr_end_event(&w->bytes, at);
}

static void put_budget(struct jfr_writer *w, const struct recording *rec,
		       const struct rec_native_budget *budget, int64_t end_ns)
{
	size_t at = jfr_begin(w, JFR_PROBE_BUDGET, end_ns);

	put_probes(w, rec, budget->jvm, budget->group);
	jfr_put_text(&w->bytes, rec_native_state_name(budget->state));
	jfr_put_double(&w->bytes, budget->cost_pct / 100);
	jfr_put_double(&w->bytes, budget->total_cost_pct / 100);
	jfr_put_double(&w->bytes, budget->limit_pct / 100);
	jfr_put_long(&w->bytes, budget->watched_cpu_ns);
	jfr_put_long(&w->bytes, budget->all_cpu_ns);
	jfr_put_byte(&w->bytes, budget->estimated);
	jfr_put_double(&w->bytes, budget->error_pct / 100);
	jfr_put_byte(&w->bytes, budget->live_known);
	jfr_put_long(&w->bytes, (uint64_t)budget->attached_ns);
	for (int state = 0; state < REC_NATIVE_STATE_NR; state++)
		jfr_put_long(&w->bytes, budget->state_ns[state]);
	jfr_put_long(&w->bytes, budget->interval);
	jfr_put_long(&w->bytes, (uint64_t)budget->live_blocks);
	jfr_put_long(&w->bytes, (uint64_t)budget->live_bytes);
	jfr_end_event(&w->bytes, at);
}

void jfr_put_budgets(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	size_t count;
	const struct rec_budget_event *events = rec_budget_events(rec, &count);
	const struct rec_native_budget *budgets;

	for (; w->budget_events < count; w->budget_events++)
		put_change(w, rec, &events[w->budget_events]);
	budgets = rec_native_budgets(rec, &count);
	for (size_t i = 0; i < count; i++)
		put_budget(w, rec, &budgets[i], end_ns);
}
