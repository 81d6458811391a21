/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ledger/arenas.h"
#include "target/pagemap.h"
#include "target/target.h"

/* The walk of arenas.h over the chunks: sizes, what is free, what of that is resident. */

#define WINDOW_BYTES   (256u << 10)
#define WINDOW_PAGES   (WINDOW_BYTES / PAGE_BYTES)
#define READ_MAX       (1ull << 30) /* bytes in one ledger; the rest is not read */
#define CHUNKS_AT_ONCE 4096	    /* between two looks at the clock */
#define SMALLEST_CHUNK 0x20
#define SIZE_MASK      (~7ull)
#define PREVIOUS_USED  1u
#define WORDS_AT_ONCE  512

/* A thread's cache: how many blocks of each size it keeps, and where the first of them is. */
#define CACHE_CHUNK	 0x290 /* glibc 2.30 to 2.42: counts */
#define CACHE_BINS	 64
#define CACHE_CHUNK_2_43 0x300 /* 2.43: free places left */
#define CACHE_BINS_2_43	 76
#define CACHE_MOST	 16 /* blocks of one size */

/* ---- reading */

/* Fills the window from addr on, as far as pages are present; whether it has size bytes there. */
static bool fill_window(struct arenas *a, uint64_t addr, size_t size, uint64_t end)
{
	uint64_t words[WINDOW_PAGES + 1];
	uint64_t first = addr & ~(PAGE_BYTES - 1ull);
	size_t pages = WINDOW_PAGES, present = 0;

	if (first + WINDOW_BYTES > end)
		pages = (size_t)((end - first + PAGE_BYTES - 1) / PAGE_BYTES);
	if (!a->window)
		a->window = malloc(WINDOW_BYTES);
	if (!a->window || pagemap_read(a->target->pagemap, first, pages, words))
		return false;
	while (present < pages && words[present] & PAGEMAP_PRESENT)
		present++;
	a->window_start = first;
	a->window_bytes = present * PAGE_BYTES;
	if (!present || target_read(a->target, first, a->window, a->window_bytes)) {
		a->window_bytes = 0;
		return false;
	}
	a->read += a->window_bytes;
	return addr + size <= first + a->window_bytes;
}

/* size bytes at addr, or NULL. Valid until the next call. */
static const uint8_t *bytes_at(struct arenas *a, uint64_t addr, size_t size, uint64_t end)
{
	bool inside = addr >= a->window_start && addr + size <= a->window_start + a->window_bytes;

	if (!inside && !fill_window(a, addr, size, end))
		return NULL;
	return a->window + (addr - a->window_start);
}

static bool word_at(struct arenas *a, uint64_t addr, uint64_t end, uint64_t *out)
{
	const uint8_t *bytes = bytes_at(a, addr, sizeof(*out), end);

	if (bytes)
		memcpy(out, bytes, sizeof(*out));
	return bytes != NULL;
}

/* Bytes of the whole pages inside [start, end) that are present. */
static uint64_t resident_between(const struct arenas *a, uint64_t start, uint64_t end)
{
	uint64_t words[WORDS_AT_ONCE], pages = 0;
	uint64_t at = (start + PAGE_BYTES - 1) / PAGE_BYTES, last = end / PAGE_BYTES;

	while (at < last) {
		size_t count = last - at < WORDS_AT_ONCE ? last - at : WORDS_AT_ONCE;

		if (pagemap_read(a->target->pagemap, at * PAGE_BYTES, count, words))
			break;
		for (size_t i = 0; i < count; i++)
			pages += words[i] >> 63 && !pagemap_is_zero_or_shared(words[i]);
		at += count;
	}
	return pages * PAGE_BYTES;
}

/* ---- chunks */

static void add_free(struct arenas *a, uint64_t chunk, uint64_t size)
{
	a->found.free_bytes += size;
	/* Free chunks keep their links in the first words. */
	if (size > PAGE_BYTES)
		a->free_resident += resident_between(a, chunk + SMALLEST_CHUNK, chunk + size);
}

