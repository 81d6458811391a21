/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TRIE_FIND_H
#define JVMSCOPE_TRIE_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trie/trie.h"

/*
 * The number of the longest rule that matches a name of len bytes in the JVM's modified UTF-8
 * (see trie.h), or TRIE_NONE. 0 is a number: compare with >= 0 or > 0.
 *
 * "from" is the byte to begin at: to match from a '$' on. At or behind the end nothing matches.
 *
 * The trie must be one that was built, or that trie_walk() has passed: its units are not checked.
 */
int trie_find(const struct trie *trie, const void *name, size_t len, size_t from);

/* The same with what matched: the rule is the first "matched" bytes of the name, '/' as '.'. */
struct trie_match {
	int number;
	uint32_t matched; /* bytes from "from" on */
	bool glob;
};

/* As trie_find(), and safe with any units; half as fast. For what is asked once a class. */
struct trie_match trie_match(const struct trie *trie, const void *name, size_t len, size_t from);

#endif
