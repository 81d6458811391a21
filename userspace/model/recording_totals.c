/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "model/recording_impl.h"

/* ---- threads */

uint32_t rec_thread(struct recording *rec, uint32_t jvm, pid_t tid)
{
	struct rec_thread row = { .jvm = jvm, .tid = tid };
	bool full;
	uint32_t id = rec_table_add(rec, &rec->threads, &row, rec->limits.threads, &full);

	if (!full)
		return id;
	rec_quality_add(rec, REC_QUALITY_INFO, "threads_over_limit", 1);
	row = (struct rec_thread){ .name = rec_string(rec, REC_TRUNCATED, strlen(REC_TRUNCATED)) };
	return rec_table_add(rec, &rec->threads, &row, UINT32_MAX, &full);
}

struct rec_thread *rec_thread_get(const struct recording *rec, uint32_t id)
{
	return table_get(&rec->threads, id);
}

uint32_t rec_thread_count(const struct recording *rec)
{
	return rec->threads.count;
}

/* ---- totals */

/* Counts of a damaged file may be any number. */
int64_t rec_sum(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

void rec_add(struct recording *rec, const struct rec_key *key, int64_t count, int64_t value)
{
	struct rec_total row = { .key = *key };
	struct rec_total *total;
	bool full;
	uint32_t id = rec_table_add(rec, &rec->totals, &row, rec->limits.totals, &full);

	if (full) {
		rec_quality_add(rec, REC_QUALITY_INFO, "totals_over_limit", 1);
		row.key = (struct rec_key){
			.metric = key->metric,
			.jvm = key->jvm,
			.stack = rec_truncated_stack(rec),
		};
		id = rec_table_add(rec, &rec->totals, &row, UINT32_MAX, &full);
	}
	total = table_get(&rec->totals, id);
	if (!total)
		return;
	if (rec_metric_info(key->metric)->is_level) {
		total->count = count;
		total->value = value;
	} else {
		total->count = rec_sum(total->count, count);
		total->value = rec_sum(total->value, value);
	}
}

const struct rec_total *rec_totals(const struct recording *rec, size_t *count)
{
	*count = rec->totals.count;
	return (const struct rec_total *)(const void *)rec->totals.rows;
}
