/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie_bench [-r ROUNDS] RULES NAMES [NAMES]: what a lookup costs, ours beside other ways.
 * trie_bench -m: what a million rules cost.
 *
 * RULES is a list of rules; NAMES has a class name a line (what follows a tab is ignored), the
 * first list is also shuffled. Both may be compressed with gzip. Figures are nanoseconds a name,
 * best of ROUNDS (30) times four: the machine is seldom quiet, and a best is repeatable. What
 * counts on another machine is the ratio to the plain search and to sorted keys, printed behind.
 *
 * All ways must agree on each name before anything is measured.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "bench/trie_rivals.h"
#include "trie/trie_find.h"
#include "trie/trie_index.h"
#include "trie/trie_rules.h"

#define LISTS_MAX 3
#define WAYS_MAX  16
#define IN_A_ROW  4
#define MILLION	  1000000

struct name {
	const uint8_t *bytes;
	size_t len;
};

struct list {
	const char *label;
	struct name *names; /* owned */
	size_t count;
};

static struct trie trie;
static struct trie_index trie_index;

/* ---- ours */

static int find_words(const void *built, const uint8_t *name, size_t len)
{
	(void)built;
	return trie_find(&trie, name, len, 0);
}

static int find_index(const void *built, const uint8_t *name, size_t len)
{
	(void)built;
	return trie_index_find(&trie_index, name, len, 0);
}

static int find_steps(const void *built, const uint8_t *name, size_t len)
{
	(void)built;
	return trie_match(&trie, name, len, 0).number;
}

static int read_two_bytes(const void *built, const uint8_t *name, size_t len)
{
	(void)built;
	return len ? name[0] + name[len / 2] : 0;
}

static int add_all_bytes(const void *built, const uint8_t *name, size_t len)
{
	int sum = 0;

	(void)built;
	for (size_t i = 0; i < len; i++)
		sum += name[i];
	return sum;
}

struct way {
	const char *label;
	int (*find)(const void *built, const uint8_t *name, size_t len);
	const void *built;
	size_t size;
	bool no_answer; /* measures something else */
	double best[LISTS_MAX];
};

/* ---- input */

static char *read_file(const char *path, size_t *size)
{
	size_t capacity = 1 << 20;
	gzFile file = gzopen(path, "rb");
	char *bytes = malloc(capacity);
	int got = 1;

	if (!file || !bytes) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	*size = 0;
	while (bytes && got > 0) {
		got = gzread(file, bytes + *size, (unsigned int)(capacity - *size - 1));
		*size += got > 0 ? (size_t)got : 0;
		if (*size + 1 == capacity)
			bytes = realloc(bytes, capacity *= 2);
	}
	gzclose(file);
	if (!bytes || got < 0) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(EXIT_FAILURE);
	}
	bytes[*size] = '\0';
	return bytes;
}

static struct list read_list(const char *path, const char *label)
{
	size_t size, capacity = 0;
	char *text = read_file(path, &size), *next;
	struct list list = { .label = label };

	for (char *line = text; *line; line = next) {
		size_t len = strcspn(line, "\t\n");

		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (list.count == capacity) {
			capacity = capacity ? capacity * 2 : 1024;
			list.names = reallocarray(list.names, capacity, sizeof(*list.names));
			if (!list.names)
				exit(EXIT_FAILURE);
		}
		list.names[list.count++] = (struct name){ (const uint8_t *)line, len };
	}
	return list;
}

static uint32_t random_below(uint64_t *state, size_t below)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((*state >> 33) % below);
}

static struct list shuffled(const struct list *list)
{
	struct list copy = { "shuffled", calloc(list->count, sizeof(*copy.names)), list->count };
	uint64_t seed = 1;

	if (!copy.names)
		exit(EXIT_FAILURE);
	memcpy(copy.names, list->names, list->count * sizeof(*copy.names));
	for (size_t i = copy.count; i > 1; i--) {
		size_t other = random_below(&seed, i);
		struct name name = copy.names[i - 1];

		copy.names[i - 1] = copy.names[other];
		copy.names[other] = name;
	}
	return copy;
}

/* ---- measuring */

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double measure_once(const struct way *way, const struct list *list)
{
	double start = now_ns();
	long sum = 0;

	for (size_t i = 0; i < list->count; i++)
		sum += way->find(way->built, list->names[i].bytes, list->names[i].len);
	__asm__ volatile("" : : "r"(sum));
	return (now_ns() - start) / (double)list->count;
}

/* Some in a row: what another way left in the caches is not measured. */
static void measure(const struct way *way, const struct list *list, double *best)
{
	for (int i = 0; i < IN_A_ROW; i++) {
		double each = measure_once(way, list);

		if (each < *best)
			*best = each;
	}
}

static bool agrees(const struct way *way, const struct list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct name *name = &list->names[i];
		int number = way->find(way->built, name->bytes, name->len);
		int expected = trie_match(&trie, name->bytes, name->len, 0).number;

		if (way->no_answer || number == expected)
			continue;
		fprintf(stderr, "%s: %.*s: %d, expected %d\n", way->label, (int)name->len,
			(const char *)name->bytes, number, expected);
		return false;
	}
	return true;
}

