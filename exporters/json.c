/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map64.h"
#include "exporters/json_classes.h"
#include "exporters/json_gc.h"
#include "exporters/json_heap.h"
#include "exporters/json_io.h"
#include "exporters/json_ledger.h"
#include "exporters/json_native.h"
#include "exporters/json_runtime.h"
#include "exporters/json_settings.h"
#include "exporters/json_stream.h"
#include "model/native.h"

/*
 * Ids of the recording are 1..count and 0 for none; the file has 0-based indexes and null.
 *
 * "strings" holds the strings that something refers to, in order of their ids, and behind them one
 * "class.method" for each Java method: readers want that whole, the recording has it in parts.
 */
struct document {
	struct json_stream json;
	const struct recording *rec;
	uint32_t *string_at; /* owned; [string id]: index + 1, 0 not written */
	uint32_t strings;    /* how many are written */
	uint32_t *method_at; /* owned; [method id]: index + 1 of its text */
	char *text;	     /* owned; for rec_method_text() */
	size_t text_size;
};

/* ---- strings */

static bool is_java(const struct rec_method *method)
{
	return method->class_name;
}

static void mark_used(struct document *doc)
{
	size_t count;
	const struct rec_total *totals = rec_totals(doc->rec, &count);

	for (uint32_t id = 1; id <= rec_method_count(doc->rec); id++) {
		const struct rec_method *method = rec_method_get(doc->rec, id);

		doc->string_at[method->signature] = 1;
		doc->string_at[method->file] = 1;
		doc->string_at[method->raw_class] = 1;
		doc->string_at[method->module] = 1;
		if (!is_java(method))
			doc->string_at[method->name] = 1;
	}
	for (size_t i = 0; i < count; i++)
		doc->string_at[totals[i].key.label] = 1;
	doc->string_at[0] = 0;
}

/* Hidden copies of a class are methods of their own with one text: it is written once. */
static int number_method_text(struct document *doc, uint32_t id, struct map64 *known,
			      uint32_t *next)
{
	const struct rec_method *method = rec_method_get(doc->rec, id);
	uint64_t key = (uint64_t)method->class_name << 32 | method->name;

	if (map64_get(known, key, &doc->method_at[id]))
		return 0;
	doc->method_at[id] = ++*next;
	return map64_set(known, key, *next);
}

/* Gives every string and every text of a method its index. Returns 0 or -ENOMEM. */
static int number_strings(struct document *doc)
{
	struct map64 known = { 0 };
	uint32_t next = 0;
	int err = 0;

	for (uint32_t id = 1; id <= rec_string_count(doc->rec); id++) {
		if (doc->string_at[id])
			doc->string_at[id] = ++next;
	}
	doc->strings = next;
	for (uint32_t id = 1; id <= rec_method_count(doc->rec) && !err; id++) {
		const struct rec_method *method = rec_method_get(doc->rec, id);

		if (is_java(method))
			err = number_method_text(doc, id, &known, &next);
		else
			doc->method_at[id] = doc->string_at[method->name];
	}
	map64_free(&known);
	return err;
}

static int prepare(struct document *doc)
{
	doc->string_at = calloc((size_t)rec_string_count(doc->rec) + 1, sizeof(*doc->string_at));
	doc->method_at = calloc((size_t)rec_method_count(doc->rec) + 1, sizeof(*doc->method_at));
	if (!doc->string_at || !doc->method_at)
		return -ENOMEM;
	mark_used(doc);
	doc->text_size = rec_text_size(doc->rec);
	doc->text = malloc(doc->text_size);
	return doc->text ? number_strings(doc) : -ENOMEM;
}

static void write_strings(struct document *doc)
{
	const struct recording *rec = doc->rec;
	uint32_t written = doc->strings;

	json_key(&doc->json, "strings");
	json_array(&doc->json);
	for (uint32_t id = 1; id <= rec_string_count(rec); id++) {
		if (doc->string_at[id])
			json_text(&doc->json, rec_text(rec, id));
	}
	for (uint32_t id = 1; id <= rec_method_count(rec); id++) {
		if (doc->method_at[id] <= written)
			continue;
		written++;
		json_text(&doc->json, rec_method_text(rec, id, doc->text, doc->text_size));
	}
	json_array_end(&doc->json);
}

