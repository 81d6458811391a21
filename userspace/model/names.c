/* SPDX-License-Identifier: Apache-2.0 */
#include "model/names.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/*
 * Names of generated classes after the suffix of hidden classes is gone, with '.' as separator.
 * '*' at the start is anything, '#' is one digit or more. The first row that fits is taken.
 */
static const struct {
	const char *pattern;
	const char *normal; /* '*' is what the pattern's '*' was */
} rules[] = {
	/* InnerClassLambdaMetafactory of JDK 8 to 20; without the number since 21 */
	{ "*$$Lambda$#", "*$$Lambda" },
	/* ProxyGenerator: JDK 16 and later, 9 to 15, 8; the last two for interfaces not public */
	{ "jdk.proxy#.$Proxy#", "jdk.proxy.$Proxy" },
	{ "com.sun.proxy.jdk.proxy#.$Proxy#", "jdk.proxy.$Proxy" },
	{ "com.sun.proxy.$Proxy#", "jdk.proxy.$Proxy" },
	{ "*.$Proxy#", "*.$Proxy" },
	{ "$Proxy#", "$Proxy" },
	/* MethodAccessorGenerator: JDK 8 has sun.reflect, later ones jdk.internal.reflect */
	{ "*reflect.GeneratedMethodAccessor#", "*reflect.GeneratedMethodAccessor" },
	{ "*reflect.GeneratedConstructorAccessor#", "*reflect.GeneratedConstructorAccessor" },
	{ "*reflect.GeneratedSerializationConstructorAccessor#",
	  "*reflect.GeneratedSerializationConstructorAccessor" },
};

static bool is_separator(char c)
{
	return c == '+' || c == '/' || c == '.';
}

static bool is_decimal(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
	}
	return len > 0;
}

static bool is_hex(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!isxdigit((unsigned char)text[i]))
			return false;
	}
	return len > 0;
}

static bool holds(const char *text, size_t len, const char *part)
{
	size_t part_len = strlen(part);

	for (size_t i = 0; i + part_len <= len; i++) {
		if (!memcmp(text + i, part, part_len))
			return true;
	}
	return false;
}

/*
 * Where the suffix of a hidden class starts, or len. "+0x..." is in the symbol, "/0x..." in
 * Class.getName(), ".0x..." in descriptors. JDK 8 has the identity hash: "$$Lambda$1/640070680".
 */
static size_t suffix_of(const char *name, size_t len)
{
	size_t at = len;
	const char *tail;
	size_t tail_len;

	while (at && !is_separator(name[at - 1]))
		at--;
	if (!at)
		return len;
	tail = name + at;
	tail_len = len - at;
	if (tail_len > 2 && !memcmp(tail, "0x", 2) && is_hex(tail + 2, tail_len - 2))
		return at - 1;
	if (name[at - 1] == '/' && is_decimal(tail, tail_len) &&
	    (holds(name, at, "$$Lambda$") || holds(name, at, "LambdaForm$")))
		return at - 1;
	return len;
}

/* Whether all of text is pattern, in which '#' is one digit or more. No '*' here. */
static bool fits(const char *pattern, const char *text)
{
	for (; *pattern; pattern++) {
		if (*pattern != '#') {
			if (*text++ != *pattern)
				return false;
			continue;
		}
		if (!isdigit((unsigned char)*text))
			return false;
		while (isdigit((unsigned char)*text))
			text++;
	}
	return !*text;
}

/* Where the text behind '*' starts. *fit is whether the whole pattern fits. */
static size_t match(const char *pattern, const char *text, bool *fit)
{
	size_t len = strlen(text);

	if (*pattern != '*') {
		*fit = fits(pattern, text);
		return 0;
	}
	/* From the end: what follows the '*' is short. */
	for (size_t at = len; at--;) {
		if (text[at] == pattern[1] && fits(pattern + 1, text + at)) {
			*fit = true;
			return at;
		}
	}
	*fit = false;
	return 0;
}

