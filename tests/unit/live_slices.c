/* SPDX-License-Identifier: Apache-2.0 */
#include "live/slices.h"

#include <math.h>
#include <stdint.h>

#include "unit/unit.h"

#define MS 1000000ull

/* A target does work, and what of it is seen goes to a sum. */
static struct slices slices;
static struct slices_sum sum;
static uint64_t work_ns;
static uint64_t random_state;

static void setup(void)
{
	slices = (struct slices){ 0 };
	sum = (struct slices_sum){ 0 };
	work_ns = 1000 * MS;
	slices_start(&slices, work_ns);
}

static double random_part(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(random_state >> 40) / (1u << 24);
}

static void slice(uint64_t stretch_ms, uint64_t seen_ms, double bytes)
{
	struct slice one;

	work_ns += stretch_ms * MS;
	slices_begin_one(&slices, work_ns);
	work_ns += seen_ms * MS;
	slices_end_one(&slices, work_ns, &one);
	slices_add(&sum, &one, bytes);
}

static struct slices_estimate estimate(void)
{
	struct slices_estimate found;

	slices_estimate(&slices, &sum, work_ns, &found);
	return found;
}

static void what_is_even_is_certain(void)
{
	for (int i = 0; i < 20; i++)
		slice(100 + 10 * (i % 5), 20, 2000);
	CU_ASSERT_DOUBLE_EQUAL(estimate().bytes, 20 * 120 * 100, 1);
	CU_ASSERT_DOUBLE_EQUAL(estimate().error, 0, 1e-3);
}

/* Where little is seen slices are long and come soon: they do not stand for the others. */
static void a_slice_stands_for_the_stretch_before_it(void)
{
	for (int i = 0; i < 20; i++) {
		slice(10, 90, 900);
		slice(190, 10, 10000);
	}
	CU_ASSERT_DOUBLE_EQUAL(estimate().bytes, 20 * (10 * 10 + 190 * 1000), 1);
}

static void few_slices_may_be_all_wrong(void)
{
	for (int i = 0; i < SLICES_MIN - 1; i++)
		slice(100, 10, 1000);
	CU_ASSERT(estimate().error >= 0.99 * estimate().bytes);
	slice(100, 10, 1000);
	CU_ASSERT(estimate().error < 0.01 * estimate().bytes);
}

/* Of a program that allocated before, and of which no slice tells. */
static void without_a_slice_it_may_be_as_before(void)
{
	sum.before = 3e-6;
	work_ns += 100 * MS;
	CU_ASSERT_DOUBLE_EQUAL(estimate().bytes, 0, 0);
	CU_ASSERT_DOUBLE_EQUAL(estimate().error, 300, 1e-6);
}

static void a_long_stretch_may_be_all_wrong(void)
{
	double before;

	for (int i = 0; i < 20; i++)
		slice(100, 10, 1000);
	before = estimate().bytes;
	work_ns += 300 * MS;
	CU_ASSERT(estimate().error < 0.01 * before);
	work_ns += 400 * MS;
	CU_ASSERT(estimate().error > 0.9 * 700 * 100);
	CU_ASSERT_DOUBLE_EQUAL(estimate().bytes, before + 700 * 100, 1);
	/* All is watched again: there is no such stretch. */
	slices_stop(&slices);
	CU_ASSERT_DOUBLE_EQUAL(estimate().bytes, before, 1);
	CU_ASSERT(estimate().error < 0.01 * before);
}

/* Its next slice stands for both stretches. */
static void a_target_that_sleeps_in_a_slice_is_not_forgotten(void)
{
	for (int i = 0; i < 20; i++) {
		slice(50, 0, 0);
		slice(50, 10, 1000);
	}
	ASSERT_INT(slices.count, 20);
	CU_ASSERT_DOUBLE_EQUAL(estimate().bytes, 20 * 100 * 100, 1);
}

/* Bytes by ms, of phases of any length, in which nothing changes. */
static double true_bytes(uint64_t ms, double phase_ms, double *rate)
{
	double bytes = 0;

	for (uint64_t i = 0; i < ms; i++) {
		if (random_part() * phase_ms < 1)
			*rate = random_part() < 0.5 ? 100 : 1000 + 1000 * random_part();
		bytes += *rate;
	}
	return bytes;
}

/* How often the truth is farther away than twice the standard error, of 400 programs. */
static int count_misses(double phase_ms)
{
	int misses = 0;

	for (int run = 0; run < 400; run++) {
		double rate = 500, truth = 0, seen;

		setup();
		for (int i = 0; i < 40; i++) {
			uint64_t stretch_ms = 50 + (uint64_t)(100 * random_part());

			truth += true_bytes(stretch_ms, phase_ms, &rate);
			seen = true_bytes(20, phase_ms, &rate);
			slice(stretch_ms, 20, seen);
		}
		misses += fabs(estimate().bytes - truth) > 2 * estimate().error;
	}
	return misses;
}

/* 5 % are expected, were all normal and phases short; where they are not the error is larger. */
static void the_error_is_what_it_says(void)
{
	int misses;

	random_state = 1;
	misses = count_misses(3);
	CU_ASSERT(misses > 4 && misses < 40);
	for (double phase_ms = 10; phase_ms < 3000; phase_ms *= 3) {
		misses = count_misses(phase_ms);
		CU_ASSERT(misses < 30);
	}
}

static CU_TestInfo tests[] = {
	{ "what is even is certain", what_is_even_is_certain },
	{ "a slice stands for the stretch before it", a_slice_stands_for_the_stretch_before_it },
	{ "few slices may be all wrong", few_slices_may_be_all_wrong },
	{ "without a slice it may be as before", without_a_slice_it_may_be_as_before },
	{ "a long stretch may be all wrong", a_long_stretch_may_be_all_wrong },
	{ "a target that sleeps in a slice is not forgotten",
	  a_target_that_sleeps_in_a_slice_is_not_forgotten },
	{ "the error is what it says", the_error_is_what_it_says },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_slices_suite = {
	.pName = "live/slices",
	.pSetUpFunc = setup,
	.pTests = tests,
};
