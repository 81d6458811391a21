/* SPDX-License-Identifier: Apache-2.0 */
#include "model/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

#define LOOK_NS	 100000000ull
#define START_NS 5000000000ull

static struct growth_clock times;
static struct growth_level level;

/* One more look, so much work later. */
static void look(int64_t bytes, uint64_t work_ns, uint64_t collections)
{
	struct growth_look at = { .time_ns = START_NS,
				  .work_ns = work_ns,
				  .collections = collections };
	bool thinned;

	if (times.count) {
		at.time_ns = times.time_ns[times.count - 1] + times.step_ns;
		at.work_ns += times.work_ns[times.count - 1];
		at.collections += times.collections[times.count - 1];
	}
	CU_ASSERT_TRUE(growth_is_due(&times, at.time_ns));
	if (times.count)
		CU_ASSERT_FALSE(growth_is_due(&times, at.time_ns - 1));
	uint32_t place = growth_look(&times, &at, &thinned);

	if (thinned)
		growth_thin(&level);
	level.bytes[place] = bytes;
}

static void setup(void)
{
	memset(&times, 0, sizeof(times));
	memset(&level, 0, sizeof(level));
}

typedef int64_t level_fn(int round);

/* Rounds as far apart as the first looks are; later ones see only some of them, and its lowest. */
static enum growth_kind kind_of(level_fn *bytes, int rounds)
{
	int64_t low = INT64_MAX;

	setup();
	for (int round = 0, since = 0; round < rounds; round++) {
		uint64_t work_ns = (uint64_t)++since * 1000;

		low = bytes(round) < low ? bytes(round) : low;
		if (!growth_is_due(&times, START_NS + (uint64_t)round * LOOK_NS))
			continue;
		look(low, work_ns, 0);
		low = bytes(round);
		since = 0;
	}
	return growth_judge(&times, &level);
}

static int64_t line(int round)
{
	return 1000 * round;
}

static int64_t saw(int round)
{
	return 1000 * (round % 8 + 1);
}

/* It is at its highest when the recording ends. */
static int64_t saw_that_ends_high(int round)
{
	return round % 8 == 7 ? 1000000 : 1000;
}

static int64_t rising_saw(int round)
{
	return 1000 * (round % 8) + 500 * round;
}

static int64_t filled(int round)
{
	return 1000 * (round < 10 ? round : 10);
}

static int64_t saturating(int round)
{
	return (int64_t)(1e6 * (1 - exp(-round / 8.0)));
}

static int64_t burst(int round)
{
	return round < 5 ? 0 : 1000000;
}

static int64_t burst_that_falls(int round)
{
	return round < 5 ? 0 : round < 9 ? 1000000 : 300000;
}

static int64_t late(int round)
{
	return round < 24 ? 0 : 1000 * (round - 24);
}

static void what_grows_to_the_end_is_a_leak(void)
{
	ASSERT_INT(kind_of(line, 32), GROWTH_LEAK);
	ASSERT_INT(kind_of(rising_saw, 40), GROWTH_LEAK);
	ASSERT_INT(kind_of(late, 40), GROWTH_LEAK);
	ASSERT_INT(kind_of(line, 5), GROWTH_LEAK);
}

static void what_finds_its_height_is_a_pool(void)
{
	ASSERT_INT(kind_of(saw, 40), GROWTH_POOL);
	ASSERT_INT(kind_of(saw_that_ends_high, 40), GROWTH_POOL);
	ASSERT_INT(kind_of(filled, 40), GROWTH_POOL);
	ASSERT_INT(kind_of(saturating, 40), GROWTH_POOL);
	ASSERT_INT(kind_of(burst_that_falls, 40), GROWTH_POOL);
}

static void what_came_in_one_step_is_neither(void)
{
	ASSERT_INT(kind_of(burst, 40), GROWTH_ONCE);
	ASSERT_INT(kind_of(burst, 11), GROWTH_UNDECIDED);
	ASSERT_INT(kind_of(burst, 13), GROWTH_ONCE);
	ASSERT_INT(kind_of(burst, 0), GROWTH_UNDECIDED);
}

