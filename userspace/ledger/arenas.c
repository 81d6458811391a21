/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/arenas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/claims.h"
#include "ledger/libc.h"
#include "target/pagemap.h"
#include "target/smaps.h"
#include "target/target.h"

#define HEAP_BYTES     (64ull << 20) /* HEAP_MAX_SIZE: 2 * DEFAULT_MMAP_THRESHOLD_MAX */
#define HEAPS_MAX      65536
#define RING_MAX       4096 /* arenas: 8 a CPU is the default limit */
#define HEADER_WORDS   4
#define SMALLEST_CHUNK 0x20
#define SIZE_MASK      (~7ull)
#define PREVIOUS_USED  1u
#define BY_MMAP	       2u
#define WORDS_AT_ONCE  512ull
#define HEADERS_MAX    4096 /* pages looked at for headers of blocks in one ledger */

/* struct malloc_state, in words; nothing exports it. */
struct state_layout {
	uint32_t top;
	uint32_t next;
	uint32_t system_bytes;
	uint32_t bytes;
};
static const struct state_layout layouts[] = {
	{ 12, 270, 273, 2200 }, /* glibc 2.26 to 2.42 */
	{ 1, 259, 262, 2112 },	/* 2.43: without fast bins */
};
#define LAYOUTS (sizeof(layouts) / sizeof(*layouts))

/* A heap as its header tells. */
struct heap {
	uint64_t start;
	uint64_t arena;
	uint64_t bytes;
};

struct heaps {
	struct heap *items; /* owned */
	size_t count;
	size_t capacity;
};

/* ---- finding heaps */

static int add_heap(struct heaps *heaps, const struct heap *heap)
{
	size_t capacity = heaps->capacity ? heaps->capacity * 2 : 64;
	struct heap *items;

	if (heaps->count == HEAPS_MAX)
		return 0;
	if (heaps->count == heaps->capacity) {
		items = reallocarray(heaps->items, capacity, sizeof(*items));
		if (!items)
			return -ENOMEM;
		heaps->items = items;
		heaps->capacity = capacity;
	}
	heaps->items[heaps->count++] = *heap;
	return 0;
}

static uint64_t heap_of(uint64_t addr)
{
	return addr & ~(HEAP_BYTES - 1);
}

static bool is_arena(const struct heaps *heaps, uint64_t arena)
{
	for (size_t i = 0; i < heaps->count; i++)
		if (heaps->items[i].arena == arena)
			return true;
	return false;
}

static bool read_header(const struct target *t, uint64_t start, struct heap *out)
{
	uint64_t words[HEADER_WORDS];

	if (target_read(t, start, words, sizeof(words)))
		return false;
	*out = (struct heap){ .start = start, .arena = words[0], .bytes = words[2] };
	return out->arena % 8 == 0 && out->bytes >= PAGE_BYTES && out->bytes <= HEAP_BYTES &&
	       out->bytes % PAGE_BYTES == 0 && words[3] >= out->bytes && words[3] <= HEAP_BYTES;
}

static bool is_anonymous_data(const struct mapping *mapping, const struct smap *smap)
{
	return !mapping->path[0] && mapping->readable && smap->writable && smap->rss;
}

/*
 * An arena may lie in a mapping that the kernel merged with its neighbours. first: heaps that
 * hold their own arena; then those of arenas known.
 */
static int look_for_heaps(struct heaps *heaps, const struct target *t, const struct smaps *smaps,
			  const struct claims *claims, bool first)
{
	struct heap heap;
	int err = 0;

	for (size_t i = 0; i < smaps->maps.count && !err; i++) {
		const struct mapping *mapping = &smaps->maps.items[i];
		uint64_t at = heap_of(mapping->start + HEAP_BYTES - 1);

		if (!is_anonymous_data(mapping, &smaps->items[i]))
			continue;
		for (; at < mapping->end && !err; at += HEAP_BYTES) {
			uint64_t gap = at, gap_end;

			if (claims_gap(claims, mapping->end, &gap, &gap_end))
				break;
			if (gap != at || !read_header(t, at, &heap))
				continue;
			if (first ? heap_of(heap.arena) == at && heap.arena > at
				  : heap_of(heap.arena) != at && is_arena(heaps, heap.arena))
				err = add_heap(heaps, &heap);
		}
	}
	return err;
}

