/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVMSCOPE_TRIE_H
#define JVMSCOPE_TRIE_H

#ifdef __bpf__
#include "vmlinux.h"
#else
#include <linux/types.h>
#endif

/*
 * The class-name trie: one constant array of 16-bit units that maps a class name to a number
 * 0..8191, or to TRIE_NONE for "no rule". docs/trie.md describes the format for people.
 *
 * A node of n branches takes 3n units: n, then n branch units in ascending order, n values (one
 * a branch), n - 1 jumps (for all but the first branch). Behind it the contents of its branches,
 * in order, without gaps; a jump is the distance from the first content. What a value says:
 *
 *	TRIE_LEAF     a result; the content is empty
 *	TRIE_BUD      a result if nothing longer matches; the content is a node
 *	neither       the length of the segment the content begins with: literal units, and then
 *	              a unit with TRIE_LEAF, or a node
 *
 * with TRIE_GLOB when the result also holds for longer names. A trie without rules is the unit 0.
 *
 * A jump of TRIE_LONG_JUMP or more is the number of a long jump. Long jumps are stored behind
 * the units as two units each, low half first, so that a trie is one block of memory.
 *
 * This header compiles into userspace, tests and BPF.
 */
#define TRIE_LEAF      0x8000u
#define TRIE_BUD       0x4000u
#define TRIE_GLOB      0x2000u
#define TRIE_NUMBER    0x1fffu
#define TRIE_LONG_JUMP 0xf000u
#define TRIE_LONG_MAX  0x1000u /* long jumps there can be */

#define TRIE_NONE	  (-1) /* no rule matches */
#define TRIE_NAME_MAX	  8191 /* units of a rule, its final asterisk included */
#define TRIE_BRANCHES_MAX 32767

#define TRIE_INLINE   static inline __attribute__((always_inline, unused))
#define TRIE_FUNCTION static __attribute__((noinline, unused))

/* Borrowed: a constant, or what a struct trie_words owns (trie_build.h). */
struct trie {
	const __u16 *units;
	__u32 count;	  /* units of the trie itself */
	__u32 long_count; /* long jumps behind them */
};

/* All 16-bit words of a trie: its size in memory is twice that. */
TRIE_INLINE __u32 trie_total(const struct trie *trie)
{
	return trie->count + 2 * trie->long_count;
}

/*
 * Names are the JVM's: modified UTF-8, one to three bytes for each 16-bit unit, no byte that is 0,
 * and '/' or '.' between packages. What is no modified UTF-8 matches nothing, and so a name ends
 * for the search where it goes wrong.
 */
#define TRIE_NAME_END 0x10000u /* no unit */

/* ---- the search, one step at a time */

/*
 * A search that may be interrupted after each step.
 *
 * The kernel's verifier follows every value it can see through every turn of a loop. Kept in a
 * map value it sees none of them, and one step is all it has to prove: some 600 instructions,
 * whatever the trie. Each index is compared with its limit just before it is used, so an array
 * that is no trie gives a wrong answer and nothing worse.
 *
 * Each step uses up a unit of the name or halves a node: trie_steps_max() is the bound.
 */
struct trie_search {
	__u32 at;    /* bytes of the name that were read */
	__u32 have;  /* bytes of the name there are to read */
	__u32 len;   /* bytes of the whole name: more than have when it was cut */
	__u32 place; /* the node, or the next unit of the segment */
	__u32 state; /* enum trie_state */
	__u32 segment;
	__u32 unit; /* looked for among the branches low..high - 1 of a node of this many: */
	__u32 branches;
	__u32 low;
	__u32 high;
	__s32 number;  /* of the best rule so far, or TRIE_NONE */
	__u32 matched; /* bytes of the name it matched */
	__u32 glob;    /* it matches longer names too */
};

enum trie_state { TRIE_AT_NODE, TRIE_IN_NODE, TRIE_IN_SEGMENT };

/*
 * Begins a search for a name of len bytes, of which have (at most len) can be read, at byte from.
 * In a cut name only globs match: an exact rule needs the whole name.
 */
TRIE_INLINE void trie_begin(struct trie_search *s, __u32 have, __u32 len, __u32 from)
{
	s->at = from;
	s->have = have;
	s->len = len;
	s->place = 0;
	s->state = TRIE_AT_NODE;
	s->segment = 0;
	s->unit = 0;
	s->branches = 0;
	s->low = 0;
	s->high = 0;
	s->number = TRIE_NONE;
	s->matched = 0;
	s->glob = 0;
}

/*
 * Hides from the compiler where a value came from. Without it clang checks one copy of an index
 * and uses another, and the verifier cannot know that they are equal.
 */
TRIE_INLINE __u32 trie_opaque(__u32 value)
{
	asm volatile("" : "+r"(value));
	return value;
}

/* The word at index, or TRIE_NAME_END, which equals none and is neither result nor segment end. */
TRIE_INLINE __u32 trie_word(const struct trie *trie, __u32 index, __u32 limit)
{
	index = trie_opaque(index);
	return index < limit ? trie->units[index] : TRIE_NAME_END;
}

#define TRIE_NO_BYTE 0x100u

/* limit is the size of the buffer, for BPF a constant. */
TRIE_INLINE __u32 trie_byte(const struct trie_search *s, const __u8 *name, __u32 limit, __u32 at)
{
	at = trie_opaque(at);
	if (at >= s->have || at >= limit)
		return TRIE_NO_BYTE;
	return name[at];
}

