/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "jvm/memory_impl.h"
#include "target/maps.h"
#include "target/target.h"

/*
 * Tables of the collectors. Their own structures are exported by none: what is exported leads to
 * objects whose words are looked through for pairs that can be the bounds of a table.
 */

#define MANAGER_WORDS	  60 /* of G1's region manager: pointers to its mappers */
#define MAPPER_WORDS	  16 /* of a mapper: bounds in the first 5, the page size 3 words on */
#define MAPPER_BOUNDS	  5
#define TABLE_OF_HEAP	  32  /* no table has more than this part of the heap */
#define BITMAP_OF_HEAP	  100 /* a mark bitmap is 1/64, a card table 1/512 */
#define TABLE_MAX	  (1ull << 46)
#define SCAN_WORDS	  64
#define SCAN_WORDS_INSIDE 24
#define ROWS_MAX	  (1u << 20) /* regions of G1 */
#define ROW_BYTES	  128	     /* of the from-card cache */
#define OBJECT_WORDS	  1024	     /* of ShenandoahHeap: 200 to 400 seen */
#define Z_STACKS_BYTES	  (8ull << 30)
#define Z_STACKS_11	  0x150000000000ull /* a constant there */
#define CSET_MAP_BELOW	  (1u << 20)	    /* Shenandoah maps it there */

static bool is_table(const struct memory_walk *walk, uint64_t start, uint64_t end)
{
	const struct mapping *first, *last;

	if (!start || start >= end || start % MEMORY_PAGE || end % MEMORY_PAGE ||
	    end - start >= TABLE_MAX || start == walk->heap_start)
		return false;
	first = maps_find(walk->maps, start);
	last = maps_find(walk->maps, end - 1);
	return first && last && !first->path[0];
}

static void found_table(const struct memory_walk *walk, const char *what, uint64_t start,
			uint64_t end)
{
	if (is_table(walk, start, end))
		memory_found(walk, VM_GC, what, start, end);
}

static bool is_page_size(uint64_t size)
{
	return size == MEMORY_PAGE || size == 2u << 20 || size == 1u << 30;
}

/* G1RegionToSpaceMapper: bounds of its storage, and the size of its pages. */
static void find_mapper(const struct memory_walk *walk, uint64_t mapper)
{
	uint64_t w[MAPPER_WORDS];

	if (!memory_words(walk, mapper, w, MAPPER_WORDS))
		return;
	for (uint32_t i = 1; i <= MAPPER_BOUNDS; i++) {
		uint64_t bytes = w[i + 1] - w[i];

		if (w[i] >= w[i + 1] || !is_page_size(w[i + 3]) ||
		    bytes > walk->heap_bytes / TABLE_OF_HEAP)
			continue;
		found_table(walk,
			    walk->heap_bytes / bytes < BITMAP_OF_HEAP
				    ? "mark bitmap"
				    : "card table, offset table, card counts",
			    w[i], w[i + 1]);
	}
}

static void find_g1(const struct memory_walk *walk)
{
	const struct vm_memory *memory = walk->memory;
	uint64_t managers[MANAGER_WORDS], rows, last, grain;

	if (memory->member.g1_hrm != NO_MEMBER &&
	    memory_words(walk, walk->heap + memory->member.g1_hrm, managers, MANAGER_WORDS))
		for (uint32_t i = 0; i < MANAGER_WORDS; i++)
			find_mapper(walk, managers[i]);
	if (!memory->symbol.from_card_cache || !memory->symbol.grain_bytes)
		return;
	grain = memory_word(walk, memory->symbol.grain_bytes, 0);
	rows = memory_word(walk, memory->symbol.from_card_cache, 0);
	if (!rows || !grain || walk->heap_bytes < grain || walk->heap_bytes / grain > ROWS_MAX)
		return;
	last = memory_word(walk, rows, 8 * (walk->heap_bytes / grain - 1));
	if (last)
		memory_found(walk, VM_GC, "from-card cache", rows, last + ROW_BYTES);
}

static void find_card_table(const struct memory_walk *walk)
{
	const struct memory_members *m = &walk->memory->member;
	uint64_t table, map, bytes;

	table = memory_word(walk, 0, m->barrier_set);
	if (!table)
		table = memory_word(walk, walk->heap, m->heap_barrier_set);
	if (!table || m->byte_map == NO_MEMBER)
		return;
	if (m->card_table != NO_MEMBER)
		table = memory_word(walk, table, m->card_table);
	map = memory_word(walk, table, m->byte_map) & ~(MEMORY_PAGE - 1ull);
	bytes = memory_word(walk, table, m->byte_map_size);
	if (bytes < TABLE_MAX)
		found_table(walk, "card table", map,
			    (map + bytes + MEMORY_PAGE - 1) & ~(MEMORY_PAGE - 1ull));
}

/*
 * A pair of words that can be the bounds of a space. One that begins or ends where a mapping does
 * is; the kernel merges mappings, so another one may be.
 */
