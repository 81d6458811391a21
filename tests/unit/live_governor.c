/* SPDX-License-Identifier: Apache-2.0 */
#include "live/governor.h"
#include "unit/unit.h"

#define MS 1000000ull

/* A target that allocates: how often, and what booking a call costs beside the trap. */
struct load {
	double hits_per_s;
	double book_ns;
};

static struct governor governor;
static struct governor_input input;
static double others; /* what other groups use of the budget, all the time */
static uint64_t attached_ns, changes, slices;

static void setup(void)
{
	input = (struct governor_input){ .now_ns = 1000 * MS, .trap_ns = 400 };
	attached_ns = changes = slices = 0;
	others = 0;
	governor_start(&governor, 2, &input);
}

static double cost_of_hit(const struct load *load)
{
	return governor.state == REC_NATIVE_EXACT ? input.trap_ns + load->book_ns
						  : input.trap_ns * 1.3;
}

static void pass(const struct load *load, uint64_t ns)
{
	double hits = governor.attached ? load->hits_per_s * (double)ns / 1e9 : 0;

	input.now_ns += ns;
	input.hits += (uint64_t)hits;
	input.cost_ns += (uint64_t)(hits * cost_of_hit(load) + others * (double)ns);
	attached_ns += governor.attached ? ns : 0;
}

/* As live does: a look each 100 ms, and slices that are shorter are waited for. */
static void run(const struct load *load, double seconds)
{
	for (uint64_t end = input.now_ns + (uint64_t)(seconds * 1e9); input.now_ns < end;) {
		enum rec_native_state from = governor.state;
		bool was = governor.attached;

		pass(load, 100 * MS);
		governor_look(&governor, &input);
		if (!was && governor.attached && governor.length_ns < 100 * MS) {
			pass(load, governor.length_ns);
			governor_look(&governor, &input);
		}
		changes += governor.state != from;
		slices += !was && governor.attached;
	}
}

static double mean_cost_pct(void)
{
	return 100 * (double)input.cost_ns / (double)(input.now_ns - 1000 * MS);
}

static void stays_exact_below_the_limit(void)
{
	static const struct load light = { 5000, 2500 }; /* 1.5 % */

	run(&light, 60);
	ASSERT_INT(governor.state, REC_NATIVE_EXACT);
	ASSERT_INT(changes, 0);
	CU_ASSERT(governor_cost_pct(&governor) > 1.3 && governor_cost_pct(&governor) < 1.6);
}

/* Slices are looked at twice in a tick. */
static void the_mean_is_of_five_seconds_however_often_it_is_looked(void)
{
	input.now_ns += 100 * MS;
	input.cost_ns += 50 * MS;
	governor_look(&governor, &input);
	for (int i = 0; i < 90; i++) {
		input.now_ns += 50 * MS;
		governor_look(&governor, &input);
	}
	CU_ASSERT_DOUBLE_EQUAL(governor_cost_pct(&governor), 100 * 50 / 4600.0, 0.01);
	input.now_ns += 1000 * MS;
	governor_look(&governor, &input);
	CU_ASSERT_DOUBLE_EQUAL(governor_cost_pct(&governor), 0, 0);
}

static void samples_when_stacks_are_too_dear(void)
{
	static const struct load some = { 20000, 2500 }; /* 5.8 % exact, 1 % sampled */

	run(&some, 60);
	ASSERT_INT(governor.state, REC_NATIVE_SAMPLED);
	CU_ASSERT(governor.attached);
	CU_ASSERT(mean_cost_pct() < 2);
}

static void watches_slices_when_traps_are_too_dear(void)
{
	static const struct load much = { 200000, 2500 }; /* 58 % exact, 10 % sampled */

	run(&much, 120);
	ASSERT_INT(governor.state, REC_NATIVE_SLICES);
	CU_ASSERT(mean_cost_pct() < 2.1);
	CU_ASSERT(attached_ns > 5000 * MS);
}

/* The exact start cost 150 ms more than it may, and most of the budget is another's. */
static void slices_come_soon_after_a_dear_start(void)
{
	static const struct load dear = { 100000, 8000 };

	others = 0.013;
	run(&dear, 14);
	ASSERT_INT(governor.state, REC_NATIVE_SLICES);
	CU_ASSERT(slices >= 4);
}

