/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_REC_LINES_MEMORY_H
#define JVMSCOPE_REC_LINES_MEMORY_H

#include "model/heap.h"
#include "model/ledger.h"
#include "model/native_calls.h"
#include "model/series.h"
#include "model/settings.h"

/* The part of rec_lines.h for native memory, its budget and ledgers. */

static inline void rec_print_key(const struct recording *rec, uint32_t jvm, uint32_t tag, FILE *out)
{
	fprintf(out, " [%s] ", rec_text(rec, tag));
	rec_print_jvm(rec, jvm, out);
}

static inline void rec_print_stack(const struct recording *rec, uint32_t id, FILE *out)
{
	struct rec_stack stack = rec_stack_get(rec, id);

	fprintf(out, " stack %d", (int)stack.state);
	for (uint32_t i = 0; i < stack.count; i++)
		rec_print_frame(rec, stack.frames[i], out);
}

static inline void rec_print_ages(const int64_t ages[REC_NATIVE_AGES], int64_t oldest_ns, FILE *out)
{
	fprintf(out, " ages %" PRId64, oldest_ns);
	for (int age = 0; age < REC_NATIVE_AGES; age++)
		fprintf(out, " %" PRId64, ages[age]);
}

static inline void rec_print_amounts(const struct recording *rec,
				     const struct rec_native_site *site, FILE *out)
{
	fprintf(out,
		"%s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
		" %.3f %.3f",
		rec_native_use_name(site->use), site->allocated_blocks, site->allocated_bytes,
		site->freed_blocks, site->freed_bytes, site->untracked_blocks,
		site->untracked_bytes, site->error_bytes, site->slice_error_bytes);
	rec_print_key(rec, site->jvm, site->tag, out);
}

static inline void rec_print_site(const struct recording *rec, const struct rec_native_site *site,
				  FILE *out)
{
	fputs("site ", out);
	rec_print_amounts(rec, site, out);
	rec_print_ages(site->ages, site->oldest_ns, out);
	rec_print_stack(rec, site->stack, out);
}

static inline void rec_print_calls(const struct recording *rec,
				   const struct rec_native_calls *calls, FILE *out)
{
	fputs("calls ", out);
	rec_print_amounts(rec, &calls->sum, out);
	for (int i = 0; i < REC_NATIVE_CALLS; i++)
		fprintf(out, " %" PRIx64 " [%s] %u", calls->chain.calls[i].address,
			rec_text(rec, calls->chain.calls[i].function),
			calls->chain.calls[i].offset);
}

static inline void rec_print_suspect(const struct recording *rec,
				     const struct rec_native_suspect *suspect, FILE *out)
{
	fprintf(out, "suspect %s %u %" PRId64 " %" PRId64 " %.3f %" PRIu64,
		growth_kind_name(suspect->kind), suspect->sites, suspect->live_blocks,
		suspect->live_bytes, suspect->bytes_per_minute, suspect->survived);
	rec_print_key(rec, suspect->jvm, suspect->tag, out);
	rec_print_ages(suspect->ages, suspect->oldest_ns, out);
	rec_print_stack(rec, suspect->stack, out);
}

static inline void rec_print_budget(const struct recording *rec, const struct rec_native_budget *b,
				    FILE *out)
{
	fprintf(out, "budget %s %s %.3f %.3f %.3f %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		rec_probe_group_name(b->group), rec_native_state_name(b->state), b->limit_pct,
		b->cost_pct, b->total_cost_pct, b->attached_ns, b->watched_cpu_ns, b->all_cpu_ns,
		b->interval);
	for (int state = 0; state < REC_NATIVE_STATE_NR; state++)
		fprintf(out, " %" PRIu64, b->state_ns[state]);
	fprintf(out, " %d %.3f %d %" PRId64 " %" PRId64, b->estimated, b->error_pct, b->live_known,
		b->live_bytes, b->live_blocks);
	rec_print_key(rec, b->jvm, 0, out);
}

static inline void rec_print_change(const struct recording *rec, const struct rec_budget_event *e,
				    FILE *out)
{
	fprintf(out, "change %s %" PRId64 " %s %s %s %.3f %.3f", rec_probe_group_name(e->group),
		e->time_ns, rec_native_state_name(e->from), rec_native_state_name(e->to),
		rec_budget_reason_name(e->reason), e->cost_pct, e->limit_pct);
	rec_print_key(rec, e->jvm, 0, out);
}

/* ---- ledgers; at says of which reading a line is */

static inline void rec_print_row(const struct rec_ledger_row *row, FILE *out)
{
	fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRIu64 " %" PRIu64, row->reserved,
		row->committed, row->resident, row->swapped, row->count);
}

static inline void rec_print_reading(const struct recording *rec, const struct rec_ledger *l,
				     const char *at, FILE *out)
{
	const struct rec_malloc *m = &l->malloc;
	const struct rec_buffers *buffers[] = { &l->direct, &l->mapped };

	fprintf(out, "reading %s %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, at,
		l->time_ns, l->rss_bytes, l->rss_peak_bytes, l->java_heap_pss, l->hugetlb_bytes);
	fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64, l->cost_ns, l->threads,
		l->native_bytes, l->native_blocks);
	fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, m->arenas, m->in_use_bytes,
		m->in_use_count, m->free_bytes);
	fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, m->mapped_bytes,
		m->mapped_count, m->cached_bytes, m->unread_bytes);
	for (size_t i = 0; i < ARRAY_SIZE(buffers); i++)
		fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, buffers[i]->count,
			buffers[i]->capacity_bytes, buffers[i]->reserved_bytes,
			buffers[i]->max_bytes);
	rec_print_key(rec, l->jvm, l->allocator, out);
	for (int line = 0; line < REC_LINE_NR; line++)
		rec_print_row(&l->lines[line], out);
}

