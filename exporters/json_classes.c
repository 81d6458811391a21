/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json_classes.h"

#include <errno.h>
#include <stdlib.h>

#include "exporters/json_stream.h"
#include "model/classes.h"
#include "model/recording.h"

/* null for what was not seen, or did not happen. */
static void key_seen(struct json_stream *json, const char *key, int64_t value)
{
	json_key_signed_or_null(json, key, value, value);
}

static void key_string(struct json_stream *json, const struct recording *rec, const char *key,
		       uint32_t string)
{
	json_key_text_or_null(json, key, rec_text(rec, string));
}

/* ---- JVMs: what was counted, and how each started */

static void write_counts(struct json_stream *json, const struct recording *rec, uint32_t jvm)
{
	size_t count;
	const struct rec_count *counts = rec_class_counts(rec, &count);

	json_key(json, "counts");
	json_map(json);
	for (size_t i = 0; i < count; i++)
		if (counts[i].jvm == jvm)
			json_key_unsigned(json, rec_text(rec, counts[i].name), counts[i].value);
	json_map_end(json);
}

static void write_agent(struct json_stream *json, const struct recording *rec,
			const struct rec_class_agent *agent)
{
	json_map(json);
	json_key_text(json, "kind", agent->java ? "java" : "native");
	key_string(json, rec, "name", agent->name);
	key_string(json, rec, "options", agent->options);
	key_string(json, rec, "path", agent->path);
	key_string(json, rec, "option", agent->argument);
	json_key_bool(json, "dynamic", agent->dynamic);
	key_seen(json, "time_ns", agent->time_ns);
	key_seen(json, "premain_ns", (int64_t)agent->premain_ns);
	key_seen(json, "initialize_ns", (int64_t)agent->initialize_ns);
	json_map_end(json);
}

static void write_agents(struct json_stream *json, const struct recording *rec, uint32_t jvm)
{
	json_key(json, "agents");
	json_array(json);
	for (uint32_t id = 1; id <= rec_class_agent_count(rec); id++) {
		const struct rec_class_agent *agent = rec_class_agent_get(rec, id);

		if (agent->jvm == jvm)
			write_agent(json, rec, agent);
	}
	json_array_end(json);
}

static void write_start(struct json_stream *json, const struct recording *rec, uint32_t jvm)
{
	static const struct rec_class_start nothing;
	const struct rec_class_start *start = rec_class_start_get(rec, jvm);
	const struct rec_jvm *about = rec_jvm_get(rec, jvm);
	int64_t began_ns = about ? (int64_t)about->start_time_ns : 0;

	if (!start)
		start = &nothing;
	key_seen(json, "initialized_time_ns", start->initialized_ns);
	key_seen(json, "main_time_ns", start->main_ns);
	json_key_signed_or_null(json, "start_to_main_ns", start->main_ns - began_ns,
				start->main_ns > began_ns);
	key_seen(json, "first_hook_time_ns", start->first_hook_ns);
}

static void write_jvms(struct json_stream *json, const struct recording *rec)
{
	json_key(json, "jvms");
	json_array(json);
	for (uint32_t jvm = 1; jvm <= rec_jvm_count(rec); jvm++) {
		json_map(json);
		json_key_index(json, "jvm", jvm);
		write_counts(json, rec, jvm);
		write_start(json, rec, jvm);
		write_agents(json, rec, jvm);
		json_map_end(json);
	}
	json_array_end(json);
}

/* ---- rules, loaders, sites */

static void write_rules(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	const struct rec_class_rule *rules = rec_class_rules(rec, &count);

	json_key(json, "by_rule");
	json_array(json);
	for (size_t i = 0; i < count && !json->err; i++) {
		json_map(json);
		json_key_index(json, "jvm", rules[i].jvm);
		key_string(json, rec, "rule", rules[i].text);
		json_key_unsigned(json, "number", rules[i].number);
		json_key_unsigned(json, "loaded", rules[i].loaded);
		json_key_unsigned(json, "unloaded", rules[i].unloaded);
		json_key_unsigned(json, "bytes", rules[i].bytes);
		json_key_unsigned(json, "parse_ns", rules[i].parse_ns);
		json_key_unsigned(json, "transform_ns", rules[i].transform_ns);
		json_key_unsigned(json, "link_ns", rules[i].link_ns);
		json_key_unsigned(json, "initialize_ns", rules[i].initialize_ns);
		json_map_end(json);
	}
	json_array_end(json);
}

