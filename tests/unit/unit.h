/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_UNIT_H
#define JVMSCOPE_UNIT_H

#include <CUnit/CUnit.h>
#include <stdio.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* CUnit reports only the text of an expression; this also prints both values. */
#define ASSERT_INT(actual, expected)                                                              \
	do {                                                                                      \
		long long a_ = (long long)(actual), e_ = (long long)(expected);                   \
                                                                                                  \
		if (a_ != e_)                                                                     \
			fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, \
				#actual, a_, e_);                                                 \
		CU_ASSERT_FATAL(a_ == e_);                                                        \
	} while (0)

/*
 * Each file tests/unit/DIR_NAME.c defines "const CU_SuiteInfo DIR_NAME_suite"; the Makefile lists
 * the files, so nothing else has to name them.
 */

#endif
