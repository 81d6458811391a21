/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "jfr/jfr_chunk.h"

/* The part of jfr_chunk.h that reads fields and constants. */

/* Longer chains of constants that stand for each other are loops. */
#define TEXT_STEPS 8

double jfr_decimal(const struct jfr_item *item, unsigned int field)
{
	if (item->slots[field].taken == JFR_TAKEN_DECIMAL)
		return item->values[field].decimal;
	return (double)jfr_number(item, field);
}

/* ---- time */

static int64_t saturate(double value)
{
	if (isnan(value))
		return 0;
	if (value >= 9223372036854775807.0)
		return INT64_MAX;
	return value <= -9223372036854775808.0 ? INT64_MIN : (int64_t)value;
}

static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

static int64_t multiply(int64_t a, int64_t b)
{
	int64_t product;

	if (__builtin_mul_overflow(a, b, &product))
		return a > 0 ? INT64_MAX : INT64_MIN;
	return product;
}

/* As the JDK does it, in double and cut, so that the results are the same. */
static int64_t span_of(const struct jfr_chunk *chunk, int64_t ticks)
{
	return saturate((double)ticks / chunk->ticks_per_ns);
}

int64_t jfr_ns(const struct jfr_item *item, unsigned int field)
{
	const struct jfr_chunk *chunk = item->chunk;
	int64_t value = jfr_number(item, field);

	/* Ends of the range have a meaning of their own: "forever", "not known". */
	if (value == INT64_MAX || value == INT64_MIN)
		return value;
	switch (item->slots[field].time) {
	case JFR_TIME_TICKS:
		return span_of(chunk, value);
	case JFR_TIME_TICKS_AT:
		return add(
			chunk->clock_ns,
			span_of(chunk, (int64_t)((uint64_t)value - (uint64_t)chunk->clock_ticks)));
	case JFR_TIME_US:
		return multiply(value, 1000);
	case JFR_TIME_MS:
	case JFR_TIME_EPOCH_MS:
		return multiply(value, 1000000);
	case JFR_TIME_S:
	case JFR_TIME_EPOCH_S:
		return multiply(value, 1000000000);
	case JFR_TIME_NONE:
	case JFR_TIME_NS:
	case JFR_TIME_EPOCH_NS:
		break;
	}
	return value;
}

/* ---- text */

/* A string that may be in the pool. Whether it is one. */
static bool add_string(const struct jfr_chunk *chunk, struct jfr_string string, struct strbuf *to)
{
	struct cursor c;

	if (string.encoding == JFR_STRING_POOLED) {
		if (!jfr_constants_find(&chunk->constants, chunk->string_type, (int64_t)string.id,
					&c))
			return false;
		string = jfr_string(&c);
	}
	if (string.encoding == JFR_STRING_NULL || string.encoding == JFR_STRING_POOLED)
		return false;
	/* Never NULL for a string that is there. */
	strbuf_add(to, "", 0);
	jfr_string_add(to, &string);
	return true;
}

static bool add_constant(const struct jfr_chunk *chunk, uint32_t type, int64_t id,
			 struct strbuf *to, int steps)
{
	union jfr_value values[2];
	struct cursor c;

	if (!steps || type >= chunk->schema.count || !chunk->texts[type] ||
	    !jfr_constants_find(&chunk->constants, type, id, &c))
		return false;
	jfr_plan_run(&chunk->plans, chunk->texts[type] - 1, &c, values);
	for (int i = 0; i < 2 && !c.failed; i++) {
		const struct jfr_slot *slot = &chunk->text_slots[type][i];

		if (slot->taken == JFR_TAKEN_STRING && add_string(chunk, values[i].string, to))
			return true;
		if (slot->taken == JFR_TAKEN_REFERENCE &&
		    add_constant(chunk, slot->type, values[i].number, to, steps - 1))
			return true;
	}
	return false;
}

bool jfr_constant_text(const struct jfr_chunk *chunk, uint32_t type, int64_t id, struct strbuf *to)
{
	strbuf_reset(to);
	return add_constant(chunk, type, id, to, TEXT_STEPS);
}

bool jfr_text(const struct jfr_item *item, unsigned int field, struct strbuf *to)
{
	const struct jfr_slot *slot = &item->slots[field];

	if (slot->taken == JFR_TAKEN_REFERENCE)
		return jfr_constant_text(item->chunk, slot->type, item->values[field].number, to);
	strbuf_reset(to);
	return slot->taken == JFR_TAKEN_STRING &&
	       add_string(item->chunk, item->values[field].string, to);
}

/* ---- constants and elements */

bool jfr_constant(const struct jfr_chunk *chunk, size_t want, int64_t id, struct jfr_item *out)
{
	const struct jfr_wanted *wanted = &chunk->wanted[want];
	struct cursor c;

	if (wanted->plan == JFR_PLAN_NONE ||
	    !jfr_constants_find(&chunk->constants, wanted->type, id, &c))
		return false;
	out->chunk = chunk;
	out->slots = wanted->slots;
	jfr_plan_run(&chunk->plans, wanted->plan, &c, out->values);
	return !c.failed;
}

struct jfr_elements jfr_elements(const struct jfr_item *item, unsigned int field, size_t want)
{
	const struct jfr_slot *slot = &item->slots[field];
	const struct jfr_wanted *wanted = &item->chunk->wanted[want];
	struct jfr_elements elements = { .chunk = item->chunk, .want = want };

	if (slot->taken != JFR_TAKEN_ARRAY || slot->type != wanted->type ||
	    wanted->plan == JFR_PLAN_NONE)
		return elements;
	elements.c = cursor_of(item->values[field].array.at, item->values[field].array.size);
	elements.left = item->values[field].array.count;
	elements.skip = item->chunk->plans.skips[slot->type] - 1;
	return elements;
}

bool jfr_next(struct jfr_elements *elements, struct jfr_item *out)
{
	const struct jfr_chunk *chunk = elements->chunk;
	const struct jfr_wanted *wanted;
	struct cursor c = elements->c;

	if (!elements->left)
		return false;
	wanted = &chunk->wanted[elements->want];
	out->chunk = chunk;
	out->slots = wanted->slots;
	jfr_plan_run(&chunk->plans, wanted->plan, &c, out->values);
	/* The plan ends behind the last field it takes, which need not be the last one. */
	jfr_plan_run(&chunk->plans, elements->skip, &elements->c, NULL);
	elements->left--;
	return !c.failed && !elements->c.failed;
}
