/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/rangemap.h"
#include "unit/unit.h"

static struct rangemap map;

static void setup(void)
{
	map = (struct rangemap){ 0 };
}

static void teardown(void)
{
	rangemap_free(&map);
}

static void finds_only_addresses_inside(void)
{
	ASSERT_INT(rangemap_add(&map, 0x1000, 0x2000, 7), 0);

	CU_ASSERT_PTR_NULL(rangemap_find(&map, 0x0fff));
	CU_ASSERT_PTR_NOT_NULL(rangemap_find(&map, 0x1000));
	CU_ASSERT_PTR_NOT_NULL(rangemap_find(&map, 0x1fff));
	CU_ASSERT_PTR_NULL(rangemap_find(&map, 0x2000));
}

static void rejects_overlap_and_stays_unchanged(void)
{
	static const struct range bad[] = {
		{ 0x1000, 0x2000, 1 }, /* the same range */
		{ 0x0800, 0x1001, 1 }, /* over the start */
		{ 0x1fff, 0x3000, 1 }, /* over the end */
		{ 0x1400, 0x1800, 1 }, /* inside */
		{ 0x0800, 0x3000, 1 }, /* around */
	};

	ASSERT_INT(rangemap_add(&map, 0x1000, 0x2000, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_INT(rangemap_add(&map, bad[i].start, bad[i].end, bad[i].id), -EEXIST);
	ASSERT_INT(map.count, 1);
}

static void keeps_order_when_added_backwards(void)
{
	for (uint64_t at = 1000; at > 0; at--)
		ASSERT_INT(rangemap_add(&map, at * 16, at * 16 + 8, (uint32_t)at), 0);
	for (uint64_t at = 1; at <= 1000; at++)
		ASSERT_INT(rangemap_find(&map, at * 16 + 7)->id, at);
}

static CU_TestInfo tests[] = {
	{ "finds only addresses inside", finds_only_addresses_inside },
	{ "rejects overlap and stays unchanged", rejects_overlap_and_stays_unchanged },
	{ "keeps order when added backwards", keeps_order_when_added_backwards },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo base_rangemap_suite = {
	.pName = "rangemap",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
