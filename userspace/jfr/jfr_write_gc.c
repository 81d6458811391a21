/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/gc.h"

/*
 * Events of collections, safepoints and VM operations. A segment has those that ended in it, and
 * sizes that became known in it: ZGC tells what is left after the end.
 */

/* What was said of a collection. */
enum said {
	SAID_COLLECTION = 1,
	SAID_HEAP = 2,	    /* and after it, the next bit */
	SAID_METASPACE = 8, /* the same */
};

static void put_long(struct jfr_writer *w, uint64_t value)
{
	jfr_put_long(&w->bytes, value);
}

/* ---- collections */

/* One without a number has one that is no other's. */
static int32_t gc_id_of(const struct recording *rec, uint32_t id)
{
	const struct rec_collection *row = rec_collection_get(rec, id);

	if (!row)
		return -1;
	return row->numbered ? (int32_t)row->gc_id : -1 - (int32_t)id;
}

static int64_t end_of(const struct rec_collection *row)
{
	return rec_sum(row->time_ns, (int64_t)row->duration_ns);
}

/* The same again by the generation, where the JDK has an event for that. */
static void put_generation(struct jfr_writer *w, const struct recording *rec, uint32_t id)
{
	static const struct {
		const char *name;
		enum jfr_type_id type;
	} types[] = {
		{ "ParallelScavenge", JFR_YOUNG_GARBAGE_COLLECTION },
		{ "DefNew", JFR_YOUNG_GARBAGE_COLLECTION },
		{ "ParNew", JFR_YOUNG_GARBAGE_COLLECTION },
		{ "G1New", JFR_YOUNG_GARBAGE_COLLECTION },
		{ "ParallelOld", JFR_OLD_GARBAGE_COLLECTION },
		{ "PSMarkSweep", JFR_OLD_GARBAGE_COLLECTION },
		{ "SerialOld", JFR_OLD_GARBAGE_COLLECTION },
		{ "ConcurrentMarkSweep", JFR_OLD_GARBAGE_COLLECTION },
		{ "G1Old", JFR_OLD_GARBAGE_COLLECTION },
		{ "G1Full", JFR_OLD_GARBAGE_COLLECTION },
	};
	const struct rec_collection *row = rec_collection_get(rec, id);
	size_t at, i = 0;

	while (i < sizeof(types) / sizeof(types[0]) &&
	       strcmp(rec_text(rec, row->name), types[i].name) != 0)
		i++;
	if (i == sizeof(types) / sizeof(types[0]))
		return;
	at = jfr_begin(w, types[i].type, row->time_ns);
	put_long(w, row->duration_ns);
	jfr_put_int(&w->bytes, gc_id_of(rec, id));
	if (types[i].type == JFR_YOUNG_GARBAGE_COLLECTION)
		jfr_put_int(&w->bytes, INT32_MIN); /* the threshold of tenuring is not known */
	put_long(w, jfr_pid_of(rec, row->jvm));
	jfr_end_event(&w->bytes, at);
}

static void put_collection(struct jfr_writer *w, const struct recording *rec, uint32_t id)
{
	const struct rec_collection *row = rec_collection_get(rec, id);
	size_t at = jfr_begin(w, JFR_GARBAGE_COLLECTION, row->time_ns);

	put_long(w, row->duration_ns);
	put_long(w, jfr_pools_thread(w->pools, rec, row->thread));
	jfr_put_int(&w->bytes, gc_id_of(rec, id));
	put_long(w, jfr_pools_word(w->pools, JFR_GC_NAME, rec_text(rec, row->name)));
	put_long(w, jfr_pools_word(w->pools, JFR_GC_CAUSE, rec_text(rec, row->cause)));
	put_long(w, row->sum_of_pauses_ns);
	put_long(w, row->longest_pause_ns);
	put_long(w, jfr_pid_of(rec, row->jvm));
	jfr_end_event(&w->bytes, at);
	put_generation(w, rec, id);
}

static size_t begin_summary(struct jfr_writer *w, const struct recording *rec, uint32_t id,
			    enum jfr_type_id type, bool after)
{
	const struct rec_collection *row = rec_collection_get(rec, id);
	size_t at = jfr_begin(w, type, after ? end_of(row) : row->time_ns);

	jfr_put_int(&w->bytes, gc_id_of(rec, id));
	put_long(w, jfr_pools_gc_when(w->pools, after));
	return at;
}

static void end_summary(struct jfr_writer *w, const struct recording *rec, uint32_t id, size_t at)
{
	put_long(w, jfr_pid_of(rec, rec_collection_get(rec, id)->jvm));
	jfr_end_event(&w->bytes, at);
}