/* ---- arenas */

static uint64_t state_word(const struct target *t, uint64_t arena, uint32_t word)
{
	uint64_t value;

	return target_read_u64(t, arena + 8ull * word, &value) ? 0 : value;
}

/* The right layout has the arena's bytes where the heap's header has them, with one heap. */
static const struct state_layout *choose_layout(const struct target *t, const struct heaps *heaps)
{
	size_t votes[LAYOUTS] = { 0 }, best = 0;

	for (size_t i = 0; i < heaps->count; i++)
		for (size_t l = 0; l < LAYOUTS; l++)
			votes[l] += state_word(t, heaps->items[i].arena, layouts[l].system_bytes) ==
				    heaps->items[i].bytes;
	for (size_t l = 1; l < LAYOUTS; l++)
		if (votes[l] > votes[best])
			best = l;
	return &layouts[best];
}

/* Also how many arenas there are, by the ring. */
static uint64_t find_main_arena(const struct target *t, const struct heaps *heaps,
				const struct state_layout *layout, const struct libc *libc,
				uint64_t *count)
{
	uint64_t start = heaps->count ? heaps->items[0].arena : 0, at = start, found = 0;

	*count = 0;
	for (uint32_t n = 0; at && n < RING_MAX; n++) {
		++*count;
		at = state_word(t, at, layout->next);
		if (at >= libc->data_start && at < libc->data_end)
			found = at;
		if (at == start)
			break;
	}
	return found;
}

/* The first chunk: behind the arena's struct in its own heap, behind the header in others. */
static uint64_t first_chunk(const struct target *t, const struct heap *heap,
			    const struct state_layout *layout)
{
	static const uint32_t headers[] = { 0x30, 0x20, 0x40 };
	uint64_t size;

	if (heap_of(heap->arena) == heap->start)
		return (heap->arena + layout->bytes + 15) & ~15ull;
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		if (target_read_u64(t, heap->start + headers[i] + 8, &size))
			continue;
		if (size & PREVIOUS_USED && (size & SIZE_MASK) >= SMALLEST_CHUNK &&
		    size < HEAP_BYTES)
			return heap->start + headers[i];
	}
	return 0;
}

static void take_heaps(struct arenas *arenas, const struct heaps *heaps,
		       const struct state_layout *layout, struct claims *claims)
{
	for (size_t i = 0; i < heaps->count; i++) {
		const struct heap *heap = &heaps->items[i];
		uint64_t first = first_chunk(arenas->target, heap, layout);
		struct claim_part *part;

		part = claims_add(claims, REC_LINE_MALLOC, "arenas", heap->start,
				  heap->start + HEAP_BYTES);
		if (part)
			part->row.count++;
		if (first)
			arenas->heaps[arenas->count++] =
				(struct arena_heap){ .first = first,
						     .end = heap->start + heap->bytes,
						     .top = state_word(arenas->target, heap->arena,
								       layout->top) };
		else
			arenas->found.unread_bytes += heap->bytes;
	}
}

static void take_brk(struct arenas *arenas, const struct smaps *smaps, uint64_t top,
		     struct claims *claims)
{
	for (size_t i = 0; i < smaps->maps.count; i++) {
		const struct mapping *mapping = &smaps->maps.items[i];
		struct claim_part *part;

		if (strcmp(mapping->path, "[heap]") != 0)
			continue;
		part = claims_add(claims, REC_LINE_MALLOC, "brk heap", mapping->start,
				  mapping->end);
		if (part)
			part->row.count++;
		/* The kernel may show it in pieces: the first one begins with a chunk. */
		if (arenas->count && arenas->heaps[arenas->count - 1].end == mapping->start)
			arenas->heaps[arenas->count - 1].end = mapping->end;
		else
			arenas->heaps[arenas->count++] = (struct arena_heap){
				.first = mapping->start, .end = mapping->end, .top = top
			};
	}
}

