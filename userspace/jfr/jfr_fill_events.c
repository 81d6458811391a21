/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_fill_events.h"

#include "jfr/jfr_fill_impl.h"
#include "model/runtime.h"

/* ---- waits */

enum { TIME, THREAD, STACK, CLASS, DURATION, ADDRESS, TIMEOUT, NOTIFIER, OWNER = TIMEOUT };

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

	if (kind == JFR_SAMPLE_LOCK_WAIT)
		sample.by = jfr_number(e, OWNER);
	if (kind == JFR_SAMPLE_OBJECT_WAIT)
		sample.by = jfr_number(e, NOTIFIER);
	if (kind != JFR_SAMPLE_LOCK_WAIT)
		sample.timeout_ns = (uint64_t)span_of(e, TIMEOUT);
	jfr_fill_sample(f, e, &key, &sample);
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

/* ---- what has no duration */

static void add_moment(struct jfr_filler *f, const struct jfr_item *e, enum jfr_sample_kind kind,
		       int64_t detail)
{
	const struct jfr_raw_total key = {
		.stack = jfr_number(e, STACK),
		.thread = jfr_number(e, THREAD),
		.state = jfr_number(e, CLASS),
		.detail = detail,
		.kind = kind,
	};

	jfr_fill_sample(f, e, &key,
			&(struct jfr_raw_sample){ .time_ns = jfr_fill_time(e, TIME), .value = 1 });
}

void jfr_fill_exception(void *ctx, const struct jfr_item *e)
{
	add_moment(ctx, e, JFR_SAMPLE_EXCEPTION, 0);
}

enum { REASON = CLASS, ACTION };

void jfr_fill_deoptimization(void *ctx, const struct jfr_item *e)
{
	add_moment(ctx, e, JFR_SAMPLE_DEOPTIMIZATION, jfr_number(e, ACTION));
}

/* ---- threads, compilations */

static uint32_t thread_of(struct jfr_filler *f, const struct jfr_item *e, unsigned int field)
{
	return jfr_resolve_thread(&f->resolver, jfr_number(e, field));
}

/* That of a thread; in files of others it is the one they are of. */
static uint32_t jvm_of(struct jfr_filler *f, uint32_t thread)
{
	const struct rec_thread *row = rec_thread_get(f->rec, thread);

	return row ? row->jvm : f->resolver.jvm;
}

enum { EVENT_TIME, EVENT_THREAD, EVENT_PARENT, EVENT_STACK };

static void add_thread_event(struct jfr_filler *f, const struct jfr_item *e, bool ends)
{
	struct rec_thread_event row = { .ends = ends, .time_ns = jfr_fill_time(e, EVENT_TIME) };

	jfr_fill_some_jvm(f);
	row.thread = thread_of(f, e, EVENT_THREAD);
	row.jvm = jvm_of(f, row.thread);
	if (!ends) {
		row.parent = thread_of(f, e, EVENT_PARENT);
		row.stack = jfr_resolve_stack(&f->resolver, jfr_number(e, EVENT_STACK));
	}
	rec_thread_event(f->rec, &row);
}

void jfr_fill_thread_start(void *ctx, const struct jfr_item *e)
{
	add_thread_event(ctx, e, false);
}

void jfr_fill_thread_end(void *ctx, const struct jfr_item *e)
{
	add_thread_event(ctx, e, true);
}

enum {
	TASK_TIME,
	TASK_DURATION,
	TASK_THREAD,
	TASK_ID,
	TASK_METHOD,
	TASK_LEVEL,
	TASK_OSR,
	TASK_INLINED,
	TASK_OSR_BCI,
	TASK_SUCCEEDED,
	TASK_CODE_SIZE,
};

/* Files of others say whether it begins in a loop, and not in which. */
static int32_t osr_bci_of(const struct jfr_item *e)
{
	if (jfr_has(e, TASK_OSR_BCI))
		return (int32_t)jfr_number(e, TASK_OSR_BCI);
	return jfr_number(e, TASK_OSR) ? 0 : -1;
}

