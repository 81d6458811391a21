/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_UNWIND_STEP_H
#define JVS_UNWIND_STEP_H

#include "unwind_compiled.h"
#include "unwind_interpreter.h"
#include "unwind_native.h"
#include "unwind_returns.h"
#include "unwind_run.h"
#include "unwind_stub.h"

/* One step of a walk: what is at pc, its frame, its caller. */

/* Kinds that need no blob; beside enum jvs_blob_kind. */
#define JVS_KIND_NATIVE	   32
#define JVS_KIND_CALL_STUB 33

#define JVS_LEAF_SLACK 64 /* bytes: a method-handle linker pops an argument its caller pushed */

/* Eight characters of a blob's name, as one little-endian word. */
#define JVS_NAME8(a, b, c, d, e, f, g, h)                                                        \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 | \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)

/* Kind of the blob in w->header, by its name; 0: see the frame size. */
JVS_INLINE int jvs_kind_by_name(__u64 name)
{
	__u64 text[2] = { 0 };

	if (jvs_read_user(text, 16, name))
		jvs_read_user(text, 8, name);

	if (text[0] == JVS_NAME8('n', 'm', 'e', 't', 'h', 'o', 'd', 0))
		return JVS_BLOB_NMETHOD;
	/* Not "native signature handlers". */
	if (text[0] == JVS_NAME8('n', 'a', 't', 'i', 'v', 'e', ' ', 'n') && (text[1] & 0xff) == 'm')
		return JVS_BLOB_NATIVE;
	if (text[0] == JVS_NAME8('I', 'n', 't', 'e', 'r', 'p', 'r', 'e'))
		return JVS_BLOB_INTERPRETER;
	if (text[0] == JVS_NAME8('I', '2', 'C', '/', 'C', '2', 'I', ' ') ||
	    text[0] == JVS_NAME8('a', 'd', 'a', 'p', 't', 'e', 'r', 's'))
		return JVS_BLOB_ADAPTER;
	if (text[0] == JVS_NAME8('v', 't', 'a', 'b', 'l', 'e', ' ', 'c') ||
	    text[0] == JVS_NAME8('I', 'n', 'l', 'i', 'n', 'e', 'C', 'a'))
		return JVS_BLOB_VTABLE;
	if (text[0] == JVS_NAME8('S', 't', 'u', 'b', 'R', 'o', 'u', 't'))
		return JVS_BLOB_STUB_ROUTINES;
	if (text[0] == JVS_NAME8('D', 'e', 'o', 'p', 't', 'i', 'm', 'i') ||
	    text[0] == JVS_NAME8('U', 'n', 'c', 'o', 'm', 'm', 'o', 'n'))
		return JVS_BLOB_DEOPT;
	return JVS_BLOB_OTHER;
}

/* Compares the name's address before its text: nearly all blobs are methods. */
JVS_FN int jvs_blob_kind(struct jvs_walk *w)
{
	const struct jvs_java_layout *java;
	const struct jvs_target *t;
	int kind = JVS_BLOB_OTHER;
	__u64 name;

	if (!w)
		return JVS_BLOB_OTHER;
	t = jvs_target_of(w->target);
	if (!t)
		return JVS_BLOB_OTHER;
	java = &t->java;

	name = jvs_header_u64(w, java->blob_name);
	if (name == java->name_nmethod)
		return JVS_BLOB_NMETHOD;
	if (name == java->name_native_nmethod)
		return JVS_BLOB_NATIVE;
	if (java->blob_kind != JVS_NO_FIELD)
		kind = java->kind_of[jvs_header_u8(w, java->blob_kind) & 15];
	if (kind == JVS_BLOB_OTHER || kind == JVS_BLOB_NMETHOD)
		kind = jvs_kind_by_name(name);
	if (kind == JVS_BLOB_OTHER && jvs_frame_size(w, java) > 0)
		return JVS_BLOB_FRAMED;
	return kind;
}

/*
 * What holds pc: JVS_KIND_*, an enum jvs_blob_kind, or minus an enum jvs_status.
 *
 * The interpreter and the call stub never move, so they need no look into the heap.
 */
JVS_INLINE int jvs_classify(struct jvs_walk *w)
{
	const struct jvs_target *t = jvs_target_of(w->target);
	const struct jvs_java_layout *java;
	__u64 pc = jvs_inside(w);
	int heap, err;

	if (!t)
		return -JVS_STATUS_INTERNAL;
	if (w->pc < JVS_LOWEST_ADDRESS)
		return -JVS_STATUS_PC_ZERO;
	java = &t->java;
	if (w->flags & JVS_TARGET_JAVA && jvs_in_range(&java->interpreter, pc))
		return JVS_BLOB_INTERPRETER;
	heap = jvs_heap_of(w, java, w->pc);
	if (heap < 0)
		return JVS_KIND_NATIVE;
	if (w->pc == java->call_stub_return)
		return JVS_KIND_CALL_STUB;

	/*
	 * A return into the continuation stubs: the virtual thread's other frames are in the Java
	 * heap, and the walk goes on with its carrier's.
	 */
	if (w->at == JVS_AT_RETURN && jvs_in_range(&java->continuation_stubs, pc))
		w->heap_frames_here = 1;

	err = jvs_load_blob(w, heap, pc);
	return err ? -err : jvs_blob_kind(w);
}

