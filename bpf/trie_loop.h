/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_TRIE_LOOP_H
#define JVS_TRIE_LOOP_H

#include <bpf/bpf_helpers.h>

#include "trie/trie.h"

/*
 * The search of trie.h in a BPF program, in a loop of one step each.
 *
 * The words are the one value of an array map, whose size is set at load and is in the constants
 * jvs_trie_count and jvs_trie_long_count. They are never in .rodata: the verifier would walk them.
 * The state of the search is in a map value, too, which no other run of a program may use
 * meanwhile. Then the verifier has to follow one step, whatever the words.
 */
#define TRIE_LOOP_NAME_MAX 256	/* bytes there are room for where a name is read to */
#define TRIE_LOOP_STEPS	   8192 /* more than trie_steps_max(TRIE_LOOP_NAME_MAX); it ends early */

extern const volatile __u32 jvs_trie_count;
extern const volatile __u32 jvs_trie_long_count;

/* One search: all are map values, name of TRIE_LOOP_NAME_MAX bytes. */
struct trie_loop {
	struct trie_search *search; /* begun */
	const __u8 *name;
	const __u16 *units;
};

TRIE_INLINE int trie_loop_step(const struct trie_loop *loop)
{
	struct trie trie = { loop->units, jvs_trie_count, jvs_trie_long_count };

	return trie_step(loop->search, &trie, loop->name, TRIE_LOOP_NAME_MAX);
}

static __attribute__((unused)) long trie_loop_callback(__u32 number, void *loop)
{
	return trie_loop_step(loop);
}

/* From 5.17 on. The faster of the two where both were measured (6.18). */
TRIE_INLINE void trie_loop_by_helper(struct trie_loop *loop)
{
	bpf_loop(TRIE_LOOP_STEPS, trie_loop_callback, loop, 0);
}

/*
 * A function of its own: what it leaves in registers ends with it. Up to 6.12 the verifier compares
 * dead registers, too, when it looks whether a turn of an iterator's loop is new; with this inline
 * it followed up to 18,000 instructions.
 */
TRIE_FUNCTION int trie_loop_turn(const struct trie_loop *loop)
{
	return trie_loop_step(loop);
}

struct bpf_iter_num {
	__u64 opaque;
} __attribute__((aligned(8)));

extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __weak __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __weak __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __weak __ksym;

/* From 6.4 on. */
TRIE_INLINE void trie_loop_by_iterator(struct trie_loop *loop)
{
	struct bpf_iter_num it;

	bpf_iter_num_new(&it, 0, TRIE_LOOP_STEPS);
	while (bpf_iter_num_next(&it)) {
		if (trie_loop_turn(loop))
			break;
	}
	bpf_iter_num_destroy(&it);
}

#endif
