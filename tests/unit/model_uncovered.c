/* SPDX-License-Identifier: Apache-2.0 */
#include "model/uncovered.h"

#include <string.h>

#include "model/ledger.h"
#include "model/native.h"
#include "model/recording.h"
#include "unit/unit.h"

#define JVM 1

static struct recording *rec;

static void setup(void)
{
	rec = rec_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(rec);
	rec_jvm(rec, &(struct rec_jvm){ .pid = 42 });
}

static void teardown(void)
{
	rec_free(rec);
}

static uint32_t string(const char *s)
{
	return rec_string(rec, s, strlen(s));
}

/* What lives at sites, and what libc says of it. */
static void ledger(int64_t live, int64_t blocks, uint64_t in_use)
{
	struct rec_ledger reading = {
		.jvm = JVM,
		.malloc = { .in_use_bytes = in_use, .mapped_bytes = 1000, .cached_bytes = 100 },
		.native_bytes = live,
		.native_blocks = blocks,
	};
	struct rec_native_budget *budget = rec_native_budget(rec, JVM);

	CU_ASSERT_PTR_NOT_NULL_FATAL(budget);
	budget->live_known = true;
	rec_ledger_add(rec, &reading);
}

static void sites_explain_a_part(void)
{
	struct rec_uncovered found;

	ledger(500, 5, 10000);
	ledger(4500, 15, 20000);
	CU_ASSERT_TRUE_FATAL(rec_uncovered(rec, JVM, &found));
	ASSERT_INT(found.growth_bytes, 10000);
	ASSERT_INT(found.explained_bytes, 4000);
	ASSERT_INT(found.overhead_bytes, 160);
	ASSERT_INT(found.uncovered_bytes, 5840);
	CU_ASSERT_FALSE(found.with_libc);
	rec_native_site(rec, &(struct rec_native_site){ .jvm = JVM, .tag = string("libc") });
	CU_ASSERT_TRUE_FATAL(rec_uncovered(rec, JVM, &found));
	CU_ASSERT_TRUE(found.with_libc);
}

static void nothing_is_said_where_it_is_not_known(void)
{
	struct rec_ledger other = { .jvm = JVM, .allocator = string("libjemalloc.so.2") };
	struct rec_uncovered found;

	CU_ASSERT_FALSE(rec_uncovered(rec, JVM, &found));
	ledger(0, 0, 10);
	CU_ASSERT_TRUE(rec_uncovered(rec, JVM, &found));
	rec_native_budget(rec, JVM)->live_known = false;
	CU_ASSERT_FALSE(rec_uncovered(rec, JVM, &found));
	rec_native_budget(rec, JVM)->live_known = true;
	CU_ASSERT_TRUE(rec_uncovered(rec, JVM, &found));
	rec_ledger_add(rec, &other);
	CU_ASSERT_FALSE(rec_uncovered(rec, JVM, &found));
}

static void suspect(enum growth_kind kind, int64_t live, double rate)
{
	rec_native_suspect(rec, &(struct rec_native_suspect){ .jvm = JVM,
							      .kind = kind,
							      .live_bytes = live,
							      .bytes_per_minute = rate });
}

static void leaks_come_first_and_the_others_by_size(void)
{
	static const int64_t wanted[] = { 10, 20, 7000, 900, 300 };
	const struct rec_native_suspect *found;
	size_t count;

	suspect(GROWTH_POOL, 7000, 9);
	suspect(GROWTH_UNDECIDED, 300, 9);
	suspect(GROWTH_LEAK, 20, 5);
	suspect(GROWTH_ONCE, 900, 1);
	suspect(GROWTH_LEAK, 10, 50);
	found = rec_native_suspects(rec, &count);
	ASSERT_INT(count, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < count; i++)
		ASSERT_INT(found[i].live_bytes, wanted[i]);
	rec_native_forget_suspects(rec, JVM + 1);
	rec_native_suspects(rec, &count);
	ASSERT_INT(count, ARRAY_SIZE(wanted));
	rec_native_forget_suspects(rec, JVM);
	CU_ASSERT_PTR_NULL(rec_native_suspects(rec, &count));
	ASSERT_INT(count, 0);
}

static CU_TestInfo tests[] = {
	{ "sites explain a part", sites_explain_a_part },
	{ "nothing is said where it is not known", nothing_is_said_where_it_is_not_known },
	{ "leaks come first, and the others by size", leaks_come_first_and_the_others_by_size },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo model_uncovered_suite = {
	.pName = "model_uncovered",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