static void write_loaders(struct json_stream *json, const struct recording *rec)
{
	json_key(json, "loaders");
	json_array(json);
	for (uint32_t id = 1; id <= rec_loader_count(rec) && !json->err; id++) {
		const struct rec_loader *loader = rec_loader_get(rec, id);

		json_map(json);
		json_key_index(json, "jvm", loader->jvm);
		key_string(json, rec, "class", loader->type);
		key_string(json, rec, "name", loader->name);
		json_key_unsigned(json, "address", loader->address);
		json_key_unsigned(json, "generation", loader->generation);
		json_key_unsigned(json, "loaded", loader->loaded);
		json_key_unsigned(json, "unloaded", loader->unloaded);
		key_seen(json, "end_time_ns", loader->end_time_ns);
		json_map_end(json);
	}
	json_array_end(json);
}

static void write_sites(struct json_stream *json, const struct recording *rec)
{
	json_key(json, "sites");
	json_array(json);
	for (uint32_t id = 1; id <= rec_class_site_count(rec) && !json->err; id++) {
		const struct rec_class_site *site = rec_class_site_get(rec, id);

		json_map(json);
		json_key_index(json, "jvm", site->jvm);
		key_string(json, rec, "pattern", site->pattern);
		key_string(json, rec, "loader", site->loader_type);
		json_key_index(json, "stack", site->stack);
		json_key_unsigned(json, "loaded", site->loaded);
		json_key_unsigned(json, "unloaded", site->unloaded);
		json_key_unsigned(json, "bytes", site->bytes);
		json_map_end(json);
	}
	json_array_end(json);
}

/* ---- what agents did */

static void write_header(struct json_stream *json, const char *key,
			 const struct rec_class_header *header)
{
	json_key(json, key);
	json_map(json);
	json_key_unsigned(json, "bytes", header->bytes);
	json_key_unsigned(json, "major_version", header->major);
	json_key_unsigned(json, "constants", header->constants);
	json_key_unsigned(json, "methods", header->methods);
	json_key_unsigned(json, "methodrefs", header->methodrefs);
	json_key_bool(json, "stack_map_table", header->frames);
	json_map_end(json);
}

static void write_code(struct json_stream *json, const char *key, const struct rec_class_code *code)
{
	json_key(json, key);
	json_map(json);
	json_key_unsigned(json, "code_bytes", code->code);
	json_key_unsigned(json, "max_stack", code->max_stack);
	json_key_unsigned(json, "max_locals", code->max_locals);
	json_key_unsigned(json, "stack_map_entries", code->frames);
	json_map_end(json);
}

static void write_method(struct json_stream *json, const struct recording *rec,
			 const struct rec_class_method *method)
{
	json_map(json);
	key_string(json, rec, "name", method->name);
	key_string(json, rec, "signature", method->signature);
	write_code(json, "before", &method->before);
	write_code(json, "after", &method->after);
	json_key_unsigned(json, "calls_added", method->calls_added);
	json_key_unsigned(json, "invokestatic_at_entry", method->calls_at_entry);
	json_key_unsigned(json, "invokestatic_at_exit", method->calls_at_exit);
	json_key_bool(json, "stack_map_recomputed", method->frames_changed);
	json_map_end(json);
}

static void write_change(struct json_stream *json, const struct recording *rec, uint32_t id)
{
	const struct rec_class_change *change = rec_class_change_get(rec, id);
	const struct rec_class_method *methods = rec_class_methods(rec);

	json_key(json, "change");
	if (!change) {
		json_null(json);
		return;
	}
	json_map(json);
	write_header(json, "before", &change->before);
	write_header(json, "after", &change->after);
	json_key_unsigned(json, "methodrefs_added", change->methodrefs_added);
	json_key(json, "methods");
	json_array(json);
	for (uint32_t i = 0; i < change->method_count; i++)
		write_method(json, rec, &methods[change->first_method + i]);
	json_array_end(json);
	json_map_end(json);
}

/* All agents together: the JVM asks them one after the other in one call. */
static void write_class_agents(struct json_stream *json, const struct recording *rec,
			       const struct rec_class *class)
{
	json_key(json, "agents");
	json_array(json);
	if (class->flags & REC_CLASS_HOOKED) {
		json_map(json);
		json_key_bool(json, "transformed", class->flags & REC_CLASS_TRANSFORMED);
		write_change(json, rec, class->change);
		json_map_end(json);
	}
	json_array_end(json);
}

/* ---- classes */

