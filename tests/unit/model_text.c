/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "model/recording_impl.h"
#include "unit/unit.h"

static struct recording *rec;

static void setup(void)
{
	rec = rec_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(rec);
}

static void teardown(void)
{
	rec_free(rec);
}

static uint32_t string_of(const char *text)
{
	return *text ? rec_string(rec, text, strlen(text)) : 0;
}

static void frames_print_as_flame_graphs_show_them(void)
{
	static const struct {
		const char *class_name, *name, *module;
		uint64_t offset;
		const char *text;
	} cases[] = {
		{ "com.example.Foo", "bar", "", 0, "com.example.Foo.bar" },
		{ "", "os::malloc(unsigned long)", "libjvm.so", 0, "os::malloc(unsigned long)" },
		{ "", "", "libfoo.so", 0x1234, "libfoo.so+0x1234" },
		{ "", "", "", 0x7f0000000000, "[unknown]" },
		{ "", "[frames in heap]", "", 0, "[frames in heap]" },
		{ "a\nb", "\xff", "", 0,
		  "a\xef\xbf\xbd"
		  "b.\xef\xbf\xbd" },
	};
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rec_method method = {
			.class_name = string_of(cases[i].class_name),
			.name = string_of(cases[i].name),
			.module = string_of(cases[i].module),
		};
		struct rec_frame frame = { .offset = cases[i].offset };

		frame.method = rec_method(rec, &method);
		CU_ASSERT(strlen(cases[i].text) < rec_text_size(rec));
		CU_ASSERT_STRING_EQUAL(
			rec_frame_text(rec, rec_frame(rec, &frame), text, sizeof(text)),
			cases[i].text);
	}
	CU_ASSERT_STRING_EQUAL(rec_method_text(rec, 3, text, sizeof(text)), "libfoo.so");
	CU_ASSERT_STRING_EQUAL(rec_frame_text(rec, 0, text, sizeof(text)), "[unknown]");
}

static void a_small_buffer_cuts_the_text(void)
{
	struct rec_method method = { .class_name = string_of("Foo"), .name = string_of("bar") };
	struct rec_frame frame = { .method = rec_method(rec, &method) };
	uint32_t id = rec_frame(rec, &frame);
	char text[8];

	for (size_t size = 0; size <= sizeof(text); size++) {
		const char *full = "Foo.bar";
		size_t len = size ? size - 1 : 0;

		memset(text, 'x', sizeof(text));
		CU_ASSERT_NSTRING_EQUAL(rec_frame_text(rec, id, text, size), full, len);
		CU_ASSERT(!size || strlen(text) == len);
	}
}

static void kinds_and_states_have_names(void)
{
	for (int kind = 0; kind < REC_FRAME_KIND_NR; kind++)
		CU_ASSERT(strlen(rec_kind_name((enum rec_frame_kind)kind)) > 1);
	for (int state = 0; state < REC_STATE_NR; state++)
		CU_ASSERT(strlen(rec_state_name((enum rec_thread_state)state)) > 1);
	for (int metric = 0; metric < REC_METRIC_NR; metric++)
		CU_ASSERT_PTR_NOT_NULL(rec_metric_info((enum rec_metric)metric)->unit);
	CU_ASSERT_STRING_EQUAL(rec_kind_name(REC_FRAME_CPP), "cpp");
	CU_ASSERT_STRING_EQUAL(rec_state_name(REC_STATE_BLOCKED), "blocked");
	CU_ASSERT(rec_kind_is_java(REC_FRAME_NATIVE));
	CU_ASSERT(!rec_kind_is_java(REC_FRAME_STUB));
}

static CU_TestInfo tests[] = {
	{ "frames print as flame graphs show them", frames_print_as_flame_graphs_show_them },
	{ "a small buffer cuts the text", a_small_buffer_cuts_the_text },
	{ "kinds and states have names", kinds_and_states_have_names },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo model_text_suite = {
	.pName = "names as text",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
