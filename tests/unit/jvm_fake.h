/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JVM_FAKE_H
#define JVMSCOPE_JVM_FAKE_H

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "jvm/layout.h"
#include "jvm/vmstructs.h"
#include "target/target.h"

/*
 * HotSpot's structures in our own memory, laid out as a JVM of some JDK has them: the target is
 * ourselves.
 */

/* As VMStructEntry, VMTypeEntry, VMIntConstantEntry and VMLongConstantEntry of the JVM. */
struct fake_field {
	const char *type;
	const char *name;
	const char *ctype;
	int32_t is_static;
	uint64_t offset;
	const void *address;
};

struct fake_type {
	const char *name;
	const char *super;
	int32_t flags[3];
	uint64_t size;
};

struct fake_int {
	const char *name;
	int32_t value;
};

struct fake_long {
	const char *name;
	uint64_t value;
};

#define FAKE_ROWS 128

struct fake_tables {
	struct fake_field fields[FAKE_ROWS];
	size_t field_count;
	struct fake_type types[FAKE_ROWS];
	size_t type_count;
	struct fake_int ints[FAKE_ROWS];
	size_t int_count;
	struct fake_long longs[FAKE_ROWS];
	size_t long_count;
};

/* The address of one of our own objects, as the target's. */
static inline uint64_t fake_address(const void *object)
{
	return (uint64_t)(uintptr_t)object;
}

/* All rows of all JDKs; the same file three times, each time for one kind of row. */
#define FIELD(jdk, type, name, ctype, is_static, offset) \
	{ jdk, { type, name, ctype, is_static, offset, NULL } },
#define TYPE(jdk, name, super, size)
#define CONSTANT(jdk, name, value)
static const struct {
	int jdk;
	struct fake_field row;
} fake_fields[] = {
#include "data/vmstructs.inc"
};
#undef FIELD
#undef TYPE
#define FIELD(jdk, type, name, ctype, is_static, offset)
#define TYPE(jdk, name, super, size) { jdk, { name, super, { 0 }, size } },
static const struct {
	int jdk;
	struct fake_type row;
} fake_types[] = {
#include "data/vmstructs.inc"
};
#undef TYPE
#undef CONSTANT
#define TYPE(jdk, name, super, size)
#define CONSTANT(jdk, name, value) { jdk, { name, value } },
static const struct {
	int jdk;
	struct fake_int row;
} fake_ints[] = {
#include "data/vmstructs.inc"
};
#undef FIELD
#undef TYPE
#undef CONSTANT

/* The rows of one JDK: 8, 11, 17, 21, 25, 26, 28. */
static inline void fake_rows(int jdk, struct fake_tables *out)
{
	*out = (struct fake_tables){ 0 };
	for (size_t i = 0; i < sizeof(fake_fields) / sizeof(*fake_fields); i++) {
		if (fake_fields[i].jdk == jdk)
			out->fields[out->field_count++] = fake_fields[i].row;
	}
	for (size_t i = 0; i < sizeof(fake_types) / sizeof(*fake_types); i++) {
		if (fake_types[i].jdk == jdk)
			out->types[out->type_count++] = fake_types[i].row;
	}
	for (size_t i = 0; i < sizeof(fake_ints) / sizeof(*fake_ints); i++) {
		if (fake_ints[i].jdk == jdk)
			out->ints[out->int_count++] = fake_ints[i].row;
	}
}

/* Where vmstructs_read finds these rows. */
static inline void fake_describe(const struct fake_tables *rows,
				 struct vmstructs_table out[VMSTRUCTS_TABLES])
{
	out[0] = (struct vmstructs_table){
		fake_address(rows->fields),
		sizeof(struct fake_field),
		{ offsetof(struct fake_field, type), offsetof(struct fake_field, name),
		  offsetof(struct fake_field, ctype), offsetof(struct fake_field, is_static),
		  offsetof(struct fake_field, offset), offsetof(struct fake_field, address) },
	};
	out[1] = (struct vmstructs_table){
		fake_address(rows->types),
		sizeof(struct fake_type),
		{ offsetof(struct fake_type, name), offsetof(struct fake_type, super),
		  offsetof(struct fake_type, size) },
	};
	out[2] = (struct vmstructs_table){
		fake_address(rows->ints),
		sizeof(struct fake_int),
		{ offsetof(struct fake_int, name), offsetof(struct fake_int, value) },
	};
	out[3] = (struct vmstructs_table){
		fake_address(rows->longs),
		sizeof(struct fake_long),
		{ offsetof(struct fake_long, name), offsetof(struct fake_long, value) },
	};
}

/* Returns what layout_read returns. */
static inline int fake_layout(const struct target *self, const struct fake_tables *rows,
			      struct hotspot *out)
{
	struct vmstructs_table tables[VMSTRUCTS_TABLES];
	struct vmstructs vm;
	int err;

	fake_describe(rows, tables);
	err = vmstructs_read(self, tables, &vm);
	if (err)
		return err;
	err = layout_read(&vm, getpid(), out);
	vmstructs_free(&vm);
	return err;
}

static inline int fake_hotspot(const struct target *self, int jdk, struct hotspot *out)
{
	struct fake_tables rows;

	fake_rows(jdk, &rows);
	return fake_layout(self, &rows, out);
}

/* Sets a member of a structure at base. */
static inline void fake_put(void *base, struct field f, uint64_t value)
{
	memcpy((uint8_t *)base + f.at, &value, f.size);
}

/* Appends an UNSIGNED5 number as HotSpot writes it. */
static inline size_t fake_unsigned5(uint8_t *to, unsigned int bias, uint32_t value)
{
	uint32_t low = 192 - bias;
	size_t n = 0;

	while (value >= low && n < 4) {
		value -= low;
		to[n++] = (uint8_t)(bias + low + value % 64);
		value /= 64;
	}
	to[n++] = (uint8_t)(bias + value);
	return n;
}

#endif
