/* SPDX-License-Identifier: Apache-2.0 */
#include "target/insn.h"

#include <string.h>

#define STEPS_MAX 8 /* instructions that are passed over at most */

/* ---- x86-64 */

/*
 * One instruction, as far as it must be known here: its length, what it writes, and whether the
 * kernel emulates it (arch/x86/kernel/uprobes.c, branch_setup_xol_ops and push_setup_xol_ops).
 */
struct x86 {
	size_t length; /* 0: not known here */
	bool emulated;
	bool writes; /* a register: the one in to */
	uint8_t to;
};

#define REX_B 1
#define REX_R 4

/* rdi, rsi, rdx, rcx, r8, r9, and rsp, which must still point to the return address. */
static bool must_stay(uint8_t reg, bool first_only)
{
	if (first_only)
		return reg == 7 || reg == 4;
	return reg == 7 || reg == 6 || reg == 2 || reg == 1 || reg == 8 || reg == 9 || reg == 4;
}

/* Bytes of a ModRM operand: the byte itself, SIB and displacement. 0: not there. */
static size_t operand_length(const uint8_t *at, size_t size)
{
	uint8_t mod, rm;
	size_t length = 1;

	if (size == 0)
		return 0;
	mod = at[0] >> 6;
	rm = at[0] & 7;
	if (mod == 3)
		return 1;
	if (rm == 4) {
		if (size < 2)
			return 0;
		length++;
		if (mod == 0 && (at[1] & 7) == 5)
			length += 4;
	}
	if (mod == 1)
		length += 1;
	else if (mod == 2 || (mod == 0 && rm == 5))
		length += 4;
	return length;
}

/* An opcode with a ModRM operand that is passed over. */
struct x86_form {
	uint8_t opcode;
	bool two_bytes;	   /* behind 0f */
	uint8_t group;	   /* ModRM.reg must be this; NO_GROUP: it is a register */
	uint8_t immediate; /* bytes */
	char writes;	   /* 'r' the register in reg, 'm' the operand, 0 nothing but flags */
};
#define NO_GROUP 8

static const struct x86_form forms[] = {
	{ 0x84, false, NO_GROUP, 0, 0 },   /* test r8, r/m8 */
	{ 0x85, false, NO_GROUP, 0, 0 },   /* test */
	{ 0x38, false, NO_GROUP, 0, 0 },   /* cmp */
	{ 0x39, false, NO_GROUP, 0, 0 },   /* cmp */
	{ 0x3a, false, NO_GROUP, 0, 0 },   /* cmp */
	{ 0x3b, false, NO_GROUP, 0, 0 },   /* cmp */
	{ 0x80, false, 7, 1, 0 },	   /* cmp r/m8, imm8 */
	{ 0x81, false, 7, 4, 0 },	   /* cmp r/m, imm32 */
	{ 0x83, false, 7, 1, 0 },	   /* cmp r/m, imm8 */
	{ 0xf6, false, 0, 1, 0 },	   /* test r/m8, imm8 */
	{ 0x89, false, NO_GROUP, 0, 'm' }, /* mov r/m, r */
	{ 0x8b, false, NO_GROUP, 0, 'r' }, /* mov r, r/m */
	{ 0x8d, false, NO_GROUP, 0, 'r' }, /* lea */
	{ 0x31, false, NO_GROUP, 0, 'm' }, /* xor */
	{ 0xc7, false, 0, 4, 'm' },	   /* mov r/m, imm32 */
	{ 0xb6, true, NO_GROUP, 0, 'r' },  /* movzx */
	{ 0xb7, true, NO_GROUP, 0, 'r' },  /* movzx */
	{ 0xbe, true, NO_GROUP, 0, 'r' },  /* movsx */
};

static const struct x86_form *form_of(uint8_t opcode, bool two_bytes)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (forms[i].opcode == opcode && forms[i].two_bytes == two_bytes)
			return &forms[i];
	return NULL;
}

/* at is behind the opcode. Writes to memory are not passed over: they could be the arguments. */
static struct x86 with_operand(const struct x86_form *form, const uint8_t *at, size_t size,
			       uint8_t rex)
{
	struct x86 insn = { 0 };
	size_t length = operand_length(at, size);
	uint8_t reg, rm;

	if (!length || length + form->immediate > size)
		return insn;
	reg = at[0] >> 3 & 7;
	if (form->group != NO_GROUP && form->group != reg)
		return insn;
	rm = (at[0] & 7) | (rex & REX_B ? 8 : 0);
	reg |= rex & REX_R ? 8 : 0;
	if (form->writes == 'm' && at[0] >> 6 != 3)
		return insn;
	insn.length = length + form->immediate;
	insn.writes = form->writes;
	insn.to = form->writes == 'm' ? rm : reg;
	return insn;
}

