/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map64.h"
#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/settings.h"

#define NS_PER_MS	1000000
#define NS_PER_SECOND	1000000000ull
#define FOR_EVER	INT64_MAX
#define RECORDING_ID	1
#define ROWS_AT_LEAST	64
#define LOST_EVENT_SIZE 20 /* jdk.DataLoss is in bytes: those of the samples that are missing */

void *jfr_reach(struct jfr_writer *w, void *rows, size_t *capacity, size_t at, size_t row_size)
{
	size_t larger = at + at / 2 + ROWS_AT_LEAST;
	uint8_t *moved;

	if (at < *capacity)
		return rows;
	moved = reallocarray(rows, larger, row_size);
	if (!moved) {
		w->failed = true;
		return NULL;
	}
	memset(moved + *capacity * row_size, 0, (larger - *capacity) * row_size);
	*capacity = larger;
	return moved;
}

bool jfr_is_news(struct jfr_writer *w, struct jfr_rows_said *said, size_t at, const void *row,
		 size_t size)
{
	uint64_t hash = map64_hash(row, size);
	uint64_t *hashes = jfr_reach(w, said->hashes, &said->capacity, at, sizeof(*hashes));
	bool changed;

	if (!hashes)
		return false;
	said->hashes = hashes;
	/* 0 is one that was not said at all. */
	hash += !hash;
	changed = hashes[at] != hash;
	hashes[at] = hash;
	return changed;
}

size_t jfr_begin(struct jfr_writer *w, enum jfr_type_id type, int64_t time_ns)
{
	size_t at = jfr_begin_event(&w->bytes, type);

	jfr_put_long(&w->bytes, jfr_ticks(w, time_ns));
	return at;
}

static void end(struct jfr_writer *w, size_t at)
{
	jfr_end_event(&w->bytes, at);
}

static void put_long(struct jfr_writer *w, int64_t value)
{
	jfr_put_long(&w->bytes, (uint64_t)value);
}

static void put_string(struct jfr_writer *w, const struct recording *rec, uint32_t string)
{
	jfr_put_text(&w->bytes, string ? rec_text(rec, string) : NULL);
}

/* ---- before the samples */

static void put_active_recording(struct jfr_writer *w)
{
	const struct jfr_writer_options *options = &w->options;
	size_t at = jfr_begin(w, JFR_ACTIVE_RECORDING, w->start_ns);

	put_long(w, RECORDING_ID);
	jfr_put_text(&w->bytes, "jvmscope");
	jfr_put_text(&w->bytes, options->destination);
	jfr_put_byte(&w->bytes, 1); /* to disk */
	put_long(w, options->max_age_ns ? (int64_t)(options->max_age_ns / NS_PER_MS) : FOR_EVER);
	put_long(w, FOR_EVER); /* flush interval */
	put_long(w, options->max_bytes ? (int64_t)options->max_bytes : JFR_NOT_KNOWN);
	put_long(w, w->epoch_ns / NS_PER_MS);
	put_long(w, FOR_EVER);
	end(w, at);
}

static void put_setting(struct jfr_writer *w, enum jfr_type_id type, const char *name,
			const char *value)
{
	size_t at = jfr_begin(w, JFR_ACTIVE_SETTING, w->start_ns);

	put_long(w, type);
	jfr_put_text(&w->bytes, name);
	jfr_put_text(&w->bytes, value);
	end(w, at);
}

static uint64_t sample_period_ns(const struct recording *rec)
{
	uint32_t frequency = rec_meta_get(rec)->frequency_hz;

	return frequency ? NS_PER_SECOND / frequency : 0;
}

/* What Pyroscope looks for, to tell CPU time from wall-clock time. */
void jfr_put_first(struct jfr_writer *w)
{
	put_setting(w, JFR_EXECUTION_SAMPLE, "event", "cpu");
}

static void put_settings(struct jfr_writer *w, const struct recording *rec)
{
	static const enum jfr_type_id types[] = { JFR_EXECUTION_SAMPLE, JFR_NATIVE_METHOD_SAMPLE };
	uint64_t period_ns = sample_period_ns(rec);
	char period[32];

	snprintf(period, sizeof(period), "%" PRIu64 " ns", period_ns);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		put_setting(w, types[i], "enabled", "true");
		if (period_ns)
			put_setting(w, types[i], "period", period);
	}
}

