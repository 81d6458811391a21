/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "jfr/jfr_fill_impl.h"

/* The part of jfr_fill.c for native memory. */

enum {
	SITE_STACK,
	SITE_TAG,
	SITE_PID,
	SITE_COUNT,
	SITE_SIZE,
	SITE_LIVE_COUNT,
	SITE_LIVE_SIZE,
};

uint32_t jfr_fill_jvm_of(struct jfr_filler *f, int64_t pid)
{
	uint32_t id = jfr_resolve_jvm(&f->resolver, pid);

	return id ? id : f->resolver.jvm;
}

/* A change of what was said before, so that the sum is what is said now. */
static void add_live(struct jfr_filler *f, const struct rec_key *key, int64_t count, int64_t bytes)
{
	struct jfr_raw_live row = {
		.jvm = key->jvm, .stack = key->stack, .tag = key->label, .metric = key->metric
	};
	struct jfr_raw_live *known;
	uint32_t id;

	if (table_add(&f->natives, &row, REC_MAX_TOTALS, &id)) {
		f->err = -ENOMEM;
		return;
	}
	known = table_get(&f->natives, id);
	/* Numbers of a broken file may be any. */
	count = count < 0 ? 0 : count;
	bytes = bytes < 0 ? 0 : bytes;
	if (count != known->count || bytes != known->bytes)
		rec_add(f->rec, key, count - known->count, bytes - known->bytes);
	known->count = count;
	known->bytes = bytes;
}

void jfr_fill_native_allocation(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct rec_key key = { .metric = REC_NATIVE_ALLOC,
			       .stack = jfr_resolve_stack(&f->resolver, jfr_number(e, SITE_STACK)),
			       .jvm = jfr_fill_jvm_of(f, jfr_number(e, SITE_PID)) };
	int64_t count = jfr_number(e, SITE_COUNT), bytes = jfr_number(e, SITE_SIZE);

	if (jfr_text(e, SITE_TAG, &f->text) && f->text.len)
		key.label = rec_string(f->rec, f->text.text, f->text.len);
	if (count || bytes)
		rec_add(f->rec, &key, count, bytes);
	key.metric = REC_NATIVE_LIVE;
	add_live(f, &key, jfr_number(e, SITE_LIVE_COUNT), jfr_number(e, SITE_LIVE_SIZE));
}

enum { MAPPING_STACK, MAPPING_USE, MAPPING_TAG, MAPPING_PID, MAPPING_COUNT, MAPPING_SIZE };

void jfr_fill_native_mapping(void *ctx, const struct jfr_item *e)
{
	static const struct {
		const char *use;
		enum rec_metric metric;
	} metrics[] = {
		{ "reserve", REC_VM_RESERVED },
		{ "commit", REC_VM_COMMITTED },
		{ "thread_stack", REC_THREAD_STACKS },
	};
	struct jfr_filler *f = ctx;
	struct rec_key key = { .stack = jfr_resolve_stack(&f->resolver,
							  jfr_number(e, MAPPING_STACK)),
			       .jvm = jfr_fill_jvm_of(f, jfr_number(e, MAPPING_PID)) };

	if (!jfr_text(e, MAPPING_USE, &f->text))
		return;
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		if (!strcmp(strbuf_text(&f->text), metrics[i].use))
			key.metric = metrics[i].metric;
	if (!key.metric)
		return;
	if (jfr_text(e, MAPPING_TAG, &f->text) && f->text.len)
		key.label = rec_string(f->rec, f->text.text, f->text.len);
	add_live(f, &key, jfr_number(e, MAPPING_COUNT), jfr_number(e, MAPPING_SIZE));
}

enum { MALLOC_THREAD, MALLOC_STACK, MALLOC_SIZE };

void jfr_fill_malloc(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct jfr_raw_total key = {
		.stack = jfr_number(e, MALLOC_STACK),
		.thread = jfr_number(e, MALLOC_THREAD),
		.kind = JFR_SAMPLE_MALLOC,
	};
	struct jfr_raw_total *total;
	uint32_t id;

	/* Ours say the same with tags, and of blocks, not of many at once. */
	if (f->is_ours)
		return;
	total = jfr_fill_total_of(f, e, &key, &id);
	if (!total)
		return;
	total->count++;
	total->value = rec_sum(total->value, jfr_number(e, MALLOC_SIZE));
}

void jfr_fill_malloc_total(struct jfr_filler *f, const struct jfr_raw_total *raw)
{
	struct rec_key key = { .metric = REC_NATIVE_ALLOC };
	const struct rec_thread *thread;

	key.stack = jfr_resolve_stack(&f->resolver, raw->stack);
	key.thread = jfr_resolve_thread(&f->resolver, raw->thread);
	thread = rec_thread_get(f->rec, key.thread);
	key.jvm = thread ? thread->jvm : f->resolver.jvm;
	rec_add(f->rec, &key, raw->count, raw->value);
}
