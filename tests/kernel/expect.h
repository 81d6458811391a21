/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TEST_EXPECT_H
#define JVMSCOPE_TEST_EXPECT_H

#include <stdio.h>

/* In a test that returns 1 when it fails. */
#define EXPECT(condition)                                                                         \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			return 1;                                                                 \
		}                                                                                 \
	} while (0)

#endif
