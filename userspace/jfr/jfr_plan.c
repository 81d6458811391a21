/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Bounds against metadata that was made to explode: structures in structures in structures. JDK 25
 * needs 6 levels and, for all types together, some 1,500 ops.
 */
#define DEPTH_MAX    16
#define PLAN_OPS_MAX 1024
#define OPS_MAX	     (1u << 20)
#define STEPS_MIN    4096
#define STEPS_FIELD  16 /* more for each field there is */

enum {
	OP_VARINTS, /* arg of them */
	OP_BYTES,   /* arg of them */
	OP_STRING,
	OP_ARRAY, /* of values of plan arg */
	OP_TAKE_LONG,
	OP_TAKE_INT,
	OP_TAKE_SHORT,
	OP_TAKE_BYTE,
	OP_TAKE_FLOAT,
	OP_TAKE_DOUBLE,
	OP_TAKE_STRING,
	OP_TAKE_ARRAY,
};

/* What has been asked for, and the plan as far as it is made. */
struct maker {
	struct jfr_plans *plans;
	const char *const *fields;
	size_t field_count;
	struct jfr_slot *slots;
	struct jfr_op ops[PLAN_OPS_MAX];
	uint32_t count;
	uint32_t least;
	uint32_t after_last; /* ops up to the last one that takes */
	bool bad;
};

/* ---- making one */

static void add_op(struct maker *m, uint8_t code, uint32_t arg, uint8_t slot)
{
	struct jfr_op *last = m->count ? &m->ops[m->count - 1] : NULL;

	if (last && last->code == code && (code == OP_VARINTS || code == OP_BYTES)) {
		last->arg += arg;
		return;
	}
	if (m->count == PLAN_OPS_MAX) {
		m->bad = true;
		return;
	}
	m->ops[m->count++] = (struct jfr_op){ .code = code, .slot = slot, .arg = arg };
	if (code >= OP_TAKE_LONG)
		m->after_last = m->count;
}

/*
 * The slot of field, or -1 when nobody asked. path is the way to the structure it is in,
 * "heapSpace." or "".
 */
static int slot_of(const struct maker *m, const char *path, const char *name)
{
	size_t path_len = strlen(path);

	for (size_t i = 0; i < m->field_count; i++) {
		if (!strncmp(m->fields[i], path, path_len) &&
		    !strcmp(m->fields[i] + path_len, name) &&
		    m->slots[i].taken == JFR_TAKEN_NOTHING)
			return (int)i;
	}
	return -1;
}

static void make_array(struct maker *m, const struct jfr_schema_field *field, int slot)
{
	uint32_t element = JFR_PLAN_NONE;

	if (!field->is_reference && field->type != JFR_NO_TYPE)
		element = jfr_plan_skip(m->plans, field->type);
	if (!field->is_reference && element == JFR_PLAN_NONE) {
		m->bad = true;
		return;
	}
	m->least++;
	if (slot >= 0 && !field->is_reference) {
		m->slots[slot].taken = JFR_TAKEN_ARRAY;
		m->slots[slot].type = field->type;
		add_op(m, OP_TAKE_ARRAY, element, (uint8_t)slot);
		return;
	}
	add_op(m, OP_ARRAY, element, 0);
}

static void make_number(struct maker *m, uint8_t kind, int slot)
{
	static const uint8_t codes[] = {
		[JFR_KIND_BYTE] = OP_TAKE_BYTE, [JFR_KIND_SHORT] = OP_TAKE_SHORT,
		[JFR_KIND_INT] = OP_TAKE_INT,	[JFR_KIND_CHAR] = OP_TAKE_LONG,
		[JFR_KIND_LONG] = OP_TAKE_LONG,
	};

	m->least++;
	if (slot < 0) {
		add_op(m, kind == JFR_KIND_BYTE ? OP_BYTES : OP_VARINTS, 1, 0);
		return;
	}
	m->slots[slot].taken = JFR_TAKEN_NUMBER;
	add_op(m, codes[kind], 0, (uint8_t)slot);
}

static void make_decimal(struct maker *m, uint8_t kind, int slot)
{
	uint32_t size = kind == JFR_KIND_FLOAT ? 4 : 8;

	m->least += size;
	if (slot < 0) {
		add_op(m, OP_BYTES, size, 0);
		return;
	}
	m->slots[slot].taken = JFR_TAKEN_DECIMAL;
	add_op(m, size == 4 ? OP_TAKE_FLOAT : OP_TAKE_DOUBLE, 0, (uint8_t)slot);
}

static void make_string(struct maker *m, int slot)
{
	m->least++;
	if (slot >= 0)
		m->slots[slot].taken = JFR_TAKEN_STRING;
	add_op(m, slot < 0 ? OP_STRING : OP_TAKE_STRING, 0, slot < 0 ? 0 : (uint8_t)slot);
}

static void make_type(struct maker *m, uint32_t number, const char *path, int slot, int depth);

