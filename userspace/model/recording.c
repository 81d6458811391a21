/* SPDX-License-Identifier: Apache-2.0 */
#include "model/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/classes.h"
#include "model/gc.h"
#include "model/heap.h"
#include "model/native.h"
#include "model/recording_impl.h"
#include "model/runtime.h"

#define FIRST_CAPACITY 64

/* Keys are hashed and compared as bytes: they must have no holes. */
_Static_assert(sizeof(struct rec_method) == 6 * sizeof(uint32_t), "no holes");
_Static_assert(sizeof(struct rec_frame) == 4 * sizeof(uint32_t) + sizeof(uint64_t), "no holes");
_Static_assert(sizeof(struct rec_key) == 5 * sizeof(uint32_t), "no holes");
_Static_assert(offsetof(struct rec_total, key) == 0, "the key comes first");
_Static_assert(offsetof(struct rec_rule, frames) == 2 * sizeof(uint32_t),
	       "text, number come first");
_Static_assert(offsetof(struct rec_thread, name) == 2 * sizeof(uint32_t), "jvm, tid come first");

struct recording *rec_new(void)
{
	struct recording *rec = calloc(1, sizeof(*rec));

	if (!rec)
		return NULL;
	rec->limits = (struct rec_limits){
		.string_bytes = REC_MAX_STRING_BYTES,
		.methods = REC_MAX_METHODS,
		.frames = REC_MAX_FRAMES,
		.stacks = REC_MAX_STACKS,
		.stack_frames = REC_MAX_STACK_FRAMES,
		.jvms = REC_MAX_JVMS,
		.threads = REC_MAX_THREADS,
		.totals = REC_MAX_TOTALS,
		.quality_rows = REC_MAX_QUALITY_ROWS,
		.samples = REC_MAX_SAMPLES,
	};
	rec->methods.row_size = rec->methods.key_size = sizeof(struct rec_method);
	rec->frames.row_size = rec->frames.key_size = sizeof(struct rec_frame);
	rec->threads.row_size = sizeof(struct rec_thread);
	rec->threads.key_size = offsetof(struct rec_thread, name);
	rec->totals.row_size = sizeof(struct rec_total);
	rec->totals.key_size = sizeof(struct rec_key);
	rec->rules.row_size = sizeof(struct rec_rule);
	rec->rules.key_size = offsetof(struct rec_rule, frames);
	return rec;
}

void rec_free(struct recording *rec)
{
	if (!rec)
		return;
	intern_free(&rec->strings);
	table_free(&rec->methods);
	table_free(&rec->frames);
	table_free(&rec->threads);
	table_free(&rec->totals);
	table_free(&rec->settings);
	table_free(&rec->rules);
	free(rec->method_rules);
	free(rec->stacks);
	free(rec->stack_frames);
	map64_free(&rec->stacks_by_hash);
	free(rec->jvms);
	free(rec->samples);
	for (uint32_t i = 0; i < rec->quality_count; i++)
		free(rec->quality[i].name);
	free(rec->quality);
	rec_classes_free(rec->classes);
	rec_gc_free(rec->gc);
	rec_runtime_free(rec->runtime);
	free(rec->io.items);
	rec_heap_free(rec->heap);
	rec_native_free(rec->native);
	rec_ledgers_free(rec);
	rec_series_free(rec);
	free(rec);
}

int rec_error(const struct recording *rec)
{
	return rec->err;
}

struct rec_meta *rec_meta(struct recording *rec)
{
	return &rec->meta;
}

const struct rec_meta *rec_meta_get(const struct recording *rec)
{
	return &rec->meta;
}

void *rec_grow(struct recording *rec, void *rows, uint32_t *capacity, size_t needed,
	       size_t row_size)
{
	size_t larger = *capacity ? *capacity : FIRST_CAPACITY;
	void *moved;

	if (rows && needed <= *capacity)
		return rows;
	while (larger < needed)
		larger *= 2;
	moved = larger <= UINT32_MAX ? reallocarray(rows, larger, row_size) : NULL;
	if (!moved) {
		rec->err = -ENOMEM;
		return NULL;
	}
	*capacity = (uint32_t)larger;
	return moved;
}

uint32_t rec_table_add(struct recording *rec, struct table *table, const void *row, uint32_t max,
		       bool *full)
{
	uint32_t id = 0;
	int err = table_add(table, row, max, &id);

	*full = err == -ENOSPC;
	if (err == -ENOMEM)
		rec->err = err;
	return id;
}

/* ---- strings */

uint32_t rec_string(struct recording *rec, const char *text, size_t len)
{
	uint32_t id;

	if (len >= rec->limits.string_bytes ||
	    rec->strings.bytes_len > rec->limits.string_bytes - len - 1) {
		id = intern_find(&rec->strings, text, len);
		if (id)
			return id;
		rec_quality_add(rec, REC_QUALITY_INFO, "strings_over_limit", 1);
		text = REC_TRUNCATED;
		len = strlen(text);
	}
	id = intern_add(&rec->strings, text, len);
	if (!id)
		rec->err = -ENOMEM;
	return id;
}

const char *rec_text(const struct recording *rec, uint32_t string)
{
	return intern_get(&rec->strings, string, NULL);
}

uint32_t rec_string_count(const struct recording *rec)
{
	return rec->strings.count;
}

/* ---- JVMs */

uint32_t rec_jvm(struct recording *rec, const struct rec_jvm *jvm)
{
	struct rec_jvm row = *jvm;
	void *rows;

	/* One more than the maximum: the last stands for the others. */
	if (rec->jvms_count > rec->limits.jvms) {
		rec_quality_add(rec, REC_QUALITY_INFO, "jvms_over_limit", 1);
		return rec->jvms_count;
	}
	if (rec->jvms_count == rec->limits.jvms) {
		rec_quality_add(rec, REC_QUALITY_INFO, "jvms_over_limit", 1);
		row = (struct rec_jvm){
			.main_class = rec_string(rec, REC_TRUNCATED, strlen(REC_TRUNCATED)),
		};
	}
	rows = rec_grow(rec, rec->jvms, &rec->jvms_capacity, (size_t)rec->jvms_count + 1,
			sizeof(row));
	if (!rows)
		return 0;
	rec->jvms = rows;
	rec->jvms[rec->jvms_count++] = row;
	return rec->jvms_count;
}

struct rec_jvm *rec_jvm_get(const struct recording *rec, uint32_t id)
{
	return id && id <= rec->jvms_count ? &rec->jvms[id - 1] : NULL;
}

uint32_t rec_jvm_count(const struct recording *rec)
{
	return rec->jvms_count;
}
