/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/nmt.h"

#include <errno.h>

#include "golden/exported.h"
#include "model/native.h"
#include "model/native_calls.h"

static int write_nmt(void)
{
	return golden_export(nmt_write, rec, NULL);
}

static struct rec_native_call call(uint64_t address, const char *function, uint32_t offset)
{
	return (struct rec_native_call){ address, golden_string(rec, function), offset };
}

/* blocks of size bytes each were allocated, and freed of them were freed. */
static struct rec_native_site site(const char *tag, int64_t blocks, int64_t size, int64_t freed)
{
	return (struct rec_native_site){ .jvm = 1,
					 .tag = golden_string(rec, tag),
					 .allocated_blocks = blocks,
					 .allocated_bytes = blocks * size,
					 .freed_blocks = freed,
					 .freed_bytes = freed * size };
}

static void add(const struct rec_native_chain *chain, struct rec_native_site numbers)
{
	rec_native_calls_add(rec, chain, &numbers);
}

static struct rec_native_budget *begin(uint32_t jvm)
{
	struct rec_native_budget *budget = rec_native_budget(rec, jvm);

	CU_ASSERT_PTR_NOT_NULL_FATAL(budget);
	budget->attached_ns = 1;
	budget->live_known = true;
	return budget;
}

static void sites_are_in_the_form_of_the_jvm(void)
{
	struct rec_native_chain unsafe = { { call(0x7f0000001234, "Unsafe_AllocateMemory0", 0x7c),
					     call(0x7f1000000000, "com.example.Main.leak", 0) } };
	struct rec_native_chain deep = { { call(0x7f0000000010, "SymbolTable::new_symbols", 0x60),
					   call(0x7f0000000020, "", 0), call(0x30, "a", 1),
					   call(0xffffffffffff, "b", 0xffffffff) } };
	struct rec_native_chain unknown = { { { 0 } } };
	struct rec_native_site freed = site("Other", 5, 4096, 5);

	begin(1);
	add(&deep, site("Symbol", 268, 16, 0));
	add(&unsafe, site("Other", 1001, 1008, 1));
	add(&unsafe, site("Other", 1, 4096, 0)); /* the same calls: one site */
	add(&unsafe, site("Internal", 1, 512, 0));
	add(&unknown, site("Other", 2, 1024, 0));
	add(&deep, site("Code", 1, 511, 0)); /* 0 KB: in no line but the sum */
	add(&deep, freed);
	freed.use = REC_NATIVE_UNKNOWN_FREE;
	freed.allocated_blocks = 0;
	add(&unsafe, freed);
	ASSERT_INT(write_nmt(), 0);
	golden_compare("native.nmt.expected", exported.bytes, exported.size);
}

/* Text that is, or is not, in what is written for the first JVM. */
static void expect_text(const char *text, bool there)
{
	ASSERT_INT(write_nmt(), 0);
	if ((strstr(exported.bytes, text) != NULL) != there)
		fprintf(stderr, "'%s' %s in:\n%s", text, there ? "is not" : "is", exported.bytes);
	ASSERT_INT(strstr(exported.bytes, text) != NULL, there);
}

static void what_is_not_known_is_not_told(void)
{
	struct rec_native_chain chain = { { call(0x1234, "f", 4) } };
	struct rec_native_budget *budget = begin(1);

	add(&chain, site("Other", 10, 1024, 0));
	expect_text("(malloc=10KB type=Other #10)", true);
	expect_text("Estimates", false);
	budget->interval = 524288;
	expect_text("Estimates: one block of 524288 bytes", true);
	budget->live_known = false;
	expect_text("(malloc=", false);
	expect_text("What lives is not known", true);
	budget->attached_ns = 0;
	expect_text("was not recorded", true);
}

static void changes_of_the_budget_are_told(void)
{
	struct rec_budget_event event = { .jvm = 1,
					  .group = REC_PROBES_CLASS,
					  .to = REC_NATIVE_SAMPLED,
					  .cost_pct = 3,
					  .limit_pct = 2 };

	begin(1);
	rec_budget_event(rec, &event);
	expect_text("Probes:", false);
	event.group = REC_PROBES_NATIVE;
	rec_budget_event(rec, &event);
	expect_text("Probes: native exact -> sampled after", true);
	expect_text(", over_limit: 3.00 % of a core, limit 2.00 %\n\n", true);
}

static void sites_that_are_told_anew_count_once(void)
{
	struct rec_native_chain chain = { { call(0x1234, "f", 4) } };

	begin(1);
	add(&chain, site("Other", 10, 1024, 0));
	rec_native_forget_sites(rec, 2);
	expect_text("(malloc=10KB type=Other #10)", true);
	rec_native_forget_sites(rec, 1);
	add(&chain, site("Other", 3, 1024, 0));
	expect_text("(malloc=3KB type=Other #3)", true);
}

static void a_full_disk_is_noticed(void)
{
	const struct export_options none = { 0 };
	FILE *full = fopen("/dev/full", "we");

	CU_ASSERT_PTR_NOT_NULL_FATAL(full);
	ASSERT_INT(nmt_write(rec, &none, full), -ENOSPC);
	fclose(full);
}

static CU_TestInfo tests[] = {
	{ "sites are in the form of the JVM", sites_are_in_the_form_of_the_jvm },
	{ "what is not known is not told", what_is_not_known_is_not_told },
	{ "changes of the budget are told", changes_of_the_budget_are_told },
	{ "sites that are told anew count once", sites_that_are_told_anew_count_once },
	{ "a full disk is noticed", a_full_disk_is_noticed },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo exporters_nmt_suite = {
	.pName = "exporters_nmt",
	.pSetUpFunc = golden_setup,
	.pTearDownFunc = golden_teardown,
	.pTests = tests,
};
