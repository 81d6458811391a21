/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_UNWIND_CODE_H
#define JVS_UNWIND_CODE_H

#include "unwind.h"

/*
 * What the code around a pc says of the state of the stack (x86-64).
 *
 * A leaf can be anywhere in a method's prologue or epilogue, and only its instructions tell how
 * far it is. All patterns are whole instruction sequences; single bytes mislead.
 *
 * Searches collect a bit per position and do not branch: with a branch per position the verifier
 * follows each path, and gives up after a million instructions.
 */

JVS_INLINE __u32 jvs_byte(const struct jvs_walk *w, __u32 at)
{
	return *(const volatile __u8 *)(w->code + at);
}

/* Four bytes, the first one lowest. */
JVS_INLINE __u32 jvs_bytes4(const struct jvs_walk *w, __u32 at)
{
	return *(const volatile jvs_any_u32 *)(w->code + at);
}

/* 1 when the top bit is set. A barrier after each step, else compilers make a branch of it. */
JVS_INLINE __u64 jvs_top_bit(__u64 value)
{
	barrier_var(value);
	value >>= 63;
	barrier_var(value);
	return value;
}

/* 1 when equal, 0 when not, for values below 2^63. */
JVS_INLINE __u64 jvs_equal(__u64 a, __u64 b)
{
	__u64 difference = a ^ b;

	barrier_var(difference);
	return jvs_top_bit(difference - 1);
}

/* Instructions, first byte lowest. */
#define JVS_PUSH_RBP	     0x55u
#define JVS_POP_RBP	     0x5du
#define JVS_PUSH_RAX	     0x50u /* and up to 57 the other low registers; the upper ones with 41 */
#define JVS_POP_RAX	     0x58u
#define JVS_REX_B	     0x41u
#define JVS_REX_W	     0x48u /* and up to 4f */
#define JVS_REX_WR	     0x4cu
#define JVS_VEX2	     0xc5u
#define JVS_VEX3	     0xc4u
#define JVS_EVEX	     0x62u
#define JVS_MOVSD_TO	     0x110ff2u	 /* movsd [...], xmm */
#define JVS_MOV_STACK_REG    0x24048900u /* mov [rsp + ...], reg without its first byte and reg */
#define JVS_LEAVE	     0xc9u
#define JVS_LEAVE_TESTB	     0xf641c9u /* leave; testb [r15 + ...] */
#define JVS_LEAVE_CMP	     0x8349c9u /* leave; cmp [r15 + ...], imm8 */
#define JVS_LEAVE_CMP32	     0x8149c9u /* leave; cmp [r15 + ...], imm32 */
#define JVS_ADD_RSP_8	     0xc48348u /* add rsp, imm8 */
#define JVS_JMP_NEAR	     0xe9u
#define JVS_RET		     0xc3u
#define JVS_POP_RDI	     0x5fu
#define JVS_PUSH_RBX	     0x53u
#define JVS_PUSH_RDX	     0x52u
#define JVS_MOV_RBP_RSP_A    0xec8b48u	 /* mov rbp, rsp */
#define JVS_MOV_RBP_RSP_B    0xe58948u	 /* the same, encoded the other way */
#define JVS_PUSH_MOV_RBP_A   0xec8b4855u /* push rbp; mov rbp, rsp */
#define JVS_PUSH_MOV_RBP_B   0xe5894855u
#define JVS_SUB_RSP_8	     0xec8348u	 /* sub rsp, imm8 */
#define JVS_SUB_RSP_32	     0xec8148u	 /* sub rsp, imm32 */
#define JVS_LEA_R13_RSP	     0x246c8d4cu /* lea r13, [rsp + imm8] */
#define JVS_MOV_R13_RSP_A    0xec8b4cu
#define JVS_MOV_R13_RSP_B    0xe58949u
#define JVS_POP_R13_MOV_RSP  0x8b485d41u /* pop r13; mov rsp, ... */
#define JVS_FROM_RBX	     0xe3u	 /* ... rbx: last byte of the mov above */
#define JVS_TEST_RCX_RET     0xc3028541u /* test [r10], eax; ret: poll of 11 */
#define JVS_MOV_R10_THREAD   0x978b4du	 /* mov r10, [r15 + imm32] */
#define JVS_CMP_RSP_THREAD32 0xa73b49u	 /* cmp rsp, [r15 + imm32]: poll of 17 and later */
#define JVS_CMP_RSP_THREAD8  0x673b49u	 /* cmp rsp, [r15 + imm8] */
#define JVS_MOV_R10_IMM64    0xba49u
#define JVS_MOV_THREAD_R10   0x97894du /* mov [r15 + imm32], r10 */
#define JVS_JA_NEAR	     0x870fu
#define JVS_JNE_NEAR	     0x850fu
#define JVS_TEST_EAX_RIP     0x0585u /* test [rip + imm32], eax: poll of 8 */

