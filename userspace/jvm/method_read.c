/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/method_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/debuginfo.h"
#include "jvm/method.h"
#include "target/target.h"

#define ACC_NATIVE	 0x100
#define METHOD_BYTES	 256 /* upper bounds checked by layout.c */
#define CONST_BYTES	 256
#define POOL_BYTES	 256
#define KLASS_BYTES	 1024
#define CONST_GUESS	 1024	    /* most ConstMethods fit, with bytecode and line table */
#define CONST_METHOD_MAX (4u << 20) /* bytes; the code is 65,535 at most */
#define SYMBOL_GUESS	 128	    /* most symbols and their heads fit */
#define SYMBOL_HEAD	 8	    /* the smallest Symbol */
#define SYMBOL_MAX	 65535

/* Constant pool slots are machine words; the lowest bit was a tag once. */
#define POOL_SLOT_BYTES 8

/*
 * Two kinds of reading, both one system call for all that is known where to look: a method's
 * structures from the beginning, and the few members that tell whether a known one still is there.
 */

static size_t at_most(size_t value, size_t limit)
{
	return value < limit ? value : limit;
}

static size_t end_of(struct field f)
{
	return f.at + f.size;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Reads all parts, or none is worth anything. */
static int read_all(const struct target *t, struct target_part *parts, size_t count)
{
	int err = target_read_parts(t, parts, count);

	for (size_t i = 0; !err && i < count; i++)
		err = parts[i].err;
	return err;
}

/* ---- symbols: a length, then so many bytes without NUL */

struct symbol {
	uint64_t addr;
	uint8_t bytes[SYMBOL_GUESS];
};

static struct target_part symbol_part(struct symbol *symbol)
{
	return (struct target_part){ symbol->addr, symbol->bytes, sizeof(symbol->bytes), 0 };
}

static uint64_t symbol_length(const struct fields *f, const uint8_t *bytes, size_t size)
{
	if (field_exists(f->symbol_length))
		return field_of(f->symbol_length, bytes, size);
	return field_of(f->symbol_length_and_refcount, bytes, size) >> 16;
}

static int keep_long_symbol(struct methods *m, uint64_t addr, size_t length, const char **out)
{
	uint8_t *bytes = malloc(length);
	int err;

	if (!bytes)
		return -ENOMEM;
	err = target_read(m->target, addr, bytes, length);
	if (!err) {
		*out = names_keep(&m->names, bytes, length);
		err = *out ? 0 : -ENOMEM;
	}
	free(bytes);
	return err;
}

/* err: of its part. A symbol at the end of its mapping is shorter than what was tried to read. */
static int keep_symbol(struct methods *m, struct symbol *symbol, int err, const char **out)
{
	const struct fields *f = &m->hotspot->field;
	size_t got = sizeof(symbol->bytes);
	size_t body = f->symbol_body.at;
	uint64_t length;

	if (body > SYMBOL_HEAD)
		return -EBADMSG;
	if (err) {
		got = SYMBOL_HEAD;
		err = target_read(m->target, symbol->addr, symbol->bytes, got);
	}
	if (err)
		return err;
	length = symbol_length(f, symbol->bytes, got);
	if (!length || length > SYMBOL_MAX)
		return -EBADMSG;
	if (body + length > got)
		return keep_long_symbol(m, symbol->addr + body, length, out);
	*out = names_keep(&m->names, symbol->bytes + body, length);
	return *out ? 0 : -ENOMEM;
}

/* ---- a method from the beginning */

struct reading {
	uint64_t address;
	uint64_t const_method;
	uint64_t pool;
	uint64_t klass;
	size_t constant_got;
	uint8_t method[METHOD_BYTES];
	uint8_t constant[CONST_GUESS];
	uint8_t pool_head[POOL_BYTES];
	uint8_t klass_head[KLASS_BYTES];
	uint64_t slots[2]; /* of the pool: name, signature */
	uint64_t source_slot;
	struct symbol name;
	struct symbol signature;
	struct symbol class_name;
	struct symbol source_file;
};

static uint64_t of_constant(const struct reading *r, struct field f)
{
	return field_of(f, r->constant, r->constant_got);
}

static int read_const_method(const struct methods *m, struct reading *r)
{
	const struct hotspot *h = m->hotspot;
	size_t bytes =
		larger(end_of(h->field.method_const_method), end_of(h->field.method_access_flags));
	int err = target_read(m->target, r->address, r->method, at_most(bytes, METHOD_BYTES));

	if (err)
		return err;
	r->const_method = field_of(h->field.method_const_method, r->method, sizeof(r->method));
	if (!r->address || r->address % 8 || !r->const_method || r->const_method % 8)
		return -EBADMSG;
	r->constant_got = CONST_GUESS;
	err = target_read(m->target, r->const_method, r->constant, r->constant_got);
	if (err == -EFAULT) {
		r->constant_got = h->const_method_bytes;
		err = target_read(m->target, r->const_method, r->constant, r->constant_got);
	}
	return err;
}

static uint64_t slot_address(const struct methods *m, uint64_t pool, uint64_t index)
{
	return pool + m->hotspot->constant_pool_bytes + index * POOL_SLOT_BYTES;
}

static int read_pool(const struct methods *m, struct reading *r)
{
	const struct fields *f = &m->hotspot->field;
	uint64_t name = of_constant(r, f->const_method_name);
	uint64_t signature = of_constant(r, f->const_method_signature);
	struct target_part parts[3];
	int err;

	r->pool = of_constant(r, f->const_method_constants);
	if (!r->pool || r->pool % 8 || !name || !signature)
		return -EBADMSG;
	parts[0] =
		(struct target_part){ r->pool, r->pool_head, m->hotspot->constant_pool_bytes, 0 };
	parts[1] = (struct target_part){ slot_address(m, r->pool, name), &r->slots[0], 8, 0 };
	parts[2] = (struct target_part){ slot_address(m, r->pool, signature), &r->slots[1], 8, 0 };
	err = read_all(m->target, parts, 3);
	if (err)
		return err;
	r->klass = field_of(f->pool_holder, r->pool_head, sizeof(r->pool_head));
	r->name.addr = r->slots[0] & ~1ull;
	r->signature.addr = r->slots[1] & ~1ull;
	return !r->klass || r->klass % 8 ? -EBADMSG : 0;
}

/* Bytes of a class that hold the members read here. */
static size_t klass_bytes(const struct fields *f)
{
	size_t end = larger(end_of(f->klass_constants), end_of(f->klass_name));

	return at_most(larger(end, end_of(f->klass_source_file)), KLASS_BYTES);
}

static int read_class(struct methods *m, struct reading *r, struct jvm_method *to)
{
	const struct fields *f = &m->hotspot->field;
	struct target_part parts[] = {
		{ r->klass, r->klass_head, klass_bytes(f), 0 },
		symbol_part(&r->name),
		symbol_part(&r->signature),
	};
	int err = target_read_parts(m->target, parts, 3);

	if (!err)
		err = parts[0].err;
	if (!err)
		err = keep_symbol(m, &r->name, parts[1].err, &to->name);
	if (!err)
		err = keep_symbol(m, &r->signature, parts[2].err, &to->signature);
	r->class_name.addr = field_of(f->klass_name, r->klass_head, sizeof(r->klass_head));
	return err;
}

/*
 * The slot of the source file's name, 0: none. The index must come from the holder's own pool: the
 * intrinsics of method handles have a private pool of three entries whose head was copied, so its
 * index points outside.
 */
static int find_source_slot(const struct methods *m, const struct reading *r, uint64_t *slot)
{
	const struct fields *f = &m->hotspot->field;
	uint64_t pool = field_of(f->klass_constants, r->klass_head, sizeof(r->klass_head));
	uint8_t head[POOL_BYTES] = { 0 };
	uint64_t index;
	int err = 0;

	*slot = 0;
	if (pool == r->pool)
		memcpy(head, r->pool_head, sizeof(head));
	else
		err = target_read(m->target, pool, head, m->hotspot->constant_pool_bytes);
	if (err)
		return err == -EFAULT ? 0 : err;
	if (field_exists(f->pool_source_file))
		index = field_of(f->pool_source_file, head, sizeof(head));
	else
		index = field_of(f->klass_source_file, r->klass_head, sizeof(r->klass_head));
	if (index && index < field_of(f->pool_length, head, sizeof(head)))
		*slot = slot_address(m, pool, index);
	return 0;
}

/*
 * A method of the same class that was compared with the target in this generation, NULL: none. It
 * knows the names of the class.
 */
static const struct method *sibling_of(const struct methods *m, const struct reading *r)
{
	const struct method *other;
	uint32_t index;

	if (!map64_get(&m->of_class, r->klass, &index))
		return NULL;
	other = m->items[index];
	return other->checked == m->generation && other->klass == r->klass &&
			       other->pool == r->pool && other->class_symbol == r->class_name.addr
		       ? other
		       : NULL;
}

/* Optional: a class without a source file, or one that cannot be read, has none. */
static int read_class_names(struct methods *m, struct reading *r, struct jvm_method *to)
{
	struct target_part parts[2] = { symbol_part(&r->class_name) };
	const struct method *sibling = sibling_of(m, r);
	uint64_t slot;
	int err;

	if (sibling) {
		to->class_name = sibling->shown.class_name;
		to->source_file = sibling->shown.source_file;
		return 0;
	}
	err = find_source_slot(m, r, &slot);
	if (err)
		return err;
	parts[1] = (struct target_part){ slot, &r->source_slot, 8, 0 };
	err = target_read_parts(m->target, parts, slot ? 2 : 1);
	if (!err)
		err = keep_symbol(m, &r->class_name, parts[0].err, &to->class_name);
	if (err || !slot || parts[1].err)
		return err;
	r->source_file.addr = r->source_slot & ~1ull;
	parts[0] = symbol_part(&r->source_file);
	err = target_read_parts(m->target, parts, 1);
	if (!err)
		err = keep_symbol(m, &r->source_file, parts[0].err, &to->source_file);
	return err == -ENOMEM || err == -ESRCH ? err : 0;
}

static int keep_lines(struct methods *m, const uint8_t *bytes, size_t size, struct method *method)
{
	size_t used = debuginfo_line_table_size(bytes, size, m->bias);
	uint8_t *kept;

	if (!used)
		return 0;
	kept = names_alloc(&m->names, used);
	if (!kept)
		return -ENOMEM;
	memcpy(kept, bytes, used);
	method->lines = kept;
	method->lines_size = used;
	return 0;
}

/* The line table follows the bytecode; the ConstMethod's own size bounds it. */
static int read_lines(struct methods *m, const struct reading *r, struct method *method)
{
	const struct fields *f = &m->hotspot->field;
	uint64_t start, total;
	uint8_t *bytes;
	int err;

	if (!(of_constant(r, f->const_method_flags) & m->hotspot->line_table_bit))
		return 0;
	total = of_constant(r, f->const_method_size) * 8;
	start = m->hotspot->const_method_bytes + of_constant(r, f->const_method_code_size);
	if (total > CONST_METHOD_MAX || start >= total)
		return 0;
	if (total <= r->constant_got)
		return keep_lines(m, r->constant + start, total - start, method);
	bytes = malloc(total - start);
	if (!bytes)
		return -ENOMEM;
	err = target_read(m->target, r->const_method + start, bytes, total - start);
	if (!err)
		err = keep_lines(m, bytes, total - start, method);
	free(bytes);
	return err == -EFAULT ? 0 : err;
}

int method_read(struct methods *m, uint64_t address, struct method *out)
{
	const struct fields *f = &m->hotspot->field;
	struct reading r = { .address = address };
	struct method found = { 0 };
	uint64_t again;
	int err;

	err = read_const_method(m, &r);
	if (!err)
		err = read_pool(m, &r);
	if (!err)
		err = read_class(m, &r, &found.shown);
	if (!err)
		err = read_class_names(m, &r, &found.shown);
	if (!err)
		err = read_lines(m, &r, &found);
	if (!err)
		err = field_read(m->target, address, f->method_const_method, &again);
	if (err)
		return err;
	/* Freed and used again while we read: the names may be of both. */
	if (again != r.const_method)
		return -ESTALE;
	found.shown.address = address;
	found.shown.const_method = r.const_method;
	found.shown.native =
		field_of(f->method_access_flags, r.method, sizeof(r.method)) & ACC_NATIVE;
	found.shown.hidden = method_class_is_hidden(found.shown.class_name);
	found.pool = r.pool;
	found.klass = r.klass;
	found.class_symbol = r.class_name.addr;
	found.name_index = (uint32_t)of_constant(&r, f->const_method_name);
	found.signature_index = (uint32_t)of_constant(&r, f->const_method_signature);
	*out = found;
	return 0;
}

/* ---- whether a known method still is there */

struct witness {
	uint64_t const_method;
	uint64_t class_symbol;
	uint64_t holder;
	uint8_t constant[CONST_BYTES];
	uint8_t symbol[SYMBOL_GUESS];
	struct target_part *parts; /* of this method */
	size_t count;
};
#define WITNESS_PARTS 5

static size_t witness_symbol_bytes(const struct methods *m, const struct method *known)
{
	return at_most(m->hotspot->field.symbol_body.at + strlen(known->shown.class_name),
		       SYMBOL_GUESS);
}

/* What is to be read of a known method, from where it was. */
static void place_witness(const struct methods *m, const struct method *known, struct witness *w)
{
	const struct fields *f = &m->hotspot->field;
	const struct target_part parts[WITNESS_PARTS] = {
		{ known->shown.address + f->method_const_method.at, &w->const_method, 8, 0 },
		{ known->shown.const_method, w->constant, m->hotspot->const_method_bytes, 0 },
		{ known->pool + f->pool_holder.at, &w->holder, 8, 0 },
		{ known->klass + f->klass_name.at, &w->class_symbol, 8, 0 },
		{ known->class_symbol, w->symbol, witness_symbol_bytes(m, known), 0 },
	};

	w->count = known->checked == m->generation ? 1 : WITNESS_PARTS;
	memcpy(w->parts, parts, w->count * sizeof(*parts));
}

static bool class_name_is(const struct methods *m, const struct witness *w,
			  const struct method *known)
{
	const struct fields *f = &m->hotspot->field;
	size_t bytes = witness_symbol_bytes(m, known);

	return symbol_length(f, w->symbol, bytes) == strlen(known->shown.class_name) &&
	       !memcmp(w->symbol + f->symbol_body.at, known->shown.class_name,
		       bytes - f->symbol_body.at);
}

static bool testifies(const struct methods *m, const struct witness *w, const struct method *known)
{
	const struct fields *f = &m->hotspot->field;
	size_t size = m->hotspot->const_method_bytes;

	for (size_t i = 0; i < w->count; i++)
		if (w->parts[i].err)
			return false;
	if (w->const_method != known->shown.const_method)
		return false;
	return w->count == 1 ||
	       (w->holder == known->klass && w->class_symbol == known->class_symbol &&
		field_of(f->const_method_constants, w->constant, size) == known->pool &&
		field_of(f->const_method_name, w->constant, size) == known->name_index &&
		field_of(f->const_method_signature, w->constant, size) == known->signature_index &&
		class_name_is(m, w, known));
}

int method_read_same(const struct methods *m, const struct method *const *known, size_t count,
		     bool *same)
{
	struct target_part parts[METHODS_AT_ONCE * WITNESS_PARTS];
	struct witness witnesses[METHODS_AT_ONCE];
	size_t used = 0;
	int err;

	for (size_t i = 0; i < count; i++) {
		same[i] = false;
		if (!known[i])
			continue;
		witnesses[i].parts = parts + used;
		place_witness(m, known[i], &witnesses[i]);
		used += witnesses[i].count;
	}
	err = used ? target_read_parts(m->target, parts, used) : 0;
	for (size_t i = 0; !err && i < count; i++)
		same[i] = known[i] && testifies(m, &witnesses[i], known[i]);
	return err;
}
