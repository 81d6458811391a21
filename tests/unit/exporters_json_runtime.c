/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json.h"
#include "golden/events.h"
#include "golden/exported.h"

static void a_recording_with_events_has_these_bytes(void)
{
	golden_events(rec);
	ASSERT_INT(golden_export(json_write, rec, NULL), 0);
	golden_compare("events.json.expected", exported.bytes, exported.size);
}

static void without_them_there_is_no_section(void)
{
	ASSERT_INT(golden_export(json_write, rec, NULL), 0);
	CU_ASSERT_PTR_NULL(strstr(exported.bytes, "\"thread_events\":"));
	CU_ASSERT_PTR_NULL(strstr(exported.bytes, "\"compilations\":"));
}

static CU_TestInfo tests[] = {
	{ "a recording with events has these bytes", a_recording_with_events_has_these_bytes },
	{ "without them there is no section", without_them_there_is_no_section },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo exporters_json_runtime_suite = {
	.pName = "exporters_json_runtime",
	.pSetUpFunc = golden_setup,
	.pTearDownFunc = golden_teardown,
	.pTests = tests,
};
