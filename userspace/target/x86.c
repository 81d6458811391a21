/* SPDX-License-Identifier: Apache-2.0 */
#include "target/x86.h"

#include <string.h>

#include "base/cursor.h"

/* Of an opcode: what follows it, and what it writes. */
enum {
	MODRM = 1 << 0,
	IMM8 = 1 << 1,
	IMM32 = 1 << 2,	 /* 16 bits behind the prefix 66 */
	IMMV = 1 << 3,	 /* 64 bits with REX.W, else as IMM32 */
	BYTE = 1 << 4,	 /* of registers of 8 bits */
	TO_RM = 1 << 5,	 /* writes the operand of ModRM.rm */
	TO_REG = 1 << 6, /* writes the register in ModRM.reg */
	TO_LOW = 1 << 7, /* writes the register in the opcode */
	COPY = 1 << 8,
	COND = 1 << 9,
	GROUP = 1 << 10, /* what it writes depends on ModRM.reg */
	SSE = 1 << 11,	 /* of the operands only memory can be of interest */
	END = 1 << 12,
};

#define BIT(reg) (uint16_t)(1u << (reg))

struct form {
	uint8_t first, last; /* opcodes */
	uint16_t flags;
	uint16_t writes; /* beside operands */
};

#define STRING (BIT(X86_RSI) | BIT(X86_RDI) | BIT(X86_RCX))

static const struct form one_byte[] = {
	{ 0x50, 0x57, 0, BIT(X86_RSP) },		  /* push */
	{ 0x58, 0x5f, TO_LOW, BIT(X86_RSP) },		  /* pop */
	{ 0x63, 0x63, MODRM | TO_REG, 0 },		  /* movsxd */
	{ 0x68, 0x68, IMM32, BIT(X86_RSP) },		  /* push */
	{ 0x69, 0x69, MODRM | IMM32 | TO_REG, 0 },	  /* imul */
	{ 0x6a, 0x6a, IMM8, BIT(X86_RSP) },		  /* push */
	{ 0x6b, 0x6b, MODRM | IMM8 | TO_REG, 0 },	  /* imul */
	{ 0x80, 0x80, MODRM | IMM8 | BYTE | GROUP, 0 },	  /* add ... cmp */
	{ 0x81, 0x81, MODRM | IMM32 | GROUP, 0 },	  /* add ... cmp */
	{ 0x83, 0x83, MODRM | IMM8 | GROUP, 0 },	  /* add ... cmp */
	{ 0x84, 0x85, MODRM, 0 },			  /* test */
	{ 0x86, 0x86, MODRM | BYTE | TO_RM | TO_REG, 0 }, /* xchg */
	{ 0x87, 0x87, MODRM | TO_RM | TO_REG, 0 },	  /* xchg */
	{ 0x88, 0x88, MODRM | BYTE | TO_RM, 0 },	  /* mov */
	{ 0x89, 0x89, MODRM | TO_RM | COPY, 0 },	  /* mov */
	{ 0x8a, 0x8a, MODRM | BYTE | TO_REG, 0 },	  /* mov */
	{ 0x8b, 0x8b, MODRM | TO_REG | COPY, 0 },	  /* mov */
	{ 0x8d, 0x8d, MODRM | TO_REG, 0 },		  /* lea */
	{ 0x90, 0x90, 0, 0 },				  /* nop */
	{ 0x91, 0x97, TO_LOW, BIT(X86_RAX) },		  /* xchg */
	{ 0x98, 0x98, 0, BIT(X86_RAX) },		  /* cdqe */
	{ 0x99, 0x99, 0, BIT(X86_RDX) },		  /* cqo */
	{ 0xa4, 0xa5, 0, STRING },			  /* movs */
	{ 0xa8, 0xa8, IMM8, 0 },			  /* test */
	{ 0xa9, 0xa9, IMM32, 0 },			  /* test */
	{ 0xaa, 0xab, 0, STRING },			  /* stos */
	{ 0xb0, 0xb7, IMM8 | BYTE | TO_LOW, 0 },	  /* mov */
	{ 0xb8, 0xbf, IMMV | TO_LOW, 0 },		  /* mov */
	{ 0xc0, 0xc0, MODRM | IMM8 | BYTE | TO_RM, 0 },	  /* shifts */
	{ 0xc1, 0xc1, MODRM | IMM8 | TO_RM, 0 },	  /* shifts */
	{ 0xc3, 0xc3, END, 0 },				  /* ret */
	{ 0xc6, 0xc6, MODRM | IMM8 | BYTE | TO_RM, 0 },	  /* mov */
	{ 0xc7, 0xc7, MODRM | IMM32 | TO_RM, 0 },	  /* mov */
	{ 0xc9, 0xc9, 0, BIT(X86_RSP) | BIT(X86_RBP) },	  /* leave */
	{ 0xcc, 0xcc, END, 0 },				  /* int3 */
	{ 0xd0, 0xd0, MODRM | BYTE | TO_RM, 0 },	  /* shifts */
	{ 0xd1, 0xd1, MODRM | TO_RM, 0 },		  /* shifts */
	{ 0xd2, 0xd2, MODRM | BYTE | TO_RM, 0 },	  /* shifts */
	{ 0xd3, 0xd3, MODRM | TO_RM, 0 },		  /* shifts */
	{ 0xf4, 0xf4, END, 0 },				  /* hlt */
	{ 0xf6, 0xf6, MODRM | BYTE | GROUP, 0 },	  /* test ... idiv */
	{ 0xf7, 0xf7, MODRM | GROUP, 0 },		  /* test ... idiv */
	{ 0xfe, 0xfe, MODRM | BYTE | TO_RM, 0 },	  /* inc, dec */
	{ 0xff, 0xff, MODRM | GROUP, 0 },		  /* inc ... push */
};

