/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_fill.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "jfr/jfr_events.h"
#include "jfr/jfr_fill_counters.h"
#include "jfr/jfr_fill_gc.h"
#include "jfr/jfr_fill_impl.h"
#include "jfr/jfr_fill_settings.h"

#define NS_PER_SECOND 1000000000
#define PERIOD_NS     10000000 /* async-profiler's default, where a file states none */

/* ---- samples while a chunk is read */

enum { SAMPLE_TIME, SAMPLE_THREAD, SAMPLE_STACK, SAMPLE_STATE };

static void on_sample(void *ctx, const struct jfr_item *e, enum jfr_sample_kind kind)
{
	struct jfr_raw_total key = {
		.stack = jfr_number(e, SAMPLE_STACK),
		.thread = jfr_number(e, SAMPLE_THREAD),
		.state = jfr_number(e, SAMPLE_STATE),
		.kind = kind,
	};

	jfr_fill_sample(ctx, e, &key,
			&(struct jfr_raw_sample){ .time_ns = jfr_fill_time(e, SAMPLE_TIME) });
}

static void on_execution_sample(void *ctx, const struct jfr_item *e)
{
	on_sample(ctx, e, JFR_SAMPLE_EXECUTION);
}

static void on_native_sample(void *ctx, const struct jfr_item *e)
{
	on_sample(ctx, e, JFR_SAMPLE_NATIVE);
}

enum { CPU_TIME, CPU_THREAD, CPU_STACK, CPU_FAILED, CPU_PERIOD };

static void on_cpu_time_sample(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct jfr_raw_total key = {
		.stack = jfr_number(e, CPU_STACK),
		.thread = jfr_number(e, CPU_THREAD),
		.kind = JFR_SAMPLE_CPU_TIME,
	};

	f->cpu_time_samples++;
	jfr_fill_sample(f, e, &key,
			&(struct jfr_raw_sample){ .time_ns = jfr_fill_time(e, CPU_TIME),
						  .value = jfr_ns(e, CPU_PERIOD) });
}

/* The JVM had no room for them. Their time is known, and not their stacks. */
static void on_cpu_time_lost(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	int64_t lost = jfr_number(e, 0);

	if (f->is_ours || lost <= 0)
		return;
	rec_quality_add(f->rec, REC_QUALITY_LOST, "cpu_time_samples", (uint64_t)lost);
	rec_meta(f->rec)->seen += (uint64_t)lost;
}

/* ---- samples at the end of their chunk */

/* Whether these samples are CPU time; else they are counted as left out. */
static bool is_cpu_time(struct jfr_filler *f, const struct jfr_chunk *chunk,
			const struct jfr_raw_total *raw)
{
	uint32_t states = chunk->wanted[JFR_WANT_STATE].type;
	const char *state = "", *left_out = NULL;

	if (raw->kind != JFR_SAMPLE_CPU_TIME &&
	    jfr_constant_text(chunk, states, raw->state, &f->text))
		state = strbuf_text(&f->text);
	if (raw->kind == JFR_SAMPLE_NATIVE &&
	    strcmp(state, jfr_thread_state_name(JFR_STATE_DEFAULT)) != 0)
		left_out = "samples_in_native";
	else if (!strcmp(state, jfr_thread_state_name(JFR_STATE_SLEEPING)))
		left_out = "samples_sleeping";
	else if (raw->kind != JFR_SAMPLE_CPU_TIME && f->cpu_time_samples)
		left_out = "samples_beside_cpu_time";
	if (left_out)
		rec_quality_add(f->rec, REC_QUALITY_INFO, left_out, (uint64_t)raw->count);
	return !left_out;
}

