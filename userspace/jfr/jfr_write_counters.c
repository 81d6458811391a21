/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/series.h"

/*
 * What is counted each second as events of the JDK. They say nothing that the series do not say,
 * which are in the file as jvmscope.Value, so readers of our files leave them out.
 */

#define NS_PER_S   1000000000.0
#define NS_PER_MS  1000000
#define FIELDS_MAX 11

enum kind {
	NO_FIELD,
	AS_LONG,
	AS_INT,
	AS_MS,	    /* of nanoseconds */
	AS_RATE,    /* a float: how much more each second */
	AS_REST,    /* what is left of the field before */
	AS_CGROUP,  /* a text, of a version */
	AS_MACHINE, /* a long of the machine */
	NOT_KNOWN   /* a long */
};

struct field {
	enum kind kind;
	const char *series;
};

static const struct counted {
	enum jfr_type_id type;
	bool of_machine;
	struct field fields[FIELDS_MAX]; /* without the first one there is no event */
} events[] = {
	{ .type = JFR_JAVA_THREAD_STATISTICS,
	  .fields = { { AS_LONG, "threads_live" },
		      { AS_LONG, "threads_daemon" },
		      { AS_LONG, "threads_started_total" },
		      { AS_LONG, "threads_peak" } } },
	{ .type = JFR_CLASS_LOADING_STATISTICS,
	  .fields = { { AS_LONG, "classes_loaded_total" },
		      { AS_LONG, "classes_unloaded_total" } } },
	{ .type = JFR_RESIDENT_SET_SIZE,
	  .fields = { { AS_LONG, "rss_bytes" }, { AS_LONG, "rss_peak_bytes" } } },
	{ .type = JFR_GC_HEAP_MEMORY_USAGE,
	  .fields = { { AS_LONG, "heap_used_bytes" },
		      { AS_LONG, "heap_committed_bytes" },
		      { NOT_KNOWN, NULL } } },
	{ .type = JFR_COMPILER_STATISTICS,
	  .fields = { { AS_INT, "compilations_total" },
		      { AS_INT, "compilation_bailouts_total" },
		      { AS_INT, "compilations_invalidated_total" },
		      { AS_INT, "osr_compilations_total" },
		      { AS_INT, "standard_compilations_total" },
		      { AS_LONG, "osr_bytes_total" },
		      { AS_LONG, "standard_bytes_total" },
		      { AS_LONG, "nmethod_bytes_total" },
		      { AS_LONG, "nmethod_code_bytes_total" },
		      { NOT_KNOWN, NULL },
		      { AS_MS, "compilation_ns_total" } } },
	{ .type = JFR_CONTAINER_CPU_USAGE,
	  .fields = { { AS_LONG, "cgroup_cpu_ns_total" },
		      { AS_LONG, "cgroup_cpu_user_ns_total" },
		      { AS_LONG, "cgroup_cpu_system_ns_total" } } },
	{ .type = JFR_CONTAINER_CPU_THROTTLING,
	  .fields = { { AS_LONG, "cgroup_cpu_periods_total" },
		      { AS_LONG, "cgroup_cpu_throttled_periods_total" },
		      { AS_LONG, "cgroup_cpu_throttled_ns_total" } } },
	{ .type = JFR_CONTAINER_MEMORY_USAGE,
	  .fields = { { AS_LONG, "cgroup_memory_refused_total" },
		      { AS_LONG, "cgroup_memory_bytes" },
		      { AS_LONG, "cgroup_swap_bytes" } } },
	{ .type = JFR_CONTAINER_CONFIGURATION,
	  .fields = { { AS_CGROUP, "cgroup_version" },
		      { AS_LONG, "cgroup_cpu_period_us" },
		      { AS_LONG, "cgroup_cpu_quota_us" },
		      { AS_LONG, "cgroup_cpu_shares" },
		      { AS_LONG, "cgroup_cpus" },
		      { AS_LONG, "cgroup_memory_soft_limit_bytes" },
		      { AS_LONG, "cgroup_memory_limit_bytes" },
		      { AS_LONG, "cgroup_swap_limit_bytes" },
		      { AS_MACHINE, REC_MACHINE "memory_bytes" },
		      { AS_MACHINE, REC_MACHINE "swap_bytes" } } },
	{ .type = JFR_PHYSICAL_MEMORY,
	  .of_machine = true,
	  .fields = { { AS_LONG, REC_MACHINE "memory_bytes" },
		      { AS_LONG, REC_MACHINE "memory_used_bytes" } } },
	{ .type = JFR_SWAP_SPACE,
	  .of_machine = true,
	  .fields = { { AS_LONG, REC_MACHINE "swap_bytes" },
		      { AS_REST, REC_MACHINE "swap_used_bytes" } } },
	{ .type = JFR_THREAD_CONTEXT_SWITCH_RATE,
	  .of_machine = true,
	  .fields = { { AS_RATE, REC_MACHINE "context_switches_total" } } },
};
#define EVENTS (sizeof(events) / sizeof(*events))

