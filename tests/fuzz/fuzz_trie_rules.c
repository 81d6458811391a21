/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "trie/trie_find.h"
#include "trie/trie_index.h"
#include "trie/trie_name.h"
#include "trie/trie_rules.h"
#include "trie/trie_walk.h"

struct built {
	struct trie trie;
	struct trie_index index;
	int indexed;
};

/* Each key has its number, and a glob has it for longer names. */
static int find_key(const uint16_t *key, size_t len, uint32_t number, void *ctx)
{
	static uint8_t name[3 * TRIE_NAME_MAX + 1];
	const struct built *built = ctx;
	long size = trie_name_from_units(key, len, name, sizeof(name) - 1);
	int expected = (int)(number & TRIE_NUMBER);

	FUZZ_ASSERT(trie_find(&built->trie, name, (size_t)size, 0) == expected);
	FUZZ_ASSERT(trie_match(&built->trie, name, (size_t)size, 0).number == expected);
	FUZZ_ASSERT(!built->indexed ||
		    trie_index_find(&built->index, name, (size_t)size, 0) == expected);
	/* Of a longer name it is the prefix, if no longer rule is. */
	name[size] = 0x01;
	if (number & TRIE_GLOB)
		FUZZ_ASSERT(trie_find(&built->trie, name, (size_t)size + 1, 0) >= 0);
	return 0;
}

static void check_words(const struct trie_words *words)
{
	struct built built = { .trie = trie_of(words) };
	struct trie_visitor visitor = { .key = find_key, .ctx = &built };
	struct trie_walk_end end;

	built.indexed = trie_index_build(&built.trie, &built.index) == 0;
	FUZZ_ASSERT(trie_walk(&built.trie, &visitor, &end) == 0);
	trie_index_free(&built.index);
}

/* Written as text and built again, they are the same words. */
static void check_text(const struct trie_words *words)
{
	struct trie trie = trie_of(words);
	struct trie_words again;
	size_t size, unwritable;
	char *text;
	FILE *to = open_memstream(&text, &size);

	FUZZ_ASSERT(to);
	FUZZ_ASSERT(trie_rules_write(&trie, to, &unwritable) == 0);
	fclose(to);
	FUZZ_ASSERT(unwritable == 0);
	FUZZ_ASSERT(trie_from_text(text, size, &again, NULL, NULL) == 0);
	FUZZ_ASSERT(again.count == words->count && again.long_count == words->long_count);
	FUZZ_ASSERT(!memcmp(again.units, words->units, trie_total(&trie) * sizeof(*again.units)));
	trie_words_free(&again);
	free(text);
}

static void check_message(const struct trie_message *message, void *ctx)
{
	const size_t *size = ctx;

	FUZZ_ASSERT(message->line >= 1 && message->line <= *size + 1);
	FUZZ_ASSERT(message->column >= 1 && message->column <= *size + 1);
	FUZZ_ASSERT(message->text[0]);
}

/* A list of rules. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = (char *)fuzz_copy(bytes, size);
	struct trie_words words;

	if (!trie_from_text(text, size, &words, check_message, &size)) {
		check_words(&words);
		check_text(&words);
		trie_words_free(&words);
	}
	free(text);
	return 0;
}