/* By the innermost frame, since the file does not say more of a thread that runs. */
static enum rec_thread_state state_of(const struct jfr_filler *f, const struct rec_key *key,
				      const struct jfr_raw_total *raw)
{
	struct rec_stack stack = rec_stack_get(f->rec, key->stack);
	const struct rec_thread *thread = rec_thread_get(f->rec, key->thread);
	const char *group = thread ? rec_text(f->rec, thread->group) : "";

	if (raw->kind == JFR_SAMPLE_NATIVE)
		return REC_STATE_IN_NATIVE;
	if (stack.count && rec_kind_is_java(rec_frame_get(f->rec, stack.frames[0])->kind))
		return REC_STATE_IN_JAVA;
	if (!strcmp(group, "gc") || !strcmp(group, "jit") || !strcmp(group, "vm"))
		return REC_STATE_VM_THREAD;
	return stack.count && !strcmp(group, "java") ? REC_STATE_IN_NATIVE : REC_STATE_UNKNOWN;
}

static void count_quality(struct jfr_filler *f, uint32_t stack, int64_t count)
{
	enum rec_stack_state state = rec_stack_get(f->rec, stack).state;

	if (f->has_quality)
		return;
	if (!stack)
		rec_quality_add(f->rec, REC_QUALITY_BROKEN_BY, "no_stack", (uint64_t)count);
	else if (state == REC_STACK_COMPLETE)
		rec_quality_add(f->rec, REC_QUALITY_COMPLETE, "", (uint64_t)count);
	else
		rec_quality_add(f->rec, REC_QUALITY_TRUNCATED_BY, "stack_depth", (uint64_t)count);
}

/* What a raw total becomes. */
struct resolved {
	struct rec_key key;
	enum rec_thread_state state;
	int64_t value; /* of one sample */
	bool is_wanted;
};

static struct resolved resolve(struct jfr_filler *f, const struct jfr_chunk *chunk,
			       const struct jfr_raw_total *raw)
{
	struct resolved to = { .is_wanted = is_cpu_time(f, chunk, raw) };
	const struct rec_thread *thread;

	if (!to.is_wanted)
		return to;
	to.key.metric = REC_CPU;
	to.key.stack = jfr_resolve_stack(&f->resolver, raw->stack);
	to.key.thread = jfr_resolve_thread(&f->resolver, raw->thread);
	thread = rec_thread_get(f->rec, to.key.thread);
	to.key.jvm = thread ? thread->jvm : f->resolver.jvm;
	to.state = state_of(f, &to.key, raw);
	to.value = raw->value ? raw->value / raw->count : f->period_ns ? f->period_ns : PERIOD_NS;
	return to;
}

static void add_total(struct jfr_filler *f, const struct resolved *to, int64_t count)
{
	struct rec_thread *thread = rec_thread_get(f->rec, to->key.thread);
	int64_t value;

	if (__builtin_mul_overflow(to->value, count, &value))
		value = INT64_MAX;
	rec_add(f->rec, &to->key, count, value);
	rec_meta(f->rec)->seen += f->is_ours ? 0 : (uint64_t)count;
	count_quality(f, to->key.stack, count);
	/* Our files have the times of threads, too, and better ones. */
	if (!thread || f->is_ours)
		return;
	thread->cpu_ns += (uint64_t)value;
	thread->state_ns[to->state] += (uint64_t)value;
}

static void add_row(struct jfr_filler *f, const struct resolved *to,
		    const struct jfr_raw_sample *raw)
{
	struct rec_sample row = { .time_ns = raw->time_ns,
				  .key = to->key,
				  .state = to->state,
				  .value = to->key.metric == REC_CPU ? to->value : raw->value };

	if (to->key.metric == REC_HEAP_ALLOC) {
		row.object_bytes = raw->object_bytes;
		row.tlab_bytes = raw->tlab_bytes;
	} else if (to->key.metric != REC_CPU) {
		row.address = raw->address;
		row.timeout_ns = raw->timeout_ns;
		row.by = raw->by ? jfr_resolve_thread(&f->resolver, raw->by) : 0;
	}
	if (to->is_wanted)
		rec_sample(f->rec, &row);
}

static void add_rows(struct jfr_filler *f, const struct resolved *all)
{
	for (size_t i = 0; i < f->sample_count; i++)
		add_row(f, &all[f->samples[i].total - 1], &f->samples[i]);
}

