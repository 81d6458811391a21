/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gc.h"

#include <errno.h>
#include <stdlib.h>

#include "model/recording_impl.h"

struct rec_gc {
	struct rec_rows collections;
	struct rec_rows phases;
	struct rec_rows safepoints;
	struct rec_rows stragglers;
	struct rec_rows operations;
	struct rec_rows counts;
};

#define ROWS(type, most, over)                                                       \
	{                                                                            \
		.row_size = sizeof(struct type), .max = (most), .over_limit = (over) \
	}

static const struct rec_gc nothing = {
	.collections = ROWS(rec_collection, REC_MAX_COLLECTIONS, "collections_over_limit"),
	.phases = ROWS(rec_gc_phase, REC_MAX_GC_PHASES, "gc_phases_over_limit"),
	.safepoints = ROWS(rec_safepoint, REC_MAX_SAFEPOINTS, "safepoints_over_limit"),
	.stragglers = ROWS(rec_straggler, REC_MAX_STRAGGLERS, "stragglers_over_limit"),
	.operations = ROWS(rec_vm_operation, REC_MAX_VM_OPERATIONS, "vm_operations_over_limit"),
	.counts = ROWS(rec_count, UINT32_MAX, NULL),
};

static struct rec_gc *gc_of(struct recording *rec)
{
	if (rec->gc)
		return rec->gc;
	rec->gc = malloc(sizeof(*rec->gc));
	if (!rec->gc) {
		rec->err = -ENOMEM;
		return NULL;
	}
	*rec->gc = nothing;
	return rec->gc;
}

bool rec_has_gc(const struct recording *rec)
{
	return rec->gc;
}

void rec_gc_free(struct rec_gc *gc)
{
	if (!gc)
		return;
	free(gc->collections.items);
	free(gc->phases.items);
	free(gc->safepoints.items);
	free(gc->stragglers.items);
	free(gc->operations.items);
	free(gc->counts.items);
	map64_free(&gc->counts.places);
	free(gc);
}

/* ---- rows */

uint32_t rec_collection(struct recording *rec, const struct rec_collection *collection)
{
	struct rec_gc *gc = gc_of(rec);
	struct rec_collection *row = gc ? rec_rows_add(rec, &gc->collections, 1) : NULL;

	if (!row)
		return 0;
	*row = *collection;
	return gc->collections.count;
}

struct rec_collection *rec_collection_get(const struct recording *rec, uint32_t id)
{
	if (!rec->gc || !id || id > rec->gc->collections.count)
		return NULL;
	return (struct rec_collection *)rec->gc->collections.items + (id - 1);
}

uint32_t rec_collection_count(const struct recording *rec)
{
	return rec->gc ? rec->gc->collections.count : 0;
}

uint32_t rec_gc_phase(struct recording *rec, const struct rec_gc_phase *phase)
{
	struct rec_gc *gc = gc_of(rec);
	struct rec_gc_phase *row = gc ? rec_rows_add(rec, &gc->phases, 1) : NULL;

	if (!row)
		return 0;
	*row = *phase;
	return gc->phases.count;
}

struct rec_gc_phase *rec_gc_phase_get(const struct recording *rec, uint32_t id)
{
	if (!rec->gc || !id || id > rec->gc->phases.count)
		return NULL;
	return (struct rec_gc_phase *)rec->gc->phases.items + (id - 1);
}

const struct rec_gc_phase *rec_gc_phases(const struct recording *rec, size_t *count)
{
	*count = rec->gc ? rec->gc->phases.count : 0;
	return rec->gc ? rec->gc->phases.items : NULL;
}

uint32_t rec_safepoint(struct recording *rec, const struct rec_safepoint *safepoint)
{
	struct rec_gc *gc = gc_of(rec);
	struct rec_safepoint *row = gc ? rec_rows_add(rec, &gc->safepoints, 1) : NULL;

	if (!row)
		return 0;
	*row = *safepoint;
	return gc->safepoints.count;
}

const struct rec_safepoint *rec_safepoints(const struct recording *rec, size_t *count)
{
	*count = rec->gc ? rec->gc->safepoints.count : 0;
	return rec->gc ? rec->gc->safepoints.items : NULL;
}

