/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/exporter.h"

#include "unit/unit.h"

static void exporters_are_found_by_name(void)
{
	CU_ASSERT_STRING_EQUAL_FATAL(exporter_by_name("json")->suffix, ".json");
	CU_ASSERT_STRING_EQUAL_FATAL(exporter_by_name("collapsed")->name, "collapsed");
	CU_ASSERT_PTR_NULL(exporter_by_name("JSON"));
	CU_ASSERT_PTR_NULL(exporter_by_name(""));
}

static void exporters_are_found_by_path(void)
{
	static const struct {
		const char *path, *name;
	} cases[] = {
		{ "a.json", "json" },
		{ "/tmp/a.b/c.json", "json" },
		{ "a.json.collapsed", "collapsed" },
		{ "a.jso", NULL },
		{ "a.json.tmp", NULL },
		{ "a.json/b", NULL },
		{ "json", NULL },
		{ ".json", NULL },
		{ "/tmp/.json", NULL },
		{ "-", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct exporter *found = exporter_by_path(cases[i].path);

		ASSERT_INT(found != NULL, cases[i].name != NULL);
		CU_ASSERT(!found || found == exporter_by_name(cases[i].name));
	}
}

static CU_TestInfo tests[] = {
	{ "exporters are found by name", exporters_are_found_by_name },
	{ "exporters are found by path", exporters_are_found_by_path },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo exporters_exporter_suite = {
	.pName = "exporters",
	.pTests = tests,
};
