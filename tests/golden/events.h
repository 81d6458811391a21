/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_GOLDEN_EVENTS_H
#define JVMSCOPE_GOLDEN_EVENTS_H

#include "golden/recording.h"
#include "model/runtime.h"

/* Beside golden/recording.h: what happens at a moment, one of each kind. */

/* One that is long, and a sum of short ones. */
static inline void golden_waits(struct recording *to, int64_t start_ns)
{
	static const enum rec_metric metrics[] = { REC_LOCK_WAIT, REC_OBJECT_WAIT, REC_PARK };

	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		struct rec_sample sample = {
			.time_ns = start_ns + 1000 * (int64_t)i,
			.key = { .metric = metrics[i], .jvm = 1, .stack = 1, .thread = 1 },
			.state = REC_STATE_BLOCKED,
			.value = 20000000 + (int64_t)i,
			.address = 0x7f0012340000 + i,
			.timeout_ns = i ? 40000000 : 0,
			.by = i < 2 ? 2 : 0,
		};
		struct rec_key sum = { .metric = metrics[i], .jvm = 1 };

		sample.key.label = sum.label =
			golden_string(to, i ? "com.example.Lock" : "java.lang.Object[]");
		rec_add(to, &sample.key, 1, sample.value);
		rec_sample(to, &sample);
		rec_add(to, &sum, 7, 12345);
	}
}

static inline void golden_moments(struct recording *to, int64_t start_ns)
{
	struct rec_sample sample = {
		.time_ns = start_ns + 5000,
		.key = { .metric = REC_EXCEPTION, .jvm = 1, .stack = 1, .thread = 1 },
		.value = 1,
	};

	sample.key.label = golden_string(to, "com.example.Bad");
	rec_add(to, &sample.key, 1, 1);
	rec_sample(to, &sample);
	sample.key.metric = REC_DEOPTIMIZATION;
	sample.key.label = golden_string(to, "null_check, maybe_recompile");
	rec_add(to, &sample.key, 1, 1);
	rec_sample(to, &sample);
}

static inline void golden_off_cpu(struct recording *to)
{
	struct rec_key key = { .metric = REC_OFFCPU, .jvm = 1, .stack = 1, .thread = 1 };

	key.label = golden_string(to, "futex");
	rec_add(to, &key, 3, 90000000);
	key.metric = REC_WAKEUP;
	key.label = golden_string(to, "main");
	rec_add(to, &key, 2, 80000000);
}

static inline void golden_runtime(struct recording *to, int64_t start_ns)
{
	struct rec_thread_event event = { 1, 1, 2, 1, false, start_ns + 6000 };
	struct rec_compilation task = {
		.jvm = 1,
		.thread = 2,
		.method = rec_frame_get(to, rec_stack_get(to, 1).frames[0])->method,
		.compile_id = 42,
		.level = 4,
		.osr_bci = 17,
		.inlined_bytes = 300,
		.time_ns = start_ns + 7000,
		.duration_ns = 250000,
	};

	rec_thread_event(to, &event);
	event = (struct rec_thread_event){ 1, 1, 0, 0, true, start_ns + 8000 };
	rec_thread_event(to, &event);
	rec_compilation(to, &task);
	task = (struct rec_compilation){ .jvm = 1,
					 .thread = 2,
					 .compile_id = 43,
					 .level = 1,
					 .osr_bci = -1,
					 .time_ns = start_ns + 9000,
					 .duration_ns = 1 };
	rec_compilation(to, &task);
}

static inline void golden_events(struct recording *to)
{
	int64_t start_ns = rec_meta_get(to)->start_time_ns;

	golden_waits(to, start_ns);
	golden_moments(to, start_ns);
	golden_off_cpu(to);
	golden_runtime(to, start_ns);
}

#endif
