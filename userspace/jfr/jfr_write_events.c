/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/runtime.h"

/*
 * Samples that are not of a CPU: waits, exceptions, deoptimizations. And threads that started and
 * ended, and compilations, since the last segment.
 */

static void put_id(struct jfr_writer *w, uint32_t id)
{
	jfr_put_long(&w->bytes, id);
}

static void put_class(struct jfr_writer *w, const struct recording *rec, uint32_t name)
{
	put_id(w, jfr_pools_type(w->pools, rec, name));
}

static void put_thread(struct jfr_writer *w, const struct recording *rec, uint32_t thread)
{
	put_id(w, jfr_pools_thread(w->pools, rec, thread));
}

/* ---- waits */

#define NS_PER_MS 1000000

/* What they begin with, behind their time. */
static void put_context(struct jfr_writer *w, const struct recording *rec,
			const struct rec_sample *sample)
{
	put_thread(w, rec, sample->key.thread);
	put_id(w, jfr_pools_java_stack(w->pools, rec, sample->key.stack));
}

static void put_lock_wait(struct jfr_writer *w, const struct recording *rec,
			  const struct rec_sample *sample)
{
	size_t at = jfr_begin(w, JFR_JAVA_MONITOR_ENTER, sample->time_ns);

	jfr_put_long(&w->bytes, (uint64_t)sample->value);
	put_context(w, rec, sample);
	put_class(w, rec, sample->key.label);
	put_thread(w, rec, sample->by);
	jfr_put_long(&w->bytes, sample->address);
	jfr_end_event(&w->bytes, at);
}

static void put_object_wait(struct jfr_writer *w, const struct recording *rec,
			    const struct rec_sample *sample)
{
	bool timed_out = sample->timeout_ns && (uint64_t)sample->value >= sample->timeout_ns;
	size_t at = jfr_begin(w, JFR_JAVA_MONITOR_WAIT, sample->time_ns);

	jfr_put_long(&w->bytes, (uint64_t)sample->value);
	put_context(w, rec, sample);
	put_class(w, rec, sample->key.label);
	put_thread(w, rec, sample->by);
	jfr_put_long(&w->bytes, sample->timeout_ns / NS_PER_MS);
	jfr_put_byte(&w->bytes, timed_out);
	jfr_put_long(&w->bytes, sample->address);
	jfr_end_event(&w->bytes, at);
}

static void put_park(struct jfr_writer *w, const struct recording *rec,
		     const struct rec_sample *sample)
{
	size_t at = jfr_begin(w, JFR_THREAD_PARK, sample->time_ns);

	jfr_put_long(&w->bytes, (uint64_t)sample->value);
	put_context(w, rec, sample);
	put_class(w, rec, sample->key.label);
	jfr_put_long(&w->bytes, sample->timeout_ns ? sample->timeout_ns : (uint64_t)JFR_NOT_KNOWN);
	jfr_put_long(&w->bytes, (uint64_t)JFR_NOT_KNOWN); /* until */
	jfr_put_long(&w->bytes, sample->address);
	jfr_end_event(&w->bytes, at);
}

/* ---- what has no duration */

static void put_exception(struct jfr_writer *w, const struct recording *rec,
			  const struct rec_sample *sample)
{
	size_t at = jfr_begin(w, JFR_JAVA_EXCEPTION_THROW, sample->time_ns);

	put_context(w, rec, sample);
	jfr_put_text(&w->bytes, NULL); /* its message is not read */
	put_class(w, rec, sample->key.label);
	jfr_end_event(&w->bytes, at);
}

/* The innermost Java frame of a stack; NULL when there is none. */
static const struct rec_frame *java_frame(const struct recording *rec, uint32_t id)
{
	struct rec_stack stack = rec_stack_get(rec, id);

	for (uint32_t i = 0; i < stack.count; i++) {
		const struct rec_frame *frame = rec_frame_get(rec, stack.frames[i]);

		if (rec_kind_is_java(frame->kind))
			return frame;
	}
	return NULL;
}

/* The label is "reason, action". */
static void put_words(struct jfr_writer *w, const char *label)
{
	const char *comma = strstr(label, ", ");
	char reason[128];
	size_t len = comma ? (size_t)(comma - label) : strlen(label);

	if (len >= sizeof(reason))
		len = sizeof(reason) - 1;
	memcpy(reason, label, len);
	reason[len] = '\0';
	put_id(w, jfr_pools_word(w->pools, JFR_DEOPTIMIZATION_REASON, reason));
	put_id(w, jfr_pools_word(w->pools, JFR_DEOPTIMIZATION_ACTION, comma ? comma + 2 : ""));
}

