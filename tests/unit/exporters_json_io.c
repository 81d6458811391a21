/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json.h"
#include "golden/exported.h"
#include "model/io.h"

static void a_slow_call_says_whose_it_was(void)
{
	const struct rec_io socket = { .jvm = 1,
				       .thread = 1,
				       .metric = REC_SOCKET_READ,
				       .time_ns = 5,
				       .duration_ns = 30000000,
				       .bytes = 7,
				       .timeout_ns = 1000000,
				       .address = rec_string(rec, "10.0.0.1", 8),
				       .port = 80,
				       .end = true };
	const struct rec_io file = { .jvm = 1, .metric = REC_FILE_WRITE, .bytes = 9 };
	const struct rec_io force = { .jvm = 1, .metric = REC_FILE_FORCE, .metadata = true };

	rec_io(rec, &socket);
	rec_io(rec, &file);
	rec_io(rec, &force);
	ASSERT_INT(golden_export(json_write, rec, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(exported.bytes,
		       "{\"jvm\":0,\"operation\":\"socket_read\",\"thread\":0,\"stack\":null,"
		       "\"start_time_ns\":5,\"duration_ns\":30000000,\"bytes\":7,"
		       "\"address\":\"10.0.0.1\",\"port\":80,\"timeout_ns\":1000000,"
		       "\"end\":true}"));
	CU_ASSERT_PTR_NOT_NULL(strstr(exported.bytes,
				      "\"operation\":\"file_write\",\"thread\":null,"
				      "\"stack\":null,\"start_time_ns\":0,\"duration_ns\":0,"
				      "\"bytes\":9,\"path\":null}"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(exported.bytes, "\"bytes\":0,\"path\":null,\"metadata\":true}"));
}

static void without_them_there_is_no_section(void)
{
	ASSERT_INT(golden_export(json_write, rec, NULL), 0);
	CU_ASSERT_PTR_NULL(strstr(exported.bytes, "\"io\":"));
}

static CU_TestInfo tests[] = {
	{ "a slow call says whose it was", a_slow_call_says_whose_it_was },
	{ "without them there is no section", without_them_there_is_no_section },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo exporters_json_io_suite = {
	.pName = "exporters_json_io",
	.pSetUpFunc = golden_setup,
	.pTearDownFunc = golden_teardown,
	.pTests = tests,
};
