/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_UNWIND_INTERPRETER_H
#define JVS_UNWIND_INTERPRETER_H

#include "unwind_code.h"
#include "unwind_tables.h"

/*
 * Frames of the template interpreter.
 *
 * Words from fp: +1 return address, 0 saved fp, -1 the sender's sp, -3 Method*, and the bytecode
 * pointer where the layout says. The sender's sp is not fp + 2 words when an adapter has made
 * room for arguments on top of a compiled caller.
 *
 * An interrupted frame may not be built yet, or be torn down already. With -Xint a third of all
 * leaves are in a method entry, and half of those are so.
 *
 * The rules return JVS_NOT_THIS when they do not apply.
 */

#define JVS_FP_METHOD	 (-3 * 8)
#define JVS_FP_SENDER_SP (-1 * 8)
#define JVS_CODELET_PC	 24 /* pc in the copy of the code around it */

/* A finished frame has all its fixed words below fp. */
#define JVS_FRAME_FIXED (JVS_INTERPRETER_LOW * 8)

/* A frame of the method jvs_is_method() has just seen. */
JVS_INLINE void jvs_set_interpreted(struct jvs_walk *w, __u64 method, __u32 bci)
{
	jvs_set_frame(w, method, JVS_FRAME_INTERPRETED, bci, w->const_method >> 3);
}

#ifndef __TARGET_ARCH_arm64
/* "leave; pop r13; mov rsp, rbx; jmp r13": the sender's sp is in rbx. */
JVS_FN int jvs_interpreter_return(struct jvs_walk *w)
{
	__u64 ra, method = 0;
	int state;

	if (!w)
		return JVS_STATUS_INTERNAL;
	state = jvs_scan_interpreter_return(w);
	if (state == JVS_EPILOGUE_NONE)
		return JVS_NOT_THIS;
	ra = state == JVS_EPILOGUE_POPPED ? w->r13 : jvs_read_word(w->sp);
	if (!jvs_is_code(w, ra))
		return JVS_NOT_THIS;

	/* The dead frame still names its method, as long as nothing was pushed over it. */
	if (state == JVS_EPILOGUE_LEFT)
		method = jvs_read_word(w->sp - 8 + JVS_FP_METHOD);
	if (method && jvs_is_method(w, method))
		jvs_set_interpreted(w, method, JVS_NO_BCI);
	else
		jvs_set_frame(w, w->pc, JVS_FRAME_STUB, 0, 0);
	return jvs_go_how(w, ra, w->bx, w->fp, JVS_HOW_EPILOGUE);
}

/* The byte that tells "mov rsp, r11" (native entries) from "mov rsp, r13" (intrinsic entries). */
#define JVS_FROM_R11 0xe3u
#define JVS_FROM_R13 0xe5u

JVS_INLINE bool jvs_is_sender(__u32 byte)
{
	return byte == JVS_FROM_R11 || byte == JVS_FROM_R13;
}

/*
 * "[leave; [25: movb]] pop rdi; mov rsp, r11|r13; jmp rdi": the end of native and intrinsic
 * entries. The return address is at [sp], after the pop in rdi.
 */
JVS_FN int jvs_native_entry_end(struct jvs_walk *w)
{
	__u32 at, from;
	__u64 ra = 0;

	if (!w)
		return JVS_STATUS_INTERNAL;
	at = jvs_bytes4(w, JVS_CODELET_PC);
	if ((at & 0xffffff) == 0x8b495f && jvs_is_sender(at >> 24)) {
		from = at >> 24; /* at pop */
		ra = jvs_read_word(w->sp);
	} else if ((at & 0xffff) == 0x8b49 && jvs_byte(w, JVS_CODELET_PC - 1) == JVS_POP_RDI &&
		   jvs_is_sender(jvs_byte(w, JVS_CODELET_PC + 2))) {
		from = jvs_byte(w, JVS_CODELET_PC + 2); /* at mov */
		ra = w->di;
	} else if ((at & 0xffff) == 0xe7ff &&
		   (jvs_bytes4(w, JVS_CODELET_PC - 4) & 0xffff00) == 0x8b4900 &&
		   jvs_is_sender(jvs_byte(w, JVS_CODELET_PC - 1))) {
		from = jvs_byte(w, JVS_CODELET_PC - 1); /* at jmp */
		ra = w->di;
	} else if ((at & 0xffffff) == 0x87c641 && jvs_byte(w, JVS_CODELET_PC - 1) == JVS_LEAVE &&
		   jvs_bytes4(w, JVS_CODELET_PC + 8) == 0xe38b495f) {
		from = JVS_FROM_R11; /* at movb */
		ra = jvs_read_word(w->sp);
	}
	if (!ra || !jvs_is_code(w, ra))
		return JVS_NOT_THIS;

	jvs_set_frame(w, w->pc, JVS_FRAME_STUB, 0, 0);
	return jvs_go_how(w, ra, from == JVS_FROM_R11 ? w->r11 : w->r13, w->fp, JVS_HOW_EPILOGUE);
}

