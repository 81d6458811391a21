/* SPDX-License-Identifier: Apache-2.0 */
#include "live/keys.h"

#include <bpf/bpf.h>
#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

static bool is_of(const struct keys *keys, const char *key, uint32_t target)
{
	uint32_t index;

	memcpy(&index, key + keys->target_at, sizeof(index));
	return index == target;
}

void keys_each(const struct keys *keys, uint32_t target, keys_fn *do_key, void *ctx)
{
	/* Who is given one reads it as the map's own type. */
	alignas(uint64_t) char key[KEYS_SIZE_MAX], next[KEYS_SIZE_MAX];
	const void *before = NULL;

	for (uint32_t n = 0; n <= keys->limit; n++) {
		int err = bpf_map_get_next_key(keys->map_fd, before, next);

		/* Not before the key behind it is known. */
		if (before && is_of(keys, key, target))
			do_key(key, ctx);
		if (err)
			return;
		memcpy(key, next, keys->size);
		before = key;
	}
}

static void drop(const void *key, void *ctx)
{
	const struct keys *keys = ctx;

	bpf_map_delete_elem(keys->map_fd, key);
}

void keys_drop(const struct keys *keys, uint32_t target)
{
	struct keys copy = *keys;

	keys_each(keys, target, drop, &copy);
}