JVS_INLINE bool jvs_is_push_mov_rbp(__u32 bytes)
{
	return bytes == JVS_PUSH_MOV_RBP_A || bytes == JVS_PUSH_MOV_RBP_B;
}

JVS_INLINE bool jvs_is_mov_rbp(__u32 bytes)
{
	bytes &= 0xffffff;
	return bytes == JVS_MOV_RBP_RSP_A || bytes == JVS_MOV_RBP_RSP_B;
}

/* How much of a method's frame is there. */
enum jvs_leaf {
	JVS_LEAF_WHOLE, /* all of it: caller by frame size */
	JVS_LEAF_RA,	/* nothing: return address at [sp] */
	JVS_LEAF_FP_RA, /* saved fp at [sp], return address above */
	JVS_LEAF_UNREADABLE,
};

/*
 * w->code[0 .. length) is a method from its verified entry (at most the last 63 bytes) to pc:
 * how far has the prologue come? Returns an enum jvs_leaf.
 */
JVS_FN int jvs_scan_prologue(struct jvs_walk *w, __u32 length)
{
	__u64 sub = 0, push = 0, mov = 0, bytes;

	if (!w || length == 0)
		return JVS_LEAF_RA;
	if (length > 63)
		length = 63;

	for (__u32 i = 0; i < 63; i++) {
		bytes = jvs_bytes4(w, i);
		sub |= (jvs_equal(bytes & 0xffffff, JVS_SUB_RSP_8) |
			jvs_equal(bytes & 0xffffff, JVS_SUB_RSP_32))
		       << i;
		mov |= (jvs_equal(bytes & 0xffffff, JVS_MOV_RBP_RSP_A) |
			jvs_equal(bytes & 0xffffff, JVS_MOV_RBP_RSP_B))
		       << i;
		push |= jvs_equal(bytes & 0xff, JVS_PUSH_RBP) << i;
	}

	/* "sub rsp" before pc: the frame is there, even where it is not yet called complete. */
	if (length > 2 && sub & ((1ull << (length - 2)) - 1))
		return JVS_LEAF_WHOLE;
	/* pc right after "push rbp", or anywhere after "push rbp; mov rbp, rsp". */
	if (push >> (length - 1) & 1)
		return JVS_LEAF_FP_RA;
	if (push & mov >> 1 & ((1ull << length) - 1))
		return JVS_LEAF_FP_RA;
	return JVS_LEAF_RA;
}

/* Where w->code, whose byte 1 is at pc, is in "pop rbp; poll; ret". Returns an enum jvs_leaf. */
JVS_FN int jvs_scan_return(struct jvs_walk *w)
{
	__u32 at, previous;

	if (!w)
		return JVS_LEAF_WHOLE;
	previous = jvs_byte(w, 0);
	at = jvs_bytes4(w, 1);

	if ((at & 0xff) == JVS_RET || at == JVS_TEST_RCX_RET)
		return JVS_LEAF_RA;
	if ((at & 0xffff) == JVS_JA_NEAR && jvs_byte(w, 7) == JVS_RET)
		return JVS_LEAF_RA;
	if ((at & 0xffff) == JVS_TEST_EAX_RIP && jvs_byte(w, 7) == JVS_RET)
		return JVS_LEAF_RA;
	if (previous == JVS_POP_RBP) {
		if ((at & 0xffffff) == JVS_CMP_RSP_THREAD32 &&
		    (jvs_bytes4(w, 8) & 0xffff) == JVS_JA_NEAR)
			return JVS_LEAF_RA;
		if ((at & 0xffffff) == JVS_CMP_RSP_THREAD8 &&
		    (jvs_bytes4(w, 5) & 0xffff) == JVS_JA_NEAR)
			return JVS_LEAF_RA;
		if ((at & 0xffffff) == JVS_MOV_R10_THREAD && jvs_bytes4(w, 8) == JVS_TEST_RCX_RET)
			return JVS_LEAF_RA;
	}
	/* The slow path of a return's poll: mov r10, pc; mov [r15 + saved pc], r10; jmp safepoint.
	 */
	if ((at & 0xffff) == JVS_MOV_R10_IMM64 &&
	    (jvs_bytes4(w, 11) & 0xffffff) == JVS_MOV_THREAD_R10 && jvs_byte(w, 18) == JVS_JMP_NEAR)
		return JVS_LEAF_RA;
	if ((at & 0xffffff) == JVS_MOV_THREAD_R10 && jvs_byte(w, 8) == JVS_JMP_NEAR)
		return JVS_LEAF_RA;
	/* Only with a return address above it: 5d is also the last byte of other instructions. */
	return (at & 0xff) == JVS_POP_RBP ? JVS_LEAF_FP_RA : JVS_LEAF_WHOLE;
}

