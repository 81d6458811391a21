/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/counters.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/text.h"
#include "model/recording.h"
#include "model/series.h"
#include "model/settings.h"
#include "target/machine.h"
#include "target/target.h"

#define NS_PER_S 1000000000ll

#define PROPERTY_MAX 1025 /* 1,024 are all that a JVM shows of one */
#define MISSES_SAID  3	  /* a JVM that starts has them a moment later */

#define SPACE(n, what) "sun.gc.generation." #n "." what

/* A heap with generations has a space in both of the JVM's two. */
#define EDEN	 SPACE(0, "space.1.used")
#define TWO_GENS SPACE(0, "space.0.used")

/*
 * The counters of JDK 8 to 28; each has some. Values of one row are added up, as far as they are
 * there.
 */
static const struct {
	const char *series;
	const char *counters[COUNTERS_SUM];
	const char *with;    /* only in a JVM that has this counter; NULL: any */
	const char *without; /* the same, of one that it has not */
	bool is_time;	     /* in ticks of the JVM's clock */
} rows[] = {
	{ .series = "threads_live", .counters = { "java.threads.live" } },
	{ .series = "threads_daemon", .counters = { "java.threads.daemon" } },
	{ .series = "threads_peak", .counters = { "java.threads.livePeak" } },
	{ .series = "threads_started_total", .counters = { "java.threads.started" } },
	{ .series = "classes_loaded_total",
	  .counters = { "java.cls.loadedClasses", "java.cls.sharedLoadedClasses" } },
	{ .series = "classes_unloaded_total",
	  .counters = { "java.cls.unloadedClasses", "java.cls.sharedUnloadedClasses" } },
	{ .series = "class_load_ns_total", .counters = { "sun.cls.time" }, .is_time = true },
	{ .series = "heap_used_bytes",
	  .counters = { SPACE(1, "space.0.used"), SPACE(0, "space.0.used"),
			SPACE(0, "space.1.used"), SPACE(0, "space.2.used") } },
	{ .series = "heap_committed_bytes",
	  .counters = { SPACE(1, "capacity"), SPACE(0, "capacity") } },
	{ .series = "heap_eden_used_bytes",
	  .counters = { SPACE(0, "space.0.used") },
	  .with = EDEN },
	{ .series = "heap_eden_committed_bytes",
	  .counters = { SPACE(0, "space.0.capacity") },
	  .with = EDEN },
	{ .series = "heap_survivor_used_bytes",
	  .counters = { SPACE(0, "space.1.used"), SPACE(0, "space.2.used") } },
	{ .series = "heap_survivor_committed_bytes",
	  .counters = { SPACE(0, "space.1.capacity"), SPACE(0, "space.2.capacity") } },
	{ .series = "heap_young_used_bytes",
	  .counters = { SPACE(0, "space.0.used") },
	  .without = EDEN },
	{ .series = "heap_young_committed_bytes",
	  .counters = { SPACE(0, "space.0.capacity") },
	  .without = EDEN },
	{ .series = "heap_old_used_bytes",
	  .counters = { SPACE(1, "space.0.used") },
	  .with = TWO_GENS },
	{ .series = "heap_old_committed_bytes",
	  .counters = { SPACE(1, "space.0.capacity") },
	  .with = TWO_GENS },
	{ .series = "metaspace_used_bytes", .counters = { "sun.gc.metaspace.used" } },
	{ .series = "metaspace_committed_bytes", .counters = { "sun.gc.metaspace.capacity" } },
	{ .series = "class_space_used_bytes", .counters = { "sun.gc.compressedclassspace.used" } },
	{ .series = "class_space_committed_bytes",
	  .counters = { "sun.gc.compressedclassspace.capacity" } },
	{ .series = "gc_young_pauses_total", .counters = { "sun.gc.collector.0.invocations" } },
	{ .series = "gc_young_pause_ns_total",
	  .counters = { "sun.gc.collector.0.time" },
	  .is_time = true },
	{ .series = "gc_old_pauses_total",
	  .counters = { "sun.gc.collector.1.invocations", "sun.gc.collector.2.invocations" } },
	{ .series = "gc_old_pause_ns_total",
	  .counters = { "sun.gc.collector.1.time", "sun.gc.collector.2.time" },
	  .is_time = true },
	{ .series = "safepoints_total", .counters = { "sun.rt.safepoints" } },
	{ .series = "safepoint_ns_total", .counters = { "sun.rt.safepointTime" }, .is_time = true },
	{ .series = "safepoint_sync_ns_total",
	  .counters = { "sun.rt.safepointSyncTime" },
	  .is_time = true },
	{ .series = "compilations_total", .counters = { "sun.ci.totalCompiles" } },
	{ .series = "compilation_ns_total", .counters = { "java.ci.totalTime" }, .is_time = true },
	{ .series = "compilation_bailouts_total", .counters = { "sun.ci.totalBailouts" } },
	{ .series = "compilations_invalidated_total", .counters = { "sun.ci.totalInvalidates" } },
	{ .series = "osr_compilations_total", .counters = { "sun.ci.osrCompiles" } },
	{ .series = "standard_compilations_total", .counters = { "sun.ci.standardCompiles" } },
	{ .series = "osr_bytes_total", .counters = { "sun.ci.osrBytes" } },
	{ .series = "standard_bytes_total", .counters = { "sun.ci.standardBytes" } },
	{ .series = "nmethod_bytes_total", .counters = { "sun.ci.nmethodSize" } },
	{ .series = "nmethod_code_bytes_total", .counters = { "sun.ci.nmethodCodeSize" } },
	{ .series = "contended_lock_attempts_total",
	  .counters = { "sun.rt._sync_ContendedLockAttempts" } },
};
#define ROWS (sizeof(rows) / sizeof(*rows))
_Static_assert(ROWS <= COUNTERS_NR, "a place for each");

