/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/jfr_fill_gc.h"
#include "model/gc.h"

/*
 * The part of jfr_fill.c for collections, safepoints and VM operations, of our files and others.
 *
 * A collection and its parts are events of their own with the same number, in any order and not
 * always in one chunk: a part is kept until the end of the file. So are the ends of safepoints.
 */

#define SIZES_MAX ((size_t)4 * REC_MAX_COLLECTIONS)

/* By the JVM's number, in a JVM; ids of rows in struct map64. */
static uint64_t key_of(uint32_t jvm, int64_t number)
{
	uint64_t words[] = { jvm, (uint64_t)number };

	return map64_hash(words, sizeof(words));
}

/* Of an event whose field at has the process; in files of others it is the one they are of. */
static uint32_t jvm_of(struct jfr_filler *f, const struct jfr_item *e, unsigned int at)
{
	jfr_fill_some_jvm(f);
	return jfr_has(e, at) ? jfr_fill_jvm_of(f, jfr_number(e, at)) : f->resolver.jvm;
}

static uint32_t thread_of(struct jfr_filler *f, const struct jfr_item *e, unsigned int at)
{
	return jfr_resolve_thread(&f->resolver, jfr_number(e, at));
}

static uint64_t span_of(const struct jfr_item *e, unsigned int at)
{
	int64_t ns = jfr_ns(e, at);

	return ns > 0 ? (uint64_t)ns : 0;
}

static void remember(struct jfr_filler *f, struct map64 *rows, uint64_t key, uint32_t id)
{
	if (map64_set(rows, key, id))
		f->err = -ENOMEM;
}

/* The first of one more row of a list; NULL when memory is out or there are too many. */
static void *add_row(struct jfr_filler *f, struct jfr_fill_rows *rows, size_t row_size, size_t max)
{
	if (rows->count == max)
		return NULL;
	if (rows->count == rows->capacity) {
		size_t capacity = rows->capacity ? 2 * rows->capacity : 256;
		void *larger = reallocarray(rows->items, capacity, row_size);

		if (!larger) {
			f->err = -ENOMEM;
			return NULL;
		}
		rows->items = larger;
		rows->capacity = capacity;
	}
	return (uint8_t *)rows->items + rows->count++ * row_size;
}

/* ---- collections */

enum {
	COLLECTION_TIME,
	COLLECTION_DURATION,
	COLLECTION_THREAD,
	COLLECTION_ID,
	COLLECTION_NAME,
	COLLECTION_CAUSE,
	COLLECTION_SUM,
	COLLECTION_LONGEST,
	COLLECTION_PID,
};

void jfr_fill_collection(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	int64_t number = jfr_number(e, COLLECTION_ID);
	struct rec_collection row = {
		.jvm = jvm_of(f, e, COLLECTION_PID),
		.gc_id = number < 0 ? 0 : (uint32_t)number,
		.numbered = number >= 0,
		.thread = thread_of(f, e, COLLECTION_THREAD),
		.name = jfr_fill_text(f, e, COLLECTION_NAME),
		.cause = jfr_fill_text(f, e, COLLECTION_CAUSE),
		.time_ns = jfr_fill_time(e, COLLECTION_TIME),
		.duration_ns = span_of(e, COLLECTION_DURATION),
		.sum_of_pauses_ns = span_of(e, COLLECTION_SUM),
		.longest_pause_ns = span_of(e, COLLECTION_LONGEST),
	};
	uint32_t id = rec_collection(f->rec, &row);

	if (id)
		remember(f, &f->gc.collections, key_of(row.jvm, number), id);
}

/* What a part says of a collection that may come later. */
struct sizes {
	uint64_t collection; /* key */
	bool after;
	struct rec_gc_heap heap;
	struct rec_gc_metaspace metaspace;
};

enum { SIZES_ID, SIZES_WHEN, SIZES_PID, SIZES_FIRST };

static struct sizes *add_sizes(struct jfr_filler *f, const struct jfr_item *e)
{
	struct sizes *sizes;
	bool after = jfr_text(e, SIZES_WHEN, &f->text) &&
		     !strncmp(strbuf_text(&f->text), "After", strlen("After"));

