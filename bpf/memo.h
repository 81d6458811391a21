/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_MEMO_H
#define JVS_MEMO_H

#include "unwind.h"

/*
 * Stacks that were walked before: a probe meets the same ones again and again, and to see that
 * nothing has changed is several times cheaper than to walk. unwind_notes.h says what is compared,
 * and why that is enough. For memo.bpf.c, and for the test of it.
 *
 * A memo belongs to a place: two callers share one when their registers and the first return
 * addresses hash alike. The later one wins.
 */
struct memo {
	__u32 busy;  /* taken by compare-and-exchange */
	__u32 notes; /* 0: empty */
	__u32 identities;
	__u32 bytes; /* of the stack, up to the last word that is noted */
	__u32 generation;
	__u32 pid;
	__u32 flags; /* of the target */
	__u32 pad;
	__u64 pc;
	__u64 sp;
	__u64 fp;
	__u64 lr;
	__u64 mappings;
	__u64 hash;
	__u16 noted_at[JVS_NOTES];
	__u64 noted[JVS_NOTES];
	__u64 identity_at[JVS_IDENTITIES];
	__u64 identity[JVS_IDENTITIES];
};

#define MEMOS 1024

#ifdef __bpf__
/* NULL for an index that does not exist. */
JVS_INLINE struct memo *jvs_memo_at(__u32 index);

JVS_INLINE void jvs_copy(void *to, __u32 size, const void *from)
{
	bpf_probe_read_kernel(to, size, from);
}
#else
/* The same, supplied by whoever includes this; and what core.bpf.h has. */
static struct memo *jvs_memo_at(__u32 index);
static void jvs_copy(void *to, __u32 size, const void *from);
static int jvs_take_registers(struct jvs_walk *w);
static int jvs_is_seen(__u64 hash);
#endif

JVS_INLINE struct memo *take_memo(__u32 index)
{
	struct memo *memo = jvs_memo_at(index);

	return memo && !__sync_val_compare_and_swap(&memo->busy, 0, 1) ? memo : NULL;
}

/* Other CPUs may take it: by an exchange, before which all that was written to it is there. */
JVS_INLINE void give_memo(struct memo *memo)
{
	__sync_lock_test_and_set(&memo->busy, 0);
}

/* Where a stack's memo is: by its registers and the return addresses that are at hand. */
JVS_INLINE __u32 place_of(struct jvs_walk *w)
{
	__u64 hash = jvs_mix(jvs_mix(jvs_mix(w->pid, w->pc), w->sp), w->fp);

	hash = jvs_mix(hash, jvs_read_word(w->sp));
	if (!jvs_read_user(w->word, 16, w->fp)) {
		hash = jvs_mix(hash, w->word[1]);
		hash = jvs_mix(hash, jvs_read_word(w->word[0] + 8));
	}
	return hash >> 32 & (MEMOS - 1);
}

JVS_INLINE bool is_same_start(const struct memo *memo, const struct jvs_walk *w)
{
	return memo->notes && memo->sp == w->sp && memo->pc == w->pc && memo->fp == w->fp &&
	       memo->lr == w->lr && memo->pid == w->pid && memo->flags == w->flags &&
	       memo->generation == w->generation && memo->mappings == w->mappings;
}

/* Whether all words of the stack are what they were. */
JVS_FN int jvs_same_words(struct jvs_walk *w)
{
	const struct memo *memo;
	__u64 count, size;
	__u32 at;

	if (!w)
		return 0;
	memo = jvs_memo_at(w->memo);
	if (!memo)
		return 0;
	count = memo->notes;
	barrier_var(count);
	if (!count || count > JVS_NOTES)
		return 0;
	size = memo->bytes;
	barrier_var(size);
	if (size > JVS_NOTED_BYTES || jvs_read_user(w->stack, size, w->sp))
		return 0;
	for (__u32 i = 0; i < JVS_NOTES; i++) {
		if (i >= count)
			break;
		at = memo->noted_at[i] & (JVS_NOTED_BYTES / 8 - 1);
		if (w->stack[at] != memo->noted[i])
			return 0;
	}
	return 1;
}

/* Whether all code and methods are the ones they were. */
JVS_FN int jvs_same_identities(struct jvs_walk *w)
{
	const struct memo *memo;
	__u64 at, value;

	if (!w)
		return 0;
	memo = jvs_memo_at(w->memo);
	if (!memo)
		return 0;
	for (__u32 i = 0; i < JVS_IDENTITIES; i++) {
		if (i >= memo->identities)
			break;
		at = memo->identity_at[i];
		value = 0;
		if (at & JVS_NOTED_U32) {
			if (jvs_read_user(&value, 4, at & ~(__u64)JVS_NOTED_U32))
				return 0;
		} else if (jvs_read_user(&value, 8, at)) {
			return 0;
		}
		if (value != memo->identity[i])
			return 0;
	}
	return 1;
}

JVS_INLINE bool is_same(struct jvs_walk *w, const struct memo *memo)
{
	return is_same_start(memo, w) && jvs_same_words(w) && jvs_same_identities(w);
}

/*
 * Whether the stack of the thread is one that was walked before, and userspace has it: then w has
 * its hash. Otherwise w->memo says where its walk may be remembered.
 */
JVS_FN int jvs_recall(struct jvs_walk *w)
{
	struct memo *memo;
	int same;

	if (!w)
		return 0;
	w->memo = JVS_NO_MEMO;
	if (jvs_take_registers(w) || w->returns)
		return 0;
	w->memo = place_of(w);
	memo = take_memo(w->memo);
	if (!memo)
		return 0;
	same = is_same(w, memo) && jvs_is_seen(memo->hash);
	if (same)
		w->hash = memo->hash;
	give_memo(memo);
	return same;
}

JVS_INLINE bool is_plain(const struct jvs_walk *w)
{
	return w->status == JVS_STATUS_END && jvs_has_notes(w) && !w->anchored && !w->unmapped &&
	       !w->heap_frames && !w->deoptimizing && !w->nameless;
}

/* After the walk that jvs_recall() has begun. */
JVS_FN int jvs_remember(struct jvs_walk *w)
{
	struct memo *memo;

	if (!w || !is_plain(w))
		return 0;
	memo = take_memo(w->memo);
	if (!memo)
		return 0;
	memo->notes = w->notes;
	memo->identities = w->identities;
	memo->bytes = w->noted_bytes;
	memo->generation = w->generation;
	memo->pid = w->pid;
	memo->flags = w->flags;
	memo->pc = w->start_pc;
	memo->sp = w->start_sp;
	memo->fp = w->start_fp;
	memo->lr = w->start_lr;
	memo->mappings = w->mappings;
	memo->hash = w->hash;
	jvs_copy(memo->noted_at, sizeof(memo->noted_at), w->noted_at);
	jvs_copy(memo->noted, sizeof(memo->noted), w->noted);
	jvs_copy(memo->identity_at, sizeof(memo->identity_at), w->identity_at);
	jvs_copy(memo->identity, sizeof(memo->identity), w->identity);
	give_memo(memo);
	return 1;
}

#endif
