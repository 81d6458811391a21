/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"

/*
 * Sums of what has an event of its own for some: a segment has what was added to each total beside
 * its samples, whether those are written already or not.
 */

static void put_total(struct jfr_writer *w, const struct recording *rec,
		      const struct rec_total *total, const struct jfr_total_said *more,
		      int64_t end_ns)
{
	bool is_off_cpu = total->key.metric == REC_OFFCPU;
	const char *metric = rec_metric_info(total->key.metric)->name;
	uint32_t thread = jfr_pools_thread(w->pools, rec, total->key.thread);
	uint32_t stack = jfr_pools_stack(w->pools, rec, total->key.stack);
	size_t at = jfr_begin(w, is_off_cpu ? JFR_OFF_CPU : JFR_TOTAL, end_ns);

	jfr_put_long(&w->bytes, thread);
	jfr_put_long(&w->bytes, stack);
	if (!is_off_cpu)
		jfr_put_long(&w->bytes, jfr_pools_name(w->pools, metric));
	jfr_put_long(&w->bytes, jfr_pools_name(w->pools, rec_text(rec, total->key.label)));
	jfr_put_long(&w->bytes, jfr_pid_of(rec, total->key.jvm));
	jfr_put_long(&w->bytes, (uint64_t)more->count);
	jfr_put_long(&w->bytes, (uint64_t)more->value);
	jfr_end_event(&w->bytes, at);
}

/* Numbers that were read from a file may be any. */
static int64_t less(int64_t all, int64_t sampled, int64_t said)
{
	return (int64_t)((uint64_t)all - (uint64_t)sampled - (uint64_t)said);
}

void jfr_put_totals(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);

	for (size_t i = 0; i < count; i++) {
		const struct rec_total *total = &totals[i];
		struct jfr_total_said *said, more;

		if (!rec_metric_info(total->key.metric)->is_partly_sampled)
			continue;
		said = jfr_reach(w, w->totals, &w->total_capacity, i, sizeof(*said));
		if (!said)
			return;
		w->totals = said;
		said = &said[i];
		more.count = less(total->count, total->sampled_count, said->count);
		more.value = less(total->value, total->sampled_value, said->value);
		if (!more.count && !more.value)
			continue;
		put_total(w, rec, total, &more, end_ns);
		said->count = less(total->count, total->sampled_count, 0);
		said->value = less(total->value, total->sampled_value, 0);
	}
}
