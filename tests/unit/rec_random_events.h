/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_REC_RANDOM_EVENTS_H
#define JVMSCOPE_REC_RANDOM_EVENTS_H

#include "model/runtime.h"
#include "unit/rec_random_gc.h"

/* The part of rec_random.h for what happens at a moment. */

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
	if (sample.key.metric != REC_PARK && random_below(r, 2))
		sample.by = 1 + random_below(r, rec_thread_count(r->rec));
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

static inline void random_moment_of(struct rec_random *r, bool with_rows)
{
	static const char *const classes[] = { "com.example.Bad", "java.lang.Error", "" };
	static const char *const reasons[] = { "null_check, maybe_recompile", "unloaded, none",
					       "bimorphic", "" };
	bool is_exception = random_below(r, 2);
	struct rec_sample sample = {
		.time_ns = rec_meta(r->rec)->start_time_ns + random_below(r, 1000000),
		.key = { .metric = is_exception ? REC_EXCEPTION : REC_DEOPTIMIZATION,
			 .stack = random_stack(r),
			 .thread = 1 + random_below(r, rec_thread_count(r->rec)),
			 .label = random_text(r, is_exception ? RANDOM_OF(r, classes)
							      : RANDOM_OF(r, reasons)) },
		.value = 1,
	};
	int64_t count = with_rows ? 1 : 1 + random_below(r, 9);

	sample.key.jvm = rec_thread_get(r->rec, sample.key.thread)->jvm;
	rec_add(r->rec, &sample.key, count, count);
	rec_sample(r->rec, &sample);
}

/* Of what there are no rows. */
static inline void random_sum(struct rec_random *r)
{
	static const enum rec_metric metrics[] = { REC_OFFCPU, REC_WAKEUP, REC_CLASS_LOAD };
	static const char *const labels[] = { "futex", "run queue", "main", "" };
	struct rec_key key = { .metric = RANDOM_OF(r, metrics),
			       .stack = random_stack(r),
			       .thread = 1 + random_below(r, rec_thread_count(r->rec)),
			       .label = random_text(r, RANDOM_OF(r, labels)) };

	key.jvm = rec_thread_get(r->rec, key.thread)->jvm;
	rec_add(r->rec, &key, 1 + random_below(r, 100), random_amount(r));
}

static inline void random_thread_event(struct rec_random *r)
{
	struct rec_thread_event row = {
		.thread = 1 + random_below(r, rec_thread_count(r->rec)),
		.ends = random_below(r, 2),
		.time_ns = random_moment(r),
	};

	row.jvm = rec_thread_get(r->rec, row.thread)->jvm;
	if (!row.ends) {
		row.parent = random_thread_of(r, row.jvm);
		row.stack = random_below(r, 4) ? random_stack(r) : 0;
	}
	rec_thread_event(r->rec, &row);
}

static inline void random_compilation(struct rec_random *r)
{
	struct rec_compilation row = {
		.thread = 1 + random_below(r, rec_thread_count(r->rec)),
		.method = random_below(r, 8) ? random_java_method(r) : 0,
		.compile_id = random_below(r, 1u << 20),
		.level = 1 + random_below(r, 4),
		.osr_bci = random_below(r, 2) ? (int32_t)random_below(r, 1000) : -1,
		.inlined_bytes = random_below(r, 10000),
		.outcome = (enum rec_compiled)random_below(r, 3),
		.time_ns = random_moment(r),
		.duration_ns = (uint64_t)random_amount(r),
	};

	if (row.outcome == REC_COMPILED)
		row.code_bytes = 1 + random_below(r, 100000);
	row.jvm = rec_thread_get(r->rec, row.thread)->jvm;
	rec_compilation(r->rec, &row);
}

static inline void random_events(struct rec_random *r, bool with_rows)
{
	for (uint32_t i = random_below(r, 50); i; i--)
		random_wait(r, with_rows);
	for (uint32_t i = random_below(r, 30); i; i--)
		random_moment_of(r, with_rows);
	for (uint32_t i = random_below(r, 30); i; i--)
		random_sum(r);
	for (uint32_t i = random_below(r, 10); i; i--)
		random_thread_event(r);
	for (uint32_t i = random_below(r, 10); i; i--)
		random_compilation(r);
}

#endif
