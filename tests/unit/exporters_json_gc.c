/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json.h"
#include "golden/exported.h"
#include "golden/gc.h"

static void a_recording_with_collections_has_these_bytes(void)
{
	golden_gc(rec);
	ASSERT_INT(golden_export(json_write, rec, NULL), 0);
	golden_compare("gc.json.expected", exported.bytes, exported.size);
}

static void without_them_there_is_no_section(void)
{
	ASSERT_INT(golden_export(json_write, rec, NULL), 0);
	CU_ASSERT_PTR_NULL(strstr(exported.bytes, "\"gc\":"));
}

static CU_TestInfo tests[] = {
	{ "a recording with collections has these bytes",
	  a_recording_with_collections_has_these_bytes },
	{ "without them there is no section", without_them_there_is_no_section },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo exporters_json_gc_suite = {
	.pName = "exporters_json_gc",
	.pSetUpFunc = golden_setup,
	.pTearDownFunc = golden_teardown,
	.pTests = tests,
};
