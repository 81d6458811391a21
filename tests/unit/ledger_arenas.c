/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/arenas.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ledger/claims.h"
#include "ledger/libc.h"
#include "target/pagemap.h"
#include "target/smaps.h"
#include "target/target.h"
#include "unit/unit.h"

/* One heap of glibc's malloc, made by hand in our own memory: both layouts that are known. */

#define HEAP_BYTES (64ull << 20)
#define HEAP_USED  (64ull * PAGE_BYTES) /* what may be accessed */
#define ARENA	   0x30u		/* struct malloc_state behind the heap's header */

static const struct {
	const char *name;
	uint32_t top, next, system, bytes;
} layouts[] = {
	{ "2.36", 12, 270, 273, 2200 },
	{ "2.43", 1, 259, 262, 2112 },
};

static struct arenas arenas;
static struct claims claims;
static struct smaps smaps;
static struct target *t;
static struct libc libc;
static uint8_t *mapped;
static uint8_t *heap;

static void setup(void)
{
	uintptr_t start;

	arenas = (struct arenas){ 0 };
	claims = (struct claims){ 0 };
	smaps = (struct smaps){ 0 };
	libc = (struct libc){ 0 };
	mapped = mmap(NULL, 2 * HEAP_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		      -1, 0);
	CU_ASSERT_FATAL(mapped != MAP_FAILED);
	start = (uintptr_t)mapped;
	heap = mapped + (((start + HEAP_BYTES - 1) & ~(HEAP_BYTES - 1)) - start);
	ASSERT_INT(mprotect(heap, HEAP_USED, PROT_READ | PROT_WRITE), 0);
	madvise(heap, HEAP_USED, MADV_NOHUGEPAGE);
	ASSERT_INT(target_open(getpid(), &t), 0);
	ASSERT_INT(target_only_present(t), 0);
}

static void teardown(void)
{
	arenas_free(&arenas);
	claims_free(&claims);
	smaps_free(&smaps);
	target_close(t);
	munmap(mapped, 2 * HEAP_BYTES);
}

static void put_word(uint64_t at, uint64_t value)
{
	memcpy(heap + at, &value, sizeof(value));
}

static uint64_t address(uint64_t at)
{
	return (uintptr_t)heap + at;
}

/* The header and the arena; top as an offset in the heap. Returns where the first chunk is. */
static uint64_t make_heap(size_t layout, uint64_t top)
{
	put_word(0, address(ARENA));
	put_word(8, 0);
	put_word(16, HEAP_USED);
	put_word(24, HEAP_USED);
	put_word(ARENA + 8ull * layouts[layout].top, address(top));
	put_word(ARENA + 8ull * layouts[layout].next, address(ARENA));
	put_word(ARENA + 8ull * layouts[layout].system, HEAP_USED);
	return (ARENA + layouts[layout].bytes + 15) & ~15ull;
}

static void put_chunk(uint64_t at, uint64_t size, bool previous_used)
{
	put_word(at + 8, size | (previous_used ? 1 : 0) | 4);
}

static void find(void)
{
	ASSERT_INT(smaps_read(getpid(), &smaps), 0);
	ASSERT_INT(arenas_find(&arenas, t, &smaps, &libc, &claims), 0);
}

