/* SPDX-License-Identifier: Apache-2.0 */
#include "model/by_jvm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t jvm_at(const void *rows, size_t offset)
{
	uint32_t jvm;

	memcpy(&jvm, (const uint8_t *)rows + offset, sizeof(jvm));
	return jvm;
}

int by_jvm_sort(const void *rows, size_t count, size_t row_size, size_t jvm_offset, uint32_t jvms,
		struct by_jvm *out)
{
	struct by_jvm sorted = {
		.first = calloc((size_t)jvms + 3, sizeof(*sorted.first)),
		.order = calloc(count + 1, sizeof(*sorted.order)),
	};

	*out = (struct by_jvm){ 0 };
	if (!sorted.first || !sorted.order) {
		by_jvm_free(&sorted);
		return -ENOMEM;
	}
	/* The place of a JVM is two further on until its rows have theirs. */
	for (size_t i = 0; i < count; i++) {
		uint32_t jvm = jvm_at(rows, i * row_size + jvm_offset);

		if (jvm <= jvms)
			sorted.first[jvm + 2]++;
	}
	for (size_t i = 2; i < (size_t)jvms + 3; i++)
		sorted.first[i] += sorted.first[i - 1];
	for (size_t i = 0; i < count; i++) {
		uint32_t jvm = jvm_at(rows, i * row_size + jvm_offset);

		if (jvm <= jvms)
			sorted.order[sorted.first[jvm + 1]++] = (uint32_t)i;
	}
	*out = sorted;
	return 0;
}

void by_jvm_free(struct by_jvm *sorted)
{
	free(sorted->first);
	free(sorted->order);
	*sorted = (struct by_jvm){ 0 };
}