/* As the JVM calls its pools. */
static const struct {
	const char *gc;
	const char *names[4]; /* as pool_fields */
} pools[] = {
	{ "G1", { "G1 Eden Space", "G1 Survivor Space", "G1 Old Gen" } },
	{ "Parallel", { "PS Eden Space", "PS Survivor Space", "PS Old Gen" } },
	{ "Serial", { "Eden Space", "Survivor Space", "Tenured Gen" } },
	{ "CMS", { "Par Eden Space", "Par Survivor Space", "CMS Old Gen" } },
	{ "ZGC", { NULL, NULL, "ZGC Old Generation", "ZGC Young Generation" } },
	{ "Shenandoah", { NULL, NULL, "Shenandoah Old Gen", "Shenandoah Young Gen" } },
};
#define POOLS	    4
#define POOL_FIELDS 2
static const struct field pool_fields[POOLS][POOL_FIELDS] = {
	{ { AS_LONG, "heap_eden_used_bytes" }, { AS_LONG, "heap_eden_committed_bytes" } },
	{ { AS_LONG, "heap_survivor_used_bytes" }, { AS_LONG, "heap_survivor_committed_bytes" } },
	{ { AS_LONG, "heap_old_used_bytes" }, { AS_LONG, "heap_old_committed_bytes" } },
	{ { AS_LONG, "heap_young_used_bytes" }, { AS_LONG, "heap_young_committed_bytes" } },
};

/* Some of the series of a recording: those of one JVM, or of the machine. */
struct slice {
	const struct rec_series **rows;
	size_t count;
};

/* What is said of a JVM or of the machine, found once for all of its readings. */
struct source {
	const struct recording *rec;
	uint32_t jvm;
	const struct rec_series *times; /* NULL: it has no readings */
	const struct rec_series *fields[EVENTS][FIELDS_MAX];
	const struct rec_series *pools[POOLS][POOL_FIELDS];
};

/* What of a JVM is in the load of all of them. */
struct load {
	const struct rec_series *times, *user, *system;
};
struct loads {
	struct load *rows;
	size_t count;
	const struct rec_series *busy, *all; /* of the machine */
};

/* A moment of it, and the one before. */
struct reading {
	uint32_t bucket;
	uint32_t before; /* a bucket; the same: there is none */
	int64_t at_ns;
	int64_t before_ns;
};

static const struct rec_series *find(const struct recording *rec, const struct slice *own,
				     const char *name)
{
	for (size_t i = 0; i < own->count; i++)
		if (!strcmp(rec_text(rec, own->rows[i]->name), name))
			return own->rows[i];
	return NULL;
}

static void open_source(struct source *source, const struct recording *rec, const struct slice *own,
			const struct slice *machine)
{
	uint32_t jvm = own->count ? own->rows[0]->jvm : 0;

	*source = (struct source){ .rec = rec, .jvm = jvm };
	source->times = find(rec, own, jvm ? REC_SERIES_AT : REC_MACHINE_SERIES_AT);
	for (size_t i = 0; i < EVENTS && source->times; i++) {
		for (size_t k = 0; k < FIELDS_MAX && events[i].of_machine == !jvm; k++) {
			const struct field *field = &events[i].fields[k];

			if (field->series)
				source->fields[i][k] =
					find(rec, field->kind == AS_MACHINE ? machine : own,
					     field->series);
		}
	}
	for (size_t i = 0; i < POOLS && source->times && jvm; i++)
		for (size_t k = 0; k < POOL_FIELDS; k++)
			source->pools[i][k] = find(rec, own, pool_fields[i][k].series);
}

/* ---- fields */

/* How much more it is than in the reading before, each second; NAN when that is not known. */
static double rate_of(const struct reading *r, const struct rec_series *series)
{
	int64_t now, then;

	if (r->before == r->bucket || r->at_ns <= r->before_ns ||
	    !rec_series_get(series, r->bucket, &now) || !rec_series_get(series, r->before, &then) ||
	    now < then)
		return NAN;
	return ((double)now - (double)then) * NS_PER_S / (double)(r->at_ns - r->before_ns);
}

static int64_t last_value(const struct rec_series *series)
{
	int64_t value = JFR_NOT_KNOWN;

	for (uint32_t i = series ? series->buckets : 0; i-- > 0;)
		if (rec_series_get(series, i, &value))
			break;
	return value;
}