static void chunks_are_used_or_free(void)
{
	for (size_t l = 0; l < ARRAY_SIZE(layouts); l++) {
		uint64_t free_at, top, first;

		if (l > 0) {
			teardown();
			setup();
		}
		first = make_heap(l, 0);
		free_at = first + 0x40 + 0x400;
		top = free_at + 8 * PAGE_BYTES + 0x20;
		make_heap(l, top);
		put_chunk(first, 0x40, true);
		put_chunk(first + 0x40, 0x400, true);
		/* Free, its middle was never touched but for one page. */
		put_chunk(free_at, 8 * PAGE_BYTES, true);
		heap[(free_at / PAGE_BYTES + 3) * PAGE_BYTES] = 1;
		put_chunk(free_at + 8 * PAGE_BYTES, 0x20, false);
		put_chunk(top, HEAP_USED - top, true);
		heap[HEAP_USED - 1] = 1;
		find();
		CU_ASSERT_TRUE(arenas_walk(&arenas, UINT64_MAX));
		ASSERT_INT(arenas.found.arenas, 1);
		ASSERT_INT(arenas.found.in_use_count, 3);
		ASSERT_INT(arenas.found.in_use_bytes, 0x40 + 0x400 + 0x20);
		ASSERT_INT(arenas.found.free_bytes, 8 * PAGE_BYTES + HEAP_USED - top);
		ASSERT_INT(arenas.free_resident, 2 * PAGE_BYTES);
		ASSERT_INT(arenas.found.unread_bytes, 0);
	}
}

static void a_broken_chain_is_told(void)
{
	static const uint64_t sizes[] = { HEAP_USED, 0x18 | 0x1000000, HEAP_BYTES * 2 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint64_t first = make_heap(0, HEAP_USED - PAGE_BYTES);

		put_chunk(first, 0x40, true);
		put_chunk(first + 0x40, sizes[i], true);
		find();
		CU_ASSERT_TRUE(arenas_walk(&arenas, UINT64_MAX));
		ASSERT_INT(arenas.found.in_use_count, 1);
		ASSERT_INT(arenas.found.unread_bytes, HEAP_USED - first - 0x40);
		teardown();
		setup();
	}
}

static void pages_that_are_not_there_are_not_read(void)
{
	uint64_t first = make_heap(0, HEAP_USED - PAGE_BYTES), word;

	put_chunk(first, 4 * PAGE_BYTES, true);
	/* The next chunk's head is on a page that nobody touched. */
	find();
	CU_ASSERT_TRUE(arenas_walk(&arenas, UINT64_MAX));
	ASSERT_INT(arenas.found.unread_bytes, HEAP_USED - first);
	ASSERT_INT(pagemap_read(t->pagemap, address(first + 4 * PAGE_BYTES), 1, &word), 0);
	CU_ASSERT_FALSE(word & PAGEMAP_PRESENT);
}

static void a_top_ends_with_its_heap(void)
{
	static const uint64_t sizes[] = { 0, 1ull << 32, UINT64_MAX & ~0xfull };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint64_t first, top;

		if (i > 0) {
			teardown();
			setup();
		}
		first = make_heap(0, 0);
		top = first + 0x40;
		make_heap(0, top);
		put_chunk(first, 0x40, true);
		put_chunk(top, sizes[i], true);
		heap[HEAP_USED - 1] = 1;
		find();
		CU_ASSERT_TRUE(arenas_walk(&arenas, UINT64_MAX));
		ASSERT_INT(arenas.found.free_bytes, sizes[i] ? HEAP_USED - top : 0);
		ASSERT_INT(arenas.free_resident, sizes[i] ? PAGE_BYTES : 0);
	}
}

static void a_walk_can_be_ended(void)
{
	uint64_t first = make_heap(0, HEAP_USED - PAGE_BYTES);
	uint32_t small = 0x20, steps = 0;
	uint64_t at = first;

	for (; at + small <= HEAP_USED - PAGE_BYTES; at += small)
		put_chunk(at, small, true);
	make_heap(0, at);
	put_chunk(at, HEAP_USED - at, true);
	find();
	CU_ASSERT_FALSE(arenas_walk(&arenas, 0));
	CU_ASSERT(arenas.found.in_use_count > 0 &&
		  arenas.found.in_use_count < (at - first) / small);
	while (!arenas_walk(&arenas, 0))
		steps++;
	ASSERT_INT(steps, (at - first) / small / 4096 - 1);
	ASSERT_INT(arenas.found.in_use_count, (at - first) / small);
	arenas_free(&arenas);
	claims_free(&claims);
	smaps_free(&smaps);
	find();
	CU_ASSERT_FALSE(arenas_walk(&arenas, 0));
	at = arenas.at;
	arenas_stop(&arenas);
	ASSERT_INT(arenas.found.unread_bytes, address(HEAP_USED) - at);
	CU_ASSERT_TRUE(arenas_walk(&arenas, 0));
}