/*
 * Whether pc is in the end of a native method's wrapper, where the frame is gone: from after
 *"leave" to the jump behind "ret". Up to 36 bytes lie between the two:
 *
 *	[25: testb [r15 + poll], 1; je; mov r10, pc; mov [r15 + saved pc], r10; jmp safepoint stub;]
 *	cmp [r15 + pending exception], 0; jne exception; ret; exception: jmp
 */
JVS_FN int jvs_in_wrapper_end(struct jvs_walk *w)
{
	__u32 bytes;

	if (!w || jvs_read_user(w->code, 104, w->pc - 48))
		return 0;
	for (__u32 i = 0; i < 48; i++) {
		bytes = jvs_bytes4(w, 47 - i) & 0xffffff;
		if (bytes == JVS_LEAVE_TESTB || bytes == JVS_LEAVE_CMP || bytes == JVS_LEAVE_CMP32)
			goto left;
	}
	return 0;
left:
	for (__u32 i = 48; i < 92; i++)
		if ((jvs_bytes4(w, i) & 0xffff) == JVS_JNE_NEAR && jvs_byte(w, i + 6) == JVS_RET)
			return 1;
	return jvs_byte(w, 48) == JVS_RET ||
	       (jvs_byte(w, 47) == JVS_RET && jvs_byte(w, 48) == JVS_JMP_NEAR);
}

/* Whether four bytes may begin a store to [rsp + n]: of a general register, else of a vector's. */
JVS_INLINE bool jvs_is_spill(__u32 bytes)
{
	__u32 first = bytes & 0xff;

	if (first == JVS_REX_W || first == JVS_REX_WR)
		return (bytes & 0xff07ff00) == JVS_MOV_STACK_REG;
	return first == JVS_VEX2 || first == JVS_VEX3 || first == JVS_EVEX ||
	       (bytes & 0xffffff) == JVS_MOVSD_TO;
}

/*
 * Bytes taken by the last "sub rsp, n" in the 160 bytes before pc; 0: none. JVS_SPILL_PUSH is or-ed
 * when what comes before it may be a push, JVS_SPILL_STORE when what is behind it may store a
 * register there, and how far before pc it is, from JVS_SPILL_BACK on.
 *
 * Returning at the first match costs the verifier nothing: the path ends there.
 */
#define JVS_SPILL_PUSH	0x10000
#define JVS_SPILL_STORE 0x20000
#define JVS_SPILL_BACK	20
JVS_FN int jvs_scan_spill(struct jvs_walk *w)
{
	__u32 at, bytes, before;

	if (!w || jvs_read_user(w->code, 168, w->pc - 160))
		return 0;

	for (__u32 i = 0; i < 155; i++) {
		at = 155 - i;
		bytes = jvs_bytes4(w, at);
		before = (jvs_byte(w, at - 1) & 0xf8) == JVS_PUSH_RAX ? JVS_SPILL_PUSH : 0;
		before |= (160 - at) << JVS_SPILL_BACK;
		if ((bytes & 0xffffff) == JVS_SUB_RSP_8)
			return bytes >> 24 | before |
			       (jvs_is_spill(jvs_bytes4(w, at + 4)) ? JVS_SPILL_STORE : 0);
		if ((bytes & 0xffffff) == JVS_SUB_RSP_32)
			return (jvs_bytes4(w, at + 3) & 0xffff) | before |
			       (jvs_is_spill(jvs_bytes4(w, at + 7)) ? JVS_SPILL_STORE : 0);
	}
	return 0;
}

