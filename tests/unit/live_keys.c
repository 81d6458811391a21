/* SPDX-License-Identifier: Apache-2.0 */
#include "live/keys.h"

#include <stddef.h>
#include <stdint.h>

#include "unit/fakes_live.h"
#include "unit/unit.h"

struct key {
	uint64_t what;
	uint32_t target;
	uint32_t pad;
};

static struct key in_map[8];
static const struct keys keys = { .map_fd = FAKE_MAP_FD,
				  .size = sizeof(struct key),
				  .target_at = offsetof(struct key, target),
				  .limit = 8 };

static uint64_t seen[32];
static size_t seen_count;

static void see(const void *key, void *ctx)
{
	const struct key *one = key;

	CU_ASSERT_PTR_EQUAL(ctx, &seen_count);
	if (seen_count < ARRAY_SIZE(seen))
		seen[seen_count++] = one->what;
}

static void see_all_of(uint32_t target)
{
	seen_count = 0;
	keys_each(&keys, target, see, &seen_count);
}

/* Of targets 1 and 2 in turn. */
static void setup(void)
{
	fakes_reset();
	for (uint32_t i = 0; i < 6; i++)
		in_map[i] = (struct key){ .what = 10 + i, .target = 1 + i % 2 };
	fakes.keys = (char *)in_map;
	fakes.key_size = sizeof(struct key);
	fakes.key_count = 6;
}

static void sees_each_key_of_the_target_once(void)
{
	see_all_of(2);
	ASSERT_INT(seen_count, 3);
	for (uint64_t i = 0; i < 3; i++)
		ASSERT_INT(seen[i], 11 + 2 * i);
	see_all_of(3);
	ASSERT_INT(seen_count, 0);
	fakes.key_count = 0;
	see_all_of(1);
	ASSERT_INT(seen_count, 0);
}

static void deletes_those_of_the_target_alone(void)
{
	keys_drop(&keys, 1);
	ASSERT_INT(fakes.key_count, 3);
	for (size_t i = 0; i < 3; i++)
		ASSERT_INT(in_map[i].target, 2);
	see_all_of(1);
	ASSERT_INT(seen_count, 0);
}

/* The kernel begins anew behind a key that somebody else has deleted. */
static void forget_first(const void *key, void *ctx)
{
	see(key, ctx);
	in_map[0].what++;
}

static void ends_though_the_map_changes(void)
{
	fakes.key_count = 1;
	seen_count = 0;
	keys_each(&keys, 1, forget_first, &seen_count);
	CU_ASSERT_TRUE(seen_count >= 1);
	CU_ASSERT_TRUE(seen_count <= keys.limit);
}

static CU_TestInfo tests[] = {
	{ "sees each key of the target once", sees_each_key_of_the_target_once },
	{ "deletes those of the target alone", deletes_those_of_the_target_alone },
	{ "ends though the map changes", ends_though_the_map_changes },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_keys_suite = {
	.pName = "live/keys",
	.pSetUpFunc = setup,
	.pTests = tests,
};
