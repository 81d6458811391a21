/* SPDX-License-Identifier: Apache-2.0 */
#include "model/recording_impl.h"

void rec_samples_keep(struct recording *rec, bool keep)
{
	rec->samples_kept = keep;
}

void rec_sample(struct recording *rec, const struct rec_sample *sample)
{
	struct rec_sample *rows;

	if (!rec->samples_kept)
		return;
	if (rec->samples_count >= rec->limits.samples) {
		rec_quality_add(rec, REC_QUALITY_INFO, "samples_over_limit", 1);
		return;
	}
	rows = rec_grow(rec, rec->samples, &rec->samples_capacity, (size_t)rec->samples_count + 1,
			sizeof(*rows));
	if (!rows)
		return;
	rec->samples = rows;
	rows[rec->samples_count++] = *sample;
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
