/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/series.h"

/* Values over time: a segment has those that came since the last one, and what was the last then,
 * if another value has taken its place. */

static void put_value(struct jfr_writer *w, const struct recording *rec,
		      const struct rec_series *series, const struct jfr_value_said *value)
{
	size_t at = jfr_begin(w, JFR_VALUE, value->time_ns);

	jfr_put_long(&w->bytes, jfr_pid_of(rec, series->jvm));
	jfr_put_long(&w->bytes, jfr_pools_name(w->pools, rec_text(rec, series->name)));
	jfr_put_long(&w->bytes, (uint64_t)value->value);
	jfr_end_event(&w->bytes, at);
}

static void put_series(struct jfr_writer *w, const struct recording *rec,
		       const struct rec_series *series, uint64_t bucket_ns,
		       struct jfr_value_said *said)
{
	int64_t start_ns = rec_meta_get(rec)->start_time_ns;
	int64_t since_ns = said->time_ns > start_ns ? said->time_ns - start_ns : 0;

	/* Buckets may have become longer: that of the last value is where it is now. */
	for (uint64_t i = (uint64_t)since_ns / bucket_ns; i < series->buckets; i++) {
		struct jfr_value_said value = { .known = true,
						.time_ns =
							rec_sum(start_ns, (int64_t)(i * bucket_ns)),
						.value = series->values[i].value };

		if (!series->values[i].there ||
		    (said->known && value.time_ns <= said->time_ns && value.value == said->value))
			continue;
		put_value(w, rec, series, &value);
		*said = value;
	}
}

void jfr_put_series(struct jfr_writer *w, const struct recording *rec)
{
	size_t count;
	uint64_t bucket_ns;
	const struct rec_series *series = rec_series(rec, &count, &bucket_ns);
	struct jfr_value_said *said =
		jfr_reach(w, w->values, &w->value_capacity, count, sizeof(*said));

	if (!said)
		return;
	w->values = said;
	for (size_t i = 0; i < count; i++)
		put_series(w, rec, &series[i], bucket_ns, &said[i]);
}
