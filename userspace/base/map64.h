/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_MAP64_H
#define JVMSCOPE_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * u64 to u32, open addressing with linear probing: the only hash table of the program.
 *
 * Every key is allowed, also 0. Value 0 is allowed. A zeroed struct is a valid empty map.
 */
struct map64 {
	struct map64_slot *slots; /* owned; a power of two of them */
	size_t capacity;
	size_t count;
};

struct map64_slot {
	uint64_t key;
	uint32_t value;
	bool used;
};

/* Adds or replaces. Returns 0 or -ENOMEM, which leaves the map as it was. */
int map64_set(struct map64 *map, uint64_t key, uint32_t value);

/* Whether key is there; *value is written only then. */
bool map64_get(const struct map64 *map, uint64_t key, uint32_t *value);

/* Asks for the memory that map64_get(key) looks at first: for many keys that are looked up soon. */
void map64_prefetch(const struct map64 *map, uint64_t key);

/* Removes key. Whether it was there. */
bool map64_remove(struct map64 *map, uint64_t key);

/* The n-th used slot at or after *at, which starts at 0 and is moved on; NULL at the end. */
const struct map64_slot *map64_next(const struct map64 *map, size_t *at);

/* 64-bit hash of bytes: stable over runs and machines. */
uint64_t map64_hash(const void *bytes, size_t size);

void map64_free(struct map64 *map);

#endif