static void put_deoptimization(struct jfr_writer *w, const struct recording *rec,
			       const struct rec_sample *sample)
{
	const struct rec_frame *frame = java_frame(rec, sample->key.stack);
	size_t at = jfr_begin(w, JFR_DEOPTIMIZATION, sample->time_ns);

	put_context(w, rec, sample);
	jfr_put_int(&w->bytes, 0); /* which compilation it was is not known */
	put_id(w, jfr_pools_word(w->pools, JFR_COMPILER_TYPE, "c2"));
	put_id(w, frame ? jfr_pools_method(w->pools, rec, frame->method) : 0);
	jfr_put_int(&w->bytes, frame ? frame->line : -1);
	jfr_put_int(&w->bytes, frame ? frame->bci : -1);
	put_id(w, 0); /* the bytecode */
	put_words(w, rec_text(rec, sample->key.label));
	jfr_end_event(&w->bytes, at);
}

void jfr_put_sample_event(struct jfr_writer *w, const struct recording *rec,
			  const struct rec_sample *sample)
{
	static void (*const put[REC_METRIC_NR])(struct jfr_writer * w, const struct recording *rec,
						const struct rec_sample *sample) = {
		[REC_HEAP_ALLOC] = jfr_put_allocation, [REC_LOCK_WAIT] = put_lock_wait,
		[REC_OBJECT_WAIT] = put_object_wait,   [REC_PARK] = put_park,
		[REC_EXCEPTION] = put_exception,       [REC_DEOPTIMIZATION] = put_deoptimization,
	};

	if (put[sample->key.metric])
		put[sample->key.metric](w, rec, sample);
}

/* ---- threads, compilations */

static void put_thread_event(struct jfr_writer *w, const struct recording *rec,
			     const struct rec_thread_event *event)
{
	size_t at = jfr_begin(w, event->ends ? JFR_THREAD_END : JFR_THREAD_START, event->time_ns);

	/* Both are events of the thread itself for the JDK, whose views pair them by that. */
	put_thread(w, rec, event->thread);
	if (!event->ends)
		put_id(w, jfr_pools_java_stack(w->pools, rec, event->stack));
	put_thread(w, rec, event->thread);
	if (!event->ends)
		put_thread(w, rec, event->parent);
	jfr_end_event(&w->bytes, at);
}

#define LEVEL_C2 4

static void put_compilation(struct jfr_writer *w, const struct recording *rec,
			    const struct rec_compilation *row)
{
	size_t at = jfr_begin(w, JFR_COMPILATION, row->time_ns);

	jfr_put_long(&w->bytes, row->duration_ns);
	put_thread(w, rec, row->thread);
	jfr_put_int(&w->bytes, (int32_t)row->compile_id);
	put_id(w,
	       jfr_pools_word(w->pools, JFR_COMPILER_TYPE, row->level == LEVEL_C2 ? "c2" : "c1"));
	put_id(w, row->method ? jfr_pools_method(w->pools, rec, row->method) : 0);
	put_id(w, row->level);
	jfr_put_byte(&w->bytes, row->outcome != REC_COMPILED_NOT);
	jfr_put_byte(&w->bytes, row->osr_bci >= 0);
	jfr_put_long(&w->bytes, row->code_bytes);
	jfr_put_long(&w->bytes, row->inlined_bytes);
	jfr_put_long(&w->bytes, 0); /* what it used of memory is not known */
	jfr_put_int(&w->bytes, row->osr_bci);
	jfr_end_event(&w->bytes, at);
}

void jfr_put_runtime(struct jfr_writer *w, const struct recording *rec)
{
	size_t count;
	const struct rec_thread_event *threads = rec_thread_events(rec, &count);
	const struct rec_compilation *compilations;

	for (; w->thread_events < count; w->thread_events++)
		put_thread_event(w, rec, &threads[w->thread_events]);
	compilations = rec_compilations(rec, &count);
	for (; w->compilations < count; w->compilations++)
		put_compilation(w, rec, &compilations[w->compilations]);
}

static void put_throwables(struct jfr_writer *w, int64_t time_ns, int64_t count)
{
	size_t at = jfr_begin(w, JFR_EXCEPTION_STATISTICS, time_ns);

	jfr_put_long(&w->bytes, (uint64_t)count);
	jfr_end_event(&w->bytes, at);
}

/* The JDK's tools show the difference between the first and the last event. */
void jfr_put_exceptions(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	const struct rec_meta *meta = rec_meta_get(rec);
	int64_t thrown = 0;
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);

	if (!strstr(rec_text(rec, meta->events), "exception"))
		return;
	for (size_t i = 0; i < count; i++)
		if (totals[i].key.metric == REC_EXCEPTION)
			thrown = rec_sum(thrown, totals[i].count);
	if (!w->exceptions_begun)
		put_throwables(w, meta->start_time_ns, 0);
	w->exceptions_begun = true;
	put_throwables(w, end_ns, thrown);
}
