/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TRIE_DATA_H
#define JVMSCOPE_TRIE_DATA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "trie/trie_name.h"

/*
 * The vectors: rule lists, what the original builder makes of them, and what its search answers.
 * They are not part of this project; JVMSCOPE_TRIE_VECTORS says where they are.
 */
#define TRIE_DATA_DEFAULT "../shared/data/trie"

#define TRIE_DATA_SETS 15

__attribute__((unused)) static const char *const trie_data_sets[TRIE_DATA_SETS] = {
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

static inline const char *trie_data_folder(void)
{
	const char *folder = getenv("JVMSCOPE_TRIE_VECTORS");

	return folder ? folder : TRIE_DATA_DEFAULT;
}

/* Says so when they are not there. */
static inline bool trie_data_present(void)
{
	if (!access(trie_data_folder(), R_OK))
		return true;
	printf("trie vectors: %s is not there, skipped\n", trie_data_folder());
	return false;
}

/* The bytes of KIND/NAME+SUFFIX, with or without .gz, and a NUL behind them. NULL: none. */
static inline char *trie_data_read(const char *kind, const char *name, const char *suffix,
				   size_t *size)
{
	size_t capacity = 1 << 20;
	char path[4096], *bytes;
	gzFile file = NULL;
	int got;

	for (int i = 0; i < 2 && !file; i++) {
		snprintf(path, sizeof(path), "%s/%s/%s%s%s", trie_data_folder(), kind, name, suffix,
			 i ? ".gz" : "");
		file = gzopen(path, "rb");
	}
	if (!file) {
		perror(path);
		return NULL;
	}
	bytes = malloc(capacity);
	*size = 0;
	while (bytes &&
	       (got = gzread(file, bytes + *size, (unsigned int)(capacity - *size - 1))) > 0) {
		*size += (size_t)got;
		if (*size + 1 == capacity)
			bytes = realloc(bytes, capacity *= 2);
	}
	gzclose(file);
	if (bytes)
		bytes[*size] = '\0';
	return bytes;
}

/* A line of a file of expectations. */
struct trie_data_name {
	uint8_t *bytes; /* modified UTF-8 */
	size_t len;
	size_t from; /* byte to begin at */
	int number;
};

struct trie_data_names {
	struct trie_data_name *items; /* owned */
	size_t count;
	uint8_t *bytes; /* owned; of all names */
};

/* "name<TAB>number", and a start index if there is one. Returns whether it is like that. */
static inline bool trie_data_parse(char *line, uint8_t *to, struct trie_data_name *out)
{
	char *tab = strchr(line, '\t');
	long len;

	if (!tab)
		return false;
	len = trie_name_from_escaped(line, (size_t)(tab - line), to, 3 * (size_t)(tab - line));
	if (len < 0)
		return false;
	out->bytes = to;
	out->len = (size_t)len;
	out->number = (int)strtol(tab, &tab, 10);
	out->from = *tab ? trie_name_offset(to, out->len, strtoul(tab, NULL, 10)) : 0;
	return true;
}

/* KIND/NAME.tsv. No names on failure, which is said. */
static inline struct trie_data_names trie_data_names(const char *kind, const char *name)
{
	struct trie_data_names names = { 0 };
	size_t size, lines = 0, used = 0;
	char *text = trie_data_read(kind, name, ".tsv", &size), *next;

	if (!text)
		return names;
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	names.items = calloc(lines + 1, sizeof(*names.items));
	names.bytes = malloc(3 * size + 16);
	for (char *line = text; names.items && names.bytes && *line; line = next) {
		next = strchr(line, '\n');
		if (!next)
			break;
		*next++ = '\0';
		if (!trie_data_parse(line, names.bytes + used, &names.items[names.count])) {
			fprintf(stderr, "%s/%s: not a line of expectations: %s\n", kind, name,
				line);
			break;
		}
		used += names.items[names.count++].len;
	}
	free(text);
	return names;
}

static inline void trie_data_free(struct trie_data_names *names)
{
	free(names->items);
	free(names->bytes);
	*names = (struct trie_data_names){ 0 };
}

#endif
