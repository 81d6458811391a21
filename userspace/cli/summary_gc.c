/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/summary_gc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/gc.h"
#include "model/recording.h"

/* Whether -e had a group; a recording that does not say has what is in it. */
static bool has_event(const struct recording *rec, const char *group)
{
	const struct rec_meta *meta = rec_meta_get(rec);

	return !meta->events || strstr(rec_text(rec, meta->events), group);
}

/* " (G1 Evacuation Pause)": what the longest pause was for, where that is known. */
static void write_cause(const struct recording *rec, uint64_t longest_ns, FILE *out)
{
	size_t count;
	const struct rec_gc_phase *phases = rec_gc_phases(rec, &count);

	for (size_t i = 0; i < count; i++) {
		const struct rec_collection *row = rec_collection_get(rec, phases[i].collection);

		if (phases[i].concurrent || phases[i].level || phases[i].duration_ns != longest_ns)
			continue;
		if (row && row->cause)
			fprintf(out, " (%s)", rec_text(rec, row->cause));
		return;
	}
}

static void write_gc(const struct recording *rec, FILE *out)
{
	uint32_t count = rec_collection_count(rec);
	struct rec_pauses pauses;
	char total[TEXT_MAX], p50[TEXT_MAX], p99[TEXT_MAX], longest[TEXT_MAX];

	rec_gc_pauses(rec, 0, &pauses);
	fprintf(out, "%" PRIu32 " collection%s", count, count == 1 ? "" : "s");
	if (pauses.count) {
		fprintf(out, ", %" PRIu64 " pause%s of %s in all: p50 %s, p99 %s, longest %s",
			pauses.count, pauses.count == 1 ? "" : "s", text_ns(pauses.total_ns, total),
			text_ns(pauses.p50_ns, p50), text_ns(pauses.p99_ns, p99),
			text_ns(pauses.max_ns, longest));
		write_cause(rec, pauses.max_ns, out);
	}
	fputc('\n', out);
}

/* The thread that stopped last at a safepoint. */
static const struct rec_straggler *last_of(const struct recording *rec, size_t safepoint)
{
	size_t count;
	const struct rec_straggler *rows = rec_stragglers(rec, &count), *last = NULL;

	for (size_t i = 0; i < count; i++)
		if (rows[i].safepoint == safepoint && (!last || rows[i].late_ns > last->late_ns))
			last = &rows[i];
	return last;
}

/* ": main in com.example.Foo.bar": whom it waited for, and in which Java method that was. */
static void write_straggler(const struct recording *rec, const struct rec_straggler *row, FILE *out)
{
	const struct rec_stack stack = rec_stack_get(rec, row->stack);
	const struct rec_thread *thread = rec_thread_get(rec, row->thread);
	size_t size = rec_text_size(rec);
	char *text = malloc(size);

	if (text && thread)
		fprintf(out, ": %s", rec_text(rec, thread->name));
	for (size_t i = 0; text && thread && i < stack.count; i++) {
		const struct rec_frame *frame = rec_frame_get(rec, stack.frames[i]);

		if (!rec_kind_is_java(frame->kind))
			continue;
		fprintf(out, " in %s", rec_frame_text(rec, stack.frames[i], text, size));
		break;
	}
	free(text);
}

static void write_safepoints(const struct recording *rec, FILE *out)
{
	const struct rec_meta *meta = rec_meta_get(rec);
	double time_ns = (double)(meta->end_time_ns - meta->start_time_ns) * rec_jvm_count(rec);
	size_t count;
	const struct rec_safepoint *rows = rec_safepoints(rec, &count), *slowest = rows;
	const struct rec_straggler *straggler;
	struct rec_pauses pauses;
	char total[TEXT_MAX], longest[TEXT_MAX], reach[TEXT_MAX];

	rec_safepoint_pauses(rec, 0, &pauses);
	fprintf(out, "%" PRIu64 " safepoint%s", pauses.count, pauses.count == 1 ? "" : "s");
	for (size_t i = 0; i < count; i++)
		if (rows[i].reach_ns > slowest->reach_ns)
			slowest = &rows[i];
	if (count) {
		fprintf(out, " stopped all threads for %s", text_ns(pauses.total_ns, total));
		if (time_ns > 0)
			fprintf(out, " = %.2f %% of the time",
				100 * (double)pauses.total_ns / time_ns);
		fprintf(out, ", longest %s; worst time to safepoint %s",
			text_ns(pauses.max_ns, longest), text_ns(slowest->reach_ns, reach));
		if (slowest->operation)
			fprintf(out, " (%s)", rec_text(rec, slowest->operation));
		straggler = last_of(rec, (size_t)(slowest - rows) + 1);
		if (straggler)
			write_straggler(rec, straggler, out);
	}
	fputc('\n', out);
}

void summary_gc(const struct recording *rec, const struct colors *colors, FILE *out)
{
	size_t safepoints;

	if (!rec_has_gc(rec))
		return;
	rec_safepoints(rec, &safepoints);
	if (rec_collection_count(rec) || has_event(rec, "gc")) {
		fprintf(out, "%s%-9s%s ", colors->bold, "gc", colors->off);
		write_gc(rec, out);
	}
	if (safepoints || has_event(rec, "safepoint")) {
		fprintf(out, "%s%-9s%s ", colors->bold, "stopped", colors->off);
		write_safepoints(rec, out);
	}
}
