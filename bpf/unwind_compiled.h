/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_UNWIND_COMPILED_H
#define JVS_UNWIND_COMPILED_H

#include "unwind_code.h"
#include "unwind_tables.h"

/*
 * Frames of compiled Java methods and native method wrappers, w->header holding the nmethod.
 *
 * The caller's frame begins at sp + frame size: fp and return address are the two words below.
 * fp itself says nothing, compilers use it as they like; but it must be restored, because an
 * interpreted caller lives by it.
 */

#define JVS_SPILL_WORDS 64 /* all registers, vectors included: 27 seen */
#define JVS_SCAN_WORDS	8  /* words looked at above a frame; 1 is the most seen in methods */

/*
 * Whether a word can be the return address of a Java method: compiled code is called from the code
 * heaps only. An address in a library is a stale one.
 */
JVS_INLINE bool jvs_is_caller(struct jvs_walk *w, __u64 word)
{
	return jvs_in_heaps(w, word) && jvs_is_code(w, word);
}

JVS_INLINE bool jvs_caller_at(struct jvs_walk *w, __u64 at)
{
	return jvs_is_caller(w, jvs_read_word(at));
}

/* How much of its frame an interrupted method has. Returns an enum jvs_leaf. */
#ifdef __TARGET_ARCH_arm64
JVS_FN int jvs_method_leaf(struct jvs_walk *w, __u32 is_native)
{
	const struct jvs_target *t;
	__u64 begin;

	if (!w)
		return JVS_LEAF_UNREADABLE;
	t = jvs_target_of(w->target);
	if (!t)
		return JVS_LEAF_UNREADABLE;
	begin = jvs_code_begin(w, &t->java);
	if (w->pc < begin || (__s64)(w->pc - begin) < jvs_frame_complete(w, &t->java))
		return JVS_LEAF_RA;
	return JVS_LEAF_WHOLE;
}
#else
JVS_FN int jvs_method_leaf(struct jvs_walk *w, __u32 is_native)
{
	const struct jvs_java_layout *java;
	const struct jvs_target *t;
	__u64 begin, entry, length;
	int leaf;

	if (!w)
		return JVS_LEAF_UNREADABLE;
	t = jvs_target_of(w->target);
	if (!t)
		return JVS_LEAF_UNREADABLE;
	java = &t->java;
	begin = jvs_code_begin(w, java);

	if (w->pc < begin || (__s64)(w->pc - begin) < jvs_frame_complete(w, java)) {
		entry = java->verified_entry_is_offset
				? begin + jvs_header_u16(w, java->nmethod_verified_entry)
				: jvs_header_u64(w, java->nmethod_verified_entry);
		if (w->pc <= entry || w->pc <= begin)
			return JVS_LEAF_RA;
		length = w->pc - entry > 64 ? 64 : w->pc - entry;
		if (jvs_read_user(w->code, 72, w->pc - length))
			return JVS_LEAF_UNREADABLE;
		return jvs_scan_prologue(w, length);
	}

	if (is_native && jvs_in_wrapper_end(w))
		return JVS_LEAF_RA;
	/* The byte before pc, then those at pc. */
	if (jvs_read_user(w->code, 24, w->pc - 1))
		return JVS_LEAF_UNREADABLE;
	leaf = jvs_scan_return(w);
	if (leaf == JVS_LEAF_FP_RA && !jvs_caller_at(w, w->sp + 8))
		return JVS_LEAF_WHOLE;
	return leaf;
}
#endif

/*
 * When a method is deoptimized, its frame's return address, which is in its callee's frame, is
 * replaced by one of two handlers, and the original is kept in the frame.
 */
JVS_INLINE bool jvs_at_handler(const struct jvs_walk *w, const struct jvs_java_layout *java)
{
	__u64 handler, mh_handler = 0;

	if (java->deopt_is_offset) {
		handler = w->blob + jvs_header_u32(w, java->nmethod_deopt);
		if (java->nmethod_deopt_mh != JVS_NO_FIELD)
			mh_handler = w->blob + jvs_header_u32(w, java->nmethod_deopt_mh);
	} else {
		handler = jvs_header_u64(w, java->nmethod_deopt);
		if (java->nmethod_deopt_mh != JVS_NO_FIELD)
			mh_handler = jvs_header_u64(w, java->nmethod_deopt_mh);
	}
	return w->pc == handler || w->pc == mh_handler;
}

