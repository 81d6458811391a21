/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TABLE_H
#define JVMSCOPE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/map64.h"

/*
 * Rows of one size with dense ids from 1, found again by the bytes of their key.
 *
 * A row starts with its key, which must have no padding. row_size and key_size are set before
 * the first use, everything else starts zeroed.
 */
struct table {
	size_t row_size;
	size_t key_size;
	uint8_t *rows;	 /* owned; [id - 1] */
	uint32_t *older; /* owned; [id - 1]: the id added before with the same hash, 0 none */
	uint32_t count;
	uint32_t capacity;
	struct map64 by_hash; /* hash of the key to the newest id with that hash */
};

/*
 * Finds the row with the key of row, or adds row when there are fewer than max.
 * Returns 0, -ENOSPC when the table is full, -ENOMEM.
 */
int table_add(struct table *table, const void *row, uint32_t max, uint32_t *id);

/* The id of the row that has the key of this one; 0 when there is none. */
uint32_t table_find(const struct table *table, const void *row);

/* The row, or NULL when there is none. Valid until the next add. */
void *table_get(const struct table *table, uint32_t id);

void table_free(struct table *table);

#endif
