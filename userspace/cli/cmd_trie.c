/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/triefile.h"
#include "trie/trie_find.h"
#include "trie/trie_form.h"
#include "trie/trie_name.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define HELP_HINT     "see jvmscope help trie"
#define C_NAME	      "class_rules"
#define JAVA_NAME     "ClassRules"

/* ---- the forms */

static int write_text(const struct trie *trie, const char *name, FILE *to)
{
	size_t unwritable;
	int err = trie_rules_write(trie, to, &unwritable);

	(void)name;
	if (!err && unwritable)
		log_warn("%zu rules cannot be written as text: they are remarks", unwritable);
	return err;
}

static int write_binary(const struct trie *trie, const char *name, FILE *to)
{
	(void)name;
	return trie_write_binary(trie, to);
}

static int write_c(const struct trie *trie, const char *name, FILE *to)
{
	return trie_write_c(trie, name ? name : C_NAME, to);
}

/* "a.b.Name" is the class Name in the package a.b. */
static int write_java(const struct trie *trie, const char *name, FILE *to)
{
	const char *dot = name ? strrchr(name, '.') : NULL;
	char *package;
	int err;

	if (!dot)
		return trie_write_java(trie, NULL, name ? name : JAVA_NAME, to);
	package = strndup(name, (size_t)(dot - name));
	if (!package)
		return -ENOMEM;
	err = trie_write_java(trie, package, dot + 1, to);
	free(package);
	return err;
}

static const struct form {
	const char *name; /* as typed after --format */
	const char *suffix;
	int (*write)(const struct trie *trie, const char *name, FILE *to);
} forms[] = {
	{ "text", ".trie", write_text },
	{ "binary", ".bin", write_binary },
	{ "c", ".c", write_c },
	{ "java", ".java", write_java },
};

static const struct form *form_of(const struct options *options)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (options->form
			    ? !strcmp(options->form, forms[i].name)
			    : options->output && text_ends_with(options->output, forms[i].suffix))
			return &forms[i];
	}
	return NULL;
}

