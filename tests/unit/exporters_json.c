/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json.h"

#include <errno.h>
#include <math.h>
#include <yajl/yajl_tree.h>

#include "exporters/json_stream.h"
#include "golden/exported.h"

static int write_json(const struct recording *from)
{
	return golden_export(json_write, from, NULL);
}

static void a_full_recording_has_these_bytes(void)
{
	golden_filter(rec, FILTER_MARK);
	ASSERT_INT(write_json(rec), 0);
	golden_compare("full.json.expected", exported.bytes, exported.size);
}

static void what_was_folded_and_dropped_is_gone(void)
{
	golden_filter(rec, FILTER_DROP);
	ASSERT_INT(write_json(rec), 0);
	golden_compare("drop.json.expected", exported.bytes, exported.size);
}

static void an_empty_recording_has_all_keys(void)
{
	struct recording *empty = rec_new();

	ASSERT_INT(write_json(empty), 0);
	golden_compare("empty.json.expected", exported.bytes, exported.size);
	rec_free(empty);
}

static const char *string_at(yajl_val root, long long index)
{
	static const char *const path[] = { "strings", NULL };
	yajl_val strings = yajl_tree_get(root, (const char **)(uintptr_t)path, yajl_t_array);

	CU_ASSERT_PTR_NOT_NULL_FATAL(strings);
	CU_ASSERT_FATAL(index >= 0 && (size_t)index < strings->u.array.len);
	return YAJL_GET_STRING(strings->u.array.values[index]);
}

/* Reads it back with another parser: every frame's text is what the recording says. */
static void frames_refer_to_the_right_strings(void)
{
	static const char *const path[] = { "frames", NULL };
	yajl_val root, frames;
	char text[256];

	ASSERT_INT(write_json(rec), 0);
	root = yajl_tree_parse(exported.bytes, NULL, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(root);
	frames = yajl_tree_get(root, (const char **)(uintptr_t)path, yajl_t_array);
	CU_ASSERT_PTR_NOT_NULL_FATAL(frames);
	ASSERT_INT(frames->u.array.len, rec_frame_count(rec));
	for (uint32_t id = 1; id <= rec_frame_count(rec); id++) {
		yajl_val row = frames->u.array.values[id - 1];
		const struct rec_frame *frame = rec_frame_get(rec, id);

		CU_ASSERT_STRING_EQUAL(YAJL_GET_STRING(row->u.array.values[0]),
				       rec_kind_name(frame->kind));
		if (!rec_method_get(rec, frame->method)->name) {
			CU_ASSERT(YAJL_IS_NULL(row->u.array.values[1]));
			continue;
		}
		rec_method_text(rec, frame->method, text, sizeof(text));
		CU_ASSERT_STRING_EQUAL(string_at(root, YAJL_GET_INTEGER(row->u.array.values[1])),
				       text);
	}
	yajl_tree_free(root);
}

static void a_full_disk_is_noticed(void)
{
	struct export_options options = { 0 };
	FILE *out = fopen("/dev/full", "we");

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	ASSERT_INT(json_write(rec, &options, out), -ENOSPC);
	fclose(out);

	out = fopen("/dev/full", "we");
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	setvbuf(out, NULL, _IONBF, 0);
	ASSERT_INT(json_write(rec, &options, out), -ENOSPC);
	fclose(out);
}

static void numbers_of_any_size_are_exact(void)
{
	struct json_stream json;
	FILE *out = open_memstream(&exported.bytes, &exported.size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	ASSERT_INT(json_stream_open(&json, out), 0);
	json_array(&json);
	json_unsigned(&json, UINT64_MAX);
	json_signed(&json, INT64_MIN);
	json_decimal(&json, 1e300);
	json_decimal(&json, NAN);
	json_decimal(&json, 0.1);
	json_text_or_null(&json, "");
	json_array_end(&json);
	ASSERT_INT(json_stream_close(&json), 0);
	fclose(out);
	CU_ASSERT_NSTRING_EQUAL(exported.bytes, "[18446744073709551615,-9223372036854775808,1000",
				47);
	CU_ASSERT_STRING_EQUAL(exported.bytes + exported.size - 18, ",null,0.100,null]\n");
}

static void a_misplaced_value_is_an_error(void)
{
	struct json_stream json;
	FILE *out = open_memstream(&exported.bytes, &exported.size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	ASSERT_INT(json_stream_open(&json, out), 0);
	json_map(&json);
	json_signed(&json, 1);
	ASSERT_INT(json_stream_close(&json), -EINVAL);
	fclose(out);
}

static CU_TestInfo tests[] = {
	{ "a full recording has these bytes", a_full_recording_has_these_bytes },
	{ "what was folded and dropped is gone", what_was_folded_and_dropped_is_gone },
	{ "an empty recording has all keys", an_empty_recording_has_all_keys },
	{ "frames refer to the right strings", frames_refer_to_the_right_strings },
	{ "a full disk is noticed", a_full_disk_is_noticed },
	{ "numbers of any size are exact", numbers_of_any_size_are_exact },
	{ "a misplaced value is an error", a_misplaced_value_is_an_error },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo exporters_json_suite = {
	.pName = "json",
	.pSetUpFunc = golden_setup,
	.pTearDownFunc = golden_teardown,
	.pTests = tests,
};