/*
 * Once the start is over, also where the load is not the same from slice to slice: one that is
 * planned for less is 0.2 % by plan, and twice that at most.
 */
static void each_five_seconds_cost_what_they_may(void)
{
	static const struct load much = { 250000, 2500 }, less = { 120000, 2500 };
	double most = 0;

	run(&much, 1);
	ASSERT_INT(governor.state, REC_NATIVE_SLICES);
	run(&much, 5);
	for (int i = 0; i < 600; i++) {
		run(i % 17 < 9 ? &much : &less, 0.1);
		most = governor_cost_pct(&governor) > most ? governor_cost_pct(&governor) : most;
	}
	CU_ASSERT(most > 1.5);
	CU_ASSERT(most < 2.4);
}

/* One that sees more is not shorter: then much would be seen for a shorter time than little. */
static void a_slice_is_as_long_whatever_it_sees(void)
{
	static const struct load little = { 100000, 2500 }, more = { 180000, 2500 };
	struct governor before;
	uint64_t began_ns, length_ns;

	run(&little, 30);
	while (!governor.attached || governor.length_ns < 150 * MS)
		run(&little, 0.1);
	before = governor;
	began_ns = input.now_ns;
	while (governor.attached) {
		pass(&more, 10 * MS);
		governor_look(&governor, &input);
	}
	length_ns = input.now_ns - began_ns;
	governor = before;
	input.now_ns = began_ns;
	input.hits = governor.last.hits;
	input.cost_ns = governor.last.cost_ns;
	while (governor.attached) {
		pass(&little, 10 * MS);
		governor_look(&governor, &input);
	}
	ASSERT_INT(input.now_ns - began_ns, length_ns);
}

static void gives_stacks_up_and_then_all(void)
{
	static const struct load storm = { 16e6, 2500 }; /* eight cores full of probes */
	static const struct load flood = { 100e6, 2500 };

	uint64_t first_ns;

	/* Until the first look all that there is goes on. */
	run(&storm, 1);
	first_ns = input.cost_ns;
	run(&storm, 120);
	ASSERT_INT(governor.state, REC_NATIVE_COUNTERS);
	CU_ASSERT((double)(input.cost_ns - first_ns) < 0.022 * 120e9);
	run(&flood, 200);
	ASSERT_INT(governor.state, REC_NATIVE_DETACHED);
	CU_ASSERT(!governor.attached);
}

static void recovers_when_the_load_is_over(void)
{
	static const struct load much = { 200000, 2500 }, quiet = { 200, 2500 };

	run(&much, 30);
	ASSERT_INT(governor.state, REC_NATIVE_SLICES);
	run(&quiet, 60);
	ASSERT_INT(governor.state, REC_NATIVE_EXACT);
}

static void never_steps_down_without_a_limit(void)
{
	static const struct load flood = { 100e6, 2500 };

	governor_start(&governor, 0, &input);
	run(&flood, 10);
	ASSERT_INT(governor.state, REC_NATIVE_EXACT);
	CU_ASSERT(governor.attached);
}

static CU_TestInfo tests[] = {
	{ "stays exact below the limit", stays_exact_below_the_limit },
	{ "the mean is of five seconds however often it is looked",
	  the_mean_is_of_five_seconds_however_often_it_is_looked },
	{ "samples when stacks are too dear", samples_when_stacks_are_too_dear },
	{ "watches slices when traps are too dear", watches_slices_when_traps_are_too_dear },
	{ "slices come soon after a dear start", slices_come_soon_after_a_dear_start },
	{ "each five seconds cost what they may", each_five_seconds_cost_what_they_may },
	{ "a slice is as long whatever it sees", a_slice_is_as_long_whatever_it_sees },
	{ "gives stacks up, and then all", gives_stacks_up_and_then_all },
	{ "recovers when the load is over", recovers_when_the_load_is_over },
	{ "never steps down without a limit", never_steps_down_without_a_limit },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_governor_suite = {
	.pName = "governor",
	.pSetUpFunc = setup,
	.pTests = tests,
};
