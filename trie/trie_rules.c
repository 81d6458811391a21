/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_rules.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "trie/trie_name.h"
#include "trie/trie_walk.h"

#define BYTE_ORDER_MARK 0xfeffu
#define NAME_SHOWN	40 /* bytes of a name in a message */

struct parser {
	const uint8_t *at;
	const uint8_t *end;  /* of the text */
	const uint8_t *line; /* its first byte */
	uint32_t number;     /* of the line */
	struct trie_rules *rules;
	trie_report_fn *report;
	void *ctx;
	bool failed;
	uint16_t name[TRIE_NAME_MAX + 2]; /* one more than allowed, so that too long is seen */
	size_t name_len;
};

/* A character that continues one does not count. */
static uint32_t column_of(const struct parser *p, const uint8_t *at)
{
	uint32_t column = 1;

	for (const uint8_t *b = p->line; b < at; b++)
		column += (*b & 0xc0) != 0x80;
	return column;
}

__attribute__((format(printf, 4, 5))) static void say(struct parser *p, const uint8_t *at,
						      bool error, const char *fmt, ...)
{
	struct trie_message message = { .error = error, .line = p->number };
	va_list args;

	p->failed |= error;
	if (!p->report)
		return;
	message.column = column_of(p, at);
	va_start(args, fmt);
	vsnprintf(message.text, sizeof(message.text), fmt, args);
	va_end(args);
	p->report(&message, p->ctx);
}

