/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_REC_LINES_H
#define JVMSCOPE_REC_LINES_H

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording.h"
#include "unit/unit.h"

/*
 * A recording as sorted lines of text that name everything: two recordings that say the same have
 * the same lines, whatever their ids and the order of their rows.
 */
struct rec_lines {
	char **lines; /* owned */
	size_t count, capacity;
};

static inline void rec_lines_add(struct rec_lines *to, char *line)
{
	if (to->count == to->capacity) {
		to->capacity = 2 * to->capacity + 64;
		to->lines = reallocarray(to->lines, to->capacity, sizeof(*to->lines));
		CU_ASSERT_PTR_NOT_NULL_FATAL(to->lines);
	}
	to->lines[to->count++] = line;
}

static inline void rec_print_jvm(const struct recording *rec, uint32_t id, FILE *out)
{
	const struct rec_jvm *jvm = rec_jvm_get(rec, id);

	if (!jvm)
		return;
	fprintf(out, "%d %d %d %" PRIu64 " [%s] [%s] [%s] [%s] [%s] [%s]", jvm->pid,
		jvm->container_pid, jvm->major, jvm->start_time_ns, rec_text(rec, jvm->version),
		rec_text(rec, jvm->gc_name), rec_text(rec, jvm->main_class),
		rec_text(rec, jvm->arguments), rec_text(rec, jvm->container_id),
		rec_text(rec, jvm->pod_uid));
}

static inline void rec_print_thread(const struct recording *rec, uint32_t id, FILE *out)
{
	const struct rec_thread *thread = rec_thread_get(rec, id);

	if (!thread)
		return;
	fprintf(out, "%d [%s] [%s] of ", thread->tid, rec_text(rec, thread->name),
		rec_text(rec, thread->group));
	rec_print_jvm(rec, thread->jvm, out);
}

static inline void rec_print_frame(const struct recording *rec, uint32_t id, FILE *out)
{
	const struct rec_frame *frame = rec_frame_get(rec, id);
	const struct rec_method *method = rec_method_get(rec, frame->method);

	fprintf(out, " {%s %d %d %" PRIx64 " [%s] [%s] [%s] [%s] [%s] [%s]}",
		rec_kind_name(frame->kind), frame->line, frame->bci, frame->offset,
		rec_text(rec, method->class_name), rec_text(rec, method->name),
		rec_text(rec, method->signature), rec_text(rec, method->file),
		rec_text(rec, method->raw_class), rec_text(rec, method->module));
}

static inline void rec_print_total(const struct recording *rec, const struct rec_total *total,
				   FILE *out)
{
	struct rec_stack stack = rec_stack_get(rec, total->key.stack);

	fprintf(out, "%s %" PRId64 " %" PRId64 " [%s] ", rec_metric_info(total->key.metric)->name,
		total->count, total->value, rec_text(rec, total->key.label));
	rec_print_jvm(rec, total->key.jvm, out);
	fputs(" thread ", out);
	rec_print_thread(rec, total->key.thread, out);
	fprintf(out, " stack %d", (int)stack.state);
	for (uint32_t i = 0; i < stack.count; i++)
		rec_print_frame(rec, stack.frames[i], out);
}

static inline void rec_print_meta(const struct recording *rec, FILE *out)
{
	const struct rec_meta *m = rec_meta_get(rec);

	fprintf(out,
		"meta %" PRId64 " %" PRId64 " %u %.3f %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %" PRIu64 " %" PRIu64 " %u [%s] [%s] [%s] [%s] [%s] [%s] %u",
		m->start_time_ns, m->end_time_ns, m->frequency_hz, m->achieved_hz, m->seen,
		m->target_cpu_ns, m->own_cpu_ns, m->own_rss_bytes, m->own_map_bytes, m->bpf_ns,
		m->max_depth, rec_text(rec, m->tool_version), rec_text(rec, m->host_name),
		rec_text(rec, m->kernel_release), rec_text(rec, m->machine),
		rec_text(rec, m->clock), rec_text(rec, m->events), m->cpus);
}

static inline int rec_lines_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One line, printed by the statement that follows. */
#define REC_LINE(to, out)                                                        \
	for (char *line_ = NULL, *once_ = (char *)1; once_;                      \
	     once_ = NULL, rec_lines_add(to, line_))                             \
		for (size_t size_ = 0, again_ = 1; again_;)                      \
			for (FILE *out = open_memstream(&line_, &size_); again_; \
			     again_ = 0, fclose(out))

#include "unit/rec_lines_events.h"
#include "unit/rec_lines_gc.h"
#include "unit/rec_lines_memory.h"

static inline void rec_lines_of(const struct recording *rec, struct rec_lines *to)
{
	size_t totals, rows;
	const struct rec_total *total = rec_totals(rec, &totals);
	const struct rec_quality_row *row = rec_quality_rows(rec, &rows);

	*to = (struct rec_lines){ 0 };
	REC_LINE(to, out)
	rec_print_meta(rec, out);
	for (uint32_t id = 1; id <= rec_jvm_count(rec); id++)
		REC_LINE(to, out)
	rec_print_jvm(rec, id, out);
	for (size_t i = 0; i < rows; i++)
		REC_LINE(to, out)
	fprintf(out, "quality %d [%s] %" PRIu64, (int)row[i].group, row[i].name, row[i].count);
	for (uint32_t id = 1; id <= rec_thread_count(rec); id++)
		REC_LINE(to, out)
		{
			const struct rec_thread *thread = rec_thread_get(rec, id);

			rec_print_thread(rec, id, out);
			fprintf(out, " %" PRIu64, thread->cpu_ns);
			for (int state = 0; state < REC_STATE_NR; state++)
				fprintf(out, " %" PRIu64, thread->state_ns[state]);
		}
	for (size_t i = 0; i < totals; i++)
		REC_LINE(to, out)
	rec_print_total(rec, &total[i], out);
	rec_lines_of_memory(rec, to);
	rec_lines_of_gc(rec, to);
	rec_lines_of_events(rec, to);
	qsort(to->lines, to->count, sizeof(*to->lines), rec_lines_compare);
}

static inline void rec_lines_free(struct rec_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->lines[i]);
	free(lines->lines);
}

/* Whether both say the same; prints the first line that differs. */
static inline bool rec_lines_equal(const struct recording *expected, const struct recording *got)
{
	struct rec_lines a, b;
	size_t i = 0;
	bool equal;

	rec_lines_of(expected, &a);
	rec_lines_of(got, &b);
	while (i < a.count && i < b.count && !strcmp(a.lines[i], b.lines[i]))
		i++;
	equal = i == a.count && i == b.count;
	if (!equal)
		fprintf(stderr, "expected: %s\n     got: %s\n", i < a.count ? a.lines[i] : "(end)",
			i < b.count ? b.lines[i] : "(end)");
	rec_lines_free(&a);
	rec_lines_free(&b);
	return equal;
}

#endif