#define CPUID (BIT(X86_RAX) | BIT(X86_RBX) | BIT(X86_RCX) | BIT(X86_RDX))

static const struct form two_bytes[] = {
	{ 0x05, 0x05, 0, BIT(X86_RAX) | BIT(X86_RCX) | BIT(X86_R11) }, /* syscall */
	{ 0x0b, 0x0b, END, 0 },					       /* ud2 */
	{ 0x10, 0x17, MODRM | SSE, 0 },
	{ 0x18, 0x1f, MODRM, 0 },		 /* prefetch, nop */
	{ 0x28, 0x2b, MODRM | SSE, 0 },		 /* movaps ... movntps */
	{ 0x2c, 0x2d, MODRM | SSE | TO_REG, 0 }, /* cvttss2si, cvtss2si */
	{ 0x2e, 0x2f, MODRM | SSE, 0 },		 /* ucomiss */
	{ 0x40, 0x4f, MODRM | TO_REG | COND, 0 },
	{ 0x50, 0x50, MODRM | SSE | TO_REG, 0 }, /* movmskps */
	{ 0x51, 0x6f, MODRM | SSE, 0 },
	{ 0x70, 0x73, MODRM | SSE | IMM8, 0 },
	{ 0x74, 0x76, MODRM | SSE, 0 },
	{ 0x7e, 0x7e, MODRM | SSE | TO_RM, 0 }, /* movq */
	{ 0x7f, 0x7f, MODRM | SSE, 0 },
	{ 0x90, 0x9f, MODRM | BYTE | TO_RM, 0 }, /* setcc */
	{ 0xa2, 0xa2, 0, CPUID },
	{ 0xa3, 0xa3, MODRM | TO_RM, 0 },		    /* bt */
	{ 0xa4, 0xa4, MODRM | IMM8 | TO_RM, 0 },	    /* shld */
	{ 0xa5, 0xa5, MODRM | TO_RM, 0 },		    /* shld */
	{ 0xab, 0xab, MODRM | TO_RM, 0 },		    /* bts */
	{ 0xac, 0xac, MODRM | IMM8 | TO_RM, 0 },	    /* shrd */
	{ 0xad, 0xad, MODRM | TO_RM, 0 },		    /* shrd */
	{ 0xae, 0xae, MODRM | SSE, 0 },			    /* fences, ldmxcsr */
	{ 0xaf, 0xaf, MODRM | TO_REG, 0 },		    /* imul */
	{ 0xb0, 0xb0, MODRM | BYTE | TO_RM, BIT(X86_RAX) }, /* cmpxchg */
	{ 0xb1, 0xb1, MODRM | TO_RM, BIT(X86_RAX) },	    /* cmpxchg */
	{ 0xb3, 0xb3, MODRM | TO_RM, 0 },		    /* btr */
	{ 0xb6, 0xb7, MODRM | TO_REG, 0 },		    /* movzx */
	{ 0xba, 0xba, MODRM | IMM8 | TO_RM, 0 },	    /* bt ... btc */
	{ 0xbb, 0xbb, MODRM | TO_RM, 0 },		    /* btc */
	{ 0xbc, 0xbf, MODRM | TO_REG, 0 },		    /* bsf, bsr, movsx */
	{ 0xc0, 0xc0, MODRM | BYTE | TO_RM | TO_REG, 0 },   /* xadd */
	{ 0xc1, 0xc1, MODRM | TO_RM | TO_REG, 0 },	    /* xadd */
	{ 0xc2, 0xc2, MODRM | SSE | IMM8, 0 },		    /* cmpps */
	{ 0xc5, 0xc5, MODRM | SSE | IMM8 | TO_REG, 0 },	    /* pextrw */
	{ 0xc6, 0xc6, MODRM | SSE | IMM8, 0 },		    /* shufps */
	{ 0xc8, 0xcf, TO_LOW, 0 },			    /* bswap */
	{ 0xd0, 0xd6, MODRM | SSE, 0 },
	{ 0xd7, 0xd7, MODRM | SSE | TO_REG, 0 }, /* pmovmskb */
	{ 0xd8, 0xfe, MODRM | SSE, 0 },
};