uint32_t rec_straggler(struct recording *rec, const struct rec_straggler *straggler)
{
	struct rec_gc *gc = gc_of(rec);
	struct rec_straggler *row = gc ? rec_rows_add(rec, &gc->stragglers, 1) : NULL;

	if (!row)
		return 0;
	*row = *straggler;
	return gc->stragglers.count;
}

const struct rec_straggler *rec_stragglers(const struct recording *rec, size_t *count)
{
	*count = rec->gc ? rec->gc->stragglers.count : 0;
	return rec->gc ? rec->gc->stragglers.items : NULL;
}

void rec_gc_each_stack(struct recording *rec, uint32_t (*change)(uint32_t stack, void *ctx),
		       void *ctx)
{
	struct rec_straggler *rows = rec->gc ? rec->gc->stragglers.items : NULL;

	for (uint32_t i = 0; rows && i < rec->gc->stragglers.count; i++)
		if (rows[i].stack)
			rows[i].stack = change(rows[i].stack, ctx);
}

uint32_t rec_vm_operation(struct recording *rec, const struct rec_vm_operation *operation)
{
	struct rec_gc *gc = gc_of(rec);
	struct rec_vm_operation *row = gc ? rec_rows_add(rec, &gc->operations, 1) : NULL;

	if (!row)
		return 0;
	*row = *operation;
	return gc->operations.count;
}

const struct rec_vm_operation *rec_vm_operations(const struct recording *rec, size_t *count)
{
	*count = rec->gc ? rec->gc->operations.count : 0;
	return rec->gc ? rec->gc->operations.items : NULL;
}

void rec_vm_count_set(struct recording *rec, uint32_t jvm, const char *name, uint64_t count)
{
	struct rec_gc *gc = gc_of(rec);

	if (gc)
		rec_count_set(rec, &gc->counts, jvm, name, count);
}

const struct rec_count *rec_vm_counts(const struct recording *rec, size_t *count)
{
	*count = rec->gc ? rec->gc->counts.count : 0;
	return rec->gc ? rec->gc->counts.items : NULL;
}

/* ---- pauses */

/* Durations of what is a pause, in a list that grows. */
struct durations {
	uint64_t *items; /* owned */
	size_t count;
	uint64_t total_ns;
};

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void add(struct durations *durations, uint64_t ns)
{
	durations->items[durations->count++] = ns;
	durations->total_ns += ns;
}

/* The value that is not exceeded by this share of them: the nearest rank. */
static uint64_t percentile(const struct durations *durations, size_t per_cent)
{
	size_t rank = (durations->count * per_cent + 99) / 100;

	return durations->items[rank ? rank - 1 : 0];
}

/* Also frees. */
static void summarize(struct durations *durations, struct rec_pauses *out)
{
	if (durations->count) {
		qsort(durations->items, durations->count, sizeof(*durations->items), by_size);
		*out = (struct rec_pauses){ .count = durations->count,
					    .total_ns = durations->total_ns,
					    .p50_ns = percentile(durations, 50),
					    .p99_ns = percentile(durations, 99),
					    .max_ns = durations->items[durations->count - 1] };
	}
	free(durations->items);
}

void rec_gc_pauses(const struct recording *rec, uint32_t jvm, struct rec_pauses *out)
{
	size_t count;
	const struct rec_gc_phase *phases = rec_gc_phases(rec, &count);
	struct durations pauses = { .items = count ? calloc(count, sizeof(uint64_t)) : NULL };

	*out = (struct rec_pauses){ 0 };
	for (size_t i = 0; pauses.items && i < count; i++)
		if ((!jvm || phases[i].jvm == jvm) && !phases[i].concurrent && !phases[i].level)
			add(&pauses, phases[i].duration_ns);
	summarize(&pauses, out);
}

void rec_safepoint_pauses(const struct recording *rec, uint32_t jvm, struct rec_pauses *out)
{
	size_t count;
	const struct rec_safepoint *safepoints = rec_safepoints(rec, &count);
	struct durations pauses = { .items = count ? calloc(count, sizeof(uint64_t)) : NULL };

	*out = (struct rec_pauses){ 0 };
	for (size_t i = 0; pauses.items && i < count; i++)
		if (!jvm || safepoints[i].jvm == jvm)
			add(&pauses, safepoints[i].duration_ns);
	summarize(&pauses, out);
}
