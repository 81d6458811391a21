/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json_gc.h"

#include "exporters/json_counts.h"
#include "exporters/json_stream.h"
#include "model/gc.h"
#include "model/recording.h"

static void key_string(struct json_stream *json, const struct recording *rec, const char *key,
		       uint32_t string)
{
	json_key_text_or_null(json, key, rec_text(rec, string));
}

static void write_time(struct json_stream *json, int64_t time_ns, uint64_t duration_ns)
{
	json_key_signed(json, "start_time_ns", time_ns);
	json_key_unsigned(json, "duration_ns", duration_ns);
}

static void write_pauses(struct json_stream *json, const struct rec_pauses *pauses)
{
	json_key(json, "pauses");
	json_map(json);
	json_key_unsigned(json, "count", pauses->count);
	json_key_unsigned(json, "total_ns", pauses->total_ns);
	json_key_unsigned(json, "p50_ns", pauses->p50_ns);
	json_key_unsigned(json, "p99_ns", pauses->p99_ns);
	json_key_unsigned(json, "max_ns", pauses->max_ns);
	json_map_end(json);
}

static void write_counter_or_null(struct json_stream *json, const char *key, uint64_t value)
{
	json_key(json, key);
	if (value)
		json_unsigned(json, value);
	else
		json_null(json);
}

/* ---- collections */

static void write_space(struct json_stream *json, const struct rec_gc_space *space)
{
	json_key_unsigned(json, "reserved_bytes", space->reserved);
	json_key_unsigned(json, "committed_bytes", space->committed);
	json_key_unsigned(json, "used_bytes", space->used);
}

static void write_heap(struct json_stream *json, const struct rec_gc_heap *heap)
{
	const struct rec_gc_space space = { heap->reserved, heap->committed, heap->used };

	json_key(json, "heap");
	if (!heap->known) {
		json_null(json);
		return;
	}
	json_map(json);
	json_key_unsigned(json, "start_address", heap->start);
	write_space(json, &space);
	json_map_end(json);
}

static void write_part(struct json_stream *json, const char *key, const struct rec_gc_space *space)
{
	json_key(json, key);
	json_map(json);
	write_space(json, space);
	json_map_end(json);
}

static void write_metaspace(struct json_stream *json, const struct rec_gc_metaspace *metaspace)
{
	json_key(json, "metaspace");
	if (!metaspace->known) {
		json_null(json);
		return;
	}
	json_map(json);
	json_key_unsigned(json, "threshold_bytes", metaspace->threshold);
	write_space(json, &metaspace->all);
	write_part(json, "data", &metaspace->data);
	write_part(json, "class", &metaspace->class);
	json_map_end(json);
}

static void write_all_sizes(struct json_stream *json, const struct rec_collection *row)
{
	static const char *const keys[] = { "before", "after" };

	json_key(json, "sizes");
	json_map(json);
	for (int after = 0; after < 2; after++) {
		json_key(json, keys[after]);
		json_map(json);
		write_heap(json, &row->heap[after]);
		write_metaspace(json, &row->metaspace[after]);
		json_map_end(json);
	}
	json_map_end(json);
}

static void write_sizes(struct json_stream *json, const struct rec_collection *row)
{
	const struct rec_gc_heap *before = &row->heap[0], *after = &row->heap[1];

	json_key_signed_or_null(json, "heap_before_bytes", (int64_t)before->used, before->known);
	json_key_signed_or_null(json, "heap_after_bytes", (int64_t)after->used, after->known);
	json_key_signed_or_null(json, "committed_bytes", (int64_t)after->committed, after->known);
	json_key_signed_or_null(json, "reserved_bytes", (int64_t)after->reserved, after->known);
	json_key_signed_or_null(json, "metaspace_before_bytes", (int64_t)row->metaspace[0].all.used,
				row->metaspace[0].known);
	json_key_signed_or_null(json, "metaspace_after_bytes", (int64_t)row->metaspace[1].all.used,
				row->metaspace[1].known);
	json_key_signed_or_null(json, "metaspace_committed_bytes",
				(int64_t)row->metaspace[1].all.committed, row->metaspace[1].known);
}