/* The eight operations of two operands, in six forms each. */
static bool arithmetic(uint8_t opcode, struct form *out)
{
	static const uint16_t flags[] = {
		MODRM | BYTE | TO_RM, MODRM | TO_RM, MODRM | BYTE | TO_REG,
		MODRM | TO_REG,	      IMM8,	     IMM32
	};
	uint8_t kind = opcode & 7;
	bool compares = opcode >> 3 == 7;

	if (opcode >= 0x40 || kind >= sizeof(flags) / sizeof(flags[0]))
		return false;
	*out = (struct form){ .flags = flags[kind], .writes = kind >= 4 ? BIT(X86_RAX) : 0 };
	if (compares)
		*out = (struct form){ .flags = flags[kind] & (MODRM | BYTE | IMM8 | IMM32) };
	return true;
}

static bool find_form(const struct form *forms, size_t count, uint8_t opcode, struct form *out)
{
	for (size_t i = 0; i < count; i++) {
		if (opcode >= forms[i].first && opcode <= forms[i].last) {
			*out = forms[i];
			return true;
		}
	}
	return false;
}

/* ---- one instruction being decoded */

#define REX_B 1
#define REX_X 2
#define REX_R 4
#define REX_W 8

struct decoding {
	struct cursor c;
	uint8_t rex;	/* 0: there is none */
	bool operand16; /* prefix 66 */
	uint8_t opcode;
	struct form form;
	bool memory; /* the operand of ModRM.rm */
	uint8_t reg, rm, extension;
	struct x86_insn insn;
};

static void writes(struct decoding *d, uint8_t reg)
{
	d->insn.writes |= BIT(reg);
	/* ah, ch, dh and bh, which are numbered as rsp to rdi. */
	if (d->form.flags & BYTE && !d->rex && reg >= X86_RSP && reg <= X86_RDI)
		d->insn.writes |= BIT(reg - X86_RSP);
}

static void skip_operand(struct decoding *d, uint8_t mod, uint8_t rm)
{
	uint8_t base = rm;

	if (rm == 4)
		base = cursor_u8(&d->c) & 7;
	if (mod == 1)
		cursor_u8(&d->c);
	else if (mod == 2 || (mod == 0 && base == 5))
		cursor_u32(&d->c);
}

static void read_operand(struct decoding *d)
{
	uint8_t byte = cursor_u8(&d->c), mod = byte >> 6;

	d->extension = byte >> 3 & 7;
	d->reg = d->extension | (d->rex & REX_R ? 8 : 0);
	d->rm = (byte & 7) | (d->rex & REX_B ? 8 : 0);
	d->memory = mod != 3;
	if (d->memory)
		skip_operand(d, mod, byte & 7);
}

static void read_immediate(struct decoding *d)
{
	uint16_t flags = d->form.flags;

	if (flags & IMM8)
		cursor_u8(&d->c);
	else if (flags & IMMV && d->rex & REX_W)
		d->insn.constant = cursor_u64(&d->c);
	else if (flags & (IMM32 | IMMV))
		d->insn.constant = d->operand16 ? cursor_u16(&d->c) : cursor_u32(&d->c);
}

/* Opcodes whose ModRM.reg says what they are. */
static void choose_of_group(struct decoding *d)
{
	bool compares = d->opcode < 0x90 && d->extension == 7;
	bool is_f6_f7 = d->opcode == 0xf6 || d->opcode == 0xf7;

	if (is_f6_f7 && d->extension < 2) {
		d->form.flags |= d->opcode == 0xf6 ? IMM8 : IMM32; /* test */
	} else if (is_f6_f7 && d->extension >= 4) {
		d->insn.writes |= BIT(X86_RAX) | BIT(X86_RDX); /* mul ... idiv */
	} else if (d->opcode == 0xff && d->extension >= 2) {
		static const enum x86_flow flows[] = {
			[2] = X86_CALL_INDIRECT, [3] = X86_CALL_INDIRECT, [4] = X86_JUMP_INDIRECT,
			[5] = X86_JUMP_INDIRECT, [6] = X86_NEXT,	  [7] = X86_END
		};

		d->insn.flow = flows[d->extension];
		d->insn.writes |= BIT(X86_RSP);
	} else if (!compares) {
		d->form.flags |= TO_RM;
	}
}

