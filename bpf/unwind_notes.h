/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_UNWIND_NOTES_H
#define JVS_UNWIND_NOTES_H

#include "walk.h"

/*
 * What a walk depends on, written down for memo.bpf.c: the same stack need not be walked again.
 *
 * Each step goes from (pc, sp, fp) to the caller's by words of the stack, by unwind rows and by
 * what the VM says of the code at pc. A word of the stack is noted with its value. Rows and
 * mappings have a generation. What the VM says of code and methods holds as long as they are the
 * same ones, which an identity says: an nmethod's compile id, a stub's name, a Method's
 * ConstMethod. So: same registers, same notes, same identities, same generation, same walk.
 *
 * Only the steps of plain callers note what they do. A step that notes nothing, or says that it
 * has looked elsewhere, ends the notes: that stack is walked each time.
 */

JVS_INLINE void jvs_note_begin(struct jvs_walk *w)
{
	w->notes = 0;
	w->noted_bytes = 0;
	w->identities = 0;
}

/* Also that nothing is to be noted. */
JVS_INLINE void jvs_note_no_more(struct jvs_walk *w)
{
	w->notes = JVS_NOTES_END;
}

JVS_INLINE bool jvs_has_notes(const struct jvs_walk *w)
{
	return w->notes && w->notes <= JVS_NOTES;
}

/* The step depends on a word of the stack. */
JVS_INLINE void jvs_note(struct jvs_walk *w, __u64 at, __u64 value)
{
	__u64 offset = at - w->start_sp;
	__u64 n = w->notes;

	barrier_var(n);
	if (n >= JVS_NOTES || offset & 7 || offset >= JVS_NOTED_BYTES) {
		w->notes = JVS_NOTES_END;
		return;
	}
	w->noted_at[n] = offset >> 3;
	w->noted[n] = value;
	w->notes = n + 1;
	if (offset >= w->noted_bytes)
		w->noted_bytes = offset + 8;
}

/* A frame record: saved fp, return address. */
JVS_INLINE void jvs_note_two(struct jvs_walk *w, __u64 at, const __u64 *words)
{
	jvs_note(w, at, words[0]);
	jvs_note(w, at + 8, words[1]);
}

/* The step depends on what is at an address outside of the stack; or-ed to it: only 32 bits. */
#define JVS_NOTED_U32 1
JVS_INLINE void jvs_note_identity(struct jvs_walk *w, __u64 at, __u64 value)
{
	__u64 n = w->identities;

	if (w->notes > JVS_NOTES)
		return;
	barrier_var(n);
	if (n >= JVS_IDENTITIES) {
		w->notes = JVS_NOTES_END;
		return;
	}
	w->identity_at[n] = at;
	w->identity[n] = value;
	w->identities = n + 1;
}

#endif