	sizes = add_row(f, &f->gc.sizes, sizeof(*sizes), SIZES_MAX);
	if (sizes)
		*sizes = (struct sizes){
			.collection = key_of(jvm_of(f, e, SIZES_PID), jfr_number(e, SIZES_ID)),
			.after = after,
		};
	return sizes;
}

void jfr_fill_gc_heap(void *ctx, const struct jfr_item *e)
{
	struct sizes *sizes = add_sizes(ctx, e);

	if (sizes)
		sizes->heap = (struct rec_gc_heap){
			.known = true,
			.start = (uint64_t)jfr_number(e, SIZES_FIRST),
			.committed = (uint64_t)jfr_number(e, SIZES_FIRST + 1),
			.reserved = (uint64_t)jfr_number(e, SIZES_FIRST + 2),
			.used = (uint64_t)jfr_number(e, SIZES_FIRST + 3),
		};
}

static struct rec_gc_space space_at(const struct jfr_item *e, unsigned int at)
{
	return (struct rec_gc_space){ .reserved = (uint64_t)jfr_number(e, at),
				      .committed = (uint64_t)jfr_number(e, at + 1),
				      .used = (uint64_t)jfr_number(e, at + 2) };
}

void jfr_fill_gc_metaspace(void *ctx, const struct jfr_item *e)
{
	struct sizes *sizes = add_sizes(ctx, e);

	if (sizes)
		sizes->metaspace = (struct rec_gc_metaspace){
			.known = true,
			.threshold = (uint64_t)jfr_number(e, SIZES_FIRST),
			.all = space_at(e, SIZES_FIRST + 1),
			.data = space_at(e, SIZES_FIRST + 4),
			.class = space_at(e, SIZES_FIRST + 7),
		};
}

/* Whose phase a row of the recording is. */
struct phase_of {
	uint64_t collection; /* key */
	uint32_t phase;
};

enum { PHASE_TIME, PHASE_DURATION, PHASE_ID, PHASE_NAME, PHASE_PID };

static void add_phase(struct jfr_filler *f, const struct jfr_item *e, bool concurrent,
		      uint32_t level)
{
	const struct rec_gc_phase row = {
		.jvm = jvm_of(f, e, PHASE_PID),
		.name = jfr_fill_text(f, e, PHASE_NAME),
		.level = level,
		.concurrent = concurrent,
		.time_ns = jfr_fill_time(e, PHASE_TIME),
		.duration_ns = span_of(e, PHASE_DURATION),
	};
	uint32_t id = rec_gc_phase(f->rec, &row);
	struct phase_of *of;

	of = id ? add_row(f, &f->gc.phases, sizeof(*of), REC_MAX_GC_PHASES) : NULL;
	if (of)
		*of = (struct phase_of){ key_of(row.jvm, jfr_number(e, PHASE_ID)), id };
}

void jfr_fill_gc_pause(void *ctx, const struct jfr_item *e)
{
	add_phase(ctx, e, false, 0);
}

void jfr_fill_gc_pause_level1(void *ctx, const struct jfr_item *e)
{
	add_phase(ctx, e, false, 1);
}

void jfr_fill_gc_pause_level2(void *ctx, const struct jfr_item *e)
{
	add_phase(ctx, e, false, 2);
}

void jfr_fill_gc_pause_level3(void *ctx, const struct jfr_item *e)
{
	add_phase(ctx, e, false, 3);
}

void jfr_fill_gc_pause_level4(void *ctx, const struct jfr_item *e)
{
	add_phase(ctx, e, false, 4);
}

void jfr_fill_gc_concurrent(void *ctx, const struct jfr_item *e)
{
	add_phase(ctx, e, true, 0);
}

void jfr_fill_gc_concurrent_level1(void *ctx, const struct jfr_item *e)
{
	add_phase(ctx, e, true, 1);
}

void jfr_fill_gc_concurrent_level2(void *ctx, const struct jfr_item *e)
{
	add_phase(ctx, e, true, 2);
}

