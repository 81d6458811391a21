/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/vmstructs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "target/image.h"
#include "target/target.h"

#define ENTRIES_MAX 16384 /* 2,100 is the largest seen (JDK 21) */
#define STRIDE_MAX  256	  /* 48 is the largest seen */
#define CHUNK_BYTES 65536
#define SUPER_MAX   16 /* links of a superclass chain; 5 is the longest seen */
#define TYPE_MAX    128

enum { TABLE_FIELDS, TABLE_TYPES, TABLE_INTS, TABLE_LONGS };
enum { FIELD_TYPE, FIELD_NAME, FIELD_CTYPE, FIELD_STATIC, FIELD_OFFSET, FIELD_ADDRESS };
enum { TYPE_NAME, TYPE_SUPER, TYPE_SIZE };
enum { CONSTANT_NAME, CONSTANT_VALUE };

/* The symbols of each table. Columns: name, bytes, whether it is the address of a string. */
struct column {
	const char *symbol;
	uint8_t size;
	bool is_string;
};

static const struct {
	const char *array;
	const char *stride;
	struct column column[6];
} symbols[VMSTRUCTS_TABLES] = {
	[TABLE_FIELDS] = {
		"gHotSpotVMStructs",
		"gHotSpotVMStructEntryArrayStride",
		{
			[FIELD_TYPE] = { "gHotSpotVMStructEntryTypeNameOffset", 8, true },
			[FIELD_NAME] = { "gHotSpotVMStructEntryFieldNameOffset", 8, true },
			[FIELD_CTYPE] = { "gHotSpotVMStructEntryTypeStringOffset", 8, true },
			[FIELD_STATIC] = { "gHotSpotVMStructEntryIsStaticOffset", 4, false },
			[FIELD_OFFSET] = { "gHotSpotVMStructEntryOffsetOffset", 8, false },
			[FIELD_ADDRESS] = { "gHotSpotVMStructEntryAddressOffset", 8, false },
		},
	},
	[TABLE_TYPES] = {
		"gHotSpotVMTypes",
		"gHotSpotVMTypeEntryArrayStride",
		{
			[TYPE_NAME] = { "gHotSpotVMTypeEntryTypeNameOffset", 8, true },
			[TYPE_SUPER] = { "gHotSpotVMTypeEntrySuperclassNameOffset", 8, true },
			[TYPE_SIZE] = { "gHotSpotVMTypeEntrySizeOffset", 8, false },
		},
	},
	[TABLE_INTS] = {
		"gHotSpotVMIntConstants",
		"gHotSpotVMIntConstantEntryArrayStride",
		{
			[CONSTANT_NAME] = { "gHotSpotVMIntConstantEntryNameOffset", 8, true },
			[CONSTANT_VALUE] = { "gHotSpotVMIntConstantEntryValueOffset", 4, false },
		},
	},
	[TABLE_LONGS] = {
		"gHotSpotVMLongConstants",
		"gHotSpotVMLongConstantEntryArrayStride",
		{
			[CONSTANT_NAME] = { "gHotSpotVMLongConstantEntryNameOffset", 8, true },
			[CONSTANT_VALUE] = { "gHotSpotVMLongConstantEntryValueOffset", 8, false },
		},
	},
};

/* The entries of one table as they are in the target. */
struct rows {
	const struct vmstructs_table *table;
	const struct column *columns;
	uint8_t *bytes; /* owned */
	size_t count;
};

static int symbol_value(const struct target *t, struct image *libjvm, uint64_t bias,
			const char *name, uint64_t *out)
{
	uint64_t vaddr;
	int err;

	if (image_symbol(libjvm, name, true, &vaddr))
		return -ENOENT;
	err = target_read_u64(t, vaddr + bias, out);
	/* The loader maps libjvm in steps. */
	return err == -EFAULT ? -EAGAIN : err;
}

int vmstructs_locate(const struct target *t, struct image *libjvm, uint64_t bias,
		     struct vmstructs_table out[VMSTRUCTS_TABLES])
{
	struct vmstructs_table tables[VMSTRUCTS_TABLES] = { 0 };
	int err = 0;

	for (size_t i = 0; i < VMSTRUCTS_TABLES; i++) {
		err = symbol_value(t, libjvm, bias, symbols[i].array, &tables[i].array);
		if (!err)
			err = symbol_value(t, libjvm, bias, symbols[i].stride, &tables[i].stride);
		for (size_t k = 0; !err && k < 6 && symbols[i].column[k].symbol; k++)
			err = symbol_value(t, libjvm, bias, symbols[i].column[k].symbol,
					   &tables[i].column[k]);
		if (err)
			return err;
		if (!tables[i].array || !tables[i].stride)
			return -EAGAIN;
	}
	memcpy(out, tables, sizeof(tables));
	return 0;
}

