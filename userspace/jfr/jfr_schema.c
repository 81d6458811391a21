/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/jfr_decode.h"

#define DEPTH_MAX   16	       /* of the tree of elements; real ones have 5 */
#define STRINGS_MAX (1u << 20) /* real ones have 5,000 */
#define NAME_BYTES  4096       /* bytes kept of a name */
#define WORD_MAX    64	       /* longer texts are no keys, numbers or units */

/* The keys and names that are looked for, as places in the string table. */
enum key {
	KEY_CLASS,
	KEY_FIELD,
	KEY_ANNOTATION,
	KEY_NAME,
	KEY_ID,
	KEY_SUPER,
	KEY_SIMPLE,
	KEY_POOL,
	KEY_DIMENSION,
	KEY_VALUE,
	KEY_NR,
};

static const char *const key_names[KEY_NR] = {
	[KEY_CLASS] = "class",
	[KEY_FIELD] = "field",
	[KEY_ANNOTATION] = "annotation",
	[KEY_NAME] = "name",
	[KEY_ID] = "id",
	[KEY_SUPER] = "superType",
	[KEY_SIMPLE] = "simpleType",
	[KEY_POOL] = "constantPool",
	[KEY_DIMENSION] = "dimension",
	[KEY_VALUE] = "value",
};

#define KEY_LEN_MAX 12 /* "constantPool" */

#define NO_STRING UINT32_MAX

struct parser {
	struct jfr_schema *types;
	const uint8_t *event;
	size_t size;
	uint32_t *strings; /* owned; [index]: offset in event */
	uint32_t *names;   /* owned; [index]: its place in the types' names, 0 not there yet */
	uint32_t string_count;
	uint32_t keys[KEY_NR];
	struct strbuf text; /* of one string */
	int64_t timespan_id, timestamp_id;
	bool want_fields; /* the second pass */
	uint32_t type;	  /* that is being read */
	int err;
};

/* An element's attributes that matter, as places in the string table. */
struct element {
	uint32_t name;
	uint32_t values[KEY_NR];
};

/* ---- the string table */

/* At most about max bytes of it. Valid until the next call. */
static const char *string_part(struct parser *p, uint32_t index, uint32_t max)
{
	struct jfr_string string;
	struct cursor c;

	strbuf_reset(&p->text);
	if (index >= p->string_count)
		return "";
	c = cursor_of(p->event + p->strings[index], p->size - p->strings[index]);
	string = jfr_string(&c);
	if (string.size > max)
		string.size = max;
	jfr_string_add(&p->text, &string);
	return strbuf_text(&p->text);
}

static const char *word(struct parser *p, uint32_t index)
{
	return string_part(p, index, WORD_MAX);
}

static int read_strings(struct parser *p, struct cursor *c)
{
	uint64_t count = jfr_varint(c);

	if (count > cursor_left(c) || count > STRINGS_MAX || p->size > UINT32_MAX)
		return -EBADMSG;
	p->strings = calloc((size_t)count + 1, sizeof(*p->strings));
	p->names = calloc((size_t)count + 1, sizeof(*p->names));
	if (!p->strings || !p->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		p->strings[i] = (uint32_t)(c->at - p->event);
		jfr_string(c);
	}
	p->string_count = (uint32_t)count;
	return c->failed ? -EBADMSG : 0;
}

static void find_keys(struct parser *p)
{
	for (int key = 0; key < KEY_NR; key++)
		p->keys[key] = NO_STRING;
	for (uint32_t i = 0; i < p->string_count; i++) {
		struct cursor c = cursor_of(p->event + p->strings[i], p->size - p->strings[i]);
		const char *text;

		if (jfr_string(&c).size > KEY_LEN_MAX)
			continue;
		text = word(p, i);

		for (int key = 0; key < KEY_NR; key++) {
			if (p->keys[key] == NO_STRING && !strcmp(text, key_names[key]))
				p->keys[key] = i;
		}
	}
}

/* ---- elements */

static struct element read_element(struct parser *p, struct cursor *c)
{
	struct element element;
	uint64_t count;

	for (int key = 0; key < KEY_NR; key++)
		element.values[key] = NO_STRING;
	element.name = (uint32_t)jfr_varint(c);
	count = jfr_varint(c);
	if (count > cursor_left(c))
		c->failed = true;
	while (count-- && !c->failed) {
		uint32_t name = (uint32_t)jfr_varint(c);
		uint32_t value = (uint32_t)jfr_varint(c);

		for (int key = 0; key < KEY_NR; key++) {
			if (p->keys[key] == name && name != NO_STRING)
				element.values[key] = value;
		}
	}
	return element;
}

static int64_t number_of(struct parser *p, uint32_t index)
{
	return strtoll(word(p, index), NULL, 10);
}

/* Keeps text among the names of the types. Returns its place; 0, which is "", without memory. */
static uint32_t keep_text(struct parser *p, const char *text)
{
	struct jfr_schema *types = p->types;
	size_t len = strlen(text) + 1;
	size_t at = types->names_len;

	if (at + len > types->names_capacity) {
		size_t capacity = 2 * (types->names_capacity + len) + 4096;
		char *names = capacity > UINT32_MAX ? NULL : realloc(types->names, capacity);

		if (!names) {
			p->err = -ENOMEM;
			return 0;
		}
		types->names = names;
		types->names_capacity = capacity;
	}
	memcpy(types->names + at, text, len);
	types->names_len += len;
	return (uint32_t)at;
}

