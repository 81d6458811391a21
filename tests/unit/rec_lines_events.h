/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_REC_LINES_EVENTS_H
#define JVMSCOPE_REC_LINES_EVENTS_H

/* The part of rec_lines.h for what happens at a moment: rows of samples that are of no CPU. */

static inline void rec_print_row_of(const struct recording *rec, const struct rec_sample *row,
				    FILE *out)
{
	const struct rec_total total = { .key = row->key, .count = 1, .value = row->value };

	fprintf(out, "row %" PRId64 " %" PRIx64 " %" PRIu64 " ", row->time_ns, row->address,
		row->timeout_ns);
	rec_print_total(rec, &total, out);
}

static inline void rec_lines_of_events(const struct recording *rec, struct rec_lines *to)
{
	size_t count;
	const struct rec_sample *rows = rec_samples(rec, &count);

	for (size_t i = 0; i < count; i++) {
		if (!rec_metric_info(rows[i].key.metric)->is_partly_sampled)
			continue;
		REC_LINE(to, out)
		rec_print_row_of(rec, &rows[i], out);
	}
}

#endif
