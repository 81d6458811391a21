/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <zlib.h>

#include "trie/trie_form.h"
#include "trie/trie_index.h"
#include "trie_help.h"

/*
 * The vectors: rule lists, what the original builder makes of them, and what its search answers.
 * They are not part of this project; JVMSCOPE_TRIE_VECTORS says where they are. Without them the
 * test says so and passes.
 */
#define VECTORS_DEFAULT "../shared/data/trie"

static const char *const sets[] = {
	"ignored_class_name",
	"iast_exclusion",
	"sca_stack_exclusion",
	"proxy_ignored_class_name",
	"introspection_excluded_types",
	"call_site",
	"test_class_names",
	"syn_text",
	"syn_marks",
	"syn_unicode",
	"syn_hibit",
	"syn_deep",
	"syn_wide",
	"syn_big",
	"syn_jumps",
};

static char path[4096];
static struct trie_words words;
static struct trie_index index_of_words;

static void teardown(void)
{
	trie_index_free(&index_of_words);
	trie_words_free(&words);
}

static bool have_vectors(void)
{
	const char *folder = getenv("JVMSCOPE_TRIE_VECTORS");
	DIR *dir = opendir(folder ? folder : VECTORS_DEFAULT);

	if (!dir) {
		printf("trie vectors: %s is not there, skipped\n",
		       folder ? folder : VECTORS_DEFAULT);
		return false;
	}
	closedir(dir);
	return true;
}

/* The bytes of a file, with or without .gz, and a NUL behind them. */
static char *read_vector(const char *kind, const char *name, const char *suffix, size_t *size)
{
	const char *folder = getenv("JVMSCOPE_TRIE_VECTORS");
	size_t capacity = 1 << 16;
	char *bytes = malloc(capacity);
	gzFile file = NULL;
	int got;

	for (int i = 0; i < 2 && !file; i++) {
		snprintf(path, sizeof(path), "%s/%s/%s%s%s", folder ? folder : VECTORS_DEFAULT,
			 kind, name, suffix, i ? ".gz" : "");
		file = gzopen(path, "rb");
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	*size = 0;
	while ((got = gzread(file, bytes + *size, (unsigned int)(capacity - *size - 1))) > 0) {
		*size += (size_t)got;
		if (*size + 1 == capacity)
			bytes = realloc(bytes, capacity *= 2);
	}
	ASSERT_INT(got, 0);
	gzclose(file);
	bytes[*size] = '\0';
	return bytes;
}

static void build_set(const char *name)
{
	size_t size;
	char *text = read_vector("rules", name, ".trie", &size);

	ASSERT_INT(trie_from_text(text, size, &words, NULL, NULL), 0);
	free(text);
}

/* "units N", the units, "longjumps M", the jumps: all hexadecimal. */
static uint16_t *read_hex(const char *name, uint32_t *count, uint32_t *longs, uint32_t *long_count)
{
	size_t size;
	char *text = read_vector("encoded", name, ".hex", &size), *at = text + 6;
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

	for (size_t i = 0; have_vectors() && i < ARRAY_SIZE(sets); i++) {
		build_set(sets[i]);
		units = read_hex(sets[i], &count, longs, &long_count);
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

	for (size_t i = 0; have_vectors() && i < ARRAY_SIZE(sets); i++) {
		build_set(sets[i]);
		bytes = read_vector("encoded", sets[i], ".bin", &size);
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

static void check_index(const char *escaped, size_t from, int expected)
{
	static uint8_t name[3 * 65536];
	long len = trie_name_from_escaped(escaped, strlen(escaped), name, sizeof(name));

	from = trie_name_offset(name, (size_t)len, from);
	ASSERT_INT(trie_index_find(&index_of_words, name, (size_t)len, from), expected);
}

/* Lines of name, number, and start index if there is one. */
static size_t check_lookups(const char *kind, const char *name)
{
	size_t size, lines = 0, from;
	char *text = read_vector(kind, name, ".tsv", &size);
	char *tab, *next;
	int expected;

	for (char *line = text; *line; line = next, lines++) {
		next = strchr(line, '\n');
		CU_ASSERT_PTR_NOT_NULL_FATAL(next);
		*next++ = '\0';
		tab = strchr(line, '\t');
		CU_ASSERT_PTR_NOT_NULL_FATAL(tab);
		*tab++ = '\0';
		expected = (int)strtol(tab, &tab, 10);
		from = *tab ? strtoul(tab, NULL, 10) : 0;
		ASSERT_INT(trie_help_find(&words, line, from), expected);
		if (index_of_words.slots)
			check_index(line, from, expected);
	}
	free(text);
	return lines;
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

	if (!have_vectors())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		build_set(sets[i]);
		make_index();
		lookups += check_lookups("expect", sets[i]);
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

	if (!have_vectors())
		return;
	text = read_vector(".", "builder-rejects", ".tsv", &size);
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
