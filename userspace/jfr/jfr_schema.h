/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_SCHEMA_H
#define JVMSCOPE_JFR_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map64.h"

/*
 * What a chunk's metadata event declares: types and their fields.
 *
 * Ids and the order of fields differ between JDK versions, and ids from run to run: everything goes
 * by name.
 */

/* What a type is made of; the first ones are those without fields. */
enum jfr_kind {
	JFR_KIND_STRUCT,
	JFR_KIND_BYTE, /* byte, boolean: one raw byte */
	JFR_KIND_SHORT,
	JFR_KIND_INT,
	JFR_KIND_CHAR,
	JFR_KIND_LONG,
	JFR_KIND_FLOAT,
	JFR_KIND_DOUBLE,
	JFR_KIND_STRING,
};

/* What the number in a field means, by its annotation. */
enum jfr_time {
	JFR_TIME_NONE,
	JFR_TIME_TICKS,	   /* a span */
	JFR_TIME_TICKS_AT, /* a moment */
	JFR_TIME_NS,
	JFR_TIME_US,
	JFR_TIME_MS,
	JFR_TIME_S,
	JFR_TIME_EPOCH_NS,
	JFR_TIME_EPOCH_MS,
	JFR_TIME_EPOCH_S,
};

struct jfr_schema_field {
	uint32_t name; /* into names */
	uint32_t type; /* number of the type, JFR_NO_TYPE */
	bool is_reference;
	bool is_array;
	uint8_t time; /* enum jfr_time */
};

struct jfr_schema_type {
	int64_t id;
	uint64_t count; /* events seen in this chunk, and their bytes */
	uint64_t bytes;
	uint32_t name; /* into names */
	uint32_t first_field;
	uint32_t field_count;
	uint8_t kind; /* enum jfr_kind */
	bool is_event;
	bool is_simple; /* its one field stands for it */
};

#define JFR_NO_TYPE UINT32_MAX

struct jfr_schema {
	struct jfr_schema_type *types; /* owned; in the order of the file */
	uint32_t count;
	struct jfr_schema_field *fields; /* owned */
	uint32_t field_count;
	char *names; /* owned; NUL-terminated texts one after the other */
	size_t names_len;
	size_t names_capacity;
	struct map64 by_id; /* type id to number */
	int64_t metadata_id;
};

/* Real files have some 400 types with 2,500 fields. */
#define JFR_SCHEMA_TYPES_MAX  65000u	 /* numbers fit 16 bits */
#define JFR_SCHEMA_FIELDS_MAX (1u << 20) /* of all types together */

/*
 * Reads a metadata event, from its size field on. Returns 0, -EBADMSG when it is damaged, -ENOMEM.
 * *out is written only on success. Without fields it is faster, and only counts can be made of
 * events.
 */
int jfr_schema_read(const void *event, size_t size, bool with_fields, struct jfr_schema *out);

void jfr_schema_free(struct jfr_schema *types);

/* The number of a type, or JFR_NO_TYPE. */
uint32_t jfr_schema_by_id(const struct jfr_schema *types, int64_t id);
uint32_t jfr_schema_by_name(const struct jfr_schema *types, const char *name);

const char *jfr_schema_type_name(const struct jfr_schema *types, uint32_t type);
const char *jfr_schema_field_name(const struct jfr_schema *types,
				  const struct jfr_schema_field *field);

/* The field of a type with a name of len bytes, or NULL. */
const struct jfr_schema_field *jfr_schema_field(const struct jfr_schema *types, uint32_t type,
						const char *name, size_t len);

#endif
