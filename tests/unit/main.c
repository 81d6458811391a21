/* SPDX-License-Identifier: Apache-2.0 */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "unit/unit.h"

/* suites.inc is made by the Makefile: one SUITE(name) for each file NAME.c of this folder. */
#define SUITE(name) extern const CU_SuiteInfo name##_suite;
#include "suites.inc"
#undef SUITE

int main(void)
{
	CU_SuiteInfo suites[] = {
#define SUITE(name) name##_suite,
#include "suites.inc"
#undef SUITE
		CU_SUITE_INFO_NULL,
	};
	unsigned int failures;

	if (CU_initialize_registry() || CU_register_suites(suites))
		return EXIT_FAILURE;

	CU_basic_set_mode(CU_BRM_NORMAL);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