/* fp is the frame's own, but the words below it are not all there: Method* is in rbx. */
JVS_FN int jvs_interpreter_begun(struct jvs_walk *w)
{
	__u64 fp, sender_sp;

	if (!w)
		return JVS_STATUS_INTERNAL;
	fp = w->fp;
	if (w->sp > fp || fp - w->sp >= JVS_FRAME_FIXED)
		return JVS_NOT_THIS;
	if (!jvs_code_at(w, fp + 8) || !jvs_is_method(w, w->bx))
		return JVS_NOT_THIS;

	jvs_set_interpreted(w, w->bx, 0);
	sender_sp = fp - w->sp >= 8 ? jvs_read_word(fp + JVS_FP_SENDER_SP) : w->r13;
	return jvs_go_how(w, jvs_read_word(fp + 8), sender_sp, jvs_read_word(fp),
			  JVS_HOW_ENTRY_PART);
}

/*
 * Whether fp leads to a finished frame of the method in rbx. The call stub's frame has the Method*
 * it calls at the same place, but its return address is in libjvm.
 */
JVS_INLINE bool jvs_frame_finished(struct jvs_walk *w)
{
	if (!jvs_fp_near(w, JVS_STUB_FRAME_MAX) || jvs_read_word(w->fp + JVS_FP_METHOD) != w->bx)
		return false;
	if (!jvs_in_heaps(w, jvs_read_word(w->fp + 8)))
		return false;
	return jvs_read_word(w->fp + JVS_FP_SENDER_SP) == w->r13 || w->fp - w->sp < 0x100;
}

/*
 * In a method entry before rbp is pushed: Method* in rbx, sender's sp in r13, return address at
 * [sp], above the pushed rbp, or in rax while room is made for the locals.
 */
JVS_FN int jvs_interpreter_entry(struct jvs_walk *w)
{
	__u64 first, second;

	if (!w)
		return JVS_STATUS_INTERNAL;
	if (!jvs_is_method(w, w->bx) || jvs_frame_finished(w))
		return JVS_NOT_THIS;

	jvs_set_interpreted(w, w->bx, 0);
	first = jvs_read_word(w->sp);
	if (jvs_is_code(w, first))
		return jvs_go_how(w, first, w->r13, w->fp, JVS_HOW_ENTRY);
	second = jvs_read_word(w->sp + 8);
	if (first == w->fp && jvs_is_code(w, second))
		return jvs_go_how(w, second, w->r13, first, JVS_HOW_ENTRY_FP);
	if (jvs_is_code(w, w->ax))
		return jvs_go_how(w, w->ax, w->r13, w->fp, JVS_HOW_ENTRY_RAX);
	return JVS_STATUS_INTERPRETER_ENTRY;
}

JVS_INLINE int jvs_interpreter_leaf(struct jvs_walk *w, const struct jvs_java_layout *java)
{
	bool in_entry = jvs_in_range(&java->method_entries, w->pc);
	int result;

	if (jvs_read_user(w->code, 56, w->pc - JVS_CODELET_PC))
		return JVS_STATUS_INTERPRETER_LEAF;

	result = jvs_interpreter_return(w);
	if (result == JVS_NOT_THIS && in_entry)
		result = jvs_native_entry_end(w);
	if (result == JVS_NOT_THIS)
		result = jvs_interpreter_begun(w);
	if (result == JVS_NOT_THIS && in_entry)
		result = jvs_interpreter_entry(w);
	return result;
}
#else
JVS_INLINE int jvs_interpreter_leaf(struct jvs_walk *w, const struct jvs_java_layout *java)
{
	return JVS_NOT_THIS;
}
#endif

/* Whether fp can be that of an interpreted frame. */
JVS_INLINE bool jvs_interpreted_fp(const struct jvs_walk *w)
{
	return w->fp + 0x100 >= w->sp && (__s64)(w->fp - w->sp) <= JVS_FRAME_MAX && !(w->fp & 7);
}

JVS_INLINE __u32 jvs_bci_at(const struct jvs_java_layout *java, __u64 const_method, __u64 bcp)
{
	__u64 code = const_method + java->const_method_size;

	return bcp >= code && bcp - code <= 0xffff ? bcp - code : JVS_NO_BCI;
}

