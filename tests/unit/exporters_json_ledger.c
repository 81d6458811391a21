/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "exporters/json.h"
#include "golden/recording.h"
#include "model/ledger.h"
#include "model/series.h"

#define KIB 1024

static struct recording *rec;

static void setup(void)
{
	rec = golden_recording();
}

static void teardown(void)
{
	rec_free(rec);
}

static uint32_t text(const char *s)
{
	return rec_string(rec, s, strlen(s));
}

/* Each line has its number times factor in KiB. */
static void add_ledger(uint32_t jvm, int64_t time_ns, uint64_t factor, bool tracked)
{
	struct rec_ledger ledger = { .jvm = jvm, .time_ns = time_ns, .cost_ns = 5000000 };

	for (int line = 0; line < REC_LINE_NR; line++) {
		uint64_t bytes = (uint64_t)line * factor * KIB;

		ledger.lines[line] = (struct rec_ledger_row){ .reserved = 3 * bytes,
							      .committed = 2 * bytes,
							      .resident = (int64_t)bytes,
							      .swapped = factor,
							      .count = jvm };
		if (line == REC_LINE_MOVED)
			ledger.lines[line].resident = -(int64_t)bytes;
		ledger.rss_bytes += (uint64_t)ledger.lines[line].resident;
	}
	ledger.threads = 19;
	ledger.malloc = (struct rec_malloc){ 1, 2, 3, 4, 5, 6, 7, 8 };
	ledger.direct = (struct rec_buffers){ 37, 37000111, 37000112, 1ull << 40 };
	ledger.allocator = jvm == 2 ? text("libjemalloc.so.2") : 0;
	ledger.parts = calloc(2, sizeof(*ledger.parts));
	CU_ASSERT_PTR_NOT_NULL_FATAL(ledger.parts);
	ledger.part_count = 2;
	ledger.parts[0] = (struct rec_ledger_part){ .line = REC_LINE_GC,
						    .name = text("mark bitmap"),
						    .row = ledger.lines[REC_LINE_GC] };
	/* Threads that ended, others that began. */
	ledger.parts[1] = (struct rec_ledger_part){ .line = REC_LINE_STACKS,
						    .name = text(factor > 1 ? "late" : "early"),
						    .row = { .resident = 8 * KIB, .count = 3 } };
	if (tracked) {
		ledger.nmt = calloc(1, sizeof(*ledger.nmt));
		CU_ASSERT_PTR_NOT_NULL_FATAL(ledger.nmt);
		ledger.nmt_count = 1;
		ledger.nmt[0] = (struct rec_nmt){ text("Java \"Heap\""), factor, 2, 3, 4, 5, 6 };
	}
	rec_ledger_add(rec, &ledger);
}

static void a_recording_with_ledgers_has_these_bytes(void)
{
	struct export_options options = { 0 };
	int64_t start_ns = rec_meta_get(rec)->start_time_ns;
	char *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	add_ledger(1, start_ns, 1, true);
	add_ledger(2, start_ns + 1000000000, 1, false);
	add_ledger(1, start_ns + 3000000000, 2, true);
	rec_series_add(rec, 1, "rss_bytes", start_ns, 100);
	rec_series_add(rec, 1, "rss_bytes", start_ns + 2000000000, 90);
	rec_series_add(rec, 2, "rss_bytes", start_ns + 1000000000, -1);
	ASSERT_INT(json_write(rec, &options, out), 0);
	fclose(out);
	golden_compare("ledger.json.expected", bytes, size);
	free(bytes);
}

static CU_TestInfo tests[] = {
	{ "a recording with ledgers has these bytes", a_recording_with_ledgers_has_these_bytes },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo exporters_json_ledger_suite = {
	.pName = "exporters_json_ledger",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
