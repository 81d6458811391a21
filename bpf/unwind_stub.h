/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_UNWIND_STUB_H
#define JVS_UNWIND_STUB_H

#include "unwind_code.h"
#include "unwind_tables.h"

/* Code that HotSpot makes at start: adapters, runtime stubs, StubRoutines, the call stub. */

#define JVS_ADAPTER_SCAN   200	 /* code bytes before pc */
#define JVS_ADAPTER_EXTEND 0x800 /* bytes an adapter may extend a caller's frame by */
#define JVS_BARRIER_MARK   ~0ull /* pushed by an nmethod entry barrier below the return address */

/* Frame pointer rule; 1 when fp is none. */
JVS_INLINE int jvs_leave_by_fp(struct jvs_walk *w)
{
	if (!jvs_fp_near(w, JVS_STUB_FRAME_MAX) || jvs_read_user(w->word, 16, w->fp))
		return 1;
	jvs_note_two(w, w->fp, w->word);
	if (!jvs_is_code(w, w->word[1])) {
		jvs_note_no_more(w);
		return 1;
	}
	return jvs_go_how(w, w->word[1], w->fp + 16, w->word[0], JVS_HOW_FP);
}

/* A frame in the CodeBlob at w->blob. */
JVS_INLINE void jvs_set_blob_frame(struct jvs_walk *w, const struct jvs_java_layout *java,
				   __u32 kind, __u64 begin)
{
	jvs_note_identity(w, w->blob + java->blob_name, jvs_header_u64(w, java->blob_name));
	jvs_set_frame(w, w->blob, kind, w->pc - begin, 0);
}

/*
 * I2C and C2I adapters, vtable and itable stubs: no frame, return address at [sp] or in rax.
 *
 * A C2I adapter makes room on top of its compiled caller's frame, whose end is then in r13. Before
 * it has put it there, r13 is often a stale value of the same range, so the code must tell.
 */
JVS_FN int jvs_step_adapter(struct jvs_walk *w, __u32 is_adapter)
{
	const struct jvs_target *t;
	__u64 begin, length, ra, sp, at;
	bool extended = false;

	if (!w)
		return JVS_STATUS_INTERNAL;
	t = jvs_target_of(w->target);
	if (!t)
		return JVS_STATUS_INTERNAL;
	sp = w->sp;
	begin = jvs_code_begin(w, &t->java);
	jvs_set_blob_frame(w, &t->java, is_adapter ? JVS_FRAME_ADAPTER : JVS_FRAME_STUB, begin);

	if (is_adapter && w->pc > begin) {
		length = w->pc - begin > JVS_ADAPTER_SCAN ? JVS_ADAPTER_SCAN : w->pc - begin;
		if (!jvs_read_user(w->code, JVS_ADAPTER_SCAN + 8, w->pc - length))
			extended = jvs_scan_sender_sp(w, length);
		extended = extended && w->r13 >= sp + 8 && w->r13 <= sp + JVS_ADAPTER_EXTEND &&
			   !(w->r13 & 7);
	}
	/* It called the VM to fix the call site, with all registers pushed. */
	if (is_adapter && w->at == JVS_AT_RETURN && !(w->r13 & 7) && w->r13 >= sp &&
	    w->r13 < sp + JVS_STUB_FRAME_MAX && jvs_code_at(w, w->r13))
		return jvs_go_how(w, jvs_read_word(w->r13), w->r13 + 8, w->fp, JVS_HOW_R13);

	ra = jvs_read_word(sp);
	if (jvs_is_code(w, ra))
		return jvs_go_how(w, ra, extended ? w->r13 : sp + 8, w->fp,
				  extended ? JVS_HOW_R13 : JVS_HOW_RA);
	if (jvs_is_code(w, w->ax))
		return jvs_go_how(w, w->ax, extended ? w->r13 : sp, w->fp, JVS_HOW_RAX);
	if (!is_adapter)
		return JVS_STATUS_VTABLE_STUB;

	/* A collector's barrier in it has saved registers. */
	at = jvs_scan_stack(w, sp, JVS_SCAN_MAX);
	if (!at)
		return JVS_STATUS_ADAPTER;
	return jvs_go_how(w, jvs_read_word(at), extended ? w->r13 : at + 8, w->fp, JVS_HOW_SCAN);
}