/* That it has succeeded is also said of one of which it is not known: that has no code. */
static enum rec_compiled outcome_of(const struct jfr_item *e)
{
	if (!jfr_number(e, TASK_SUCCEEDED))
		return REC_COMPILED_NOT;
	return jfr_number(e, TASK_CODE_SIZE) ? REC_COMPILED : REC_COMPILED_UNKNOWN;
}

void jfr_fill_compilation(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct rec_compilation row = {
		.method = jfr_resolve_method(&f->resolver, jfr_number(e, TASK_METHOD)),
		.compile_id = (uint32_t)jfr_number(e, TASK_ID),
		.level = (uint32_t)jfr_number(e, TASK_LEVEL),
		.osr_bci = osr_bci_of(e),
		.inlined_bytes = (uint32_t)jfr_number(e, TASK_INLINED),
		.outcome = outcome_of(e),
		.code_bytes = (uint32_t)jfr_number(e, TASK_CODE_SIZE),
		.time_ns = jfr_fill_time(e, TASK_TIME),
		.duration_ns = (uint64_t)span_of(e, TASK_DURATION),
	};

	jfr_fill_some_jvm(f);
	row.thread = thread_of(f, e, TASK_THREAD);
	row.jvm = jvm_of(f, row.thread);
	rec_compilation(f->rec, &row);
}

/* ---- at the end of the chunk */

/* "reason, action" */
static uint32_t deoptimization_of(struct jfr_filler *f, const struct jfr_raw_total *raw)
{
	const struct jfr_chunk *chunk = f->resolver.chunk;
	struct strbuf text = { 0 };
	uint32_t label = 0;

	if (jfr_constant_text(chunk, chunk->wanted[JFR_FILL_DEOPT_REASON].type, raw->state,
			      &f->text))
		strbuf_puts(&text, strbuf_text(&f->text));
	if (jfr_constant_text(chunk, chunk->wanted[JFR_FILL_DEOPT_ACTION].type, raw->detail,
			      &f->text))
		strbuf_printf(&text, ", %s", strbuf_text(&f->text));
	if (text.len)
		label = rec_string(f->rec, text.text, text.len);
	strbuf_free(&text);
	return label;
}

struct rec_key jfr_fill_event_key(struct jfr_filler *f, const struct jfr_raw_total *raw)
{
	static const enum rec_metric metrics[] = {
		[JFR_SAMPLE_LOCK_WAIT] = REC_LOCK_WAIT,
		[JFR_SAMPLE_OBJECT_WAIT] = REC_OBJECT_WAIT,
		[JFR_SAMPLE_PARK] = REC_PARK,
		[JFR_SAMPLE_EXCEPTION] = REC_EXCEPTION,
		[JFR_SAMPLE_DEOPTIMIZATION] = REC_DEOPTIMIZATION,
	};
	struct rec_key key = {
		.metric = metrics[raw->kind],
		.stack = jfr_resolve_stack(&f->resolver, raw->stack),
		.thread = jfr_resolve_thread(&f->resolver, raw->thread),
		.label = raw->kind == JFR_SAMPLE_DEOPTIMIZATION
				 ? deoptimization_of(f, raw)
				 : jfr_resolve_type(&f->resolver, raw->state),
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

enum { OFF_THREAD, OFF_STACK, OFF_REASON, OFF_PID, OFF_COUNT, OFF_TIME };

void jfr_fill_off_cpu(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	const struct rec_key key = {
		.metric = REC_OFFCPU,
		.stack = jfr_resolve_stack(&f->resolver, jfr_number(e, OFF_STACK)),
		.thread = thread_of(f, e, OFF_THREAD),
		.label = jfr_fill_text(f, e, OFF_REASON),
		.jvm = jfr_fill_jvm_of(f, jfr_number(e, OFF_PID)),
	};

	rec_add(f->rec, &key, jfr_number(e, OFF_COUNT), jfr_ns(e, OFF_TIME));
}
