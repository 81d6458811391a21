/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/classes.h"
#include "model/gc.h"
#include "model/io.h"
#include "model/native.h"
#include "model/recording_impl.h"
#include "model/runtime.h"

#define DROPPED UINT32_MAX

/* A recording of which only methods, frames, stacks, totals and samples are made anew. */
struct edit {
	struct recording *from;
	struct recording *to;
	/* All owned; [old id]: the new id, 0 not made yet. */
	uint32_t *methods;
	uint32_t *frames;
	uint32_t *stacks; /* or DROPPED */
	uint32_t *buffer; /* owned; room for the deepest stack */
	rec_edit_fn *edit;
	void *ctx;
};

static uint32_t deepest(const struct recording *rec)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < rec->stacks_count; i++) {
		if (rec->stacks[i].count > depth)
			depth = rec->stacks[i].count;
	}
	return depth;
}

static int begin(struct edit *e)
{
	e->to = rec_new();
	e->methods = calloc((size_t)e->from->methods.count + 1, sizeof(*e->methods));
	e->frames = calloc((size_t)e->from->frames.count + 1, sizeof(*e->frames));
	e->stacks = calloc((size_t)e->from->stacks_count + 1, sizeof(*e->stacks));
	e->buffer = calloc((size_t)deepest(e->from) + 1, sizeof(*e->buffer));
	if (!e->to || !e->methods || !e->frames || !e->stacks || !e->buffer)
		return -ENOMEM;
	return 0;
}

static uint32_t new_method(struct edit *e, uint32_t old)
{
	uint32_t rule;

	if (old && !e->methods[old]) {
		e->methods[old] = rec_method(e->to, rec_method_get(e->from, old));
		if (rec_method_rule(e->from, old, &rule))
			rec_method_rule_set(e->to, e->methods[old], rule);
	}
	return e->methods[old];
}

static uint32_t new_frame(struct edit *e, uint32_t old)
{
	struct rec_frame frame;

	if (old && !e->frames[old]) {
		frame = *rec_frame_get(e->from, old);
		frame.method = new_method(e, frame.method);
		e->frames[old] = rec_frame(e->to, &frame);
	}
	return e->frames[old];
}

static uint32_t new_stack(struct edit *e, uint32_t old)
{
	struct rec_stack stack = rec_stack_get(e->from, old);
	size_t count = stack.count;
	bool stays;

	if (e->stacks[old])
		return e->stacks[old];
	if (count)
		memcpy(e->buffer, stack.frames, count * sizeof(*e->buffer));
	stays = e->edit(e->buffer, &count, e->ctx);
	if (!stays || !old)
		return stays ? 0 : (e->stacks[old] = DROPPED);
	for (size_t i = 0; i < count; i++)
		e->buffer[i] = new_frame(e, e->buffer[i]);
	e->stacks[old] = rec_stack(e->to, e->buffer, count, stack.state);
	return e->stacks[old];
}

/* Levels of stacks that have become one are added up, as sums are. */
static void add_total(struct edit *e, const struct rec_total *old)
{
	struct rec_total row = { .key = old->key }, *total;
	bool full;

	row.key.stack = new_stack(e, old->key.stack);
	if (row.key.stack == DROPPED)
		return;
	total = table_get(&e->to->totals,
			  rec_table_add(e->to, &e->to->totals, &row, UINT32_MAX, &full));
	if (!total)
		return;
	total->count = rec_sum(total->count, old->count);
	total->value = rec_sum(total->value, old->value);
	total->sampled_count = rec_sum(total->sampled_count, old->sampled_count);
	total->sampled_value = rec_sum(total->sampled_value, old->sampled_value);
}

static void add_sample(struct edit *e, const struct rec_sample *old)
{
	struct rec_sample row = *old;

	row.key.stack = new_stack(e, old->key.stack);
	if (row.key.stack != DROPPED)
		rec_sample_add(e->to, &row);
}

/* The stack stays what it is until all are made. */
static uint32_t make_stack(uint32_t stack, void *ctx)
{
	new_stack(ctx, stack);
	return stack;
}

/* What is dropped is a sample: a class that was loaded there stays, without its stack. */
static uint32_t change_stack(uint32_t stack, void *ctx)
{
	const struct edit *e = ctx;

	return e->stacks[stack] == DROPPED ? 0 : e->stacks[stack];
}

static uint32_t make_method(uint32_t method, void *ctx)
{
	new_method(ctx, method);
	return method;
}

static uint32_t change_method(uint32_t method, void *ctx)
{
	const struct edit *e = ctx;

	return e->methods[method];
}

static int add_all(struct edit *e)
{
	const struct rec_sample *samples;
	const struct rec_total *totals;
	size_t count;

	totals = rec_totals(e->from, &count);
	for (size_t i = 0; i < count && !rec_error(e->to); i++)
		add_total(e, &totals[i]);
	samples = rec_samples(e->from, &count);
	for (size_t i = 0; i < count && !rec_error(e->to); i++)
		add_sample(e, &samples[i]);
	rec_classes_each_stack(e->from, make_stack, e);
	rec_native_each_stack(e->from, make_stack, e);
	rec_runtime_each_stack(e->from, make_stack, e);
	rec_gc_each_stack(e->from, make_stack, e);
	rec_io_each_stack(e->from, make_stack, e);
	rec_runtime_each_method(e->from, make_method, e);
	return rec_error(e->to);
}

#define SWAP(a, b)                      \
	do {                            \
		__typeof__(a) a_ = (a); \
                                        \
		(a) = (b);              \
		(b) = a_;               \
	} while (0)

static void take_tables(struct recording *rec, struct recording *from)
{
	SWAP(rec->methods, from->methods);
	SWAP(rec->method_rules, from->method_rules);
	SWAP(rec->method_rules_count, from->method_rules_count);
	SWAP(rec->method_rules_capacity, from->method_rules_capacity);
	SWAP(rec->frames, from->frames);
	SWAP(rec->stacks, from->stacks);
	SWAP(rec->stacks_count, from->stacks_count);
	SWAP(rec->stacks_capacity, from->stacks_capacity);
	SWAP(rec->stack_frames, from->stack_frames);
	SWAP(rec->stack_frames_count, from->stack_frames_count);
	SWAP(rec->stack_frames_capacity, from->stack_frames_capacity);
	SWAP(rec->stacks_by_hash, from->stacks_by_hash);
	SWAP(rec->totals, from->totals);
	SWAP(rec->samples, from->samples);
	SWAP(rec->samples_count, from->samples_count);
	SWAP(rec->samples_capacity, from->samples_capacity);
}

#undef SWAP

int rec_edit_stacks(struct recording *rec, rec_edit_fn *edit, void *ctx)
{
	struct edit e = { .from = rec, .edit = edit, .ctx = ctx };
	int err = begin(&e);

	if (!err)
		err = add_all(&e);
	if (!err) {
		rec_classes_each_stack(rec, change_stack, &e);
		rec_native_each_stack(rec, change_stack, &e);
		rec_runtime_each_stack(rec, change_stack, &e);
		rec_gc_each_stack(rec, change_stack, &e);
		rec_io_each_stack(rec, change_stack, &e);
		rec_runtime_each_method(rec, change_method, &e);
		take_tables(rec, e.to);
	}
	rec_free(e.to);
	free(e.methods);
	free(e.frames);
	free(e.stacks);
	free(e.buffer);
	return err;
}
