/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <time.h>

#include "exporters/jfr.h"
#include "exporters/json.h"
#include "exporters/nmt.h"
#include "import/import_impl.h"
#include "jfr/jfr_fill.h"
#include "unit/rec_lines.h"
#include "unit/rec_random.h"

/* It has a recording of its own. */
#include "golden/exported.h"

/* Native memory, budgets and ledgers from one format to the other and back. */

static struct recording *read_json(const char *json, size_t size)
{
	struct recording *read = rec_new();
	char why[256] = "";

	rec_samples_keep(read, true);
	ASSERT_INT(import_json(json, size, read, why, sizeof(why)), 0);
	return read;
}

static struct recording *through_json(const struct recording *from)
{
	ASSERT_INT(golden_export(json_write, from, NULL), 0);
	return read_json(exported.bytes, exported.size);
}

static struct recording *through_jfr(const struct recording *from)
{
	const struct jfr_fill_options options = { .name = "memory", .keep_samples = true };
	struct recording *read = rec_new();
	struct jfr_result result;
	struct jfr_input in;

	ASSERT_INT(golden_export(jfr_export, from, NULL), 0);
	jfr_input_memory(exported.bytes, exported.size, &in);
	ASSERT_INT(jfr_fill(&in, &options, read, &result), 0);
	jfr_input_close(&in);
	ASSERT_INT(result.bytes_lost + result.events_damaged, 0);
	return read;
}

static void json_and_jfr_say_the_same(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct recording *written = random_recording(seed, false);
		struct recording *json = through_json(written), *jfr = through_jfr(json);
		struct recording *again = through_json(jfr);

		CU_ASSERT_FATAL(rec_lines_equal(written, json));
		CU_ASSERT_FATAL(rec_lines_equal(json, jfr));
		CU_ASSERT_FATAL(rec_lines_equal(jfr, again));
		rec_free(written);
		rec_free(json);
		rec_free(jfr);
		rec_free(again);
	}
}

static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	char *bytes = malloc(1 << 20);

	CU_ASSERT_FATAL(file && bytes);
	*size = fread(bytes, 1, (1 << 20) - 1, file);
	bytes[*size] = 0;
	fclose(file);
	return bytes;
}

/* From there to the end: what is before it has names and rules that are not read as such. */
static void a_file_is_written_as_it_was(void)
{
	static const struct {
		const char *path, *section;
	} files[] = {
		{ "tests/golden/native.json.expected", "\"native\":{" },
		{ "tests/golden/ledger.json.expected", "\"native\":{" },
		{ "tests/golden/gc.json.expected", "\"gc\":{" },
		{ "tests/golden/events.json.expected", "\"thread_events\":[" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		size_t size;
		char *json = read_file(files[i].path, &size), *expected, *got, *end;
		struct recording *read = read_json(json, size);

		ASSERT_INT(golden_export(json_write, read, NULL), 0);
		expected = strstr(json, files[i].section);
		got = strstr(exported.bytes, files[i].section);
		CU_ASSERT_FATAL(expected && got);
		end = strstr(expected, "}\n");
		CU_ASSERT_PTR_NOT_NULL_FATAL(end);
		*end = 0;
		if (strncmp(got, expected, strlen(expected)) != 0)
			fprintf(stderr, "%s: expected %s\ngot %s", files[i].path, expected, got);
		ASSERT_INT(strncmp(got, expected, strlen(expected)), 0);
		rec_free(read);
		free(json);
	}
}

static void the_text_of_calls_is_that_of_the_recording(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct recording *written = random_recording(seed, false), *read;
		char *expected;

		ASSERT_INT(golden_export(nmt_write, written, NULL), 0);
		expected = strdup(exported.bytes);
		read = through_json(written);
		ASSERT_INT(golden_export(nmt_write, read, NULL), 0);
		ASSERT_INT(strlen(expected), exported.size);
		rec_free(read);
		read = through_jfr(written);
		ASSERT_INT(golden_export(nmt_write, read, NULL), 0);
		ASSERT_INT(strlen(expected), exported.size);
		rec_free(read);
		rec_free(written);
		free(expected);
	}
}

