/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/cmdline.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/strbuf.h"
#include "base/text.h"

enum option {
	OPTION_PLAIN, /* complete in itself */
	OPTION_VALUE, /* its value is the next argument */
	OPTION_PATH,  /* the same, and not shown */
	OPTION_MAIN,  /* the next argument is what is run */
	OPTION_FILE,  /* @argfile: its contents are not known */
	OPTION_NONE,  /* not an option: what is run */
};

/* Options of the java launcher (JDK 8 to 26) that take the next argument. "--x=y" does not. */
static const struct {
	const char *name;
	enum option kind;
} options[] = {
	{ "-cp", OPTION_PATH },
	{ "-classpath", OPTION_PATH },
	{ "--class-path", OPTION_PATH },
	{ "-p", OPTION_PATH },
	{ "--module-path", OPTION_PATH },
	{ "--upgrade-module-path", OPTION_PATH },
	{ "-jar", OPTION_MAIN },
	{ "-m", OPTION_MAIN },
	{ "--module", OPTION_MAIN },
	{ "-d", OPTION_VALUE },
	{ "--describe-module", OPTION_VALUE },
	{ "--add-modules", OPTION_VALUE },
	{ "--limit-modules", OPTION_VALUE },
	{ "--add-reads", OPTION_VALUE },
	{ "--add-exports", OPTION_VALUE },
	{ "--add-opens", OPTION_VALUE },
	{ "--patch-module", OPTION_VALUE },
	{ "--enable-native-access", OPTION_VALUE },
	{ "--illegal-native-access", OPTION_VALUE },
	{ "--illegal-final-field-mutation", OPTION_VALUE },
	{ "--enable-final-field-mutation", OPTION_VALUE },
	{ "--sun-misc-unsafe-memory-access", OPTION_VALUE },
	{ "--source", OPTION_VALUE },
};

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static enum option kind_of(const char *argument)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (!strcmp(argument, options[i].name))
			return options[i].kind;
	}
	if (argument[0] == '@' && argument[1] != '@')
		return OPTION_FILE;
	return argument[0] == '-' ? OPTION_PLAIN : OPTION_NONE;
}

/* "--module=app/Main" says what is run in itself. */
static const char *main_inside(const char *argument)
{
	static const char prefix[] = "--module=";

	return starts_with(argument, prefix) ? argument + sizeof(prefix) - 1 : NULL;
}

static bool is_path_inside(const char *argument)
{
	return starts_with(argument, "--class-path=") || starts_with(argument, "--module-path=") ||
	       starts_with(argument, "--upgrade-module-path=");
}

static void add_argument(struct strbuf *to, const char *argument)
{
	if (to->len)
		strbuf_puts(to, " ");
	strbuf_puts(to, argument);
}

/*
 * Goes over the launcher's own arguments. Adds the JVM's options to shown and returns what is run,
 * NULL when the line does not say.
 */
static const char *walk(struct cursor *c, struct strbuf *shown)
{
	const char *argument, *value;
	enum option kind;

	/* The launcher's own name. */
	(void)cursor_string(c);
	for (argument = cursor_string(c); argument; argument = cursor_string(c)) {
		kind = kind_of(argument);
		if (kind == OPTION_NONE)
			return argument;
		if (main_inside(argument))
			return main_inside(argument);
		if (kind == OPTION_MAIN)
			return cursor_string(c);
		if (kind != OPTION_PATH && !is_path_inside(argument))
			add_argument(shown, argument);
		if (kind != OPTION_VALUE && kind != OPTION_PATH)
			continue;
		value = cursor_string(c);
		if (value && kind == OPTION_VALUE)
			add_argument(shown, value);
	}
	return NULL;
}

void cmdline_main_class(const char *bytes, size_t len, char *to, size_t size)
{
	struct cursor c = cursor_of(bytes, len);
	struct strbuf shown = { 0 };
	const char *found = walk(&c, &shown);

	if (!found)
		found = "";
	text_utf8(found, strlen(found), to, size);
	strbuf_free(&shown);
}

void cmdline_put(const struct strbuf *text, char *to, size_t size)
{
	static const char mark[] = " [truncated]";
	/* One byte becomes three at most. */
	size_t room = 3 * text->len + 1, len;
	char *whole = malloc(room);

	if (!size) {
		free(whole);
		return;
	}
	if (!whole) {
		to[0] = '\0';
		return;
	}
	len = text_utf8(strbuf_text(text), text->len, whole, room);
	if (len < size && !text->truncated) {
		memcpy(to, whole, len + 1);
	} else if (size < sizeof(mark)) {
		to[0] = '\0';
	} else {
		len = text_utf8(whole, len, to, size - sizeof(mark) + 1);
		memcpy(to + len, mark, sizeof(mark));
	}
	free(whole);
}

void cmdline_arguments(const char *bytes, size_t len, char *to, size_t size)
{
	struct cursor c = cursor_of(bytes, len);
	struct strbuf shown = { 0 };

	if (!walk(&c, &shown) && len + 1 >= CMDLINE_MAX)
		shown.truncated = true;
	cmdline_put(&shown, to, size);
	strbuf_free(&shown);
}
