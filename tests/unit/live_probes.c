/* SPDX-License-Identifier: Apache-2.0 */
#include "live/probes.h"

#include <stdlib.h>

#include "live/classes.h"
#include "live/native.h"
#include "unit/fakes_live.h"
#include "unit/unit.h"

/* What of live/probes.h needs no kernel: who gives its links up, and when. */

static struct probes_leaving leaving;

static void setup(void)
{
	fakes_reset();
	leaving = (struct probes_leaving){ 0 };
}

static void teardown(void)
{
	probes_wait(&leaving);
	fakes_reset();
}

static void attach(struct probe_set *set, enum probe_links links, bool with_return)
{
	*set = (struct probe_set){ .links = links, .attached = true, .multi = { -1, -1 } };
	set->multi[0] = FAKE_LINK_FD + (int)fakes.links++;
	if (with_return)
		set->multi[1] = FAKE_LINK_FD + (int)fakes.links++;
}

static void all_links_are_given_up_at_the_same_time(void)
{
	struct native *native = calloc(1, sizeof(*native));
	struct classes *classes = calloc(1, sizeof(*classes));

	CU_ASSERT_FATAL(native && classes);
	for (uint32_t t = 0; t < 3; t++) {
		for (int set = 0; set < NATIVE_SETS; set++)
			attach(&native->targets[t].sets[set], PROBE_MULTI, set % 2 == 0);
		for (int set = 0; set < MAPPING_SETS; set++)
			attach(&native->mappings.targets[t].sets[set], PROBE_SESSION, false);
		for (int set = 0; set < CLASS_SETS; set++)
			attach(&classes->targets[t].sets[set], PROBE_MULTI, false);
	}
	native_give_up(native, &leaving);
	classes_give_up(classes, &leaving);
	ASSERT_INT(fakes.closing, 0);
	ASSERT_INT(leaving.count, fakes.links);
	for (int set = 0; set < CLASS_SETS; set++)
		CU_ASSERT_FALSE(classes->targets[2].sets[set].attached);
	probes_close(&leaving);
	probes_wait(&leaving);
	ASSERT_INT(fakes.closing, fakes.links);
	ASSERT_INT(fakes.links, 3 * (NATIVE_SETS * 3 / 2 + MAPPING_SETS + CLASS_SETS));
	free(native);
	free(classes);
}

static void a_set_that_is_not_attached_has_nothing_to_give_up(void)
{
	struct probe_set never = { 0 }, before;

	attach(&before, PROBE_MULTI, true);
	before.attached = false;
	fakes.links = 0;
	probes_leave(&never, &leaving);
	probes_leave(&before, &leaving);
	ASSERT_INT(leaving.count, 0);
	probes_close(&leaving);
}

static void single_links_stay_until_the_report_is_written(void)
{
	struct probe_set set = { .links = PROBE_SINGLE, .attached = true, .multi = { -1, -1 } };

	probes_leave(&set, &leaving);
	ASSERT_INT(leaving.count, 0);
	CU_ASSERT_TRUE(set.attached);
}

static CU_TestInfo tests[] = {
	{ "all links are given up at the same time", all_links_are_given_up_at_the_same_time },
	{ "a set that is not attached has nothing to give up",
	  a_set_that_is_not_attached_has_nothing_to_give_up },
	{ "single links stay until the report is written",
	  single_links_stay_until_the_report_is_written },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_probes_suite = {
	.pName = "live_probes",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
