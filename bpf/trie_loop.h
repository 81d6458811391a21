/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_TRIE_LOOP_H
#define JVS_TRIE_LOOP_H

#include <bpf/bpf_helpers.h>

#include "trie/trie.h"

/*
 * The search of trie.h in a BPF program, in a loop of one step each.
 *
 * The words are the one value of the array map trie_words, whose size is set at load and is in the
 * constants jvs_trie_count and jvs_trie_long_count; who includes this has declared all three. They
 * are never in .rodata: the verifier would walk them. The state of the search is in a map value,
 * too, which no other run of a program may use meanwhile. Then the verifier has to follow one step,
 * whatever the words.
 */
#define TRIE_LOOP_NAME_MAX 256	/* bytes there are room for where a name is read to */
#define TRIE_LOOP_STEPS	   8192 /* more than trie_steps_max(TRIE_LOOP_NAME_MAX); it ends early */

/* A name, with room for a load of several bytes at its end. */
struct trie_loop_name {
	__u8 bytes[TRIE_LOOP_NAME_MAX + TRIE_NAME_ROOM];
};

/* One search: all are map values. */
struct trie_loop {
	struct trie_search *search; /* begun */
	const struct trie_loop_name *name;
	const __u16 *units;
};

static __attribute__((unused)) long trie_loop_callback(__u32 number, void *data)
{
	const struct trie_loop *loop = data;
	struct trie trie = { loop->units, jvs_trie_count, jvs_trie_long_count };

	return trie_step(loop->search, &trie, loop->name->bytes, TRIE_LOOP_NAME_MAX);
}

/* From 5.17 on. The faster of the two where both were measured (6.18). */
TRIE_INLINE void trie_loop_by_helper(struct trie_loop *loop)
{
	bpf_loop(TRIE_LOOP_STEPS, trie_loop_callback, loop, 0);
}

/*
 * A global function, which the verifier proves once and by itself. In the loop of an iterator it
 * compares dead registers, too, when it looks whether it has been somewhere before: what is inline
 * there is followed many times over (up to 18,000 instructions on 6.12).
 */
__attribute__((noinline, weak)) int trie_loop_step(struct trie_search *search,
						   const struct trie_loop_name *name)
{
	__u32 first = 0;
	struct trie trie = {
		bpf_map_lookup_elem(&trie_words, &first),
		jvs_trie_count,
		jvs_trie_long_count,
	};

	if (!search || !name || !trie.units)
		return 1;
	return trie_step(search, &trie, name->bytes, TRIE_LOOP_NAME_MAX);
}

struct bpf_iter_num {
	__u64 opaque;
} __attribute__((aligned(8)));

extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __weak __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __weak __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __weak __ksym;

#define TRIE_LOOP_UNROLLED 4

/* Some steps a turn: a turn costs a call, too, and most names are found in one or two of these. */
TRIE_INLINE int trie_loop_turn(struct trie_loop *loop)
{
#pragma unroll
	for (int i = 0; i < TRIE_LOOP_UNROLLED; i++) {
		if (trie_loop_step(loop->search, loop->name))
			return 1;
	}
	return 0;
}

/* From 6.4 on. */
TRIE_INLINE void trie_loop_by_iterator(struct trie_loop *loop)
{
	struct bpf_iter_num it;

	bpf_iter_num_new(&it, 0, TRIE_LOOP_STEPS / TRIE_LOOP_UNROLLED);
	while (bpf_iter_num_next(&it)) {
		if (trie_loop_turn(loop))
			break;
	}
	bpf_iter_num_destroy(&it);
}

/*
 * The number of the rule for a class name: 0 is no rule, or a rule with that number; both are the
 * application's classes. The rule itself is the first search->matched bytes of the name if
 * search->number is not TRIE_NONE.
 *
 * name holds the first "have" bytes of a name of len bytes, as the JVM has it, read there by
 * bpf_probe_read_user(); what is behind them is of no matter. Both pointers are map values that are
 * not NULL, and nobody else's until this returns: take a scratch slot, as a program may interrupt
 * another on its CPU. They are too large for the stack. Callable from uprobe, USDT and every other
 * kind of tracing program that does not sleep, from 5.17 on. Less than 750 verified instructions.
 */
TRIE_INLINE __u32 trie_loop_rule(struct trie_search *search, const struct trie_loop_name *name,
				 __u32 have, __u32 len)
{
	struct trie_loop loop = { .search = search, .name = name };
	__u32 first = 0;

	loop.units = bpf_map_lookup_elem(&trie_words, &first);
	if (!loop.units)
		return 0;
	if (have > TRIE_LOOP_NAME_MAX)
		have = TRIE_LOOP_NAME_MAX;
	trie_begin(search, have < len ? have : len, len, 0);
	trie_loop_by_helper(&loop);
	return search->number > 0 ? (__u32)search->number : 0;
}

#endif
