/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json.h"
#include "golden/exported.h"
#include "model/classes.h"

#define STARTED_NS 1699999999000000000 /* the first JVM of the golden recording */

static uint32_t text(const char *s)
{
	return golden_string(rec, s);
}

static void add_loaders(void)
{
	const struct rec_loader app = { .jvm = 1,
					.generation = 3,
					.address = 0xffffffff12345678,
					.type = text(
						"jdk.internal.loader.ClassLoaders$AppClassLoader"),
					.name = text("'app'"),
					.loaded = 2,
					.unloaded = 1,
					.end_time_ns = STARTED_NS + 9 };
	const struct rec_loader boot = { .jvm = 1, .address = 8 };

	ASSERT_INT(rec_loader(rec, &app), 1);
	ASSERT_INT(rec_loader(rec, &boot), 2);
}

/* One method with another one's name, and one that is new. */
static uint32_t add_change(void)
{
	const struct rec_class_method methods[] = {
		{ .name = text("run"),
		  .signature = text("()V"),
		  .before = { 10, 2, 1, 0 },
		  .after = { 30, 4, 3, 5 },
		  .calls_added = 3,
		  .calls_at_entry = 1,
		  .calls_at_exit = 2,
		  .frames_changed = true },
		{ .name = text("added"), .signature = text("(I)I"), .after = { 1, 2, 3, 0 } },
	};
	const struct rec_class_change change = { .before = { 100, 52, 20, 2, 6, false },
						 .after = { 200, 61, 40, 3, 8, true },
						 .methodrefs_added = 2,
						 .method_count = 2 };

	return rec_class_change(rec, &change, methods);
}

/* Not in the order in which they were loaded. */
static void add_classes(void)
{
	const struct rec_class rows[] = {
		{ .jvm = 1,
		  .name = text("com.example.Late"),
		  .site = 1,
		  .loader = 1,
		  .source = text("file:/app.jar"),
		  .stack = 1,
		  .thread = 1,
		  .flags = REC_CLASS_PARSED | REC_CLASS_HOOKED | REC_CLASS_TRANSFORMED,
		  .bytes = 100,
		  .bytes_after = 200,
		  .change = add_change(),
		  .time_ns = STARTED_NS + 7,
		  .end_time_ns = STARTED_NS + 8,
		  .duration_ns = 6,
		  .read_ns = 21, /* no boot loader's: not told */
		  .parse_ns = 5,
		  .nested_ns = 4,
		  .transform_ns = 3,
		  .verify_ns = 12,
		  .rewrite_ns = 13,
		  .link_ns = 30,
		  .initialize_ns = 2,
		  .initialize_self_ns = 1 },
		{ .jvm = 1,
		  .name = text("java.lang.Object"),
		  .loader = 2,
		  .flags = REC_CLASS_ARCHIVED,
		  .time_ns = STARTED_NS + 5 },
		{ .jvm = 2,
		  .name = text("odd\"$$Lambda/0x1"),
		  .flags = REC_CLASS_HIDDEN | REC_CLASS_NAME_CUT | REC_CLASS_HOOKED,
		  .time_ns = STARTED_NS + 6 },
		{ .jvm = 1,
		  .name = text("java.lang.Object"),
		  .loader = 2,
		  .flags = REC_CLASS_PARSED | REC_CLASS_REDEFINED,
		  .bytes = 8,
		  .bytes_after = 9,
		  .time_ns = STARTED_NS + 9,
		  .read_ns = 20 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ASSERT_INT(rec_class(rec, &rows[i]), i + 1);
}

static void add_around(void)
{
	const struct rec_class_site site = { .jvm = 1,
					     .pattern = text("gen.p#.C#"),
					     .loader_type = text("Maker"),
					     .stack = 2,
					     .loaded = 30,
					     .unloaded = 10,
					     .bytes = 3000 };
	const struct rec_class_rule rule = { .jvm = 1,
					     .text = text("java.*"),
					     .number = 1,
					     .loaded = 400,
					     .unloaded = 4,
					     .bytes = 40000,
					     .parse_ns = 44,
					     .transform_ns = 43,
					     .link_ns = 45,
					     .initialize_ns = 42 };
	const struct rec_class_agent agents[] = {
		{ .jvm = 1,
		  .java = true,
		  .name = text("a.jar"),
		  .options = text("x"),
		  .argument = text("-javaagent:a.jar=x"),
		  .time_ns = 5,
		  .premain_ns = 77 },
		{ .jvm = 2,
		  .dynamic = true,
		  .name = text("n"),
		  .path = text("/n.so"),
		  .time_ns = 6,
		  .initialize_ns = 78 },
	};
	const struct rec_class_early early = { .jvm = 1,
					       .name = text("apm.Agent"),
					       .stack = 1,
					       .time_ns = STARTED_NS + 3,
					       .initialize_ns = 33 };
	struct rec_class_start *start = rec_class_start(rec, 1);

	rec_class_site(rec, &site);
	rec_class_rule_set(rec, &rule);
	rec_class_agent(rec, &agents[0]);
	rec_class_agent(rec, &agents[1]);
	rec_class_early(rec, &early);
	CU_ASSERT_PTR_NOT_NULL_FATAL(start);
	start->initialized_ns = STARTED_NS + 1000;
	start->main_ns = STARTED_NS + 5000;
	rec_class_count_set(rec, 1, "loaded", 403);
	rec_class_count_set(rec, 2, "loaded", 1);
	rec_class_count_set(rec, 1, "unloaded", 5);
	rec_class_count_set(rec, 1, "ignored", 400);
}

static void a_recording_with_classes_has_these_bytes(void)
{
	add_loaders();
	add_classes();
	add_around();
	golden_filter(rec, FILTER_MARK);
	ASSERT_INT(golden_export(json_write, rec, NULL), 0);
	golden_compare("classes.json.expected", exported.bytes, exported.size);
}

static CU_TestInfo tests[] = {
	{ "a recording with classes has these bytes", a_recording_with_classes_has_these_bytes },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo exporters_json_classes_suite = {
	.pName = "exporters_json_classes",
	.pSetUpFunc = golden_setup,
	.pTearDownFunc = golden_teardown,
	.pTests = tests,
};
