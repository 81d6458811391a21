/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_REC_LINES_EVENTS_H
#define JVMSCOPE_REC_LINES_EVENTS_H

#include "model/runtime.h"

/* The part of rec_lines.h for what happens at a moment. */

static inline void rec_print_row_of(const struct recording *rec, const struct rec_sample *row,
				    FILE *out)
{
	const struct rec_total total = { .key = row->key, .count = 1, .value = row->value };

	fprintf(out, "row %" PRId64 " %" PRIx64 " %" PRIu64 " ", row->time_ns, row->address,
		row->timeout_ns);
	rec_print_total(rec, &total, out);
	fputs(" by ", out);
	rec_print_thread(rec, row->by, out);
}

static inline void rec_print_thread_event(const struct recording *rec,
					  const struct rec_thread_event *row, FILE *out)
{
	struct rec_stack stack = rec_stack_get(rec, row->stack);

	fprintf(out, "thread %s %" PRId64 " ", row->ends ? "ends" : "starts", row->time_ns);
	rec_print_thread(rec, row->thread, out);
	fputs(" by ", out);
	rec_print_thread(rec, row->parent, out);
	rec_print_jvm(rec, row->jvm, out);
	fprintf(out, " stack %d", (int)stack.state);
	for (uint32_t i = 0; i < stack.count; i++)
		rec_print_frame(rec, stack.frames[i], out);
}

/* Of the method what JSON has of it, too. */
static inline void rec_print_compilation(const struct recording *rec,
					 const struct rec_compilation *row, FILE *out)
{
	const struct rec_method *method = rec_method_get(rec, row->method);

	fprintf(out, "compilation %u [%s] [%s] [%s] %u %d %u %d %u %" PRId64 " %" PRIu64 " by ",
		row->compile_id, rec_text(rec, method->class_name), rec_text(rec, method->name),
		rec_text(rec, method->signature), row->level, row->osr_bci, row->inlined_bytes,
		(int)row->outcome, row->code_bytes, row->time_ns, row->duration_ns);
	rec_print_thread(rec, row->thread, out);
	rec_print_jvm(rec, row->jvm, out);
}

static inline void rec_lines_of_events(const struct recording *rec, struct rec_lines *to)
{
	size_t count, events, tasks;
	const struct rec_sample *rows = rec_samples(rec, &count);
	const struct rec_thread_event *event = rec_thread_events(rec, &events);
	const struct rec_compilation *task = rec_compilations(rec, &tasks);

	for (size_t i = 0; i < count; i++) {
		if (!rec_metric_info(rows[i].key.metric)->is_partly_sampled)
			continue;
		REC_LINE(to, out)
		rec_print_row_of(rec, &rows[i], out);
	}
	for (size_t i = 0; i < events; i++)
		REC_LINE(to, out)
	rec_print_thread_event(rec, &event[i], out);
	for (size_t i = 0; i < tasks; i++)
		REC_LINE(to, out)
	rec_print_compilation(rec, &task[i], out);
}

#endif
