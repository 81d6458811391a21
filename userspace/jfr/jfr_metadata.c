/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_metadata.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/map64.h"
#include "jfr/jfr_events.h"

#define OWN_PREFIX "jvmscope."

enum annotation {
	LABEL,
	CATEGORY,
	TIMESTAMP,
	TIMESPAN,
	DATA_AMOUNT,
	MEMORY_ADDRESS,
	UNSIGNED,
	PERCENTAGE,
	FREQUENCY,
	CONTENT_TYPE,
	ANNOTATION_NR,
};

static const struct {
	const char *name;
	bool has_value;
	bool is_content_type;
} annotations[ANNOTATION_NR] = {
	[LABEL] = { "jdk.jfr.Label", true, false },
	[CATEGORY] = { "jdk.jfr.Category", true, false },
	[TIMESTAMP] = { "jdk.jfr.Timestamp", true, true },
	[TIMESPAN] = { "jdk.jfr.Timespan", true, true },
	[DATA_AMOUNT] = { "jdk.jfr.DataAmount", true, true },
	[MEMORY_ADDRESS] = { "jdk.jfr.MemoryAddress", false, true },
	[UNSIGNED] = { "jdk.jfr.Unsigned", false, true },
	[PERCENTAGE] = { "jdk.jfr.Percentage", false, true },
	[FREQUENCY] = { "jdk.jfr.Frequency", false, true },
	[CONTENT_TYPE] = { "jdk.jfr.ContentType", false, false },
};

/* The annotation of a unit; addresses are unsigned besides. */
static const struct {
	enum annotation annotation;
	const char *value;
	bool is_unsigned;
} units[JFR_UNIT_NR] = {
	[JFR_UNIT_NONE] = { ANNOTATION_NR, NULL, false },
	[JFR_UNIT_TICKS_AT] = { TIMESTAMP, "TICKS", false },
	[JFR_UNIT_MS_AT] = { TIMESTAMP, "MILLISECONDS_SINCE_EPOCH", false },
	[JFR_UNIT_TICKS] = { TIMESPAN, "TICKS", false },
	[JFR_UNIT_NS] = { TIMESPAN, "NANOSECONDS", false },
	[JFR_UNIT_US] = { TIMESPAN, "MICROSECONDS", false },
	[JFR_UNIT_MS] = { TIMESPAN, "MILLISECONDS", false },
	[JFR_UNIT_BYTES] = { DATA_AMOUNT, "BYTES", false },
	[JFR_UNIT_ADDRESS] = { MEMORY_ADDRESS, NULL, true },
	[JFR_UNIT_UNSIGNED] = { ANNOTATION_NR, NULL, true },
	[JFR_UNIT_PERCENT] = { PERCENTAGE, NULL, false },
	[JFR_UNIT_HZ] = { FREQUENCY, NULL, false },
};

/* The fields of jfr_flag that every event with the flag begins with. */
static const struct {
	unsigned int flag; /* 0: all events */
	struct jfr_field field;
} leading[] = {
	{ 0, { "startTime", "Start Time", JFR_LONG, JFR_UNIT_TICKS_AT } },
	{ JFR_DURATION, { "duration", "Duration", JFR_LONG, JFR_UNIT_TICKS } },
	{ JFR_EVENT_THREAD, { "eventThread", "Event Thread", JFR_THREAD, JFR_UNIT_NONE } },
	{ JFR_EVENT_STACK, { "stackTrace", "Stack Trace", JFR_STACK_TRACE, JFR_UNIT_NONE } },
};
#define LEADING_COUNT (sizeof(leading) / sizeof(leading[0]))

#define WORDS_MAX 4096

struct word {
	uint32_t id;
	uint32_t uses;
};

/*
 * The tree of elements, whose words are numbers into the table of strings. It is put twice: then
 * the words that are used most have the numbers of one byte.
 */
struct tree {
	struct intern strings;
	struct jfr_bytes bytes;
	struct word words[WORDS_MAX];
};

static void put_word(struct tree *tree, const char *word)
{
	uint32_t id = intern_add(&tree->strings, word, strlen(word));

	if (!id || id > WORDS_MAX) {
		tree->bytes.failed = true;
		return;
	}
	tree->words[id - 1].id = id;
	tree->words[id - 1].uses++;
	jfr_put_long(&tree->bytes, id - 1);
}

static int compare_uses(const void *a, const void *b)
{
	const struct word *one = a, *other = b;

	if (one->uses != other->uses)
		return one->uses < other->uses ? 1 : -1;
	return one->id < other->id ? -1 : 1;
}

