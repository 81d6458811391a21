/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TRIE_BUILD_H
#define JVMSCOPE_TRIE_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "trie/trie.h"

/*
 * Rules to words.
 *
 * Rules are collected in any order and built in one pass over the sorted keys. The same rules give
 * the same words whatever their order, and the words other builders of the format make of them.
 */

/* One rule. Its key, the name without the final asterisk, is units[start..start + len - 1]. */
struct trie_rule {
	uint32_t start;
	uint32_t line; /* where it was written, for messages; 0 unknown */
	uint16_t len;
	uint16_t number; /* with TRIE_GLOB when it also matches longer names */
};

/* A zeroed struct is a valid empty list. */
struct trie_rules {
	uint16_t *units; /* owned; all keys */
	size_t unit_count;
	size_t unit_capacity;
	struct trie_rule *items; /* owned */
	size_t count;
	size_t capacity;
};

/*
 * Adds a rule: a name of len units, with '/' for '.' if liked, and with a final '*' if it is for
 * every name that begins with it.
 *
 * Returns 0, -EINVAL (an empty name, or one that begins with '*'), -ENAMETOOLONG (more than
 * TRIE_NAME_MAX), -ERANGE (number over TRIE_NUMBER), -ENOMEM, -E2BIG (over 2^32 units in all).
 */
int trie_rules_add(struct trie_rules *rules, const uint16_t *name, size_t len, uint32_t number,
		   uint32_t line);

/* Called for each rule whose key was there before with another number. */
typedef void trie_again_fn(const struct trie_rules *rules, const struct trie_rule *earlier,
			   const struct trie_rule *later, void *ctx);

/*
 * Sorts by key and leaves one rule for each: the last number wins, and a glob stays one.
 * again may be NULL. Returns 0 or -ENOMEM, which leaves the rules as they were.
 */
int trie_rules_sort(struct trie_rules *rules, trie_again_fn *again, void *ctx);

void trie_rules_free(struct trie_rules *rules);

/* A trie that owns its words. A zeroed struct may be freed, and is no trie. */
struct trie_words {
	uint16_t *units; /* owned; count units, then two for each long jump */
	uint32_t count;
	uint32_t long_count;
};

static inline struct trie trie_of(const struct trie_words *words)
{
	return (struct trie){ words->units, words->count, words->long_count };
}

/*
 * Builds from rules that trie_rules_sort() has sorted. Without rules, the empty trie.
 *
 * Returns 0, -ENOMEM, -E2BIG (more than TRIE_LONG_MAX long jumps, or 2^31 units), -EOVERFLOW (a
 * node with more than TRIE_BRANCHES_MAX branches). On error *out is untouched.
 */
int trie_build(const struct trie_rules *rules, struct trie_words *out);

void trie_words_free(struct trie_words *words);

#endif