/* Return address at [sp], if it is one. */
JVS_INLINE int jvs_leave_by_ra(struct jvs_walk *w)
{
	if (jvs_read_user(w->word, 8, w->sp) || !jvs_is_code(w, w->word[0]))
		return JVS_NOT_THIS;
	return jvs_go_how(w, w->word[0], w->sp + 8, w->fp, JVS_HOW_RA);
}

/*
 * A blob that is one stub and begins with "push rbp; mov rbp, rsp": fp is exact, as leaf and as
 * caller, where the frame size is only true after all registers are saved.
 *
 * When it does not begin so, fp belongs to somebody else.
 */
JVS_FN int jvs_leave_single_stub(struct jvs_walk *w, __u64 begin)
{
	__u32 first = 0;
	__u8 now = 0;

	if (!w)
		return JVS_STATUS_INTERNAL;
	jvs_read_user(&first, sizeof(first), begin);
	if (w->at != JVS_AT_RETURN) {
		jvs_read_user(&now, 1, w->pc);
		if (w->pc == begin || now == JVS_RET)
			return jvs_leave_by_ra(w);
	}
	if (!jvs_is_push_mov_rbp(first))
		return JVS_NOT_THIS;

	if (w->at != JVS_AT_RETURN && w->pc < begin + 4) {
		if (jvs_read_user(w->word, 16, w->sp))
			return JVS_STATUS_FRAMED_READ;
		return jvs_go_how(w, w->word[1], w->sp + 16, w->word[0], JVS_HOW_FP_RA);
	}
	return jvs_leave_by_fp(w) ? JVS_NOT_THIS : JVS_STATUS_RUN;
}

/*
 * Where the thread was when it hit a safepoint poll: the signal handler keeps it there, and sends
 * the thread to the SafepointBlob with nothing on the stack.
 */
JVS_INLINE __u64 jvs_poll_pc(struct jvs_walk *w, const struct jvs_java_layout *java)
{
	__u64 thread = jvs_java_thread(w->tid);

	if (!java->thread_saved_pc)
		return 0;
	return jvs_read_word((thread ? thread : w->r15) + java->thread_saved_pc);
}

/*
 * SafepointBlob of a poll in a loop: "push rbx; push rbp; mov rbp, rsp; save all; [rbp + 8] = pc of
 * the poll". The first push only makes room for the return address.
 */
JVS_FN int jvs_leave_poll_stub(struct jvs_walk *w, __u64 begin)
{
	const struct jvs_target *t;
	__u64 ra, skip;

	if (!w)
		return JVS_STATUS_INTERNAL;
	t = jvs_target_of(w->target);
	if (!t || jvs_read_user(w->code, 8, begin))
		return JVS_NOT_THIS;
	if (jvs_byte(w, 0) != JVS_PUSH_RBX || !jvs_is_push_mov_rbp(jvs_bytes4(w, 1)))
		return JVS_NOT_THIS;

	if (w->at != JVS_AT_RETURN && w->pc < begin + 5) {
		/* Nothing, rbx, or rbx and rbp pushed. */
		skip = w->pc == begin ? 0 : w->pc == begin + 1 ? 8 : 16;
		ra = jvs_poll_pc(w, &t->java);
		if (!jvs_is_code(w, ra))
			return JVS_NOT_THIS;
		return jvs_go_how(w, ra, w->sp + skip, w->fp, JVS_HOW_ENTRY);
	}
	if (!jvs_fp_near(w, JVS_STUB_FRAME_MAX) || jvs_read_user(w->word, 16, w->fp))
		return JVS_NOT_THIS;
	jvs_note_two(w, w->fp, w->word);
	ra = w->word[1];
	if (w->at != JVS_AT_RETURN && !jvs_is_code(w, ra))
		ra = jvs_poll_pc(w, &t->java);
	if (!jvs_is_code(w, ra)) {
		jvs_note_no_more(w);
		return JVS_NOT_THIS;
	}
	return jvs_go_how(w, ra, w->fp + 16, w->word[0], JVS_HOW_FP);
}