static bool is_letter(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || c == '$';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Of C, or with dots between several, of Java. */
static bool is_identifier(const char *name, bool dots)
{
	bool first = true;

	for (; *name; name++) {
		if (dots && !first && *name == '.') {
			first = true;
			continue;
		}
		if (!is_letter(*name) && (first || !is_digit(*name)))
			return false;
		first = false;
	}
	return !first;
}

/* ---- build, dump */

static const char *output_name(const struct options *options)
{
	return options->output ? options->output : "-";
}

/* What the writers call -EIO has its reason in errno. */
static int write_form(const struct trie *trie, const struct form *form, const char *name, FILE *to)
{
	int err;

	errno = 0;
	err = form->write(trie, name, to);
	return err == -EIO && errno ? -errno : err;
}

static int write_file(const struct trie *trie, const struct form *form,
		      const struct options *options)
{
	const char *path = output_name(options);
	struct output output = { 0 };
	int err = output_open(path, &output);

	if (!err) {
		err = write_form(trie, form, options->name, output.file);
		if (err)
			output_abort(&output);
		else
			err = output_commit(&output);
	}
	if (err)
		log_error("%s: not written: %s", strcmp(path, "-") ? path : "standard output",
			  strerror(-err));
	return err;
}

static int read_and_write(const struct form *form, const struct options *options)
{
	struct trie_words words = { 0 };
	struct trie trie;
	int err = triefile_choose(options->operands[1], &words, &trie);

	if (!err)
		err = write_file(&trie, form, options);
	trie_words_free(&words);
	return err ? EXIT_RUNTIME : EXIT_DONE;
}

static int build(const struct options *options)
{
	const struct form *form = form_of(options);

	if (!form && options->output && strcmp(options->output, "-") != 0) {
		log_error("-o %s: the suffix names no form (.trie .bin .c .java); give --format",
			  options->output);
		return EXIT_USAGE;
	}
	if (!form && isatty(STDOUT_FILENO)) {
		log_error("the binary form is not for a terminal: give -o FILE or --format");
		return EXIT_USAGE;
	}
	if (!form)
		form = &forms[1];
	if (options->name && !is_identifier(options->name, form->write == write_java)) {
		log_error("--name %s: expected a name as in C or Java", options->name);
		return EXIT_USAGE;
	}
	return read_and_write(form, options);
}

static int dump(const struct options *options)
{
	return read_and_write(&forms[0], options);
}

/* ---- lookup */

struct lookup {
	const struct options *options;
	struct trie trie;
	uint8_t *name; /* owned; in modified UTF-8 */
	size_t size;
};

/* What is no UTF-8 may be a name as the JVM has it, and is taken as it is. */
static long convert(struct lookup *l, const char *text, size_t len)
{
	long used;

	if (l->options->escaped)
		return trie_name_from_escaped(text, len, l->name, l->size);
	used = trie_name_from_utf8(text, len, l->name, l->size);
	if (used >= 0)
		return used;
	memcpy(l->name, text, len);
	return (long)len;
}

/* line is for the message; 0: an argument. */
static int print_number(struct lookup *l, const char *text, size_t len, size_t line)
{
	size_t needed = 3 * len + 1;
	size_t from;
	uint8_t *larger;
	long used;

	if (needed > l->size) {
		larger = realloc(l->name, 2 * needed);
		if (!larger) {
			log_error("a name of %zu bytes: %s", len, strerror(ENOMEM));
			return -ENOMEM;
		}
		l->name = larger;
		l->size = 2 * needed;
	}
	used = convert(l, text, len);
	if (used < 0) {
		if (line)
			log_error("standard input:%zu: not ASCII with \\uXXXX", line);
		else
			log_error("%s: not ASCII with \\uXXXX", text);
		return -EINVAL;
	}
	from = trie_name_offset(l->name, (size_t)used, l->options->from);
	fwrite(text, 1, len, stdout);
	printf("\t%d\n", trie_find(&l->trie, l->name, (size_t)used, from));
	return 0;
}

static int look_up_arguments(struct lookup *l)
{
	int err = 0;

	for (size_t i = 2; i < l->options->operand_count && !err; i++) {
		const char *name = l->options->operands[i];

		err = print_number(l, name, strlen(name), 0);
	}
	return err;
}

/* One name a line, also an empty one. */
static int look_up_input(struct lookup *l)
{
	size_t capacity = 0, line = 0;
	char *text = NULL;
	ssize_t len = 0;
	int err = 0;

	while (!err && !ferror(stdout) && (len = getline(&text, &capacity, stdin)) >= 0) {
		if (len && text[len - 1] == '\n')
			len--;
		err = print_number(l, text, (size_t)len, ++line);
	}
	if (!err && ferror(stdin)) {
		err = -EIO;
		log_error("standard input: %s", strerror(errno));
	}
	free(text);
	return err;
}

static int lookup(const struct options *options)
{
	struct lookup l = { .options = options };
	struct trie_words words = { 0 };
	int err;

	if (options->operand_count == 2 && !strcmp(options->operands[1], "-")) {
		log_error("trie lookup -: standard input has the rules; give names as arguments");
		return EXIT_USAGE;
	}
	err = triefile_choose(options->operands[1], &words, &l.trie);
	if (!err && options->operand_count > 2)
		err = look_up_arguments(&l);
	else if (!err)
		err = look_up_input(&l);
	free(l.name);
	trie_words_free(&words);
	return err ? EXIT_RUNTIME : EXIT_DONE;
}

/* ---- */

struct word {
	const char *name;
	int (*run)(const struct options *options);
	size_t operands;   /* at most, the word itself counted; 0: any number */
	const char *takes; /* of the options that not all words take */
};

static const struct word words_of_trie[] = {
	{ "build", build, 2, "--output --format --name" },
	{ "lookup", lookup, 0, "--from --escaped" },
	{ "dump", dump, 2, "--output" },
};

/* An option that was given to a word that has no use for it, or NULL. */
static const char *useless_option(const struct word *word, const struct options *options)
{
	const struct {
		const char *name;
		bool given;
	} all[] = {
		{ "--output", options->output != NULL }, { "--format", options->form != NULL },
		{ "--name", options->name != NULL },	 { "--from", options->from != 0 },
		{ "--escaped", options->escaped },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i].given && !strstr(word->takes, all[i].name))
			return all[i].name;
	}
	return NULL;
}

static const struct word *find_word(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(words_of_trie); i++) {
		if (!strcmp(words_of_trie[i].name, name))
			return &words_of_trie[i];
	}
	return NULL;
}

int cmd_trie(const struct options *options)
{
	const char *name = options->operand_count ? options->operands[0] : NULL;
	const struct word *word = name ? find_word(name) : NULL;
	const char *useless;

	if (!word) {
		log_error("trie%s%s: expected build, lookup or dump (" HELP_HINT ")",
			  name ? " " : "", name ? name : "");
		return EXIT_USAGE;
	}
	if (options->operand_count < 2) {
		log_error("trie %s: no file given (" HELP_HINT ")", name);
		return EXIT_USAGE;
	}
	if (word->operands && options->operand_count > word->operands) {
		log_error("%s: unexpected argument (" HELP_HINT ")", options->operands[2]);
		return EXIT_USAGE;
	}
	useless = useless_option(word, options);
	if (useless) {
		log_error("trie %s: %s is not for it (" HELP_HINT ")", name, useless);
		return EXIT_USAGE;
	}
	return word->run(options);
}
