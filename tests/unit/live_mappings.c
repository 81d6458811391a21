/* SPDX-License-Identifier: Apache-2.0 */
#include "live/mappings.h"

#include <stdlib.h>

#include "model/native.h"
#include "unit/rec_random.h"
#include "unit/unit.h"

#define PAGE 0x1000ull

static struct mappings *mappings;
static uint64_t now;

static void setup(void)
{
	mappings = calloc(1, sizeof(*mappings));
	CU_ASSERT_PTR_NOT_NULL_FATAL(mappings);
	now = 0;
}

static void teardown(void)
{
	mappings_free(mappings);
	free(mappings);
}

/* A call of the VM, in pages. */
static void call_at(uint64_t time_ns, enum jvs_mapping_op op, uint64_t page, uint64_t pages,
		    uint64_t stack)
{
	const struct jvs_mapped record = {
		.event = { .time_ns = time_ns, .target = 1 },
		.stack = stack,
		.address = page * PAGE,
		.size = pages * PAGE,
		.op = op,
		.tag = op == JVS_MAPPING_RESERVE ? 7 : JVS_MAPPING_NO_TAG,
	};

	mappings_add(mappings, &record, 0);
}

static void call(enum jvs_mapping_op op, uint64_t page, uint64_t pages, uint64_t stack)
{
	call_at(++now, op, page, pages, stack);
}

/* Pages that live, of all sites of a use; of one stack unless it is 0. */
static int64_t live_pages(enum rec_native_use use, uint64_t stack)
{
	int64_t bytes = 0;

	for (uint32_t id = 1; id <= mappings->targets[1].sites.count; id++) {
		const struct mapped_site *site = table_get(&mappings->targets[1].sites, id);

		if (site->use == use && (!stack || site->stack == stack))
			bytes += site->bytes - site->freed_bytes;
	}
	ASSERT_INT(bytes % (int64_t)PAGE, 0);
	return bytes / (int64_t)PAGE;
}

static void what_is_released_is_neither_reserved_nor_committed(void)
{
	call(JVS_MAPPING_RESERVE, 100, 50, 1);
	call(JVS_MAPPING_COMMIT, 100, 10, 2);
	call(JVS_MAPPING_COMMIT_EXIT, 120, 10, 3);
	ASSERT_INT(live_pages(REC_NATIVE_RESERVED, 1), 50);
	ASSERT_INT(live_pages(REC_NATIVE_COMMITTED, 2), 10);
	ASSERT_INT(live_pages(REC_NATIVE_COMMITTED, 0), 20);
	call(JVS_MAPPING_RELEASE, 100, 50, 0);
	ASSERT_INT(live_pages(REC_NATIVE_RESERVED, 0), 0);
	ASSERT_INT(live_pages(REC_NATIVE_COMMITTED, 0), 0);
}

