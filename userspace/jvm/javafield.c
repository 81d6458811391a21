/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/javafield.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "jvm/debuginfo.h"
#include "target/target.h"

#define FIELDS_MAX 4096 /* of one class */
#define INFO_MAX   65536
#define NAME_MAX   64

/* FieldInfo of 8 to 20: access flags, name, signature, value, offset in two halves. */
#define SLOTS	    6
#define SLOT_NAME   1
#define SLOT_LOW    4
#define SLOT_HIGH   5
#define OFFSET_TAGS 2 /* lowest bits of the offset that say what it is */

struct search {
	const struct target *target;
	const struct hotspot *hotspot;
	uint64_t pool; /* ConstantPool* */
	uint64_t pool_length;
	struct javafield *fields;
	unsigned int count;
};

/* An Array<T>: a length and the elements. The caller frees. */
static int read_array(const struct target *t, uint64_t array, size_t element, uint8_t **out,
		      size_t *size)
{
	uint32_t length;
	uint8_t *bytes;
	int err;

	err = target_read_u32(t, array, &length);
	if (err)
		return err;
	if (length > INFO_MAX)
		return -EBADMSG;
	bytes = malloc(length * element + 1);
	if (!bytes)
		return -ENOMEM;
	/* The elements are small: they begin right behind the length. */
	err = target_read(t, array + sizeof(length), bytes, length * element);
	if (err) {
		free(bytes);
		return err;
	}
	*out = bytes;
	*size = length * element;
	return 0;
}

/* The symbol at an index of the constant pool; "" when it is long, or nonsense. */
static int read_name(const struct search *s, uint32_t index, char name[NAME_MAX])
{
	const struct fields *f = &s->hotspot->field;
	uint64_t symbol, length;
	int err;

	name[0] = 0;
	if (index == 0 || index >= s->pool_length)
		return 0;
	err = target_read_u64(s->target, s->pool + s->hotspot->constant_pool_bytes + 8ull * index,
			      &symbol);
	symbol &= ~1ull; /* the mark of a symbol that is not resolved */
	if (!err && field_exists(f->symbol_length))
		err = field_read(s->target, symbol, f->symbol_length, &length);
	else if (!err)
		err = field_read(s->target, symbol, f->symbol_length_and_refcount, &length);
	if (err)
		return err;
	if (!field_exists(f->symbol_length))
		length >>= 16;
	if (length >= NAME_MAX)
		return 0;
	err = target_read(s->target, symbol + f->symbol_body.at, name, length);
	name[err ? 0 : length] = 0;
	return err;
}

static int note(struct search *s, uint32_t name_index, uint32_t offset)
{
	char name[NAME_MAX];
	int err = read_name(s, name_index, name);

	for (unsigned int i = 0; i < s->count && !err; i++)
		if (!strcmp(name, s->fields[i].name))
			s->fields[i].offset = offset;
	return err;
}

static int search_slots(struct search *s, uint64_t klass)
{
	const struct fields *f = &s->hotspot->field;
	uint64_t array, count;
	uint16_t slots[SLOTS];
	uint8_t *bytes;
	size_t size;
	int err;

	err = field_read(s->target, klass, f->klass_fields, &array);
	if (!err)
		err = field_read(s->target, klass, f->klass_field_count, &count);
	if (!err)
		err = read_array(s->target, array, sizeof(uint16_t), &bytes, &size);
	if (err)
		return err;
	for (uint64_t i = 0; i < count && i < size / sizeof(slots) && !err; i++) {
		memcpy(slots, bytes + i * sizeof(slots), sizeof(slots));
		err = note(s, slots[SLOT_NAME],
			   ((uint32_t)slots[SLOT_HIGH] << 16 | slots[SLOT_LOW]) >> OFFSET_TAGS);
	}
	free(bytes);
	return err;
}

static int search_stream(struct search *s, uint64_t klass, unsigned int bias)
{
	uint32_t count, name, offset, flags;
	struct cursor c;
	uint64_t array;
	uint8_t *bytes;
	size_t size;
	int err;

	err = field_read(s->target, klass, s->hotspot->field.klass_field_stream, &array);
	if (!err)
		err = read_array(s->target, array, 1, &bytes, &size);
	if (err)
		return err;
	c = cursor_of(bytes, size);
	count = debuginfo_unsigned5(&c, bias);
	(void)debuginfo_unsigned5(&c, bias); /* fields that the JVM adds, which come last */
	for (uint32_t i = 0; i < count && i < FIELDS_MAX && !err && !c.failed; i++) {
		name = debuginfo_unsigned5(&c, bias);
		(void)debuginfo_unsigned5(&c, bias); /* signature */
		offset = debuginfo_unsigned5(&c, bias);
		(void)debuginfo_unsigned5(&c, bias); /* access flags */
		flags = debuginfo_unsigned5(&c, bias);
		for (flags &= s->hotspot->field_numbers; flags; flags &= flags - 1)
			(void)debuginfo_unsigned5(&c, bias);
		if (!c.failed)
			err = note(s, name, offset);
	}
	if (!err && c.failed)
		err = -EBADMSG;
	free(bytes);
	return err;
}

int javafield_find(const struct target *t, const struct hotspot *h, int major, uint64_t klass,
		   struct javafield *fields, unsigned int count)
{
	struct search s = { .target = t, .hotspot = h, .fields = fields, .count = count };
	int err;

	err = field_read(t, klass, h->field.klass_constants, &s.pool);
	if (!err)
		err = field_read(t, s.pool, h->field.pool_length, &s.pool_length);
	if (err)
		return err;
	if (field_exists(h->field.klass_field_stream))
		return search_stream(&s, klass, major >= 20);
	if (field_exists(h->field.klass_fields) && field_exists(h->field.klass_field_count))
		return search_slots(&s, klass);
	return -ENOENT;
}
