/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_FUZZ_H
#define JVMSCOPE_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What libFuzzer calls with every input. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A property that must hold for every input. */
#define FUZZ_ASSERT(condition)    \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

/* A copy in memory of just this size, so that a read behind it is seen. */
static inline uint8_t *fuzz_copy(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	FUZZ_ASSERT(copy);
	if (size)
		memcpy(copy, bytes, size);
	return copy;
}

static inline char *fuzz_text(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_ASSERT(text);
	if (size)
		memcpy(text, bytes, size);
	text[size] = '\0';
	return text;
}

#endif