static void put_heap(struct jfr_writer *w, const struct recording *rec, uint32_t id, bool after)
{
	const struct rec_gc_heap *heap = &rec_collection_get(rec, id)->heap[after];
	size_t at = begin_summary(w, rec, id, JFR_GC_HEAP_SUMMARY, after);

	put_long(w, heap->start);
	put_long(w, heap->start + heap->committed);
	put_long(w, heap->committed);
	put_long(w, heap->start + heap->reserved);
	put_long(w, heap->reserved);
	put_long(w, heap->used);
	end_summary(w, rec, id, at);
}

static void put_space(struct jfr_writer *w, const struct rec_gc_space *space)
{
	put_long(w, space->committed);
	put_long(w, space->used);
	put_long(w, space->reserved);
}

static void put_metaspace(struct jfr_writer *w, const struct recording *rec, uint32_t id,
			  bool after)
{
	const struct rec_gc_metaspace *space = &rec_collection_get(rec, id)->metaspace[after];
	size_t at = begin_summary(w, rec, id, JFR_METASPACE_SUMMARY, after);

	put_long(w, space->threshold);
	put_space(w, &space->all);
	put_space(w, &space->data);
	put_space(w, &space->class);
	end_summary(w, rec, id, at);
}

static void put_sizes(struct jfr_writer *w, const struct recording *rec, uint32_t id, uint8_t *said)
{
	const struct rec_collection *row = rec_collection_get(rec, id);

	for (int after = 0; after < 2; after++) {
		if (row->heap[after].known && !(*said & SAID_HEAP << after)) {
			put_heap(w, rec, id, after);
			*said |= SAID_HEAP << after;
		}
		if (row->metaspace[after].known && !(*said & SAID_METASPACE << after)) {
			put_metaspace(w, rec, id, after);
			*said |= SAID_METASPACE << after;
		}
	}
}

static void put_collections(struct jfr_writer *w, const struct recording *rec)
{
	uint32_t count = rec_collection_count(rec);
	uint8_t *said = jfr_reach(w, w->collections, &w->collection_capacity, count, sizeof(*said));

	if (!said)
		return;
	w->collections = said;
	for (uint32_t id = 1; id <= count; id++) {
		if (!(said[id] & SAID_COLLECTION))
			put_collection(w, rec, id);
		said[id] |= SAID_COLLECTION;
		put_sizes(w, rec, id, &said[id]);
	}
}

/* Those of levels that the JDK has no event for are left out. */
static void put_phase(struct jfr_writer *w, const struct recording *rec,
		      const struct rec_gc_phase *phase)
{
	const struct rec_collection *row = rec_collection_get(rec, phase->collection);
	enum jfr_type_id first = phase->concurrent ? JFR_GC_PHASE_CONCURRENT : JFR_GC_PHASE_PAUSE;
	enum jfr_type_id last =
		phase->concurrent ? JFR_GC_PHASE_CONCURRENT_LEVEL2 : JFR_GC_PHASE_PAUSE_LEVEL4;
	size_t at;

	if (phase->level > last - first)
		return;
	at = jfr_begin(w, first + phase->level, phase->time_ns);
	put_long(w, phase->duration_ns);
	put_long(w, jfr_pools_thread(w->pools, rec, row ? row->thread : 0));
	jfr_put_int(&w->bytes, gc_id_of(rec, phase->collection));
	jfr_put_text(&w->bytes, phase->name ? rec_text(rec, phase->name) : NULL);
	put_long(w, jfr_pid_of(rec, phase->jvm));
	jfr_end_event(&w->bytes, at);
}

static void put_phases(struct jfr_writer *w, const struct recording *rec)
{
	size_t count;
	const struct rec_gc_phase *phases = rec_gc_phases(rec, &count);

	for (; w->gc_phases < count; w->gc_phases++)
		put_phase(w, rec, &phases[w->gc_phases]);
}

/* ---- safepoints and VM operations */

/* What the three events of a safepoint begin with, behind their time. */
static size_t begin_safepoint(struct jfr_writer *w, const struct recording *rec,
			      const struct rec_safepoint *row, enum jfr_type_id type)
{
	bool ends = type == JFR_SAFEPOINT_END;
	uint64_t until_resume_ns = row->duration_ns - row->resume_ns;
	size_t at = jfr_begin(
		w, type, ends ? rec_sum(row->time_ns, (int64_t)until_resume_ns) : row->time_ns);

	put_long(w, ends ? row->resume_ns : row->reach_ns);
	put_long(w, jfr_pools_thread(w->pools, rec, row->thread));
	put_long(w, row->id);
	return at;
}

