/* SPDX-License-Identifier: Apache-2.0 */
#include "model/recording_impl.h"

void rec_samples_keep(struct recording *rec, bool keep)
{
	rec->samples_kept = keep;
}

bool rec_sample_add(struct recording *rec, const struct rec_sample *sample)
{
	struct rec_sample *rows;

	if (rec->samples_count >= rec->limits.samples) {
		rec_quality_add(rec, REC_QUALITY_INFO, "samples_over_limit", 1);
		return false;
	}
	rows = rec_grow(rec, rec->samples, &rec->samples_capacity, (size_t)rec->samples_count + 1,
			sizeof(*rows));
	if (!rows)
		return false;
	rec->samples = rows;
	rows[rec->samples_count++] = *sample;
	return true;
}

void rec_sample(struct recording *rec, const struct rec_sample *sample)
{
	const struct rec_total key = { .key = sample->key };
	struct rec_total *total;
	uint32_t id;

	if (!rec->samples_kept || !rec_sample_add(rec, sample) ||
	    !rec_metric_info(sample->key.metric)->is_partly_sampled ||
	    table_add(&rec->totals, &key, 0, &id))
		return;
	total = table_get(&rec->totals, id);
	total->sampled_count = rec_sum(total->sampled_count, 1);
	total->sampled_value = rec_sum(total->sampled_value, sample->value);
}

const struct rec_sample *rec_samples(const struct recording *rec, size_t *count)
{
	*count = rec->samples_count;
	return rec->samples;
}

void rec_samples_drop(struct recording *rec)
{
	rec->samples_count = 0;
	rec_ledgers_drop(rec);
}
