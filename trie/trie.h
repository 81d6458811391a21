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

/* ---- the search, one step at a time */

/*
 * A search that may be interrupted after each step.
 *
 * The kernel's verifier follows every value it can see through every turn of a loop. Kept in a
 * map value it sees none of them, and one step is all it has to prove: some 700 instructions,
 * whatever the trie. Each index is compared with its limit just before it is used, so an array
 * that is no trie gives a wrong answer and nothing worse.
 *
 * Each step uses up a unit of the name or halves a node: trie_steps_max() is the bound. Most do
 * more: up to four units of a segment, then a unit, and three halvings of the node.
 */
struct trie_search {
	__u32 at;      /* bytes of the name that were read */
	__u32 have;    /* bytes of the name there are to read */
	__u32 len;     /* bytes of the whole name: more than have when it was cut */
	__u32 place;   /* the node, or the next unit of the segment */
	__u32 segment; /* units that are left of it; 0 at a node */
	__u32 unit;    /* looked for among the branches low..high - 1 of a node of this many: */
	__u32 branches;
	__u32 low;
	__u32 high;    /* 0: not in a node */
	__s32 number;  /* of the best rule so far, or TRIE_NONE */
	__u32 matched; /* bytes of the name it matched */
	__u32 glob;    /* it matches longer names too */
};

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

/* The word at index. Returns whether there is one: words that are no trie lead behind their end. */
TRIE_INLINE int trie_read(const struct trie *trie, __u32 index, __u32 limit, __u32 *out)
{
	index = trie_opaque(index);
	if (index >= limit)
		return 0;
	*out = trie->units[index];
	return 1;
}

/* Bytes of the name and units of the trie are compared several at once, the first one lowest. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is the lowest");

/* Bytes that must be readable behind the limit of a name in BPF. */
#define TRIE_NAME_ROOM 8

#ifdef __bpf__
/* Eight bytes from at on: what is behind the name is of no matter. A load that may be unaligned. */
TRIE_INLINE __u64 trie_window(const __u8 *name, __u32 at, __u32 have)
{
	return *(const volatile __u64 *)(name + at);
}

TRIE_INLINE __u64 trie_four(const __u16 *units)
{
	return *(const volatile __u64 *)units;
}
#else
/* Eight bytes from at on, zeros behind the name. */
TRIE_INLINE __u64 trie_window(const __u8 *name, __u32 at, __u32 have)
{
	__u64 bytes = 0;

	if (have - at >= sizeof(bytes)) {
		__builtin_memcpy(&bytes, name + at, sizeof(bytes));
		return bytes;
	}
	for (__u32 i = 0; i < have - at; i++)
		bytes |= (__u64)name[at + i] << 8 * i;
	return bytes;
}

TRIE_INLINE __u64 trie_four(const __u16 *units)
{
	__u64 four;

	__builtin_memcpy(&four, units, sizeof(four));
	return four;
}
#endif

/* ---- units of the name */

/*
 * A unit of two or three bytes, and from bit 16 on how many they are; 0 where the name is
 * malformed: another byte, or more bytes than the unit needs. Seldom needed, so not inline: less
 * to verify.
 */
TRIE_FUNCTION __u32 trie_long_unit(__u32 bytes)
{
	__u32 unit;

	if ((bytes & 0xc0e0) == 0x80c0) {
		unit = (bytes & 0x1f) << 6 | (bytes >> 8 & 0x3f);
		return unit - 1 < 0x7f ? 0 : unit | 2 << 16;
	}
	unit = (bytes & 0xf) << 12 | (bytes >> 2 & 0xfc0) | (bytes >> 16 & 0x3f);
	return (bytes & 0xc0c0f0) != 0x8080e0 || unit < 0x800 ? 0 : unit | 3 << 16;
}

/* The next unit of the name, '/' as '.'. Returns whether there is one. */
TRIE_INLINE int trie_next_unit(struct trie_search *s, const __u8 *name, __u32 limit, __u32 *unit)
{
	__u32 at = trie_opaque(s->at), bytes;

	if (at >= s->have || at >= limit)
		return 0;
	bytes = (__u32)trie_window(name, at, s->have);
	*unit = bytes & 0xff;
	if (*unit - 1 < 0x7f) {
		s->at = at + 1;
		if (*unit == '/')
			*unit = '.';
		return 1;
	}
	bytes = trie_long_unit(bytes);
	if (!bytes || s->have - at < bytes >> 16)
		return 0;
	s->at = at + (bytes >> 16);
	*unit = bytes & 0xffff;
	return 1;
}

#define TRIE_LANES(unit) ((unit)*0x0001000100010001ull)

/* Four bytes as four units, '/' as '.'. */
TRIE_INLINE __u64 trie_spread(__u64 bytes)
{
	__u64 units = bytes & 0xffffffff;

	units = (units | units << 16) & 0x0000ffff0000ffffull;
	units = (units | units << 8) & TRIE_LANES(0xff);
	return units - ((TRIE_LANES(0x100) - (units ^ TRIE_LANES('/'))) >> 8 & TRIE_LANES(1));
}

/* A bit in each lane that is no ASCII, or 0, which no name has. */
TRIE_INLINE __u64 trie_not_ascii(__u64 units)
{
	return (units & TRIE_LANES(0x80)) | ((TRIE_LANES(0x100) - units) & TRIE_LANES(0x100));
}

enum trie_compared { TRIE_SAME, TRIE_DIFFERENT, TRIE_UNKNOWN };

/*
 * Up to four units of the segment at once, and goes on behind them when they are the same.
 * TRIE_UNKNOWN: not near an end of something, and not what is not ASCII. s->segment is not 0.
 */
