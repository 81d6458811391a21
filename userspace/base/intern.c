/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ENTRIES    (1u << 31)
#define FIRST_BYTES    4096
#define FIRST_CAPACITY 256

static bool equals(const struct intern *table, uint32_t id, const void *bytes, size_t len)
{
	const struct intern_entry *entry = &table->entries[id - 1];

	return entry->len == len && (!len || !memcmp(table->bytes + entry->offset, bytes, len));
}

/* newest is 0 or the head of the chain of ids with the hash of bytes. */
static uint32_t find_in_chain(const struct intern *table, uint32_t newest, const void *bytes,
			      size_t len)
{
	uint32_t id = newest;

	while (id && !equals(table, id, bytes, len))
		id = table->entries[id - 1].next;
	return id;
}

static bool reserve_bytes(struct intern *table, size_t len)
{
	size_t capacity = table->bytes_capacity ? table->bytes_capacity : FIRST_BYTES;
	char *bytes;

	if (len + 1 <= table->bytes_capacity - table->bytes_len)
		return true;
	while (capacity - table->bytes_len < len + 1) {
		if (capacity > SIZE_MAX / 2)
			return false;
		capacity *= 2;
	}
	bytes = realloc(table->bytes, capacity);
	if (!bytes)
		return false;
	table->bytes = bytes;
	table->bytes_capacity = capacity;
	return true;
}

static bool reserve_entry(struct intern *table)
{
	size_t capacity = table->capacity ? (size_t)table->capacity * 2 : FIRST_CAPACITY;
	struct intern_entry *entries;

	if (table->count < table->capacity)
		return true;
	if (capacity > MAX_ENTRIES)
		return false;
	entries = reallocarray(table->entries, capacity, sizeof(*entries));
	if (!entries)
		return false;
	table->entries = entries;
	table->capacity = (uint32_t)capacity;
	return true;
}

uint32_t intern_add(struct intern *table, const void *bytes, size_t len)
{
	uint64_t hash = map64_hash(bytes, len);
	uint32_t newest = 0;
	uint32_t id;

	map64_get(&table->by_hash, hash, &newest);
	id = find_in_chain(table, newest, bytes, len);
	if (id)
		return id;

	if (len > SIZE_MAX / 4 || !reserve_bytes(table, len) || !reserve_entry(table))
		return 0;
	if (map64_set(&table->by_hash, hash, table->count + 1))
		return 0;
	table->entries[table->count++] = (struct intern_entry){
		.offset = table->bytes_len,
		.len = len,
		.next = newest,
	};
	if (len)
		memcpy(table->bytes + table->bytes_len, bytes, len);
	table->bytes[table->bytes_len + len] = 0;
	table->bytes_len += len + 1;
	return table->count;
}

uint32_t intern_find(const struct intern *table, const void *bytes, size_t len)
{
	uint32_t newest = 0;

	map64_get(&table->by_hash, map64_hash(bytes, len), &newest);
	return find_in_chain(table, newest, bytes, len);
}

const char *intern_get(const struct intern *table, uint32_t id, size_t *len)
{
	bool known = id && id <= table->count;

	if (len)
		*len = known ? table->entries[id - 1].len : 0;
	return known ? table->bytes + table->entries[id - 1].offset : "";
}

void intern_free(struct intern *table)
{
	free(table->bytes);
	free(table->entries);
	map64_free(&table->by_hash);
	*table = (struct intern){ 0 };
}