/* Each part to its collection; what belongs to none that ended is of no use, but for phases. */
static void finish_collections(struct jfr_filler *f)
{
	const struct sizes *sizes = f->gc.sizes.items;
	const struct phase_of *of = f->gc.phases.items;
	uint32_t id;

	for (size_t i = 0; i < f->gc.sizes.count; i++, sizes++) {
		struct rec_collection *row;

		if (!map64_get(&f->gc.collections, sizes->collection, &id))
			continue;
		row = rec_collection_get(f->rec, id);
		if (sizes->heap.known)
			row->heap[sizes->after] = sizes->heap;
		else
			row->metaspace[sizes->after] = sizes->metaspace;
	}
	for (size_t i = 0; i < f->gc.phases.count; i++, of++)
		if (map64_get(&f->gc.collections, of->collection, &id))
			rec_gc_phase_get(f->rec, of->phase)->collection = id;
}

/* ---- safepoints and VM operations */

/* A safepoint, from its events as they come. */
struct safepoint {
	struct rec_safepoint row;
	bool begun;
	bool ended;
	int64_t end_ns;
	uint32_t id; /* its row of the recording, at the end */
};

enum { BEGIN_TIME, BEGIN_DURATION, BEGIN_THREAD, BEGIN_ID, BEGIN_THREADS, BEGIN_JNI, BEGIN_PID };

/* Those without a number are not told apart: each begins one, and ends the one that began. */
static struct safepoint *find_safepoint(struct jfr_filler *f, uint32_t jvm, int64_t number,
					bool begins)
{
	uint64_t key = key_of(jvm, number);
	struct safepoint *row;
	uint32_t id;

	if ((number || !begins) && map64_get(&f->gc.safepoints, key, &id))
		return (struct safepoint *)f->gc.points.items + id;
	row = add_row(f, &f->gc.points, sizeof(*row), REC_MAX_SAFEPOINTS);
	if (!row)
		return NULL;
	*row = (struct safepoint){ .row = { .jvm = jvm, .id = (uint64_t)number } };
	remember(f, &f->gc.safepoints, key, (uint32_t)(f->gc.points.count - 1));
	return row;
}

/* What no number of threads is, the JDK writes as the least one. */
static uint32_t threads_at(const struct jfr_item *e, unsigned int at)
{
	int64_t count = jfr_number(e, at);

	return count > 0 ? (uint32_t)count : 0;
}

void jfr_fill_safepoint_begin(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct safepoint *to =
		find_safepoint(f, jvm_of(f, e, BEGIN_PID), jfr_number(e, BEGIN_ID), true);

	if (!to)
		return;
	to->begun = true;
	to->row.time_ns = jfr_fill_time(e, BEGIN_TIME);
	to->row.reach_ns = span_of(e, BEGIN_DURATION);
	to->row.thread = thread_of(f, e, BEGIN_THREAD);
	to->row.threads = threads_at(e, BEGIN_THREADS);
	to->row.critical = threads_at(e, BEGIN_JNI);
}

enum { END_TIME, END_DURATION, END_ID, END_PID };

void jfr_fill_safepoint_end(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct safepoint *to =
		find_safepoint(f, jvm_of(f, e, END_PID), jfr_number(e, END_ID), false);

	if (!to)
		return;
	to->ended = true;
	to->row.resume_ns = span_of(e, END_DURATION);
	to->end_ns = rec_sum(jfr_fill_time(e, END_TIME), jfr_ns(e, END_DURATION));
}

/* Whose it is comes maybe later. */
struct straggler {
	uint64_t safepoint; /* key */
	struct rec_straggler row;
};

enum { LATE_NS, LATE_THREAD, LATE_STACK, LATE_SAFEPOINT, LATE_SAMPLED, LATE_PID };