static inline void rec_lines_of_ledger(const struct recording *rec, const struct rec_ledger *l,
				       const char *at, struct rec_lines *to)
{
	if (!l)
		return;
	REC_LINE(to, out)
	rec_print_reading(rec, l, at, out);
	for (size_t i = 0; i < l->part_count; i++)
		REC_LINE(to, out)
		{
			fprintf(out, "part %s %s", at, rec_line_info(l->parts[i].line)->name);
			rec_print_key(rec, l->jvm, l->parts[i].name, out);
			rec_print_row(&l->parts[i].row, out);
		}
	for (size_t i = 0; i < l->nmt_count; i++)
		REC_LINE(to, out)
		{
			const struct rec_nmt *tag = &l->nmt[i];

			fprintf(out, "nmt %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, at,
				tag->malloc_bytes, tag->malloc_count, tag->arena_bytes,
				tag->arena_count);
			fprintf(out, " %" PRIu64 " %" PRIu64, tag->reserved, tag->committed);
			rec_print_key(rec, l->jvm, tag->tag, out);
		}
}

/* ---- all */

static inline void rec_lines_of_native(const struct recording *rec, struct rec_lines *to)
{
	size_t count;
	const struct rec_native_suspect *suspects = rec_native_suspects(rec, &count);

	for (size_t i = 0; i < count; i++)
		REC_LINE(to, out)
	rec_print_suspect(rec, &suspects[i], out);
	for (uint32_t id = 1; id <= rec_native_site_count(rec); id++) {
		const struct rec_native_site *site = rec_native_site_get(rec, id);

		/* As good as none. */
		if (!site->allocated_blocks && !site->freed_blocks)
			continue;
		REC_LINE(to, out)
		rec_print_site(rec, site, out);
	}
	for (uint32_t id = 1; id <= rec_native_calls_count(rec); id++)
		REC_LINE(to, out)
	rec_print_calls(rec, rec_native_calls_get(rec, id), out);
}

static inline void rec_lines_of_budgets(const struct recording *rec, struct rec_lines *to)
{
	size_t counts, budgets, changes;
	const struct rec_count *count = rec_native_counts(rec, &counts);
	const struct rec_native_budget *budget = rec_native_budgets(rec, &budgets);
	const struct rec_budget_event *change = rec_budget_events(rec, &changes);

	for (size_t i = 0; i < counts; i++)
		REC_LINE(to, out)
		{
			fprintf(out, "count %" PRIu64, count[i].value);
			rec_print_key(rec, count[i].jvm, count[i].name, out);
		}
	for (size_t i = 0; i < budgets; i++)
		REC_LINE(to, out)
	rec_print_budget(rec, &budget[i], out);
	for (size_t i = 0; i < changes; i++)
		REC_LINE(to, out)
	rec_print_change(rec, &change[i], out);
}

static inline void rec_lines_of_settings(const struct recording *rec, struct rec_lines *to)
{
	for (uint32_t id = 1; id <= rec_setting_count(rec); id++)
		REC_LINE(to, out)
		{
			const struct rec_setting *setting = rec_setting_get(rec, id);

			fprintf(out, "setting %s %s [%s] [%s]",
				rec_setting_kind_name((enum rec_setting_kind)setting->kind),
				rec_setting_type_name((enum rec_setting_type)setting->type),
				rec_text(rec, setting->value), rec_text(rec, setting->origin));
			rec_print_key(rec, setting->jvm, setting->name, out);
		}
}

static inline void rec_lines_of_series(const struct recording *rec, struct rec_lines *to)
{
	size_t count;
	uint64_t bucket_ns;
	const struct rec_series *series = rec_series(rec, &count, &bucket_ns);

	for (size_t i = 0; i < count; i++)
		REC_LINE(to, out)
		{
			fprintf(out, "series %" PRIu64 " %u", bucket_ns, series[i].buckets);
			rec_print_key(rec, series[i].jvm, series[i].name, out);
			for (uint32_t k = 0; k < series[i].buckets; k++)
				if (series[i].values[k].there)
					fprintf(out, " %u:%" PRId64, k, series[i].values[k].value);
		}
}

static inline void rec_lines_of_heap(const struct recording *rec, struct rec_lines *to)
{
	for (uint32_t id = 1; id <= rec_heap_class_count(rec); id++) {
		const struct rec_heap_class *row = rec_heap_class_get(rec, id);
		char *line;
		size_t size;
		FILE *out = open_memstream(&line, &size);

		fputs("class in the heap ", out);
		rec_print_key(rec, row->jvm, row->name, out);
		fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
			row->tlabs, row->tlab_bytes, row->inside_bytes, row->outside,
			row->outside_bytes);
		fclose(out);
		rec_lines_add(to, line);
	}
}

static inline void rec_lines_of_memory(const struct recording *rec, struct rec_lines *to)
{
	rec_lines_of_native(rec, to);
	rec_lines_of_heap(rec, to);
	rec_lines_of_budgets(rec, to);
	rec_lines_of_series(rec, to);
	rec_lines_of_settings(rec, to);
	for (uint32_t jvm = 1; jvm <= rec_jvm_count(rec); jvm++) {
		rec_lines_of_ledger(rec, rec_ledger_first(rec, jvm), "start", to);
		rec_lines_of_ledger(rec, rec_ledger_last(rec, jvm), "end", to);
	}
}

#endif
