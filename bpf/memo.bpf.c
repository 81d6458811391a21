/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind.h"

/*
 * Stacks that were walked before: a probe meets the same ones again and again, and to see that
 * nothing has changed is several times cheaper than to walk. unwind_notes.h says what is compared,
 * and why that is enough.
 *
 * A memo belongs to a place: two callers share one when their registers and the first return
 * addresses hash alike. The later one wins.
 */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

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

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MEMOS);
	__type(key, __u32);
	__type(value, struct memo);
} jvs_memos SEC(".maps");

static __always_inline struct memo *take_memo(__u32 index)
{
	struct memo *memo = bpf_map_lookup_elem(&jvs_memos, &index);

	return memo && !__sync_val_compare_and_swap(&memo->busy, 0, 1) ? memo : NULL;
}

/* Other CPUs may take it: by an exchange, before which all that was written to it is there. */
static __always_inline void give_memo(struct memo *memo)
{
	__sync_lock_test_and_set(&memo->busy, 0);
}

static __always_inline __u64 mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* Where a stack's memo is: by its registers and the return addresses that are at hand. */
static __always_inline __u32 place_of(struct jvs_walk *w)
{
	__u64 hash = mix(mix(mix(w->pid, w->pc), w->sp), w->fp);

	hash = mix(hash, jvs_read_word(w->sp));
	if (!jvs_read_user(w->word, 16, w->fp)) {
		hash = mix(hash, w->word[1]);
		hash = mix(hash, jvs_read_word(w->word[0] + 8));
	}
	return hash >> 32 & (MEMOS - 1);
}

static __always_inline bool is_same_start(const struct memo *memo, const struct jvs_walk *w)
{
	return memo->notes && memo->sp == w->sp && memo->pc == w->pc && memo->fp == w->fp &&
	       memo->lr == w->lr && memo->pid == w->pid && memo->flags == w->flags &&
	       memo->generation == w->generation && memo->mappings == w->mappings;
}

/* Whether all words of the stack are what they were. */
__attribute__((noinline)) int jvs_same_words(struct jvs_walk *w)
{
	const struct memo *memo;
	__u64 count, size;
	__u32 index, at;

	if (!w)
		return 0;
	index = w->memo;
	memo = bpf_map_lookup_elem(&jvs_memos, &index);
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
__attribute__((noinline)) int jvs_same_identities(struct jvs_walk *w)
{
	const struct memo *memo;
	__u64 at, value;
	__u32 index;

	if (!w)
		return 0;
	index = w->memo;
	memo = bpf_map_lookup_elem(&jvs_memos, &index);
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

static __always_inline bool is_same(struct jvs_walk *w, const struct memo *memo)
{
	return is_same_start(memo, w) && jvs_same_words(w) && jvs_same_identities(w);
}

/*
 * Whether the stack of the thread is one that was walked before, and userspace has it: then w has
 * its hash. Otherwise w->memo says where its walk may be remembered.
 */
int jvs_recall(struct jvs_walk *w)
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

static __always_inline bool is_plain(const struct jvs_walk *w)
{
	return w->status == JVS_STATUS_END && jvs_has_notes(w) && !w->anchored && !w->unmapped &&
	       !w->heap_frames && !w->deoptimizing && !w->nameless;
}

/* After the walk that jvs_recall() has begun. */
int jvs_remember(struct jvs_walk *w)
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
	bpf_probe_read_kernel(memo->noted_at, sizeof(memo->noted_at), w->noted_at);
	bpf_probe_read_kernel(memo->noted, sizeof(memo->noted), w->noted);
	bpf_probe_read_kernel(memo->identity_at, sizeof(memo->identity_at), w->identity_at);
	bpf_probe_read_kernel(memo->identity, sizeof(memo->identity), w->identity);
	give_memo(memo);
	return 1;
}