/*
 * Words that lie on the frame at the call before pc, by what the code behind it takes off:
 *
 *	pop ...				arguments pushed for a stub
 *	add rsp, n [; mov] [; pop rax]	room made for them, below a rax that is not to change
 *
 * "add rsp; pop rbp" is the method's own return.
 */
JVS_FN int jvs_scan_arguments(struct jvs_walk *w)
{
	__u32 byte, at = 0, words;

	if (!w || jvs_read_user(w->code, 16, w->pc))
		return 0;

	if ((jvs_bytes4(w, 0) & 0xffffff) == JVS_ADD_RSP_8) {
		words = jvs_byte(w, 3) >> 3;
		if (jvs_byte(w, 4) == JVS_POP_RBP)
			return 0;
		if (jvs_byte(w, 4) == JVS_POP_RAX)
			return words + 1;
		/* A move between 64-bit registers is three bytes. */
		if ((jvs_byte(w, 4) & 0xf8) == JVS_REX_W && jvs_byte(w, 7) == JVS_POP_RAX)
			return words + 1;
		return words;
	}

	for (words = 0; words < 4; words++) {
		byte = jvs_byte(w, at);
		if (byte == JVS_POP_RBP)
			return words;
		if (byte == JVS_REX_B) {
			at++;
			byte = jvs_byte(w, at);
		}
		if ((byte & 0xf8) != JVS_POP_RAX)
			return words;
		at++;
	}
	return words;
}

enum jvs_epilogue {
	JVS_EPILOGUE_NONE,
	JVS_EPILOGUE_LEFT,   /* after "leave": return address at [sp] */
	JVS_EPILOGUE_POPPED, /* after "pop r13": return address in r13 */
};

/*
 * w->code is 48 bytes of an interpreter codelet, pc at 24: is it in the return sequence
 * "leave; [25: movb]; pop r13; mov rsp, rbx; [25: cmp; jb]; jmp r13"?
 */
JVS_FN int jvs_scan_interpreter_return(struct jvs_walk *w)
{
	__u64 pops = 0, leaves = 0, first_pop;

	if (!w)
		return JVS_EPILOGUE_NONE;

	for (__u32 i = 0; i < 44; i++) {
		pops |= (jvs_equal(jvs_bytes4(w, i), JVS_POP_R13_MOV_RSP) &
			 jvs_equal(jvs_byte(w, i + 4), JVS_FROM_RBX))
			<< i;
		leaves |= jvs_equal(jvs_byte(w, i), JVS_LEAVE) << i;
	}

	first_pop = pops & -pops;
	if (first_pop < 1 << 4)
		return JVS_EPILOGUE_NONE;
	/* A "leave" at most 12 bytes before it, and before pc. */
	leaves &= first_pop - 1;
	if (first_pop >> 12)
		leaves &= ~((first_pop >> 12) - 1);
	if (!leaves || leaves >> 24)
		return JVS_EPILOGUE_NONE;
	return first_pop < 1 << 24 ? JVS_EPILOGUE_POPPED : JVS_EPILOGUE_LEFT;
}

/* w->code[0 .. length), at most 200, is an adapter up to pc: has it put the sender's sp in r13? */
JVS_FN int jvs_scan_sender_sp(struct jvs_walk *w, __u32 length)
{
	__u64 bytes, hit, found = 0, end = length;

	if (!w)
		return 0;

	for (__u32 i = 0; i < 200; i++) {
		bytes = jvs_bytes4(w, i);
		hit = jvs_equal(bytes, JVS_LEA_R13_RSP) & jvs_equal(jvs_byte(w, i + 4), 8);
		hit |= jvs_equal(bytes & 0xffffff, JVS_MOV_R13_RSP_A) |
		       jvs_equal(bytes & 0xffffff, JVS_MOV_R13_RSP_B);
		found |= hit & jvs_top_bit((__u64)i - end);
	}
	return found;
}

#endif
