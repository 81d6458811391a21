/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "cli/summary_classes.h"
#include "cli/summary_gc.h"
#include "cli/summary_heap.h"
#include "cli/summary_leaks.h"
#include "cli/summary_memory.h"
#include "cli/summary_native.h"
#include "model/recording.h"
#include "model/top.h"

#define TOP_METHODS  5
#define TOP_GROUPS   8
#define TOP_THREADS  3
#define NAME_MAX_LEN 120

struct writer {
	const struct recording *rec;
	const struct colors *colors;
	FILE *out;
};

static double percent(double part, double all)
{
	return all > 0 ? 100.0 * part / all : 0;
}

static double recorded_ns(const struct rec_meta *meta)
{
	return (double)(meta->end_time_ns - meta->start_time_ns);
}

static void start_line(const struct writer *w, const char *title)
{
	fprintf(w->out, "%s%-9s%s ", w->colors->bold, title, w->colors->off);
}

/* Nothing when there is no word, or an empty one: of a JVM that ended before it was read. */
static void add_word(const struct writer *w, const char *before, uint32_t string)
{
	if (string && *rec_text(w->rec, string))
		fprintf(w->out, "%s%s", before, rec_text(w->rec, string));
}

static void write_jvms(const struct writer *w)
{
	uint32_t count = rec_jvm_count(w->rec);
	const struct rec_jvm *jvm = rec_jvm_get(w->rec, 1);

	start_line(w, "target");
	if (!count) {
		fputs("none\n", w->out);
		return;
	}
	if (count > 1)
		fprintf(w->out, "%" PRIu32 " JVMs, the first: ", count);
	fprintf(w->out, "pid %d", jvm->pid);
	add_word(w, " ", jvm->main_class);
	add_word(w, ", JDK ", jvm->version);
	add_word(w, ", ", jvm->gc_name);
	fputc('\n', w->out);
}

/* Whether -e had cpu; a recording that does not say has. */
static bool has_cpu_samples(const struct writer *w)
{
	const struct rec_meta *meta = rec_meta_get(w->rec);

	return !meta->events || strstr(rec_text(w->rec, meta->events), "cpu");
}

/* How many samples in which time, or the time alone where none were to be taken. */
static void write_samples(const struct writer *w, int64_t samples)
{
	const struct rec_meta *meta = rec_meta_get(w->rec);
	double time_ns = recorded_ns(meta);
	char count[TEXT_MAX];
	char time[TEXT_MAX];
	char cpu[TEXT_MAX];

	text_ns(time_ns > 0 ? (uint64_t)time_ns : 0, time);
	start_line(w, has_cpu_samples(w) ? "samples" : "recorded");
	if (has_cpu_samples(w))
		fprintf(w->out, "%s in %s, %.0f a second of CPU time (%" PRIu32 " asked, %s)",
			text_count((uint64_t)samples, count), time, meta->achieved_hz,
			meta->frequency_hz, rec_text(w->rec, meta->clock));
	else
		fputs(time, w->out);
	fprintf(w->out, "; CPU %s", text_ns(meta->target_cpu_ns, cpu));
	/* In less than a millisecond both are noise. */
	if (time_ns > 1e6)
		fprintf(w->out, " = %.2f cores", (double)meta->target_cpu_ns / time_ns);
	fputc('\n', w->out);
}

/* " (ring_full 3, slot_busy 1)", or nothing. */
static void add_reasons(const struct writer *w, enum rec_quality_group group)
{
	const struct rec_quality_row *rows;
	const char *before = " (";
	size_t count;

	rows = rec_quality_rows(w->rec, &count);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].group != group || !rows[i].count)
			continue;
		fprintf(w->out, "%s%s %" PRIu64, before, rows[i].name, rows[i].count);
		before = ", ";
	}
	if (before[0] == ',')
		fputc(')', w->out);
}

static void write_quality(const struct writer *w)
{
	uint64_t complete = rec_quality_sum(w->rec, REC_QUALITY_COMPLETE);
	uint64_t truncated = rec_quality_sum(w->rec, REC_QUALITY_TRUNCATED_BY);
	uint64_t broken = rec_quality_sum(w->rec, REC_QUALITY_BROKEN_BY);
	uint64_t lost = rec_quality_sum(w->rec, REC_QUALITY_LOST);
	uint64_t all = complete + truncated + broken;
	char text[TEXT_MAX];

	start_line(w, "stacks");
	fprintf(w->out, "%.2f %% complete; truncated %s", percent((double)complete, (double)all),
		text_count(truncated, text));
	add_reasons(w, REC_QUALITY_TRUNCATED_BY);
	fprintf(w->out, ", broken %s", text_count(broken, text));
	add_reasons(w, REC_QUALITY_BROKEN_BY);
	fprintf(w->out, ", %slost %s%s", lost ? w->colors->bad : "", text_count(lost, text),
		lost ? w->colors->off : "");
	add_reasons(w, REC_QUALITY_LOST);
	fputc('\n', w->out);
}

/* Whose code ran. Nothing when no rules were applied. */
static void write_code(const struct writer *w)
{
	const struct rec_filter *filter = rec_filter_get(w->rec);
	double all = (double)(filter->application + filter->library + filter->no_java);

	if (!filter->mode || !all)
		return;
	start_line(w, "code");
	fprintf(w->out,
		"application %.1f %%, library %.1f %%, no Java %.1f %% by the innermost Java "
		"frame; application somewhere %.1f %%",
		percent((double)filter->application, all), percent((double)filter->library, all),
		percent((double)filter->no_java, all),
		percent((double)filter->with_application, all));
	if (filter->dropped)
		fprintf(w->out, "; dropped %.1f %%", percent((double)filter->dropped, all));
	fputc('\n', w->out);
}

