/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_UNWIND_NATIVE_H
#define JVS_UNWIND_NATIVE_H

#include "unwind_tables.h"

/* Frames of libjvm, libc, the vDSO and all other native code: .eh_frame rows, else fp. */

/* By frame pointer, where there is no row. 0, or 1 when fp is no frame pointer. */
JVS_FN int jvs_fall_back_to_fp(struct jvs_walk *w)
{
	if (!w)
		return 1;
	if (!jvs_fp_near(w, JVS_NATIVE_FP_MAX) || jvs_read_user(w->word, 16, w->fp))
		return 1;
	if (!jvs_is_code(w, w->word[1]))
		return 1;
	return jvs_go_how(w, w->word[1], w->fp + 16, w->word[0], JVS_HOW_FP_FALLBACK);
}

/* The canonical frame address of a row, or 0 when it takes another rule to leave the frame. */
JVS_INLINE __u64 jvs_cfa(const struct jvs_walk *w, const struct jvs_row *row, __u64 pc)
{
	switch (row->kind & 7) {
	case JVS_ROW_SP:
		return w->sp + (__s64)row->cfa * 8;
	case JVS_ROW_FP:
		return w->fp + (__s64)row->cfa * 8;
	case JVS_ROW_PLT:
		return w->sp + 8 + ((pc & 15) >= (__u64)row->cfa ? 8 : 0);
	default:
		return 0;
	}
}

/* Return address, fp and r13 of the caller, whose sp is cfa. */
#ifdef __TARGET_ARCH_arm64
JVS_INLINE int jvs_leave_frame(struct jvs_walk *w, __u64 cfa, int fp_word, __u32 r13_word)
{
	__u64 pc = w->lr, fp = w->fp;

	if (fp_word) {
		if (jvs_read_user(w->word, 16, cfa + (__s64)fp_word * 8))
			return JVS_STATUS_READ_STACK;
		jvs_note_two(w, cfa + (__s64)fp_word * 8, w->word);
		fp = w->word[0];
		pc = w->word[1];
	} else if (w->at == JVS_AT_RETURN) {
		return JVS_STATUS_READ_STACK;
	}
	jvs_go(w, pc, cfa, fp);
	return w->pc ? JVS_STATUS_RUN : JVS_STATUS_PC_ZERO;
}
#else
JVS_INLINE int jvs_leave_frame(struct jvs_walk *w, __u64 cfa, int fp_word, __u32 r13_word)
{
	__u64 fp = w->fp, pc;

	if (fp_word == -2) {
		if (jvs_read_user(w->word, 16, cfa - 16))
			return JVS_STATUS_READ_STACK;
		jvs_note_two(w, cfa - 16, w->word);
		fp = w->word[0];
		pc = w->word[1];
	} else {
		if (jvs_read_user(w->word, 8, cfa - 8))
			return JVS_STATUS_READ_STACK;
		pc = w->word[0];
		jvs_note(w, cfa - 8, pc);
		if (fp_word) {
			if (jvs_read_user(w->word, 8, cfa + (__s64)fp_word * 8))
				return JVS_STATUS_READ_STACK;
			fp = w->word[0];
			jvs_note(w, cfa + (__s64)fp_word * 8, fp);
		}
	}
	/* Only an adapter right below native code needs it. */
	if (r13_word && !w->java_frames)
		w->r13 = jvs_read_word(cfa - r13_word * 8);
	jvs_go(w, pc, cfa, fp);
	return w->pc ? JVS_STATUS_RUN : JVS_STATUS_PC_ZERO;
}
#endif

/* A signal handler's frame: what it interrupted is a leaf again. */
JVS_INLINE int jvs_leave_signal_frame(struct jvs_walk *w)
{
	int err = jvs_load_signal_registers(w);

	if (err)
		return err;
	w->how = JVS_HOW_SIGNAL;
	w->at = JVS_AT_SIGNAL;
	return JVS_STATUS_RUN;
}

/*
 * libc's clone and clone3 end their unwind information before the system call, because behind it
 * there are two stacks: a new thread's, which is empty, and the caller's, with only a return
 * address.
 */
JVS_INLINE int jvs_step_gap(struct jvs_walk *w)
{
#ifdef JVS_SYSCALL
	__u64 ra = 0;
	__u16 before = 0;

	if (w->at == JVS_AT_LEAF && !jvs_read_user(&before, 2, w->pc - 2) &&
	    before == JVS_SYSCALL) {
		if (w->ax == 0)
			return JVS_STATUS_END;
		ra = jvs_read_word(w->sp);
		if (jvs_is_code(w, ra))
			return jvs_go_how(w, ra, w->sp + 8, w->fp, JVS_HOW_RA);
	}
#endif
	return jvs_fall_back_to_fp(w) ? JVS_STATUS_NO_ROW : JVS_STATUS_RUN;
}

JVS_INLINE int jvs_step_unmapped(struct jvs_walk *w)
{
	jvs_set_frame(w, w->pc, JVS_FRAME_UNMAPPED, 0, 0);
	w->unmapped++;
	return jvs_fall_back_to_fp(w) ? JVS_STATUS_NO_MAPPING : JVS_STATUS_RUN;
}

JVS_FN int jvs_step_native(struct jvs_walk *w)
{
	const struct jvs_mapping *mapping;
	const struct jvs_row *row;
	__u64 pc, address, cfa;
	int found;

	if (!w)
		return JVS_STATUS_INTERNAL;
	if (w->flags & JVS_TARGET_BREAK_NATIVE && !w->java_frames && !w->anchored)
		return JVS_STATUS_NO_ROW;

	pc = jvs_inside(w);
	found = jvs_mapping_find(w, pc);
	if (found < 0)
		return jvs_step_unmapped(w);
	mapping = jvs_mapping_at(found);
	if (!mapping)
		return JVS_STATUS_NO_MAPPING;
	jvs_set_frame(w, w->pc, JVS_FRAME_NATIVE, 0, mapping->id);

	address = pc - mapping->bias;
	found = jvs_row_of(mapping, address);
	row = found < 0 ? NULL : jvs_row_at(found);
	if (!row || address >> 32 || row->address > address)
		return jvs_fall_back_to_fp(w) ? JVS_STATUS_NO_ROW : JVS_STATUS_RUN;

	switch (row->kind & 7) {
	case JVS_ROW_END:
		return JVS_STATUS_END;
	case JVS_ROW_SIGNAL:
		return jvs_leave_signal_frame(w);
	case JVS_ROW_GAP:
		return jvs_step_gap(w);
	}
	cfa = jvs_cfa(w, row, pc);
	if (!cfa)
		return jvs_fall_back_to_fp(w) ? JVS_STATUS_BAD_ROW : JVS_STATUS_RUN;
	return jvs_leave_frame(w, cfa, row->fp, row->kind >> 3);
}

#endif
