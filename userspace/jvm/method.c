/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/method.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/debuginfo.h"
#include "target/target.h"

#define ACC_NATIVE	 0x100
#define METHOD_BYTES	 256 /* upper bounds checked by layout.c */
#define CONST_BYTES	 256
#define POOL_BYTES	 256
#define KLASS_BYTES	 1024
#define SYMBOL_GUESS	 128 /* most symbols and their heads fit */
#define SYMBOL_HEAD	 8   /* the smallest Symbol */
#define SYMBOL_MAX	 65535
#define CONST_METHOD_MAX (4u << 20) /* bytes; the code is 65,535 at most */

#define LINE_UNKNOWN (-1)
#define LINE_NATIVE  (-2)

/* Constant pool slots are machine words; the lowest bit was a tag once. */
#define POOL_SLOT_BYTES 8

/* Copies of a method's structures while its names are read. */
struct reading {
	uint64_t const_method;
	uint64_t pool;
	uint64_t klass;
	uint8_t method[METHOD_BYTES];
	uint8_t constant[CONST_BYTES];
	uint8_t pool_head[POOL_BYTES];
	uint8_t klass_head[KLASS_BYTES];
};

static uint64_t key_of(uint64_t address, uint32_t cookie)
{
	uint64_t words[2] = { address, cookie };

	return map64_hash(words, sizeof(words));
}

static struct method *find_known(const struct methods *methods, uint64_t address, uint32_t cookie)
{
	struct method *method;
	uint32_t index;

	if (!map64_get(&methods->by_key, key_of(address, cookie), &index))
		return NULL;
	method = methods->items[index];
	if (method->shown.address != address || method_cookie(method->shown.const_method) != cookie)
		return NULL;
	return method;
}

static size_t at_most(size_t value, size_t limit)
{
	return value < limit ? value : limit;
}

/* Bytes of a class that hold the members read here. */
static size_t klass_bytes(const struct fields *f)
{
	size_t end = f->klass_constants.at + f->klass_constants.size;

	if (f->klass_name.at + f->klass_name.size > end)
		end = f->klass_name.at + f->klass_name.size;
	if (f->klass_source_file.at + f->klass_source_file.size > end)
		end = f->klass_source_file.at + f->klass_source_file.size;
	return at_most(end, KLASS_BYTES);
}

static size_t method_bytes(const struct fields *f)
{
	size_t end = f->method_const_method.at + f->method_const_method.size;

	if (f->method_access_flags.at + f->method_access_flags.size > end)
		end = f->method_access_flags.at + f->method_access_flags.size;
	return at_most(end, METHOD_BYTES);
}

/* Follows Method -> ConstMethod -> ConstantPool -> InstanceKlass. */
static int read_structures(const struct methods *m, uint64_t address, struct reading *r)
{
	const struct hotspot *h = m->hotspot;
	const struct fields *f = &h->field;
	int err;

	r->const_method = field_of(f->method_const_method, r->method, sizeof(r->method));
	if (!address || address % 8 || !r->const_method || r->const_method % 8)
		return -EBADMSG;
	err = target_read(m->target, r->const_method, r->constant, h->const_method_bytes);
	if (err)
		return err;
	r->pool = field_of(f->const_method_constants, r->constant, sizeof(r->constant));
	if (!r->pool || r->pool % 8)
		return -EBADMSG;
	err = target_read(m->target, r->pool, r->pool_head, h->constant_pool_bytes);
	if (err)
		return err;
	r->klass = field_of(f->pool_holder, r->pool_head, sizeof(r->pool_head));
	if (!r->klass || r->klass % 8)
		return -EBADMSG;
	return target_read(m->target, r->klass, r->klass_head, klass_bytes(f));
}

static uint64_t symbol_length(const struct fields *f, const uint8_t *bytes, size_t size)
{
	if (field_exists(f->symbol_length))
		return field_of(f->symbol_length, bytes, size);
	return field_of(f->symbol_length_and_refcount, bytes, size) >> 16;
}

static int read_long_symbol(struct methods *m, uint64_t addr, size_t length, const char **out)
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