/* ---- of the JVM */

static bool is_for(const struct perfdata *table, size_t row)
{
	if (rows[row].with && !perfdata_find(table, rows[row].with))
		return false;
	return !rows[row].without || !perfdata_find(table, rows[row].without);
}

/* The name of a property behind either prefix; NULL for any other counter. */
static const char *property_of(const struct perfdata *table, const struct perfdata_entry *entry)
{
	static const char *const prefixes[] = { "java.property.", "sun.property." };
	const char *name = (const char *)table->bytes + entry->name;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return name + strlen(prefixes[i]);
	return NULL;
}

/* A string of the recording; 0 for "". */
static uint32_t text(struct recording *rec, const char *s)
{
	char valid[PROPERTY_MAX];
	size_t len = text_utf8(s, strlen(s), valid, sizeof(valid));

	return len ? rec_string(rec, valid, len) : 0;
}

/* The system properties that the JVM shows among its counters. */
static void add_properties(const struct counters *c, struct recording *rec, uint32_t jvm)
{
	const struct perfdata *table = &c->perf.table;
	struct rec_setting setting = { .jvm = jvm,
				       .kind = REC_SETTING_PROPERTY,
				       .type = REC_SETTING_TEXT };
	char value[PROPERTY_MAX];

	for (uint32_t i = 0; i < table->count; i++) {
		const char *name = property_of(table, &table->entries[i]);

		if (!name || !perfdata_text(table, &table->entries[i], value, sizeof(value)))
			continue;
		setting.name = text(rec, name);
		setting.value = text(rec, value);
		rec_setting_set(rec, &setting);
	}
}

static void find_entries(struct counters *c)
{
	const struct perfdata *table = &c->perf.table;

	memset(c->entries, 0, sizeof(c->entries));
	for (size_t row = 0; row < ROWS; row++)
		for (size_t i = 0; i < COUNTERS_SUM && rows[row].counters[i]; i++)
			if (is_for(table, row))
				c->entries[row][i] = perfdata_find(table, rows[row].counters[i]);
	if (!perfdata_number(table, perfdata_find(table, "sun.os.hrt.frequency"), &c->hrt_hz))
		c->hrt_hz = 0;
	c->tables = c->perf.tables;
}