/*
 * ExceptionBlob: entered by a jump with the return address in rdx, "push rdx; sub rsp, n", and left
 * the same way. A leaf only.
 */
JVS_FN int jvs_leave_exception_stub(struct jvs_walk *w, __u64 begin)
{
	if (!w)
		return JVS_STATUS_INTERNAL;
	if (jvs_read_user(w->code, 8, begin) || jvs_byte(w, 0) != JVS_PUSH_RDX)
		return JVS_NOT_THIS;
	if (w->pc == begin + 1)
		return jvs_leave_by_ra(w);
	if (w->pc != begin || !jvs_is_code(w, w->dx))
		return JVS_NOT_THIS;
	return jvs_go_how(w, w->dx, w->sp, w->fp, JVS_HOW_NO_FRAME);
}

/* A leaf in a blob with a frame size, where the frame is not whole. */
JVS_INLINE int jvs_leave_part_of_stub(struct jvs_walk *w, __u64 begin)
{
	__u8 now = 0;

	jvs_read_user(&now, 1, w->pc);
	if (jvs_read_user(w->word, 16, w->sp))
		return JVS_STATUS_FRAMED_READ;
	if (now == JVS_PUSH_RBP || now == JVS_RET || w->pc == begin || !jvs_is_code(w, w->word[1]))
		return jvs_go_how(w, w->word[0], w->sp + 8, w->fp, JVS_HOW_RA);
	return jvs_go_how(w, w->word[1], w->sp + 16, w->word[0], JVS_HOW_FP_RA);
}

/* Runtime stubs with a frame size: resolve and safepoint blobs, C1's and C2's calls to the VM. */
JVS_FN int jvs_step_framed(struct jvs_walk *w)
{
	const struct jvs_target *t;
	__s64 complete;
	__u64 begin, cfa;
	bool has_ra;
	int result;

	if (!w)
		return JVS_STATUS_INTERNAL;
	t = jvs_target_of(w->target);
	if (!t)
		return JVS_STATUS_INTERNAL;
	begin = jvs_code_begin(w, &t->java);
	jvs_set_blob_frame(w, &t->java, JVS_FRAME_STUB, begin);

	result = jvs_leave_poll_stub(w, begin);
	if (result == JVS_NOT_THIS && w->at != JVS_AT_RETURN)
		result = jvs_leave_exception_stub(w, begin);
	if (result == JVS_NOT_THIS)
		result = jvs_leave_single_stub(w, begin);
	if (result != JVS_NOT_THIS)
		return result;

	cfa = w->sp + (__u64)(jvs_frame_size(w, &t->java) & 0xffff) * 8;
	if (jvs_read_user(w->word, 16, cfa - 16))
		return JVS_STATUS_FRAMED_READ;
	jvs_note_two(w, cfa - 16, w->word);
	has_ra = jvs_is_code(w, w->word[1]);
	if (w->at != JVS_AT_RETURN) {
		complete = jvs_frame_complete(w, &t->java);
		if (!has_ra || (__s64)(w->pc - begin) < complete)
			return jvs_leave_part_of_stub(w, begin);
	} else if (!has_ra) {
		return JVS_STATUS_FRAMED_RA;
	}
	return jvs_go(w, w->word[1], cfa, w->word[0]);
}

/*
 * At the first two instructions of a stub, or at a return: tested before the frame pointer, which
 * is then another frame's. *ra_at_sp: only [sp] can hold the return address.
 */
