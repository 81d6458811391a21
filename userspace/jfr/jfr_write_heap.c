/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map64.h"
#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/heap.h"

/*
 * Allocation in the Java heap. A sample is two events: what the JVM says of the object, and what it
 * stands for, which the JDK's own tools show by class, site and thread.
 */

static size_t begin(struct jfr_writer *w, const struct recording *rec, enum jfr_type_id type,
		    const struct rec_sample *sample)
{
	uint32_t thread = jfr_pools_thread(w->pools, rec, sample->key.thread);
	uint32_t stack = jfr_pools_stack(w->pools, rec, sample->key.stack);
	uint32_t class = jfr_pools_type(w->pools, rec, sample->key.label);
	size_t at = jfr_begin(w, type, sample->time_ns);

	jfr_put_long(&w->bytes, thread);
	jfr_put_long(&w->bytes, stack);
	jfr_put_long(&w->bytes, class);
	return at;
}

void jfr_put_allocation(struct jfr_writer *w, const struct recording *rec,
			const struct rec_sample *sample)
{
	size_t at;

	if (sample->object_bytes) {
		at = begin(w, rec,
			   sample->tlab_bytes ? JFR_OBJECT_ALLOCATION_IN_NEW_TLAB
					      : JFR_OBJECT_ALLOCATION_OUTSIDE_TLAB,
			   sample);
		jfr_put_long(&w->bytes, sample->object_bytes);
		if (sample->tlab_bytes)
			jfr_put_long(&w->bytes, sample->tlab_bytes);
		jfr_end_event(&w->bytes, at);
	}
	at = begin(w, rec, JFR_OBJECT_ALLOCATION_SAMPLE, sample);
	jfr_put_long(&w->bytes, (uint64_t)sample->value);
	jfr_end_event(&w->bytes, at);
}

void jfr_put_heap(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	for (uint32_t id = 1; id <= rec_heap_class_count(rec); id++) {
		const struct rec_heap_class *row = rec_heap_class_get(rec, id);
		size_t at;

		if (!jfr_is_news(w, &w->heap_classes, id, row, sizeof(*row)))
			continue;
		at = jfr_begin(w, JFR_HEAP_CLASS, end_ns);
		jfr_put_long(&w->bytes, jfr_pools_type(w->pools, rec, row->name));
		jfr_put_long(&w->bytes, jfr_pid_of(rec, row->jvm));
		jfr_put_long(&w->bytes, row->tlabs);
		jfr_put_long(&w->bytes, row->tlab_bytes);
		jfr_put_long(&w->bytes, row->inside_bytes);
		jfr_put_long(&w->bytes, row->outside);
		jfr_put_long(&w->bytes, row->outside_bytes);
		jfr_end_event(&w->bytes, at);
	}
}
