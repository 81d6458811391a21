/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/map64.h"
#include "jvm/classfile.h"

/* Instructions of two versions of a method, by what their constants say. */

/* Opcodes with something special to them, JVMS chapter 6. */
enum {
	OP_LDC = 18,
	OP_LDC_W = 19,
	OP_LDC2_W = 20,
	OP_ALOAD_3 = 45,
	OP_POP = 87,
	OP_POP2 = 88,
	OP_TABLESWITCH = 170,
	OP_LOOKUPSWITCH = 171,
	OP_IRETURN = 172,
	OP_RETURN = 177,
	OP_GETSTATIC = 178,
	OP_INVOKEVIRTUAL = 182,
	OP_INVOKESTATIC = 184,
	OP_INVOKEINTERFACE = 185,
	OP_INVOKEDYNAMIC = 186,
	OP_NEW = 187,
	OP_ANEWARRAY = 189,
	OP_ATHROW = 191,
	OP_CHECKCAST = 192,
	OP_INSTANCEOF = 193,
	OP_WIDE = 196,
	OP_MULTIANEWARRAY = 197,
	OP_IINC = 132,
};

/* Bytes behind each opcode; W: see wide_size() and switch_size(). */
#define W 255
static const uint8_t operands[202] = {
	[16] = 1,  [17] = 2,  [18] = 1,	 [19] = 2,  [20] = 2,  [21] = 1,  [22] = 1,  [23] = 1,
	[24] = 1,  [25] = 1,  [54] = 1,	 [55] = 1,  [56] = 1,  [57] = 1,  [58] = 1,  [132] = 2,
	[153] = 2, [154] = 2, [155] = 2, [156] = 2, [157] = 2, [158] = 2, [159] = 2, [160] = 2,
	[161] = 2, [162] = 2, [163] = 2, [164] = 2, [165] = 2, [166] = 2, [167] = 2, [168] = 2,
	[169] = 1, [170] = W, [171] = W, [178] = 2, [179] = 2, [180] = 2, [181] = 2, [182] = 2,
	[183] = 2, [184] = 2, [185] = 4, [186] = 4, [187] = 2, [188] = 1, [189] = 2, [192] = 2,
	[193] = 2, [196] = W, [197] = 3, [198] = 2, [199] = 2, [200] = 4, [201] = 4,
};

static uint32_t big32_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