/* Empties the tree, and numbers the words it had by how often they were used. */
static void number_words(struct tree *tree)
{
	struct intern old = tree->strings;

	tree->strings = (struct intern){ 0 };
	tree->bytes.len = 0;
	if (tree->bytes.failed)
		old.count = 0;
	qsort(tree->words, old.count, sizeof(tree->words[0]), compare_uses);
	for (uint32_t i = 0; i < old.count; i++) {
		size_t len;
		const char *word = intern_get(&old, tree->words[i].id, &len);

		if (!intern_add(&tree->strings, word, len))
			tree->bytes.failed = true;
	}
	intern_free(&old);
}

static void put_id(struct tree *tree, unsigned int id)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", id);
	put_word(tree, text);
}

/* An element's name, and how many attributes follow: pairs of words. */
static void put_element(struct tree *tree, const char *name, unsigned int attributes)
{
	put_word(tree, name);
	jfr_put_long(&tree->bytes, attributes);
}

static void put_pair(struct tree *tree, const char *key, const char *value)
{
	put_word(tree, key);
	put_word(tree, value);
}

static void put_child_count(struct tree *tree, unsigned int count)
{
	jfr_put_long(&tree->bytes, count);
}

static void put_annotation(struct tree *tree, enum annotation annotation, const char *value)
{
	put_element(tree, "annotation", value ? 2 : 1);
	put_word(tree, "class");
	put_id(tree, JFR_ANNOTATION_FIRST + annotation);
	if (value)
		put_pair(tree, "value", value);
	put_child_count(tree, 0);
}

/* "Java Virtual Machine/GC" is two values. */
static void put_category(struct tree *tree, const char *category)
{
	unsigned int count = 1, n = 0;
	char key[32], part[64];

	for (const char *at = category; *at; at++)
		count += *at == '/';
	put_element(tree, "annotation", 1 + count);
	put_word(tree, "class");
	put_id(tree, JFR_ANNOTATION_FIRST + CATEGORY);
	while (n < count) {
		size_t len = strcspn(category, "/");

		snprintf(key, sizeof(key), "value-%u", n++);
		snprintf(part, sizeof(part), "%.*s", (int)len, category);
		put_pair(tree, key, part);
		category += len + 1;
	}
	put_child_count(tree, 0);
}

/* Whether a label is the words of a field's name: "Live Count" of liveCount. */
static bool says_the_name(const char *label, const char *name)
{
	for (; *label; label++) {
		if (*label == ' ')
			continue;
		if (tolower((unsigned char)*label) != tolower((unsigned char)*name))
			return false;
		name++;
	}
	return !*name;
}

/*
 * What a reader shows for a field. It shows the name of one without a label, so that none is
 * written for those of our own events that say no more, nor for events that nobody will see: each
 * chunk has them all.
 */
static const char *label_of(unsigned int type, const struct jfr_field *field)
{
	bool is_ours = !strncmp(jfr_type(type)->name, OWN_PREFIX, strlen(OWN_PREFIX));

	if (type >= JFR_DECLARED_FIRST)
		return NULL;
	if (is_ours && field->label && says_the_name(field->label, field->name))
		return NULL;
	return field->label;
}

static void put_field(struct tree *tree, unsigned int type, const struct jfr_field *field)
{
	unsigned int flags = jfr_type(field->type)->flags;
	const char *label = label_of(type, field);
	bool has_annotation = units[field->unit].annotation != ANNOTATION_NR;

	put_element(tree, "field", 2u + !!(flags & JFR_POOL) + !!(flags & JFR_IN_ARRAY));
	put_pair(tree, "name", field->name);
	put_word(tree, "class");
	put_id(tree, field->type);
	if (flags & JFR_POOL)
		put_pair(tree, "constantPool", "true");
	if (flags & JFR_IN_ARRAY)
		put_pair(tree, "dimension", "1");
	put_child_count(tree, !!label + units[field->unit].is_unsigned + has_annotation);
	if (label)
		put_annotation(tree, LABEL, label);
	if (units[field->unit].is_unsigned)
		put_annotation(tree, UNSIGNED, NULL);
	if (has_annotation)
		put_annotation(tree, units[field->unit].annotation, units[field->unit].value);
}

static unsigned int leading_count(const struct jfr_type *type)
{
	unsigned int count = 0;

	for (size_t i = 0; i < LEADING_COUNT && type->category; i++)
		count += !leading[i].flag || type->flags & leading[i].flag;
	return count;
}

