/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/map64.h"
#include "unit/unit.h"

static struct map64 map;

static void setup(void)
{
	map = (struct map64){ 0 };
}

static void teardown(void)
{
	map64_free(&map);
}

static void an_empty_map_has_nothing(void)
{
	uint32_t value = 7;
	size_t at = 0;

	ASSERT_INT(map64_get(&map, 0, &value), false);
	ASSERT_INT(value, 7);
	ASSERT_INT(map64_remove(&map, 0), false);
	CU_ASSERT_PTR_NULL(map64_next(&map, &at));
}

static void zero_and_all_ones_are_keys_like_others(void)
{
	uint32_t value = 0;

	ASSERT_INT(map64_set(&map, 0, 0), 0);
	ASSERT_INT(map64_set(&map, UINT64_MAX, UINT32_MAX), 0);
	ASSERT_INT(map64_get(&map, 0, &value), true);
	ASSERT_INT(value, 0);
	ASSERT_INT(map64_get(&map, UINT64_MAX, &value), true);
	ASSERT_INT(value, UINT32_MAX);
	ASSERT_INT(map.count, 2);
}

static void set_replaces(void)
{
	uint32_t value = 0;

	ASSERT_INT(map64_set(&map, 5, 1), 0);
	ASSERT_INT(map64_set(&map, 5, 2), 0);
	ASSERT_INT(map.count, 1);
	ASSERT_INT(map64_get(&map, 5, &value), true);
	ASSERT_INT(value, 2);
}

/* Addresses are multiples of 4096, ids count up, hashes may agree in their low half. */
static void keys_with_a_pattern_are_all_found(void)
{
	static const uint64_t steps[] = { 1, 4096, 1ull << 32, 1ull << 44 };

	for (size_t s = 0; s < ARRAY_SIZE(steps); s++) {
		map64_free(&map);
		for (uint32_t i = 0; i < 20000; i++)
			ASSERT_INT(map64_set(&map, i * steps[s], i), 0);
		ASSERT_INT(map.count, 20000);
		for (uint32_t i = 0; i < 20000; i++) {
			uint32_t value = UINT32_MAX;

			map64_get(&map, i * steps[s], &value);
			ASSERT_INT(value, i);
		}
	}
}

/* Against an array: removal must not break the runs of slots behind the hole. */
static void random_adds_and_removes_agree_with_an_array(void)
{
	static bool there[512];
	uint32_t random = 1;
	size_t count = 0;

	memset(there, 0, sizeof(there));
	for (int i = 0; i < 200000; i++) {
		uint32_t key, value = 0;

		random = random * 1664525 + 1013904223;
		key = random >> 23;
		if (random & 1 << 10) {
			ASSERT_INT(map64_set(&map, key, key), 0);
			count += !there[key];
			there[key] = true;
		} else {
			ASSERT_INT(map64_remove(&map, key), there[key]);
			count -= there[key];
			there[key] = false;
		}
		key = (random >> 12) & 511;
		ASSERT_INT(map64_get(&map, key, &value), there[key]);
	}
	ASSERT_INT(map.count, count);
}

static void next_visits_each_once(void)
{
	uint64_t sum = 0;
	size_t at = 0, count = 0;

	for (uint32_t i = 1; i <= 1000; i++)
		ASSERT_INT(map64_set(&map, i, i), 0);
	for (const struct map64_slot *slot; (slot = map64_next(&map, &at)); count++)
		sum += slot->key;
	ASSERT_INT(count, 1000);
	ASSERT_INT(sum, 500500);
}

static void the_hash_sees_every_byte_and_the_length(void)
{
	uint8_t bytes[40] = { 0 };
	uint64_t seen[2 * sizeof(bytes)];
	size_t count = 0;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		seen[count++] = map64_hash(bytes, i);
		bytes[i] = 1;
		seen[count++] = map64_hash(bytes, sizeof(bytes));
		bytes[i] = 0;
	}
	for (size_t a = 0; a < count; a++) {
		for (size_t b = a + 1; b < count; b++)
			CU_ASSERT_FATAL(seen[a] != seen[b]);
	}
	CU_ASSERT(map64_hash("abc", 3) == map64_hash("abc", 3));
}

static CU_TestInfo tests[] = {
	{ "an empty map has nothing", an_empty_map_has_nothing },
	{ "zero and all ones are keys like others", zero_and_all_ones_are_keys_like_others },
	{ "set replaces", set_replaces },
	{ "keys with a pattern are all found", keys_with_a_pattern_are_all_found },
	{ "random adds and removes agree with an array",
	  random_adds_and_removes_agree_with_an_array },
	{ "next visits each once", next_visits_each_once },
	{ "the hash sees every byte and the length", the_hash_sees_every_byte_and_the_length },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo base_map64_suite = {
	.pName = "map64",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