/* Alignment: what is too much is given back at both ends, or in the middle. */
static void parts_are_given_back(void)
{
	static const struct {
		uint64_t page, pages;
		int64_t left;
	} cases[] = {
		{ 100, 10, 40 }, { 140, 10, 40 }, { 120, 10, 40 }, { 90, 20, 40 },
		{ 140, 90, 40 }, { 0, 100, 50 },  { 150, 10, 50 }, { 0, 900, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		call(JVS_MAPPING_RESERVE, 100, 50, 1);
		call(JVS_MAPPING_RELEASE, cases[i].page, cases[i].pages, 0);
		ASSERT_INT(live_pages(REC_NATIVE_RESERVED, 0), cases[i].left);
		call(JVS_MAPPING_RELEASE, 0, 1000, 0);
		ASSERT_INT(live_pages(REC_NATIVE_RESERVED, 0), 0);
	}
}

static void what_is_committed_has_the_tag_of_its_reservation(void)
{
	call(JVS_MAPPING_RESERVE, 100, 50, 1);
	call(JVS_MAPPING_COMMIT, 110, 5, 2);
	call(JVS_MAPPING_COMMIT, 500, 5, 2); /* reserved before */
	for (uint32_t id = 1, seen = 0; id <= mappings->targets[1].sites.count; id++) {
		const struct mapped_site *site = table_get(&mappings->targets[1].sites, id);

		if (site->use != REC_NATIVE_COMMITTED)
			continue;
		ASSERT_INT(site->tag, seen++ ? JVS_MAPPING_NO_TAG : 7);
		ASSERT_INT(site->bytes, 5 * PAGE);
	}
	ASSERT_INT(live_pages(REC_NATIVE_COMMITTED, 2), 10);
}

/* The same, of one tag. */
static int64_t tagged_pages(enum rec_native_use use, uint32_t tag)
{
	int64_t bytes = 0;

	for (uint32_t id = 1; id <= mappings->targets[1].sites.count; id++) {
		const struct mapped_site *site = table_get(&mappings->targets[1].sites, id);

		if (site->use == use && site->tag == tag)
			bytes += site->bytes - site->freed_bytes;
	}
	return bytes / (int64_t)PAGE;
}

static const struct {
	uint64_t start, end;
	uint32_t tag;
} areas[] = {
	{ 100, 150, 1 }, { 90, 120, 2 },  { 140, 160, 2 }, { 110, 120, 3 },
	{ 80, 200, 4 },	 { 300, 300, 5 }, { 300, 310, 6 },
};

/* Of areas that overlap the first one is right. */
static void what_was_reserved_before_has_its_tag(void)
{
	static const struct {
		uint64_t page;
		uint32_t tag;
	} cases[] = { { 80, 4 },  { 90, 2 },  { 99, 2 },  { 100, 1 }, { 149, 1 },
		      { 150, 2 }, { 160, 4 }, { 199, 4 }, { 309, 6 } };
	struct mapped_list *list = &mappings->targets[1].areas;

	call(JVS_MAPPING_RESERVE, 400, 10, 1);
	for (size_t i = 0; i < ARRAY_SIZE(areas); i++)
		ASSERT_INT(mapped_fill(list, &(struct mapped){ .start = areas[i].start * PAGE,
							       .end = areas[i].end * PAGE,
							       .tag = areas[i].tag }),
			   0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct mapped *found = mapped_find(list, cases[i].page * PAGE);

		CU_ASSERT_PTR_NOT_NULL_FATAL(found);
		ASSERT_INT(found->tag, cases[i].tag);
	}
	CU_ASSERT_PTR_NULL(mapped_find(list, 200 * PAGE));
	ASSERT_INT(live_pages(REC_NATIVE_RESERVED, 0), 10);
	call(JVS_MAPPING_COMMIT, 149, 3, 1);
	ASSERT_INT(tagged_pages(REC_NATIVE_COMMITTED, 1), 3);
	/* They are given back, and somebody else is there. */
	call(JVS_MAPPING_RELEASE, 80, 120, 0);
	call(JVS_MAPPING_COMMIT, 149, 3, 1);
	ASSERT_INT(tagged_pages(REC_NATIVE_COMMITTED, 1), 0);
	ASSERT_INT(tagged_pages(REC_NATIVE_COMMITTED, JVS_MAPPING_NO_TAG), 3);
}

/* The heap of JDK 17 is reserved at an address, and its tag is told by another call. */
static void what_has_no_tag_gets_that_of_its_area(void)
{
	struct mappings_target *t = &mappings->targets[1];
	const struct mapped area = { .start = 100 * PAGE, .end = 150 * PAGE, .tag = 3 };

	call(JVS_MAPPING_MAP, 100, 50, 1);
	call(JVS_MAPPING_COMMIT, 120, 10, 2);
	call(JVS_MAPPING_COMMIT, 500, 10, 2);
	ASSERT_INT(mapped_fill(&t->areas, &area), 0);
	mappings_retag(t);
	ASSERT_INT(tagged_pages(REC_NATIVE_RESERVED, 3), 50);
	ASSERT_INT(tagged_pages(REC_NATIVE_RESERVED, JVS_MAPPING_NO_TAG), 0);
	ASSERT_INT(tagged_pages(REC_NATIVE_COMMITTED, 3), 50);
	ASSERT_INT(tagged_pages(REC_NATIVE_COMMITTED, JVS_MAPPING_NO_TAG), 10);
	/* One that begins before the area. */
	call(JVS_MAPPING_MAP, 90, 20, 4);
	ASSERT_INT(tagged_pages(REC_NATIVE_RESERVED, 3), 60);
	call(JVS_MAPPING_COMMIT, 130, 5, 2);
	ASSERT_INT(tagged_pages(REC_NATIVE_COMMITTED, 3), 60);
	call(JVS_MAPPING_RELEASE, 90, 60, 0);
	ASSERT_INT(tagged_pages(REC_NATIVE_RESERVED, 3), 0);
	ASSERT_INT(tagged_pages(REC_NATIVE_COMMITTED, 3), 0);
}

static void what_is_committed_twice_counts_once(void)
{
	call(JVS_MAPPING_COMMIT, 100, 10, 1);
	call(JVS_MAPPING_COMMIT, 105, 10, 2);
	ASSERT_INT(live_pages(REC_NATIVE_COMMITTED, 1), 5);
	ASSERT_INT(live_pages(REC_NATIVE_COMMITTED, 2), 10);
	call(JVS_MAPPING_UNCOMMIT, 100, 12, 0);
	ASSERT_INT(live_pages(REC_NATIVE_COMMITTED, 1), 0);
	ASSERT_INT(live_pages(REC_NATIVE_COMMITTED, 2), 3);
}

/* The addresses are given out again before the record of their end is there. */
static void the_end_of_an_older_range_does_not_end_a_newer_one(void)
{
	call_at(10, JVS_MAPPING_RESERVE, 100, 10, 1);
	call_at(30, JVS_MAPPING_RESERVE, 100, 10, 2);
	call_at(20, JVS_MAPPING_RELEASE, 100, 10, 0);
	ASSERT_INT(live_pages(REC_NATIVE_RESERVED, 1), 0);
	ASSERT_INT(live_pages(REC_NATIVE_RESERVED, 2), 10);
	/* And one that began before it, but is told later. */
	call_at(25, JVS_MAPPING_RESERVE, 105, 10, 3);
	ASSERT_INT(live_pages(REC_NATIVE_RESERVED, 2), 10);
}

static void a_mapped_file_is_reserved_and_committed(void)
{
	call(JVS_MAPPING_MAP, 100, 10, 1);
	ASSERT_INT(live_pages(REC_NATIVE_RESERVED, 1), 10);
	ASSERT_INT(live_pages(REC_NATIVE_COMMITTED, 1), 10);
}

static void a_stack_lives_as_long_as_its_thread(void)
{
	call(JVS_MAPPING_STACK, 100, 256, 1);
	call(JVS_MAPPING_STACK, 101, 256, 1);
	ASSERT_INT(live_pages(REC_NATIVE_STACK, 1), 512);
	call(JVS_MAPPING_STACK_END, 100, 0, 0);
	ASSERT_INT(live_pages(REC_NATIVE_STACK, 1), 256);
	call(JVS_MAPPING_STACK_END, 100, 0, 0);
	ASSERT_INT(live_pages(REC_NATIVE_STACK, 1), 256);
}

static void another_target_has_no_numbers_of_the_last(void)
{
	call(JVS_MAPPING_RESERVE, 100, 50, 1);
	mappings_forget(mappings, 1);
	ASSERT_INT(live_pages(REC_NATIVE_RESERVED, 0), 0);
	call(JVS_MAPPING_RELEASE, 100, 50, 0);
	ASSERT_INT(live_pages(REC_NATIVE_RESERVED, 0), 0);
}

/* The kernel tells what registers held. */
static void a_range_that_is_none_takes_nothing_away(void)
{
	static const struct jvs_mapped bad[] = {
		{ .address = 120 * PAGE, .size = 0 },
		{ .address = 120 * PAGE, .size = -100 * PAGE },
		{ .address = 120 * PAGE, .size = INT64_MAX },
		{ .address = -PAGE, .size = 2 * PAGE },
	};
	static const enum jvs_mapping_op ops[] = { JVS_MAPPING_RESERVE, JVS_MAPPING_COMMIT,
						   JVS_MAPPING_UNCOMMIT, JVS_MAPPING_RELEASE };

	call(JVS_MAPPING_MAP, 100, 50, 1);
	for (size_t i = 0; i < ARRAY_SIZE(bad) * ARRAY_SIZE(ops); i++) {
		struct jvs_mapped record = bad[i / ARRAY_SIZE(ops)];

		record.event = (struct jvs_event){ .time_ns = ++now, .target = 1 };
		record.op = ops[i % ARRAY_SIZE(ops)];
		mappings_add(mappings, &record, 0);
	}
	ASSERT_INT(live_pages(REC_NATIVE_RESERVED, 0), 50);
	ASSERT_INT(live_pages(REC_NATIVE_COMMITTED, 0), 50);
	ASSERT_INT(mappings->targets[1].reserved.count, 1);
	ASSERT_INT(mappings->targets[1].committed.count, 1);
	ASSERT_INT(mappings->targets[1].dropped, 2 * ARRAY_SIZE(ops));
}

static void ranges_are_bounded(void)
{
	for (uint64_t i = 0; i < MAPPED_MAX + 10; i++)
		call(JVS_MAPPING_COMMIT, 2 * i, 1, 1);
	ASSERT_INT(live_pages(REC_NATIVE_COMMITTED, 1), MAPPED_MAX);
	ASSERT_INT(mappings->targets[1].dropped, 10);
}

#define PAGES 200

/* Random calls beside a model that has each page by itself. */
static void random_calls_agree_with_pages(void)
{
	static const enum jvs_mapping_op ops[] = { JVS_MAPPING_COMMIT, JVS_MAPPING_COMMIT,
						   JVS_MAPPING_UNCOMMIT };
	struct rec_random random = { 5, NULL };
	uint64_t owner[PAGES] = { 0 };

	for (int i = 0; i < 5000; i++) {
		enum jvs_mapping_op op = RANDOM_OF(&random, ops);
		uint64_t page = random_below(&random, PAGES), stack = 1 + random_below(&random, 4);
		uint64_t pages = 1 + random_below(&random, (uint32_t)(PAGES - page));
		int64_t owned[5] = { 0 };

		call(op, page, pages, stack);
		for (uint64_t k = page; k < page + pages; k++)
			owner[k] = op == JVS_MAPPING_COMMIT ? stack : 0;
		for (int k = 0; k < PAGES; k++)
			owned[owner[k]]++;
		for (stack = 1; stack < 5; stack++)
			ASSERT_INT(live_pages(REC_NATIVE_COMMITTED, stack), owned[stack]);
	}
}

static CU_TestInfo tests[] = {
	{ "what is released is neither reserved nor committed",
	  what_is_released_is_neither_reserved_nor_committed },
	{ "parts are given back", parts_are_given_back },
	{ "what is committed has the tag of its reservation",
	  what_is_committed_has_the_tag_of_its_reservation },
	{ "what was reserved before has its tag", what_was_reserved_before_has_its_tag },
	{ "what has no tag gets that of its area", what_has_no_tag_gets_that_of_its_area },
	{ "what is committed twice counts once", what_is_committed_twice_counts_once },
	{ "the end of an older range does not end a newer one",
	  the_end_of_an_older_range_does_not_end_a_newer_one },
	{ "a mapped file is reserved and committed", a_mapped_file_is_reserved_and_committed },
	{ "a stack lives as long as its thread", a_stack_lives_as_long_as_its_thread },
	{ "another target has no numbers of the last", another_target_has_no_numbers_of_the_last },
	{ "a range that is none takes nothing away", a_range_that_is_none_takes_nothing_away },
	{ "ranges are bounded", ranges_are_bounded },
	{ "random calls agree with pages", random_calls_agree_with_pages },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_mappings_suite = {
	.pName = "live_mappings",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