JVS_INLINE int jvs_step_kind(struct jvs_walk *w, int kind)
{
	switch (kind) {
	case JVS_KIND_NATIVE:
		return jvs_step_native(w);
	case JVS_BLOB_NMETHOD:
	case JVS_BLOB_NATIVE:
		return jvs_step_compiled(w, kind == JVS_BLOB_NATIVE);
	case JVS_BLOB_INTERPRETER:
		return jvs_step_interpreter(w);
	case JVS_KIND_CALL_STUB:
		return jvs_step_call_stub(w);
	case JVS_BLOB_ADAPTER:
	case JVS_BLOB_VTABLE:
		return jvs_step_adapter(w, kind == JVS_BLOB_ADAPTER);
	case JVS_BLOB_DEOPT:
	case JVS_BLOB_FRAMED:
		return jvs_step_framed(w);
	case JVS_BLOB_OTHER:
	case JVS_BLOB_STUB_ROUTINES:
		return jvs_step_stub(w, kind == JVS_BLOB_OTHER);
	default:
		return kind < 0 ? -kind : JVS_STATUS_INTERNAL;
	}
}

JVS_INLINE void jvs_note_kind(struct jvs_walk *w, int kind)
{
	bool java =
		kind == JVS_BLOB_NMETHOD || kind == JVS_BLOB_NATIVE || kind == JVS_BLOB_INTERPRETER;

	if (java) {
		w->java_frames++;
		w->wrapper = 0;
		w->last_java_sp = w->sp;
	}
	if (kind == JVS_BLOB_DEOPT)
		w->deoptimizing = 1;
	/* An adapter, a vtable stub and the call stub push nothing on their caller's frame. */
	if (java)
		w->after_native = 0;
	else if (kind != JVS_BLOB_ADAPTER && kind != JVS_BLOB_VTABLE && kind != JVS_KIND_CALL_STUB)
		w->after_native = 1;
}

/*
 * Where the VM keeps the anchor of the Java frames below the native ones that are being unwound:
 * in the thread, or, when it called Java again, in that call's JavaCallWrapper. 0: nowhere, or
 * there are no such frames.
 */
JVS_FN __u64 jvs_find_anchor(struct jvs_walk *w)
{
	const struct jvs_target *t;
	__u64 anchor, thread, sp;

	if (!w)
		return 0;
	t = jvs_target_of(w->target);
	if (!t || !(w->flags & JVS_TARGET_ANCHOR) || !(w->flags & JVS_TARGET_JAVA))
		return 0;
	if (w->java_frames) {
		if (!w->wrapper)
			return 0;
		anchor = w->wrapper + t->java.wrapper_anchor_sp;
	} else {
		thread = w->anchored ? 0 : jvs_java_thread(w->tid);
		if (!thread)
			return 0;
		anchor = thread + t->java.thread_anchor_sp;
	}
	sp = jvs_read_word(anchor);
	return sp >= w->start_sp && sp > w->last_java_sp ? anchor : 0;
}

/*
 * When native frames above Java cannot be unwound: a thread that left Java code has noted where.
 * Returns whether the walk can go on there.
 */
JVS_FN int jvs_go_on_at_anchor(struct jvs_walk *w)
{
	const struct jvs_target *t;
	__u64 anchor, sp, pc, fp;

	if (!w)
		return 0;
	t = jvs_target_of(w->target);
	anchor = jvs_find_anchor(w);
	if (!t || !anchor)
		return 0;
	sp = jvs_read_word(anchor);
	pc = jvs_read_word(anchor + t->java.thread_anchor_pc - t->java.thread_anchor_sp);
	fp = jvs_read_word(anchor + t->java.thread_anchor_fp - t->java.thread_anchor_sp);
	if (!pc)
		pc = jvs_read_word(sp - 8);

	w->anchored = 1;
	w->wrapper = 0;
	w->how = JVS_HOW_NORMAL;
	jvs_set_frame(w, pc, JVS_FRAME_ANCHOR, 0, 0);
	if (jvs_push(w))
		return 0;
	jvs_go(w, pc, sp, fp);
	return 1;
}

/*
 * A library without unwind rows and frame pointers leaves its Java caller's fp alone: the frame
 * pointer then leads past that caller. Returns whether it has.
 */
JVS_INLINE bool jvs_skipped_java(struct jvs_walk *w)
{
	__u64 anchor;

	if (w->how != JVS_HOW_FP_FALLBACK)
		return false;
	anchor = jvs_find_anchor(w);
	return anchor && w->sp > jvs_read_word(anchor);
}

/*
 * From the return barrier of a virtual thread, whose other frames are in the Java heap, to the
 * frame in which its carrier entered it. The rbp rule of stubs would do as well, but not always.
 * Returns whether that is known.
 */