static void make_structure(struct maker *m, const struct jfr_schema_field *field, const char *path,
			   int depth)
{
	const struct jfr_schema *schema = m->plans->schema;
	const char *name = jfr_schema_field_name(schema, field);
	char inner[256] = "";
	int len = 0;

	/* A path that nobody asks for only has to be one that cannot be asked for. */
	if (path)
		len = snprintf(inner, sizeof(inner), "%s%s.", path, name);
	make_type(m, field->type, path && len < (int)sizeof(inner) ? inner : NULL, -1, depth + 1);
}

static void make_field(struct maker *m, const struct jfr_schema_field *field, const char *path,
		       int depth)
{
	const struct jfr_schema *schema = m->plans->schema;
	int slot = path ? slot_of(m, path, jfr_schema_field_name(schema, field)) : -1;

	if (m->plans->steps++ > STEPS_MIN + STEPS_FIELD * schema->field_count) {
		m->bad = true;
		return;
	}
	if (slot >= 0) {
		m->slots[slot].time = (enum jfr_time)field->time;
		m->slots[slot].type = field->type;
	}
	if (field->is_array) {
		make_array(m, field, slot);
	} else if (field->is_reference) {
		make_number(m, JFR_KIND_LONG, slot);
		if (slot >= 0)
			m->slots[slot].taken = JFR_TAKEN_REFERENCE;
	} else if (field->type == JFR_NO_TYPE) {
		m->bad = true;
	} else if (schema->types[field->type].kind == JFR_KIND_STRUCT && slot < 0) {
		make_structure(m, field, path, depth);
	} else {
		make_type(m, field->type, NULL, slot, depth + 1);
	}
}

/* slot is for a type without fields, or whose one field stands for it. */
static void make_type(struct maker *m, uint32_t number, const char *path, int slot, int depth)
{
	const struct jfr_schema *schema = m->plans->schema;
	const struct jfr_schema_type *type = &schema->types[number];

	if (depth > DEPTH_MAX || m->bad) {
		m->bad = true;
		return;
	}
	switch ((enum jfr_kind)type->kind) {
	case JFR_KIND_BYTE:
	case JFR_KIND_SHORT:
	case JFR_KIND_INT:
	case JFR_KIND_CHAR:
	case JFR_KIND_LONG:
		make_number(m, type->kind, slot);
		break;
	case JFR_KIND_FLOAT:
	case JFR_KIND_DOUBLE:
		make_decimal(m, type->kind, slot);
		break;
	case JFR_KIND_STRING:
		make_string(m, slot);
		break;
	case JFR_KIND_STRUCT:
		for (uint32_t i = 0; i < type->field_count && !m->bad; i++)
			make_field(m, &schema->fields[type->first_field + i], path, depth);
		break;
	}
}

/* ---- keeping it */

static uint32_t keep(struct jfr_plans *plans, const struct maker *m, uint32_t count)
{
	if (plans->op_count + count > OPS_MAX)
		return JFR_PLAN_NONE;
	if (plans->op_count + count > plans->op_capacity) {
		uint32_t capacity = 2 * (plans->op_count + count);
		struct jfr_op *ops = reallocarray(plans->ops, capacity, sizeof(*ops));

		if (!ops)
			goto no_memory;
		plans->ops = ops;
		plans->op_capacity = capacity;
	}
	if (plans->plan_count == plans->plan_capacity) {
		uint32_t capacity = plans->plan_capacity ? 2 * plans->plan_capacity : 64;
		struct jfr_plan *all = reallocarray(plans->plans, capacity, sizeof(*all));

		if (!all)
			goto no_memory;
		plans->plans = all;
		plans->plan_capacity = capacity;
	}
	if (count)
		memcpy(plans->ops + plans->op_count, m->ops, count * sizeof(*m->ops));
	plans->plans[plans->plan_count] = (struct jfr_plan){
		.first = plans->op_count,
		.count = count,
		.least = m->least,
	};
	plans->op_count += count;
	return plans->plan_count++;

no_memory:
	plans->err = -ENOMEM;
	return JFR_PLAN_NONE;
}

static uint32_t make(struct jfr_plans *plans, uint32_t type, const char *const *fields,
		     size_t count, struct jfr_slot *slots)
{
	struct maker *m = malloc(sizeof(*m));
	uint32_t plan = JFR_PLAN_NONE;

	if (!m) {
		plans->err = -ENOMEM;
		return JFR_PLAN_NONE;
	}
	m->plans = plans;
	m->fields = fields;
	m->field_count = count;
	m->slots = slots;
	m->count = m->least = m->after_last = 0;
	m->bad = false;
	make_type(m, type, count ? "" : NULL, -1, 0);
	if (!m->bad)
		plan = keep(plans, m, count ? m->after_last : m->count);
	free(m);
	return plan;
}

#define BEING_MADE UINT32_MAX

