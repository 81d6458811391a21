/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/triefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "trie/trie_default.h"
#include "trie/trie_form.h"

#define NO_RULES     "none"
#define BUILT_IN     "built-in"
#define FIRST_BUFFER (64u << 10)

struct report {
	const char *path;
	size_t shown;
	size_t more;
	bool error;
};

static void say(const struct trie_message *message, void *ctx)
{
	enum log_level level = message->error ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN;
	struct report *report = ctx;

	report->error |= message->error;
	if (report->shown == TRIEFILE_MESSAGES_MAX) {
		report->more++;
		return;
	}
	report->shown++;
	if (message->line)
		log_write(level, "%s:%u:%u: %s", report->path, message->line, message->column,
			  message->text);
	else
		log_write(level, "%s: %s", report->path, message->text);
}

/* All of a file, in a buffer of the caller's. */
static int read_stream(FILE *file, char **bytes, size_t *size)
{
	size_t capacity = FIRST_BUFFER;
	char *larger;

	*size = 0;
	for (;;) {
		larger = realloc(*bytes, capacity);
		if (!larger)
			return -ENOMEM;
		*bytes = larger;
		errno = 0;
		*size += fread(*bytes + *size, 1, capacity - *size, file);
		if (ferror(file))
			return errno ? -errno : -EIO;
		if (*size < capacity)
			return 0;
		if (capacity > TRIEFILE_BYTES_MAX)
			return -EFBIG;
		capacity *= 2;
	}
}

static int read_bytes(const char *path, char **bytes, size_t *size)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	int err;

	if (!file)
		return -errno;
	err = read_stream(file, bytes, size);
	if (file != stdin)
		fclose(file);
	return err;
}

static const char *why(int err)
{
	switch (err) {
	case -E2BIG:
		return "too large for the format: at most 4096 jumps over 61,439 units";
	case -EOVERFLOW:
		return "too many different characters in one place: at most 32,767";
	default:
		return strerror(-err);
	}
}

int triefile_read(const char *path, struct trie_words *out)
{
	struct report report = { .path = strcmp(path, "-") ? path : "standard input" };
	char *bytes = NULL;
	size_t size = 0;
	int err = read_bytes(path, &bytes, &size);

	if (!err)
		err = trie_from_bytes(bytes, size, out, say, &report);
	if (report.more)
		log_warn("%s: %zu more messages like these", report.path, report.more);
	if (err && !report.error)
		log_error("%s: %s", report.path, why(err));
	free(bytes);
	return err;
}

int triefile_choose(const char *name, struct trie_words *words, struct trie *out)
{
	struct trie_rules none = { 0 };
	int err;

	if (!strcmp(triefile_source(name), BUILT_IN)) {
		*out = trie_default;
		return 0;
	}
	if (strcmp(name, NO_RULES) != 0) {
		err = triefile_read(name, words);
	} else {
		err = trie_build(&none, words);
		if (err)
			log_error("%s: %s", name, strerror(-err));
	}
	if (!err)
		*out = trie_of(words);
	return err;
}

const char *triefile_source(const char *name)
{
	return name ? name : BUILT_IN;
}
