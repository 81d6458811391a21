/* SPDX-License-Identifier: Apache-2.0 */
#include "live/mappings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/native.h"

#define SITES_MAX 16384 /* of a target */

/* ---- ranges */

/* The first range that ends behind an address. */
static size_t first_behind(const struct mapped_list *list, uint64_t address)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->items[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

const struct mapped *mapped_find(const struct mapped_list *list, uint64_t address)
{
	size_t at = first_behind(list, address);

	return at < list->count && list->items[at].start <= address ? &list->items[at] : NULL;
}

/* Room for one more at a place. */
static int make_room(struct mapped_list *list, size_t at)
{
	size_t capacity = list->capacity ? list->capacity * 2 : 64;
	struct mapped *items;

	if (list->count >= MAPPED_MAX)
		return -ENOSPC;
	if (list->count == list->capacity) {
		items = reallocarray(list->items, capacity, sizeof(*items));
		if (!items)
			return -ENOMEM;
		list->items = items;
		list->capacity = capacity;
	}
	memmove(&list->items[at + 1], &list->items[at], (list->count - at) * sizeof(*list->items));
	list->count++;
	return 0;
}

static void book_gone(struct mappings_target *t, uint32_t id, int64_t bytes, bool whole)
{
	struct mapped_site *site = table_get(&t->sites, id);

	if (!site)
		return;
	site->freed_bytes += bytes;
	site->freed_blocks += whole;
}

/* Takes a part out of the range at a place. Returns whether anything of it is still there. */
static bool cut(struct mappings_target *t, struct mapped_list *list, size_t at, uint64_t start,
		uint64_t end)
{
	struct mapped *range = &list->items[at], whole = *range;
	struct mapped_site *site;

	if (start == whole.start && end == whole.end) {
		memmove(range, range + 1, (list->count - at - 1) * sizeof(*range));
		list->count--;
		book_gone(t, whole.site, whole.bytes, true);
		return false;
	}
	book_gone(t, whole.site, (int64_t)(end - start), false);
	range->bytes -= (int64_t)(end - start);
	if (start == whole.start) {
		range->start = end;
	} else if (end == whole.end) {
		range->end = start;
	} else if (make_room(list, at)) {
		/* No place for two: the upper one is forgotten. */
		range->end = start;
		range->bytes = (int64_t)(start - whole.start);
		book_gone(t, whole.site, (int64_t)(whole.end - end), false);
	} else {
		list->items[at].end = start;
		list->items[at].bytes = (int64_t)(start - whole.start);
		list->items[at + 1].start = end;
		list->items[at + 1].bytes = (int64_t)(whole.end - end);
		site = table_get(&t->sites, whole.site);
		if (site)
			site->blocks++;
	}
	return true;
}

void mapped_remove(struct mappings_target *t, struct mapped_list *list, const struct mapped *gone)
{
	size_t at = first_behind(list, gone->start);

	if (gone->start >= gone->end)
		return;
	while (at < list->count && list->items[at].start < gone->end) {
		const struct mapped *range = &list->items[at];
		uint64_t start = range->start > gone->start ? range->start : gone->start;
		uint64_t end = range->end < gone->end ? range->end : gone->end;

		if (range->time_ns > gone->time_ns) {
			at++;
		} else if (cut(t, list, at, start, end)) {
			/* What is left of it may begin before or behind what is gone. */
			at = first_behind(list, end);
		}
	}
}

int mapped_add(struct mappings_target *t, struct mapped_list *list, const struct mapped *range)
{
	size_t at;
	int err;

	if (range->start >= range->end)
		return -EEXIST;
	mapped_remove(t, list, range);
	at = first_behind(list, range->start);
	if (at < list->count && list->items[at].start < range->end)
		return -EEXIST;
	err = make_room(list, at);
	if (!err)
		list->items[at] = *range;
	return err;
}

int mapped_fill(struct mapped_list *list, const struct mapped *range)
{
	size_t at = first_behind(list, range->start);
	struct mapped part = *range;
	int err = 0;

	for (; part.start < range->end && !err; at++) {
		part.end = range->end;
		if (at < list->count && list->items[at].start < part.end)
			part.end = list->items[at].start;
		if (part.start < part.end) {
			err = make_room(list, at);
			if (!err)
				list->items[at++] = part;
		}
		part.start = at < list->count ? list->items[at].end : range->end;
	}
	return err;
}

/* ---- records */

static uint32_t site_of(struct mappings_target *t, uint64_t stack, uint32_t tag,
			enum rec_native_use use)
{
	struct mapped_site row = { .stack = stack, .tag = tag, .use = use };
	uint32_t id;

	t->sites.row_size = sizeof(row);
	t->sites.key_size = offsetof(struct mapped_site, rec_stack);
	return table_add(&t->sites, &row, SITES_MAX, &id) ? 0 : id;
}

/* stack: of the recording. */
static void add_range(struct mappings_target *t, struct mapped_list *list,
		      const struct mapped *range, uint32_t stack)
{
	struct mapped_site *site = table_get(&t->sites, range->site);
	int err = site ? mapped_add(t, list, range) : -ENOMEM;

	if (site && stack)
		site->rec_stack = stack;
	if (err && err != -EEXIST)
		t->dropped++;
	if (err)
		return;
	site->blocks++;
	site->bytes += range->bytes;
}

/* That of the first area in a range, which may begin before it, or be what is left of one. */
static uint32_t tag_in(const struct mappings_target *t, const struct mapped *range)
{
	size_t at = first_behind(&t->areas, range->start);

	if (at < t->areas.count && t->areas.items[at].start < range->end)
		return t->areas.items[at].tag;
	return JVS_MAPPING_NO_TAG;
}

static void reserve(struct mappings_target *t, const struct jvs_mapped *record, uint32_t stack,
		    struct mapped range)
{
	if (range.tag == JVS_MAPPING_NO_TAG)
		range.tag = tag_in(t, &range);
	range.site = site_of(t, record->stack, range.tag, REC_NATIVE_RESERVED);
	add_range(t, &t->reserved, &range, stack);
}

/* Committed memory has the tag of what it was reserved for. */
static void commit(struct mappings_target *t, const struct jvs_mapped *record, uint32_t stack,
		   struct mapped range)
{
	const struct mapped *in = mapped_find(&t->reserved, range.start);

	range.tag = in ? in->tag : record->tag;
	if (range.tag == JVS_MAPPING_NO_TAG)
		range.tag = tag_in(t, &range);
	range.site = site_of(t, record->stack, range.tag, REC_NATIVE_COMMITTED);
	add_range(t, &t->committed, &range, stack);
}

static void add_stack(struct mappings_target *t, const struct jvs_mapped *record, uint32_t stack,
		      struct mapped range)
{
	range.end = range.start + 1;
	range.site = site_of(t, record->stack, JVS_MAPPING_NO_TAG, REC_NATIVE_STACK);
	add_range(t, &t->stacks, &range, stack);
}

void mappings_add(struct mappings *mappings, const struct jvs_mapped *record, uint32_t stack)
{
	struct mappings_target *t = &mappings->targets[record->event.target];
	struct mapped range = { .start = record->address,
				.end = record->address + record->size,
				.bytes = (int64_t)record->size,
				.time_ns = record->event.time_ns,
				.tag = record->tag };

	if (record->size > MAPPED_BYTES_MAX) {
		t->dropped++;
		return;
	}
	switch (record->op) {
	case JVS_MAPPING_MAP:
		reserve(t, record, stack, range);
		/* fall through */
	case JVS_MAPPING_COMMIT:
	case JVS_MAPPING_COMMIT_EXIT:
		commit(t, record, stack, range);
		break;
	case JVS_MAPPING_RESERVE:
		reserve(t, record, stack, range);
		break;
	case JVS_MAPPING_RELEASE:
		mapped_remove(t, &t->reserved, &range);
		mapped_remove(t, &t->areas, &range);
		/* fall through */
	case JVS_MAPPING_UNCOMMIT:
		mapped_remove(t, &t->committed, &range);
		break;
	case JVS_MAPPING_STACK:
		add_stack(t, record, stack, range);
		break;
	case JVS_MAPPING_STACK_END:
		range.end = range.start + 1;
		mapped_remove(t, &t->stacks, &range);
		break;
	}
}

/* Its numbers leave the site they were booked at. */
static void move_range(struct mappings_target *t, struct mapped *range, uint32_t tag)
{
	struct mapped_site *from = table_get(&t->sites, range->site), *to;
	uint32_t rec_stack = from ? from->rec_stack : 0, id;

	id = from ? site_of(t, from->stack, tag, (enum rec_native_use)from->use) : 0;
	if (!id)
		return;
	from = table_get(&t->sites, range->site);
	to = table_get(&t->sites, id);
	to->rec_stack = rec_stack;
	to->blocks++;
	to->bytes += range->bytes;
	from->blocks--;
	from->bytes -= range->bytes;
	range->site = id;
	range->tag = tag;
}

void mappings_retag(struct mappings_target *t)
{
	struct mapped_list *const lists[] = { &t->reserved, &t->committed };

	for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++) {
		for (size_t at = 0; at < lists[list]->count; at++) {
			struct mapped *range = &lists[list]->items[at];
			uint32_t tag = tag_in(t, range);

			if (range->tag == JVS_MAPPING_NO_TAG && tag != JVS_MAPPING_NO_TAG)
				move_range(t, range, tag);
		}
	}
}

/* ---- the end */

static void free_list(struct mapped_list *list)
{
	free(list->items);
	*list = (struct mapped_list){ 0 };
}

void mappings_forget(struct mappings *mappings, uint32_t target)
{
	struct mappings_target *t = &mappings->targets[target];

	for (int set = 0; set < MAPPING_SETS; set++)
		probes_free(&t->sets[set]);
	free_list(&t->reserved);
	free_list(&t->committed);
	free_list(&t->stacks);
	free_list(&t->areas);
	table_free(&t->sites);
	*t = (struct mappings_target){ 0 };
}

void mappings_free(struct mappings *mappings)
{
	for (uint32_t i = 0; i < JVS_MAX_TARGETS; i++)
		mappings_forget(mappings, i);
}