/* ---- meta, JVMs */

static void write_events(struct json_stream *json, const char *list)
{
	char name[64];

	json_key(json, "events");
	json_array(json);
	while (*list) {
		size_t len = strcspn(list, ",");

		snprintf(name, sizeof(name), "%.*s", (int)len, list);
		if (len)
			json_text(json, name);
		list += len + (list[len] == ',');
	}
	json_array_end(json);
}

static void write_meta(struct document *doc)
{
	const struct rec_meta *meta = rec_meta_get(doc->rec);
	struct json_stream *json = &doc->json;

	json_key(json, "meta");
	json_map(json);
	json_key_text(json, "tool_version", rec_text(doc->rec, meta->tool_version));
	json_key(json, "host");
	json_map(json);
	json_key_text(json, "name", rec_text(doc->rec, meta->host_name));
	json_key_text(json, "kernel_release", rec_text(doc->rec, meta->kernel_release));
	json_key_text(json, "machine", rec_text(doc->rec, meta->machine));
	json_key_unsigned(json, "cpus", meta->cpus);
	json_map_end(json);
	json_key_signed(json, "start_time_ns", meta->start_time_ns);
	json_key_signed(json, "end_time_ns", meta->end_time_ns);
	json_key_signed(json, "duration_ns", meta->end_time_ns - meta->start_time_ns);
	write_events(json, rec_text(doc->rec, meta->events));
	json_key_unsigned(json, "max_depth", meta->max_depth);
	json_map_end(json);
}

static void write_jvm(struct document *doc, const struct rec_jvm *jvm)
{
	const struct recording *rec = doc->rec;
	struct json_stream *json = &doc->json;

	json_map(json);
	json_key_signed(json, "pid", jvm->pid);
	json_key(json, "container_pid");
	if (jvm->container_pid)
		json_signed(json, jvm->container_pid);
	else
		json_null(json);
	json_key_text_or_null(json, "container_id", rec_text(rec, jvm->container_id));
	json_key_text_or_null(json, "pod_uid", rec_text(rec, jvm->pod_uid));
	json_key_signed(json, "jvm_major", jvm->major);
	json_key_text(json, "jvm_version", rec_text(rec, jvm->version));
	json_key_text_or_null(json, "gc_name", rec_text(rec, jvm->gc_name));
	json_key_text_or_null(json, "main_class", rec_text(rec, jvm->main_class));
	json_key_text(json, "jvm_args", rec_text(rec, jvm->arguments));
	json_key_unsigned(json, "start_time_ns", jvm->start_time_ns);
	json_map_end(json);
}

static void write_jvms(struct document *doc)
{
	json_key(&doc->json, "jvms");
	json_array(&doc->json);
	for (uint32_t id = 1; id <= rec_jvm_count(doc->rec); id++)
		write_jvm(doc, rec_jvm_get(doc->rec, id));
	json_array_end(&doc->json);
}

/* ---- quality */

static void write_group(struct document *doc, const char *key, enum rec_quality_group group)
{
	size_t count;
	const struct rec_quality_row *rows = rec_quality_rows(doc->rec, &count);

	json_key(&doc->json, key);
	json_map(&doc->json);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].group == group)
			json_key_unsigned(&doc->json, rows[i].name, rows[i].count);
	}
	json_map_end(&doc->json);
}

