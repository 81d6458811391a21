/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_WALK_H
#define JVMSCOPE_JFR_WALK_H

#include <stdbool.h>
#include <string.h>

#include "jfr/jfr_decode.h"
#include "jfr/jfr_write.h"

/* A file of JFR as the strictest reader goes over it: chunks and events must fill it exactly. */

struct walked_event {
	const uint8_t *at; /* its size */
	size_t size;
	uint64_t type;
	const uint8_t *fields;
};

struct walked_chunk {
	const uint8_t *at;
	uint64_t size, checkpoint, metadata, start_ns, duration_ns, start_ticks, hz;
	uint8_t state, flags;
};

struct walker {
	void (*chunk)(void *ctx, const struct walked_chunk *chunk); /* may be NULL */
	void (*event)(void *ctx, const struct walked_event *event); /* may be NULL */
	void *ctx;
};

static bool walk_event(const uint8_t *at, const uint8_t *end, struct walked_event *out)
{
	struct cursor c = cursor_of(at, (size_t)(end - at));

	out->at = at;
	out->size = jfr_varint(&c);
	out->type = jfr_varint(&c);
	out->fields = c.at;
	return !c.failed && out->size > 0 && out->size <= (size_t)(end - at) &&
	       c.at <= at + out->size;
}

static bool walk_chunk(const uint8_t *at, size_t left, struct walked_chunk *out)
{
	if (left < JFR_HEADER_SIZE || memcmp(at, "FLR\0\0\2\0\1", 8) != 0)
		return false;
	*out = (struct walked_chunk){
		at,
		jfr_big_endian(at + 8, 8),
		jfr_big_endian(at + 16, 8),
		jfr_big_endian(at + 24, 8),
		jfr_big_endian(at + 32, 8),
		jfr_big_endian(at + 40, 8),
		jfr_big_endian(at + 48, 8),
		jfr_big_endian(at + 56, 8),
		at[64],
		at[67],
	};
	return out->size >= JFR_HEADER_SIZE && out->size <= left;
}

/* The event at an offset of the chunk has this type. */
static bool walk_has_type(const struct walked_chunk *chunk, uint64_t offset, uint64_t type)
{
	struct walked_event event;

	return offset >= JFR_HEADER_SIZE && offset < chunk->size &&
	       walk_event(chunk->at + offset, chunk->at + chunk->size, &event) &&
	       event.type == type;
}

/* Checkpoints from the last one back to the first; -1 when they do not lead there. */
static int walk_back(const struct walked_chunk *chunk)
{
	uint64_t at = chunk->checkpoint;

	for (int count = 1;; count++) {
		struct walked_event event;
		struct cursor c;
		int64_t distance;

		if (!walk_has_type(chunk, at, 1) ||
		    !walk_event(chunk->at + at, chunk->at + chunk->size, &event))
			return -1;
		c = cursor_of(event.fields, (size_t)(event.at + event.size - event.fields));
		jfr_varint(&c);
		jfr_varint(&c);
		distance = (int64_t)jfr_varint(&c);
		if (c.failed || distance > 0)
			return -1;
		if (!distance)
			return count;
		at += (uint64_t)distance;
	}
}

/* Returns how many chunks there are, -1 when a reader would refuse the file. */
static int walk(const uint8_t *bytes, size_t size, const struct walker *walker)
{
	struct walked_chunk chunk;
	struct walked_event event;
	size_t at = 0;
	int chunks = 0;

	for (; at < size; at += chunk.size, chunks++) {
		if (!walk_chunk(bytes + at, size - at, &chunk) || chunk.state != 0 ||
		    chunk.flags != 1 || !walk_has_type(&chunk, chunk.metadata, 0) ||
		    walk_back(&chunk) < 0)
			return -1;
		if (walker->chunk)
			walker->chunk(walker->ctx, &chunk);
		for (size_t in = JFR_HEADER_SIZE; in < chunk.size; in += event.size) {
			if (!walk_event(chunk.at + in, chunk.at + chunk.size, &event))
				return -1;
			if (walker->event)
				walker->event(walker->ctx, &event);
		}
	}
	return chunks;
}

#endif
