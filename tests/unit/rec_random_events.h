/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_REC_RANDOM_EVENTS_H
#define JVMSCOPE_REC_RANDOM_EVENTS_H

#include "unit/rec_random_memory.h"

/* The part of rec_random.h for what happens at a moment: waits. */

/* Some are long enough for a row, others are a sum that no thread and no row is of. */
static inline void random_wait(struct rec_random *r, bool with_rows)
{
	static const enum rec_metric metrics[] = { REC_LOCK_WAIT, REC_OBJECT_WAIT, REC_PARK };
	static const char *const classes[] = { "com.example.Lock$1", "java.lang.Object[]", "byte[]",
					       "com.example.Foo$$Lambda", "" };
	struct rec_sample sample = {
		.time_ns = rec_meta(r->rec)->start_time_ns + random_below(r, 1000000),
		.key = { .metric = RANDOM_OF(r, metrics),
			 .stack = random_below(r, 10) ? random_stack(r) : 0,
			 .thread = 1 + random_below(r, rec_thread_count(r->rec)),
			 .label = random_text(r, RANDOM_OF(r, classes)) },
		.state = REC_STATE_BLOCKED,
		.value = 1 + random_below(r, 1000000),
		.address = (uint64_t)random_amount(r),
	};
	struct rec_key sum = sample.key;
	bool is_short = random_below(r, 2);

	sample.key.jvm = sum.jvm = rec_thread_get(r->rec, sample.key.thread)->jvm;
	if (sample.key.metric != REC_LOCK_WAIT && random_below(r, 2))
		sample.timeout_ns = (1 + random_below(r, 1000)) * 1000000ull;
	if (!is_short || !random_below(r, 3)) {
		rec_add(r->rec, &sample.key, 1, sample.value);
		rec_sample(r->rec, &sample);
	}
	if (!is_short && with_rows)
		return;
	if (random_below(r, 2))
		sum.thread = 0;
	rec_add(r->rec, &sum, 1 + random_below(r, 100), random_amount(r));
}

#endif
