/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "trie/trie_find.h"
#include "trie/trie_form.h"
#include "trie/trie_index.h"
#include "trie/trie_name.h"
#include "trie/trie_walk.h"

#define NAME_BYTES 64

/* The words as they come: a search stays inside them and ends. */
static void search_raw(const uint8_t *bytes, size_t size)
{
	size_t name_len = size < NAME_BYTES ? size / 2 : NAME_BYTES;
	size_t words = (size - name_len) / 2;
	uint8_t *name = fuzz_copy(bytes, name_len);
	uint16_t *units = (uint16_t *)(void *)fuzz_copy(bytes + name_len, 2 * words);
	uint32_t long_count = (uint32_t)(words / 8);
	struct trie trie = { units, (uint32_t)words - 2 * long_count, long_count };
	struct trie_search search;
	uint32_t steps = 1;

	trie_begin(&search, (uint32_t)name_len, (uint32_t)name_len + 1, 0);
	while (!trie_step(&search, &trie, name, (uint32_t)name_len))
		FUZZ_ASSERT(++steps <= trie_steps_max((uint32_t)name_len + 1));
	FUZZ_ASSERT(search.number >= TRIE_NONE && search.number <= (int)TRIE_NUMBER);
	free(units);
	free(name);
}

struct read {
	struct trie trie;
	struct trie_index index;
	int indexed;
};

static int find_key(const uint16_t *key, size_t len, uint32_t number, void *ctx)
{
	static uint8_t name[3 * TRIE_NAME_MAX];
	const struct read *read = ctx;
	long size = trie_name_from_units(key, len, name, sizeof(name));
	int found = trie_find(&read->trie, name, (size_t)size, 0);

	/* A name has no '/', so a key with one is not found. */
	if (!memchr(name, '/', (size_t)size))
		FUZZ_ASSERT(found == (int)(number & TRIE_NUMBER));
	FUZZ_ASSERT(trie_match(&read->trie, name, (size_t)size, 0).number == found);
	FUZZ_ASSERT(!read->indexed ||
		    trie_index_find(&read->index, name, (size_t)size, 0) == found);
	return 0;
}

static void check_words(const struct trie_words *words, const uint8_t *bytes, size_t size)
{
	struct read read = { .trie = trie_of(words) };
	struct trie_visitor visitor = { .key = find_key, .ctx = &read };
	struct trie_walk_end end;

	read.indexed = trie_index_build(&read.trie, &read.index) == 0;
	FUZZ_ASSERT(trie_walk(&read.trie, &visitor, &end) == 0);
	FUZZ_ASSERT(end.jumps & TRIE_JUMPS_NEW);
	if (read.indexed)
		FUZZ_ASSERT(trie_index_find(&read.index, bytes, size, 0) ==
			    trie_find(&read.trie, bytes, size, 0));
	trie_index_free(&read.index);
}

/* A file in binary form; and its bytes as words. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = fuzz_copy(bytes, size);
	struct trie_words words;

	search_raw(bytes, size);
	if (!trie_from_binary(copy, size, &words, NULL, NULL)) {
		check_words(&words, bytes, size);
		trie_words_free(&words);
	}
	free(copy);
	return 0;
}
