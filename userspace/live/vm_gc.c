/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "jvm/jvm.h"
#include "live/decode.h"
#include "live/process.h"
#include "live/vm_impl.h"
#include "model/recording.h"
#include "target/target.h"

/*
 * Collections: what the VM tells its tracer of one comes as records of their own, the facts of the
 * whole last. Several may run at the same time, each with a tracer of its own.
 */

/* Words of the VM's summaries. */
enum { HEAP_START = 1, HEAP_COMMITTED_END, HEAP_RESERVED_END, HEAP_USED };

static uint32_t string_of(struct recording *rec, const char *text)
{
	return rec_string(rec, text, strlen(text));
}

static void begin(struct vm_target *t, struct vm_collection *collection, uint64_t tracer)
{
	*collection = (struct vm_collection){ .tracer = tracer, .order = t->next_collection++ };
}

/* A place for one more: a free one, one that has ended, or the oldest, which then is not whole. */
static struct vm_collection *place_for_more(struct vm_target *t)
{
	struct vm_collection *oldest = &t->collections[0];

	for (int i = 0; i < VM_COLLECTIONS; i++) {
		struct vm_collection *collection = &t->collections[i];

		if (!collection->tracer)
			return collection;
		if (!collection->id == !oldest->id ? collection->order < oldest->order
						   : collection->id != 0)
			oldest = collection;
	}
	t->losses[VM_LOSS_PUSHED_OUT] += !oldest->id;
	return oldest;
}

/* The last collection of a tracer, begun when there was none. */
static struct vm_collection *find(struct vm_target *t, uint64_t tracer)
{
	struct vm_collection *collection;

	for (int i = 0; i < VM_COLLECTIONS; i++)
		if (t->collections[i].tracer == tracer)
			return &t->collections[i];
	collection = place_for_more(t);
	begin(t, collection, tracer);
	return collection;
}

/* The one that runs: that of a tracer that is used again, when its start was not seen. */
static struct vm_collection *find_running(struct vm_target *t, uint64_t tracer)
{
	struct vm_collection *collection = find(t, tracer);

	if (collection->id)
		begin(t, collection, tracer);
	return collection;
}

/* Whether a collection of that number began, or may have before the recording. */
static bool has_begun(const struct vm_target *t, uint32_t id)
{
	uint32_t before = t->newest_gc_id - id;

	return before >= 64 || !(t->begun_gc_ids >> before) || t->begun_gc_ids >> before & 1;
}

static void note_begun(struct vm_target *t, uint32_t id)
{
	uint32_t later = id - t->newest_gc_id;

	if (t->begun_gc_ids && id <= t->newest_gc_id) {
		t->begun_gc_ids |= 1ull << (t->newest_gc_id - id);
		return;
	}
	t->begun_gc_ids = later < 64 ? t->begun_gc_ids << later | 1 : 1;
	t->newest_gc_id = id;
}

/*
 * Where the kernel did not see a thread take its number, it sees the next one when a collection
 * tells its start, a little later. A concurrent one may lose its CPU between, and another take a
 * number and begin: then that number is seen twice, and the one below it, which is the first's,
 * never.
 */
static uint32_t number_of(struct vm_target *t, uint32_t next_id)
{
	uint32_t id = next_id - 1;

	if (id && t->begun_gc_ids && id == t->newest_gc_id && !has_begun(t, id - 1))
		id--;
	note_begun(t, id);
	return id;
}

static void take_start(struct vm_target *t, const struct jvs_gc_start *record)
{
	struct vm_collection *collection = find(t, record->tracer);

	/* What was left of the one before is of no use. */
	begin(t, collection, record->tracer);
	if (!record->next_id)
		return;
	collection->row.gc_id = number_of(t, record->next_id);
	collection->row.numbered = true;
}

/*
 * Where sizes before or after a collection go: ZGC of 21 and later tells what is left when the
 * collection has ended. Sizes from before it begin another, whose start was not seen.
 */
static struct rec_collection *row_for_sizes(struct vm_target *t, struct recording *rec,
					    const struct jvs_gc_summary *record)
{
	struct vm_collection *collection = find(t, record->tracer);
	struct rec_collection *ended =
		collection->id ? rec_collection_get(rec, collection->id) : NULL;

	if (!collection->id)
		return &collection->row;
	if (ended && record->after)
		return ended;
	begin(t, collection, record->tracer);
	return &collection->row;
}

static void take_heap(struct vm_target *t, struct recording *rec,
		      const struct jvs_gc_summary *record)
{
	struct rec_gc_heap *heap = &row_for_sizes(t, rec, record)->heap[record->after & 1];
	uint64_t start = record->words[HEAP_START];
	uint64_t committed = record->words[HEAP_COMMITTED_END];
	uint64_t reserved = record->words[HEAP_RESERVED_END];

	*heap = (struct rec_gc_heap){ .known = committed >= start && reserved >= committed,
				      .start = start,
				      .committed = committed - start,
				      .reserved = reserved - start,
				      .used = record->words[HEAP_USED] };
}