/*
 * A unit of two or three bytes at s->at, or TRIE_NAME_END where the name is malformed: cut inside
 * a unit, or with more bytes than the unit needs. Seldom needed, so not inline: less to verify.
 */
TRIE_FUNCTION __u32 trie_long_unit(struct trie_search *s, const __u8 *name, __u32 limit,
				   __u32 first)
{
	__u32 at = s->at;
	__u32 second = trie_byte(s, name, limit, at + 1);
	__u32 third, unit;

	if ((second & 0x1c0) != 0x80)
		return TRIE_NAME_END;
	if ((first & 0x1e0) == 0xc0) {
		unit = (first & 0x1f) << 6 | (second & 0x3f);
		s->at = at + 2;
		return unit && unit < 0x80 ? TRIE_NAME_END : unit;
	}
	third = trie_byte(s, name, limit, at + 2);
	if ((first & 0x1f0) != 0xe0 || (third & 0x1c0) != 0x80)
		return TRIE_NAME_END;
	unit = (first & 0xf) << 12 | (second & 0x3f) << 6 | (third & 0x3f);
	s->at = at + 3;
	return unit < 0x800 ? TRIE_NAME_END : unit;
}

/* The next unit of the name, '/' as '.'; TRIE_NAME_END at its end. */
TRIE_INLINE __u32 trie_next_unit(struct trie_search *s, const __u8 *name, __u32 limit)
{
	__u32 first = trie_byte(s, name, limit, s->at);

	if (first - 1 >= 0x7f)
		return trie_long_unit(s, name, limit, first);
	s->at++;
	return first == '/' ? '.' : first;
}

/* Takes the result in value if it counts here. */
TRIE_INLINE void trie_take(struct trie_search *s, __u32 value)
{
	if (s->at != s->len && !(value & TRIE_GLOB))
		return;
	s->number = (__s32)(value & TRIE_NUMBER);
	s->matched = s->at;
	s->glob = value & TRIE_GLOB;
}

/* How far branch number "branch" of the node at s->place is from the first content. */
TRIE_INLINE __u32 trie_jump(const struct trie_search *s, const struct trie *trie, __u32 branch)
{
	__u32 total = trie_total(trie);
	__u32 jump, at;

	if (branch == 0)
		return 0;
	jump = trie_word(trie, s->place + 2 * s->branches + branch, trie->count);
	if (jump < TRIE_LONG_JUMP)
		return jump;
	at = trie->count + 2 * (jump - TRIE_LONG_JUMP);
	return trie_word(trie, at, total) | trie_word(trie, at + 1, total) << 16;
}

/* The unit was found: take its result, and go to its content. Returns 1 at the end. */
TRIE_INLINE int trie_follow(struct trie_search *s, const struct trie *trie, __u32 branch)
{
	__u32 value = trie_word(trie, s->place + 1 + s->branches + branch, trie->count);

	s->state = TRIE_AT_NODE;
	if (value & (TRIE_LEAF | TRIE_BUD)) {
		trie_take(s, value);
		if (value & TRIE_LEAF)
			return 1;
	} else if (value) {
		/* A unit is at least a byte. */
		if (s->len - s->at < value)
			return 1;
		s->segment = value;
		s->state = TRIE_IN_SEGMENT;
	}
	s->place += 3 * s->branches + trie_jump(s, trie, branch);
	return 0;
}

/* The unit of the name that belongs to the next one of the segment. */
TRIE_INLINE int trie_step_segment(struct trie_search *s, const struct trie *trie, __u32 unit)
{
	__u32 value;

	if (trie_word(trie, s->place, trie->count) != unit)
		return 1;
	s->place++;
	if (--s->segment)
		return 0;
	s->state = TRIE_AT_NODE;
	value = trie_word(trie, s->place, trie->count);
	if (!(value & TRIE_LEAF))
		return 0;
	trie_take(s, value);
	return 1;
}

/* One step. Returns 1 when the search is over: s->number is the answer. */
TRIE_INLINE int trie_step(struct trie_search *s, const struct trie *trie, const __u8 *name,
			  __u32 limit)
{
	__u32 middle, unit;

	if (s->state != TRIE_IN_NODE) {
		unit = trie_next_unit(s, name, limit);
		if (unit == TRIE_NAME_END)
			return 1;
		if (s->state == TRIE_IN_SEGMENT)
			return trie_step_segment(s, trie, unit);
		s->unit = unit;
		s->branches = trie_word(trie, s->place, trie->count);
		s->low = 0;
		s->high = s->branches;
		s->state = TRIE_IN_NODE;
		if (s->branches > TRIE_BRANCHES_MAX)
			return 1;
	}
	if (s->low >= s->high)
		return 1;
	middle = (s->low + s->high) / 2;
	unit = trie_word(trie, s->place + 1 + middle, trie->count);
	if (unit == s->unit)
		return trie_follow(s, trie, middle);
	if (unit < s->unit)
		s->low = middle + 1;
	else
		s->high = middle;
	return 0;
}

/* No search in a name of len bytes takes more steps: each unit finds its branch in 16. */
TRIE_INLINE __u32 trie_steps_max(__u32 len)
{
	return len * 17 + 1;
}

#endif
