/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/collapsed.h"
#include "import/import_impl.h"
#include "unit/unit.h"

static uint64_t bad_lines;

static struct recording *read_text(const char *text, int expected)
{
	struct recording *rec = rec_new();
	struct jfr_input in;

	bad_lines = 0;
	jfr_input_memory(text, strlen(text), &in);
	ASSERT_INT(import_collapsed(&in, rec, &bad_lines), expected);
	jfr_input_close(&in);
	return rec;
}

static void frames_are_taken_for_what_they_look_like(void)
{
	static const struct {
		const char *text, *class_name, *name, *raw_class, *module;
		enum rec_frame_kind kind;
		int line;
	} rows[] = {
		{ "com.example.Foo.bar", "com.example.Foo", "bar", "", "", REC_FRAME_C2, -1 },
		{ "Foo.<init>_[0]", "Foo", "<init>", "", "", REC_FRAME_INTERPRETED, -1 },
		{ "Foo.bar:12_[1]", "Foo", "bar", "", "", REC_FRAME_C1, 12 },
		{ "a.B.c_[i]", "a.B", "c", "", "", REC_FRAME_INLINED, -1 },
		{ "java/util/Map.get", "java.util.Map", "get", "", "", REC_FRAME_C2, -1 },
		{ "a/B$$Lambda+0x00007f01.run", "a.B$$Lambda", "run", "a.B$$Lambda/0x00007f01", "",
		  REC_FRAME_C2, -1 },
		{ "do_syscall_64_[k]", "", "do_syscall_64", "", "[kernel]", REC_FRAME_KERNEL, -1 },
		{ "ext4.read_[k]", "", "ext4.read", "", "[kernel]", REC_FRAME_KERNEL, -1 },
		{ "os::malloc", "", "os::malloc", "", "", REC_FRAME_CPP, -1 },
		{ "std::map<a.b>::find", "", "std::map<a.b>::find", "", "", REC_FRAME_CPP, -1 },
		{ "libc.so.6+0x12", "", "libc.so.6+0x12", "", "", REC_FRAME_CPP, -1 },
		{ "libjvm.so", "", "libjvm.so", "", "", REC_FRAME_CPP, -1 },
		{ "main:7", "", "main:7", "", "", REC_FRAME_CPP, -1 },
		{ "[unknown]", "", "[unknown]", "", "", REC_FRAME_CPP, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char line[128];
		struct recording *rec;
		const struct rec_frame *frame;
		const struct rec_method *method;

		snprintf(line, sizeof(line), "%s 1\n", rows[i].text);
		rec = read_text(line, 0);
		frame = rec_frame_get(rec, 1);
		method = rec_method_get(rec, frame->method);
		CU_ASSERT_STRING_EQUAL(rec_text(rec, method->class_name), rows[i].class_name);
		CU_ASSERT_STRING_EQUAL(rec_text(rec, method->name), rows[i].name);
		CU_ASSERT_STRING_EQUAL(rec_text(rec, method->raw_class), rows[i].raw_class);
		CU_ASSERT_STRING_EQUAL(rec_text(rec, method->module), rows[i].module);
		ASSERT_INT(frame->kind, rows[i].kind);
		ASSERT_INT(frame->line, rows[i].line);
		rec_free(rec);
	}
}

static void lines_come_out_as_they_were(void)
{
	static const char text[] = "(truncated) 7\n"
				   "[frames in heap];a.B.c 2\n"
				   "a b;libx.so+0x12;os::f(int, char) 3\n"
				   "a.B.c;java.lang.Object.wait;clone3 1\n";
	const struct export_options options = { 0 };
	struct recording *rec = read_text(text, 0);
	char *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	ASSERT_INT(collapsed_write(rec, &options, out), 0);
	fclose(out);
	CU_ASSERT_STRING_EQUAL(bytes, text);
	free(bytes);
	rec_free(rec);
}

static void bad_lines_are_counted_and_left_out(void)
{
	struct recording *rec = read_text(
		"# remark\n\na;b 2\r\nno count\na;b 1x\n 5\nc 99999999999999999999\na;b 3", 0);
	size_t count;

	ASSERT_INT(bad_lines, 4);
	ASSERT_INT(rec_totals(rec, &count)[0].count, 5);
	ASSERT_INT(count, 1);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_COMPLETE), 5);
	rec_free(rec);
}

static void other_text_is_refused(void)
{
	static const char *const bad[] = { "\n\n", "hello\nworld 3\n", "{}", "a;b;c" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		rec_free(read_text(bad[i], -EBADMSG));
}

static CU_TestInfo tests[] = {
	{ "frames are taken for what they look like", frames_are_taken_for_what_they_look_like },
	{ "lines come out as they were", lines_come_out_as_they_were },
	{ "bad lines are counted and left out", bad_lines_are_counted_and_left_out },
	{ "other text is refused", other_text_is_refused },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo import_collapsed_suite = {
	.pName = "import_collapsed",
	.pTests = tests,
};
