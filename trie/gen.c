/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gen RULES NAME: a build step that writes the trie of a list of rules as a C constant to standard
 * output. Runs on the machine that builds. A warning fails: a list in the tree has no mistakes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trie/trie_form.h"

#define RULES_MAX (1 << 20) /* bytes; default.rules has some 10,000 */

struct report {
	const char *path;
	int messages;
};

static void print(const struct trie_message *message, void *ctx)
{
	struct report *report = ctx;

	fprintf(stderr, "%s:%u:%u: %s\n", report->path, message->line, message->column,
		message->text);
	report->messages++;
}

static int read_rules(const char *path, char *text, size_t *size)
{
	FILE *file = fopen(path, "re");
	int err = 0;

	if (!file)
		return -errno;
	*size = fread(text, 1, RULES_MAX, file);
	if (ferror(file))
		err = -EIO;
	else if (*size == RULES_MAX)
		err = -EFBIG;
	fclose(file);
	return err;
}

static int generate(const char *path, const char *name, char *text)
{
	struct report report = { .path = path };
	struct trie_words words = { 0 };
	struct trie trie;
	size_t size = 0;
	int err = read_rules(path, text, &size);

	if (!err)
		err = trie_from_text(text, size, &words, print, &report);
	if (!err && report.messages)
		err = -EINVAL;
	if (!err) {
		trie = trie_of(&words);
		err = trie_write_c(&trie, name, stdout);
	}
	trie_words_free(&words);
	return err;
}

int main(int argc, char **argv)
{
	char *text = malloc(RULES_MAX);
	int err = -ENOMEM;

	if (argc != 3) {
		fprintf(stderr, "usage: gen RULES NAME\n");
		free(text);
		return EXIT_FAILURE;
	}
	if (text)
		err = generate(argv[1], argv[2], text);
	free(text);
	if (!err && fflush(stdout))
		err = -errno;
	if (err)
		fprintf(stderr, "gen: %s: %s\n", argv[1], strerror(-err));
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
