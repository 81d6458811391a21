/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TRIE_RIVALS_H
#define JVMSCOPE_TRIE_RIVALS_H

#include <stddef.h>
#include <stdint.h>

#include "trie/trie.h"

/*
 * Other ways to find the longest rule for a name, to be measured beside ours. Each is built from
 * the keys of a trie and gives the same answers for ASCII names; keys must be ASCII.
 */
struct rival {
	const char *label;

	/* Returns what find takes, or NULL when memory is out. */
	void *(*build)(const struct trie *trie);
	int (*find)(const void *built, const uint8_t *name, size_t len);
	size_t (*size)(const void *built);
	void (*free)(void *built);
};

/* Those that the others are compared with. */
#define TRIE_RIVAL_PLAIN  "the words, a plain search in C"
#define TRIE_RIVAL_SORTED "sorted keys, binary search"

/* The last has no label. */
extern const struct rival trie_rivals[];

#endif