JVS_INLINE int jvs_leave_stub_edge(struct jvs_walk *w, bool *ra_at_sp)
{
	__u64 bytes = 0;
	__u32 at;

	if (w->at == JVS_AT_RETURN)
		return JVS_NOT_THIS;
	jvs_read_user(&bytes, 8, w->pc - 1);
	at = bytes >> 8;
	*ra_at_sp = (at & 0xff) == JVS_RET || jvs_is_push_mov_rbp(at);

	if ((bytes & 0xff) != JVS_PUSH_RBP || !jvs_is_mov_rbp(at))
		return JVS_NOT_THIS;
	if (jvs_read_user(w->word, 16, w->sp) || !jvs_is_code(w, w->word[1]))
		return JVS_NOT_THIS;
	return jvs_go_how(w, w->word[1], w->sp + 16, w->word[0], JVS_HOW_FP_RA);
}

/* An nmethod's entry barrier called the stub inside the prologue: return address, -1, saved rbp. */
JVS_INLINE int jvs_leave_entry_barrier(struct jvs_walk *w)
{
	if (!jvs_fp_near(w, JVS_STUB_FRAME_MAX) || jvs_read_user(w->word, 24, w->fp))
		return JVS_NOT_THIS;
	if (w->word[1] != JVS_BARRIER_MARK || !jvs_is_code(w, w->word[2]))
		return JVS_NOT_THIS;
	return jvs_go_how(w, w->word[2], w->fp + 24, w->word[0], JVS_HOW_EXTRA);
}

/*
 * StubRoutines, and blobs without a frame size. is_single: the blob is one stub, so when it does
 * not begin with "push rbp" fp is another frame's.
 */
JVS_FN int jvs_step_stub(struct jvs_walk *w, __u32 is_single)
{
	const struct jvs_target *t;
	bool ra_at_sp = false;
	__u64 begin, at;
	int result;

	if (!w)
		return JVS_STATUS_INTERNAL;
	t = jvs_target_of(w->target);
	if (!t)
		return JVS_STATUS_INTERNAL;
	begin = jvs_code_begin(w, &t->java);
	jvs_set_blob_frame(w, &t->java, JVS_FRAME_STUB, begin);

	if (is_single) {
		result = jvs_leave_single_stub(w, begin);
		if (result != JVS_NOT_THIS)
			return result;
	}
	result = jvs_leave_stub_edge(w, &ra_at_sp);
	if (result != JVS_NOT_THIS)
		return result;
	if (!ra_at_sp && !is_single && !jvs_leave_by_fp(w))
		return JVS_STATUS_RUN;
	if (!ra_at_sp) {
		result = jvs_leave_entry_barrier(w);
		if (result != JVS_NOT_THIS)
			return result;
	}
	result = jvs_leave_by_ra(w);
	if (result != JVS_NOT_THIS)
		return result;

	at = jvs_scan_stack(w, w->sp, JVS_SCAN_MAX);
	if (!at)
		return JVS_STATUS_STUB;
	return jvs_go_how(w, jvs_read_word(at), at + 8, w->fp, JVS_HOW_SCAN);
}

/* Where the VM calls into Java: an ordinary frame with fp. */
JVS_FN int jvs_step_call_stub(struct jvs_walk *w)
{
	const struct jvs_target *t;

	if (!w)
		return JVS_STATUS_INTERNAL;
	t = jvs_target_of(w->target);
	if (!t)
		return JVS_STATUS_INTERNAL;
	jvs_set_frame(w, w->pc, JVS_FRAME_CALL_STUB, 0, 0);
	if (t->java.call_wrapper)
		w->wrapper = jvs_read_word(w->fp + (__s64)t->java.call_wrapper * 8);
	if (jvs_read_user(w->word, 16, w->fp))
		return JVS_STATUS_STUB_READ;
	jvs_note_two(w, w->fp, w->word);
	return jvs_go(w, w->word[1], w->fp + 16, w->word[0]);
}

#endif
