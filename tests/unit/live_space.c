/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "live/space.h"
#include "unit/unit.h"

static struct space space;

static void setup(void)
{
	ASSERT_INT(space_init(&space, 100), 0);
}

static void teardown(void)
{
	space_free(&space);
}

static struct extent take(uint32_t count)
{
	struct extent extent = { 0 };

	ASSERT_INT(space_take(&space, count, &extent), 0);
	return extent;
}

static void takes_the_first_that_fits(void)
{
	struct extent a = take(30), b = take(30), c;

	ASSERT_INT(a.first, 0);
	ASSERT_INT(b.first, 30);
	space_give(&space, a);
	c = take(40);
	ASSERT_INT(c.first, 60);
	ASSERT_INT(take(30).first, 0);
	ASSERT_INT(space_take(&space, 1, &c), -ENOSPC);
}

static void merges_neighbours_in_every_order(void)
{
	static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					  { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		struct extent e[3] = { take(30), take(30), take(40) };

		for (int k = 0; k < 3; k++)
			space_give(&space, e[orders[i][k]]);
		ASSERT_INT(space.count, 1);
		ASSERT_INT(space.free[0].count, 100);
	}
}

static void nothing_takes_nothing(void)
{
	struct extent none = take(0);

	ASSERT_INT(none.count, 0);
	space_give(&space, none);
	ASSERT_INT(take(100).count, 100);
}

static CU_TestInfo tests[] = {
	{ "takes the first that fits", takes_the_first_that_fits },
	{ "merges neighbours in every order", merges_neighbours_in_every_order },
	{ "nothing takes nothing", nothing_takes_nothing },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_space_suite = {
	.pName = "live space",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
