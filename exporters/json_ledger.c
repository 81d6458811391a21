/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json_ledger.h"

#include <inttypes.h>
#include <stdio.h>

#include "exporters/json_stream.h"
#include "model/ledger.h"
#include "model/recording.h"
#include "model/series.h"

static bool is_empty(const struct rec_ledger_row *row)
{
	return !row->reserved && !row->committed && !row->resident && !row->swapped && !row->count;
}

static void key_row(struct json_stream *json, const char *prefix, const char *name, int64_t value)
{
	char key[64];

	snprintf(key, sizeof(key), "%s%s", prefix, name);
	json_key_signed(json, key, value);
}

/* The plain names are of the end; start_ is before those of the start. */
static void write_row(struct json_stream *json, const char *prefix,
		      const struct rec_ledger_row *row)
{
	key_row(json, prefix, "bytes", row->resident);
	key_row(json, prefix, "reserved_bytes", (int64_t)row->reserved);
	key_row(json, prefix, "committed_bytes", (int64_t)row->committed);
	key_row(json, prefix, "swapped_bytes", (int64_t)row->swapped);
	key_row(json, prefix, "count", (int64_t)row->count);
}

static void write_lines(struct json_stream *json, uint32_t jvm, const struct rec_ledger *first,
			const struct rec_ledger *last)
{
	for (int line = 0; line < REC_LINE_NR; line++) {
		json_map(json);
		json_key_unsigned(json, "jvm", jvm - 1);
		json_key_text(json, "line", rec_line_info((enum rec_line)line)->name);
		write_row(json, "", &last->lines[line]);
		write_row(json, "start_", &first->lines[line]);
		json_map_end(json);
	}
}

static const struct rec_ledger_part *same_part(const struct rec_ledger *ledger,
					       const struct rec_ledger_part *part)
{
	for (size_t i = 0; i < ledger->part_count; i++)
		if (ledger->parts[i].line == part->line && ledger->parts[i].name == part->name)
			return &ledger->parts[i];
	return NULL;
}

static void write_part(struct json_stream *json, const struct recording *rec,
		       const struct rec_ledger *first, const struct rec_ledger *last,
		       const struct rec_ledger_part *part)
{
	static const struct rec_ledger_row none;
	const struct rec_ledger_part *then = same_part(first, part), *now = same_part(last, part);

	json_map(json);
	json_key_unsigned(json, "jvm", last->jvm - 1);
	json_key_text(json, "line", rec_line_info(part->line)->name);
	json_key_text(json, "part", rec_text(rec, part->name));
	write_row(json, "", now ? &now->row : &none);
	write_row(json, "start_", then ? &then->row : &none);
	json_map_end(json);
}

static void write_parts(struct json_stream *json, const struct recording *rec,
			const struct rec_ledger *first, const struct rec_ledger *last)
{
	for (size_t i = 0; i < last->part_count; i++)
		write_part(json, rec, first, last, &last->parts[i]);
	for (size_t i = 0; i < first->part_count; i++)
		if (!same_part(last, &first->parts[i]) && !is_empty(&first->parts[i].row))
			write_part(json, rec, first, last, &first->parts[i]);
}

static void write_buffers(struct json_stream *json, const char *key,
			  const struct rec_buffers *buffers)
{
	json_key(json, key);
	json_map(json);
	json_key_unsigned(json, "count", buffers->count);
	json_key_unsigned(json, "capacity_bytes", buffers->capacity_bytes);
	json_key_unsigned(json, "reserved_bytes", buffers->reserved_bytes);
	json_key_unsigned(json, "max_bytes", buffers->max_bytes);
	json_map_end(json);
}

static void write_malloc(struct json_stream *json, const struct rec_malloc *m)
{
	json_key(json, "malloc");
	json_map(json);
	json_key_unsigned(json, "arenas", m->arenas);
	json_key_unsigned(json, "in_use_bytes", m->in_use_bytes);
	json_key_unsigned(json, "in_use_count", m->in_use_count);
	json_key_unsigned(json, "free_bytes", m->free_bytes);
	json_key_unsigned(json, "mapped_bytes", m->mapped_bytes);
	json_key_unsigned(json, "mapped_count", m->mapped_count);
	json_key_unsigned(json, "cached_bytes", m->cached_bytes);
	json_key_unsigned(json, "unread_bytes", m->unread_bytes);
	json_map_end(json);
}

/* What is of one reading as a whole. */
static void write_reading(struct json_stream *json, const struct recording *rec, const char *at,
			  const struct rec_ledger *ledger)
{
	json_map(json);
	json_key_unsigned(json, "jvm", ledger->jvm - 1);
	json_key_text(json, "at", at);
	json_key_signed(json, "time_ns", ledger->time_ns);
	json_key_unsigned(json, "rss_bytes", ledger->rss_bytes);
	json_key_unsigned(json, "rss_peak_bytes", ledger->rss_peak_bytes);
	json_key_signed(json, "unexplained_bytes", ledger->lines[REC_LINE_UNEXPLAINED].resident);
	json_key_signed(json, "moved_bytes", ledger->lines[REC_LINE_MOVED].resident);
	json_key_unsigned(json, "java_heap_pss_bytes", ledger->java_heap_pss);
	json_key_unsigned(json, "hugetlb_bytes", ledger->hugetlb_bytes);
	json_key_unsigned(json, "threads", ledger->threads);
	json_key_text_or_null(json, "other_allocator", rec_text(rec, ledger->allocator));
	json_key_unsigned(json, "cost_ns", ledger->cost_ns);
	json_key_signed(json, "native_live_bytes", ledger->native_bytes);
	json_key_signed(json, "native_live_blocks", ledger->native_blocks);
	write_malloc(json, &ledger->malloc);
	write_buffers(json, "direct_buffers", &ledger->direct);
	write_buffers(json, "mapped_buffers", &ledger->mapped);
	json_map_end(json);
}