static void blocks_in_a_threads_cache_are_counted(void)
{
	uint64_t first = make_heap(0, 0), top = first + 0x290;

	make_heap(0, top);
	put_chunk(first, 0x290, true);
	memset(heap + first + 16, 0, 0x280);
	heap[first + 16 + 2] = 3; /* three blocks of the second size */
	put_word(first + 16 + 128 + 8, address(first));
	put_chunk(top, HEAP_USED - top, true);
	find();
	CU_ASSERT_TRUE(arenas_walk(&arenas, UINT64_MAX));
	ASSERT_INT(arenas.found.in_use_bytes, 0x290);
	ASSERT_INT(arenas.found.cached_bytes, 3 * 0x30);
}

static void headers_that_make_no_sense_are_no_heap(void)
{
	static const struct {
		uint64_t at, value;
	} cases[] = {
		{ 0, 1 },				/* the arena */
		{ 0, 0 },	{ 16, HEAP_BYTES * 2 }, /* the size */
		{ 16, 0x1008 }, { 24, PAGE_BYTES },	/* less may be accessed */
	};
	const struct mapping *mapping;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		make_heap(0, PAGE_BYTES);
		put_word(cases[i].at, cases[i].value);
		find();
		for (size_t h = 0; h < arenas.count; h++)
			CU_ASSERT(arenas.heaps[h].end != address(HEAP_USED));
		mapping = maps_find(&smaps.maps, address(0));
		CU_ASSERT_PTR_NOT_NULL(mapping);
		arenas_free(&arenas);
		claims_free(&claims);
		smaps_free(&smaps);
	}
}

static void blocks_of_their_own_are_found(void)
{
	uint64_t gap_end = HEAP_USED;

	/* Not a heap: 2.36 has the mapping's length in the header, 2.43 16 bytes less. */
	put_word(8, (2 * PAGE_BYTES) | 2);
	put_word(2 * PAGE_BYTES + 8, (4 * PAGE_BYTES - 16) | 2);
	put_word(6 * PAGE_BYTES + 8, gap_end | 2);    /* does not fit */
	put_word(7 * PAGE_BYTES + 8, PAGE_BYTES | 1); /* not by mmap */
	put_word(8 * PAGE_BYTES, PAGE_BYTES);	      /* not at the start of a mapping */
	put_word(8 * PAGE_BYTES + 8, PAGE_BYTES | 2);
	ASSERT_INT(smaps_read(getpid(), &smaps), 0);
	arenas.target = t;
	claims_add(&claims, REC_LINE_FILES, "below", 0, address(0));
	claims_add(&claims, REC_LINE_FILES, "above", address(HEAP_USED), INT64_MAX);
	arenas_claim_blocks(&arenas, &smaps, &claims);
	ASSERT_INT(arenas.found.mapped_count, 2);
	ASSERT_INT(arenas.found.mapped_bytes, 6 * PAGE_BYTES);
}

static CU_TestInfo tests[] = {
	{ "chunks are used or free", chunks_are_used_or_free },
	{ "a broken chain is told", a_broken_chain_is_told },
	{ "pages that are not there are not read", pages_that_are_not_there_are_not_read },
	{ "a top ends with its heap", a_top_ends_with_its_heap },
	{ "a walk can be ended", a_walk_can_be_ended },
	{ "blocks in a thread's cache are counted", blocks_in_a_threads_cache_are_counted },
	{ "headers that make no sense are no heap", headers_that_make_no_sense_are_no_heap },
	{ "blocks of their own are found", blocks_of_their_own_are_found },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo ledger_arenas_suite = {
	.pName = "ledger_arenas",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
