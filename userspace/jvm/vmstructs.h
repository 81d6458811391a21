/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_VMSTRUCTS_H
#define JVMSCOPE_VMSTRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/strings.h"

struct image;
struct target;

/*
 * The tables by which HotSpot describes its own structures (gHotSpotVMStructs and its siblings):
 * names to offsets, static variables to addresses, types to sizes, constants to values.
 */

/* Where one table lies and how its entries look, in the target. */
struct vmstructs_table {
	uint64_t array;
	uint64_t stride;
	uint64_t column[6]; /* offsets inside an entry; see vmstructs.c for which is which */
};

/* In this order: fields, types, int constants, long constants. */
#define VMSTRUCTS_TABLES 4

struct vm_field {
	const char *type;  /* "CodeBlob" */
	const char *name;  /* "_frame_size" */
	const char *ctype; /* "int"; "" when the table does not say */
	bool is_static;
	uint64_t at; /* offset, or the address of a static one */
};

struct vm_type {
	const char *name;
	const char *super; /* "" for none */
	uint64_t size;
};

struct vm_constant {
	const char *name; /* "CodeBlobKind::Adapter" */
	int64_t value;
};

struct vmstructs {
	struct vm_field *fields; /* owned; sorted by type and name */
	size_t field_count;
	struct vm_type *types; /* owned; sorted by name */
	size_t type_count;
	struct vm_constant *constants; /* owned; sorted by name */
	size_t constant_count;
	struct strings strings; /* owned; all names point into it */
};

/*
 * Finds the tables of a libjvm whose ELF addresses are bias below the target's. Returns 0,
 * -ENOENT when it exports none, -EAGAIN when its static constructors have not run yet (the
 * strides are filled by them), -ESRCH.
 */
int vmstructs_locate(const struct target *t, struct image *libjvm, uint64_t bias,
		     struct vmstructs_table out[VMSTRUCTS_TABLES]);

/*
 * Reads all entries, at most 16,384 of each table. Entries with unreadable names are left out.
 * Returns 0, -EBADMSG (a stride or column that makes no sense), -EFAULT, -ENOMEM, -ESRCH. On
 * error *out is untouched.
 */
int vmstructs_read(const struct target *t, const struct vmstructs_table tables[VMSTRUCTS_TABLES],
		   struct vmstructs *out);

/*
 * The field of a type or of one it inherits from: "nmethod::_method" is found on CompiledMethod in
 * JDK 11. name is "Type::field". NULL when there is none.
 */
const struct vm_field *vmstructs_field(const struct vmstructs *vm, const char *name);

/* NULL when there is none. */
const struct vm_type *vmstructs_type(const struct vmstructs *vm, const char *name);

/* Whether there is such a constant; *value is written only then. */
bool vmstructs_constant(const struct vmstructs *vm, const char *name, int64_t *value);

void vmstructs_free(struct vmstructs *vm);

#endif