static bool is_space(uint8_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool in_name(uint8_t c)
{
	return !is_space(c) && c != '#';
}

static void add_unit(struct parser *p, uint32_t unit)
{
	if (p->name_len < TRIE_NAME_MAX + 1)
		p->name[p->name_len++] = (uint16_t)unit;
}

static void add_code(struct parser *p, uint32_t code)
{
	if (code < 0x10000) {
		add_unit(p, code);
		return;
	}
	add_unit(p, 0xd800 + ((code - 0x10000) >> 10));
	add_unit(p, 0xdc00 + ((code - 0x10000) & 0x3ff));
}

/* Reads the name at "at" into p->name. Returns what is behind it, or NULL if it is no UTF-8. */
static const uint8_t *read_name(struct parser *p, const uint8_t *at, const uint8_t *end)
{
	uint32_t code;
	size_t len;

	p->name_len = 0;
	while (at < end && in_name(*at)) {
		if (*at < 0x80) {
			add_unit(p, *at++);
			continue;
		}
		len = trie_utf8_next(at, end, &code);
		if (len == 0) {
			say(p, at, true, "this is not UTF-8");
			return NULL;
		}
		add_code(p, code);
		at += len;
	}
	return at;
}

/* Bytes of a name for a message: whole characters, and never so many that nothing else fits. */
static int shown(const uint8_t *name, const uint8_t *end)
{
	int len = end - name > NAME_SHOWN ? NAME_SHOWN : (int)(end - name);

	while (len > 0 && name + len < end && (name[len] & 0xc0) == 0x80)
		len--;
	return len;
}

/* Legal, and most likely a mistake. */
static void warn_of_name(struct parser *p, const uint8_t *name, const uint8_t *end)
{
	bool letters = false, control = false;

	for (size_t i = 0; i < p->name_len; i++) {
		uint16_t unit = p->name[i];

		letters |= (unit | 0x20) >= 'a' && (unit | 0x20) <= 'z';
		letters |= unit > 0x7f || unit == '$' || unit == '_';
		control |= unit < 0x20 || unit == 0x7f;
	}
	if (p->name_len && p->name[0] == BYTE_ORDER_MARK)
		say(p, name, false, "the name begins with a byte order mark and matches no class");
	else if (control)
		say(p, name, false, "control character in the name");
	else if (!letters)
		say(p, name, false, "'%.*s' is taken as the name, not as a number",
		    shown(name, end), (const char *)name);
}

static void warn_of_rest(struct parser *p, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *word;

	while (at < end && is_space(*at))
		at++;
	word = at;
	while (at < end && in_name(*at))
		at++;
	if (at > word)
		say(p, word, false, "'%.*s' behind the name is ignored", shown(word, at),
		    (const char *)word);
}

/* The text behind the name matters only in that it must be UTF-8. */
static bool check_rest(struct parser *p, const uint8_t *at, const uint8_t *end)
{
	uint32_t code;
	size_t len;

	for (; at < end; at += len) {
		len = *at < 0x80 ? 1 : trie_utf8_next(at, end, &code);
		if (len == 0) {
			say(p, at, true, "this is not UTF-8");
			return false;
		}
	}
	return true;
}

/* Returns 0, 1 when the rule was refused and reported, or a negative errno. */
static int add_rule(struct parser *p, const uint8_t *at, uint32_t number)
{
	int err = trie_rules_add(p->rules, p->name, p->name_len, number, p->number);

	switch (err) {
	case -EINVAL:
		say(p, at, true, "a rule cannot begin with '*'");
		return 1;
	case -ENAMETOOLONG:
		say(p, at, true, "the name is longer than %d characters", TRIE_NAME_MAX);
		return 1;
	default:
		return err;
	}
}

/* "[digits white-space] name": what is a number only when a name follows. Returns the name. */
static const uint8_t *skip_number(struct parser *p, const uint8_t *at, const uint8_t *end,
				  uint32_t *number)
{
	const uint8_t *name = at;
	uint32_t value = 0;

	while (name < end && is_digit(*name)) {
		if (value <= TRIE_NUMBER)
			value = value * 10 + *name - '0';
		name++;
	}
	*number = 1;
	if (name == at || name == end || !is_space(*name))
		return at;
	while (name < end && is_space(*name))
		name++;
	if (name == end || !in_name(*name))
		return at;
	*number = value;
	if (value > TRIE_NUMBER)
		say(p, at, true, "the number is larger than %u", TRIE_NUMBER);
	return name;
}

static int parse_line(struct parser *p, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *name, *rest;
	uint32_t number;
	int err;

	while (at < end && is_space(*at))
		at++;
	if (at == end || !in_name(*at)) {
		check_rest(p, at, end);
		return 0;
	}
	name = skip_number(p, at, end, &number);
	rest = read_name(p, name, end);
	if (!rest || !check_rest(p, rest, end) || number > TRIE_NUMBER)
		return 0;
	err = add_rule(p, name, number);
	if (err)
		return err < 0 ? err : 0;
	warn_of_name(p, name, rest);
	warn_of_rest(p, rest, end);
	return 0;
}

static bool ends_line(uint8_t c)
{
	return c == '\n' || c == '\r';
}

int trie_rules_parse(const char *text, size_t size, struct trie_rules *rules,
		     trie_report_fn *report, void *ctx)
{
	const uint8_t *at = (const uint8_t *)text, *end = at + size, *line_end;
	struct parser p = { .rules = rules, .report = report, .ctx = ctx };
	int err = 0;

	while (!err && at < end) {
		p.line = at;
		p.number++;
		line_end = at;
		while (line_end < end && !ends_line(*line_end))
			line_end++;
		err = parse_line(&p, at, line_end);
		at = line_end;
		if (end - at > 1 && at[0] == '\r' && at[1] == '\n')
			at++;
		if (at < end)
			at++;
	}
	if (!err && p.failed)
		err = -EINVAL;
	return err;
}

struct report_again {
	trie_report_fn *report;
	void *ctx;
};

static void report_again(const struct trie_rules *rules, const struct trie_rule *earlier,
			 const struct trie_rule *later, void *ctx)
{
	struct trie_message message = { .line = later->line, .column = 1 };
	struct report_again *to = ctx;

	(void)rules;
	snprintf(message.text, sizeof(message.text),
		 "line %u gave this name the number %u: now it is %u", earlier->line,
		 earlier->number & TRIE_NUMBER, later->number & TRIE_NUMBER);
	to->report(&message, to->ctx);
}

int trie_from_text(const char *text, size_t size, struct trie_words *out, trie_report_fn *report,
		   void *ctx)
{
	struct report_again to = { report, ctx };
	struct trie_rules rules = { 0 };
	int err = trie_rules_parse(text, size, &rules, report, ctx);

	if (!err)
		err = trie_rules_sort(&rules, report ? report_again : NULL, &to);
	if (!err)
		err = trie_build(&rules, out);
	trie_rules_free(&rules);
	return err;
}

/* ---- rules back to text */

struct writer {
	FILE *to;
	size_t unwritable;
};

static bool is_high(uint16_t unit)
{
	return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(uint16_t unit)
{
	return unit >= 0xdc00 && unit < 0xe000;
}

static bool is_writable(const uint16_t *key, size_t len, bool glob)
{
	if (key[0] == '*' || (key[len - 1] == '*' && !glob))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (key[i] == '/' || (key[i] < 0x80 && !in_name((uint8_t)key[i])))
			return false;
		if (is_high(key[i]) && i + 1 < len && is_low(key[i + 1]))
			i++;
		else if (is_high(key[i]) || is_low(key[i]))
			return false;
	}
	return true;
}

static void write_code(FILE *to, uint32_t code)
{
	if (code < 0x80) {
		putc((int)code, to);
		return;
	}
	if (code < 0x800) {
		putc((int)(0xc0 | code >> 6), to);
	} else if (code < 0x10000) {
		putc((int)(0xe0 | code >> 12), to);
		putc((int)(0x80 | (code >> 6 & 0x3f)), to);
	} else {
		putc((int)(0xf0 | code >> 18), to);
		putc((int)(0x80 | (code >> 12 & 0x3f)), to);
		putc((int)(0x80 | (code >> 6 & 0x3f)), to);
	}
	putc((int)(0x80 | (code & 0x3f)), to);
}

static void write_key(FILE *to, const uint16_t *key, size_t len)
{
	uint32_t code;

	for (size_t i = 0; i < len; i++) {
		code = key[i];
		if (is_high(key[i])) {
			code = 0x10000 + ((code - 0xd800) << 10) + (key[i + 1] - 0xdc00u);
			i++;
		}
		write_code(to, code);
	}
}

static void write_remark(FILE *to, const uint16_t *key, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (key[i] > 0x20 && key[i] < 0x7f && key[i] != '\\')
			putc(key[i], to);
		else
			fprintf(to, "\\u%04x", key[i]);
	}
}

static int write_rule(const uint16_t *key, size_t len, uint32_t number, void *ctx)
{
	struct writer *w = ctx;
	bool writable = is_writable(key, len, number & TRIE_GLOB);

	fprintf(w->to, "%s%u ", writable ? "" : "# not a rule in text: ", number & TRIE_NUMBER);
	if (writable)
		write_key(w->to, key, len);
	else
		write_remark(w->to, key, len);
	fputs(number & TRIE_GLOB ? "*\n" : "\n", w->to);
	w->unwritable += !writable;
	return ferror(w->to) ? -EIO : 0;
}

int trie_rules_write(const struct trie *trie, FILE *to, size_t *unwritable)
{
	struct writer w = { .to = to };
	struct trie_visitor visitor = { .key = write_rule, .ctx = &w };
	struct trie_walk_end end;
	int err = trie_walk(trie, &visitor, &end);

	if (!err)
		*unwritable = w.unwritable;
	return err;
}
