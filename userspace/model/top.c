/* SPDX-License-Identifier: Apache-2.0 */
#include "model/top.h"

#include <errno.h>
#include <stdlib.h>

/* What is counted while walking, freed as one. */
struct tally {
	int64_t *by_stack;    /* [stack id] */
	struct top_row *rows; /* [method id] */
	uint32_t *seen_in;    /* [method id]: the last stack that counted it */
};

static int tally_new(const struct recording *rec, struct tally *out)
{
	size_t methods = (size_t)rec_method_count(rec) + 1;
	struct tally tally = {
		.by_stack = calloc((size_t)rec_stack_count(rec) + 1, sizeof(*tally.by_stack)),
		.rows = calloc(methods, sizeof(*tally.rows)),
		.seen_in = calloc(methods, sizeof(*tally.seen_in)),
	};

	*out = tally;
	return tally.by_stack && tally.rows && tally.seen_in ? 0 : -ENOMEM;
}

static void tally_free(struct tally *tally)
{
	free(tally->by_stack);
	free(tally->rows);
	free(tally->seen_in);
}

static int64_t count_stacks(const struct recording *rec, enum rec_metric metric, int64_t *by_stack)
{
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);
	int64_t all = 0, amount;

	for (size_t i = 0; i < count; i++) {
		if (totals[i].key.metric != metric)
			continue;
		amount = metric == REC_CPU ? totals[i].count : totals[i].value;
		by_stack[totals[i].key.stack] += amount;
		all += amount;
	}
	return all;
}

static void count_methods(const struct recording *rec, uint32_t id, struct tally *tally)
{
	struct rec_stack stack = rec_stack_get(rec, id);
	int64_t count = tally->by_stack[id];
	uint32_t self = 0;

	for (uint32_t i = 0; i < stack.count; i++) {
		const struct rec_frame *frame = rec_frame_get(rec, stack.frames[i]);

		if (!self && rec_kind_is_java(frame->kind))
			self = frame->method;
		if (tally->seen_in[frame->method] == id)
			continue;
		tally->seen_in[frame->method] = id;
		tally->rows[frame->method].total += count;
	}
	if (!self && stack.count)
		self = rec_frame_get(rec, stack.frames[0])->method;
	tally->rows[self].self += count;
}

/* Largest first; equal ones in order of first sight. */
static int compare(const void *a, const void *b)
{
	const struct top_row *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->method < y->method ? -1 : x->method > y->method;
}

int top_methods(const struct recording *rec, enum rec_metric metric, struct top_row *out,
		size_t max, int64_t *all)
{
	struct tally tally;
	size_t count = 0;
	int64_t sum;
	int err = tally_new(rec, &tally);

	if (err)
		goto out;
	sum = count_stacks(rec, metric, tally.by_stack);
	for (uint32_t id = 1; id <= rec_stack_count(rec); id++) {
		if (tally.by_stack[id])
			count_methods(rec, id, &tally);
	}
	for (uint32_t id = 1; id <= rec_method_count(rec); id++) {
		tally.rows[id].method = id;
		if (tally.rows[id].self > 0)
			tally.rows[count++] = tally.rows[id];
	}
	qsort(tally.rows, count, sizeof(*tally.rows), compare);
	if (count > max)
		count = max;
	for (size_t i = 0; i < count; i++)
		out[i] = tally.rows[i];
	*all = sum;
	err = (int)count;
out:
	tally_free(&tally);
	return err;
}
