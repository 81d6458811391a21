/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "trie/trie_form.h"
#include "trie/trie_index.h"
#include "trie_data.h"
#include "trie_help.h"

static struct trie_words words;
static struct trie_index index_of_words;

static void teardown(void)
{
	trie_index_free(&index_of_words);
	trie_words_free(&words);
}

static void build_set(const char *name)
{
	size_t size;
	char *text = trie_data_read("rules", name, ".trie", &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	ASSERT_INT(trie_from_text(text, size, &words, NULL, NULL), 0);
	free(text);
}

/* "units N", the units, "longjumps M", the jumps: all hexadecimal. */
static uint16_t *read_hex(const char *name, uint32_t *count, uint32_t *longs, uint32_t *long_count)
{
	size_t size;
	char *text = trie_data_read("encoded", name, ".hex", &size), *at = text + 6;
	uint16_t *units;

	*count = (uint32_t)strtoul(at, &at, 10);
	units = calloc(*count, sizeof(*units));
	for (uint32_t i = 0; i < *count; i++)
		units[i] = (uint16_t)strtoul(at, &at, 16);
	at = strstr(at, "longjumps ");
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	*long_count = (uint32_t)strtoul(at + 10, &at, 10);
	for (uint32_t i = 0; i < *long_count; i++)
		longs[i] = (uint32_t)strtoul(at, &at, 16);
	free(text);
	return units;
}

/* Long jumps have the same distance; their ids are in another order. */
static void check_words(const uint16_t *units, const uint32_t *longs)
{
	const uint16_t *halves = words.units + words.count;
	uint32_t resolved = 0;

	for (uint32_t i = 0; i < words.count; i++) {
		uint32_t id = words.units[i] & 0xfffu;

		if (words.units[i] == units[i] && words.units[i] < TRIE_LONG_JUMP)
			continue;
		if (units[i] >= TRIE_LONG_JUMP && words.units[i] >= TRIE_LONG_JUMP &&
		    id < words.long_count &&
		    longs[units[i] & 0xfffu] ==
			    (halves[2 * id] | (uint32_t)halves[2 * id + 1] << 16)) {
			resolved++;
			continue;
		}
		/* A literal may be as large as the unit of a long jump. */
		ASSERT_INT(words.units[i], units[i]);
	}
	CU_ASSERT(resolved >= words.long_count);
}

static void builds_the_same_words(void)
{
	static uint32_t longs[4096];
	uint32_t count, long_count;
	uint16_t *units;

	for (size_t i = 0; trie_data_present() && i < TRIE_DATA_SETS; i++) {
		build_set(trie_data_sets[i]);
		units = read_hex(trie_data_sets[i], &count, longs, &long_count);
		ASSERT_INT(words.count, count);
		ASSERT_INT(words.long_count, long_count);
		check_words(units, longs);
		free(units);
		teardown();
	}
}

static void reads_and_writes_the_same_files(void)
{
	struct trie_words read;
	size_t size, written;
	char *bytes, *own;
	struct trie trie;
	FILE *to;

	for (size_t i = 0; trie_data_present() && i < TRIE_DATA_SETS; i++) {
		build_set(trie_data_sets[i]);
		bytes = trie_data_read("encoded", trie_data_sets[i], ".bin", &size);
		ASSERT_INT(trie_from_bytes(bytes, size, &read, NULL, NULL), 0);
		ASSERT_INT(read.count, words.count);
		trie = trie_of(&words);
		CU_ASSERT(!memcmp(read.units, words.units, trie_total(&trie) * 2));

		to = open_memstream(&own, &written);
		ASSERT_INT(trie_write_binary(&trie, to), 0);
		fclose(to);
		ASSERT_INT(written, size);
		/* With more than one long jump the ids differ. */
		if (words.long_count <= 1)
			CU_ASSERT(!memcmp(own, bytes, size));
		free(own);
		free(bytes);
		trie_words_free(&read);
		teardown();
	}
}

static size_t check_lookups(const char *kind, const char *name)
{
	struct trie_data_names names = trie_data_names(kind, name);
	struct trie trie = trie_of(&words);
	size_t count = names.count;

	for (size_t i = 0; i < count; i++) {
		const struct trie_data_name *n = &names.items[i];

		ASSERT_INT(trie_find(&trie, n->bytes, n->len, n->from), n->number);
		ASSERT_INT(trie_match(&trie, n->bytes, n->len, n->from).number, n->number);
		ASSERT_INT(trie_help_steps(&trie, n->bytes, n->len, n->len, n->from), n->number);
		if (index_of_words.slots)
			ASSERT_INT(trie_index_find(&index_of_words, n->bytes, n->len, n->from),
				   n->number);
	}
	trie_data_free(&names);
	return count;
}

/* Wide and long sets are too much for it. */
static void make_index(void)
{
	struct trie trie = trie_of(&words);
	int err = trie_index_build(&trie, &index_of_words);

	CU_ASSERT(err == 0 || (err == -E2BIG && words.count > 4000));
}

static void answers_the_same(void)
{
	static const char *const lists[] = { "jdk17.ignored_class_name",
					     "sample_class_names.ignored_class_name" };
	size_t lookups = 0;

	if (!trie_data_present())
		return;
	for (size_t i = 0; i < TRIE_DATA_SETS; i++) {
		build_set(trie_data_sets[i]);
		make_index();
		lookups += check_lookups("expect", trie_data_sets[i]);
		teardown();
	}
	build_set("ignored_class_name");
	make_index();
	CU_ASSERT(trie_index_size(&index_of_words) <= 65536);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		lookups += check_lookups("names", lists[i]);
	CU_ASSERT(lookups > 170000);
}

/* A name in which "REP(x,8190)" stands for so many x. */
static size_t expand(const char *name, uint16_t *units)
{
	size_t count = 0;
	char c;

	if (sscanf(name, "REP(%c,%zu)", &c, &count) == 2) {
		for (size_t i = 0; i < count; i++)
			units[i] = (uint16_t)c;
		name = strchr(name, ')') + 1;
	}
	while (*name)
		units[count++] = (uint8_t)*name++;
	return count;
}

static void refuses_the_same(void)
{
	static uint16_t units[9000];
	size_t size;
	char *text, *next, *tab;

	if (!trie_data_present())
		return;
	text = trie_data_read(".", "builder-rejects", ".tsv", &size);
	for (char *line = text; *line; line = next) {
		struct trie_rules rules = { 0 };
		int err;

		next = strchr(line, '\n') + 1;
		if (*line == '#')
			continue;
		tab = strchr(line, '\t');
		*tab++ = '\0';
		err = trie_rules_add(&rules, units, expand(line, units),
				     (uint32_t)strtol(tab, &tab, 10), 0);
		ASSERT_INT(err != 0, !strncmp(tab, "\treject", 7));
		trie_rules_free(&rules);
	}
	free(text);
}

static CU_TestInfo tests[] = {
	{ "builds the same words", builds_the_same_words },
	{ "reads and writes the same files", reads_and_writes_the_same_files },
	{ "answers the same", answers_the_same },
	{ "refuses the same", refuses_the_same },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo trie_vectors_suite = {
	.pName = "trie_vectors",
	.pTearDownFunc = teardown,
	.pTests = tests,
};