/*
 * The bytecode a frame is at. Its slot is stale while the method runs: the pointer is then in r13,
 * unless that holds something else.
 */
JVS_INLINE __u32 jvs_bci(const struct jvs_walk *w, const struct jvs_java_layout *java,
			 __u64 const_method)
{
	__u64 code = const_method + java->const_method_size;
	__u32 slot = (JVS_INTERPRETER_LOW + java->interpreter_bcp) & 15;
	__u64 bcp = w->word[slot];
	__u16 size = 0;

	if (w->at != JVS_AT_RETURN) {
		if (jvs_read_user(&size, 2, const_method + java->const_method_code_size))
			size = 0;
		if (w->r13 >= code && w->r13 < code + size)
			bcp = w->r13;
	}
	return jvs_bci_at(java, const_method, bcp);
}

/* The ConstMethod of a caller's method; 0 when it is none. A recursion asks for few methods. */
JVS_INLINE __u64 jvs_known_const_method(struct jvs_walk *w, const struct jvs_java_layout *java,
					__u64 method)
{
	struct jvs_method *known = &w->methods[jvs_place16(method)];

	if (method < JVS_LOWEST_ADDRESS || method & 7)
		return 0;
	if (known->method != method || known->walk != w->time_ns) {
		known->const_method = jvs_read_word(method + java->method_const_method);
		jvs_note_identity(w, method + java->method_const_method, known->const_method);
		known->method = method;
		known->walk = w->time_ns;
	}
	if (known->const_method < JVS_LOWEST_ADDRESS || known->const_method & 7)
		return 0;
	return known->const_method;
}

/* words: those of a frame, with fp[0] at JVS_INTERPRETER_LOW. All that a caller's frame tells. */
JVS_INLINE void jvs_note_interpreted(struct jvs_walk *w, const struct jvs_java_layout *java,
				     const __u64 *words)
{
	__u32 bcp = (JVS_INTERPRETER_LOW + java->interpreter_bcp) & 7;

	jvs_note(w, w->fp + java->interpreter_bcp * 8, words[bcp]);
	jvs_note(w, w->fp + JVS_FP_METHOD, words[JVS_INTERPRETER_LOW - 3]);
	jvs_note(w, w->fp + JVS_FP_SENDER_SP, words[JVS_INTERPRETER_LOW - 1]);
	jvs_note_two(w, w->fp, words + JVS_INTERPRETER_LOW);
}

/* The same of any frame: a leaf's method may be anything, a caller's needs less of a test. */
JVS_INLINE __u64 jvs_const_method(struct jvs_walk *w, const struct jvs_java_layout *java,
				  __u64 method)
{
	if (w->at != JVS_AT_RETURN)
		return jvs_is_method(w, method) ? w->const_method : 0;
	return jvs_known_const_method(w, java, method);
}

JVS_FN int jvs_step_interpreter(struct jvs_walk *w)
{
	const struct jvs_java_layout *java;
	const struct jvs_target *t;
	__u64 method, const_method;
	int result;

	if (!w)
		return JVS_STATUS_INTERNAL;
	t = jvs_target_of(w->target);
	if (!t)
		return JVS_STATUS_INTERNAL;
	java = &t->java;

	if (w->at != JVS_AT_RETURN) {
		result = jvs_interpreter_leaf(w, java);
		if (result != JVS_NOT_THIS)
			return result;
	}

	if (!jvs_interpreted_fp(w))
		return JVS_STATUS_INTERPRETER_FP;
	/* word[JVS_INTERPRETER_LOW] is the one at fp. */
	if (jvs_read_user(w->word, JVS_FRAME_FIXED + 16, w->fp - JVS_FRAME_FIXED))
		return JVS_STATUS_INTERPRETER_READ;

	jvs_note_interpreted(w, java, w->word);
	method = w->word[JVS_INTERPRETER_LOW - 3];
	const_method = jvs_const_method(w, java, method);
	if (const_method) {
		jvs_set_frame(w, method, JVS_FRAME_INTERPRETED, jvs_bci(w, java, const_method),
			      const_method >> 3);
	} else if (w->deoptimizing && w->at == JVS_AT_RETURN) {
		/* The VM is filling in frames it has made room for: linked, but still nameless. */
		jvs_set_frame(w, w->pc, JVS_FRAME_STUB, 0, 0);
		w->nameless = 1;
	} else {
		return JVS_STATUS_INTERPRETER_METHOD;
	}
	return jvs_go(w, w->word[JVS_INTERPRETER_LOW + 1], w->word[JVS_INTERPRETER_LOW - 1],
		      w->word[JVS_INTERPRETER_LOW]);
}

#endif