static bool is_emulated(const uint8_t *at, size_t size)
{
	uint8_t opcode = at[0];

	if (opcode == 0x66)
		return size > 1 && at[1] == 0x90;
	if (opcode == 0x0f)
		return size > 1 && at[1] >= 0x80 && at[1] <= 0x8f;
	if (opcode == 0x41)
		return size > 1 && at[1] >= 0x50 && at[1] <= 0x57;
	return opcode == 0x90 || opcode == 0xe8 || opcode == 0xe9 || opcode == 0xeb ||
	       (opcode >= 0x50 && opcode <= 0x57) || (opcode >= 0x70 && opcode <= 0x7f);
}

static struct x86 decode_x86(const uint8_t *at, size_t size)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const struct x86_form *form;
	struct x86 insn = { 0 };
	size_t prefix = 0;
	uint8_t rex = 0;
	bool two_bytes;

	if (size >= sizeof(endbr64) && !memcmp(at, endbr64, sizeof(endbr64)))
		return (struct x86){ .length = sizeof(endbr64) };
	if (is_emulated(at, size))
		return (struct x86){ .length = 1, .emulated = true };
	if (size > 1 && at[0] >> 4 == 4)
		rex = at[prefix++];
	/* mov r, imm */
	if (at[prefix] >= 0xb8 && at[prefix] <= 0xbf)
		return (struct x86){ .length = prefix + (rex & 8 ? 9 : 5),
				     .writes = true,
				     .to = (at[prefix] & 7) | (rex & REX_B ? 8 : 0) };
	two_bytes = at[prefix] == 0x0f && prefix + 1 < size;
	prefix += two_bytes;
	form = form_of(at[prefix], two_bytes);
	if (!form)
		return insn;
	insn = with_operand(form, at + prefix + 1, size - prefix - 1, rex);
	if (insn.length)
		insn.length += prefix + 1;
	return insn;
}

static struct insn_site find_site(const uint8_t *code, size_t size, bool first_only)
{
	static const struct insn_site none = { 0, false };
	size_t at = 0;

	if (size > INSN_BYTES_MAX)
		size = INSN_BYTES_MAX;
	for (int step = 0; step < STEPS_MAX && at < size; step++) {
		struct x86 insn = decode_x86(code + at, size - at);

		if (insn.emulated)
			return (struct insn_site){ (uint32_t)at, true };
		if (!insn.length || (insn.writes && must_stay(insn.to, first_only)))
			return none;
		at += insn.length;
	}
	return none;
}

struct insn_site insn_site_x86(const uint8_t *code, size_t size)
{
	return find_site(code, size, false);
}

struct insn_site insn_site_x86_first(const uint8_t *code, size_t size)
{
	return find_site(code, size, true);
}

/* ---- arm64 */

/* Branches and hints (nop, bti, paciasp): arch/arm64/kernel/probes/decode-insn.c. */
static bool is_simulated(uint32_t insn)
{
	return (insn & 0xfffff01f) == 0xd503201f || (insn & 0x7c000000) == 0x14000000 ||
	       (insn & 0x7e000000) == 0x34000000 || (insn & 0x7e000000) == 0x36000000 ||
	       (insn & 0xff000010) == 0x54000000;
}

struct insn_site insn_site_arm64(const uint8_t *code, size_t size)
{
	uint32_t insn;

	if (size < sizeof(insn))
		return (struct insn_site){ 0, false };
	insn = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	       (uint32_t)code[3] << 24;
	return (struct insn_site){ 0, is_simulated(insn) };
}

#ifdef __aarch64__
struct insn_site insn_site(const uint8_t *code, size_t size)
{
	return insn_site_arm64(code, size);
}

struct insn_site insn_site_first(const uint8_t *code, size_t size)
{
	return insn_site_arm64(code, size);
}
#else
struct insn_site insn_site(const uint8_t *code, size_t size)
{
	return insn_site_x86(code, size);
}

struct insn_site insn_site_first(const uint8_t *code, size_t size)
{
	return insn_site_x86_first(code, size);
}
#endif
