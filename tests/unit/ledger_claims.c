/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/claims.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ledger/libc.h"
#include "target/pagemap.h"
#include "target/smaps.h"
#include "target/target.h"
#include "unit/unit.h"

#define PAGES 64u

static struct claims claims;
static struct smaps smaps;
static struct target *t;
static struct rec_ledger out;
static uint8_t *memory; /* PAGES of them, with a page around that may not be accessed */

static void setup(void)
{
	size_t size = (PAGES + 2) * PAGE_BYTES;

	claims = (struct claims){ 0 };
	smaps = (struct smaps){ 0 };
	out = (struct rec_ledger){ 0 };
	memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(memory != MAP_FAILED);
	memory += PAGE_BYTES;
	ASSERT_INT(mprotect(memory, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE), 0);
	madvise(memory, PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
	ASSERT_INT(target_open(getpid(), &t), 0);
	ASSERT_INT(target_only_present(t), 0);
}

static void teardown(void)
{
	claims_free(&claims);
	smaps_free(&smaps);
	target_close(t);
	munmap(memory - PAGE_BYTES, (PAGES + 2) * PAGE_BYTES);
}

static uint64_t page(uint32_t n)
{
	return (uintptr_t)memory + n * PAGE_BYTES;
}

/* Only the mapping of the test. */
static void keep_own_mapping(void)
{
	const struct mapping *mapping;
	size_t at;

	ASSERT_INT(smaps_read(getpid(), &smaps), 0);
	mapping = maps_find(&smaps.maps, page(0));
	CU_ASSERT_PTR_NOT_NULL_FATAL(mapping);
	at = (size_t)(mapping - smaps.maps.items);
	smaps.maps.items[0] = *mapping;
	smaps.items[0] = smaps.items[at];
	smaps.maps.count = 1;
	ASSERT_INT(smaps.maps.items[0].start, page(0));
	ASSERT_INT(smaps.maps.items[0].end, page(PAGES));
}

static void the_first_who_claims_has_it(void)
{
	claims_add(&claims, REC_LINE_GC, "b", 0x5000, 0x7000);
	claims_add(&claims, REC_LINE_GC, "a", 0x1000, 0x3001); /* whole pages */
	claims_add(&claims, REC_LINE_CODE, "c", 0x2000, 0x9000);
	claims_add(&claims, REC_LINE_CDS, "d", 0x0, 0x20000);
	claims_add(&claims, REC_LINE_CDS, "e", 0x2000, 0x3000); /* nothing is left */
	ASSERT_INT(claims.err, 0);
	ASSERT_INT(claims.count, 6);
	for (size_t i = 0; i < claims.count; i++) {
		static const struct {
			uint64_t start, end;
			const char *name;
		} want[] = {
			{ 0x0, 0x1000, "d" },	 { 0x1000, 0x4000, "a" }, { 0x4000, 0x5000, "c" },
			{ 0x5000, 0x7000, "b" }, { 0x7000, 0x9000, "c" }, { 0x9000, 0x20000, "d" },
		};

		ASSERT_INT(claims.items[i].start, want[i].start);
		ASSERT_INT(claims.items[i].end, want[i].end);
		CU_ASSERT_STRING_EQUAL(claims.parts[claims.items[i].part].name, want[i].name);
	}
}

static void odd_ranges_claim_nothing_more(void)
{
	claims_add(&claims, REC_LINE_GC, "empty", 0x3000, 0x3000);
	claims_add(&claims, REC_LINE_GC, "backwards", 0x5000, 0x3000);
	ASSERT_INT(claims.count, 0);
	claims_add(&claims, REC_LINE_GC, "to the end", UINT64_MAX - 8191, UINT64_MAX);
	ASSERT_INT(claims.count, 1);
	ASSERT_INT(claims.items[0].end, UINT64_MAX - 4095);
}

static void gaps_are_what_nobody_claims(void)
{
	uint64_t start = 0x1000, end;

	claims_add(&claims, REC_LINE_GC, "a", 0x2000, 0x3000);
	claims_add(&claims, REC_LINE_GC, "b", 0x3000, 0x4000);
	ASSERT_INT(claims_gap(&claims, 0x9000, &start, &end), 0);
	ASSERT_INT(start, 0x1000);
	ASSERT_INT(end, 0x2000);
	start = end;
	ASSERT_INT(claims_gap(&claims, 0x9000, &start, &end), 0);
	ASSERT_INT(start, 0x4000);
	ASSERT_INT(end, 0x9000);
	start = 0x2000;
	ASSERT_INT(claims_gap(&claims, 0x4000, &start, &end), -ENOENT);
}

static void names_over_the_limit_are_others(void)
{
	char name[CLAIMS_NAME_MAX];
	struct claim_part *part = NULL;

	for (uint32_t i = 0; i < 2 * CLAIMS_PARTS_MAX; i++) {
		snprintf(name, sizeof(name), "thread %u", i);
		part = claims_add(&claims, REC_LINE_STACKS, name, i * 0x1000ull,
				  i * 0x1000ull + 0x1000);
		CU_ASSERT_PTR_NOT_NULL_FATAL(part);
	}
	CU_ASSERT_STRING_EQUAL(part->name, "others");
	CU_ASSERT(claims.part_count <= CLAIMS_PARTS_MAX);
	/* Every line has a place for its own. */
	part = claims_add(&claims, REC_LINE_GC, "late", 0, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(part);
	ASSERT_INT(part->line, REC_LINE_GC);
}

static void pages_of_a_mapping_are_told_apart(void)
{
	volatile uint8_t zero;

	for (uint32_t i = 0; i < 10; i++)
		memory[i * PAGE_BYTES] = 1;
	memory[20 * PAGE_BYTES] = memory[40 * PAGE_BYTES] = 1;
	/* The zero page is present, but no memory. */
	zero = memory[50 * PAGE_BYTES];
	(void)zero;
	keep_own_mapping();
	ASSERT_INT(smaps.items[0].rss, 12 * PAGE_BYTES);
	claims_add(&claims, REC_LINE_GC, "a", page(0), page(4))->row.count = 2;
	claims_add(&claims, REC_LINE_CODE, "b", page(4), page(8));
	claims_add(&claims, REC_LINE_CODE, "c", page(20), page(64))->row.count = 5;
	ASSERT_INT(claims_tally(&claims, &smaps, t, &out), 0);
	ASSERT_INT(out.lines[REC_LINE_GC].resident, 4 * PAGE_BYTES);
	ASSERT_INT(out.lines[REC_LINE_GC].count, 2);
	ASSERT_INT(out.lines[REC_LINE_CODE].resident, 6 * PAGE_BYTES);
	ASSERT_INT(out.lines[REC_LINE_CODE].reserved, 48 * PAGE_BYTES);
	ASSERT_INT(out.lines[REC_LINE_CODE].committed, 48 * PAGE_BYTES);
	ASSERT_INT(out.lines[REC_LINE_CODE].count, 5);
	ASSERT_INT(out.lines[REC_LINE_UNEXPLAINED].resident, 2 * PAGE_BYTES);
	ASSERT_INT(out.lines[REC_LINE_UNEXPLAINED].reserved, 12 * PAGE_BYTES);
	ASSERT_INT(out.lines[REC_LINE_MOVED].resident, 0);
	ASSERT_INT(claims.parts[2].row.resident, 2 * PAGE_BYTES);
}

static void what_comes_between_two_reads_is_told(void)
{
	memset(memory, 1, 8 * PAGE_BYTES);
	keep_own_mapping();
	claims_add(&claims, REC_LINE_GC, "a", page(0), page(32));
	memset(memory + 8 * PAGE_BYTES, 1, 3 * PAGE_BYTES);
	ASSERT_INT(claims_tally(&claims, &smaps, t, &out), 0);
	ASSERT_INT(out.lines[REC_LINE_GC].resident, 11 * PAGE_BYTES);
	ASSERT_INT(out.lines[REC_LINE_MOVED].resident, -3 * (int64_t)PAGE_BYTES);
}

static void one_owner_has_what_smaps_says(void)
{
	memset(memory, 1, 8 * PAGE_BYTES);
	keep_own_mapping();
	smaps.items[0].rss = 5 * PAGE_BYTES;
	smaps.items[0].swap = 2 * PAGE_BYTES;
	smaps.items[0].writable = smaps.maps.items[0].readable = false;
	claims_add(&claims, REC_LINE_GC, "a", page(0), page(PAGES));
	ASSERT_INT(claims_tally(&claims, &smaps, t, &out), 0);
	ASSERT_INT(out.lines[REC_LINE_GC].resident, 5 * PAGE_BYTES);
	ASSERT_INT(out.lines[REC_LINE_GC].swapped, 2 * PAGE_BYTES);
	ASSERT_INT(out.lines[REC_LINE_GC].committed, 0);
	ASSERT_INT(out.lines[REC_LINE_GC].reserved, PAGES * PAGE_BYTES);
}

/* ---- libc's lists of stacks, as they would be in a target */

#define LINK	16u
#define TID	32u
#define STACK	48u
#define DESC	64u
#define LIST(n) ((n)*16u)

/* A thread's descriptor at the end of a stack of pages, linked into a list. */
static void make_thread(uint32_t first, uint32_t pages, uint64_t *list)
{
	uint64_t desc = page(first + pages) - 2ull * DESC;
	uint64_t words[DESC / 8] = { 0 };

	words[LINK / 8] = list[0];
	words[STACK / 8] = page(first);
	words[STACK / 8 + 1] = pages * PAGE_BYTES;
	memcpy(memory + (desc - page(0)), words, sizeof(words));
	list[0] = desc + LINK;
}

static void stacks_are_found_by_libcs_lists(void)
{
	static uint64_t lists[6]; /* used, user, kept: next, previous */
	struct libc libc = { .found = true,
			     .globals = (uintptr_t)lists,
			     .used = LIST(0),
			     .user = LIST(1),
			     .link = LINK,
			     .tid = TID,
			     .thread_size = DESC };
	const struct claim_part *part;
	uint64_t threads;

	for (size_t i = 0; i < 3; i++)
		lists[2 * i] = (uintptr_t)&lists[2 * i];
	make_thread(0, 4, &lists[0]);
	make_thread(8, 8, &lists[0]);
	make_thread(32, 4, &lists[4]);
	keep_own_mapping();
	libc_claim_stacks(&libc, t, &smaps, &claims, false, &threads);
	ASSERT_INT(threads, 2);
	ASSERT_INT(libc.stack, STACK);
	ASSERT_INT(claims.count, 3);
	part = &claims.parts[claims.items[0].part];
	ASSERT_INT(part->line, REC_LINE_STACKS);
	ASSERT_INT(part->row.count, 2);
	ASSERT_INT(claims.items[1].start, page(8));
	ASSERT_INT(claims.items[1].end, page(16));
	ASSERT_INT(claims.parts[claims.items[2].part].line, REC_LINE_STACKS_KEPT);
}

static void a_list_without_end_is_left(void)
{
	static uint64_t lists[6];
	struct libc libc = { .found = true,
			     .globals = (uintptr_t)lists,
			     .used = LIST(0),
			     .user = LIST(1),
			     .link = LINK,
			     .tid = TID,
			     .thread_size = DESC };
	uint64_t threads, self = page(4) - 2ull * DESC + LINK;

	for (size_t i = 0; i < 3; i++)
		lists[2 * i] = (uintptr_t)&lists[2 * i];
	make_thread(0, 4, &lists[0]);
	/* Points to itself, and to what is not there. */
	memcpy(memory + (self - page(0)), &self, sizeof(self));
	lists[4] = page(60);
	keep_own_mapping();
	libc_claim_stacks(&libc, t, &smaps, &claims, false, &threads);
	ASSERT_INT(claims.count, 1);
}

static CU_TestInfo tests[] = {
	{ "the first who claims has it", the_first_who_claims_has_it },
	{ "odd ranges claim nothing more", odd_ranges_claim_nothing_more },
	{ "gaps are what nobody claims", gaps_are_what_nobody_claims },
	{ "names over the limit are others", names_over_the_limit_are_others },
	{ "pages of a mapping are told apart", pages_of_a_mapping_are_told_apart },
	{ "what comes between two reads is told", what_comes_between_two_reads_is_told },
	{ "one owner has what smaps says", one_owner_has_what_smaps_says },
	{ "stacks are found by libc's lists", stacks_are_found_by_libcs_lists },
	{ "a list without end is left", a_list_without_end_is_left },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo ledger_claims_suite = {
	.pName = "ledger_claims",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