/* Returns the original of a handler; pc when it makes no sense. */
JVS_INLINE __u64 jvs_original_pc(struct jvs_walk *w, const struct jvs_java_layout *java)
{
	__u64 pc = jvs_read_word(w->sp + jvs_header_u32(w, java->nmethod_orig_pc));

	if (pc < jvs_code_begin(w, java) || pc >= jvs_code_end(w, java))
		return w->pc;
	w->how = JVS_HOW_DEOPT;
	return pc;
}

/* A leaf without a whole frame. */
JVS_INLINE int jvs_leave_part(struct jvs_walk *w, int leaf)
{
#ifdef __TARGET_ARCH_arm64
	if (leaf == JVS_LEAF_RA)
		return jvs_go_how(w, w->lr, w->sp, w->fp, JVS_HOW_RA);
#endif
	if (leaf == JVS_LEAF_UNREADABLE || jvs_read_user(w->word, 16, w->sp))
		return JVS_STATUS_NMETHOD_LEAF;
	if (leaf == JVS_LEAF_RA)
		return jvs_go_how(w, w->word[0], w->sp + 8, w->fp, JVS_HOW_RA);
	return jvs_go_how(w, w->word[1], w->sp + 16, w->word[0], JVS_HOW_FP_RA);
}

/*
 * Where a frame ends below whose return address a barrier stub, behind the method's code, has
 * spilled registers before it called the VM; 0: none has. The word at the frame's size is one of
 * theirs then, or a stale one. The method's own room is made before its frame is complete.
 */
JVS_INLINE __u64 jvs_spilled_cfa(struct jvs_walk *w, __u64 cfa, bool certain)
{
	const struct jvs_target *t = jvs_target_of(w->target);
	__u32 spill = jvs_scan_spill(w), size = spill & (JVS_SPILL_PUSH - 1);
	__u64 code;

	/* Against a word that looks like a return address all of it has to fit. */
	if (!t || !size || (certain && !(spill & JVS_SPILL_STORE)))
		return 0;
	code = jvs_code_begin(w, &t->java) + jvs_frame_complete(w, &t->java);
	if (w->pc - (spill >> JVS_SPILL_BACK) < code)
		return 0;
	if (spill & JVS_SPILL_PUSH && jvs_caller_at(w, cfa + size))
		return cfa + size + 8;
	return jvs_caller_at(w, cfa + size - 8) ? cfa + size : 0;
}

/* Where a frame ends when the word below its size is no return address: calls push one or two. */
JVS_INLINE __u64 jvs_find_cfa(struct jvs_walk *w, __u64 cfa)
{
	__u64 at = jvs_scan_saved_fp(w, cfa - 8, JVS_SCAN_WORDS - 1);

	if (!at)
		at = jvs_scan_stack(w, cfa - 8, JVS_SCAN_WORDS);
	return at ? at + 8 : 0;
}

/* A frame with a size: words at [sp, sp + size * 8), and whatever was pushed on top of it. */
JVS_INLINE int jvs_leave_method(struct jvs_walk *w, __u32 size, bool is_native)
{
	bool from_java = w->at == JVS_AT_RETURN && !w->after_native, certain;
	__u64 cfa = w->sp + (__u64)size * 8, spilled;
	int arguments;

	/* C1 puts the arguments of some stubs on the stack. */
	if (w->after_native && w->at == JVS_AT_RETURN) {
		arguments = jvs_scan_arguments(w);
		if (arguments > 0 && jvs_caller_at(w, cfa + arguments * 8 - 8)) {
			cfa += arguments * 8;
			w->how = JVS_HOW_EXTRA;
		} else if (arguments > 0) {
			jvs_note_no_more(w);
		}
	}

	if (jvs_read_user(w->word, 16, cfa - 16))
		return JVS_STATUS_NMETHOD_READ;
	jvs_note_two(w, cfa - 16, w->word);
	/* Between two Java frames a stale word is not possible; a cheap test will do. */
	certain = from_java ? jvs_in_heaps(w, w->word[1]) : jvs_is_caller(w, w->word[1]);
	/* A native method's wrapper has no barrier stubs, and makes room for what it passes on. */
	spilled = certain && (from_java || is_native) ? 0 : jvs_spilled_cfa(w, cfa, certain);
	if (spilled || !certain) {
		cfa = spilled ? spilled : jvs_find_cfa(w, cfa);
		if (!cfa)
			return JVS_STATUS_NMETHOD_RA;
		if (jvs_read_user(w->word, 16, cfa - 16))
			return JVS_STATUS_NMETHOD_READ;
		w->how = JVS_HOW_SCAN;
	}
	return jvs_go(w, w->word[1], cfa, w->word[0]);
}