static void write_quality(struct document *doc)
{
	const struct recording *rec = doc->rec;
	const struct rec_meta *meta = rec_meta_get(rec);
	uint64_t complete = rec_quality_sum(rec, REC_QUALITY_COMPLETE);
	uint64_t truncated = rec_quality_sum(rec, REC_QUALITY_TRUNCATED_BY);
	uint64_t broken = rec_quality_sum(rec, REC_QUALITY_BROKEN_BY);
	struct json_stream *json = &doc->json;

	json_key(json, "quality");
	json_map(json);
	json_key_unsigned(json, "samples", complete + truncated + broken);
	json_key_unsigned(json, "complete", complete);
	json_key_unsigned(json, "truncated", truncated);
	write_group(doc, "truncated_by", REC_QUALITY_TRUNCATED_BY);
	json_key_unsigned(json, "broken", broken);
	write_group(doc, "broken_by", REC_QUALITY_BROKEN_BY);
	write_group(doc, "lost", REC_QUALITY_LOST);
	json_key_unsigned(json, "seen", meta->seen);
	write_group(doc, "info", REC_QUALITY_INFO);
	json_key_unsigned(json, "own_cpu_ns", meta->own_cpu_ns);
	json_key_unsigned(json, "own_rss_bytes", meta->own_rss_bytes);
	json_key_unsigned(json, "own_map_bytes", meta->own_map_bytes);
	json_key_unsigned(json, "frequency_hz", meta->frequency_hz);
	json_key_decimal(json, "achieved_hz", meta->achieved_hz);
	json_key_text_or_null(json, "clock", rec_text(rec, meta->clock));
	json_key_unsigned(json, "bpf_ns", meta->bpf_ns);
	json_key_unsigned(json, "target_cpu_ns", meta->target_cpu_ns);
	json_map_end(json);
}

/* ---- frames, stacks */

/* The rule's number, and where it is in filter.rules. */
static void write_rule_of(struct document *doc, uint32_t method)
{
	uint32_t id = 0;
	const struct rec_rule *rule;

	rec_method_rule(doc->rec, method, &id);
	rule = rec_rule_get(doc->rec, id);
	if (rule)
		json_unsigned(&doc->json, rule->number);
	else
		json_null(&doc->json);
	json_index(&doc->json, id);
}

static void write_frame(struct document *doc, const struct rec_frame *frame)
{
	const struct rec_method *method = rec_method_get(doc->rec, frame->method);
	struct json_stream *json = &doc->json;

	json_array(json);
	json_text(json, rec_kind_name(frame->kind));
	json_index(json, doc->method_at[frame->method]);
	json_signed(json, frame->line);
	json_signed(json, frame->bci);
	json_index(json, doc->string_at[method->signature]);
	json_index(json, doc->string_at[method->file]);
	json_index(json, doc->string_at[method->raw_class]);
	json_index(json, doc->string_at[method->module]);
	json_unsigned(json, frame->offset);
	write_rule_of(doc, frame->method);
	json_array_end(json);
}

static void write_frames(struct document *doc)
{
	json_key(&doc->json, "frames");
	json_array(&doc->json);
	for (uint32_t id = 1; id <= rec_frame_count(doc->rec) && !doc->json.err; id++)
		write_frame(doc, rec_frame_get(doc->rec, id));
	json_array_end(&doc->json);
}

static void write_stack(struct document *doc, uint32_t id)
{
	struct rec_stack stack = rec_stack_get(doc->rec, id);

	json_array(&doc->json);
	for (uint32_t i = 0; i < stack.count; i++)
		json_index(&doc->json, stack.frames[i]);
	json_array_end(&doc->json);
}

static void write_stacks(struct document *doc)
{
	static const char *const states[] = {
		[REC_STACK_COMPLETE] = "complete",
		[REC_STACK_TRUNCATED] = "truncated",
		[REC_STACK_BROKEN] = "broken",
	};
	uint32_t count = rec_stack_count(doc->rec);

	json_key(&doc->json, "stacks");
	json_array(&doc->json);
	for (uint32_t id = 1; id <= count && !doc->json.err; id++)
		write_stack(doc, id);
	json_array_end(&doc->json);

	json_key(&doc->json, "stack_states");
	json_array(&doc->json);
	for (uint32_t id = 1; id <= count; id++)
		json_text(&doc->json, states[rec_stack_get(doc->rec, id).state]);
	json_array_end(&doc->json);
}

/* ---- filter */

