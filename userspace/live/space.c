/* SPDX-License-Identifier: Apache-2.0 */
#include "live/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int space_init(struct space *space, uint32_t size)
{
	*space = (struct space){ .size = size, .capacity = 16 };
	space->free = calloc(space->capacity, sizeof(*space->free));
	if (!space->free)
		return -ENOMEM;
	space->free[0] = (struct extent){ .first = 0, .count = size };
	space->count = 1;
	return 0;
}

static void remove_at(struct space *space, size_t at)
{
	space->count--;
	memmove(&space->free[at], &space->free[at + 1], (space->count - at) * sizeof(*space->free));
}

int space_take(struct space *space, uint32_t count, struct extent *out)
{
	if (count == 0) {
		*out = (struct extent){ 0 };
		return 0;
	}
	for (size_t i = 0; i < space->count; i++) {
		struct extent *extent = &space->free[i];

		if (extent->count < count)
			continue;
		*out = (struct extent){ .first = extent->first, .count = count };
		extent->first += count;
		extent->count -= count;
		if (extent->count == 0)
			remove_at(space, i);
		return 0;
	}
	return -ENOSPC;
}

static bool grow(struct space *space)
{
	size_t capacity = space->capacity ? space->capacity * 2 : 16;
	struct extent *extents;

	if (space->count < space->capacity)
		return true;
	extents = reallocarray(space->free, capacity, sizeof(*extents));
	if (!extents)
		return false;
	space->free = extents;
	space->capacity = capacity;
	return true;
}

void space_give(struct space *space, struct extent extent)
{
	size_t at = 0;

	if (extent.count == 0)
		return;
	while (at < space->count && space->free[at].first < extent.first)
		at++;
	if (at > 0 && space->free[at - 1].first + space->free[at - 1].count == extent.first) {
		space->free[at - 1].count += extent.count;
		if (at < space->count && extent.first + extent.count == space->free[at].first) {
			space->free[at - 1].count += space->free[at].count;
			remove_at(space, at);
		}
		return;
	}
	if (at < space->count && extent.first + extent.count == space->free[at].first) {
		space->free[at].first = extent.first;
		space->free[at].count += extent.count;
		return;
	}
	if (!grow(space))
		return;
	memmove(&space->free[at + 1], &space->free[at], (space->count - at) * sizeof(*space->free));
	space->free[at] = extent;
	space->count++;
}

void space_free(struct space *space)
{
	free(space->free);
	*space = (struct space){ 0 };
}