static uint16_t big16_at(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

/* Bytes of a switch at pc, padding included; 0: it does not lie within the code. */
static uint64_t switch_size(const struct classfile_method *m, uint32_t pc)
{
	uint64_t at = ((uint64_t)pc + 4) & ~3ull, entries;

	if (at + 12 > m->code_size)
		return 0;
	if (m->code[pc] == OP_LOOKUPSWITCH)
		return at + 8 + 8ull * big32_at(m->code + at + 4) - pc;
	entries = (uint64_t)(uint32_t)(big32_at(m->code + at + 8) - big32_at(m->code + at + 4)) + 1;
	return at + 12 + 4 * entries - pc;
}

/* Bytes of the instruction at pc, which lies within the code; 0: it makes no sense. */
static uint32_t instruction_size(const struct classfile_method *m, uint32_t pc)
{
	uint8_t opcode = m->code[pc];
	uint64_t size;

	if (opcode >= sizeof(operands))
		return 0;
	if (operands[opcode] != W)
		size = 1u + operands[opcode];
	else if (opcode == OP_WIDE)
		size = pc + 1 < m->code_size && m->code[pc + 1] == OP_IINC ? 6 : 4;
	else
		size = switch_size(m, pc);
	return size && size <= m->code_size - pc ? (uint32_t)size : 0;
}
#undef W

/* The constant an instruction names, or 0. */
static uint16_t constant_of(const uint8_t *code)
{
	uint8_t opcode = code[0];

	if (opcode == OP_LDC)
		return code[1];
	if (opcode == OP_LDC_W || opcode == OP_LDC2_W ||
	    (opcode >= OP_GETSTATIC && opcode <= OP_NEW) || opcode == OP_ANEWARRAY ||
	    opcode == OP_CHECKCAST || opcode == OP_INSTANCEOF || opcode == OP_MULTIANEWARRAY)
		return big16_at(code + 1);
	return 0;
}

/* The same for two methods that do the same: what the instructions are, one after the other. */
static uint64_t hash_code(const struct classfile *file, const struct classfile_method *m)
{
	uint64_t parts[3] = { 0 };
	uint32_t size, index;

	for (uint32_t pc = 0; pc < m->code_size; pc += size) {
		size = instruction_size(m, pc);
		if (!size)
			return map64_hash(m->code, m->code_size);
		index = constant_of(m->code + pc);
		parts[1] = m->code[pc] == OP_LDC_W ? OP_LDC : m->code[pc];
		parts[2] = index ? classfile_constant(file, (uint16_t)index)
				 : map64_hash(m->code + pc, size);
		parts[0] = map64_hash(parts, sizeof(parts));
	}
	return parts[0];
}

/* ---- calls */

static bool is_end(uint8_t opcode)
{
	return (opcode >= OP_IRETURN && opcode <= OP_RETURN) || opcode == OP_ATHROW;
}

static bool is_at_exit(const struct classfile_method *m, uint32_t next)
{
	return next < m->code_size && is_end(m->code[next]);
}

/* Loads and constants, which are arguments of a call, and what is done with its result. */
static bool is_harmless(uint8_t opcode)
{
	return opcode <= OP_ALOAD_3 || opcode == OP_POP || opcode == OP_POP2;
}

/* known: the methods before's constant pool names. */
static void count_calls(const struct classfile *file, const struct map64 *known,
			struct classfile_change *change)
{
	const struct classfile_method *m = change->after;
	bool entry = true, added;
	uint32_t size, value;

	for (uint32_t pc = 0; pc < m->code_size; pc += size) {
		uint8_t opcode = m->code[pc];

		size = instruction_size(m, pc);
		if (!size)
			return;
		added = opcode >= OP_INVOKEVIRTUAL && opcode < OP_INVOKEDYNAMIC &&
			!map64_get(known, classfile_constant(file, constant_of(m->code + pc)),
				   &value);
		change->calls_added += added;
		if (!added || opcode != OP_INVOKESTATIC)
			entry &= is_harmless(opcode);
		else if (is_at_exit(m, pc + size) && !(entry && !change->calls_at_entry))
			change->calls_at_exit++;
		else
			change->calls_at_entry += entry;
	}
}

/* ---- methods */

static bool same_text(struct classfile_text a, struct classfile_text b)
{
	return a.len == b.len && !memcmp(a.bytes, b.bytes, a.len);
}

static uint64_t hash_method(const struct classfile_method *m)
{
	uint64_t parts[2] = { map64_hash(m->name.bytes, m->name.len),
			      map64_hash(m->signature.bytes, m->signature.len) };

	return map64_hash(parts, sizeof(parts));
}

static bool same_frames(const struct classfile_method *a, const struct classfile_method *b)
{
	return a->frames_size == b->frames_size &&
	       (!a->frames_size || !memcmp(a->frames, b->frames, a->frames_size));
}

static const struct classfile_method *find_method(const struct classfile *file,
						  const struct map64 *methods,
						  const struct classfile_method *like)
{
	const struct classfile_method *m;
	uint32_t at;

	if (!map64_get(methods, hash_method(like), &at))
		return NULL;
	m = &file->methods[at];
	return same_text(m->name, like->name) && same_text(m->signature, like->signature) ? m
											  : NULL;
}

/* What before has: its methods, and the methods it calls. */
struct index {
	struct map64 methods;
	struct map64 calls;
};

static int make_index(const struct classfile *file, struct index *index)
{
	int err = 0;

	for (uint32_t i = 0; i < file->method_count && !err; i++)
		err = map64_set(&index->methods, hash_method(&file->methods[i]), i);
	for (uint32_t i = 1; i < file->constants && !err; i++)
		if (classfile_is_method(file, (uint16_t)i))
			err = map64_set(&index->calls, classfile_constant(file, (uint16_t)i), i);
	return err;
}

static int count_methodrefs_added(const struct classfile *after, const struct index *index)
{
	uint32_t value;
	int count = 0;

	for (uint32_t i = 1; i < after->constants; i++)
		count += classfile_is_method(after, (uint16_t)i) &&
			 !map64_get(&index->calls, classfile_constant(after, (uint16_t)i), &value);
	return count;
}

int classfile_compare(const struct classfile *before, const struct classfile *after,
		      void (*changed)(const struct classfile_change *change, void *ctx), void *ctx)
{
	struct index index = { { 0 }, { 0 } };
	int err = make_index(before, &index);

	for (uint32_t i = 0; i < after->method_count && !err; i++) {
		struct classfile_change change = { .after = &after->methods[i] };
		const struct classfile_method *a = change.after, *b;

		b = change.before = find_method(before, &index.methods, a);
		change.frames_changed = b && !same_frames(a, b);
		if (b && !change.frames_changed && a->max_stack == b->max_stack &&
		    a->max_locals == b->max_locals && a->code_size == b->code_size &&
		    hash_code(after, a) == hash_code(before, b))
			continue;
		count_calls(after, &index.calls, &change);
		changed(&change, ctx);
	}
	if (!err)
		err = count_methodrefs_added(after, &index);
	map64_free(&index.methods);
	map64_free(&index.calls);
	return err;
}
