/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TRIE_HELP_H
#define JVMSCOPE_TRIE_HELP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trie/trie_find.h"
#include "trie/trie_name.h"
#include "trie/trie_rules.h"
#include "unit/unit.h"

/* The tries of a test, freed by its teardown. */

/* Rules in text that have no mistakes. */
static inline void trie_help_build(const char *text, struct trie_words *out)
{
	ASSERT_INT(trie_from_text(text, strlen(text), out, NULL, NULL), 0);
}

/* A search step by step in a buffer of just the bytes that are there, of a name of len bytes. */
static inline int trie_help_steps(const struct trie *trie, const void *name, size_t have,
				  size_t len, size_t from)
{
	uint8_t *copy = malloc(have + 1);
	struct trie_search search;
	uint32_t steps = 1;

	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	memmove(copy + 1, name, have);
	trie_begin(&search, (uint32_t)have, (uint32_t)len, (uint32_t)from);
	while (!trie_step(&search, trie, copy + 1, (uint32_t)have))
		steps++;
	CU_ASSERT(steps <= trie_steps_max((uint32_t)len));
	free(copy);
	return search.number;
}

/* The number of a name in the notation of trie_name_from_escaped(); all searches must agree. */
static inline int trie_help_find(const struct trie_words *words, const char *escaped, size_t from)
{
	static uint8_t name[3 * 65536];
	struct trie trie = trie_of(words);
	long len = trie_name_from_escaped(escaped, strlen(escaped), name, sizeof(name));
	int number;

	CU_ASSERT_FATAL(len >= 0);
	from = trie_name_offset(name, (size_t)len, from);
	number = trie_find(&trie, name, (size_t)len, from);
	ASSERT_INT(trie_match(&trie, name, (size_t)len, from).number, number);
	ASSERT_INT(trie_help_steps(&trie, name, (size_t)len, (size_t)len, from), number);
	return number;
}

#endif