static void write_collections(struct json_stream *json, const struct recording *rec)
{
	json_key(json, "collections");
	json_array(json);
	for (uint32_t id = 1; id <= rec_collection_count(rec) && !json->err; id++) {
		const struct rec_collection *row = rec_collection_get(rec, id);

		json_map(json);
		json_key_index(json, "jvm", row->jvm);
		json_key_signed_or_null(json, "id", row->gc_id, row->numbered);
		key_string(json, rec, "name", row->name);
		key_string(json, rec, "cause", row->cause);
		write_time(json, row->time_ns, row->duration_ns);
		json_key_unsigned(json, "sum_of_pauses_ns", row->sum_of_pauses_ns);
		json_key_unsigned(json, "longest_pause_ns", row->longest_pause_ns);
		json_key_index(json, "thread", row->thread);
		write_sizes(json, row);
		write_all_sizes(json, row);
		json_map_end(json);
	}
	json_array_end(json);
}

static void write_phases(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	const struct rec_gc_phase *rows = rec_gc_phases(rec, &count);

	json_key(json, "phases");
	json_array(json);
	for (size_t i = 0; i < count && !json->err; i++) {
		json_map(json);
		json_key_index(json, "jvm", rows[i].jvm);
		json_key_index(json, "collection", rows[i].collection);
		key_string(json, rec, "name", rows[i].name);
		json_key_unsigned(json, "level", rows[i].level);
		json_key_bool(json, "concurrent", rows[i].concurrent);
		write_time(json, rows[i].time_ns, rows[i].duration_ns);
		json_map_end(json);
	}
	json_array_end(json);
}

/* ---- safepoints */

static void write_safepoints(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	const struct rec_safepoint *rows = rec_safepoints(rec, &count);
	struct rec_pauses pauses;

	rec_safepoint_pauses(rec, 0, &pauses);
	json_key(json, "safepoints");
	json_map(json);
	write_pauses(json, &pauses);
	json_key(json, "events");
	json_array(json);
	for (size_t i = 0; i < count && !json->err; i++) {
		json_map(json);
		json_key_index(json, "jvm", rows[i].jvm);
		key_string(json, rec, "operation", rows[i].operation);
		write_time(json, rows[i].time_ns, rows[i].duration_ns);
		write_counter_or_null(json, "reach_ns", rows[i].reach_ns);
		write_counter_or_null(json, "resume_ns", rows[i].resume_ns);
		write_counter_or_null(json, "id", rows[i].id);
		write_counter_or_null(json, "java_threads", rows[i].threads);
		json_key_unsigned(json, "jni_critical_threads", rows[i].critical);
		json_key_index(json, "thread", rows[i].thread);
		json_map_end(json);
	}
	json_array_end(json);
	json_map_end(json);
}

static void write_stragglers(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	const struct rec_straggler *rows = rec_stragglers(rec, &count);

	json_key(json, "stragglers");
	json_array(json);
	for (size_t i = 0; i < count && !json->err; i++) {
		json_map(json);
		json_key_index(json, "jvm", rows[i].jvm);
		json_key_index(json, "safepoint", rows[i].safepoint);
		json_key_index(json, "thread", rows[i].thread);
		json_key_index(json, "stack", rows[i].stack);
		json_key_bool(json, "sampled", rows[i].sampled);
		json_key_unsigned(json, "late_ns", rows[i].late_ns);
		json_map_end(json);
	}
	json_array_end(json);
}

static void write_operations(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	const struct rec_vm_operation *rows = rec_vm_operations(rec, &count);

	json_key(json, "vm_operations");
	json_array(json);
	for (size_t i = 0; i < count && !json->err; i++) {
		json_map(json);
		json_key_index(json, "jvm", rows[i].jvm);
		key_string(json, rec, "name", rows[i].name);
		json_key_bool(json, "at_safepoint", rows[i].stops);
		write_counter_or_null(json, "safepoint", rows[i].safepoint);
		json_key_index(json, "thread", rows[i].thread);
		json_key_index(json, "caller", rows[i].caller);
		write_time(json, rows[i].time_ns, rows[i].duration_ns);
		json_map_end(json);
	}
	json_array_end(json);
}

/* ---- what was counted */

static void write_counts(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	const struct rec_count *counts = rec_vm_counts(rec, &count);

	json_counts(json, rec, counts, count);
}

void json_gc(struct json_stream *json, const struct recording *rec)
{
	struct rec_pauses pauses;

	if (!rec_has_gc(rec))
		return;
	rec_gc_pauses(rec, 0, &pauses);
	json_key(json, "gc");
	json_map(json);
	write_collections(json, rec);
	write_pauses(json, &pauses);
	write_phases(json, rec);
	write_safepoints(json, rec);
	write_stragglers(json, rec);
	write_operations(json, rec);
	write_counts(json, rec);
	json_map_end(json);
}