static uint32_t name_of(struct parser *p, uint32_t index)
{
	if (index >= p->string_count)
		return 0;
	if (!p->names[index])
		p->names[index] = keep_text(p, string_part(p, index, NAME_BYTES));
	return p->names[index];
}

static uint8_t kind_of(const char *name)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} kinds[] = {
		{ "boolean", JFR_KIND_BYTE },
		{ "byte", JFR_KIND_BYTE },
		{ "int", JFR_KIND_INT },
		{ "short", JFR_KIND_SHORT },
		{ "char", JFR_KIND_CHAR },
		{ "long", JFR_KIND_LONG },
		{ "float", JFR_KIND_FLOAT },
		{ "double", JFR_KIND_DOUBLE },
		{ "java.lang.String", JFR_KIND_STRING },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(name, kinds[i].name))
			return kinds[i].kind;
	}
	return JFR_KIND_STRUCT;
}

/* ---- the first pass: types */

static void add_type(struct parser *p, const struct element *element)
{
	struct jfr_schema *types = p->types;
	struct jfr_schema_type *type;
	const char *name;

	if (types->count == JFR_SCHEMA_TYPES_MAX) {
		p->err = -EBADMSG;
		return;
	}
	/* Room for a power of two of them. */
	if (!(types->count & (types->count - 1))) {
		size_t capacity = types->count ? 2 * (size_t)types->count : 1;

		type = reallocarray(types->types, capacity, sizeof(*type));
		if (!type) {
			p->err = -ENOMEM;
			return;
		}
		types->types = type;
	}
	type = &types->types[types->count];
	*type = (struct jfr_schema_type){ .id = number_of(p, element->values[KEY_ID]) };
	type->is_event = !strcmp(word(p, element->values[KEY_SUPER]), "jdk.jfr.Event");
	type->is_simple = !strcmp(word(p, element->values[KEY_SIMPLE]), "true");
	type->name = name_of(p, element->values[KEY_NAME]);
	name = types->names + type->name;
	type->kind = kind_of(name);
	if (!strcmp(name, "jdk.jfr.Timespan"))
		p->timespan_id = type->id;
	if (!strcmp(name, "jdk.jfr.Timestamp"))
		p->timestamp_id = type->id;
	if (map64_set(&types->by_id, (uint64_t)type->id, types->count))
		p->err = -ENOMEM;
	types->count++;
}

/* ---- the second pass: their fields */

static void add_field(struct parser *p, const struct element *element)
{
	struct jfr_schema *types = p->types;
	struct jfr_schema_type *type = &types->types[p->type];
	struct jfr_schema_field *field;

	if (types->field_count == JFR_SCHEMA_FIELDS_MAX) {
		p->err = -EBADMSG;
		return;
	}
	if (!(types->field_count & (types->field_count - 1))) {
		size_t capacity = types->field_count ? 2 * (size_t)types->field_count : 1;

		field = reallocarray(types->fields, capacity, sizeof(*field));
		if (!field) {
			p->err = -ENOMEM;
			return;
		}
		types->fields = field;
	}
	field = &types->fields[types->field_count++];
	*field = (struct jfr_schema_field){
		.name = name_of(p, element->values[KEY_NAME]),
		.type = jfr_schema_by_id(types, number_of(p, element->values[KEY_CLASS])),
		.is_reference = !strcmp(word(p, element->values[KEY_POOL]), "true"),
		.is_array = number_of(p, element->values[KEY_DIMENSION]) > 0,
	};
	type->field_count++;
}

static void start_fields(struct parser *p)
{
	struct jfr_schema_type *type = &p->types->types[p->type];

	type->first_field = p->types->field_count;
	type->field_count = 0;
}

static uint8_t time_of(const char *text, bool is_moment)
{
	static const struct {
		const char *text;
		uint8_t span, moment;
	} units[] = {
		{ "TICKS", JFR_TIME_TICKS, JFR_TIME_TICKS_AT },
		{ "NANOSECONDS", JFR_TIME_NS, JFR_TIME_NONE },
		{ "MICROSECONDS", JFR_TIME_US, JFR_TIME_NONE },
		{ "MILLISECONDS", JFR_TIME_MS, JFR_TIME_NONE },
		{ "SECONDS", JFR_TIME_S, JFR_TIME_NONE },
		{ "NANOSECONDS_SINCE_EPOCH", JFR_TIME_NONE, JFR_TIME_EPOCH_NS },
		{ "MILLISECONDS_SINCE_EPOCH", JFR_TIME_NONE, JFR_TIME_EPOCH_MS },
		{ "SECONDS_SINCE_EPOCH", JFR_TIME_NONE, JFR_TIME_EPOCH_S },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(text, units[i].text))
			return is_moment ? units[i].moment : units[i].span;
	}
	return JFR_TIME_NONE;
}