/* One number of one entry; columns were checked to lie inside the stride. */
static uint64_t row_value(const struct rows *rows, size_t row, size_t column)
{
	uint64_t value = 0;

	memcpy(&value, rows->bytes + row * rows->table->stride + rows->table->column[column],
	       rows->columns[column].size);
	return value;
}

static bool table_is_sane(const struct vmstructs_table *table, const struct column *columns)
{
	if (table->stride < 8 || table->stride > STRIDE_MAX)
		return false;
	for (size_t k = 0; k < 6 && columns[k].symbol; k++) {
		if (table->column[k] > table->stride - columns[k].size)
			return false;
	}
	return true;
}

/* Reads as much as is there of the next entries: the array may be the last thing mapped. */
static int read_entries(const struct target *t, uint64_t addr, size_t stride, uint8_t *to,
			size_t *count)
{
	size_t n = CHUNK_BYTES / stride;
	int err;

	for (; n > 0; n /= 2) {
		err = target_read(t, addr, to, n * stride);
		if (err != -EFAULT)
			break;
	}
	if (n == 0)
		return -EFAULT;
	*count = n;
	return err;
}

/* Reads a table up to the entry without a name. */
static int read_rows(const struct target *t, struct rows *rows)
{
	size_t stride = rows->table->stride;
	size_t chunk, end;
	uint8_t *bytes;
	int err;

	if (!table_is_sane(rows->table, rows->columns))
		return -EBADMSG;
	while (rows->count < ENTRIES_MAX) {
		bytes = realloc(rows->bytes, rows->count * stride + CHUNK_BYTES);
		if (!bytes)
			return -ENOMEM;
		rows->bytes = bytes;
		err = read_entries(t, rows->table->array + rows->count * stride, stride,
				   bytes + rows->count * stride, &chunk);
		if (err)
			return err;
		for (end = rows->count + chunk; rows->count < end; rows->count++) {
			if (!row_value(rows, rows->count, 0))
				return 0;
		}
	}
	rows->count = ENTRIES_MAX;
	return 0;
}

static int read_names(const struct target *t, const struct rows all[VMSTRUCTS_TABLES],
		      struct strings *out)
{
	uint64_t *addresses;
	size_t count = 0, room = 0;
	int err;

	for (size_t i = 0; i < VMSTRUCTS_TABLES; i++)
		room += all[i].count * 3;
	addresses = calloc(room ? room : 1, sizeof(*addresses));
	if (!addresses)
		return -ENOMEM;
	for (size_t i = 0; i < VMSTRUCTS_TABLES; i++) {
		for (size_t k = 0; k < 3; k++) {
			if (!all[i].columns[k].is_string)
				continue;
			for (size_t row = 0; row < all[i].count; row++)
				addresses[count++] = row_value(&all[i], row, k);
		}
	}
	err = strings_read(t, addresses, count, out);
	free(addresses);
	return err;
}

static int compare_fields(const void *a, const void *b)
{
	const struct vm_field *left = a;
	const struct vm_field *right = b;
	int order = strcmp(left->type, right->type);

	return order ? order : strcmp(left->name, right->name);
}

static int compare_types(const void *a, const void *b)
{
	return strcmp(((const struct vm_type *)a)->name, ((const struct vm_type *)b)->name);
}

static int compare_constants(const void *a, const void *b)
{
	return strcmp(((const struct vm_constant *)a)->name, ((const struct vm_constant *)b)->name);
}

static const char *row_string(const struct vmstructs *vm, const struct rows *rows, size_t row,
			      size_t column)
{
	return strings_get(&vm->strings, row_value(rows, row, column));
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int fill_fields(struct vmstructs *vm, const struct rows *rows)
{
	struct vm_field field;

	vm->fields = calloc(rows->count + 1, sizeof(*vm->fields));
	if (!vm->fields)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++) {
		field.type = row_string(vm, rows, i, FIELD_TYPE);
		field.name = row_string(vm, rows, i, FIELD_NAME);
		field.ctype = or_empty(row_string(vm, rows, i, FIELD_CTYPE));
		field.is_static = row_value(rows, i, FIELD_STATIC) != 0;
		field.at = row_value(rows, i, field.is_static ? FIELD_ADDRESS : FIELD_OFFSET);
		if (field.type && field.name)
			vm->fields[vm->field_count++] = field;
	}
	qsort(vm->fields, vm->field_count, sizeof(*vm->fields), compare_fields);
	return 0;
}