static void note_copy(struct decoding *d)
{
	uint16_t flags = d->form.flags;

	d->insn.to = flags & TO_REG ? d->reg : d->rm;
	d->insn.from = flags & TO_REG ? d->rm : d->reg;
	if (d->memory || d->operand16)
		return;
	if (flags & COPY)
		d->insn.does = X86_COPIES;
	else if (flags & COND && (d->opcode & 0xe) == 4)
		d->insn.does = X86_COPIES_IF;
}

static void apply_form(struct decoding *d)
{
	uint16_t flags;

	if (d->form.flags & MODRM)
		read_operand(d);
	if (d->form.flags & GROUP)
		choose_of_group(d);
	read_immediate(d);
	flags = d->form.flags;
	d->insn.writes |= d->form.writes;
	if (flags & END)
		d->insn.flow = X86_END;
	if (flags & TO_REG)
		writes(d, d->reg);
	if (flags & TO_RM && !d->memory)
		writes(d, d->rm);
	if (flags & TO_LOW)
		writes(d, (d->opcode & 7) | (d->rex & REX_B ? 8 : 0));
	d->insn.stores =
		(flags & MODRM && d->memory && flags & (TO_RM | SSE)) || d->form.writes == STRING;
	d->insn.wide = (d->rex & REX_W) != 0;
	if (flags & MODRM)
		note_copy(d);
	if (flags & IMMV && !d->operand16) {
		d->insn.does = X86_IS_CONSTANT;
		d->insn.to = (d->opcode & 7) | (d->rex & REX_B ? 8 : 0);
	}
}

/* ---- jumps */

static bool is_jump(bool two, uint8_t opcode)
{
	if (two)
		return opcode >= 0x80 && opcode <= 0x8f;
	return (opcode >= 0x70 && opcode <= 0x7f) || opcode == 0xe8 || opcode == 0xe9 ||
	       opcode == 0xeb;
}

static void apply_jump(struct decoding *d, bool two)
{
	bool is_short = !two && (d->opcode < 0x80 || d->opcode == 0xeb);

	d->insn.target = is_short ? (int8_t)cursor_u8(&d->c) : (int32_t)cursor_u32(&d->c);
	if (d->opcode == 0xe8 && !two)
		d->insn.flow = X86_CALL;
	else
		d->insn.flow = d->opcode >= 0xe9 && !two ? X86_JUMP : X86_BRANCH;
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

/* Returns the first byte that is no prefix. */
static uint8_t skip_prefixes(struct decoding *d)
{
	static const uint8_t prefixes[] = { 0x66, 0xf2, 0xf3, 0xf0, 0x2e, 0x36, 0x3e, 0x64, 0x65 };
	uint8_t byte = cursor_u8(&d->c);

	while (byte && memchr(prefixes, byte, sizeof(prefixes))) {
		d->operand16 |= byte == 0x66;
		byte = cursor_u8(&d->c);
	}
	if (byte >> 4 != 4)
		return byte;
	d->rex = byte;
	return cursor_u8(&d->c);
}

#define LENGTH_MAX 15 /* the machine refuses more */

struct x86_insn x86_decode(const uint8_t *at, size_t size)
{
	struct decoding d = { .c = cursor_of(at, size < LENGTH_MAX ? size : LENGTH_MAX) };
	bool two, known;

	d.opcode = skip_prefixes(&d);
	two = d.opcode == 0x0f;
	if (two)
		d.opcode = cursor_u8(&d.c);
	if (is_jump(two, d.opcode)) {
		apply_jump(&d, two);
	} else {
		known = two ? find_form(two_bytes, sizeof(two_bytes) / sizeof(two_bytes[0]),
					d.opcode, &d.form)
			    : arithmetic(d.opcode, &d.form) ||
					find_form(one_byte, sizeof(one_byte) / sizeof(one_byte[0]),
						  d.opcode, &d.form);
		if (!known)
			return (struct x86_insn){ 0 };
		apply_form(&d);
	}
	if (d.c.failed)
		return (struct x86_insn){ 0 };
	d.insn.length = (uint8_t)(d.c.at - at);
	d.insn.emulated = is_emulated(at, size);
	if (d.insn.flow == X86_BRANCH || d.insn.flow == X86_JUMP || d.insn.flow == X86_CALL)
		d.insn.target += d.insn.length;
	return d.insn;
}