/* Whatever is read can be written, in all formats and without an overflow. */
static void write_all(const char *json)
{
	struct recording *read = read_json(json, strlen(json));

	for (const struct exporter *format = exporters; format->name; format++)
		for (int metric = 0; metric < REC_METRIC_NR; metric++) {
			const struct export_options options = { .metric = (enum rec_metric)metric,
								.threads = metric % 2 };
			int err = golden_export(format->write, read, &options);

			/* More samples than a file of events can have. */
			CU_ASSERT(!err || (err == -EFBIG && format->needs_samples));
		}
	rec_free(read);
}

#define FILE_WITH(sections) \
	"{\"schema\":\"jvmscope/1\",\"profiles\":[],\"jvms\":[{\"pid\":1}]," sections "}"
#define MOST  "9223372036854775807"
#define LEAST "-9223372036854775808"

static void numbers_without_sense_do_no_harm(void)
{
	static const char *const files[] = {
		FILE_WITH("\"native\":5,\"budget\":[]"),
		FILE_WITH("\"native\":{\"sites\":{},\"calls\":[1,null,[]],\"suspects\":[{}],"
			  "\"counts\":[{\"jvm\":0,\"a\":\"b\"},{\"b\":1}],\"ledger\":[[]],"
			  "\"ledger_readings\":[{\"jvm\":null}],\"nmt\":[7]}"),
		FILE_WITH(
			"\"native\":{\"sites\":[{\"jvm\":0,\"use\":\"malloc\",\"stack\":null,"
			"\"alloc_bytes\":" LEAST ",\"alloc_count\":" MOST ",\"freed_bytes\":" MOST
			",\"untracked_bytes\":" MOST "},{\"jvm\":0,\"use\":\"malloc\","
			"\"alloc_bytes\":" MOST ",\"error_bytes\":1e999},"
			"{\"jvm\":0,\"use\":\"none\"}],\"calls\":[{\"jvm\":0,\"use\":\"commit\","
			"\"alloc_count\":1,\"alloc_bytes\":" MOST
			",\"calls\":[[99999999999999999999,"
			"5,-1],[1]]},{\"jvm\":0,\"use\":\"malloc\",\"alloc_count\":" MOST
			",\"alloc_bytes\":" MOST ",\"calls\":[[2,null,0]]}]},"
			"\"budget\":{\"jvms\":[{\"jvm\":0,\"group\":\"native\",\"state\":\"exact\","
			"\"attached_time_ns\":1,\"live_known\":true,\"cost_pct\":null,"
			"\"cpu_ns\":-5}],\"events\":[{\"jvm\":0,\"group\":\"native\","
			"\"from\":\"exact\",\"to\":\"exact\",\"reason\":\"retry\","
			"\"time_ns\":" LEAST "}]}"),
		FILE_WITH(
			"\"native\":{\"ledger_readings\":[{\"jvm\":0,\"at\":\"start\",\"time_ns\":" MOST
			",\"rss_bytes\":" MOST ",\"native_live_bytes\":" LEAST
			",\"malloc\":{\"in_use_bytes\":" MOST "}},{\"jvm\":0,\"at\":\"end\","
			"\"time_ns\":" LEAST ",\"native_live_blocks\":" MOST "}],"
			"\"ledger\":[{\"jvm\":0,\"line\":\"malloc\",\"bytes\":" LEAST
			",\"reserved_bytes\":" MOST "}]},\"budget\":{\"jvms\":[{\"jvm\":0,"
			"\"group\":\"native\",\"state\":\"exact\",\"live_known\":true}]}"),
		FILE_WITH("\"gc\":{\"collections\":[7,{\"id\":" MOST ",\"start_time_ns\":" LEAST
			  ",\"duration_ns\":" MOST ",\"sizes\":{\"before\":{\"heap\":{},"
			  "\"metaspace\":5},\"after\":{\"heap\":{\"start_address\":" MOST
			  ",\"committed_bytes\":" MOST ",\"reserved_bytes\":" MOST "}}}}],"
			  "\"phases\":[null,{\"collection\":1,\"level\":" MOST
			  "},{\"start_time_ns\":" MOST ",\"duration_ns\":" MOST "}],\"safepoints\":"
			  "{\"events\":[[],{\"start_time_ns\":" MOST ",\"duration_ns\":1,"
			  "\"resume_ns\":" MOST "}]},\"vm_operations\":{},\"counts\":[{\"jvm\":0,"
			  "\"gc_hits\":null}]}"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		write_all(files[i]);
}

static void times_and_counts_without_sense_do_no_harm(void)
{
	/* Start, end, and twice the count of two rows of one line. */
	static const char *const numbers[][3] = {
		{ LEAST, MOST, "1" }, { MOST, LEAST, MOST }, { "-1", MOST, LEAST },
		{ MOST, "1", "2" },   { "1", "-5", "3" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		const char *start = numbers[i][0], *end = numbers[i][1], *count = numbers[i][2];
		char *json;
		int len = asprintf(
			&json,
			"{\"schema\":\"jvmscope/1\",\"jvms\":[{\"pid\":1}],\"meta\":{"
			"\"start_time_ns\":%s,\"end_time_ns\":%s},\"strings\":[\"A.b\"],"
			"\"frames\":[[\"c1\",0,1,0],[\"c2\",0,1,0]],\"stacks\":[[0],[1]],"
			"\"threads\":[{\"jvm\":0,\"tid\":1},{\"jvm\":0,\"tid\":2}],\"profiles\":["
			"{\"jvm\":0,\"metric\":\"cpu\",\"samples\":[[0,0,null,%s,%s],"
			"[0,1,null,%s,1],[1,0,null,%s,1]]}],\"budget\":{\"jvms\":[{\"jvm\":0,"
			"\"group\":\"native\",\"state\":\"exact\",\"attached_time_ns\":%s}],"
			"\"events\":[{\"jvm\":0,\"group\":\"native\",\"from\":\"exact\","
			"\"to\":\"exact\",\"reason\":\"retry\",\"time_ns\":%s}]}}",
			start, end, count, count, count, count, start, end);

		CU_ASSERT_FATAL(len > 0);
		write_all(json);
		free(json);
	}
}

/* About as many rows as a file may have, each with a tag of its own. */
static struct recording *many_rows(void)
{
	struct recording *many = rec_new();
	struct rec_native_chain chain = { 0 };
	char name[32];

	for (uint32_t jvm = 1; jvm <= 8000; jvm++) {
		const struct rec_jvm one = { .pid = (pid_t)jvm };
		struct rec_native_budget *budget;

		rec_jvm(many, &one);
		budget = rec_budget(many, REC_PROBES_NATIVE, jvm);
		CU_ASSERT_PTR_NOT_NULL_FATAL(budget);
		budget->attached_ns = 1;
		budget->live_known = true;
	}
	for (uint32_t i = 0; i < 60000; i++) {
		struct rec_native_site site = { .jvm = 1 + i % 8000,
						.allocated_blocks = 1,
						.allocated_bytes = 999 };
		int len = snprintf(name, sizeof(name), "tag %u", i);

		site.tag = rec_string(many, name, (size_t)len);
		rec_native_site(many, &site);
		chain.calls[0].address = i + 1;
		rec_native_calls_add(many, &chain, &site);
		rec_native_count_set(many, 1, name, i);
	}
	return many;
}

/* Looking for them one by one takes minutes. */
static void rows_are_found_at_once(void)
{
	clock_t before = clock();
	struct recording *many = many_rows();

	ASSERT_INT(golden_export(json_write, many, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(exported.bytes, "\"tag\":\"tag 59999\""));
	ASSERT_INT(golden_export(nmt_write, many, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(exported.bytes, "type=tag 59999 "));
	CU_ASSERT((clock() - before) / CLOCKS_PER_SEC < 15);
	rec_free(many);
}

/* They come from a process or a file, and are read on terminals. */
static void names_are_clean(void)
{
	static const char json[] = FILE_WITH(
		"\"budget\":{\"jvms\":[{\"jvm\":0,\"group\":\"native\",\"state\":"
		"\"exact\",\"attached_time_ns\":1,\"live_known\":true}]},"
		"\"native\":{\"calls\":[{\"jvm\":0,\"use\":\"malloc\",\"tag\":\"T\\u001b[2J\","
		"\"alloc_count\":1,\"alloc_bytes\":4096,\"calls\":[[5,\"f\\u001b\\n[0x1]\",0]]},"
		"{\"jvm\":0,\"use\":\"commit\",\"tag\":\"T\\u001b[2J\",\"alloc_count\":1,"
		"\"alloc_bytes\":4096,\"calls\":[[6,null,0]]}]}");
	struct recording *read = read_json(json, sizeof(json) - 1);

	ASSERT_INT(golden_export(nmt_write, read, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(exported.bytes, "type=T"));
	CU_ASSERT_PTR_NOT_NULL(strstr(exported.bytes, "Type=T"));
	CU_ASSERT_PTR_NOT_NULL(strstr(exported.bytes, "0000000000000005] f"));
	CU_ASSERT_PTR_NULL(strchr(exported.bytes, 033));
	CU_ASSERT_PTR_NULL(strstr(exported.bytes, "\n[0x1]"));
	rec_free(read);
}

static void a_place_outside_of_its_table_is_refused(void)
{
	static const char *const files[] = {
		FILE_WITH("\"native\":{\"sites\":[{\"jvm\":1,\"use\":\"malloc\"}]}"),
		FILE_WITH("\"native\":{\"sites\":[{\"jvm\":0,\"use\":\"malloc\",\"stack\":0}]}"),
		FILE_WITH("\"native\":{\"suspects\":[{\"jvm\":0,\"kind\":\"leak\",\"stack\":-1}]}"),
		FILE_WITH("\"native\":{\"ledger_readings\":[{\"jvm\":9}]}"),
		FILE_WITH("\"budget\":{\"events\":[{\"jvm\":-1}]}"),
		FILE_WITH("\"gc\":{\"collections\":[{\"jvm\":0,\"thread\":0}]}"),
		FILE_WITH("\"gc\":{\"collections\":[{\"jvm\":0}],\"phases\":[{\"collection\":1}]}"),
	};
	char why[256];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct recording *read = rec_new();

		ASSERT_INT(import_json(files[i], strlen(files[i]), read, why, sizeof(why)),
			   -EBADMSG);
		rec_free(read);
	}
}

static CU_TestInfo tests[] = {
	{ "JSON and JFR say the same", json_and_jfr_say_the_same },
	{ "a file is written as it was", a_file_is_written_as_it_was },
	{ "the text of calls is that of the recording",
	  the_text_of_calls_is_that_of_the_recording },
	{ "numbers without sense do no harm", numbers_without_sense_do_no_harm },
	{ "times and counts without sense do no harm", times_and_counts_without_sense_do_no_harm },
	{ "rows are found at once", rows_are_found_at_once },
	{ "names are clean in the text of calls", names_are_clean },
	{ "a place outside of its table is refused", a_place_outside_of_its_table_is_refused },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo import_native_suite = {
	.pName = "import_native",
	.pSetUpFunc = golden_setup,
	.pTearDownFunc = golden_teardown,
	.pTests = tests,
};
