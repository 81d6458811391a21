/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_constants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 8
#define FIRST_BYTES (64u << 10)

/* Slots of 8 bytes in a cache line. */
#define NEIGHBOURS_LOG2 3
#define NEIGHBOURS	(1u << NEIGHBOURS_LOG2)

struct jfr_constants_slot {
	uint32_t offset; /* in bytes, 0 free */
	uint32_t tag;	 /* low half of the id */
};

int jfr_constants_open(const struct jfr_plans *plans, struct jfr_constants *out)
{
	struct jfr_constants constants = {
		.plans = plans,
		.type_count = plans->schema->count,
		.capacity = FIRST_BYTES,
		.len = 1,
	};

	constants.types = calloc((size_t)constants.type_count + 1, sizeof(*constants.types));
	constants.bytes = malloc(constants.capacity);
	if (!constants.types || !constants.bytes) {
		jfr_constants_free(&constants);
		return -ENOMEM;
	}
	*out = constants;
	return 0;
}

void jfr_constants_free(struct jfr_constants *constants)
{
	for (uint32_t i = 0; constants->types && i < constants->type_count; i++)
		free(constants->types[i].slots);
	free(constants->types);
	free(constants->bytes);
	*constants = (struct jfr_constants){ 0 };
}

static uint64_t hash_of(int64_t id)
{
	uint64_t hash = (uint64_t)id * 0x9e3779b97f4a7c15ull;

	return hash ^ hash >> 29;
}

static struct cursor at_offset(const struct jfr_constants *constants, uint32_t offset)
{
	return cursor_of(constants->bytes + offset, constants->len - offset);
}

/* Ids that follow each other, as most do, have neighbouring slots: one cache line of them. */
static uint32_t first_slot(const struct jfr_constants_of *of, int64_t id)
{
	return (uint32_t)(hash_of(id >> NEIGHBOURS_LOG2) << NEIGHBOURS_LOG2 |
			  ((uint64_t)id & (NEIGHBOURS - 1))) &
	       (of->capacity - 1);
}

/* The slot of id, or the free one where it would go. They are never all used. */
static struct jfr_constants_slot *find(const struct jfr_constants *constants,
				       const struct jfr_constants_of *of, int64_t id)
{
	uint32_t at = first_slot(of, id);

	for (; of->slots[at].offset; at = (at + 1) & (of->capacity - 1)) {
		struct cursor c;

		if (of->slots[at].tag != (uint32_t)id)
			continue;
		c = at_offset(constants, of->slots[at].offset);
		if ((int64_t)jfr_varint(&c) == id)
			break;
	}
	return &of->slots[at];
}

static int grow(const struct jfr_constants *constants, struct jfr_constants_of *of)
{
	struct jfr_constants_of larger = {
		.capacity = of->capacity ? 2 * of->capacity : FIRST_SLOTS,
		.count = of->count,
	};

	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < of->capacity; i++) {
		struct cursor c;

		if (!of->slots[i].offset)
			continue;
		c = at_offset(constants, of->slots[i].offset);
		*find(constants, &larger, (int64_t)jfr_varint(&c)) = of->slots[i];
	}
	free(of->slots);
	*of = larger;
	return 0;
}

static int put(struct jfr_constants *constants, struct jfr_constants_of *of, int64_t id,
	       uint32_t offset)
{
	struct jfr_constants_slot *slot;

	if (of->count + 1 > of->capacity / 4 * 3) {
		int err = grow(constants, of);

		if (err)
			return err;
	}
	slot = find(constants, of, id);
	of->count += !slot->offset;
	slot->offset = offset;
	slot->tag = (uint32_t)id;
	return 0;
}

static int append(struct jfr_constants *constants, const uint8_t *bytes, size_t size)
{
	if (constants->len + size > UINT32_MAX)
		return -E2BIG;
	if (constants->len + size > constants->capacity) {
		size_t capacity = constants->capacity + constants->capacity / 2;
		uint8_t *larger;

		if (capacity < constants->len + size)
			capacity = constants->len + size;
		larger = realloc(constants->bytes, capacity);
		if (!larger)
			return -ENOMEM;
		constants->bytes = larger;
		constants->capacity = capacity;
	}
	memcpy(constants->bytes + constants->len, bytes, size);
	constants->len += size;
	return 0;
}

/* One constant, copied behind the others. */
static int add_one(struct jfr_constants *constants, struct jfr_constants_of *of, uint32_t plan,
		   struct cursor *c)
{
	const uint8_t *start = c->at;
	size_t offset = constants->len;
	int64_t id = (int64_t)jfr_varint(c);
	int err;

	jfr_plan_run(constants->plans, plan, c, NULL);
	if (c->failed)
		return -EBADMSG;
	err = append(constants, start, (size_t)(c->at - start));
	return err ? err : put(constants, of, id, (uint32_t)offset);
}

int jfr_constants_add(struct jfr_constants *constants, uint32_t type, uint64_t count,
		      struct cursor *c)
{
	uint32_t plan = constants->plans->skips[type] - 1;
	int err = 0;

	while (count-- && !err)
		err = add_one(constants, &constants->types[type], plan, c);
	return err;
}

bool jfr_constants_find(const struct jfr_constants *constants, uint32_t type, int64_t id,
			struct cursor *value)
{
	const struct jfr_constants_of *of;
	const struct jfr_constants_slot *slot;

	if (type >= constants->type_count)
		return false;
	of = &constants->types[type];
	if (!of->count)
		return false;
	slot = find(constants, of, id);
	if (!slot->offset)
		return false;
	*value = at_offset(constants, slot->offset);
	jfr_varint(value);
	return true;
}