static void put_type(struct tree *tree, unsigned int id, const struct jfr_type *type)
{
	bool simple = type->flags & JFR_SIMPLE;

	put_element(tree, "class", 2u + !!type->category + simple);
	put_pair(tree, "name", type->name);
	put_word(tree, "id");
	put_id(tree, id);
	if (type->category)
		put_pair(tree, "superType", "jdk.jfr.Event");
	if (simple)
		put_pair(tree, "simpleType", "true");
	put_child_count(tree, !!type->label + !!type->category + leading_count(type) +
				      (unsigned int)type->field_count);
	if (type->label)
		put_annotation(tree, LABEL, type->label);
	if (type->category)
		put_category(tree, type->category);
	for (size_t i = 0; i < LEADING_COUNT && type->category; i++)
		if (!leading[i].flag || type->flags & leading[i].flag)
			put_field(tree, id, &leading[i].field);
	for (size_t i = 0; i < type->field_count; i++)
		put_field(tree, id, &type->fields[i]);
}

static void put_annotation_type(struct tree *tree, enum annotation annotation)
{
	put_element(tree, "class", 3);
	put_pair(tree, "name", annotations[annotation].name);
	put_word(tree, "id");
	put_id(tree, JFR_ANNOTATION_FIRST + annotation);
	put_pair(tree, "superType", "java.lang.annotation.Annotation");
	put_child_count(tree, (unsigned int)annotations[annotation].has_value +
				      annotations[annotation].is_content_type);
	if (annotations[annotation].is_content_type)
		put_annotation(tree, CONTENT_TYPE, NULL);
	if (!annotations[annotation].has_value)
		return;
	put_element(tree, "field", annotation == CATEGORY ? 3 : 2);
	put_pair(tree, "name", "value");
	put_word(tree, "class");
	put_id(tree, JFR_STRING);
	if (annotation == CATEGORY)
		put_pair(tree, "dimension", "1");
	put_child_count(tree, 0);
}

static unsigned int type_count(void)
{
	unsigned int count = ANNOTATION_NR;

	for (unsigned int id = 0; id < JFR_DECLARED_END; id++)
		count += jfr_type(id) != NULL;
	return count;
}

static void put_tree(struct tree *tree)
{
	put_element(tree, "root", 0);
	put_child_count(tree, 2);
	put_element(tree, "metadata", 0);
	put_child_count(tree, type_count());
	for (enum annotation a = 0; a < ANNOTATION_NR; a++)
		put_annotation_type(tree, a);
	for (unsigned int id = 0; id < JFR_DECLARED_END; id++)
		if (jfr_type(id))
			put_type(tree, id, jfr_type(id));
	/* Times are shown in the reader's own zone; without a region the JDK does not open. */
	put_element(tree, "region", 3);
	put_pair(tree, "locale", "en_US");
	put_pair(tree, "gmtOffset", "0");
	put_pair(tree, "dst", "0");
	put_child_count(tree, 0);
}

/* Not one of the small numbers that JVMs give to theirs. */
static uint32_t content_id(const struct tree *tree, const struct jfr_bytes *strings)
{
	uint64_t hash = map64_hash(tree->bytes.data, tree->bytes.len);

	hash ^= map64_hash(strings->data, strings->len) >> 1;
	return (uint32_t)(hash & 0x3fffffff) | 0x40000000;
}

void jfr_put_metadata(struct jfr_bytes *bytes, uint64_t start_ticks)
{
	struct tree tree = { 0 };
	struct jfr_bytes strings = { 0 };
	size_t at;

	put_tree(&tree);
	number_words(&tree);
	put_tree(&tree);
	jfr_put_long(&strings, tree.strings.count);
	for (uint32_t id = 1; id <= tree.strings.count; id++)
		jfr_put_text(&strings, intern_get(&tree.strings, id, NULL));

	at = jfr_begin_event(bytes, JFR_METADATA);
	jfr_put_long(bytes, start_ticks);
	jfr_put_long(bytes, 0); /* duration */
	if (tree.bytes.failed || strings.failed) {
		bytes->failed = true;
	} else {
		jfr_put_long(bytes, content_id(&tree, &strings));
		jfr_put_bytes(bytes, strings.data, strings.len);
		jfr_put_bytes(bytes, tree.bytes.data, tree.bytes.len);
	}
	jfr_end_event(bytes, at);
	intern_free(&tree.strings);
	jfr_bytes_free(&tree.bytes);
	jfr_bytes_free(&strings);
}