/* Whether it is known. series is that of the field, among those of the fields around it. */
static bool put_field(struct jfr_writer *w, const struct reading *r, const struct field *field,
		      const struct rec_series *const *series)
{
	int64_t value = 0, whole;
	bool known = rec_series_get(*series, r->bucket, &value);

	switch (field->kind) {
	case NO_FIELD:
		break;
	case AS_LONG:
	case NOT_KNOWN:
		jfr_put_long(&w->bytes, (uint64_t)(known ? value : JFR_NOT_KNOWN));
		break;
	case AS_INT:
		jfr_put_int(&w->bytes, (int32_t)value);
		break;
	case AS_MS:
		jfr_put_long(&w->bytes, (uint64_t)(known ? value / NS_PER_MS : JFR_NOT_KNOWN));
		break;
	case AS_RATE:
		jfr_put_float(&w->bytes, (float)rate_of(r, *series));
		known = !isnan(rate_of(r, *series));
		break;
	case AS_CGROUP:
		jfr_put_text(&w->bytes, value == 1 ? "cgroupv1" : "cgroupv2");
		break;
	case AS_MACHINE:
		jfr_put_long(&w->bytes, (uint64_t)last_value(*series));
		break;
	case AS_REST:
		known = known && rec_series_get(series[-1], r->bucket, &whole);
		jfr_put_long(&w->bytes, (uint64_t)(known ? whole - value : JFR_NOT_KNOWN));
		break;
	}
	return known;
}

static int64_t time_of(const struct source *source, const struct reading *r)
{
	return rec_sum(rec_meta_get(source->rec)->start_time_ns, r->at_ns);
}

static void put_event(struct jfr_writer *w, const struct source *source, const struct reading *r,
		      size_t number)
{
	const struct counted *event = &events[number];
	size_t at = jfr_begin(w, event->type, time_of(source, r));

	for (size_t i = 0; i < FIELDS_MAX && event->fields[i].kind != NO_FIELD; i++) {
		if (!put_field(w, r, &event->fields[i], &source->fields[number][i]) && !i) {
			w->bytes.len = at;
			return;
		}
	}
	jfr_end_event(&w->bytes, at);
}

/* ---- pools */

static const char *pool_name(const struct source *source, size_t pool)
{
	const struct rec_jvm *jvm = rec_jvm_get(source->rec, source->jvm);

	for (size_t i = 0; jvm && i < sizeof(pools) / sizeof(*pools); i++)
		if (!strcmp(pools[i].gc, rec_text(source->rec, jvm->gc_name)))
			return pools[i].names[pool];
	return NULL;
}

static void put_pool(struct jfr_writer *w, const struct source *source, const struct reading *r,
		     size_t pool)
{
	const char *name = pool_name(source, pool);
	size_t at;

	if (!name)
		return;
	at = jfr_begin(w, JFR_GC_HEAP_MEMORY_POOL_USAGE, time_of(source, r));
	jfr_put_text(&w->bytes, name);
	if (!put_field(w, r, &pool_fields[pool][0], &source->pools[pool][0])) {
		w->bytes.len = at;
		return;
	}
	put_field(w, r, &pool_fields[pool][1], &source->pools[pool][1]);
	jfr_put_long(&w->bytes, (uint64_t)JFR_NOT_KNOWN);
	jfr_end_event(&w->bytes, at);
}

/* ---- readings */

/* The last bucket before this one that was read; this one when there is none. */
static void find_before(struct reading *r, const struct rec_series *times)
{
	r->before = r->bucket;
	for (uint32_t i = r->bucket; i-- > 0;) {
		if (rec_series_get(times, i, &r->before_ns)) {
			r->before = i;
			return;
		}
	}
}

static float share(double part)
{
	return (float)(part > 1 ? 1 : part);
}

/* Of all JVMs together, as the loads by samples are. */
static void put_load(struct jfr_writer *w, const struct source *machine, const struct reading *m,
		     const struct loads *loads)
{
	double user = NAN, system = NAN, cpus = rec_meta_get(machine->rec)->cpus;
	double busy = rate_of(m, loads->busy), all = rate_of(m, loads->all);
	size_t at;

	for (size_t i = 0; i < loads->count; i++) {
		const struct load *load = &loads->rows[i];
		struct reading r = { .bucket = m->bucket };

		if (!rec_series_get(load->times, r.bucket, &r.at_ns))
			continue;
		find_before(&r, load->times);
		if (isnan(rate_of(&r, load->user)))
			continue;
		user = (isnan(user) ? 0 : user) + rate_of(&r, load->user);
		system = (isnan(system) ? 0 : system) + rate_of(&r, load->system);
	}
	if (isnan(user) || !(cpus > 0))
		return;
	at = jfr_begin(w, JFR_CPU_LOAD, time_of(machine, m));
	jfr_put_float(&w->bytes, share(user / NS_PER_S / cpus));
	jfr_put_float(&w->bytes, share(system / NS_PER_S / cpus));
	jfr_put_float(&w->bytes, all > 0 ? share(busy / all) : NAN);
	jfr_end_event(&w->bytes, at);
	w->has_loads = true;
}

