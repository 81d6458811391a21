/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_INTERN_H
#define JVMSCOPE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/map64.h"

/*
 * Byte strings to dense ids and back. Ids start at 1; 0 is "none".
 *
 * A zeroed struct is a valid empty table.
 */
struct intern {
	char *bytes; /* owned; all strings one after the other, each with a NUL behind it */
	size_t bytes_len;
	size_t bytes_capacity;
	struct intern_entry *entries; /* owned; [id - 1] */
	uint32_t count;
	uint32_t capacity;
	struct map64 by_hash; /* hash of the bytes to the newest id with that hash */
};

struct intern_entry {
	size_t offset; /* into bytes */
	size_t len;
	uint32_t next; /* older id with the same hash, 0 none */
};

/* The id of these bytes, added when new. 0 when memory is out or the table is full (2^31 entries).
 */
uint32_t intern_add(struct intern *table, const void *bytes, size_t len);

/* The id of these bytes, 0 when absent. */
uint32_t intern_find(const struct intern *table, const void *bytes, size_t len);

/* The bytes of an id; "" for 0 and unknown ids. len may be NULL. Valid until the next add. */
const char *intern_get(const struct intern *table, uint32_t id, size_t *len);

void intern_free(struct intern *table);

#endif
