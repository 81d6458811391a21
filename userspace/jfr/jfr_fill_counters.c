/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_fill_counters.h"

#include "jfr/jfr_fill_impl.h"
#include "model/series.h"

/*
 * The part of jfr_fill.c for what JVMs count in their own recordings; ours have it in
 * jvmscope.Value.
 */

#define NAMES_MAX 4

enum { AT_TIME, AT_FIRST };

/* Values of one event, in the order of its fields; those that are not known are left out. */
static void add_values(struct jfr_filler *f, const struct jfr_item *e, uint32_t jvm,
		       const char *const names[NAMES_MAX])
{
	int64_t time_ns = jfr_ns(e, AT_TIME), since_ns;
	struct rec_meta *meta = rec_meta(f->rec);

	if (f->is_ours || time_ns == INT64_MIN)
		return;
	/* Chunks say when they begin at their end. */
	if (!meta->start_time_ns)
		meta->start_time_ns = e->chunk->start_ns;
	if (__builtin_sub_overflow(time_ns, meta->start_time_ns, &since_ns) || since_ns < 0)
		return;
	for (unsigned int i = 0; i < NAMES_MAX && names[i]; i++) {
		int64_t value = jfr_number(e, AT_FIRST + i);

		if (e->slots[AT_FIRST + i].taken == JFR_TAKEN_NUMBER && value != INT64_MIN)
			rec_series_add(f->rec, jvm, names[i], time_ns, value);
	}
	rec_series_add(f->rec, jvm, jvm ? REC_SERIES_AT : REC_MACHINE_SERIES_AT, time_ns, since_ns);
}

static void add_of_jvm(struct jfr_filler *f, const struct jfr_item *e,
		       const char *const names[NAMES_MAX])
{
	if (f->resolver.jvm)
		add_values(f, e, f->resolver.jvm, names);
}

void jfr_fill_thread_statistics(void *ctx, const struct jfr_item *e)
{
	static const char *const names[NAMES_MAX] = { "threads_live", "threads_daemon",
						      "threads_started_total", "threads_peak" };

	add_of_jvm(ctx, e, names);
}

void jfr_fill_class_statistics(void *ctx, const struct jfr_item *e)
{
	static const char *const names[NAMES_MAX] = { "classes_loaded_total",
						      "classes_unloaded_total" };

	add_of_jvm(ctx, e, names);
}

void jfr_fill_resident_set_size(void *ctx, const struct jfr_item *e)
{
	static const char *const names[NAMES_MAX] = { "rss_bytes", "rss_peak_bytes" };

	add_of_jvm(ctx, e, names);
}

void jfr_fill_heap_usage(void *ctx, const struct jfr_item *e)
{
	static const char *const names[NAMES_MAX] = { "heap_used_bytes", "heap_committed_bytes" };

	add_of_jvm(ctx, e, names);
}

void jfr_fill_throttling(void *ctx, const struct jfr_item *e)
{
	static const char *const names[NAMES_MAX] = { "cgroup_cpu_periods_total",
						      "cgroup_cpu_throttled_periods_total",
						      "cgroup_cpu_throttled_ns_total" };

	add_of_jvm(ctx, e, names);
}

void jfr_fill_physical_memory(void *ctx, const struct jfr_item *e)
{
	static const char *const names[NAMES_MAX] = { REC_MACHINE "memory_bytes",
						      REC_MACHINE "memory_used_bytes" };

	add_values(ctx, e, 0, names);
}
