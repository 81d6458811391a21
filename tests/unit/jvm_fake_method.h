/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JVM_FAKE_METHOD_H
#define JVMSCOPE_JVM_FAKE_METHOD_H

#include "unit/jvm_fake.h"

/* One method of one class, with everything its name needs. */
struct fake_method {
	_Alignas(8) uint8_t method[128];
	_Alignas(8) uint8_t const_method[512]; /* head, bytecode, line table */
	_Alignas(8) uint8_t pool[256];	       /* of the class; slots 1 to 3 */
	_Alignas(8) uint8_t klass[1024];
	_Alignas(8) uint8_t symbols[4][512]; /* class, name, signature, source file */
};

#define FAKE_CODE_SIZE 10

static inline void fake_symbol(const struct hotspot *h, uint8_t *to, const char *text)
{
	fake_put(to, h->field.symbol_length, strlen(text));
	memcpy(to + h->field.symbol_body.at, text, strlen(text));
}

static inline void fake_pool_slot(const struct hotspot *h, uint8_t *pool, int slot,
				  const uint8_t *symbol)
{
	uint64_t address = fake_address(symbol);

	memcpy(pool + h->constant_pool_bytes + slot * 8, &address, sizeof(address));
}

/* The source file has the class's name. lines: a compressed table, or NULL. */
static inline void fake_make_method(const struct hotspot *h, struct fake_method *m,
				    const char *class_name, const char *name, const uint8_t *lines,
				    size_t lines_size)
{
	const struct fields *f = &h->field;

	memset(m, 0, sizeof(*m));
	fake_symbol(h, m->symbols[0], class_name);
	fake_symbol(h, m->symbols[1], name);
	fake_symbol(h, m->symbols[2], "(I)V");
	fake_symbol(h, m->symbols[3], class_name);
	fake_put(m->klass, f->klass_name, fake_address(m->symbols[0]));
	fake_put(m->klass, f->klass_constants, fake_address(m->pool));
	fake_put(m->pool, f->pool_holder, fake_address(m->klass));
	fake_put(m->pool, f->pool_length, 4);
	for (int i = 1; i < 4; i++)
		fake_pool_slot(h, m->pool, i, m->symbols[i]);
	if (field_exists(f->pool_source_file))
		fake_put(m->pool, f->pool_source_file, 3);
	else
		fake_put(m->klass, f->klass_source_file, 3);
	fake_put(m->const_method, f->const_method_constants, fake_address(m->pool));
	fake_put(m->const_method, f->const_method_size, sizeof(m->const_method) / 8);
	fake_put(m->const_method, f->const_method_code_size, FAKE_CODE_SIZE);
	fake_put(m->const_method, f->const_method_name, 1);
	fake_put(m->const_method, f->const_method_signature, 2);
	if (lines) {
		fake_put(m->const_method, f->const_method_flags, h->line_table_bit);
		memcpy(m->const_method + h->const_method_bytes + FAKE_CODE_SIZE, lines, lines_size);
	}
	fake_put(m->method, f->method_const_method, fake_address(m->const_method));
}

#endif