/* The same, told in fewer points. */
static void long_recordings_are_judged_the_same(void)
{
	ASSERT_INT(kind_of(line, 5000), GROWTH_LEAK);
	ASSERT_INT(kind_of(filled, 300), GROWTH_ONCE);
	ASSERT_INT(kind_of(saw, 5000), GROWTH_POOL);
	CU_ASSERT_TRUE(times.count > GROWTH_POINTS / 2 && times.count <= GROWTH_POINTS);
	ASSERT_INT(times.time_ns[0], START_NS);
	ASSERT_INT(times.time_ns[1] - times.time_ns[0], times.step_ns);
}

/* It grew as long as there was work, and then the process was idle. */
static void an_idle_process_leaks_nothing(void)
{
	setup();
	for (int round = 0; round < 8; round++)
		look(line(round), 1000000, 0);
	for (int round = 0; round < 40; round++)
		look(line(7), 100, 0);
	ASSERT_INT(growth_judge(&times, &level), GROWTH_LEAK);
	for (int round = 0; round < 8; round++)
		look(line(7), 1000000, 0);
	ASSERT_INT(growth_judge(&times, &level), GROWTH_POOL);
}

static void no_work_at_all_is_no_leak(void)
{
	setup();
	for (int round = 0; round < 16; round++)
		look(burst(round), 0, 0);
	ASSERT_INT(growth_judge(&times, &level), GROWTH_ONCE);
}

static void the_slope_is_that_of_the_line(void)
{
	kind_of(line, 200);
	/* 1000 bytes each look before any was forgotten; later looks are farther apart. */
	setup();
	for (int round = 0; round < 30; round++)
		look(line(round), 1000, 0);
	CU_ASSERT_DOUBLE_EQUAL(growth_bytes_per_minute(&times, &level), 600000, 1);
	kind_of(saw, 64);
	CU_ASSERT_TRUE(fabs(growth_bytes_per_minute(&times, &level)) < 20000);
	setup();
	CU_ASSERT_EQUAL(growth_bytes_per_minute(&times, &level), 0);
	look(5, 1, 0);
	CU_ASSERT_EQUAL(growth_bytes_per_minute(&times, &level), 0);
}

static void collections_are_counted_for_the_older_half(void)
{
	int64_t born[GROWTH_POINTS + 1] = { 0 };

	setup();
	ASSERT_INT(growth_survived(&times, born), 0);
	for (int round = 0; round < 10; round++)
		look(0, 1000, 1);
	ASSERT_INT(growth_look_after(&times, 0), 0);
	ASSERT_INT(growth_look_after(&times, START_NS), 0);
	ASSERT_INT(growth_look_after(&times, START_NS + 1), 1);
	ASSERT_INT(growth_look_after(&times, START_NS + 9 * LOOK_NS), 9);
	ASSERT_INT(growth_look_after(&times, START_NS + 9 * LOOK_NS + 1), 10);
	born[10] = 100;
	ASSERT_INT(growth_survived(&times, born), 0);
	born[3] = 99;
	ASSERT_INT(growth_survived(&times, born), 0);
	born[3] = 100;
	ASSERT_INT(growth_survived(&times, born), 6);
	born[0] = 1000;
	ASSERT_INT(growth_survived(&times, born), 9);
}

static void kinds_have_names(void)
{
	for (int kind = 0; kind < GROWTH_KIND_NR; kind++)
		CU_ASSERT_TRUE(growth_kind_name((enum growth_kind)kind)[0]);
}

static CU_TestInfo tests[] = {
	{ "what grows to the end is a leak", what_grows_to_the_end_is_a_leak },
	{ "what finds its height is a pool", what_finds_its_height_is_a_pool },
	{ "what came in one step is neither", what_came_in_one_step_is_neither },
	{ "long recordings are judged the same", long_recordings_are_judged_the_same },
	{ "an idle process leaks nothing", an_idle_process_leaks_nothing },
	{ "no work at all is no leak", no_work_at_all_is_no_leak },
	{ "the slope is that of the line", the_slope_is_that_of_the_line },
	{ "collections are counted for the older half",
	  collections_are_counted_for_the_older_half },
	{ "kinds have names", kinds_have_names },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo model_growth_suite = {
	.pName = "model_growth",
	.pSetUpFunc = setup,
	.pTests = tests,
};