/* An annotation of the last field. */
static void add_time(struct parser *p, const struct element *element)
{
	int64_t id = number_of(p, element->values[KEY_CLASS]);
	struct jfr_schema_type *type = &p->types->types[p->type];

	if (!type->field_count || (id != p->timespan_id && id != p->timestamp_id))
		return;
	p->types->fields[p->types->field_count - 1].time =
		time_of(word(p, element->values[KEY_VALUE]), id == p->timestamp_id);
}

static void take_element(struct parser *p, const struct element *element, uint32_t parent)
{
	bool in_field = parent == p->keys[KEY_FIELD] && parent != NO_STRING;

	if (element->name == NO_STRING)
		return;
	if (element->name == p->keys[KEY_CLASS]) {
		if (!p->want_fields)
			add_type(p, element);
		else
			start_fields(p);
	} else if (!p->want_fields || p->type >= p->types->count) {
		return;
	} else if (element->name == p->keys[KEY_FIELD] && parent == p->keys[KEY_CLASS]) {
		add_field(p, element);
	} else if (element->name == p->keys[KEY_ANNOTATION] && in_field) {
		add_time(p, element);
	}
}

static void read_tree(struct parser *p, struct cursor *c, uint32_t parent, int depth)
{
	struct element element = read_element(p, c);
	uint64_t children = jfr_varint(c);
	bool is_class = element.name == p->keys[KEY_CLASS];

	if (c->failed || depth == DEPTH_MAX || children > cursor_left(c)) {
		p->err = p->err ? p->err : -EBADMSG;
		return;
	}
	take_element(p, &element, parent);
	while (children-- && !p->err)
		read_tree(p, c, element.name, depth + 1);
	/* The second pass meets the types in the order of the first. */
	if (is_class && p->want_fields)
		p->type++;
}

/* A primitive is what has no fields; "java.lang.String" may be declared with some. */
static void settle_kinds(struct jfr_schema *types)
{
	for (uint32_t i = 0; i < types->count; i++) {
		struct jfr_schema_type *type = &types->types[i];

		if (type->field_count && type->kind != JFR_KIND_STRING)
			type->kind = JFR_KIND_STRUCT;
		if (type->field_count != 1)
			type->is_simple = false;
	}
}

static int parse(struct parser *p, bool with_fields)
{
	struct cursor c = cursor_of(p->event, p->size);
	struct cursor tree;
	int err;

	jfr_varint(&c); /* size */
	if (jfr_varint(&c) != 0 || c.failed)
		return -EBADMSG;
	jfr_skip_varints(&c, 2); /* start, duration */
	p->types->metadata_id = (int64_t)jfr_varint(&c);
	keep_text(p, "");
	err = read_strings(p, &c);
	if (err)
		return err;
	find_keys(p);
	tree = c;
	read_tree(p, &tree, NO_STRING, 0);
	if (p->err)
		return p->err;
	p->want_fields = with_fields;
	if (!with_fields)
		return 0;
	read_tree(p, &c, NO_STRING, 0);
	settle_kinds(p->types);
	return p->err;
}

int jfr_schema_read(const void *event, size_t size, bool with_fields, struct jfr_schema *out)
{
	struct jfr_schema types = { 0 };
	struct parser p = {
		.types = &types,
		.event = event,
		.size = size,
		.timespan_id = -1,
		.timestamp_id = -1,
	};
	int err = parse(&p, with_fields);

	free(p.strings);
	free(p.names);
	strbuf_free(&p.text);
	if (err) {
		jfr_schema_free(&types);
		return err;
	}
	*out = types;
	return 0;
}

void jfr_schema_free(struct jfr_schema *types)
{
	free(types->types);
	free(types->fields);
	free(types->names);
	map64_free(&types->by_id);
	*types = (struct jfr_schema){ 0 };
}

/* ---- finding */

uint32_t jfr_schema_by_id(const struct jfr_schema *types, int64_t id)
{
	uint32_t number;

	return map64_get(&types->by_id, (uint64_t)id, &number) ? number : JFR_NO_TYPE;
}

uint32_t jfr_schema_by_name(const struct jfr_schema *types, const char *name)
{
	for (uint32_t i = 0; i < types->count; i++) {
		if (!strcmp(types->names + types->types[i].name, name))
			return i;
	}
	return JFR_NO_TYPE;
}

const char *jfr_schema_type_name(const struct jfr_schema *types, uint32_t type)
{
	return type < types->count ? types->names + types->types[type].name : "";
}

const char *jfr_schema_field_name(const struct jfr_schema *types,
				  const struct jfr_schema_field *field)
{
	return types->names + field->name;
}

const struct jfr_schema_field *jfr_schema_field(const struct jfr_schema *types, uint32_t type,
						const char *name, size_t len)
{
	const struct jfr_schema_type *t = &types->types[type];

	for (uint32_t i = 0; i < t->field_count; i++) {
		const struct jfr_schema_field *field = &types->fields[t->first_field + i];
		const char *text = types->names + field->name;

		if (!strncmp(text, name, len) && !text[len])
			return field;
	}
	return NULL;
}
