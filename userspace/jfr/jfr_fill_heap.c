/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_fill_impl.h"
#include "model/heap.h"
#include "model/native.h"

/*
 * Allocation in the Java heap. Files have objects, those that begin a TLAB and those outside of
 * one, or samples with what each stands for, or both: of the JDK, where samples are throttled,
 * objects are the better ones. In our files both are of the same object, one behind the other.
 */

enum { TIME, THREAD, STACK, CLASS, SIZE, TLAB };

static struct jfr_raw_total key_of(const struct jfr_item *e, enum jfr_sample_kind kind)
{
	return (struct jfr_raw_total){
		.stack = jfr_number(e, STACK),
		.thread = jfr_number(e, THREAD),
		.state = jfr_number(e, CLASS),
		.kind = kind,
	};
}

static int64_t size_of(const struct jfr_item *e, unsigned int field)
{
	int64_t bytes = rec_bytes(jfr_number(e, field));

	return bytes < 0 ? 0 : bytes;
}

static void add_object(struct jfr_filler *f, const struct jfr_item *e, int64_t tlab)
{
	struct jfr_raw_total key = key_of(e, JFR_SAMPLE_OBJECT);
	struct jfr_raw_sample sample = { .time_ns = jfr_fill_time(e, TIME),
					 .object_bytes = (uint64_t)size_of(e, SIZE),
					 .tlab_bytes = (uint64_t)tlab };

	sample.value = tlab ? tlab : (int64_t)sample.object_bytes;
	if (f->is_ours) {
		f->object = sample;
		return;
	}
	f->objects++;
	jfr_fill_sample(f, e, &key, &sample);
}

void jfr_fill_new_tlab(void *ctx, const struct jfr_item *e)
{
	add_object(ctx, e, size_of(e, TLAB));
}

void jfr_fill_outside_tlab(void *ctx, const struct jfr_item *e)
{
	add_object(ctx, e, 0);
}

void jfr_fill_allocation_sample(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct jfr_raw_total key = key_of(e, JFR_SAMPLE_ALLOCATION);
	struct jfr_raw_sample sample = { .time_ns = jfr_fill_time(e, TIME),
					 .value = size_of(e, SIZE) };

	if (f->object.time_ns == sample.time_ns) {
		sample.object_bytes = f->object.object_bytes;
		sample.tlab_bytes = f->object.tlab_bytes;
	}
	f->object = (struct jfr_raw_sample){ 0 };
	jfr_fill_sample(f, e, &key, &sample);
}

/* Whether it is left out, which is counted. */
static bool is_beside_objects(struct jfr_filler *f, const struct jfr_raw_total *raw)
{
	if (raw->kind != JFR_SAMPLE_ALLOCATION || !f->objects)
		return false;
	rec_quality_add(f->rec, REC_QUALITY_INFO, "allocation_samples_beside_objects",
			(uint64_t)raw->count);
	return true;
}

bool jfr_fill_allocation_key(struct jfr_filler *f, const struct jfr_raw_total *raw,
			     struct rec_key *key)
{
	const struct rec_thread *thread;

	if (is_beside_objects(f, raw))
		return false;
	key->metric = REC_HEAP_ALLOC;
	key->stack = jfr_resolve_stack(&f->resolver, raw->stack);
	key->thread = jfr_resolve_thread(&f->resolver, raw->thread);
	key->label = jfr_resolve_type(&f->resolver, raw->state);
	thread = rec_thread_get(f->rec, key->thread);
	key->jvm = thread ? thread->jvm : f->resolver.jvm;
	rec_add(f->rec, key, raw->count, raw->value);
	return true;
}

enum { ROW_CLASS, ROW_PID, ROW_TLABS, ROW_TLAB_BYTES, ROW_INSIDE, ROW_OUTSIDE, ROW_OUTSIDE_BYTES };

void jfr_fill_heap_class(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	uint32_t jvm = jfr_fill_jvm_of(f, jfr_number(e, ROW_PID));
	struct rec_heap_class *row = rec_heap_class(
		f->rec, jvm, jfr_resolve_type(&f->resolver, jfr_number(e, ROW_CLASS)));

	if (!row)
		return;
	row->tlabs = (uint64_t)size_of(e, ROW_TLABS);
	row->tlab_bytes = (uint64_t)size_of(e, ROW_TLAB_BYTES);
	row->inside_bytes = (uint64_t)size_of(e, ROW_INSIDE);
	row->outside = (uint64_t)size_of(e, ROW_OUTSIDE);
	row->outside_bytes = (uint64_t)size_of(e, ROW_OUTSIDE_BYTES);
}
