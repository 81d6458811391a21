/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_X86_H
#define JVMSCOPE_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One instruction of x86-64 code, as far as probes need it: how long it is, where it goes on, and
 * which general registers it may write. For this folder only.
 *
 * Registers are numbered as the machine does: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
 * What compilers make of C++ without vectors wider than SSE's is known. Source: Intel's manual,
 * volume 2, opcode maps.
 */
enum x86_register {
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RBX,
	X86_RSP,
	X86_RBP,
	X86_RSI,
	X86_RDI,
	X86_R8,
	X86_R9,
	X86_R10,
	X86_R11,
	X86_R12,
	X86_REGISTERS = 16,
};

enum x86_flow {
	X86_NEXT,
	X86_BRANCH, /* to the target or on */
	X86_JUMP,
	X86_CALL,
	X86_CALL_INDIRECT,
	X86_JUMP_INDIRECT,
	X86_END, /* a return, or what never comes back */
};

enum x86_does {
	X86_ANYTHING,
	X86_COPIES,	 /* register from to register to */
	X86_COPIES_IF,	 /* the same, when the last compare was of equals, or when it was not */
	X86_IS_CONSTANT, /* register to is the constant */
};

struct x86_insn {
	uint8_t length; /* 0: not known here, or cut off */
	bool emulated;	/* by the kernel, under a uprobe: arch/x86/kernel/uprobes.c */
	bool stores;	/* to memory, or may */
	enum x86_flow flow;
	enum x86_does does;
	bool wide; /* all 64 bits */
	uint8_t to, from;
	uint16_t writes; /* bit n: register n; what a called function may write is not in it */
	uint64_t constant;
	int64_t target; /* of a jump or call, from the start of the instruction */
};

/* Decodes what is at `at`, of which size bytes can be read. */
struct x86_insn x86_decode(const uint8_t *at, size_t size);

#endif