/* What is no sample of a CPU. */
static struct resolved resolve_other(struct jfr_filler *f, const struct jfr_raw_total *raw)
{
	struct resolved to = { .state = REC_STATE_IN_VM };

	if (raw->kind == JFR_SAMPLE_MALLOC) {
		jfr_fill_malloc_total(f, raw);
	} else if (raw->kind < JFR_SAMPLE_EVENTS) {
		to.is_wanted = jfr_fill_allocation_key(f, raw, &to.key);
	} else {
		to.key = jfr_fill_event_key(f, raw);
		to.state = REC_STATE_BLOCKED;
		to.is_wanted = true;
	}
	return to;
}

static struct resolved resolve_any(struct jfr_filler *f, const struct jfr_chunk *chunk,
				   const struct jfr_raw_total *raw)
{
	struct resolved to;

	if (raw->kind >= JFR_SAMPLE_OTHERS)
		return resolve_other(f, raw);
	to = resolve(f, chunk, raw);
	if (to.is_wanted)
		add_total(f, &to, raw->count);
	return to;
}

static void resolve_samples(struct jfr_filler *f, const struct jfr_chunk *chunk)
{
	struct resolved *all = NULL;

	if (f->sample_count) {
		all = calloc((size_t)f->totals.count + 1, sizeof(*all));
		if (!all) {
			f->err = -ENOMEM;
			return;
		}
	}
	for (uint32_t id = 1; id <= f->totals.count; id++) {
		struct resolved to = resolve_any(f, chunk, table_get(&f->totals, id));

		if (all)
			all[id - 1] = to;
	}
	if (all)
		add_rows(f, all);
	free(all);
}

/* ---- chunks */

static void on_chunk(void *ctx, const struct jfr_chunk *chunk)
{
	struct jfr_filler *f = ctx;

	f->is_ours = chunk->wanted[JFR_FILL_RECORDING].type != JFR_NO_TYPE;
	/* What a chunk of ours does not say has not changed since the one before. */
	f->has_quality &= f->is_ours;
	jfr_resolve_chunk(&f->resolver, chunk);
}

void jfr_fill_some_jvm(struct jfr_filler *f)
{
	static const struct rec_jvm unknown;

	if (!f->resolver.jvm)
		f->resolver.jvm =
			rec_jvm_count(f->rec) ? rec_jvm_count(f->rec) : rec_jvm(f->rec, &unknown);
}

static void extend_time(struct jfr_filler *f, const struct jfr_chunk *chunk)
{
	struct rec_meta *meta = rec_meta(f->rec);
	int64_t start_ns = rec_time(chunk->start_ns);
	int64_t end_ns = rec_time(rec_sum(chunk->start_ns, chunk->duration_ns));

	if (f->is_ours && meta->end_time_ns)
		return;
	if (!meta->start_time_ns || start_ns < meta->start_time_ns)
		meta->start_time_ns = start_ns;
	if (end_ns > meta->end_time_ns)
		meta->end_time_ns = end_ns;
}

static void on_chunk_end(void *ctx, const struct jfr_chunk *chunk)
{
	struct jfr_filler *f = ctx;

	jfr_fill_ledger_end(f);
	extend_time(f, chunk);
	if (f->totals.count) {
		jfr_fill_some_jvm(f);
		resolve_samples(f, chunk);
	}
	table_free(&f->totals);
	f->sample_count = 0;
	f->sample_bytes = 0;
	f->cpu_time_samples = 0;
	f->objects = 0;
	f->object = (struct jfr_raw_sample){ 0 };
	jfr_resolve_chunk(&f->resolver, NULL);
}

static void on_notice(void *ctx, const char *text)
{
	const struct jfr_filler *f = ctx;

	log_warn("%s: %s", f->options->name, text);
}

/* ---- the whole */

