/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_fill_events.h"

#include "jfr/jfr_fill_impl.h"

/* ---- waits */

enum { TIME, THREAD, STACK, CLASS, DURATION, ADDRESS, TIMEOUT };

static int64_t span_of(const struct jfr_item *e, unsigned int field)
{
	int64_t ns = jfr_ns(e, field);

	/* What is not known, the JDK writes as the least number. */
	return ns > 0 ? ns : 0;
}

static void add_wait(struct jfr_filler *f, const struct jfr_item *e, enum jfr_sample_kind kind)
{
	const struct jfr_raw_total key = {
		.stack = jfr_number(e, STACK),
		.thread = jfr_number(e, THREAD),
		.state = jfr_number(e, CLASS),
		.kind = kind,
	};
	struct jfr_raw_sample sample = {
		.time_ns = jfr_fill_time(e, TIME),
		.value = span_of(e, DURATION),
		.address = (uint64_t)jfr_number(e, ADDRESS),
	};

	if (kind != JFR_SAMPLE_LOCK_WAIT)
		sample.timeout_ns = (uint64_t)span_of(e, TIMEOUT);
	jfr_fill_sample(f, &key, &sample);
}

void jfr_fill_lock_wait(void *ctx, const struct jfr_item *e)
{
	add_wait(ctx, e, JFR_SAMPLE_LOCK_WAIT);
}

void jfr_fill_object_wait(void *ctx, const struct jfr_item *e)
{
	add_wait(ctx, e, JFR_SAMPLE_OBJECT_WAIT);
}

void jfr_fill_park(void *ctx, const struct jfr_item *e)
{
	add_wait(ctx, e, JFR_SAMPLE_PARK);
}

/* ---- at the end of the chunk */

struct rec_key jfr_fill_event_key(struct jfr_filler *f, const struct jfr_raw_total *raw)
{
	static const enum rec_metric metrics[] = {
		[JFR_SAMPLE_LOCK_WAIT] = REC_LOCK_WAIT,
		[JFR_SAMPLE_OBJECT_WAIT] = REC_OBJECT_WAIT,
		[JFR_SAMPLE_PARK] = REC_PARK,
	};
	struct rec_key key = {
		.metric = metrics[raw->kind],
		.stack = jfr_resolve_stack(&f->resolver, raw->stack),
		.thread = jfr_resolve_thread(&f->resolver, raw->thread),
		.label = jfr_resolve_type(&f->resolver, raw->state),
	};
	const struct rec_thread *thread = rec_thread_get(f->rec, key.thread);

	key.jvm = thread ? thread->jvm : f->resolver.jvm;
	rec_add(f->rec, &key, raw->count, raw->value);
	return key;
}

enum {
	TOTAL_THREAD,
	TOTAL_STACK,
	TOTAL_METRIC,
	TOTAL_LABEL,
	TOTAL_PID,
	TOTAL_COUNT,
	TOTAL_VALUE,
};

void jfr_fill_total(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	int metric =
		jfr_text(e, TOTAL_METRIC, &f->text) ? rec_metric_find(strbuf_text(&f->text)) : -1;
	struct rec_key key = {
		.stack = jfr_resolve_stack(&f->resolver, jfr_number(e, TOTAL_STACK)),
		.thread = jfr_resolve_thread(&f->resolver, jfr_number(e, TOTAL_THREAD)),
		.label = jfr_fill_text(f, e, TOTAL_LABEL),
		.jvm = jfr_fill_jvm_of(f, jfr_number(e, TOTAL_PID)),
	};

	if (metric < 0 || !rec_metric_info((enum rec_metric)metric)->is_partly_sampled)
		return;
	key.metric = (enum rec_metric)metric;
	rec_add(f->rec, &key, jfr_number(e, TOTAL_COUNT), jfr_number(e, TOTAL_VALUE));
}