/* The text of a Symbol: a length, then so many bytes without NUL. */
static int read_symbol(struct methods *m, uint64_t symbol, const char **out)
{
	const struct fields *f = &m->hotspot->field;
	uint8_t guess[SYMBOL_GUESS] = { 0 };
	size_t got = sizeof(guess);
	size_t body = f->symbol_body.at;
	uint64_t length;
	int err;

	if (symbol < 4096 || body > SYMBOL_HEAD)
		return -EBADMSG;
	/* One call for most. A symbol at the end of its mapping is shorter than the guess. */
	err = target_read(m->target, symbol, guess, got);
	if (err == -EFAULT) {
		got = SYMBOL_HEAD;
		err = target_read(m->target, symbol, guess, got);
	}
	if (err)
		return err;
	length = symbol_length(f, guess, sizeof(guess));
	if (!length || length > SYMBOL_MAX)
		return -EBADMSG;
	if (body + length > got)
		return read_long_symbol(m, symbol + body, length, out);
	*out = names_keep(&m->names, guess + body, length);
	return *out ? 0 : -ENOMEM;
}

/* The symbol in a slot of a constant pool. */
static int read_pool_symbol(struct methods *m, uint64_t pool, uint64_t index, const char **out)
{
	uint64_t symbol;
	int err;

	if (!index)
		return -EBADMSG;
	err = target_read_u64(m->target,
			      pool + m->hotspot->constant_pool_bytes + index * POOL_SLOT_BYTES,
			      &symbol);
	return err ? err : read_symbol(m, symbol & ~1ull, out);
}

/*
 * The index must come from the holder's own pool: the intrinsics of method handles have a private
 * pool of three entries whose head was copied, so its index points outside. Optional: a class
 * without one, or one that cannot be read, has no source file.
 */
static int read_source_file(struct methods *m, const struct reading *r, const char **out)
{
	const struct fields *f = &m->hotspot->field;
	uint64_t pool = field_of(f->klass_constants, r->klass_head, sizeof(r->klass_head));
	uint8_t head[POOL_BYTES] = { 0 };
	uint64_t index;
	int err;

	*out = NULL;
	err = target_read(m->target, pool, head, m->hotspot->constant_pool_bytes);
	if (err)
		return err == -EFAULT ? 0 : err;
	if (field_exists(f->pool_source_file))
		index = field_of(f->pool_source_file, head, sizeof(head));
	else
		index = field_of(f->klass_source_file, r->klass_head, sizeof(r->klass_head));
	if (!index || index >= field_of(f->pool_length, head, sizeof(head)))
		return 0;
	err = read_pool_symbol(m, pool, index, out);
	return err == -ENOMEM || err == -ESRCH ? err : 0;
}

static uint64_t class_symbol(const struct fields *f, const struct reading *r)
{
	return field_of(f->klass_name, r->klass_head, sizeof(r->klass_head));
}

static int read_names(struct methods *m, const struct reading *r, struct jvm_method *to)
{
	const struct fields *f = &m->hotspot->field;
	size_t size = sizeof(r->constant);
	int err;

	err = read_symbol(m, class_symbol(f, r), &to->class_name);
	if (!err)
		err = read_pool_symbol(
			m, r->pool, field_of(f->const_method_name, r->constant, size), &to->name);
	if (!err)
		err = read_pool_symbol(m, r->pool,
				       field_of(f->const_method_signature, r->constant, size),
				       &to->signature);
	if (!err)
		err = read_source_file(m, r, &to->source_file);
	return err;
}

/* The line table follows the bytecode; the ConstMethod's own size bounds it. */
static int read_lines(struct methods *m, const struct reading *r, struct method *method)
{
	const struct fields *f = &m->hotspot->field;
	size_t size = sizeof(r->constant);
	uint64_t start, end, total;
	uint8_t *bytes, *kept;
	int err;

	if (!(field_of(f->const_method_flags, r->constant, size) & m->hotspot->line_table_bit))
		return 0;
	total = field_of(f->const_method_size, r->constant, size) * 8;
	start = m->hotspot->const_method_bytes +
		field_of(f->const_method_code_size, r->constant, size);
	if (total > CONST_METHOD_MAX || start >= total)
		return 0;
	bytes = malloc(total - start);
	if (!bytes)
		return -ENOMEM;
	err = target_read(m->target, r->const_method + start, bytes, total - start);
	end = err ? 0 : debuginfo_line_table_size(bytes, total - start, m->bias);
	if (end) {
		kept = names_alloc(&m->names, end);
		if (kept)
			memcpy(kept, bytes, end);
		method->lines = kept;
		method->lines_size = kept ? end : 0;
		err = kept ? 0 : -ENOMEM;
	}
	free(bytes);
	return err == -EFAULT ? 0 : err;
}

