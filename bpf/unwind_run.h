/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_UNWIND_RUN_H
#define JVS_UNWIND_RUN_H

#include "unwind_compiled.h"
#include "unwind_interpreter.h"
#include "unwind_push.h"

/*
 * Java callers of Java, where they are plain: interpreted, or at a return address that the walk has
 * met before. Deep stacks are recursions, and consist of little else.
 *
 * jvs_step() finds the same for these frames; this only makes them cheap. Reads of user memory cost
 * more than all the rest, so the stack is read in windows that hold several frames.
 */

#define JVS_RUN_FRAMES 32 /* after one step */
/* The last place in the window where the fixed words of an interpreted frame are all in it. */
#define JVS_WINDOW_LAST (8 * (JVS_WINDOW_WORDS - JVS_INTERPRETER_LOW - 2))

/* The stack from an address that is a multiple of 8; NULL: not readable. */
JVS_INLINE const __u64 *jvs_window(struct jvs_walk *w, __u64 from)
{
	__u64 at = from - w->window_at;

	if (at > JVS_WINDOW_LAST) {
		if (jvs_read_user(w->window, sizeof(w->window), from)) {
			w->window_at = 0;
			return NULL;
		}
		w->window_at = from;
		at = 0;
	}
	at >>= 3;
	barrier_var(at);
	if (at > JVS_WINDOW_LAST / 8)
		return NULL;
	return w->window + at;
}

/* Appends w->frame and goes on at the caller. */
JVS_INLINE bool jvs_run_to(struct jvs_walk *w, __u64 pc, __u64 sp, __u64 fp)
{
	w->how = JVS_HOW_NORMAL;
	if (jvs_push(w))
		return false;
	w->java_frames++;
	w->last_java_sp = sp;
	jvs_go(w, pc, sp, fp);
	return true;
}

JVS_INLINE bool jvs_run_interpreted(struct jvs_walk *w, const struct jvs_java_layout *java)
{
	__u64 method, const_method, sender_sp;
	const __u64 *words;
	__u32 bcp;

	if (!jvs_interpreted_fp(w))
		return false;
	words = jvs_window(w, w->fp - JVS_FRAME_FIXED);
	if (!words)
		return false;
	method = words[JVS_INTERPRETER_LOW - 3];
	sender_sp = words[JVS_INTERPRETER_LOW - 1];
	bcp = (JVS_INTERPRETER_LOW + java->interpreter_bcp) & 7;
	const_method = jvs_known_const_method(w, java, method);
	if (!const_method || sender_sp <= w->sp)
		return false;

	jvs_note_interpreted(w, java, words);
	jvs_set_frame(w, method, JVS_FRAME_INTERPRETED, jvs_bci_at(java, const_method, words[bcp]),
		      const_method >> 3);
	return jvs_run_to(w, words[JVS_INTERPRETER_LOW + 1], sender_sp, words[JVS_INTERPRETER_LOW]);
}

JVS_INLINE bool jvs_run_compiled(struct jvs_walk *w, const struct jvs_java_layout *java)
{
	const struct jvs_call *call = jvs_call_at(w, w->pc);
	const __u64 *words;
	__u64 cfa;

	if (call->pc != w->pc || call->walk != w->time_ns || w->sp & 7)
		return false;
	cfa = w->sp + call->size;
	words = jvs_window(w, cfa - 16);
	if (!words || jvs_heap_of(w, java, words[1] & JVS_RETURN_MASK) < 0)
		return false;

	jvs_note_two(w, cfa - 16, words);
	jvs_set_frame(w, call->blob, JVS_FRAME_NMETHOD, call->offset, call->cookie);
	return jvs_run_to(w, words[1], cfa, words[0]);
}

/* One frame, after a Java frame. Returns whether it was plain; otherwise the walk is as before. */
JVS_FN int jvs_run_once(struct jvs_walk *w)
{
	const struct jvs_target *t;

	if (!w)
		return 0;
	t = jvs_target_of(w->target);
	if (!t || w->walked >= JVS_WALK_LIMIT)
		return 0;
	if (jvs_in_range(&t->java.interpreter, w->pc - 1))
		return jvs_run_interpreted(w, &t->java);
	return jvs_run_compiled(w, &t->java);
}

JVS_INLINE void jvs_run(struct jvs_walk *w)
{
	for (__u32 i = 0; i < JVS_RUN_FRAMES; i++)
		if (!jvs_run_once(w))
			break;
}

#endif