uint32_t jfr_plan_skip(struct jfr_plans *plans, uint32_t type)
{
	uint32_t plan;

	if (!plans->skips) {
		plans->skips = calloc((size_t)plans->schema->count + 1, sizeof(*plans->skips));
		if (!plans->skips) {
			plans->err = -ENOMEM;
			return JFR_PLAN_NONE;
		}
	}
	/* A type that has an array of itself has no plan. Nor has one for which none could be made.
	 */
	if (plans->skips[type] == BEING_MADE)
		return JFR_PLAN_NONE;
	if (plans->skips[type])
		return plans->skips[type] - 1;
	plans->skips[type] = BEING_MADE;
	if (plans->nesting == DEPTH_MAX)
		return JFR_PLAN_NONE;
	plans->nesting++;
	plan = make(plans, type, NULL, 0, NULL);
	plans->nesting--;
	if (plan != JFR_PLAN_NONE)
		plans->skips[type] = plan + 1;
	return plan;
}

uint32_t jfr_plan_take(struct jfr_plans *plans, uint32_t type, const char *const *fields,
		       size_t count, struct jfr_slot *slots)
{
	memset(slots, 0, count * sizeof(*slots));
	for (size_t i = 0; i < count; i++)
		slots[i].type = JFR_NO_TYPE;
	return make(plans, type, fields, count, slots);
}

void jfr_plans_free(struct jfr_plans *plans)
{
	free(plans->ops);
	free(plans->plans);
	free(plans->skips);
	*plans = (struct jfr_plans){ 0 };
}

/* ---- running */

/* The bits of a floating-point field. */
static uint64_t read_bits(struct cursor *c, size_t size)
{
	const uint8_t *at = cursor_bytes(c, size);

	return at ? jfr_big_endian(at, size) : 0;
}

static double read_float(struct cursor *c)
{
	uint32_t bits = (uint32_t)read_bits(c, sizeof(bits));
	float value;

	memcpy(&value, &bits, sizeof(value));
	return (double)value;
}

static double read_double(struct cursor *c)
{
	uint64_t bits = read_bits(c, sizeof(bits));
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The most common element by far is that of stack traces: only integers. */
static void skip_elements(const struct jfr_plans *plans, uint32_t element, uint64_t count,
			  struct cursor *c)
{
	const struct jfr_plan *plan;
	const struct jfr_op *op;

	if (element == JFR_PLAN_NONE) {
		jfr_skip_varints(c, count);
		return;
	}
	plan = &plans->plans[element];
	/* Without this, elements of no size could be many for nothing. */
	if (count && (!plan->least || count > cursor_left(c) / plan->least)) {
		c->failed = true;
		return;
	}
	op = plan->count == 1 ? &plans->ops[plan->first] : NULL;
	if (op && op->code == OP_VARINTS) {
		jfr_skip_varints(c, count * op->arg);
		return;
	}
	while (count-- && !c->failed)
		jfr_plan_run(plans, element, c, NULL);
}

static struct jfr_array read_array(const struct jfr_plans *plans, uint32_t element,
				   struct cursor *c)
{
	uint64_t count = jfr_varint(c);
	struct jfr_array array = { .at = c->at };

	if (count > cursor_left(c)) {
		c->failed = true;
		return array;
	}
	skip_elements(plans, element, count, c);
	if (c->failed || (size_t)(c->at - array.at) > UINT32_MAX)
		return (struct jfr_array){ .at = c->at };
	array.size = (uint32_t)(c->at - array.at);
	array.count = (uint32_t)count;
	return array;
}

static void run_op(const struct jfr_plans *plans, const struct jfr_op *op, struct cursor *c,
		   union jfr_value *values)
{
	/* A plan that only steps over has none. */
	if (op->code >= OP_TAKE_LONG && !values)
		return;
	switch (op->code) {
	case OP_VARINTS:
		jfr_skip_varints(c, op->arg);
		break;
	case OP_BYTES:
		cursor_bytes(c, op->arg);
		break;
	case OP_STRING:
		jfr_string(c);
		break;
	case OP_ARRAY:
		read_array(plans, op->arg, c);
		break;
	case OP_TAKE_LONG:
		values[op->slot].number = (int64_t)jfr_varint(c);
		break;
	case OP_TAKE_INT:
		values[op->slot].number = (int32_t)(uint32_t)jfr_varint(c);
		break;
	case OP_TAKE_SHORT:
		values[op->slot].number = (int16_t)(uint16_t)jfr_varint(c);
		break;
	case OP_TAKE_BYTE:
		values[op->slot].number =
			(int64_t)((uint64_t)cursor_u8(c) << 56) >> 56; /* with its sign */
		break;
	case OP_TAKE_FLOAT:
		values[op->slot].decimal = read_float(c);
		break;
	case OP_TAKE_DOUBLE:
		values[op->slot].decimal = read_double(c);
		break;
	case OP_TAKE_STRING:
		values[op->slot].string = jfr_string(c);
		break;
	case OP_TAKE_ARRAY:
		values[op->slot].array = read_array(plans, op->arg, c);
		break;
	default:
		break;
	}
}

void jfr_plan_run(const struct jfr_plans *plans, uint32_t plan, struct cursor *c,
		  union jfr_value *values)
{
	uint32_t at = plans->plans[plan].first;
	uint32_t end = at + plans->plans[plan].count;

	for (; plans->ops && at < end && !c->failed; at++)
		run_op(plans, &plans->ops[at], c, values);
}
