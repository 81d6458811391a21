/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
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
#define OWN_MAX	   128 /* 70 are usual */

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
	const char *names[4];
} pools[] = {
	{ "G1", { "G1 Eden Space", "G1 Survivor Space", "G1 Old Gen" } },
	{ "Parallel", { "PS Eden Space", "PS Survivor Space", "PS Old Gen" } },
	{ "Serial", { "Eden Space", "Survivor Space", "Tenured Gen" } },
	{ "CMS", { "Par Eden Space", "Par Survivor Space", "CMS Old Gen" } },
	{ "ZGC", { NULL, NULL, "ZGC Old Generation", "ZGC Young Generation" } },
	{ "Shenandoah", { NULL, NULL, "Shenandoah Old Gen", "Shenandoah Young Gen" } },
};
static const struct field pool_fields[4][2] = {
	{ { AS_LONG, "heap_eden_used_bytes" }, { AS_LONG, "heap_eden_committed_bytes" } },
	{ { AS_LONG, "heap_survivor_used_bytes" }, { AS_LONG, "heap_survivor_committed_bytes" } },
	{ { AS_LONG, "heap_old_used_bytes" }, { AS_LONG, "heap_old_committed_bytes" } },
	{ { AS_LONG, "heap_young_used_bytes" }, { AS_LONG, "heap_young_committed_bytes" } },
};

/* One reading of a JVM or of the machine, and the one before it. */
struct reading {
	const struct recording *rec;
	uint32_t jvm;
	uint32_t bucket;
	uint32_t before; /* a bucket; the same: there is none */
	int64_t at_ns;
	int64_t before_ns;
	/* Those of the JVM, which are few of many. */
	const struct rec_series *own[OWN_MAX];
	size_t own_count;
};

static void find_own(struct reading *r)
{
	uint64_t bucket_ns;
	size_t count;
	const struct rec_series *all = rec_series(r->rec, &count, &bucket_ns);

	for (size_t i = 0; i < count && r->own_count < OWN_MAX; i++)
		if (all[i].jvm == r->jvm)
			r->own[r->own_count++] = &all[i];
}

static const struct rec_series *series_of(const struct reading *r, const char *name)
{
	for (size_t i = 0; i < r->own_count; i++)
		if (!strcmp(rec_text(r->rec, r->own[i]->name), name))
			return r->own[i];
	return NULL;
}

static const struct rec_series *times_of(const struct reading *r)
{
	return series_of(r, r->jvm ? REC_SERIES_AT : REC_MACHINE_SERIES_AT);
}

/* ---- fields */

/* How much more it is than in the reading before, each second; NAN when that is not known. */
static double rate_of(const struct reading *r, const char *name)
{
	const struct rec_series *series = series_of(r, name);
	int64_t now, then;

	if (r->before == r->bucket || r->at_ns <= r->before_ns ||
	    !rec_series_get(series, r->bucket, &now) || !rec_series_get(series, r->before, &then) ||
	    now < then)
		return NAN;
	return ((double)now - (double)then) * NS_PER_S / (double)(r->at_ns - r->before_ns);
}

/* The last value there is of the machine. */
static int64_t machine_value(const struct recording *rec, const char *name)
{
	uint64_t bucket_ns;
	size_t count;
	const struct rec_series *all = rec_series(rec, &count, &bucket_ns);
	int64_t value = JFR_NOT_KNOWN;

	for (size_t i = 0; i < count; i++) {
		if (all[i].jvm || strcmp(rec_text(rec, all[i].name), name) != 0)
			continue;
		for (uint32_t k = all[i].buckets; k-- > 0;)
			if (rec_series_get(&all[i], k, &value))
				return value;
	}
	return value;
}

/* Whether it is known. */
static bool put_field(struct jfr_writer *w, const struct reading *r, const struct field *field)
{
	const struct rec_series *series = NULL;
	int64_t value = 0, whole;
	bool known;

	if (field->series)
		series = series_of(r, field->series);
	known = rec_series_get(series, r->bucket, &value);
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
		jfr_put_float(&w->bytes, (float)rate_of(r, field->series));
		known = !isnan(rate_of(r, field->series));
		break;
	case AS_CGROUP:
		jfr_put_text(&w->bytes, value == 1 ? "cgroupv1" : "cgroupv2");
		break;
	case AS_MACHINE:
		jfr_put_long(&w->bytes, (uint64_t)machine_value(r->rec, field->series));
		break;
	case AS_REST:
		series = series_of(r, field[-1].series);
		known = known && rec_series_get(series, r->bucket, &whole);
		jfr_put_long(&w->bytes, (uint64_t)(known ? whole - value : JFR_NOT_KNOWN));
		break;
	}
	return known;
}

static void put_event(struct jfr_writer *w, const struct reading *r, const struct counted *event)
{
	int64_t time_ns = rec_sum(rec_meta_get(r->rec)->start_time_ns, r->at_ns);
	size_t at = jfr_begin(w, event->type, time_ns);

	for (size_t i = 0; i < FIELDS_MAX && event->fields[i].kind != NO_FIELD; i++) {
		if (!put_field(w, r, &event->fields[i]) && !i) {
			w->bytes.len = at;
			return;
		}
	}
	jfr_end_event(&w->bytes, at);
}

