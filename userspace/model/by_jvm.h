/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_BY_JVM_H
#define JVMSCOPE_BY_JVM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Rows of all JVMs, sorted by JVM and otherwise in their order: who writes JVM by JVM looks at each
 * row once, however many there are of both.
 */
struct by_jvm {
	uint32_t *first; /* owned; [JVM id]: the place in order of its first row, and one more */
	uint32_t *order; /* owned; numbers of rows */
};

/*
 * rows are count rows of row_size, each with its JVM id, a uint32_t, at jvm_offset; those of a JVM
 * above jvms are in none. Returns 0, or -ENOMEM, which leaves *out without rows of any JVM.
 */
int by_jvm_sort(const void *rows, size_t count, size_t row_size, size_t jvm_offset, uint32_t jvms,
		struct by_jvm *out);
void by_jvm_free(struct by_jvm *sorted);

#endif