static void write_phases(struct json_stream *json, const struct recording *rec,
			 const struct rec_class *class)
{
	bool parsed = class->flags & REC_CLASS_PARSED;

	json_key(json, "phases_ns");
	json_map(json);
	key_seen(json, "read", (int64_t)rec_class_read_ns(rec, class));
	json_key_signed_or_null(json, "parse", (int64_t) class->parse_ns, parsed);
	json_key_signed_or_null(json, "nested", (int64_t) class->nested_ns, parsed);
	key_seen(json, "transform", (int64_t) class->transform_ns);
	key_seen(json, "verify", (int64_t) class->verify_ns);
	key_seen(json, "rewrite", (int64_t) class->rewrite_ns);
	key_seen(json, "link", (int64_t) class->link_ns);
	key_seen(json, "initialize", (int64_t) class->initialize_ns);
	json_key_signed_or_null(json, "initialize_self", (int64_t) class->initialize_self_ns,
				class->initialize_ns);
	json_map_end(json);
}

static void write_class(struct json_stream *json, const struct recording *rec,
			const struct rec_class *class)
{
	const struct rec_loader *loader = rec_loader_get(rec, class->loader);
	bool has_bytes = class->bytes || class->bytes_after;

	json_map(json);
	json_key_index(json, "jvm", class->jvm);
	json_key_text(json, "name", rec_text(rec, class->name));
	key_string(json, rec, "loader", loader ? loader->type : 0);
	json_key_index(json, "loader_id", class->loader);
	key_string(json, rec, "source", class->source);
	json_key_bool(json, "archived", class->flags & REC_CLASS_ARCHIVED);
	json_key_bool(json, "hidden", class->flags & REC_CLASS_HIDDEN);
	if (class->flags & REC_CLASS_NAME_CUT)
		json_key_bool(json, "name_cut", true);
	json_key_signed_or_null(json, "bytes", class->bytes, has_bytes);
	json_key_signed_or_null(json, "bytes_after", class->bytes_after, has_bytes);
	json_key_signed(json, "time_ns", class->time_ns);
	key_seen(json, "end_time_ns", class->end_time_ns);
	key_seen(json, "duration_ns", (int64_t) class->duration_ns);
	write_phases(json, rec, class);
	write_class_agents(json, rec, class);
	json_key_index(json, "rule", class->rule);
	json_key_index(json, "thread", class->thread);
	json_key_index(json, "stack", class->stack);
	json_map_end(json);
}

static int by_time(const void *left, const void *right)
{
	const struct rec_class *a = *(const struct rec_class *const *)left;
	const struct rec_class *b = *(const struct rec_class *const *)right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* All classes in the order they were loaded: rows are added as they become known. NULL: no memory.
 */
static const struct rec_class **sort_classes(const struct recording *rec, uint32_t count)
{
	const struct rec_class **rows = calloc((size_t)count + 1, sizeof(*rows));

	for (uint32_t i = 0; rows && i < count; i++)
		rows[i] = rec_class_get(rec, i + 1);
	if (rows && count)
		qsort(rows, count, sizeof(*rows), by_time);
	return rows;
}

/* Loads, or redefinitions. */
static void write_events(struct json_stream *json, const struct recording *rec, const char *key,
			 uint32_t flag)
{
	uint32_t count = rec_class_count(rec);
	const struct rec_class **rows = sort_classes(rec, count);

	if (!rows && !json->err)
		json->err = -ENOMEM;
	json_key(json, key);
	json_array(json);
	for (uint32_t i = 0; rows && i < count && !json->err; i++) {
		if ((rows[i]->flags & REC_CLASS_REDEFINED) == flag)
			write_class(json, rec, rows[i]);
	}
	json_array_end(json);
	free(rows);
}

static void write_early(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	const struct rec_class_early *early = rec_class_earlies(rec, &count);

	json_key(json, "initialized_by_agents");
	json_array(json);
	for (size_t i = 0; i < count && !json->err; i++) {
		json_map(json);
		json_key_index(json, "jvm", early[i].jvm);
		key_string(json, rec, "name", early[i].name);
		json_key_signed(json, "time_ns", early[i].time_ns);
		json_key_unsigned(json, "initialize_ns", early[i].initialize_ns);
		json_key_index(json, "stack", early[i].stack);
		json_map_end(json);
	}
	json_array_end(json);
}

void json_classes(struct json_stream *json, const struct recording *rec)
{
	if (!rec_has_classes(rec))
		return;
	json_key(json, "classes");
	json_map(json);
	json_key_unsigned(json, "loaded", rec_class_sum(rec, "loaded"));
	json_key_unsigned(json, "unloaded", rec_class_sum(rec, "unloaded"));
	json_key_unsigned(json, "not_listed", rec_classes_not_listed(rec));
	write_jvms(json, rec);
	write_rules(json, rec);
	write_loaders(json, rec);
	write_sites(json, rec);
	write_events(json, rec, "events", 0);
	write_events(json, rec, "redefinitions", REC_CLASS_REDEFINED);
	write_early(json, rec);
	json_map_end(json);
}