static int fill_types(struct vmstructs *vm, const struct rows *rows)
{
	struct vm_type type;

	vm->types = calloc(rows->count + 1, sizeof(*vm->types));
	if (!vm->types)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++) {
		type.name = row_string(vm, rows, i, TYPE_NAME);
		type.super = or_empty(row_string(vm, rows, i, TYPE_SUPER));
		type.size = row_value(rows, i, TYPE_SIZE);
		if (type.name)
			vm->types[vm->type_count++] = type;
	}
	qsort(vm->types, vm->type_count, sizeof(*vm->types), compare_types);
	return 0;
}

static void add_constants(struct vmstructs *vm, const struct rows *rows)
{
	const char *name;
	uint64_t value;

	for (size_t i = 0; i < rows->count; i++) {
		name = row_string(vm, rows, i, CONSTANT_NAME);
		value = row_value(rows, i, CONSTANT_VALUE);
		if (!name)
			continue;
		vm->constants[vm->constant_count].name = name;
		vm->constants[vm->constant_count++].value =
			rows->columns[CONSTANT_VALUE].size == 4 ? (int32_t)value : (int64_t)value;
	}
}

static int fill_constants(struct vmstructs *vm, const struct rows *ints, const struct rows *longs)
{
	vm->constants = calloc(ints->count + longs->count + 1, sizeof(*vm->constants));
	if (!vm->constants)
		return -ENOMEM;
	add_constants(vm, ints);
	add_constants(vm, longs);
	qsort(vm->constants, vm->constant_count, sizeof(*vm->constants), compare_constants);
	return 0;
}

int vmstructs_read(const struct target *t, const struct vmstructs_table tables[VMSTRUCTS_TABLES],
		   struct vmstructs *out)
{
	struct rows all[VMSTRUCTS_TABLES] = { 0 };
	struct vmstructs vm = { 0 };
	int err = 0;

	for (size_t i = 0; i < VMSTRUCTS_TABLES && !err; i++) {
		all[i].table = &tables[i];
		all[i].columns = symbols[i].column;
		err = read_rows(t, &all[i]);
	}
	if (!err)
		err = read_names(t, all, &vm.strings);
	if (!err)
		err = fill_fields(&vm, &all[TABLE_FIELDS]);
	if (!err)
		err = fill_types(&vm, &all[TABLE_TYPES]);
	if (!err)
		err = fill_constants(&vm, &all[TABLE_INTS], &all[TABLE_LONGS]);
	/* Names that could not be read are left out: all of them when the process ended. */
	if (!err && !target_alive(t))
		err = -ESRCH;
	for (size_t i = 0; i < VMSTRUCTS_TABLES; i++)
		free(all[i].bytes);
	if (err) {
		vmstructs_free(&vm);
		return err;
	}
	*out = vm;
	return 0;
}

const struct vm_field *vmstructs_field(const struct vmstructs *vm, const char *name)
{
	const char *colons = NULL, *bracket = strchr(name, '[');
	char type_name[TYPE_MAX];
	struct vm_field key = { .type = type_name };
	const struct vm_field *field;
	const struct vm_type *type;

	/*
	 * "HeapBlock::Header::_length": the last one parts type and field, but for
	 * "vmClasses::_klasses[static_cast<int>(vmClassID::Thread_klass_knum)]".
	 */
	for (const char *at = strstr(name, "::"); at && (!bracket || at < bracket);
	     at = strstr(at + 2, "::"))
		colons = at;
	if (!colons || (size_t)(colons - name) >= sizeof(type_name))
		return NULL;
	memcpy(type_name, name, (size_t)(colons - name));
	type_name[colons - name] = 0;
	key.name = colons + 2;

	for (size_t links = 0; links < SUPER_MAX && *key.type; links++) {
		field = bsearch(&key, vm->fields, vm->field_count, sizeof(*field), compare_fields);
		if (field)
			return field;
		type = vmstructs_type(vm, key.type);
		if (!type)
			return NULL;
		key.type = type->super;
	}
	return NULL;
}

const struct vm_type *vmstructs_type(const struct vmstructs *vm, const char *name)
{
	struct vm_type key = { .name = name };

	return bsearch(&key, vm->types, vm->type_count, sizeof(key), compare_types);
}

bool vmstructs_constant(const struct vmstructs *vm, const char *name, int64_t *value)
{
	struct vm_constant key = { .name = name };
	const struct vm_constant *constant;

	constant = bsearch(&key, vm->constants, vm->constant_count, sizeof(key), compare_constants);
	if (!constant)
		return false;
	*value = constant->value;
	return true;
}

void vmstructs_free(struct vmstructs *vm)
{
	free(vm->fields);
	free(vm->types);
	free(vm->constants);
	strings_free(&vm->strings);
	*vm = (struct vmstructs){ 0 };
}