static int remember(struct methods *m, struct method *method)
{
	uint32_t capacity = m->capacity ? m->capacity * 2 : 256;
	uint32_t cookie = method_cookie(method->shown.const_method);
	struct method **items;

	if (m->count == m->capacity) {
		items = reallocarray(m->items, capacity, sizeof(*items));
		if (!items)
			return -ENOMEM;
		m->items = items;
		m->capacity = capacity;
	}
	if (map64_set(&m->by_key, key_of(method->shown.address, cookie), m->count))
		return -ENOMEM;
	m->items[m->count++] = method;
	return 0;
}

bool method_class_is_hidden(const char *class_name)
{
	const char *at = strstr(class_name, "+0x");

	if (!at)
		at = strstr(class_name, "/0x");
	return at && at[3];
}

static int read_method(struct methods *m, uint64_t address, struct reading *r,
		       const struct method **out)
{
	const struct fields *f = &m->hotspot->field;
	uint64_t access, again;
	struct method found = { 0 };
	struct method *method;
	int err;

	found.class_symbol = class_symbol(f, r);
	found.checked = m->generation;
	err = read_names(m, r, &found.shown);
	if (!err)
		err = read_lines(m, r, &found);
	if (!err)
		err = field_read(m->target, address, f->method_const_method, &again);
	if (err)
		return err;
	/* Freed and used again while we read: the names may be of both. */
	if (again != r->const_method)
		return -ESTALE;

	access = field_of(f->method_access_flags, r->method, sizeof(r->method));
	found.shown.address = address;
	found.shown.const_method = r->const_method;
	found.shown.native = access & ACC_NATIVE;
	found.shown.hidden = method_class_is_hidden(found.shown.class_name);
	method = names_alloc(&m->names, sizeof(*method));
	if (!method)
		return -ENOMEM;
	*method = found;
	err = remember(m, method);
	if (!err)
		*out = method;
	return err;
}

int methods_get(struct methods *methods, uint64_t address, const struct method **out)
{
	const struct fields *f = &methods->hotspot->field;
	struct reading r = { 0 };
	struct method *known;
	int err;

	err = target_read(methods->target, address, r.method, method_bytes(f));
	if (err)
		return err;
	r.const_method = field_of(f->method_const_method, r.method, sizeof(r.method));
	known = find_known(methods, address, method_cookie(r.const_method));
	if (known && known->checked == methods->generation) {
		*out = known;
		return 0;
	}
	err = read_structures(methods, address, &r);
	if (err)
		return err;
	/* Classes of one shape can get both addresses of an unloaded one. */
	if (known && known->class_symbol == class_symbol(f, &r)) {
		known->checked = methods->generation;
		*out = known;
		return 0;
	}
	return read_method(methods, address, &r, out);
}

int methods_get_exactly(struct methods *methods, uint64_t address, uint32_t cookie,
			const struct method **out)
{
	const struct method *known = find_known(methods, address, cookie);
	const struct method *now;
	int err;

	if (known && known->checked == methods->generation) {
		*out = known;
		return 0;
	}
	err = methods_get(methods, address, &now);
	if (!err && method_cookie(now->shown.const_method) == cookie) {
		*out = now;
		return 0;
	}
	/* The method is gone; its name is not. */
	if (known) {
		*out = known;
		return 0;
	}
	return err ? err : -ESTALE;
}

int method_line(const struct methods *methods, const struct method *method, int bci)
{
	if (method->shown.native)
		return LINE_NATIVE;
	if (!method->lines)
		return LINE_UNKNOWN;
	return debuginfo_line(method->lines, method->lines_size, methods->bias, bci < 0 ? 0 : bci);
}

size_t methods_memory(const struct methods *methods)
{
	return names_memory(&methods->names) + methods->capacity * sizeof(*methods->items) +
	       methods->by_key.capacity * sizeof(struct map64_slot);
}

void methods_free(struct methods *methods)
{
	names_free(&methods->names);
	free(methods->items);
	map64_free(&methods->by_key);
	methods->items = NULL;
	methods->count = 0;
	methods->capacity = 0;
}
