/* SPDX-License-Identifier: Apache-2.0 */
#include "model/heap.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "model/recording_impl.h"

struct rec_heap {
	struct table classes; /* of struct rec_heap_class */
};

static struct rec_heap *heap_of(struct recording *rec)
{
	if (rec->heap)
		return rec->heap;
	rec->heap = calloc(1, sizeof(*rec->heap));
	if (!rec->heap) {
		rec->err = -ENOMEM;
		return NULL;
	}
	rec->heap->classes.row_size = sizeof(struct rec_heap_class);
	rec->heap->classes.key_size = offsetof(struct rec_heap_class, tlabs);
	return rec->heap;
}

struct rec_heap_class *rec_heap_class(struct recording *rec, uint32_t jvm, uint32_t name)
{
	const struct rec_heap_class row = { .jvm = jvm, .name = name };
	struct rec_heap *heap = heap_of(rec);
	uint32_t id;
	bool full = false;

	if (!heap)
		return NULL;
	id = rec_table_add(rec, &heap->classes, &row, REC_MAX_HEAP_CLASSES, &full);
	if (full)
		rec_quality_add(rec, REC_QUALITY_INFO, "heap_classes_over_limit", 1);
	return table_get(&heap->classes, id);
}

void rec_heap_forget(struct recording *rec, uint32_t jvm)
{
	for (uint32_t id = 1; id <= rec_heap_class_count(rec); id++) {
		struct rec_heap_class *row = rec_heap_class_get(rec, id);

		if (row && row->jvm == jvm)
			*row = (struct rec_heap_class){ .jvm = jvm, .name = row->name };
	}
}

struct rec_heap_class *rec_heap_class_get(const struct recording *rec, uint32_t id)
{
	return rec->heap ? table_get(&rec->heap->classes, id) : NULL;
}

uint32_t rec_heap_class_count(const struct recording *rec)
{
	return rec->heap ? rec->heap->classes.count : 0;
}

bool rec_has_heap(const struct recording *rec)
{
	return rec->heap;
}

void rec_heap_free(struct rec_heap *heap)
{
	if (!heap)
		return;
	table_free(&heap->classes);
	free(heap);
}