/* ---- pools */

static const char *pool_name(const struct reading *r, size_t pool)
{
	const struct rec_jvm *jvm = rec_jvm_get(r->rec, r->jvm);

	for (size_t i = 0; jvm && i < sizeof(pools) / sizeof(*pools); i++)
		if (!strcmp(pools[i].gc, rec_text(r->rec, jvm->gc_name)))
			return pools[i].names[pool];
	return NULL;
}

static void put_pool(struct jfr_writer *w, const struct reading *r, size_t pool)
{
	int64_t time_ns = rec_sum(rec_meta_get(r->rec)->start_time_ns, r->at_ns);
	const char *name = pool_name(r, pool);
	size_t at;

	if (!name)
		return;
	at = jfr_begin(w, JFR_GC_HEAP_MEMORY_POOL_USAGE, time_ns);
	jfr_put_text(&w->bytes, name);
	if (!put_field(w, r, &pool_fields[pool][0])) {
		w->bytes.len = at;
		return;
	}
	put_field(w, r, &pool_fields[pool][1]);
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

typedef void reading_fn(struct jfr_writer *w, const struct reading *r);

/* Calls put for each reading since the last segment. */
static void each_reading(struct jfr_writer *w, const struct recording *rec, uint32_t jvm,
			 reading_fn *put)
{
	struct reading r = { .rec = rec, .jvm = jvm };
	const struct rec_series *times;
	uint64_t bucket_ns;
	int64_t said_ns;
	size_t count;

	rec_series(rec, &count, &bucket_ns);
	find_own(&r);
	times = times_of(&r);
	if (!times)
		return;
	said_ns = w->counted[jvm];
	r.bucket = said_ns > 0 ? (uint32_t)((uint64_t)said_ns / bucket_ns) : 0;
	for (; r.bucket < times->buckets; r.bucket++) {
		if (!rec_series_get(times, r.bucket, &r.at_ns) || r.at_ns <= said_ns)
			continue;
		find_before(&r, times);
		put(w, &r);
		w->counted[jvm] = r.at_ns;
	}
}

static void put_reading(struct jfr_writer *w, const struct reading *r)
{
	for (size_t i = 0; i < EVENTS; i++)
		if (events[i].of_machine == !r->jvm)
			put_event(w, r, &events[i]);
	for (size_t pool = 0; pool < 4 && r->jvm; pool++)
		put_pool(w, r, pool);
}

/* ---- loads */

static float share(double part)
{
	return (float)(part > 1 ? 1 : part);
}

/* Of all JVMs together, as the loads by samples are. */
static void put_load(struct jfr_writer *w, const struct reading *machine)
{
	const struct recording *rec = machine->rec;
	double user = NAN, system = NAN, cpus = rec_meta_get(rec)->cpus;
	double busy = rate_of(machine, REC_MACHINE "cpu_busy_ns_total");
	double all = rate_of(machine, REC_MACHINE "cpu_ns_total");
	size_t at;

	for (uint32_t jvm = 1; jvm <= rec_jvm_count(rec); jvm++) {
		struct reading r = { .rec = rec, .jvm = jvm, .bucket = machine->bucket };
		const struct rec_series *times;

		find_own(&r);
		times = times_of(&r);
		if (!rec_series_get(times, r.bucket, &r.at_ns))
			continue;
		find_before(&r, times);
		if (isnan(rate_of(&r, "cpu_user_ns_total")))
			continue;
		user = (isnan(user) ? 0 : user) + rate_of(&r, "cpu_user_ns_total");
		system = (isnan(system) ? 0 : system) + rate_of(&r, "cpu_system_ns_total");
	}
	if (isnan(user) || !(cpus > 0))
		return;
	at = jfr_begin(w, JFR_CPU_LOAD, rec_sum(rec_meta_get(rec)->start_time_ns, machine->at_ns));
	jfr_put_float(&w->bytes, share(user / NS_PER_S / cpus));
	jfr_put_float(&w->bytes, share(system / NS_PER_S / cpus));
	jfr_put_float(&w->bytes, all > 0 ? share(busy / all) : NAN);
	jfr_end_event(&w->bytes, at);
	w->has_loads = true;
}

static void put_machine(struct jfr_writer *w, const struct reading *r)
{
	put_reading(w, r);
	put_load(w, r);
}

void jfr_put_counters(struct jfr_writer *w, const struct recording *rec)
{
	uint32_t jvms = rec_jvm_count(rec);
	int64_t *counted = jfr_reach(w, w->counted, &w->counted_capacity, jvms, sizeof(*counted));

	if (!counted)
		return;
	w->counted = counted;
	for (uint32_t jvm = 1; jvm <= jvms; jvm++)
		each_reading(w, rec, jvm, put_reading);
	each_reading(w, rec, 0, put_machine);
}