/* The cache of 2.43 starts with how many more blocks fit, the others with how many there are. */
static uint64_t cache_bytes(const uint8_t *bytes, uint32_t bins, bool counts_free)
{
	uint16_t counts[CACHE_BINS_2_43];
	uint64_t entries[CACHE_BINS_2_43];
	uint64_t sum = 0;
	bool any = false;

	memcpy(counts, bytes, bins * sizeof(*counts));
	memcpy(entries, bytes + bins * sizeof(*counts), bins * sizeof(*entries));
	for (uint32_t i = 0; i < bins; i++) {
		if (entries[i] % 16 || counts[i] > CACHE_MOST ||
		    (!counts_free && (counts[i] > 0) != (entries[i] != 0)))
			return 0;
		any |= entries[i] != 0;
		if (entries[i] && i < CACHE_BINS)
			sum += (counts_free ? CACHE_MOST - counts[i] : counts[i]) *
			       (0x20 + 16ull * i);
	}
	return any ? sum : 0;
}

static void add_used(struct arenas *a, uint64_t chunk, uint64_t size, uint64_t end)
{
	uint32_t bins = size == CACHE_CHUNK	   ? CACHE_BINS
			: size == CACHE_CHUNK_2_43 ? CACHE_BINS_2_43
						   : 0;
	const uint8_t *bytes;

	a->found.in_use_count++;
	a->found.in_use_bytes += size;
	if (!bins)
		return;
	bytes = bytes_at(a, chunk + 16, (size_t)bins * 10, end);
	if (bytes)
		a->found.cached_bytes += cache_bytes(bytes, bins, size == CACHE_CHUNK_2_43);
}

/* The rest of the heap cannot be read: it changed meanwhile. */
static bool break_off(struct arenas *a, const struct arena_heap *heap)
{
	a->found.unread_bytes += heap->end - a->at;
	return false;
}

/* One chunk. Whether another one follows. */
static bool step(struct arenas *a, const struct arena_heap *heap)
{
	uint64_t size, next = PREVIOUS_USED, chunk = a->at;

	if (chunk + 16 > heap->end)
		return false;
	if (!word_at(a, chunk + 8, heap->end, &size))
		return break_off(a, heap);
	size &= SIZE_MASK;
	if (chunk == heap->top) {
		/* It may have grown since the heap's end was read, or say anything. */
		add_free(a, chunk, size < heap->end - chunk ? size : heap->end - chunk);
		return false;
	}
	if (size < SMALLEST_CHUNK || size > heap->end - chunk)
		return size <= 16 ? false : break_off(a, heap); /* 0 or 16: the fence at the end */
	if (chunk + size + 16 <= heap->end && !word_at(a, chunk + size + 8, heap->end, &next))
		return break_off(a, heap);
	if (next & PREVIOUS_USED)
		add_used(a, chunk, size, heap->end);
	else
		add_free(a, chunk, size);
	a->at = chunk + size;
	return true;
}

bool arenas_walk(struct arenas *a, uint64_t deadline_ns)
{
	uint32_t chunks = 0;

	while (a->heap < a->count) {
		const struct arena_heap *heap = &a->heaps[a->heap];

		if (a->read > READ_MAX) {
			arenas_stop(a);
			break;
		}
		if (!a->at)
			a->at = heap->first;
		if (!step(a, heap)) {
			a->heap++;
			a->at = 0;
		}
		if (++chunks % CHUNKS_AT_ONCE == 0 && clock_monotonic_ns() >= deadline_ns)
			return a->heap == a->count;
	}
	return true;
}

void arenas_stop(struct arenas *a)
{
	for (; a->heap < a->count; a->heap++) {
		const struct arena_heap *heap = &a->heaps[a->heap];

		a->found.unread_bytes += heap->end - (a->at ? a->at : heap->first);
		a->at = 0;
	}
}