static const struct rec_nmt *same_tag(const struct rec_ledger *ledger, uint32_t tag)
{
	for (size_t i = 0; i < ledger->nmt_count; i++)
		if (ledger->nmt[i].tag == tag)
			return &ledger->nmt[i];
	return NULL;
}

static void write_tags(struct json_stream *json, const struct recording *rec,
		       const struct rec_ledger *first, const struct rec_ledger *last)
{
	for (size_t i = 0; i < last->nmt_count; i++) {
		const struct rec_nmt *now = &last->nmt[i], *then = same_tag(first, now->tag);

		json_map(json);
		json_key_unsigned(json, "jvm", last->jvm - 1);
		json_key_text(json, "tag", rec_text(rec, now->tag));
		json_key_unsigned(json, "malloc_bytes", now->malloc_bytes);
		json_key_unsigned(json, "malloc_count", now->malloc_count);
		json_key_unsigned(json, "arena_bytes", now->arena_bytes);
		json_key_unsigned(json, "arena_count", now->arena_count);
		json_key_unsigned(json, "reserved_bytes", now->reserved);
		json_key_unsigned(json, "committed_bytes", now->committed);
		if (then) {
			json_key_unsigned(json, "start_malloc_bytes", then->malloc_bytes);
			json_key_unsigned(json, "start_malloc_count", then->malloc_count);
			json_key_unsigned(json, "start_arena_bytes", then->arena_bytes);
			json_key_unsigned(json, "start_arena_count", then->arena_count);
			json_key_unsigned(json, "start_reserved_bytes", then->reserved);
			json_key_unsigned(json, "start_committed_bytes", then->committed);
		}
		json_map_end(json);
	}
}

/* What of each JVM is written to one list. */
enum section { SECTION_LINES, SECTION_PARTS, SECTION_READINGS, SECTION_TAGS };

static void write_section(struct json_stream *json, const struct recording *rec, const char *key,
			  enum section section)
{
	json_key(json, key);
	json_array(json);
	for (uint32_t jvm = 1; jvm <= rec_jvm_count(rec) && !json->err; jvm++) {
		const struct rec_ledger *first = rec_ledger_first(rec, jvm);
		const struct rec_ledger *last = rec_ledger_last(rec, jvm);

		if (!first)
			continue;
		switch (section) {
		case SECTION_LINES:
			write_lines(json, jvm, first, last);
			break;
		case SECTION_PARTS:
			write_parts(json, rec, first, last);
			break;
		case SECTION_READINGS:
			write_reading(json, rec, "start", first);
			write_reading(json, rec, "end", last);
			break;
		case SECTION_TAGS:
			write_tags(json, rec, first, last);
			break;
		}
	}
	json_array_end(json);
}

bool json_has_ledger(const struct recording *rec)
{
	for (uint32_t jvm = 1; jvm <= rec_jvm_count(rec); jvm++)
		if (rec_ledger_first(rec, jvm))
			return true;
	return false;
}

void json_ledger(struct json_stream *json, const struct recording *rec)
{
	uint64_t rss_bytes = 0;

	for (uint32_t jvm = 1; jvm <= rec_jvm_count(rec); jvm++) {
		const struct rec_ledger *last = rec_ledger_last(rec, jvm);

		rss_bytes += last ? last->rss_bytes : 0;
	}
	write_section(json, rec, "ledger", SECTION_LINES);
	write_section(json, rec, "ledger_parts", SECTION_PARTS);
	write_section(json, rec, "ledger_readings", SECTION_READINGS);
	write_section(json, rec, "nmt", SECTION_TAGS);
	json_key_unsigned(json, "rss_bytes", rss_bytes);
}

/* ---- timeline */

static void write_series(struct json_stream *json, const struct recording *rec,
			 const struct rec_series *series)
{
	char key[128];

	/* Of several JVMs the later ones have their index behind the name. */
	snprintf(key, sizeof(key), "%s", rec_text(rec, series->name));
	if (series->jvm > 1)
		snprintf(key, sizeof(key), "%s[%" PRIu32 "]", rec_text(rec, series->name),
			 series->jvm - 1);
	json_key(json, key);
	json_array(json);
	for (uint32_t i = 0; i < series->buckets; i++) {
		if (series->values[i].there)
			json_signed(json, series->values[i].value);
		else
			json_null(json);
	}
	json_array_end(json);
}

void json_timeline(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	uint64_t bucket_ns;
	const struct rec_series *series = rec_series(rec, &count, &bucket_ns);

	if (!count)
		return;
	json_key(json, "timeline");
	json_map(json);
	json_key_unsigned(json, "bucket_ns", bucket_ns);
	json_key_signed(json, "start_time_ns", rec_meta_get(rec)->start_time_ns);
	json_key(json, "series");
	json_map(json);
	for (size_t i = 0; i < count && !json->err; i++)
		write_series(json, rec, &series[i]);
	json_map_end(json);
	json_map_end(json);
}
