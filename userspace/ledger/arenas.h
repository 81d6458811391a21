/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_ARENAS_H
#define JVMSCOPE_ARENAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ledger.h"

struct claims;
struct libc;
struct smaps;
struct target;

/*
 * glibc's malloc from outside: where its heaps are, and what of them is in use.
 *
 * Every arena but the first lies in heaps at multiples of 64 MiB. A heap begins with {arena,
 * previous heap, size, bytes that may be accessed}; the arena's own struct malloc_state follows
 * in its first heap. All arenas are on one ring, and the one in libc's own data is the main
 * arena, whose heap is the brk area.
 */

struct arena_heap {
	uint64_t first; /* chunk */
	uint64_t end;
	uint64_t top; /* chunk of the arena: the heap's last one, when it lies in it */
};

/* A zeroed struct is empty. */
struct arenas {
	const struct target *target;
	struct arena_heap *heaps; /* owned */
	size_t count;
	/* the walk over the chunks */
	size_t heap;	 /* the one at hand */
	uint64_t at;	 /* chunk in it; 0: its first */
	uint64_t read;	 /* bytes read so far */
	uint8_t *window; /* owned; bytes of the target from window_start on */
	uint64_t window_start;
	size_t window_bytes;
	/* found by it */
	struct rec_malloc found;
	uint64_t free_resident; /* whole pages in free chunks and tops */
};

/* Finds and claims all heaps. Returns 0 or -ENOMEM. */
int arenas_find(struct arenas *arenas, const struct target *t, const struct smaps *smaps,
		const struct libc *libc, struct claims *claims);

/* Claims the blocks that are mappings of their own: what is left must be claimed before. */
void arenas_claim_blocks(struct arenas *arenas, const struct smaps *smaps, struct claims *claims);

/*
 * Goes over chunks until done, or until CLOCK_MONOTONIC is deadline_ns. Returns whether it is
 * done: found and free_resident are right then.
 */
bool arenas_walk(struct arenas *arenas, uint64_t deadline_ns);

/* Ends the walk where it is: the rest is unread_bytes. */
void arenas_stop(struct arenas *arenas);

void arenas_free(struct arenas *arenas);

#endif