static void found_space(const struct memory_walk *walk, const char *what, uint64_t start,
			uint64_t end)
{
	const struct mapping *first, *last;

	if (!is_table(walk, start, end) ||
	    (start >= walk->heap_start && start < walk->heap_start + walk->heap_bytes))
		return;
	first = maps_find(walk->maps, start);
	last = maps_find(walk->maps, end - 1);
	if (first->start == start || last->end == end)
		memory_found(walk, VM_GC, what, start, end);
	else if (first == last && end - start <= walk->heap_bytes / TABLE_OF_HEAP)
		memory_found_loose(walk, VM_GC, what, start, end);
}

static bool may_point_to_object(const struct memory_walk *walk, uint64_t word)
{
	const struct mapping *mapping;

	if (word % 8 || word < MEMORY_PAGE)
		return false;
	mapping = maps_find(walk->maps, word);
	return mapping && mapping->readable && !mapping->executable &&
	       (word < walk->heap_start || word >= walk->heap_start + walk->heap_bytes);
}

/* What an object holds, and what the objects hold that it points to. */
static void find_spaces_in(const struct memory_walk *walk, const char *what, const uint64_t *w,
			   uint32_t count)
{
	for (uint32_t i = 0; i + 1 < count; i++)
		found_space(walk, what, w[i], w[i + 1]);
}

static void find_spaces(const struct memory_walk *walk, const char *what, uint64_t object,
			uint32_t count)
{
	uint64_t w[SCAN_WORDS], inside[SCAN_WORDS_INSIDE], deeper[SCAN_WORDS_INSIDE];

	count = memory_words(walk, object, w, count < SCAN_WORDS ? count : SCAN_WORDS);
	find_spaces_in(walk, what, w, count);
	for (uint32_t i = 0; i < count; i++) {
		if (!may_point_to_object(walk, w[i]) ||
		    !memory_words(walk, w[i], inside, SCAN_WORDS_INSIDE))
			continue;
		find_spaces_in(walk, what, inside, SCAN_WORDS_INSIDE);
		for (uint32_t j = 0; j < SCAN_WORDS_INSIDE; j++)
			if (may_point_to_object(walk, inside[j]) &&
			    memory_words(walk, inside[j], deeper, SCAN_WORDS_INSIDE))
				find_spaces_in(walk, what, deeper, SCAN_WORDS_INSIDE);
	}
}

static void find_parallel(const struct memory_walk *walk)
{
	const struct vm_memory *memory = walk->memory;

	if (memory->symbol.summary_data)
		find_spaces(walk, "compaction data", memory->symbol.summary_data,
			    (uint32_t)(memory->size.summary_data / 8 + 1));
	if (memory->symbol.mark_bitmap)
		find_spaces(walk, "mark bitmap", memory->symbol.mark_bitmap,
			    (uint32_t)(memory->size.mark_bitmap / 8 + 1));
	find_spaces(walk, "object start array", memory_word(walk, 0, memory->member.parallel_old),
		    SCAN_WORDS_INSIDE + 8);
}

/* Its bitmaps are start and words. */
static void find_shenandoah(const struct memory_walk *walk)
{
	const struct vm_memory *memory = walk->memory;
	uint32_t count = (uint32_t)(memory->shenandoah_bytes / 8);
	const struct mapping *mapping;
	uint64_t w[OBJECT_WORDS];

	count = memory_words(walk, walk->heap, w, count < OBJECT_WORDS ? count : OBJECT_WORDS);
	for (uint32_t i = 0; i + 1 < count; i++)
		if (w[i + 1] < TABLE_MAX / 8)
			found_table(walk, "bitmaps", w[i], w[i] + w[i + 1] * 8);
	mapping = maps_find(
		walk->maps,
		memory_word(walk, memory_word(walk, walk->heap, memory->member.shenandoah_regions),
			    0));
	if (mapping && !mapping->path[0])
		memory_found(walk, VM_GC, "regions", mapping->start, mapping->end);
	for (size_t i = 0; i < walk->maps->count && walk->maps->items[i].end <= CSET_MAP_BELOW; i++)
		if (!walk->maps->items[i].path[0])
			memory_found(walk, VM_GC, "collection set map", walk->maps->items[i].start,
				     walk->maps->items[i].end);
}

static void find_z(const struct memory_walk *walk)
{
	const struct memory_symbols *s = &walk->memory->symbol;
	uint64_t start, bytes = Z_STACKS_BYTES;

	if (!s->z_stack_start && walk->memory->major > 11)
		return;
	start = s->z_stack_start ? memory_word(walk, s->z_stack_start, 0) : Z_STACKS_11;
	if (s->z_stack_limit)
		bytes = memory_word(walk, s->z_stack_limit, 0);
	memory_found(walk, VM_GC, "mark stacks", start, start + bytes);
}

void memory_gc(const struct memory_walk *walk)
{
	const char *gc = walk->memory->gc;

	if (!walk->heap)
		return;
	if (!strcmp(gc, "G1"))
		find_g1(walk);
	find_card_table(walk);
	if (strcmp(gc, "G1") != 0 && walk->heap_bytes) {
		find_parallel(walk);
		find_spaces(walk, "offset table", walk->heap, SCAN_WORDS);
	}
	if (!strcmp(gc, "Shenandoah"))
		find_shenandoah(walk);
	if (!strcmp(gc, "ZGC"))
		find_z(walk);
}