static const struct jfr_want wants[] = {
	JFR_RESOLVE_WANT_ROWS,
	[JFR_FILL_EXECUTION_SAMPLE] = { .type = "jdk.ExecutionSample",
					.fields = { "startTime", "sampledThread", "stackTrace",
						    "state" },
					.on_event = on_execution_sample },
	[JFR_FILL_NATIVE_SAMPLE] = { .type = "jdk.NativeMethodSample",
				     .fields = { "startTime", "sampledThread", "stackTrace",
						 "state" },
				     .on_event = on_native_sample },
	[JFR_FILL_CPU_TIME_SAMPLE] = { .type = "jdk.CPUTimeSample",
				       .fields = { "startTime", "eventThread", "stackTrace",
						   "failed", "samplingPeriod" },
				       .on_event = on_cpu_time_sample },
	[JFR_FILL_CPU_TIME_LOST] = { .type = "jdk.CPUTimeSamplesLost",
				     .fields = { "lostSamples" },
				     .on_event = on_cpu_time_lost },
	[JFR_FILL_JVM_INFORMATION] = { .type = "jdk.JVMInformation",
				       .fields = { "pid", "jvmStartTime", "jvmVersion",
						   "jvmArguments", "javaArguments" },
				       .on_event = jfr_fill_jvm_information,
				       .late = true },
	[JFR_FILL_GC_CONFIGURATION] = { .type = "jdk.GCConfiguration",
					.fields = { "youngCollector", "oldCollector" },
					.on_event = jfr_fill_gc_configuration,
					.late = true },
	[JFR_FILL_OS_INFORMATION] = { .type = "jdk.OSInformation",
				      .fields = { "osVersion" },
				      .on_event = jfr_fill_os_information,
				      .late = true },
	[JFR_FILL_CPU_INFORMATION] = { .type = "jdk.CPUInformation",
				       .fields = { "hwThreads" },
				       .on_event = jfr_fill_cpu_information },
	[JFR_FILL_ACTIVE_SETTING] = { .type = "jdk.ActiveSetting",
				      .fields = { "id", "name", "value" },
				      .on_event = jfr_fill_active_setting,
				      .late = true },
	[JFR_FILL_DATA_LOSS] = { .type = "jdk.DataLoss",
				 .fields = { "amount" },
				 .on_event = jfr_fill_data_loss },
	[JFR_FILL_RECORDING] = { .type = "jvmscope.Recording",
				 .fields = { "toolVersion", "hostName", "kernelRelease", "machine",
					     "clock", "events", "recordingStart", "recordingEnd",
					     "frequency", "samplePeriod", "maxDepth", "cpus",
					     "seen", "targetCpuTime", "ownCpuTime", "bpfTime",
					     "ownResidentSize", "ownMapSize", "achievedFrequency" },
				 .on_event = jfr_fill_recording,
				 .late = true },
	[JFR_FILL_JVM] = { .type = "jvmscope.JVM",
			   .fields = { "pid", "containerPid", "majorVersion", "jvmStart", "version",
				       "gcName", "mainClass", "arguments", "containerId",
				       "podUid" },
			   .on_event = jfr_fill_jvm,
			   .late = true },
	[JFR_FILL_THREAD_TIME] = { .type = "jvmscope.ThreadTime",
				   .fields = { "eventThread", "cpuTime", "inJava", "inNative",
					       "inVM", "blocked", "vmThread", "unknown" },
				   .on_event = jfr_fill_thread_time,
				   .late = true },
	[JFR_FILL_QUALITY] = { .type = "jvmscope.Quality",
			       .fields = { "group", "name", "count" },
			       .on_event = jfr_fill_quality,
			       .late = true },
	[JFR_FILL_NATIVE_ALLOCATION] = { .type = "jvmscope.NativeAllocation",
					 .fields = { "stackTrace", "tag", "pid", "count", "size",
						     "liveCount", "liveSize" },
					 .on_event = jfr_fill_native_allocation,
					 .late = true },
	[JFR_FILL_NATIVE_MAPPING] = { .type = "jvmscope.NativeMapping",
				      .fields = { "stackTrace", "use", "tag", "pid", "count",
						  "size" },
				      .on_event = jfr_fill_native_mapping,
				      .late = true },
	[JFR_FILL_MALLOC] = { .type = "profiler.Malloc",
			      .fields = { "eventThread", "stackTrace", "size" },
			      .on_event = jfr_fill_malloc },
	[JFR_FILL_NATIVE_SITE] = { .type = "jvmscope.NativeSite",
				   .fields = { "stackTrace",	"tag",	      "use",
					       "pid",		"count",      "size",
					       "freedCount",	"freedSize",  "untrackedCount",
					       "untrackedSize", "sizeError",  "sliceError",
					       "oldest",	"below1s",    "below10s",
					       "below1min",	"below10min", "below1h",
					       "below1d",	"below1w",    "older" },
				   .on_event = jfr_fill_native_site,
				   .late = true },
	[JFR_FILL_NATIVE_SUSPECT] = { .type = "jvmscope.NativeSuspect",
				      .fields = { "startTime", "stackTrace", "tag", "pid", "kind",
						  "sites", "liveCount", "liveSize",
						  "bytesPerMinute", "survived", "oldest", "below1s",
						  "below10s", "below1min", "below10min", "below1h",
						  "below1d", "below1w", "older" },
				      .on_event = jfr_fill_native_suspect,
				      .late = true },
	[JFR_FILL_NATIVE_CALLS] = { .type = "jvmscope.NativeCalls",
				    .fields = { "tag",		 "use",
						"pid",		 "count",
						"size",		 "freedCount",
						"freedSize",	 "untrackedCount",
						"untrackedSize", "sizeError",
						"sliceError",	 "address1",
						"function1",	 "offset1",
						"address2",	 "function2",
						"offset2",	 "address3",
						"function3",	 "offset3",
						"address4",	 "function4",
						"offset4" },
				    .on_event = jfr_fill_native_calls,
				    .late = true },
	[JFR_FILL_NATIVE_COUNT] = { .type = "jvmscope.NativeCount",
				    .fields = { "pid", "name", "count" },
				    .on_event = jfr_fill_native_count,
				    .late = true },
	[JFR_FILL_PROBE_BUDGET] = { .type = "jvmscope.ProbeBudget",
				    .fields = { "pid",	     "group",	 "state",     "cost",
						"totalCost", "limit",	 "watched",   "cpuTime",
						"estimated", "error",	 "complete",  "attached",
						"exact",     "sampled",	 "slices",    "counters",
						"detached",  "interval", "liveCount", "liveSize" },
				    .on_event = jfr_fill_probe_budget,
				    .late = true },
	[JFR_FILL_PROBE_STATE] = { .type = "jvmscope.ProbeState",
				   .fields = { "startTime", "pid", "group", "from", "to", "reason",
					       "cost", "limit" },
				   .on_event = jfr_fill_probe_state,
				   .late = true },
	JFR_FILL_HEAP_ROWS,
	[JFR_FILL_LEDGER_READING] = { .type = "jvmscope.LedgerReading",
				      .fields = { "startTime", "pid", "resident", "peak",
						  "javaHeapPss", "hugetlb", "cost", "threads",
						  "nativeCount", "nativeSize", "allocator" },
				      .on_event = jfr_fill_ledger_reading,
				      .late = true },
	[JFR_FILL_LEDGER] = { .type = "jvmscope.Ledger",
			      .fields = { "startTime", "pid", "line", "resident", "committed",
					  "reserved", "swapped", "count" },
			      .on_event = jfr_fill_ledger_line,
			      .late = true },
	[JFR_FILL_LEDGER_PART] = { .type = "jvmscope.LedgerPart",
				   .fields = { "startTime", "pid", "line", "part", "resident",
					       "committed", "reserved", "swapped", "count" },
				   .on_event = jfr_fill_ledger_part,
				   .late = true },
	[JFR_FILL_LIBC_HEAP] = { .type = "jvmscope.LibcHeap",
				 .fields = { "startTime", "pid", "arenas", "inUse", "inUseCount",
					     "free", "mapped", "mappedCount", "cached", "unread" },
				 .on_event = jfr_fill_libc_heap,
				 .late = true },
	[JFR_FILL_BUFFERS] = { .type = "jvmscope.Buffers",
			       .fields = { "startTime", "pid", "kind", "count", "capacity",
					   "reserved", "max" },
			       .on_event = jfr_fill_buffers,
			       .late = true },
	[JFR_FILL_NMT_TAG] = { .type = "jvmscope.NmtTag",
			       .fields = { "startTime", "pid", "tag", "mallocSize", "mallocCount",
					   "arenaSize", "arenaCount", "reserved", "committed" },
			       .on_event = jfr_fill_nmt_tag,
			       .late = true },
	JFR_FILL_EVENT_ROWS,
	JFR_FILL_SETTING_ROWS,
	JFR_FILL_COUNTER_ROWS,
	[JFR_FILL_VALUE] = { .type = "jvmscope.Value",
			     .fields = { "startTime", "pid", "name", "value" },
			     .on_event = jfr_fill_value,
			     .late = true },
	JFR_FILL_GC_WANT_ROWS,
};
_Static_assert(sizeof(wants) / sizeof(wants[0]) == JFR_FILL_WANTS, "one for each number");

