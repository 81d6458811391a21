/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LIVE_KEYS_H
#define JVMSCOPE_LIVE_KEYS_H

#include <stdint.h>

/*
 * The keys that a target has in a hash map of the kernel, which goes on adding some meanwhile.
 * Each key has the target's index in it.
 */
struct keys {
	int map_fd; /* borrowed */
	uint32_t size;
	uint32_t target_at; /* the offset of the index, a u32 */
	uint32_t limit;	    /* keys that the map holds at most */
};
#define KEYS_SIZE_MAX 16

/* key is of the map's own type; it may be deleted. */
typedef void keys_fn(const void *key, void *ctx);

void keys_each(const struct keys *keys, uint32_t target, keys_fn *do_key, void *ctx);

/* Deletes all of them. */
void keys_drop(const struct keys *keys, uint32_t target);

#endif