int arenas_find(struct arenas *arenas, const struct target *t, const struct smaps *smaps,
		const struct libc *libc, struct claims *claims)
{
	const struct state_layout *layout;
	struct heaps heaps = { 0 };
	uint64_t main_arena;
	int err;

	*arenas = (struct arenas){ .target = t };
	err = look_for_heaps(&heaps, t, smaps, claims, true);
	if (!err)
		err = look_for_heaps(&heaps, t, smaps, claims, false);
	if (!err) {
		arenas->heaps = calloc(heaps.count + smaps->maps.count + 1, sizeof(*arenas->heaps));
		err = arenas->heaps ? 0 : -ENOMEM;
	}
	if (!err) {
		layout = choose_layout(t, &heaps);
		main_arena = find_main_arena(t, &heaps, layout, libc, &arenas->found.arenas);
		take_heaps(arenas, &heaps, layout, claims);
		take_brk(arenas, smaps, main_arena ? state_word(t, main_arena, layout->top) : 0,
			 claims);
	}
	free(heaps.items);
	return err;
}

/* ---- blocks of their own */

/* Length of the block whose header is at a page's start; 0: none is. */
static uint64_t block_bytes(const struct target *t, uint64_t addr)
{
	uint64_t words[2], size;

	if (target_read(t, addr, words, sizeof(words)) || (words[1] & 7) != BY_MMAP ||
	    words[0] >= PAGE_BYTES)
		return 0;
	size = words[1] & SIZE_MASK;
	/* From 2.43 on the size leaves the header out. */
	if ((size + 16) % PAGE_BYTES == 0)
		size += 16;
	return size % PAGE_BYTES ? 0 : size;
}

struct block_look {
	struct arenas *arenas;
	struct claims *claims;
	uint32_t pages;
};

static void take_block(struct block_look *look, uint64_t addr, uint64_t bytes)
{
	struct claim_part *part = claims_add(look->claims, REC_LINE_MALLOC, "blocks of their own",
					     addr, addr + bytes);

	if (part)
		part->row.count++;
	look->arenas->found.mapped_count++;
	look->arenas->found.mapped_bytes += bytes;
}

/* The block at a page that is present; bytes to go on by. */
static uint64_t take_page(struct block_look *look, uint64_t addr, uint64_t mapping_end)
{
	uint64_t bytes = block_bytes(look->arenas->target, addr);

	look->pages++;
	/* An array of small numbers looks like a header, too: the block must fit. */
	if (!bytes || bytes > mapping_end - addr)
		return PAGE_BYTES;
	take_block(look, addr, bytes);
	return bytes;
}

static void look_for_blocks(struct block_look *look, uint64_t start, uint64_t end,
			    uint64_t mapping_end)
{
	uint64_t words[WORDS_AT_ONCE], at = start;

	for (; start < end && look->pages < HEADERS_MAX; start += WORDS_AT_ONCE * PAGE_BYTES) {
		uint64_t count = (end - start) / PAGE_BYTES;

		if (count > WORDS_AT_ONCE)
			count = WORDS_AT_ONCE;
		if (pagemap_read(look->arenas->target->pagemap, start, count, words))
			return;
		for (uint64_t i = 0; i < count; i++) {
			uint64_t addr = start + i * PAGE_BYTES;

			/* Before at it is inside of a block. */
			if (addr >= at && words[i] & PAGEMAP_PRESENT)
				at = addr + take_page(look, addr, mapping_end);
		}
	}
}

void arenas_claim_blocks(struct arenas *arenas, const struct smaps *smaps, struct claims *claims)
{
	struct block_look look = { .arenas = arenas, .claims = claims };

	for (size_t i = 0; i < smaps->maps.count; i++) {
		const struct mapping *mapping = &smaps->maps.items[i];
		uint64_t start = mapping->start, end;

		if (!is_anonymous_data(mapping, &smaps->items[i]))
			continue;
		while (!claims_gap(claims, mapping->end, &start, &end)) {
			look_for_blocks(&look, start, end, mapping->end);
			start = end;
		}
	}
}

void arenas_free(struct arenas *arenas)
{
	free(arenas->heaps);
	free(arenas->window);
	*arenas = (struct arenas){ 0 };
}