void jfr_fill_straggler(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	const struct rec_straggler row = {
		.jvm = jvm_of(f, e, LATE_PID),
		.thread = thread_of(f, e, LATE_THREAD),
		.stack = jfr_resolve_stack(&f->resolver, jfr_number(e, LATE_STACK)),
		.sampled = jfr_number(e, LATE_SAMPLED),
		.late_ns = span_of(e, LATE_NS),
	};
	struct straggler *to = add_row(f, &f->gc.stragglers, sizeof(*to), REC_MAX_STRAGGLERS);

	if (to)
		*to = (struct straggler){ key_of(row.jvm, jfr_number(e, LATE_SAFEPOINT)), row };
}

enum { OP_TIME, OP_DURATION, OP_THREAD, OP_NAME, OP_STOPS, OP_CALLER, OP_SAFEPOINT, OP_PID };

void jfr_fill_vm_operation(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	const struct rec_vm_operation row = {
		.jvm = jvm_of(f, e, OP_PID),
		.name = jfr_fill_text(f, e, OP_NAME),
		.thread = thread_of(f, e, OP_THREAD),
		.caller = thread_of(f, e, OP_CALLER),
		.stops = jfr_number(e, OP_STOPS),
		.safepoint = (uint64_t)jfr_number(e, OP_SAFEPOINT),
		.time_ns = jfr_fill_time(e, OP_TIME),
		.duration_ns = span_of(e, OP_DURATION),
	};

	rec_vm_operation(f->rec, &row);
}

/* The first operation of each safepoint names it; the last one ends it where nothing else does. */
static void finish_operations(struct jfr_filler *f)
{
	size_t count;
	const struct rec_vm_operation *op = rec_vm_operations(f->rec, &count);
	struct safepoint *all = f->gc.points.items;

	for (size_t i = 0; i < count; i++, op++) {
		int64_t end_ns = rec_sum(op->time_ns, (int64_t)op->duration_ns);
		struct safepoint *of;
		uint32_t id;

		if (!op->stops || !op->safepoint ||
		    !map64_get(&f->gc.safepoints, key_of(op->jvm, (int64_t)op->safepoint), &id))
			continue;
		of = &all[id];
		if (!of->row.operation)
			of->row.operation = op->name;
		if (!of->ended && of->end_ns < end_ns)
			of->end_ns = end_ns;
	}
}

static void finish_stragglers(struct jfr_filler *f)
{
	const struct safepoint *points = f->gc.points.items;
	const struct straggler *from = f->gc.stragglers.items;

	for (size_t i = 0; i < f->gc.stragglers.count; i++, from++) {
		struct rec_straggler row = from->row;
		uint32_t at;

		if (map64_get(&f->gc.safepoints, from->safepoint, &at))
			row.safepoint = points[at].id;
		rec_straggler(f->rec, &row);
	}
}

static void finish_safepoints(struct jfr_filler *f)
{
	struct safepoint *from = f->gc.points.items;

	finish_operations(f);
	for (size_t i = 0; i < f->gc.points.count; i++, from++) {
		struct rec_safepoint row = from->row;
		int64_t least_ns = rec_sum(row.time_ns, (int64_t)row.reach_ns);
		int64_t end_ns = from->end_ns > least_ns ? from->end_ns : least_ns;

		if (!from->begun)
			continue;
		row.duration_ns = (uint64_t)end_ns - (uint64_t)row.time_ns;
		if (row.resume_ns > row.duration_ns)
			row.resume_ns = row.duration_ns;
		from->id = rec_safepoint(f->rec, &row);
	}
	finish_stragglers(f);
}

/* ---- what was counted, and the end */

void jfr_fill_vm_count(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	uint32_t jvm = jfr_fill_jvm_of(f, jfr_number(e, 0));

	if (jvm && jfr_text(e, 1, &f->text))
		rec_vm_count_set(f->rec, jvm, strbuf_text(&f->text), (uint64_t)jfr_number(e, 2));
}

void jfr_fill_gc_end(struct jfr_filler *f)
{
	finish_collections(f);
	finish_safepoints(f);
}

void jfr_fill_gc_free(struct jfr_filler *f)
{
	map64_free(&f->gc.collections);
	map64_free(&f->gc.safepoints);
	free(f->gc.sizes.items);
	free(f->gc.phases.items);
	free(f->gc.points.items);
	free(f->gc.stragglers.items);
}