#ifdef __TARGET_ARCH_arm64
JVS_INLINE int jvs_leave_intrinsic(struct jvs_walk *w)
{
	return jvs_leave_part(w, JVS_LEAF_RA);
}
#else
/*
 * A method-handle intrinsic jumps to its target and has no frame: return address at [sp]. With ZGC
 * its load barrier spills all registers on top of it.
 */
JVS_INLINE int jvs_leave_intrinsic(struct jvs_walk *w)
{
	__u64 at = w->sp;

	if (!jvs_caller_at(w, at)) {
		at = jvs_scan_saved_fp(w, w->sp, JVS_SPILL_WORDS);
		if (!at)
			at = jvs_scan_stack(w, w->sp, JVS_SPILL_WORDS);
		if (!at)
			return JVS_STATUS_NMETHOD_RA;
	}
	return jvs_go_how(w, jvs_read_word(at), at + 8, w->fp, JVS_HOW_NO_FRAME);
}
#endif

/* The place where a return address is remembered. */
JVS_INLINE struct jvs_call *jvs_call_at(struct jvs_walk *w, __u64 pc)
{
	return &w->calls[jvs_place16(pc)];
}

JVS_INLINE void jvs_remember_call(struct jvs_walk *w, __u64 pc, __u32 size)
{
	struct jvs_call *call = jvs_call_at(w, pc);

	call->walk = w->time_ns;
	call->pc = pc;
	call->blob = w->blob;
	call->offset = w->frame.offset;
	call->cookie = w->frame.cookie;
	call->size = (__u64)size * 8;
}

/* is_native: a native method's wrapper, or, without a frame, a method-handle intrinsic. */
JVS_FN int jvs_step_compiled(struct jvs_walk *w, __u32 is_native)
{
	const struct jvs_java_layout *java;
	const struct jvs_target *t;
	bool handler, plain;
	__u64 pc;
	__s32 size;
	int result;

	if (!w)
		return JVS_STATUS_INTERNAL;
	t = jvs_target_of(w->target);
	if (!t)
		return JVS_STATUS_INTERNAL;
	java = &t->java;

	handler = w->at == JVS_AT_RETURN && jvs_at_handler(w, java);
	plain = w->at == JVS_AT_RETURN && !handler && !w->after_native;
	pc = handler ? jvs_original_pc(w, java) : w->pc;
	if (handler)
		jvs_note_no_more(w);
	jvs_set_frame(w, w->blob, JVS_FRAME_NMETHOD, pc - jvs_code_begin(w, java),
		      jvs_header_u32(w, java->nmethod_compile_id));
	w->pc = pc;
	jvs_note_identity(w, (w->blob + java->nmethod_compile_id) | JVS_NOTED_U32, w->frame.cookie);

	size = jvs_frame_size(w, java);
	if (size <= 0)
		return jvs_leave_intrinsic(w);
	if (w->at != JVS_AT_RETURN) {
		result = jvs_method_leaf(w, is_native);
		if (result != JVS_LEAF_WHOLE)
			return jvs_leave_part(w, result);
	}
	result = jvs_leave_method(w, size, is_native);
	if (plain && result == JVS_STATUS_RUN && w->how == JVS_HOW_NORMAL)
		jvs_remember_call(w, pc, size);
	return result;
}

#endif