static void apply_rules(struct strbuf *name)
{
	/* Each pattern ends with a digit, and nearly no name does. */
	if (!name->len || !isdigit((unsigned char)name->text[name->len - 1]))
		return;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const char *normal = rules[i].normal;
		bool fit;
		size_t kept = match(rules[i].pattern, name->text, &fit);

		if (!fit)
			continue;
		name->len = kept;
		strbuf_puts(name, *normal == '*' ? normal + 1 : normal);
		return;
	}
}

static void add_with_dots(struct strbuf *to, const char *internal, size_t len)
{
	size_t start = to->len;

	strbuf_add(to, internal, len);
	for (size_t i = start; i < to->len; i++) {
		if (to->text[i] == '/')
			to->text[i] = '.';
	}
}

static void add_with_slashes(struct strbuf *to, const char *name, size_t len)
{
	size_t start = to->len;

	strbuf_add(to, name, len);
	for (size_t i = start; i < to->len; i++) {
		if (to->text[i] == '.')
			to->text[i] = '/';
	}
}

void names_class(const char *internal, size_t len, struct strbuf *normal, struct strbuf *raw)
{
	size_t suffix = suffix_of(internal, len);

	strbuf_reset(raw);
	add_with_dots(raw, internal, suffix);
	strbuf_reset(normal);
	strbuf_add(normal, strbuf_text(raw), raw->len);
	apply_rules(normal);

	if (suffix < len) {
		strbuf_puts(raw, "/");
		strbuf_add(raw, internal + suffix + 1, len - suffix - 1);
	}
	if (raw->len == normal->len && !memcmp(strbuf_text(raw), strbuf_text(normal), raw->len))
		strbuf_reset(raw);
}

static const struct {
	const char *name;
	char letter;
} primitives[] = {
	{ "boolean", 'Z' }, { "byte", 'B' }, { "char", 'C' }, { "double", 'D' },
	{ "float", 'F' },   { "int", 'I' },  { "long", 'J' }, { "short", 'S' },
};
#define PRIMITIVES (sizeof(primitives) / sizeof(primitives[0]))

static const char *primitive(char letter)
{
	for (size_t i = 0; i < PRIMITIVES; i++)
		if (primitives[i].letter == letter)
			return primitives[i].name;
	return NULL;
}

void names_type(const char *internal, size_t len, struct strbuf *normal, struct strbuf *raw)
{
	size_t depth = 0;
	const char *element;

	while (depth < len && internal[depth] == '[')
		depth++;
	element = depth && len == depth + 1 ? primitive(internal[depth]) : NULL;
	if (element) {
		strbuf_reset(raw);
		strbuf_reset(normal);
		strbuf_puts(normal, element);
	} else if (depth && len > depth + 2 && internal[depth] == 'L' && internal[len - 1] == ';') {
		names_class(internal + depth + 1, len - depth - 2, normal, raw);
	} else {
		names_class(internal, len, normal, raw);
		return;
	}
	for (size_t i = 0; i < depth; i++) {
		strbuf_puts(normal, "[]");
		if (raw->len)
			strbuf_puts(raw, "[]");
	}
}

static const char *letter_of(const char *name, size_t len)
{
	for (size_t i = 0; i < PRIMITIVES; i++)
		if (strlen(primitives[i].name) == len && !memcmp(primitives[i].name, name, len))
			return &primitives[i].letter;
	return NULL;
}

bool names_array(const char *name, struct strbuf *to)
{
	size_t len = strlen(name);
	const char *letter;

	strbuf_reset(to);
	for (; len > 2 && !memcmp(name + len - 2, "[]", 2); len -= 2)
		strbuf_puts(to, "[");
	if (!to->len)
		return false;
	letter = letter_of(name, len);
	if (letter) {
		strbuf_add(to, letter, 1);
		return true;
	}
	strbuf_puts(to, "L");
	add_with_slashes(to, name, len);
	strbuf_puts(to, ";");
	return true;
}
