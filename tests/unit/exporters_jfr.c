/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/jfr.h"

#include <errno.h>

#include "golden/exported.h"
#include "jfr/jfr_events.h"
#include "unit/jfr_walk.h"

static int export(void)
{
	return golden_export(jfr_export, rec, NULL);
}

struct seen {
	int samples;
	uint64_t first, last; /* ticks */
};

static void see_event(void *ctx, const struct walked_event *event)
{
	struct seen *seen = ctx;
	struct cursor c = cursor_of(event->fields, event->size);

	if (event->type != JFR_EXECUTION_SAMPLE && event->type != JFR_NATIVE_METHOD_SAMPLE)
		return;
	seen->last = jfr_varint(&c);
	if (!seen->samples++)
		seen->first = seen->last;
}

static int look(struct seen *seen)
{
	const struct walker walker = { .event = see_event, .ctx = seen };

	return walk((const uint8_t *)exported.bytes, exported.size, &walker);
}

static void totals_become_samples_over_the_whole_time(void)
{
	struct seen seen = { 0 };

	ASSERT_INT(export(), 0);
	ASSERT_INT(look(&seen), 1);
	ASSERT_INT(seen.samples, 18);
	/* Of ten and a half seconds. */
	ASSERT_INT(seen.first, 1000000000);
	CU_ASSERT(seen.last > 10500000000 && seen.last < 11500000000);
}

static void rows_are_written_as_they_are(void)
{
	struct seen seen = { 0 };
	struct rec_sample sample = { .time_ns = rec_meta_get(rec)->start_time_ns + 7 };

	rec_samples_keep(rec, true);
	rec_sample(rec, &sample);
	ASSERT_INT(export(), 0);
	ASSERT_INT(look(&seen), 1);
	ASSERT_INT(seen.samples, 1);
	ASSERT_INT(seen.last, 1000000007);
}

static void what_began_before_the_recording_has_its_time(void)
{
	static const struct {
		int64_t before_ns;
		uint64_t ticks;
	} rows[] = { { 5000000000, 1000000000 },
		     { 3600000000000, 1000000000 },
		     /* No wait of more than a day: it is a clock that was set. */
		     { 90000000000000, 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct seen seen = { 0 };
		struct rec_sample sample = { .time_ns = rec_meta_get(rec)->start_time_ns -
							rows[i].before_ns };

		rec_samples_drop(rec);
		rec_samples_keep(rec, true);
		rec_sample(rec, &sample);
		sample.time_ns += rows[i].before_ns;
		rec_sample(rec, &sample);
		ASSERT_INT(export(), 0);
		ASSERT_INT(look(&seen), 1);
		ASSERT_INT(seen.samples, 2);
		ASSERT_INT(seen.first, rows[i].ticks);
		ASSERT_INT(seen.last - 1000000000,
			   rows[i].before_ns < 86400000000000 ? rows[i].before_ns : 86400000000000);
	}
}

static void many_samples_are_several_chunks(void)
{
	struct seen seen = { 0 };
	struct rec_key key = { .metric = REC_CPU };

	rec_add(rec, &key, 4000000, 4000000);
	ASSERT_INT(export(), 0);
	CU_ASSERT_FATAL(look(&seen) > 1);
	ASSERT_INT(seen.samples, 4000018);
}

static void more_samples_than_a_file_may_have_are_an_error(void)
{
	struct rec_key key = { .metric = REC_CPU };

	rec_add(rec, &key, INT64_MAX, INT64_MAX);
	ASSERT_INT(export(), -EFBIG);
}

static void a_full_disk_is_an_error(void)
{
	const struct export_options options = { 0 };
	FILE *out = fopen("/dev/full", "we");

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	ASSERT_INT(jfr_export(rec, &options, out), -ENOSPC);
	fclose(out);
}

static CU_TestInfo tests[] = {
	{ "totals become samples over the whole time", totals_become_samples_over_the_whole_time },
	{ "rows are written as they are", rows_are_written_as_they_are },
	{ "what began before the recording has its time",
	  what_began_before_the_recording_has_its_time },
	{ "many samples are several chunks", many_samples_are_several_chunks },
	{ "more samples than a file may have are an error",
	  more_samples_than_a_file_may_have_are_an_error },
	{ "a full disk is an error", a_full_disk_is_an_error },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo exporters_jfr_suite = {
	.pName = "exporters_jfr",
	.pSetUpFunc = golden_setup,
	.pTearDownFunc = golden_teardown,
	.pTests = tests,
};