static struct rec_gc_space space_at(const __u64 *words, bool old)
{
	return (struct rec_gc_space){ .reserved = words[old ? 2 : 0],
				      .committed = words[old ? 0 : 1],
				      .used = words[old ? 1 : 2] };
}

/*
 * Behind the threshold: up to JDK 15 {committed, used, reserved} of all, of the data and of
 * classes; since then {reserved, committed, used} of all, of classes and of the data.
 */
static void take_metaspace(struct vm_target *t, struct recording *rec, int major,
			   const struct jvs_gc_summary *record)
{
	struct rec_gc_metaspace *to = &row_for_sizes(t, rec, record)->metaspace[record->after & 1];
	const __u64 *words = record->words;
	bool old = major < 16;
	struct rec_gc_space second = space_at(words + 4, old), third = space_at(words + 7, old);

	to->known = true;
	to->threshold = words[0];
	to->all = space_at(words + 1, old);
	to->data = old ? second : third;
	to->class = old ? third : second;
}

/* When the JVM's elapsed counter was 0. By what it says of itself, else by when it told. */
static void know_clock(struct vm_target *t, const struct process *p,
		       const struct jvs_gc_end *record)
{
	int64_t began_ns = (int64_t)(record->event.time_ns - record->end);
	uint64_t said;

	if (!t->clock_known && t->clock_address &&
	    !target_read_u64(p->target, t->clock_address, &said) && said) {
		t->clock_ns = (int64_t)said;
		t->clock_known = true;
	}
	if (!t->clock_known && (!t->clock_ns || began_ns < t->clock_ns))
		t->clock_ns = began_ns;
}

static void take_phase(struct vm_target *t, const struct process *p, struct recording *rec,
		       const struct jvs_gc_phase *record)
{
	struct vm_collection *collection = find_running(t, record->tracer);

	if (collection->phase_count == JVS_GC_PHASES)
		return;
	collection->phases[collection->phase_count++] = (struct rec_gc_phase){
		.jvm = p->rec_jvm,
		.name = rec_string(rec, record->name, strnlen(record->name, sizeof(record->name))),
		.level = record->level,
		.concurrent = record->concurrent,
		.time_ns = (int64_t)record->start,
		.duration_ns = record->end > record->start ? record->end - record->start : 0,
	};
}

static void take_end(struct vm_target *t, const struct decoder *d, struct process *p,
		     struct recording *rec, const struct jvs_gc_end *record)
{
	struct vm_collection *collection = find_running(t, record->tracer);
	int major = p->jvm ? jvm_major(p->jvm) : 0;
	int64_t zero_ns;
	uint32_t id;

	know_clock(t, p, record);
	zero_ns = d->epoch_ns + t->clock_ns;
	collection->row.jvm = p->rec_jvm;
	collection->row.thread = decode_thread(p, rec, &record->event);
	collection->row.name = string_of(rec, vm_gc_name(major, record->name));
	collection->row.cause = string_of(rec, vm_gc_cause(major, record->cause));
	collection->row.time_ns = zero_ns + (int64_t)record->start;
	collection->row.duration_ns = record->end > record->start ? record->end - record->start : 0;
	collection->row.sum_of_pauses_ns = record->sum_of_pauses;
	collection->row.longest_pause_ns = record->longest_pause;
	d->vm->collections++;
	d->vm->paused_ns += record->sum_of_pauses;
	id = rec_collection(rec, &collection->row);
	for (uint32_t i = 0; i < collection->phase_count; i++) {
		collection->phases[i].collection = id;
		collection->phases[i].time_ns += zero_ns;
		rec_gc_phase(rec, &collection->phases[i]);
	}
	collection->id = id;
	collection->phase_count = 0;
}

void vm_take_gc(struct vm_target *t, const struct decoder *d, struct process *p,
		struct recording *rec, const struct jvs_event *event)
{
	switch (event->kind) {
	case JVS_EVENT_GC_START:
		take_start(t, (const void *)event);
		break;
	case JVS_EVENT_GC_HEAP:
		take_heap(t, rec, (const void *)event);
		break;
	case JVS_EVENT_GC_METASPACE:
		take_metaspace(t, rec, p->jvm ? jvm_major(p->jvm) : 0, (const void *)event);
		break;
	case JVS_EVENT_GC_PHASE:
		take_phase(t, p, rec, (const void *)event);
		break;
	case JVS_EVENT_GC_END:
		take_end(t, d, p, rec, (const void *)event);
		break;
	}
}
