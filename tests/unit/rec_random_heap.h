/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_REC_RANDOM_HEAP_H
#define JVMSCOPE_REC_RANDOM_HEAP_H

#include "model/heap.h"

/* The part of rec_random.h for the Java heap. */

/* An object, or a total of some. */
static inline void random_object(struct rec_random *r, uint32_t jvm, bool with_rows)
{
	static const char *const classes[] = { "com.example.Foo", "byte[]", "com.example.Bar$1[][]",
					       "com.example.Foo$$Lambda", "java.lang.Object[]" };
	struct rec_sample sample = {
		.time_ns = rec_meta(r->rec)->start_time_ns + 1000 + random_below(r, 1000000),
		.key = { .metric = REC_HEAP_ALLOC,
			 .jvm = jvm,
			 .stack = random_stack(r),
			 .thread = 1 + random_below(r, rec_thread_count(r->rec)),
			 .label = random_text(r, RANDOM_OF(r, classes)) },
		.state = REC_STATE_IN_VM,
		.value = 1 + random_below(r, 1000000),
	};
	int64_t count = with_rows ? 1 : 1 + random_below(r, 5);
	struct rec_heap_class *class = rec_heap_class(r->rec, jvm, sample.key.label);

	sample.key.jvm = rec_thread_get(r->rec, sample.key.thread)->jvm;
	if (!random_below(r, 3))
		sample.object_bytes = 16 + random_below(r, 1000);
	if (sample.object_bytes && random_below(r, 2))
		sample.tlab_bytes = 1 + random_below(r, 1000000);
	rec_add(r->rec, &sample.key, count, sample.value);
	rec_sample(r->rec, &sample);
	if (!class)
		return;
	class->tlabs += random_below(r, 10);
	class->tlab_bytes += random_below(r, 1000000);
	class->inside_bytes += (uint64_t)sample.value;
	class->outside += random_below(r, 10);
	class->outside_bytes += random_below(r, 1000);
}

#endif