static void put_reading(struct jfr_writer *w, const struct source *source, const struct reading *r)
{
	for (size_t i = 0; i < EVENTS; i++)
		if (events[i].of_machine == !source->jvm)
			put_event(w, source, r, i);
	for (size_t pool = 0; pool < POOLS && source->jvm; pool++)
		put_pool(w, source, r, pool);
}

/* Each reading since the last segment. loads is NULL for those of a JVM. */
static void put_readings(struct jfr_writer *w, const struct source *source, uint64_t bucket_ns,
			 const struct loads *loads)
{
	struct reading r = { 0 };
	int64_t said_ns = w->counted[source->jvm];

	if (!source->times)
		return;
	r.bucket = said_ns > 0 ? (uint32_t)((uint64_t)said_ns / bucket_ns) : 0;
	for (; r.bucket < source->times->buckets; r.bucket++) {
		if (!rec_series_get(source->times, r.bucket, &r.at_ns) || r.at_ns <= said_ns)
			continue;
		find_before(&r, source->times);
		put_reading(w, source, &r);
		if (loads)
			put_load(w, source, &r, loads);
		w->counted[source->jvm] = r.at_ns;
	}
}

/* ---- the JVMs that have series, which may be few of many */

static int by_jvm(const void *a, const void *b)
{
	const struct rec_series *left = *(const struct rec_series *const *)a;
	const struct rec_series *right = *(const struct rec_series *const *)b;

	if (left->jvm != right->jvm)
		return left->jvm < right->jvm ? -1 : 1;
	return left < right ? -1 : 1;
}

/* The series of the JVM whose first one is rows[0]. */
static struct slice slice_of(const struct rec_series **rows, size_t left)
{
	struct slice slice = { .rows = rows };

	while (slice.count < left && rows[slice.count]->jvm == rows[0]->jvm)
		slice.count++;
	return slice;
}

static void put_sorted(struct jfr_writer *w, const struct recording *rec,
		       const struct slice *sorted, struct loads *loads, uint64_t bucket_ns)
{
	struct slice machine = { 0 };
	struct source source;
	size_t at = 0;

	if (!sorted->rows[0]->jvm)
		machine = slice_of(sorted->rows, sorted->count);
	for (at = machine.count; at < sorted->count;) {
		struct slice own = slice_of(sorted->rows + at, sorted->count - at);

		at += own.count;
		open_source(&source, rec, &own, &machine);
		put_readings(w, &source, bucket_ns, NULL);
		loads->rows[loads->count++] =
			(struct load){ .times = source.times,
				       .user = find(rec, &own, "cpu_user_ns_total"),
				       .system = find(rec, &own, "cpu_system_ns_total") };
	}
	loads->busy = find(rec, &machine, REC_MACHINE "cpu_busy_ns_total");
	loads->all = find(rec, &machine, REC_MACHINE "cpu_ns_total");
	open_source(&source, rec, &machine, &machine);
	put_readings(w, &source, bucket_ns, loads);
}

void jfr_put_counters(struct jfr_writer *w, const struct recording *rec)
{
	uint32_t jvms = rec_jvm_count(rec);
	int64_t *counted = jfr_reach(w, w->counted, &w->counted_capacity, jvms, sizeof(*counted));
	uint64_t bucket_ns;
	struct slice sorted;
	const struct rec_series *all = rec_series(rec, &sorted.count, &bucket_ns);
	struct loads loads = { 0 };

	if (!counted)
		return;
	w->counted = counted;
	if (!sorted.count)
		return;
	sorted.rows = calloc(sorted.count, sizeof(*sorted.rows));
	loads.rows = calloc(sorted.count, sizeof(*loads.rows));
	if (sorted.rows && loads.rows) {
		for (size_t i = 0; i < sorted.count; i++)
			sorted.rows[i] = &all[i];
		qsort(sorted.rows, sorted.count, sizeof(*sorted.rows), by_jvm);
		put_sorted(w, rec, &sorted, &loads, bucket_ns);
	} else {
		w->failed = true;
	}
	free(sorted.rows);
	free(loads.rows);
}
