/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_REC_LINES_GC_H
#define JVMSCOPE_REC_LINES_GC_H

#include "model/gc.h"

/* The part of rec_lines.h for collections, safepoints and VM operations. */

static inline void rec_print_space(const struct rec_gc_space *space, FILE *out)
{
	fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64, space->reserved, space->committed,
		space->used);
}

static inline void rec_print_collection(const struct recording *rec, uint32_t id, FILE *out)
{
	const struct rec_collection *c = rec_collection_get(rec, id);

	if (!c)
		return;
	fprintf(out,
		"collection %d %u [%s] [%s] %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " by ",
		c->numbered, c->gc_id, rec_text(rec, c->name), rec_text(rec, c->cause), c->time_ns,
		c->duration_ns, c->sum_of_pauses_ns, c->longest_pause_ns);
	rec_print_thread(rec, c->thread, out);
	for (int after = 0; after < 2; after++) {
		const struct rec_gc_heap *heap = &c->heap[after];
		const struct rec_gc_metaspace *m = &c->metaspace[after];

		fprintf(out, " heap %d %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64, heap->known,
			heap->start, heap->committed, heap->reserved, heap->used);
		fprintf(out, " metaspace %d %" PRIu64, m->known, m->threshold);
		rec_print_space(&m->all, out);
		rec_print_space(&m->data, out);
		rec_print_space(&m->class, out);
	}
	fputs(" of ", out);
	rec_print_jvm(rec, c->jvm, out);
}

static inline void rec_print_phase(const struct recording *rec, const struct rec_gc_phase *phase,
				   FILE *out)
{
	fprintf(out, "phase [%s] %u %d %" PRId64 " %" PRIu64 " of ", rec_text(rec, phase->name),
		phase->level, phase->concurrent, phase->time_ns, phase->duration_ns);
	rec_print_jvm(rec, phase->jvm, out);
	rec_print_collection(rec, phase->collection, out);
}

static inline void rec_print_safepoint(const struct recording *rec, const struct rec_safepoint *s,
				       FILE *out)
{
	fprintf(out,
		"safepoint %" PRIu64 " [%s] %u %u %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" by ",
		s->id, rec_text(rec, s->operation), s->threads, s->critical, s->time_ns,
		s->reach_ns, s->duration_ns, s->resume_ns);
	rec_print_thread(rec, s->thread, out);
	rec_print_jvm(rec, s->jvm, out);
}

static inline void rec_print_straggler(const struct recording *rec, const struct rec_straggler *s,
				       FILE *out)
{
	const struct rec_safepoint *safepoints;
	struct rec_stack stack = rec_stack_get(rec, s->stack);
	size_t count;

	safepoints = rec_safepoints(rec, &count);
	fprintf(out, "straggler %d %" PRIu64 " %d", s->sampled, s->late_ns, stack.state);
	for (size_t i = 0; i < stack.count; i++)
		rec_print_frame(rec, stack.frames[i], out);
	rec_print_thread(rec, s->thread, out);
	if (s->safepoint && s->safepoint <= count)
		rec_print_safepoint(rec, &safepoints[s->safepoint - 1], out);
	rec_print_jvm(rec, s->jvm, out);
}

static inline void rec_print_operation(const struct recording *rec,
				       const struct rec_vm_operation *op, FILE *out)
{
	fprintf(out, "operation [%s] %d %" PRIu64 " %" PRId64 " %" PRIu64 " by ",
		rec_text(rec, op->name), op->stops, op->safepoint, op->time_ns, op->duration_ns);
	rec_print_thread(rec, op->thread, out);
	fputs(" for ", out);
	rec_print_thread(rec, op->caller, out);
	rec_print_jvm(rec, op->jvm, out);
}

static inline void rec_lines_of_gc(const struct recording *rec, struct rec_lines *to)
{
	size_t phases, safepoints, stragglers, operations, counts;
	const struct rec_gc_phase *phase = rec_gc_phases(rec, &phases);
	const struct rec_safepoint *safepoint = rec_safepoints(rec, &safepoints);
	const struct rec_straggler *straggler = rec_stragglers(rec, &stragglers);
	const struct rec_vm_operation *operation = rec_vm_operations(rec, &operations);
	const struct rec_count *count = rec_vm_counts(rec, &counts);

	for (uint32_t id = 1; id <= rec_collection_count(rec); id++)
		REC_LINE(to, out)
	rec_print_collection(rec, id, out);
	for (size_t i = 0; i < phases; i++)
		REC_LINE(to, out)
	rec_print_phase(rec, &phase[i], out);
	for (size_t i = 0; i < safepoints; i++)
		REC_LINE(to, out)
	rec_print_safepoint(rec, &safepoint[i], out);
	for (size_t i = 0; i < stragglers; i++)
		REC_LINE(to, out)
	rec_print_straggler(rec, &straggler[i], out);
	for (size_t i = 0; i < operations; i++)
		REC_LINE(to, out)
	rec_print_operation(rec, &operation[i], out);
	for (size_t i = 0; i < counts; i++)
		REC_LINE(to, out)
		{
			fprintf(out, "vm count [%s] %" PRIu64 " of ", rec_text(rec, count[i].name),
				count[i].value);
			rec_print_jvm(rec, count[i].jvm, out);
		}
}

#endif
