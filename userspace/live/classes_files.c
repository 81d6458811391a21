/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "jvm/classfile.h"
#include "live/classes_impl.h"
#include "model/recording.h"

/* Class files that agents changed: put together from their parts, and compared. */

#define CHANGES_WAITING 65536

static void file_free(struct class_file *file)
{
	free(file->bytes[0]);
	free(file->bytes[1]);
	*file = (struct class_file){ 0 };
}

static struct class_file *find_file(struct class_target *t, uint64_t id)
{
	for (uint32_t i = 0; i < CLASS_FILES; i++)
		if (t->files[i].id == id)
			return &t->files[i];
	return NULL;
}

/* The oldest gives way: the class it is of was never defined. */
static struct class_file *file_for(struct class_target *t, uint64_t id)
{
	struct class_file *file = find_file(t, id);

	if (file)
		return file;
	file = &t->files[t->next_file++ % CLASS_FILES];
	file_free(file);
	file->id = id;
	return file;
}

/* ---- comparing */

/* Changed methods, in an array that grows. */
struct collecting {
	struct recording *rec;
	struct rec_class_method *methods; /* owned */
	uint32_t count;
	uint32_t capacity;
};

static uint32_t string_of(struct recording *rec, struct classfile_text text)
{
	return text.len ? rec_string(rec, text.bytes, text.len) : 0;
}

static void fill_code(const struct classfile_method *from, struct rec_class_code *to)
{
	if (from)
		*to = (struct rec_class_code){ from->code_size, from->max_stack, from->max_locals,
					       from->frame_count };
}

static void on_changed(const struct classfile_change *change, void *ctx)
{
	struct collecting *collecting = ctx;
	uint32_t capacity = collecting->capacity ? collecting->capacity * 2 : 16;
	struct rec_class_method *row;

	if (collecting->count == collecting->capacity) {
		row = reallocarray(collecting->methods, capacity, sizeof(*row));
		if (!row)
			return;
		collecting->methods = row;
		collecting->capacity = capacity;
	}
	row = &collecting->methods[collecting->count++];
	*row = (struct rec_class_method){
		.name = string_of(collecting->rec, change->after->name),
		.signature = string_of(collecting->rec, change->after->signature),
		.calls_added = change->calls_added,
		.calls_at_entry = change->calls_at_entry,
		.calls_at_exit = change->calls_at_exit,
		.frames_changed = change->frames_changed,
	};
	fill_code(change->before, &row->before);
	fill_code(change->after, &row->after);
}

static void fill_header(const struct classfile *file, struct rec_class_header *header)
{
	*header = (struct rec_class_header){
		.bytes = (uint32_t)file->size,
		.major = file->major,
		.constants = file->constants,
		.methods = file->method_count,
		.methodrefs = file->methodrefs,
		.frames = file->has_frames,
	};
}

static uint32_t compare(struct recording *rec, const struct classfile *before,
			const struct classfile *after)
{
	struct collecting collecting = { .rec = rec };
	struct rec_class_change change = { 0 };
	int added = classfile_compare(before, after, on_changed, &collecting);
	uint32_t id = 0;

	if (added >= 0) {
		fill_header(before, &change.before);
		fill_header(after, &change.after);
		change.methodrefs_added = (uint32_t)added;
		change.method_count = collecting.count;
		id = rec_class_change(rec, &change, collecting.methods);
	}
	free(collecting.methods);
	return id;
}

static uint32_t compare_files(struct recording *rec, const struct class_file *file)
{
	struct classfile before = { 0 }, after = { 0 };
	uint32_t change = 0;

	if (!classfile_parse(file->bytes[0], file->total[0], &before) &&
	    !classfile_parse(file->bytes[1], file->total[1], &after))
		change = compare(rec, &before, &after);
	classfile_free(&before);
	classfile_free(&after);
	return change;
}

/* Until the class is defined, or redefined. Those of classes that never are must not pile up. */
static void keep_change(struct class_target *t, uint64_t id, uint32_t change)
{
	if (t->changes.count >= CHANGES_WAITING)
		map64_free(&t->changes);
	if (change)
		map64_set(&t->changes, id, change);
}

static bool is_whole(const struct class_file *file, uint32_t which)
{
	return file->total[which] && file->have[which] == file->total[which];
}

void classes_take_bytes(struct class_target *t, struct recording *rec,
			const struct jvs_class_bytes *part, size_t size)
{
	struct class_file *file;
	uint32_t which;

	if (size < JVS_CLASS_BYTES_HEADER || part->count > size - JVS_CLASS_BYTES_HEADER ||
	    part->total > JVS_CLASS_FILE_SENT || part->first > part->total ||
	    part->count > part->total - part->first || !part->id)
		return;
	which = part->after ? 1 : 0;
	file = file_for(t, part->id);
	if (!file->bytes[which]) {
		file->bytes[which] = malloc(part->total ? part->total : 1);
		if (!file->bytes[which])
			return;
		file->total[which] = part->total;
	}
	if (file->total[which] != part->total || file->have[which] != part->first)
		return;
	memcpy(file->bytes[which] + part->first, part->bytes, part->count);
	file->have[which] += part->count;
	if (!is_whole(file, 0) || !is_whole(file, 1))
		return;
	keep_change(t, file->id, compare_files(rec, file));
	file_free(file);
}

uint32_t classes_take_change(struct class_target *t, uint64_t id)
{
	uint32_t change = 0;

	if (map64_get(&t->changes, id, &change))
		map64_remove(&t->changes, id);
	return change;
}