static void write_rules(struct document *doc)
{
	struct json_stream *json = &doc->json;

	json_key(json, "rules");
	json_array(json);
	for (uint32_t id = 1; id <= rec_rule_count(doc->rec) && !json->err; id++) {
		const struct rec_rule *rule = rec_rule_get(doc->rec, id);

		json_map(json);
		json_key_unsigned(json, "number", rule->number);
		json_key_text(json, "text", rec_text(doc->rec, rule->text));
		json_key_unsigned(json, "frames", rule->frames);
		json_key_unsigned(json, "classes", rule->classes);
		json_map_end(json);
	}
	json_array_end(json);
}

static void write_filter(struct document *doc)
{
	const struct rec_filter *filter = rec_filter_get(doc->rec);
	struct json_stream *json = &doc->json;

	json_key(json, "filter");
	json_map(json);
	json_key_text(json, "mode", filter->mode ? rec_text(doc->rec, filter->mode) : "off");
	json_key_text_or_null(json, "trie", rec_text(doc->rec, filter->trie));
	write_rules(doc);
	json_key(json, "no_rule");
	json_map(json);
	json_key_unsigned(json, "frames", filter->free_frames);
	json_key_unsigned(json, "classes", filter->free_classes);
	json_map_end(json);
	json_key(json, "samples");
	json_map(json);
	json_key_unsigned(json, "application", filter->application);
	json_key_unsigned(json, "library", filter->library);
	json_key_unsigned(json, "no_java", filter->no_java);
	json_key_unsigned(json, "with_application", filter->with_application);
	json_key_unsigned(json, "dropped", filter->dropped);
	json_map_end(json);
	json_map_end(json);
}

/* ---- profiles */

static void write_total(struct document *doc, const struct rec_total *total)
{
	struct json_stream *json = &doc->json;

	json_array(json);
	json_index(json, total->key.stack);
	json_index(json, total->key.thread);
	json_index(json, doc->string_at[total->key.label]);
	json_signed(json, total->count);
	json_signed(json, total->value);
	json_array_end(json);
}

/* order[first..end) are numbers of totals with the same metric and JVM. */
static void write_profile(struct document *doc, const uint32_t *order, size_t first, size_t end)
{
	size_t count;
	const struct rec_total *totals = rec_totals(doc->rec, &count);
	const struct rec_key *key = &totals[order[first]].key;
	const struct rec_metric_info *info = rec_metric_info(key->metric);
	struct json_stream *json = &doc->json;

	json_map(json);
	json_key_text(json, "metric", info->name);
	json_key_text(json, "unit", info->unit);
	json_key_index(json, "jvm", key->jvm);
	json_key(json, "samples");
	json_array(json);
	for (size_t i = first; i < end && !json->err; i++)
		write_total(doc, &totals[order[i]]);
	json_array_end(json);
	json_map_end(json);
}

/* What was all taken back says nothing: memory that was freed, or that lives and is withheld. */
static bool is_empty(const struct rec_total *total)
{
	return !total->count && !total->value;
}

/*
 * Counting sort: totals by metric and JVM, otherwise in their order, without those that are empty.
 * ends[group] is set.
 */
static void sort_totals(const struct recording *rec, size_t *ends, uint32_t *order)
{
	size_t jvms = (size_t)rec_jvm_count(rec) + 1;
	size_t count, sum = 0;
	const struct rec_total *totals = rec_totals(rec, &count);

	for (size_t i = 0; i < count; i++)
		ends[totals[i].key.metric * jvms + totals[i].key.jvm] += !is_empty(&totals[i]);
	for (size_t group = 0; group < REC_METRIC_NR * jvms; group++) {
		size_t in_group = ends[group];

		ends[group] = sum;
		sum += in_group;
	}
	for (size_t i = 0; i < count; i++)
		if (!is_empty(&totals[i]))
			order[ends[totals[i].key.metric * jvms + totals[i].key.jvm]++] =
				(uint32_t)i;
}