struct share {
	uint32_t id; /* string (group) or thread */
	int64_t count;
};

static void add_share(struct share *shares, size_t *used, size_t max, uint32_t id, int64_t count)
{
	size_t at = 0;

	while (at < *used && shares[at].id != id)
		at++;
	if (at == max)
		return;
	shares[at].id = id;
	shares[at].count += count;
	if (at == *used)
		(*used)++;
}

static int by_count(const void *a, const void *b)
{
	const struct share *left = a;
	const struct share *right = b;

	return (left->count < right->count) - (left->count > right->count);
}

/* Of several JVMs each has its "main" and its "C2 CompilerThread0": the pid tells them apart. */
static void write_thread(const struct writer *w, const struct share *share, int64_t samples)
{
	const struct rec_thread *thread = rec_thread_get(w->rec, share->id);
	const struct rec_jvm *jvm = rec_jvm_get(w->rec, thread->jvm);

	fprintf(w->out, "\"%s\"", rec_text(w->rec, thread->name));
	if (jvm && rec_jvm_count(w->rec) > 1)
		fprintf(w->out, " of pid %d", jvm->pid);
	fprintf(w->out, " %.1f %%", percent((double)share->count, (double)samples));
}

/* Which kinds of threads used the CPU, and the busiest threads. */
static void write_threads(const struct writer *w, int64_t samples)
{
	uint32_t threads = rec_thread_count(w->rec);
	struct share *by_thread = calloc((size_t)threads + 1, sizeof(*by_thread));
	struct share groups[TOP_GROUPS] = { 0 };
	const struct rec_total *totals;
	size_t group_count = 0;
	size_t count;

	if (!by_thread)
		return;
	totals = rec_totals(w->rec, &count);
	for (size_t i = 0; i < count; i++) {
		const struct rec_key *key = &totals[i].key;
		const struct rec_thread *thread = rec_thread_get(w->rec, key->thread);

		if (key->metric != REC_CPU || !thread)
			continue;
		by_thread[key->thread].id = key->thread;
		by_thread[key->thread].count += totals[i].count;
		add_share(groups, &group_count, TOP_GROUPS, thread->group, totals[i].count);
	}
	qsort(groups, group_count, sizeof(*groups), by_count);
	qsort(by_thread, (size_t)threads + 1, sizeof(*by_thread), by_count);

	start_line(w, "threads");
	for (size_t i = 0; i < group_count; i++)
		fprintf(w->out, "%s%s %.1f %%", i ? ", " : "", rec_text(w->rec, groups[i].id),
			percent((double)groups[i].count, (double)samples));
	for (size_t i = 0; i < TOP_THREADS && i <= threads && by_thread[i].count; i++) {
		fputs(i ? ", " : "; ", w->out);
		write_thread(w, &by_thread[i], samples);
	}
	fputc('\n', w->out);
	free(by_thread);
}

static void write_top(const struct writer *w, const struct top_row *rows, int count, int64_t all)
{
	char name[NAME_MAX_LEN];

	for (int i = 0; i < count; i++) {
		start_line(w, i ? "" : "top self");
		fprintf(w->out, "%5.1f %%  %s\n", percent((double)rows[i].self, (double)all),
			rec_method_text(w->rec, rows[i].method, name, sizeof(name)));
	}
}

static void write_cost(const struct writer *w, uint64_t startup_cpu_ns)
{
	const struct rec_meta *meta = rec_meta_get(w->rec);
	uint64_t own_ns = meta->own_cpu_ns > startup_cpu_ns ? meta->own_cpu_ns - startup_cpu_ns : 0;
	char startup[TEXT_MAX];
	char rss[TEXT_MAX];
	char maps[TEXT_MAX];
	char each[TEXT_MAX];

	start_line(w, "own cost");
	fprintf(w->out, "CPU %.2f %% of a core after %s to start, RSS %s, BPF maps %s",
		percent((double)own_ns, recorded_ns(meta)), text_ns(startup_cpu_ns, startup),
		text_bytes(meta->own_rss_bytes, rss), text_bytes(meta->own_map_bytes, maps));
	if (meta->bpf_ns && meta->seen)
		fprintf(w->out, ", %s in BPF a sample", text_ns(meta->bpf_ns / meta->seen, each));
	fputc('\n', w->out);
}

void summary_write(const struct recording *rec, uint64_t startup_cpu_ns,
		   const struct colors *colors, FILE *out)
{
	struct writer w = { rec, colors, out };
	struct top_row rows[TOP_METHODS];
	int64_t all = 0;
	int count;

	count = top_methods(rec, REC_CPU, rows, TOP_METHODS, &all);
	write_jvms(&w);
	write_samples(&w, all);
	write_code(&w);
	if (all) {
		write_quality(&w);
		write_top(&w, rows, count, all);
		write_threads(&w, all);
	}
	summary_gc(rec, colors, out);
	summary_classes(rec, colors, out);
	summary_heap(rec, colors, out);
	summary_native(rec, colors, out);
	summary_mapped(rec, colors, out);
	summary_leaks(rec, colors, out);
	summary_changes(rec, colors, out);
	summary_memory(rec, colors, out);
	write_cost(&w, startup_cpu_ns);
}