static void put_safepoint(struct jfr_writer *w, const struct recording *rec,
			  const struct rec_safepoint *row)
{
	size_t at = begin_safepoint(w, rec, row, JFR_SAFEPOINT_BEGIN);

	jfr_put_int(&w->bytes, (int32_t)row->threads);
	jfr_put_int(&w->bytes, (int32_t)row->critical);
	put_long(w, jfr_pid_of(rec, row->jvm));
	jfr_end_event(&w->bytes, at);

	if (row->reach_ns) {
		at = begin_safepoint(w, rec, row, JFR_SAFEPOINT_STATE_SYNCHRONIZATION);
		for (int i = 0; i < 3; i++)
			jfr_put_int(&w->bytes, INT32_MIN); /* threads and iterations: not known */
		put_long(w, jfr_pid_of(rec, row->jvm));
		jfr_end_event(&w->bytes, at);
	}

	at = begin_safepoint(w, rec, row, JFR_SAFEPOINT_END);
	put_long(w, jfr_pid_of(rec, row->jvm));
	jfr_end_event(&w->bytes, at);
}

/* One of a safepoint that is not in the recording has no time. */
static void put_straggler(struct jfr_writer *w, const struct recording *rec,
			  const struct rec_straggler *row)
{
	size_t count, at;
	const struct rec_safepoint *safepoints = rec_safepoints(rec, &count);
	const struct rec_safepoint *of = row->safepoint ? &safepoints[row->safepoint - 1] : NULL;

	if (!of)
		return;
	at = jfr_begin(w, JFR_STRAGGLER, of->time_ns);
	put_long(w, row->late_ns);
	put_long(w, jfr_pools_thread(w->pools, rec, row->thread));
	put_long(w, jfr_pools_stack(w->pools, rec, row->stack));
	put_long(w, of->id);
	jfr_put_byte(&w->bytes, row->sampled);
	put_long(w, jfr_pid_of(rec, row->jvm));
	jfr_end_event(&w->bytes, at);
}

static void put_operation(struct jfr_writer *w, const struct recording *rec,
			  const struct rec_vm_operation *row)
{
	size_t at = jfr_begin(w, JFR_EXECUTE_VM_OPERATION, row->time_ns);

	put_long(w, row->duration_ns);
	put_long(w, jfr_pools_thread(w->pools, rec, row->thread));
	put_long(w, jfr_pools_word(w->pools, JFR_VM_OPERATION_TYPE, rec_text(rec, row->name)));
	jfr_put_byte(&w->bytes, row->stops);
	jfr_put_byte(&w->bytes, 1); /* who asks waits: JDK 11 alone has some that do not */
	put_long(w, jfr_pools_thread(w->pools, rec, row->caller));
	put_long(w, row->safepoint);
	put_long(w, jfr_pid_of(rec, row->jvm));
	jfr_end_event(&w->bytes, at);
}

static void put_safepoints(struct jfr_writer *w, const struct recording *rec)
{
	size_t count;
	const struct rec_safepoint *safepoints = rec_safepoints(rec, &count);
	const struct rec_straggler *stragglers;
	const struct rec_vm_operation *operations;

	for (; w->safepoints < count; w->safepoints++)
		put_safepoint(w, rec, &safepoints[w->safepoints]);
	stragglers = rec_stragglers(rec, &count);
	for (; w->stragglers < count; w->stragglers++)
		put_straggler(w, rec, &stragglers[w->stragglers]);
	operations = rec_vm_operations(rec, &count);
	for (; w->vm_operations < count; w->vm_operations++)
		put_operation(w, rec, &operations[w->vm_operations]);
}

/* ---- what was counted */

static void put_counts(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	size_t count, at;
	const struct rec_count *counts = rec_vm_counts(rec, &count);

	for (size_t i = 0; i < count; i++) {
		if (!jfr_is_news(w, &w->vm_counts, i, &counts[i], sizeof(counts[i])))
			continue;
		at = jfr_begin(w, JFR_VM_COUNT, end_ns);
		put_long(w, jfr_pid_of(rec, counts[i].jvm));
		jfr_put_text(&w->bytes, rec_text(rec, counts[i].name));
		put_long(w, counts[i].value);
		jfr_end_event(&w->bytes, at);
	}
}

void jfr_put_gc(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	if (!rec_has_gc(rec))
		return;
	put_collections(w, rec);
	put_phases(w, rec);
	put_safepoints(w, rec);
	put_counts(w, rec, end_ns);
}

void jfr_free_gc(struct jfr_writer *w)
{
	free(w->collections);
	free(w->vm_counts.hashes);
}
