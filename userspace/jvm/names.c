/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (64u << 10)

struct names_block {
	struct names_block *next;
	size_t size;
	alignas(16) char bytes[];
};

void *names_alloc(struct names *names, size_t size)
{
	struct names_block *block = names->blocks;
	size_t rounded = (size + 15) & ~(size_t)15;
	size_t room = rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES;
	void *at;

	if (rounded < size)
		return NULL;
	if (!block || block->size - names->used < rounded) {
		block = calloc(1, sizeof(*block) + room);
		if (!block)
			return NULL;
		block->next = names->blocks;
		block->size = room;
		names->blocks = block;
		names->used = 0;
		names->total += sizeof(*block) + room;
	}
	at = block->bytes + names->used;
	names->used += rounded;
	return at;
}

static int reserve_string(struct names *names)
{
	uint32_t capacity = names->capacity ? names->capacity * 2 : 256;
	const char **strings;

	if (names->count < names->capacity)
		return 0;
	strings = reallocarray(names->strings, capacity, sizeof(*strings));
	if (!strings)
		return -1;
	names->strings = strings;
	names->capacity = capacity;
	return 0;
}

const char *names_keep(struct names *names, const void *bytes, size_t len)
{
	const char *known;
	uint32_t index;
	uint64_t hash;
	char *copy;

	len = strnlen(bytes, len);
	hash = map64_hash(bytes, len);
	if (map64_get(&names->by_hash, hash, &index)) {
		known = names->strings[index];
		if (!strncmp(known, bytes, len) && !known[len])
			return known;
		/* Another string with this hash: kept a second time, which does no harm. */
	}
	copy = names_alloc(names, len + 1);
	if (!copy || reserve_string(names))
		return NULL;
	memcpy(copy, bytes, len);
	if (map64_set(&names->by_hash, hash, names->count))
		return NULL;
	names->strings[names->count++] = copy;
	return copy;
}

size_t names_memory(const struct names *names)
{
	return names->total + names->capacity * sizeof(*names->strings) +
	       names->by_hash.capacity * sizeof(struct map64_slot);
}

void names_free(struct names *names)
{
	struct names_block *next;

	for (struct names_block *block = names->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	free(names->strings);
	map64_free(&names->by_hash);
	*names = (struct names){ 0 };
}
