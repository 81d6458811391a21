/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_NAMES_H
#define JVMSCOPE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/map64.h"

/*
 * Memory that only grows and never moves, and strings in it, each kept once. Unlike an intern
 * table its pointers stay valid when more is added: they are handed to callers of jvm_describe.
 *
 * A zeroed struct is valid and empty.
 */
struct names {
	struct names_block *blocks; /* owned; newest first */
	size_t used;		    /* bytes of the newest */
	size_t total;		    /* bytes of all */
	struct map64 by_hash;	    /* hash to index into strings */
	const char **strings;	    /* owned */
	uint32_t count;
	uint32_t capacity;
};

/* Zeroed bytes, aligned for anything. NULL when memory is out. */
void *names_alloc(struct names *names, size_t size);

/*
 * These bytes up to the first NUL, with a NUL behind them; the same pointer for the same bytes.
 * NULL when memory is out.
 */
const char *names_keep(struct names *names, const void *bytes, size_t len);

/* Bytes of memory held. */
size_t names_memory(const struct names *names);

/* Leaves it empty. */
void names_free(struct names *names);

#endif