static void put_jvm(struct jfr_writer *w, const struct recording *rec, uint32_t id)
{
	const struct rec_jvm *jvm = rec_jvm_get(rec, id);
	size_t at = jfr_begin(w, JFR_JVM_INFORMATION, w->start_ns);

	jfr_put_text(&w->bytes, "HotSpot");
	put_string(w, rec, jvm->version);
	put_string(w, rec, jvm->arguments);
	jfr_put_text(&w->bytes, NULL);
	put_string(w, rec, jvm->main_class);
	put_long(w, (int64_t)(jvm->start_time_ns / NS_PER_MS));
	put_long(w, jvm->pid);
	end(w, at);

	at = jfr_begin(w, JFR_JVM, w->start_ns);
	put_long(w, jvm->pid);
	put_long(w, jvm->container_pid);
	jfr_put_int(&w->bytes, jvm->major);
	put_long(w, (int64_t)jvm->start_time_ns);
	put_string(w, rec, jvm->version);
	put_string(w, rec, jvm->gc_name);
	put_string(w, rec, jvm->main_class);
	put_string(w, rec, jvm->arguments);
	put_string(w, rec, jvm->container_id);
	put_string(w, rec, jvm->pod_uid);
	end(w, at);

	/* It is among the settings, where those are known. */
	if (!jvm->version || rec_setting_value(rec, id, REC_SETTING_PROPERTY, "java.vm.version"))
		return;
	at = jfr_begin(w, JFR_INITIAL_SYSTEM_PROPERTY, w->start_ns);
	jfr_put_text(&w->bytes, "java.vm.version");
	put_string(w, rec, jvm->version);
	end(w, at);
}

static bool is_same(const struct rec_jvm *a, const struct rec_jvm *b)
{
	return a->pid == b->pid && a->container_pid == b->container_pid && a->major == b->major &&
	       a->start_time_ns == b->start_time_ns && a->version == b->version &&
	       a->gc_name == b->gc_name && a->main_class == b->main_class &&
	       a->arguments == b->arguments && a->container_id == b->container_id &&
	       a->pod_uid == b->pod_uid;
}

void jfr_put_jvms(struct jfr_writer *w, const struct recording *rec)
{
	uint32_t count = rec_jvm_count(rec);
	struct rec_jvm *rows = jfr_reach(w, w->jvms, &w->jvm_capacity, count, sizeof(*rows));

	if (!rows)
		return;
	w->jvms = rows;
	for (uint32_t i = 0; i < count; i++) {
		const struct rec_jvm *jvm = rec_jvm_get(rec, i + 1);

		if (i < w->jvm_count && is_same(jvm, &rows[i]))
			continue;
		put_jvm(w, rec, i + 1);
		rows[i] = *jvm;
	}
	w->jvm_count = count;
}

static void put_machine(struct jfr_writer *w, const struct recording *rec)
{
	const struct rec_meta *meta = rec_meta_get(rec);
	char text[256];
	size_t at;

	at = jfr_begin(w, JFR_OS_INFORMATION, w->start_ns);
	snprintf(text, sizeof(text), "Linux %s", rec_text(rec, meta->kernel_release));
	jfr_put_text(&w->bytes, text);
	end(w, at);

	at = jfr_begin(w, JFR_CPU_INFORMATION, w->start_ns);
	put_string(w, rec, meta->machine);
	jfr_put_text(&w->bytes, NULL);
	jfr_put_int(&w->bytes, 0); /* sockets: not known */
	jfr_put_int(&w->bytes, (int32_t)meta->cpus);
	jfr_put_int(&w->bytes, (int32_t)meta->cpus);
	end(w, at);
}

void jfr_put_environment(struct jfr_writer *w, const struct recording *rec)
{
	put_active_recording(w);
	put_settings(w, rec);
	w->jvm_count = 0;
	jfr_put_jvms(w, rec);
	put_machine(w, rec);
}

/* ---- loads */