JVS_FN int jvs_go_to_carrier(struct jvs_walk *w)
{
	const struct jvs_java_layout *java;
	const struct jvs_target *t;
	__u64 thread, entry;

	if (!w)
		return 0;
	t = jvs_target_of(w->target);
	if (!t || !t->java.thread_cont_entry)
		return 0;
	java = &t->java;
	thread = jvs_java_thread(w->tid);
	entry = thread ? jvs_read_word(thread + java->thread_cont_entry) : 0;
	if (entry < w->sp || !java->cont_return_pc)
		return 0;
	jvs_go(w, java->cont_return_pc, entry, jvs_read_word(entry + java->cont_entry_size));
	return 1;
}

JVS_INLINE int jvs_mark_heap_frames(struct jvs_walk *w)
{
	w->heap_frames = 1;
	jvs_set_frame(w, w->pc, JVS_FRAME_HEAP_FRAMES, 0, 0);
	if (jvs_push(w))
		return JVS_STATUS_WALK_LIMIT;
	w->frame.word = 0;
	return JVS_STATUS_RUN;
}

/* Ends the notes, unless the step has noted all that it depended on. */
JVS_INLINE void jvs_note_step(struct jvs_walk *w, int kind, __u32 at, __u32 notes)
{
	bool noted = w->notes != notes;
	bool plain = w->how == JVS_HOW_NORMAL || w->how == JVS_HOW_FP || w->how == JVS_HOW_EXTRA;

	if (!noted || !plain || (at != JVS_AT_RETURN && kind != JVS_KIND_NATIVE))
		jvs_note_no_more(w);
}

/* Whether the step led to a frame that can be the caller's. */
JVS_INLINE int jvs_check_progress(const struct jvs_walk *w, __u64 pc, __u64 sp, __u32 at)
{
	__u64 slack = at == JVS_AT_RETURN ? 0 : JVS_LEAF_SLACK;

	if (w->at != JVS_AT_SIGNAL && w->sp + slack < sp)
		return JVS_STATUS_SP_DOWN;
	if (w->sp == sp && w->pc == pc)
		return JVS_STATUS_NO_PROGRESS;
	return JVS_STATUS_RUN;
}

/*
 * One frame. 0: go on; else the enum jvs_status the walk ends with.
 *
 * A C library may have no unwind rows, as musl: there fp is 0 in a thread's first function.
 */
JVS_FN int jvs_step(struct jvs_walk *w)
{
	__u64 pc, sp, fp;
	int kind, result;
	__u32 at, notes;

	if (!w)
		return JVS_STATUS_INTERNAL;
	if (w->returns)
		jvs_real_return(w);
	pc = w->pc;
	sp = w->sp;
	fp = w->fp;
	at = w->at;
	if (at == JVS_AT_SIGNAL)
		w->at = JVS_AT_LEAF;
	w->frame.word = 0;
	w->how = JVS_HOW_NORMAL;
	w->heap_frames_here = 0;

	notes = w->notes;
	kind = jvs_classify(w);
	if (w->heap_frames_here) {
		if (jvs_mark_heap_frames(w))
			return JVS_STATUS_WALK_LIMIT;
		if (jvs_go_to_carrier(w))
			return JVS_STATUS_RUN;
	}
	result = jvs_step_kind(w, kind);
	jvs_note_kind(w, kind);
	if (result != JVS_STATUS_END)
		jvs_note_step(w, kind, at, notes);
	if (result == JVS_STATUS_RUN)
		result = jvs_check_progress(w, pc, sp, at);
	if (result == JVS_STATUS_RUN && jvs_skipped_java(w))
		result = JVS_STATUS_NO_ROW;

	if (at != JVS_AT_RETURN)
		w->how |= JVS_HOW_LEAF;
	if (w->frame.word && jvs_push(w))
		return JVS_STATUS_WALK_LIMIT;
	if (result == JVS_STATUS_RUN && w->last_java_sp == w->sp)
		jvs_run(w);
	if (result == JVS_STATUS_RUN || result == JVS_STATUS_END)
		return result;

	w->fail_pc = pc;
	w->fail_sp = sp;
	w->fail_fp = fp;
	if (jvs_go_on_at_anchor(w))
		return JVS_STATUS_RUN;
	if (result == JVS_STATUS_NO_ROW && at == JVS_AT_RETURN && fp == 0)
		return JVS_STATUS_END;
	return w->deoptimizing ? JVS_STATUS_DEOPT : result;
}

/* What a stack's end means for the whole. */
JVS_INLINE __u32 jvs_final_status(const struct jvs_walk *w, int result)
{
	if (result != JVS_STATUS_END)
		return result;
	if (w->nameless)
		return JVS_STATUS_DEOPT;
	if (w->walked > w->max_depth)
		return JVS_STATUS_DEPTH;
	return w->heap_frames ? JVS_STATUS_CONTINUATION : JVS_STATUS_END;
}

#endif