/* The JVM's clock is one of nanoseconds on Linux; what it says counts. */
static int64_t ns_of(const struct counters *c, int64_t ticks)
{
	if (c->hrt_hz <= 0 || c->hrt_hz == NS_PER_S)
		return ticks;
	return (int64_t)((double)ticks * NS_PER_S / (double)c->hrt_hz);
}

/* Whether the JVM has any of a row's counters. */
static bool sum_of(const struct counters *c, size_t row, int64_t *sum)
{
	bool there = false;
	int64_t value;

	*sum = 0;
	for (size_t i = 0; i < COUNTERS_SUM; i++) {
		if (!perfdata_number(&c->perf.table, c->entries[row][i], &value))
			continue;
		*sum = rec_sum(*sum, value);
		there = true;
	}
	return there;
}

static void add_rows(const struct counters *c, struct recording *rec, uint32_t jvm, int64_t now_ns)
{
	int64_t sum;

	for (size_t row = 0; row < ROWS; row++)
		if (sum_of(c, row, &sum))
			rec_series_add(rec, jvm, rows[row].series, now_ns,
				       rows[row].is_time ? ns_of(c, sum) : sum);
}

/* Once for each JVM. */
static void say_missing(struct counters *c, const struct target *t)
{
	if (++c->misses == MISSES_SAID)
		log_info("pid %d: the JVM has no performance counters (-XX:-UsePerfData): heap "
			 "pools, and counts of threads, classes, safepoints and compilations are "
			 "not recorded",
			 t->pid);
}

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return time.tv_sec * NS_PER_S + time.tv_nsec;
}

static void add(struct recording *rec, uint32_t jvm, const char *series, int64_t now_ns,
		uint64_t value)
{
	rec_series_add(rec, jvm, series, now_ns, (int64_t)value);
}

/* ---- of its control group */

/* How many readings limits are not looked at again: they are changed by hand, or by Kubernetes. */
#define LIMITS_EVERY 10

static void add_known(struct recording *rec, uint32_t jvm, const char *series, int64_t now_ns,
		      int64_t value)
{
	if (value != CGROUP_NOT_KNOWN)
		rec_series_add(rec, jvm, series, now_ns, value);
}

/* How many CPUs a quota is, as the JVM counts them; at most those that it may run on. */
static int64_t cpus_of(const struct cgroup_limits *limits, int64_t allowed)
{
	int64_t cpus = allowed;

	if (limits->cpu_quota_us > 0 && limits->cpu_period_us > 0)
		cpus = (limits->cpu_quota_us - 1) / limits->cpu_period_us + 1;
	return cpus < allowed ? cpus : allowed;
}

static int64_t version_of(const struct cgroup *group)
{
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		if (group->place[i].version)
			return group->place[i].version;
	return CGROUP_NOT_KNOWN;
}

static void add_limits(struct counters *c, pid_t pid, struct recording *rec, uint32_t jvm,
		       int64_t now_ns)
{
	struct cgroup_limits limits;
	cpu_set_t cpus;

	c->in_cgroup = cgroup_of_pid(pid, &c->cgroup);
	if (!c->in_cgroup)
		return;
	cgroup_read_limits(&c->cgroup, &limits);
	add_known(rec, jvm, "cgroup_version", now_ns, version_of(&c->cgroup));
	add_known(rec, jvm, "cgroup_cpu_quota_us", now_ns, limits.cpu_quota_us);
	add_known(rec, jvm, "cgroup_cpu_period_us", now_ns, limits.cpu_period_us);
	add_known(rec, jvm, "cgroup_cpu_shares", now_ns, limits.cpu_shares);
	add_known(rec, jvm, "cgroup_memory_limit_bytes", now_ns, limits.memory_bytes);
	add_known(rec, jvm, "cgroup_memory_soft_limit_bytes", now_ns, limits.memory_soft_bytes);
	add_known(rec, jvm, "cgroup_swap_limit_bytes", now_ns, limits.swap_bytes);
	if (!sched_getaffinity(pid, sizeof(cpus), &cpus))
		rec_series_add(rec, jvm, "cgroup_cpus", now_ns, cpus_of(&limits, CPU_COUNT(&cpus)));
}