void jfr_count_load(struct jfr_writer *w, const struct recording *rec,
		    const struct rec_sample *sample)
{
	struct rec_stack stack = rec_stack_get(rec, sample->key.stack);
	struct jfr_load *rows =
		jfr_reach(w, w->loads, &w->load_capacity, sample->key.thread, sizeof(*rows));
	bool in_kernel =
		stack.count && rec_frame_get(rec, stack.frames[0])->kind == REC_FRAME_KERNEL;

	if (!rows)
		return;
	w->loads = rows;
	rows += sample->key.thread;
	if (in_kernel)
		rows->system_ns += (uint64_t)sample->value;
	else
		rows->user_ns += (uint64_t)sample->value;
}

/* Of all CPUs for the whole segment. */
static float share(uint64_t ns, double all_ns)
{
	double part = all_ns > 0 ? (double)ns / all_ns : 0;

	return (float)(part > 1 ? 1 : part);
}

static void put_loads(struct jfr_writer *w, const struct recording *rec, int64_t end_ns,
		      double machine_load)
{
	double all_ns = (double)(end_ns - w->start_ns) * rec_meta_get(rec)->cpus;
	struct jfr_load sum = { 0 };
	size_t at;

	for (uint32_t id = 0; id < w->load_capacity; id++) {
		struct jfr_load *load = &w->loads[id];

		if (!load->user_ns && !load->system_ns)
			continue;
		sum.user_ns += load->user_ns;
		sum.system_ns += load->system_ns;
		at = jfr_begin(w, JFR_THREAD_CPU_LOAD, end_ns);
		put_long(w, jfr_pools_thread(w->pools, rec, id));
		jfr_put_float(&w->bytes, share(load->user_ns, all_ns));
		jfr_put_float(&w->bytes, share(load->system_ns, all_ns));
		end(w, at);
		*load = (struct jfr_load){ 0 };
	}
	if (w->has_loads)
		return;
	/* The last event: Hotpath takes the time of the last event for the recording's end. */
	at = jfr_begin(w, JFR_CPU_LOAD, end_ns);
	jfr_put_float(&w->bytes, share(sum.user_ns, all_ns));
	jfr_put_float(&w->bytes, share(sum.system_ns, all_ns));
	jfr_put_float(&w->bytes, machine_load < 0 ? NAN : (float)machine_load);
	end(w, at);
}

/* ---- what was added to the recording */

static bool has_more(const struct rec_thread *thread, const struct jfr_thread_said *said)
{
	return !said->known || thread->cpu_ns != said->cpu_ns ||
	       memcmp(thread->state_ns, said->state_ns, sizeof(said->state_ns)) != 0;
}

static void put_threads(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	uint32_t count = rec_thread_count(rec);
	struct jfr_thread_said *rows =
		jfr_reach(w, w->threads, &w->thread_capacity, count, sizeof(*rows));

	if (!rows)
		return;
	w->threads = rows;
	for (uint32_t id = 1; id <= count; id++) {
		const struct rec_thread *thread = rec_thread_get(rec, id);
		size_t at;

		if (!has_more(thread, &rows[id]))
			continue;
		at = jfr_begin(w, JFR_THREAD_TIME, end_ns);
		put_long(w, jfr_pools_thread(w->pools, rec, id));
		put_long(w, (int64_t)(thread->cpu_ns - rows[id].cpu_ns));
		for (int state = 0; state < REC_STATE_NR; state++)
			put_long(w, (int64_t)(thread->state_ns[state] - rows[id].state_ns[state]));
		end(w, at);
		rows[id].known = true;
		rows[id].cpu_ns = thread->cpu_ns;
		memcpy(rows[id].state_ns, thread->state_ns, sizeof(thread->state_ns));
	}
}

static void put_quality(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	static const char *const groups[REC_QUALITY_GROUP_NR] = {
		[REC_QUALITY_COMPLETE] = "complete", [REC_QUALITY_TRUNCATED_BY] = "truncated",
		[REC_QUALITY_BROKEN_BY] = "broken",  [REC_QUALITY_LOST] = "lost",
		[REC_QUALITY_INFO] = "info",
	};
	size_t count, at;
	const struct rec_quality_row *row = rec_quality_rows(rec, &count);
	uint64_t *said = jfr_reach(w, w->quality, &w->quality_capacity, count, sizeof(*said));

	if (!said)
		return;
	w->quality = said;
	for (size_t i = 0; i < count; i++, row++) {
		if (row->count == said[i] && i < w->quality_count)
			continue;
		at = jfr_begin(w, JFR_QUALITY, end_ns);
		jfr_put_text(&w->bytes, groups[row->group]);
		jfr_put_text(&w->bytes, row->name);
		put_long(w, (int64_t)(row->count - said[i]));
		end(w, at);
		said[i] = row->count;
	}
	w->quality_count = count;
}

