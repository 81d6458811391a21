/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TRIE_WALK_H
#define JVMSCOPE_TRIE_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "trie/trie_build.h"

/*
 * Every key of a trie in order, and the proof that it is one.
 *
 * A walk reads the units from first to last and needs no jumps, so it can check each of them. A
 * trie that passes cannot send a search out of its words. It is linear in the size of what is
 * given, and every loop ends whatever the words are.
 */
struct trie_visitor {
	/* A key, its number and TRIE_GLOB. May be NULL. What is not 0 ends the walk. */
	int (*key)(const uint16_t *key, size_t len, uint32_t number, void *ctx);

	/* The jump at units[place] is to be "distance". May be NULL. As key. */
	int (*jump)(uint32_t place, uint32_t distance, void *ctx);
	void *ctx;
};

/*
 * Two encodings of jumps exist, and the words do not say which they use. They differ only in
 * jumps of 0x8000 and more, that is for tries of more than 32,768 units.
 */
enum trie_jumps {
	TRIE_JUMPS_NEW = 1, /* long from TRIE_LONG_JUMP on: what is written, and what is searched */
	TRIE_JUMPS_OLD = 2, /* long from 0x8000 on: made by dd-trace-java until 2026 */
};

struct trie_walk_end {
	unsigned int jumps;  /* the encodings that all jumps fit to, as bits */
	uint32_t place;	     /* of what is wrong */
	const char *problem; /* NULL when nothing is */
	size_t keys;
};

/*
 * Returns 0, -EINVAL when it is no trie (*end says where and why), -ENOMEM, or what a visitor
 * returned. *end is always written. A trie of which only TRIE_JUMPS_OLD is set cannot be searched.
 */
int trie_walk(const struct trie *trie, const struct trie_visitor *visitor,
	      struct trie_walk_end *end);

/*
 * Takes words of either encoding from a foreign place: checks them, and writes their jumps in the
 * new one. long_jumps may be NULL when long_count is 0.
 *
 * Returns 0, -EINVAL (*end says why), -ENOMEM, -E2BIG (too many long jumps for the new encoding).
 */
int trie_adopt(const uint16_t *units, uint32_t count, const uint32_t *long_jumps,
	       uint32_t long_count, struct trie_words *out, struct trie_walk_end *end);

#endif