TRIE_INLINE enum trie_compared trie_compare_four(struct trie_search *s, const struct trie *trie,
						 const __u8 *name, __u32 limit)
{
	__u32 at = trie_opaque(s->at), place = trie_opaque(s->place), some = s->segment;
	__u64 mask, units;

	if (some > 4)
		some = 4;
	if (trie->count < 4 || place > trie->count - 4 || at >= limit || s->have - at < some)
		return TRIE_UNKNOWN;
	mask = ~0ull >> (64 - 16 * some);
	units = trie_spread(trie_window(name, at, s->have));
	if (trie_not_ascii(units) & mask)
		return TRIE_UNKNOWN;
	if ((units ^ trie_four(trie->units + place)) & mask)
		return TRIE_DIFFERENT;
	s->at = at + some;
	s->place = place + some;
	s->segment -= some;
	return TRIE_SAME;
}

/* ---- nodes */

/* Takes the result in value if it counts here. */
TRIE_INLINE void trie_take(struct trie_search *s, __u32 value)
{
	if (s->at != s->len && !(value & TRIE_GLOB))
		return;
	s->number = (__s32)(value & TRIE_NUMBER);
	s->matched = s->at;
	s->glob = value & TRIE_GLOB;
}

/* How far the branch at s->low is from the first content. Returns whether it is there. */
TRIE_INLINE int trie_jump(const struct trie_search *s, const struct trie *trie, __u32 *jump)
{
	__u32 total = trie_total(trie), low, high, at;

	*jump = 0;
	if (s->low == 0)
		return 1;
	if (!trie_read(trie, s->place + 2 * s->branches + s->low, trie->count, jump))
		return 0;
	if (*jump < TRIE_LONG_JUMP)
		return 1;
	at = trie->count + 2 * (*jump - TRIE_LONG_JUMP);
	if (!trie_read(trie, at, total, &low) || !trie_read(trie, at + 1, total, &high))
		return 0;
	*jump = low | high << 16;
	return 1;
}

/* The unit was found at s->low: take its result, and go to its content. Returns 1 at the end. */
TRIE_INLINE int trie_follow(struct trie_search *s, const struct trie *trie)
{
	__u32 value, jump;

	if (!trie_read(trie, s->place + 1 + s->branches + s->low, trie->count, &value))
		return 1;
	s->high = 0;
	if (value & (TRIE_LEAF | TRIE_BUD)) {
		trie_take(s, value);
		if (value & TRIE_LEAF)
			return 1;
		value = 0;
	}
	/* A unit is at least a byte. */
	if (s->len - s->at < value || !trie_jump(s, trie, &jump))
		return 1;
	s->segment = value;
	s->place += 3 * s->branches + jump;
	return 0;
}

enum trie_found { TRIE_NOT_YET, TRIE_FOUND, TRIE_NOT_THERE };

/* Halves the branches that are left. TRIE_FOUND: it is the one at s->low. */
TRIE_INLINE enum trie_found trie_halve(struct trie_search *s, const struct trie *trie)
{
	__u32 low = s->low, high = s->high, middle = (low + high) / 2, unit;

	if (low >= high || !trie_read(trie, s->place + 1 + middle, trie->count, &unit))
		return TRIE_NOT_THERE;
	if (unit == s->unit) {
		s->low = middle;
		return TRIE_FOUND;
	}
	if (unit < s->unit)
		s->low = middle + 1;
	else
		s->high = middle;
	return TRIE_NOT_YET;
}

/* ---- a step */

/*
 * To the next node, and into it. Returns 1 when the search is over. Else it is in a node, or, with
 * s->high 0, there is more of the segment.
 */
TRIE_INLINE int trie_advance(struct trie_search *s, const struct trie *trie, const __u8 *name,
			     __u32 limit)
{
	enum trie_compared compared = TRIE_UNKNOWN;
	__u32 word, unit;

	if (s->segment) {
		compared = trie_compare_four(s, trie, name, limit);
		if (compared == TRIE_DIFFERENT)
			return 1;
		if (compared == TRIE_SAME && s->segment)
			return 0;
	}
	if (!trie_read(trie, s->place, trie->count, &word))
		return 1;
	/* Behind a segment, a result instead of a node. */
	if (!s->segment && word > TRIE_BRANCHES_MAX) {
		trie_take(s, word);
		return 1;
	}
	if (!trie_next_unit(s, name, limit, &unit))
		return 1;
	if (s->segment) {
		s->place++;
		s->segment--;
		return word != unit;
	}
	s->unit = unit;
	s->branches = word;
	s->low = 0;
	s->high = word;
	return word == 0;
}

/* One step. Returns 1 when the search is over: s->number is the answer. */
TRIE_INLINE int trie_step(struct trie_search *s, const struct trie *trie, const __u8 *name,
			  __u32 limit)
{
	enum trie_found found;

	if (!s->high) {
		if (trie_advance(s, trie, name, limit))
			return 1;
		if (!s->high)
			return 0;
	}
	found = trie_halve(s, trie);
	if (found == TRIE_NOT_YET)
		found = trie_halve(s, trie);
	if (found == TRIE_NOT_YET)
		found = trie_halve(s, trie);
	if (found == TRIE_FOUND)
		return trie_follow(s, trie);
	/* Read again: the verifier shall not know how they came to be. */
	return found == TRIE_NOT_THERE || s->low >= s->high;
}

/* No search in a name of len bytes takes more steps: each unit finds its branch in 16. */
TRIE_INLINE __u32 trie_steps_max(__u32 len)
{
	return len * 17 + 1;
}

#endif