static void add_cgroup(struct counters *c, pid_t pid, struct recording *rec, uint32_t jvm,
		       int64_t now_ns)
{
	struct cgroup_usage usage;

	if (c->readings++ % LIMITS_EVERY == 0)
		add_limits(c, pid, rec, jvm, now_ns);
	if (!c->in_cgroup)
		return;
	cgroup_read_usage(&c->cgroup, &usage);
	add_known(rec, jvm, "cgroup_cpu_ns_total", now_ns, usage.cpu_ns);
	add_known(rec, jvm, "cgroup_cpu_user_ns_total", now_ns, usage.cpu_user_ns);
	add_known(rec, jvm, "cgroup_cpu_system_ns_total", now_ns, usage.cpu_system_ns);
	add_known(rec, jvm, "cgroup_cpu_periods_total", now_ns, usage.periods);
	add_known(rec, jvm, "cgroup_cpu_throttled_periods_total", now_ns, usage.throttled_periods);
	add_known(rec, jvm, "cgroup_cpu_throttled_ns_total", now_ns, usage.throttled_ns);
	add_known(rec, jvm, "cgroup_memory_bytes", now_ns, usage.memory_bytes);
	add_known(rec, jvm, "cgroup_swap_bytes", now_ns, usage.swap_bytes);
	add_known(rec, jvm, "cgroup_memory_refused_total", now_ns, usage.memory_refused);
}

/* ---- */

int counters_add(struct counters *c, const struct target *t, const struct vm_memory *memory,
		 struct recording *rec, uint32_t jvm, uint64_t *rss_bytes)
{
	struct target_usage usage;
	int64_t now_ns = now();
	int err;

	err = target_usage(t, &usage);
	if (err)
		return err;
	*rss_bytes = usage.rss_bytes;
	rec_series_add(rec, jvm, REC_SERIES_AT, now_ns, now_ns - rec_meta_get(rec)->start_time_ns);
	add(rec, jvm, "rss_bytes", now_ns, usage.rss_bytes);
	add(rec, jvm, "rss_peak_bytes", now_ns, usage.rss_peak_bytes);
	add(rec, jvm, "cpu_user_ns_total", now_ns, usage.user_ns);
	add(rec, jvm, "cpu_system_ns_total", now_ns, usage.system_ns);
	add(rec, jvm, "os_threads", now_ns, usage.threads);
	add_cgroup(c, t->pid, rec, jvm, now_ns);
	if (vm_counters_read(memory, &c->perf)) {
		say_missing(c, t);
		return 0;
	}
	if (c->tables != c->perf.tables) {
		find_entries(c);
		add_properties(c, rec, jvm);
	}
	add_rows(c, rec, jvm, now_ns);
	return 0;
}

void counters_free(struct counters *c)
{
	vm_counters_free(&c->perf);
	*c = (struct counters){ 0 };
}

/* ---- of the machine */

void counters_add_machine(struct recording *rec)
{
	struct machine_memory memory;
	struct machine_cpu cpu;
	int64_t now_ns = now();

	if (!machine_cpu_read(&cpu)) {
		add(rec, 0, "machine_cpu_ns_total", now_ns, cpu.all_ns);
		add(rec, 0, "machine_cpu_busy_ns_total", now_ns, cpu.busy_ns);
		add(rec, 0, "machine_cpu_user_ns_total", now_ns, cpu.user_ns);
		add(rec, 0, "machine_cpu_system_ns_total", now_ns, cpu.system_ns);
		add(rec, 0, "machine_context_switches_total", now_ns, cpu.context_switches);
	}
	if (!machine_memory_read(&memory)) {
		add(rec, 0, "machine_memory_bytes", now_ns, memory.total);
		add(rec, 0, "machine_memory_used_bytes", now_ns, memory.used);
		add(rec, 0, "machine_swap_bytes", now_ns, memory.swap_total);
		add(rec, 0, "machine_swap_used_bytes", now_ns, memory.swap_used);
	}
	rec_series_add(rec, 0, REC_MACHINE_SERIES_AT, now_ns,
		       now_ns - rec_meta_get(rec)->start_time_ns);
}