static void put_losses(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	uint64_t lost = rec_quality_sum(rec, REC_QUALITY_LOST);
	size_t at;

	if (lost <= w->lost)
		return;
	at = jfr_begin(w, JFR_DATA_LOSS, end_ns);
	put_long(w, (int64_t)((lost - w->lost) * LOST_EVENT_SIZE));
	put_long(w, (int64_t)(lost * LOST_EVENT_SIZE));
	end(w, at);
	w->lost = lost;
}

static void put_recording(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	const struct rec_meta *meta = rec_meta_get(rec);
	size_t at = jfr_begin(w, JFR_RECORDING, end_ns);

	put_string(w, rec, meta->tool_version);
	put_string(w, rec, meta->host_name);
	put_string(w, rec, meta->kernel_release);
	put_string(w, rec, meta->machine);
	put_string(w, rec, meta->clock);
	put_string(w, rec, meta->events);
	put_long(w, meta->start_time_ns);
	put_long(w, meta->end_time_ns ? meta->end_time_ns : end_ns);
	put_long(w, meta->frequency_hz);
	put_long(w, (int64_t)sample_period_ns(rec));
	put_long(w, meta->max_depth);
	put_long(w, meta->cpus);
	put_long(w, (int64_t)meta->seen);
	put_long(w, (int64_t)meta->target_cpu_ns);
	put_long(w, (int64_t)meta->own_cpu_ns);
	put_long(w, (int64_t)meta->bpf_ns);
	put_long(w, (int64_t)meta->own_rss_bytes);
	put_long(w, (int64_t)meta->own_map_bytes);
	jfr_put_double(&w->bytes, meta->achieved_hz);
	end(w, at);
}

static void put_rule(struct jfr_writer *w, const struct recording *rec, uint32_t id, int64_t end_ns)
{
	const struct rec_rule *rule = rec_rule_get(rec, id);
	size_t at = jfr_begin(w, JFR_FILTER_RULE, end_ns);

	put_long(w, rule->number);
	put_string(w, rec, rule->text);
	put_long(w, (int64_t)rule->frames);
	put_long(w, (int64_t)rule->classes);
	end(w, at);
}

/* Once, when the rules have been counted: what is recorded while it is written has that at its end.
 */
static void put_filter(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	const struct rec_filter *filter = rec_filter_get(rec);
	size_t at;

	if (!filter->mode || w->filter_said)
		return;
	at = jfr_begin(w, JFR_FILTER, end_ns);
	put_string(w, rec, filter->mode);
	put_string(w, rec, filter->trie);
	put_long(w, (int64_t)filter->application);
	put_long(w, (int64_t)filter->library);
	put_long(w, (int64_t)filter->no_java);
	put_long(w, (int64_t)filter->with_application);
	put_long(w, (int64_t)filter->dropped);
	put_long(w, (int64_t)filter->free_frames);
	put_long(w, (int64_t)filter->free_classes);
	end(w, at);
	for (uint32_t id = 1; id <= rec_rule_count(rec); id++)
		put_rule(w, rec, id, end_ns);
	w->filter_said = true;
}

void jfr_put_ending(struct jfr_writer *w, const struct recording *rec, int64_t end_ns,
		    double machine_load)
{
	put_recording(w, rec, end_ns);
	jfr_put_exceptions(w, rec, end_ns);
	/* Behind it: they are told by the time since the recording began. */
	jfr_put_series(w, rec);
	jfr_put_counters(w, rec);
	put_threads(w, rec, end_ns);
	put_quality(w, rec, end_ns);
	put_losses(w, rec, end_ns);
	put_filter(w, rec, end_ns);
	put_loads(w, rec, end_ns, machine_load);
}
