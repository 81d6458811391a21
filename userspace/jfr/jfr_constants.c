/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_constants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES (64u << 10)

/* Slots of ids that follow each other. */
#define NEIGHBOURS_LOG2 3
#define NEIGHBOURS	(1u << NEIGHBOURS_LOG2)

/*
 * A type with many constants has many parts, which grow one at a time: what is moved, and so is
 * there twice, is little then. Large parts grow by less, for the same reason.
 */
#define PARTS_LOG2  6
#define PARTS	    (1u << PARTS_LOG2)
#define FIRST_SLOTS NEIGHBOURS
#define SPLIT_SLOTS 4096
#define LARGE_SLOTS 16384

struct jfr_constants_part {
	uint32_t *offsets; /* owned; [slot], and the tags behind them */
	uint8_t *tags;	   /* [slot], 0 free */
	uint32_t capacity; /* a multiple of NEIGHBOURS */
	uint32_t count;
};

int jfr_constants_open(const struct jfr_plans *plans, struct jfr_constants *out)
{
	struct jfr_constants constants = {
		.plans = plans,
		.type_count = plans->schema->count,
		.capacity = FIRST_BYTES,
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

void jfr_constants_free_type(struct jfr_constants_of *of)
{
	for (uint32_t i = 0; of->parts && i < of->part_count; i++)
		free(of->parts[i].offsets);
	free(of->parts);
	*of = (struct jfr_constants_of){ 0 };
}

void jfr_constants_free(struct jfr_constants *constants)
{
	for (uint32_t i = 0; constants->types && i < constants->type_count; i++)
		jfr_constants_free_type(&constants->types[i]);
	free(constants->types);
	free(constants->bytes);
	*constants = (struct jfr_constants){ 0 };
}

/* Of ids that follow each other, most have the same one: their slots are neighbours. */
static uint64_t hash_of(int64_t id)
{
	uint64_t hash = (uint64_t)(id >> NEIGHBOURS_LOG2) * 0x9e3779b97f4a7c15ull;

	return hash ^ hash >> 29;
}

static uint8_t tag_of(int64_t id)
{
	uint8_t tag = (uint8_t)(hash_of(id) >> 16 ^ (uint64_t)id);

	return tag ? tag : NEIGHBOURS;
}

static struct jfr_constants_part *part_of(const struct jfr_constants_of *of, int64_t id)
{
	return &of->parts[hash_of(id) >> (64 - PARTS_LOG2) & (of->part_count - 1)];
}

static struct cursor at_offset(const struct jfr_constants *constants, uint32_t offset)
{
	return cursor_of(constants->bytes + offset, constants->len - offset);
}

static int64_t id_at(const struct jfr_constants *constants, uint32_t offset)
{
	struct cursor c = at_offset(constants, offset);

	return (int64_t)jfr_varint(&c);
}

static uint32_t first_slot(const struct jfr_constants_part *part, int64_t id)
{
	uint64_t bits = (uint32_t)(hash_of(id) >> (64 - PARTS_LOG2 - 32));
	uint64_t group = bits * (part->capacity / NEIGHBOURS) >> 32;

	return (uint32_t)(group * NEIGHBOURS + ((uint64_t)id & (NEIGHBOURS - 1)));
}

/* The slot of id, or the free one where it would go. They are never all used. */
static uint32_t find(const struct jfr_constants *constants, const struct jfr_constants_part *part,
		     int64_t id)
{
	uint32_t at = first_slot(part, id);
	uint8_t tag = tag_of(id);

	while (part->tags[at]) {
		if (part->tags[at] == tag && id_at(constants, part->offsets[at]) == id)
			break;
		at = at + 1 < part->capacity ? at + 1 : 0;
	}
	return at;
}

static int open_part(struct jfr_constants_part *part, uint32_t capacity)
{
	uint32_t *offsets = reallocarray(NULL, capacity, sizeof(*offsets) + sizeof(*part->tags));

	*part = (struct jfr_constants_part){ 0 };
	if (!offsets)
		return -ENOMEM;
	part->offsets = offsets;
	part->tags = memset(offsets + capacity, 0, capacity);
	part->capacity = capacity;
	return 0;
}

static bool is_full(const struct jfr_constants_part *part)
{
	return part->count >= part->capacity / 4 * 3;
}

static int grow(const struct jfr_constants *constants, struct jfr_constants_part *part);

/* Into the part where the id belongs. A file may have chosen its ids so that all are in one. */
static int put_into(const struct jfr_constants *constants, const struct jfr_constants_of *of,
		    int64_t id, uint32_t offset)
{
	struct jfr_constants_part *part = part_of(of, id);
	int err = is_full(part) ? grow(constants, part) : 0;
	uint32_t at;

	if (err)
		return err;
	at = find(constants, part, id);
	part->count += !part->tags[at];
	part->tags[at] = tag_of(id);
	part->offsets[at] = offset;
	return 0;
}

/* Each constant of a part to where its id belongs now. */
static int move(const struct jfr_constants *constants, const struct jfr_constants_part *from,
		const struct jfr_constants_of *to)
{
	int err = 0;

	for (uint32_t i = 0; i < from->capacity && !err; i++)
		if (from->tags[i])
			err = put_into(constants, to, id_at(constants, from->offsets[i]),
				       from->offsets[i]);
	return err;
}

/* The part again, with room for more. */
static int grow(const struct jfr_constants *constants, struct jfr_constants_part *part)
{
	uint32_t more = part->capacity < LARGE_SLOTS ? part->capacity : part->capacity / 4;
	struct jfr_constants_part larger;
	struct jfr_constants_of to = { .parts = &larger, .part_count = 1 };
	int err = open_part(&larger, part->capacity + (more & ~(NEIGHBOURS - 1)));

	if (err)
		return err;
	err = move(constants, part, &to);
	free(err ? larger.offsets : part->offsets);
	if (!err)
		*part = larger;
	return err;
}

/* Other parts, with what is in those there are. */
static int split(const struct jfr_constants *constants, struct jfr_constants_of *of, uint32_t count,
		 uint32_t capacity)
{
	struct jfr_constants_of parts = { .parts = calloc(count, sizeof(*parts.parts)) };
	int err = parts.parts ? 0 : -ENOMEM;

	while (!err && parts.part_count < count)
		err = open_part(&parts.parts[parts.part_count++], capacity);
	for (uint32_t i = 0; i < of->part_count && !err; i++)
		err = move(constants, &of->parts[i], &parts);
	jfr_constants_free_type(err ? &parts : of);
	if (!err)
		*of = parts;
	return err;
}

static int put(const struct jfr_constants *constants, struct jfr_constants_of *of, int64_t id,
	       uint32_t offset)
{
	int err = 0;

	if (!of->parts)
		err = split(constants, of, 1, FIRST_SLOTS);
	else if (of->part_count == 1 && of->parts->capacity >= SPLIT_SLOTS && is_full(of->parts))
		err = split(constants, of, PARTS, SPLIT_SLOTS / PARTS * 4);
	return err ? err : put_into(constants, of, id, offset);
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
	const struct jfr_constants_part *part;
	uint32_t at;

	if (type >= constants->type_count || !constants->types[type].parts)
		return false;
	part = part_of(&constants->types[type], id);
	at = find(constants, part, id);
	if (!part->tags[at])
		return false;
	*value = at_offset(constants, part->offsets[at]);
	jfr_varint(value);
	return true;
}
