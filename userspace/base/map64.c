/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64

/* Finalizer of splitmix64 (public domain, S. Vigna): every bit of key moves every bit out. */
static uint64_t mix(uint64_t key)
{
	key ^= key >> 30;
	key *= 0xbf58476d1ce4e5b9ull;
	key ^= key >> 27;
	key *= 0x94d049bb133111ebull;
	return key ^ key >> 31;
}

/* Keys that share their low bits must not share their slots: always mixed. */
static size_t slot_of(const struct map64 *map, uint64_t key)
{
	return (size_t)mix(key) & (map->capacity - 1);
}

/* The slot of key, or the free one where it would go. The map is never full. */
static struct map64_slot *find(const struct map64 *map, uint64_t key)
{
	size_t at = slot_of(map, key);

	while (map->slots[at].used && map->slots[at].key != key)
		at = (at + 1) & (map->capacity - 1);
	return &map->slots[at];
}

static int grow(struct map64 *map)
{
	struct map64 larger = {
		.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY,
		.count = map->count,
	};

	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->slots[i].used)
			*find(&larger, map->slots[i].key) = map->slots[i];
	}
	free(map->slots);
	*map = larger;
	return 0;
}

int map64_set(struct map64 *map, uint64_t key, uint32_t value)
{
	struct map64_slot *slot;

	if (map->count) {
		slot = find(map, key);
		if (slot->used) {
			slot->value = value;
			return 0;
		}
	}
	/* At most 3/4 full: probing stays short, and there is always a free slot. */
	if (map->count + 1 > map->capacity / 4 * 3) {
		int err = grow(map);

		if (err)
			return err;
	}
	slot = find(map, key);
	*slot = (struct map64_slot){ .key = key, .value = value, .used = true };
	map->count++;
	return 0;
}

bool map64_get(const struct map64 *map, uint64_t key, uint32_t *value)
{
	const struct map64_slot *slot;

	if (!map->count)
		return false;
	slot = find(map, key);
	if (!slot->used)
		return false;
	*value = slot->value;
	return true;
}

void map64_prefetch(const struct map64 *map, uint64_t key)
{
	if (map->count)
		__builtin_prefetch(&map->slots[slot_of(map, key)]);
}

bool map64_remove(struct map64 *map, uint64_t key)
{
	size_t mask = map->capacity - 1;
	struct map64_slot *slot;
	size_t hole, at;

	if (!map->count)
		return false;
	slot = find(map, key);
	if (!slot->used)
		return false;

	/* Move later ones of the same run into the hole, unless that puts them before their slot.
	 */
	hole = (size_t)(slot - map->slots);
	for (at = (hole + 1) & mask; map->slots[at].used; at = (at + 1) & mask) {
		size_t home = slot_of(map, map->slots[at].key);

		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		map->slots[hole] = map->slots[at];
		hole = at;
	}
	map->slots[hole].used = false;
	map->count--;
	return true;
}

const struct map64_slot *map64_next(const struct map64 *map, size_t *at)
{
	while (*at < map->capacity) {
		const struct map64_slot *slot = &map->slots[(*at)++];

		if (slot->used)
			return slot;
	}
	return NULL;
}

uint64_t map64_hash(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = mix(size + 0x9e3779b97f4a7c15ull);
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = mix(hash ^ word) + 0x9e3779b97f4a7c15ull;
	}
	word = 0;
	if (size)
		memcpy(&word, at, size);
	return mix(hash ^ word);
}

void map64_free(struct map64 *map)
{
	free(map->slots);
	*map = (struct map64){ 0 };
}