static uint32_t deepest_stack(const struct recording *rec)
{
	uint32_t deepest = 0;

	for (uint32_t id = 1; id <= rec_stack_count(rec); id++) {
		uint32_t count = rec_stack_get(rec, id).count;

		if (count > deepest)
			deepest = count;
	}
	return deepest;
}

/* What the file does not say, but which follows from it. */
static void finish(struct jfr_filler *f, const struct jfr_result *result)
{
	struct rec_meta *meta = rec_meta(f->rec);

	if (!meta->tool_version) {
		meta->tool_version = rec_string(f->rec, JVMSCOPE_VERSION, strlen(JVMSCOPE_VERSION));
		meta->events = rec_string(f->rec, "cpu", strlen("cpu"));
		meta->max_depth = deepest_stack(f->rec);
		meta->achieved_hz = NAN;
		if (f->period_ns)
			meta->frequency_hz = (uint32_t)(NS_PER_SECOND / f->period_ns);
	}
	if (meta->end_time_ns < meta->start_time_ns)
		meta->end_time_ns = meta->start_time_ns;
	if (result->bytes_lost)
		rec_quality_add(f->rec, REC_QUALITY_INFO, "file_bytes_not_read",
				result->bytes_lost);
	if (result->events_damaged)
		rec_quality_add(f->rec, REC_QUALITY_INFO, "file_events_not_read",
				result->events_damaged);
	if (f->resolver.names_cut) {
		rec_quality_add(f->rec, REC_QUALITY_INFO, "file_names_cut", f->resolver.names_cut);
		log_warn("%s: %" PRIu64 " names are longer than 1 MiB, and cut", f->options->name,
			 f->resolver.names_cut);
	}
}

