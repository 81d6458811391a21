/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_SPACE_H
#define JVMSCOPE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run of entries of a fixed table. count 0: none. */
struct extent {
	uint32_t first;
	uint32_t count;
};

/*
 * Which entries of a BPF array are free: extents, sorted, first fit. The arrays hold unwind rows
 * and mappings of all targets, which come and go; a few dozen extents are the most seen.
 */
struct space {
	struct extent *free; /* owned; sorted, none adjacent */
	size_t count;
	size_t capacity;
	uint32_t size;
};

/* Everything from 0 to size - 1 is free. Returns 0 or -ENOMEM. */
int space_init(struct space *space, uint32_t size);

/* Takes count entries in a row; count 0 gives the empty extent. Returns 0 or -ENOSPC. */
int space_take(struct space *space, uint32_t count, struct extent *out);

/* Gives an extent back. When memory is out the extent is lost, which is safe. */
void space_give(struct space *space, struct extent extent);

void space_free(struct space *space);

#endif
