/* SPDX-License-Identifier: Apache-2.0 */
#include "model/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64

void *table_get(const struct table *table, uint32_t id)
{
	return id && id <= table->count ? table->rows + (id - 1) * table->row_size : NULL;
}

static int reserve_one(struct table *table)
{
	size_t capacity = table->capacity ? (size_t)table->capacity * 2 : FIRST_CAPACITY;
	uint32_t *older;
	uint8_t *rows;

	if (table->count < table->capacity)
		return 0;
	if (capacity > UINT32_MAX)
		return -ENOMEM;
	rows = reallocarray(table->rows, capacity, table->row_size);
	if (!rows)
		return -ENOMEM;
	table->rows = rows;
	older = reallocarray(table->older, capacity, sizeof(*older));
	if (!older)
		return -ENOMEM;
	table->older = older;
	table->capacity = (uint32_t)capacity;
	return 0;
}

/* Among those with the same hash, from the newest one on. */
static uint32_t find(const struct table *table, const void *row, uint32_t newest)
{
	uint32_t at = newest;

	while (at && memcmp(table_get(table, at), row, table->key_size) != 0)
		at = table->older[at - 1];
	return at;
}

uint32_t table_find(const struct table *table, const void *row)
{
	uint32_t newest;

	if (!map64_get(&table->by_hash, map64_hash(row, table->key_size), &newest))
		return 0;
	return find(table, row, newest);
}

int table_add(struct table *table, const void *row, uint32_t max, uint32_t *id)
{
	uint64_t hash = map64_hash(row, table->key_size);
	uint32_t newest = 0, found;
	int err;

	map64_get(&table->by_hash, hash, &newest);
	found = find(table, row, newest);
	if (found) {
		*id = found;
		return 0;
	}

	if (table->count >= max)
		return -ENOSPC;
	err = reserve_one(table);
	if (err)
		return err;
	err = map64_set(&table->by_hash, hash, table->count + 1);
	if (err)
		return err;
	memcpy(table->rows + table->count * table->row_size, row, table->row_size);
	table->older[table->count++] = newest;
	*id = table->count;
	return 0;
}

void table_free(struct table *table)
{
	free(table->rows);
	free(table->older);
	map64_free(&table->by_hash);
	*table = (struct table){ .row_size = table->row_size, .key_size = table->key_size };
}
