/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_PLAN_H
#define JVMSCOPE_JFR_PLAN_H

#include "base/cursor.h"
#include "jfr/jfr_decode.h"
#include "jfr/jfr_schema.h"

/*
 * How to walk over a value of a type, and which of its fields to take on the way.
 *
 * Compiled from the chunk's metadata: structures inside are flattened, neighbours that are only
 * stepped over are merged. A plan that takes fields ends behind the last of them.
 */
struct jfr_op {
	uint8_t code; /* enum in jfr_plan.c */
	uint8_t slot;
	uint32_t arg;
};

#define JFR_PLAN_NONE UINT32_MAX

/* A part of the ops of a chunk. */
struct jfr_plan {
	uint32_t first;
	uint32_t count;
	uint32_t least; /* bytes that a value has at least */
};

/* What a taken field is. */
enum jfr_taken {
	JFR_TAKEN_NOTHING, /* the type has no such field */
	JFR_TAKEN_NUMBER,
	JFR_TAKEN_DECIMAL,
	JFR_TAKEN_STRING,
	JFR_TAKEN_REFERENCE, /* number is the id of a constant of type */
	JFR_TAKEN_ARRAY,     /* of structures of type, inline */
};

struct jfr_slot {
	enum jfr_taken taken;
	enum jfr_time time;
	uint32_t type; /* of the field */
};

/* A field's value; slots tell which member is meant. */
union jfr_value {
	int64_t number;
	double decimal;
	struct jfr_string string;
	struct jfr_array {
		const uint8_t *at; /* the elements */
		uint32_t size;	   /* bytes */
		uint32_t count;
	} array;
};

/* The plans of a chunk. Zeroed it is empty; schema must be set. */
struct jfr_plans {
	const struct jfr_schema *schema; /* borrowed */
	struct jfr_op *ops;		 /* owned */
	uint32_t op_count;
	uint32_t op_capacity;
	struct jfr_plan *plans; /* owned */
	uint32_t plan_count;
	uint32_t plan_capacity;
	uint32_t *skips; /* owned; [type]: plan + 1 that steps over it, 0 not compiled */
	uint32_t steps;	 /* work done so far, and levels of arrays: both bounded */
	uint32_t nesting;
	int err; /* -ENOMEM */
};

/* The plan that steps over one value of a type, or JFR_PLAN_NONE when it cannot be known. */
uint32_t jfr_plan_skip(struct jfr_plans *plans, uint32_t type);

/*
 * The plan that takes these fields, a field inside a structure as "heapSpace.committedSize".
 * slots[i] tells what will be in values[i]. JFR_PLAN_NONE as above.
 */
uint32_t jfr_plan_take(struct jfr_plans *plans, uint32_t type, const char *const *fields,
		       size_t count, struct jfr_slot *slots);

/*
 * Reads one value. Untaken slots of values keep what they had. c->failed when it does not fit into
 * the bytes; values may be half filled then.
 */
void jfr_plan_run(const struct jfr_plans *plans, uint32_t plan, struct cursor *c,
		  union jfr_value *values);

void jfr_plans_free(struct jfr_plans *plans);

#endif