int jfr_fill(struct jfr_input *in, const struct jfr_fill_options *options, struct recording *rec,
	     struct jfr_result *result)
{
	struct jfr_visitor visitor = {
		.wants = wants,
		.want_count = JFR_FILL_WANTS,
		.on_chunk = on_chunk,
		.on_chunk_end = on_chunk_end,
		.on_notice = on_notice,
	};
	struct jfr_filler f = {
		.options = options,
		.rec = rec,
		.resolver = { .rec = rec },
		.totals = { .row_size = sizeof(struct jfr_raw_total),
			    .key_size = offsetof(struct jfr_raw_total, count) },
		.natives = { .row_size = sizeof(struct jfr_raw_live),
			     .key_size = offsetof(struct jfr_raw_live, count) },
	};
	int err;

	rec_samples_keep(rec, options->keep_samples);
	err = jfr_each_event(in, &visitor, &f, result);
	if (!err)
		jfr_fill_gc_end(&f);
	if (!err)
		err = f.err ? f.err : f.resolver.err;
	if (!err) {
		finish(&f, result);
		err = rec_error(rec);
	}
	table_free(&f.totals);
	table_free(&f.natives);
	table_free(&f.suspects);
	rec_ledger_free(&f.reading.out);
	jfr_fill_gc_free(&f);
	free(f.samples);
	strbuf_free(&f.text);
	jfr_resolver_free(&f.resolver);
	return err;
}