static size_t list_ways(struct way *ways)
{
	size_t count = 0;

	ways[count++] = (struct way){ "the words, trie_find()",	     find_words, NULL,
				      2 * (size_t)trie_total(&trie), false,	 { 0 } };
	if (!trie_index_build(&trie, &trie_index))
		ways[count++] =
			(struct way){ "with the index, trie_index_find()", find_index, NULL,
				      trie_index_size(&trie_index),	   false,      { 0 } };
	ways[count++] = (struct way){ "the words in steps, trie_match()", find_steps, NULL,
				      2 * (size_t)trie_total(&trie),	  false,      { 0 } };
	for (const struct rival *rival = trie_rivals; rival->label; rival++) {
		const void *built = rival->build(&trie);

		if (built)
			ways[count++] = (struct way){ rival->label,	  rival->find, built,
						      rival->size(built), false,       { 0 } };
	}
	ways[count++] = (struct way){
		"nothing but two bytes of the name", read_two_bytes, NULL, 0, true, { 0 }
	};
	ways[count++] =
		(struct way){ "the sum of all its bytes", add_all_bytes, NULL, 0, true, { 0 } };
	return count;
}

static const struct way *way_of_rival(const struct way *ways, size_t count, const char *label)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(ways[i].label, label))
			return &ways[i];
	}
	return ways;
}

static void print(const struct way *ways, size_t count, const struct list *lists, size_t list_count)
{
	const struct way *plain = way_of_rival(ways, count, TRIE_RIVAL_PLAIN);
	const struct way *sorted = way_of_rival(ways, count, TRIE_RIVAL_SORTED);

	printf("ns a name, best (ratio to the plain search, to sorted keys)\n%-40s %9s", "",
	       "bytes");
	for (size_t l = 0; l < list_count; l++)
		printf("  %20s", lists[l].label);
	printf("\n");
	for (size_t i = 0; i < count; i++) {
		printf("%-40s %9zu", ways[i].label, ways[i].size);
		for (size_t l = 0; l < list_count; l++)
			printf("  %7.1f (%5.2f %5.2f)", ways[i].best[l],
			       ways[i].best[l] / plain->best[l], ways[i].best[l] / sorted->best[l]);
		printf("\n");
	}
}

static int bench(unsigned int rounds, const char *rules, char *const *paths)
{
	struct list lists[LISTS_MAX];
	struct way ways[WAYS_MAX];
	struct trie_words words;
	size_t size, count, list_count = 2;
	char *text = read_file(rules, &size);

	if (trie_from_text(text, size, &words, NULL, NULL)) {
		fprintf(stderr, "%s: not a list of rules\n", rules);
		return EXIT_FAILURE;
	}
	trie = trie_of(&words);
	lists[0] = read_list(paths[0], "in order");
	lists[1] = shuffled(&lists[0]);
	if (paths[1])
		lists[list_count++] = read_list(paths[1], "application");

	count = list_ways(ways);
	for (size_t i = 0; i < count; i++) {
		for (size_t l = 0; l < list_count; l++) {
			ways[i].best[l] = 1e9;
			if (!agrees(&ways[i], &lists[l]))
				return EXIT_FAILURE;
		}
	}
	for (unsigned int round = 0; round < rounds; round++) {
		for (size_t i = 0; i < count * list_count; i++)
			measure(&ways[i / list_count], &lists[i % list_count],
				&ways[i / list_count].best[i % list_count]);
	}
	printf("%s, %zu names of %s\n", rules, lists[0].count, paths[0]);
	print(ways, count, lists, list_count);
	return EXIT_SUCCESS;
}

/* ---- a million rules */

static char *million_rules(size_t *size)
{
	uint64_t seed = 1;
	char *text;
	FILE *to = open_memstream(&text, size);

	for (int i = 0; to && i < MILLION; i++)
		fprintf(to, "%u com.p%u.q%u.r%u.Class%d%s\n", random_below(&seed, TRIE_NUMBER + 1),
			random_below(&seed, 300), random_below(&seed, 300),
			random_below(&seed, 300), i, i % 3 ? "" : ".*");
	if (!to || fclose(to))
		exit(EXIT_FAILURE);
	return text;
}

static int bench_million(void)
{
	struct trie_words words;
	struct rusage usage;
	size_t size;
	char *text = million_rules(&size);
	double start = now_ns(), took;

	if (trie_from_text(text, size, &words, NULL, NULL))
		return EXIT_FAILURE;
	took = (now_ns() - start) / 1e9;
	getrusage(RUSAGE_SELF, &usage);
	printf("%d rules, %zu bytes of text: %.2f s, %ld MiB at most, %u words\n", MILLION, size,
	       took, usage.ru_maxrss / 1024, words.count);
	trie_words_free(&words);
	free(text);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	unsigned int rounds = 30;
	int option;

	while ((option = getopt(argc, argv, "mr:")) != -1) {
		if (option == 'm')
			return bench_million();
		if (option != 'r')
			return EXIT_FAILURE;
		rounds = (unsigned int)strtoul(optarg, NULL, 10);
	}
	if (argc - optind < 2) {
		fprintf(stderr, "usage: trie_bench [-r ROUNDS] RULES NAMES [NAMES]\n"
				"       trie_bench -m\n");
		return EXIT_FAILURE;
	}
	return bench(rounds, argv[optind], argv + optind + 1);
}
