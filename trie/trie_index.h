/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TRIE_INDEX_H
#define JVMSCOPE_TRIE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "trie/trie.h"

/*
 * Optional: a table beside a trie that answers in a third to four fifths of the time
 * (bench/trie_bench.c).
 *
 * Where the trie reads a name unit by unit, the index reads up to eight bytes and finds them in one
 * hash table. Each state of a search has a stride: the distance to the nearest end of a rule, so
 * no rule ends inside it, and bytes that are not in the table are the end of the search. Most
 * names of the JDK need three looks. A few tens of KiB for the lists in use.
 *
 * Only the words of the trie are exchanged and stored; an index is made when a program wants one.
 */
struct trie_index {
	struct trie trie; /* borrowed; asked about short names, and where few bytes are left */
	struct trie_index_slot *slots; /* owned: the hashed ones, then the first states */
	size_t slot_count;
	uint32_t hashed;
	uint32_t first[256]; /* by the first byte of a name: its state in slots */
};

/* The state after the bytes in key, which follow the state whose salt is "parent". */
struct trie_index_slot {
	uint64_t key;
	uint64_t compared; /* bits of a name that must equal the key: '.' and '/' differ in one */
	uint64_t mask;	   /* bits of the next bytes that are hashed */
	uint16_t salt;	   /* of this state: makes the hashes of what follows it all different */
	uint16_t parent;
	int16_t number;	 /* result when nothing longer matches */
	uint16_t stride; /* bytes to read next; 0: nothing longer can match */
};

/*
 * Makes the index of a trie, which must stay as it is while the index is used.
 *
 * Returns 0, -ENOMEM, or -E2BIG when there are too many rules or too wide nodes for it: then
 * trie_find() is the way. On error *out is untouched.
 */
int trie_index_build(const struct trie *trie, struct trie_index *out);

/* As trie_find() on the trie, always with the same answer. */
int trie_index_find(const struct trie_index *index, const void *name, size_t len, size_t from);

/* What it takes, in bytes. */
size_t trie_index_size(const struct trie_index *index);

void trie_index_free(struct trie_index *index);

#endif
