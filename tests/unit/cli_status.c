/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/status.h"
#include "cli/summary.h"
#include "model/recording.h"
#include "unit/unit.h"

#define SECOND 1000000000ull

static void says_time_samples_and_losses(void)
{
	static const struct {
		uint64_t duration_ns;
		struct live_status live;
		const char *expected;
	} cases[] = {
		{ 0,
		  { .targets = 1, .java = 1 },
		  "12 s, 0 samples, 100.0 % complete, 0 lost, own CPU 0.0 %" },
		{ 30 * SECOND,
		  { .samples = 1234,
		    .complete = 999,
		    .broken = 1,
		    .lost = 2,
		    .targets = 1,
		    .java = 1,
		    .own_cpu_ns = 6 * SECOND / 1000 },
		  "18 s left, 1,234 samples, 99.9 % complete, 2 lost, own CPU 0.3 %" },
		{ 5 * SECOND,
		  { .samples = 1, .truncated = 1, .targets = 3, .java = 1 },
		  "0 s left, 1 samples, 0.0 % complete, 0 lost, own CPU 0.0 %, Java frames in 1 "
		  "of 3" },
		{ 0,
		  { .native_state = "exact", .native_known = true, .native_bytes = -1536 },
		  "12 s, 0 samples, 100.0 % complete, 0 lost, own CPU 0.0 %, native -1.5 KiB "
		  "(exact)" },
		{ 0,
		  { .gc_known = true, .collections = 1, .paused_ns = 1500000 },
		  "12 s, 0 samples, 100.0 % complete, 0 lost, own CPU 0.0 %, 1 GC (1.5 ms)" },
		{ 0,
		  { .gc_known = true,
		    .collections = 1234,
		    .paused_ns = 2 * SECOND,
		    .native_state = "exact",
		    .native_known = true },
		  "12 s, 0 samples, 100.0 % complete, 0 lost, own CPU 0.0 %, 1,234 GCs (2.0 s), "
		  "native +0 B (exact)" },
		{ 0,
		  { .targets = 1, .native_state = "slices", .native_bytes = 7 },
		  "12 s, 0 samples, 100.0 % complete, 0 lost, own CPU 0.0 %, native not known "
		  "(slices), Java frames in 0 of 1" },
	};
	char line[256];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct status status = {
			.start_ns = 100 * SECOND,
			.last_ns = 110 * SECOND,
			.duration_ns = cases[i].duration_ns,
		};

		status_text(&status, &cases[i].live, 112 * SECOND, line, sizeof(line));
		CU_ASSERT_STRING_EQUAL(line, cases[i].expected);
	}
}

/* ---- the summary */

static uint32_t text(struct recording *rec, const char *of)
{
	return rec_string(rec, of, strlen(of));
}

static uint32_t stack_of(struct recording *rec, const char *class_name, const char *name)
{
	struct rec_method method = { text(rec, class_name), text(rec, name), 0, 0, 0, 0 };
	struct rec_frame frame = { .kind = REC_FRAME_C2, .line = -1, .bci = -1 };
	uint32_t id;

	frame.method = rec_method(rec, &method);
	id = rec_frame(rec, &frame);
	return rec_stack(rec, &id, 1, REC_STACK_COMPLETE);
}

static void fill(struct recording *rec)
{
	struct rec_jvm jvm = { .pid = 42,
			       .version = text(rec, "17.0.15"),
			       .gc_name = text(rec, "G1"),
			       .main_class = text(rec, "app.Main") };
	struct rec_key key = { .metric = REC_CPU };
	struct rec_meta *meta = rec_meta(rec);

	key.jvm = rec_jvm(rec, &jvm);
	key.thread = rec_thread(rec, key.jvm, 43);
	rec_thread_get(rec, key.thread)->name = text(rec, "worker");
	rec_thread_get(rec, key.thread)->group = text(rec, "java");
	key.stack = stack_of(rec, "app.Main", "hot");
	rec_add(rec, &key, 750, 7500);
	key.stack = stack_of(rec, "app.Main", "cold");
	rec_add(rec, &key, 250, 2500);
	rec_quality_add(rec, REC_QUALITY_COMPLETE, "", 999);
	rec_quality_add(rec, REC_QUALITY_BROKEN_BY, "no_row", 1);
	rec_quality_add(rec, REC_QUALITY_LOST, "ring_full", 3);
	meta->end_time_ns = 10 * (int64_t)SECOND;
	meta->target_cpu_ns = 5 * SECOND;
	meta->frequency_hz = 99;
	meta->achieved_hz = 98.6;
	meta->own_cpu_ns = SECOND / 100;
	meta->seen = 1003;
	meta->clock = text(rec, "cpu-clock");
}

static void has(const char *all, const char *part)
{
	if (!strstr(all, part))
		fprintf(stderr, "missing \"%s\" in:\n%s", part, all);
	CU_ASSERT_PTR_NOT_NULL(strstr(all, part));
}

static void sums_up_in_ten_lines(void)
{
	struct recording *rec = rec_new();
	struct colors none = { "", "", "", "", "" };
	char *written = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&written, &len);
	int lines = 0;

	fill(rec);
	summary_write(rec, SECOND / 200, &none, out);
	fclose(out);
	has(written, "pid 42 app.Main, JDK 17.0.15, G1\n");
	has(written, "1,000 in 10.0 s");
	has(written, "99 a second of CPU time (99 asked, cpu-clock)");
	has(written, "= 0.50 cores");
	has(written, "99.90 % complete");
	has(written, "broken 1 (no_row 1)");
	has(written, "lost 3 (ring_full 3)");
	has(written, " 75.0 %  app.Main.hot\n");
	has(written, " 25.0 %  app.Main.cold\n");
	has(written, "java 100.0 %; \"worker\" 100.0 %\n");
	has(written, "CPU 0.05 % of a core after 5.0 ms to start");
	for (const char *at = written; *at; at++)
		lines += *at == '\n';
	CU_ASSERT(lines <= 10);
	free(written);
	rec_free(rec);
}

static void sums_up_an_empty_recording(void)
{
	struct recording *rec = rec_new();
	struct colors none = { "", "", "", "", "" };
	char *written = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&written, &len);

	summary_write(rec, SECOND / 200, &none, out);
	fclose(out);
	has(written, "target    none\n");
	has(written, "samples   0 in ");
	CU_ASSERT_PTR_NULL(strstr(written, "complete"));
	free(written);
	rec_free(rec);
}

static CU_TestInfo tests[] = {
	{ "says time, samples and losses", says_time_samples_and_losses },
	{ "sums up in ten lines", sums_up_in_ten_lines },
	{ "sums up an empty recording", sums_up_an_empty_recording },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo cli_status_suite = {
	.pName = "status",
	.pTests = tests,
};
