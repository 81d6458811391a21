/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "jfr/jfr_fill_impl.h"
#include "jfr/jfr_read.h"
#include "model/recording.h"

/* Samples are summed while their chunk is read; their constants come at its end. */

static void keep_sample(struct jfr_filler *f, const struct jfr_raw_sample *sample)
{
	if (f->sample_count == f->sample_capacity) {
		size_t capacity = f->sample_capacity ? 2 * f->sample_capacity : 1024;
		struct jfr_raw_sample *larger = reallocarray(f->samples, capacity, sizeof(*larger));

		if (!larger) {
			f->err = -ENOMEM;
			return;
		}
		f->samples = larger;
		f->sample_capacity = capacity;
	}
	f->samples[f->sample_count++] = *sample;
}

/*
 * Totals of a chunk: some, and more the more bytes its samples have. One takes up to 250 bytes,
 * here and in the recording, and a sample may have five.
 */
#define TOTALS_LEAST  (1u << 17)
#define TOTALS_BYTES  96
#define TOTALS_STATES 1024 /* more, of samples whose total would be one too many */

struct jfr_raw_total *jfr_fill_total_of(struct jfr_filler *f, const struct jfr_item *e,
					const struct jfr_raw_total *key, uint32_t *id)
{
	struct jfr_raw_total other = { .kind = key->kind, .state = key->state };
	uint64_t most;
	int err;

	f->sample_bytes += e->size;
	most = TOTALS_LEAST + f->sample_bytes / TOTALS_BYTES;
	if (most > UINT32_MAX - TOTALS_STATES)
		most = UINT32_MAX - TOTALS_STATES;
	err = table_add(&f->totals, key, (uint32_t)most, id);
	if (err == -ENOSPC) {
		rec_quality_add(f->rec, REC_QUALITY_INFO, "sample_ids_over_limit", 1);
		err = table_add(&f->totals, &other, (uint32_t)most + TOTALS_STATES, id);
	}
	if (err == -ENOSPC) {
		other.state = 0;
		err = table_add(&f->totals, &other, UINT32_MAX, id);
	}
	if (err)
		f->err = err;
	return err ? NULL : table_get(&f->totals, *id);
}

void jfr_fill_sample(struct jfr_filler *f, const struct jfr_item *e,
		     const struct jfr_raw_total *key, const struct jfr_raw_sample *sample)
{
	struct jfr_raw_sample kept = *sample;
	struct jfr_raw_total *total = jfr_fill_total_of(f, e, key, &kept.total);

	if (!total)
		return;
	total->count++;
	total->value = rec_sum(total->value, sample->value);
	if (f->options->keep_samples)
		keep_sample(f, &kept);
}
