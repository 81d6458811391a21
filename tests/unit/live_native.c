/* SPDX-License-Identifier: Apache-2.0 */
#include "live/native.h"

#include <stdlib.h>
#include <string.h>

#include "live/decode.h"
#include "model/native.h"
#include "model/recording.h"
#include "unit/unit.h"

/* Accounts as the kernel would have them, made by hand: there are no maps behind them. */

static struct jvs_native_control controls[JVS_MAX_TARGETS];
static struct jvs_native_site *sites;
static uint64_t site_count;
static struct process process;
static struct decoder decoder;
static struct native *native;
static struct recording *rec;

static void setup(void)
{
	memset(controls, 0, sizeof(controls));
	process = (struct process){ .index = 3 };
	decoder = (struct decoder){ 0 };
	site_count = 0;
	native = calloc(1, sizeof(*native));
	sites = calloc(JVS_NATIVE_SITES, sizeof(*sites));
	CU_ASSERT_FATAL(native && sites);
	native->controls = controls;
	native->sites = sites;
	native->site_count = &site_count;
	native->known = calloc(JVS_NATIVE_SITES, sizeof(*native->known));
	native->counts_fd = native->live_fd = native->ids_fd = -1;
	native->unresolved = 1;
	rec = rec_new();
	process.rec_jvm = rec_jvm(rec, &(struct rec_jvm){ .pid = 100 });
}

static void teardown(void)
{
	free(native->known);
	free(native);
	free(sites);
	rec_free(rec);
}

static void book(uint16_t tag, uint32_t target, uint64_t blocks, uint64_t bytes)
{
	sites[++site_count] = (struct jvs_native_site){ .target = target,
							.tag = tag,
							.allocated_blocks = blocks * JVS_NATIVE_ONE,
							.allocated_bytes = bytes };
}

/* The only row of a JVM that says anything. */
static const struct rec_native_site *row_of(uint32_t jvm)
{
	const struct rec_native_site *found = NULL, *row;

	for (uint32_t id = 1; id <= rec_native_site_count(rec); id++) {
		row = rec_native_site_get(rec, id);
		if (row->jvm != jvm || !row->allocated_blocks)
			continue;
		CU_ASSERT_PTR_NULL(found);
		found = row;
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	return found;
}

static void accounts_are_of_their_target(void)
{
	book(1, 3, 10, 1000);
	book(1, 4, 20, 2000);
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_blocks, 10);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_bytes, 1000);
	/* What is told again is not added. */
	sites[1].allocated_bytes = 1500;
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_bytes, 1500);
}

static void a_place_that_is_given_on_begins_anew(void)
{
	uint32_t first = process.rec_jvm;

	book(1, 3, 10, 1000);
	native_finish(native, &decoder, &process, rec);
	native_forget(native, &process);
	process.rec_jvm = rec_jvm(rec, &(struct rec_jvm){ .pid = 200 });
	book(1, 3, 7, 700);
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(row_of(first)->allocated_bytes, 1000);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_blocks, 7);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_bytes, 700);
}

static int64_t total(enum rec_metric metric)
{
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);
	int64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += totals[i].key.metric == metric ? totals[i].value : 0;
	return bytes;
}

static void what_lives_is_withheld_once_it_is_lost(void)
{
	book(1, 3, 10, 1000);
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(total(REC_NATIVE_LIVE), 1000);
	native->targets[3].live_lost = true;
	sites[1].allocated_bytes = 1500;
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(total(REC_NATIVE_ALLOC), 1500);
	ASSERT_INT(total(REC_NATIVE_LIVE), 0);
}

static CU_TestInfo tests[] = {
	{ "what lives is withheld once it is lost", what_lives_is_withheld_once_it_is_lost },
	{ "accounts are of their target", accounts_are_of_their_target },
	{ "a place that is given on begins anew", a_place_that_is_given_on_begins_anew },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_native_suite = {
	.pName = "live/native",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