static void write_profiles(struct document *doc)
{
	size_t groups = REC_METRIC_NR * ((size_t)rec_jvm_count(doc->rec) + 1);
	size_t count, first = 0;
	size_t *ends = calloc(groups, sizeof(*ends));
	uint32_t *order;

	rec_totals(doc->rec, &count);
	order = calloc(count + 1, sizeof(*order));
	if (!ends || !order) {
		doc->json.err = doc->json.err ? doc->json.err : -ENOMEM;
		goto out;
	}
	sort_totals(doc->rec, ends, order);
	json_key(&doc->json, "profiles");
	json_array(&doc->json);
	for (size_t group = 0; group < groups; group++) {
		if (ends[group] > first)
			write_profile(doc, order, first, ends[group]);
		first = ends[group];
	}
	json_array_end(&doc->json);
out:
	free(order);
	free(ends);
}

/* ---- threads */

static void write_thread(struct document *doc, const struct rec_thread *thread, int64_t samples)
{
	struct json_stream *json = &doc->json;

	json_map(json);
	json_key_index(json, "jvm", thread->jvm);
	json_key_signed(json, "tid", thread->tid);
	json_key_text(json, "name", rec_text(doc->rec, thread->name));
	json_key_text_or_null(json, "group", rec_text(doc->rec, thread->group));
	json_key_unsigned(json, "cpu_ns", thread->cpu_ns);
	json_key_signed(json, "samples", samples);
	json_key(json, "states");
	json_map(json);
	for (int state = 0; state < REC_STATE_NR; state++)
		json_key_unsigned(json, rec_state_name((enum rec_thread_state)state),
				  thread->state_ns[state]);
	json_map_end(json);
	json_map_end(json);
}

static void write_threads(struct document *doc)
{
	uint32_t threads = rec_thread_count(doc->rec);
	int64_t *samples = calloc((size_t)threads + 1, sizeof(*samples));
	size_t count;
	const struct rec_total *totals = rec_totals(doc->rec, &count);

	if (!samples) {
		doc->json.err = doc->json.err ? doc->json.err : -ENOMEM;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		int64_t *of_thread = &samples[totals[i].key.thread];

		if (totals[i].key.metric == REC_CPU)
			*of_thread = rec_sum(*of_thread, totals[i].count);
	}
	json_key(&doc->json, "threads");
	json_array(&doc->json);
	for (uint32_t id = 1; id <= threads && !doc->json.err; id++)
		write_thread(doc, rec_thread_get(doc->rec, id), samples[id]);
	json_array_end(&doc->json);
	free(samples);
}

/* Only when native memory was looked at. */
static void write_native(struct document *doc)
{
	if (!json_has_ledger(doc->rec) && !rec_has_native(doc->rec))
		return;
	json_key(&doc->json, "native");
	json_map(&doc->json);
	json_native(&doc->json, doc->rec);
	if (json_has_ledger(doc->rec))
		json_ledger(&doc->json, doc->rec);
	json_map_end(&doc->json);
}

static void write_document(struct document *doc)
{
	json_map(&doc->json);
	json_key_text(&doc->json, "schema", "jvmscope/1");
	write_meta(doc);
	write_jvms(doc);
	json_settings(&doc->json, doc->rec);
	write_quality(doc);
	write_strings(doc);
	write_frames(doc);
	write_stacks(doc);
	write_profiles(doc);
	write_threads(doc);
	write_filter(doc);
	json_classes(&doc->json, doc->rec);
	json_gc(&doc->json, doc->rec);
	json_runtime(&doc->json, doc->rec);
	json_io(&doc->json, doc->rec);
	json_heap(&doc->json, doc->rec);
	write_native(doc);
	json_budget(&doc->json, doc->rec);
	json_timeline(&doc->json, doc->rec);
	json_map_end(&doc->json);
}

int json_write(const struct recording *rec, const struct export_options *options, FILE *out)
{
	struct document doc = { .rec = rec };
	int err = prepare(&doc);

	(void)options;
	if (!err)
		err = json_stream_open(&doc.json, out);
	if (!err) {
		write_document(&doc);
		err = json_stream_close(&doc.json);
	}
	free(doc.string_at);
	free(doc.method_at);
	free(doc.text);
	return err;
}
