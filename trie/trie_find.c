/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_find.h"

#include <string.h>

/*
 * Fast means few instructions and branches that are guessed right. Most nodes have few branches,
 * and a scan whose end the processor guesses does not wait for the compares, where a binary search
 * does; segments are compared a block at a time. Measured, both together take 70 to 80 of 100 ns
 * (bench/trie_bench.c), and a vector compare of all branches at once takes more than 100: what
 * comes next is then waited for, not guessed. Everything is inline for the same reason.
 */
#define SCANNED_MAX 32 /* branches of a node that is scanned; more are halved */

#define NAME_END 0x10000u /* no unit: the name is over, or goes wrong */

/* A name being read. */
struct name {
	const uint8_t *at;
	const uint8_t *end;
};

/* Zeros behind the name are bytes that no unit has, so none reaches over its end. */
static uint32_t next_long_unit(struct name *n)
{
	size_t left = (size_t)(n->end - n->at);
	uint32_t unit =
		trie_long_unit((uint32_t)trie_window(n->at, 0, left < 8 ? (uint32_t)left : 8));

	if (!unit)
		return NAME_END;
	n->at += unit >> 16;
	return unit & 0xffff;
}

TRIE_INLINE uint32_t next_unit(struct name *n)
{
	uint8_t first;

	if (n->at == n->end)
		return NAME_END;
	first = *n->at;
	if ((uint8_t)(first - 1) >= 0x7f)
		return next_long_unit(n);
	n->at++;
	return first == '/' ? '.' : first;
}

static uint32_t halve(const uint16_t *branches, uint32_t count, uint32_t unit)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (branches[middle] < unit)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && branches[low] == unit ? low : count;
}

/* Reads up to three units behind the branches: values and jumps, of which a node has enough. */
TRIE_INLINE uint32_t scan(const uint16_t *branches, uint32_t count, uint32_t unit)
{
	for (uint32_t i = 0; i < count; i += 4) {
		if (branches[i] == unit)
			return i;
		if (branches[i + 1] == unit)
			return i + 1;
		if (branches[i + 2] == unit)
			return i + 2;
		if (branches[i + 3] == unit)
			return i + 3;
	}
	return count;
}

TRIE_INLINE uint32_t resolve(const struct trie *trie, uint32_t jump)
{
	const uint16_t *halves = trie->units + trie->count;

	if (__builtin_expect(jump < TRIE_LONG_JUMP, true))
		return jump;
	halves += 2 * (size_t)(jump - TRIE_LONG_JUMP);
	return halves[0] | (uint32_t)halves[1] << 16;
}

/* A branch of a node: what it says, and its content. */
struct branch {
	uint32_t value;
	const uint16_t *content;
};

TRIE_INLINE bool find_among_many(const struct trie *trie, const uint16_t *node, uint32_t unit,
				 struct branch *out)
{
	uint32_t count = node[0];
	uint32_t i =
		count <= SCANNED_MAX ? scan(node + 1, count, unit) : halve(node + 1, count, unit);

	if (i >= count)
		return false;
	out->value = node[1 + count + i];
	out->content = node + 3 * (size_t)count;
	if (i)
		out->content += resolve(trie, node[2 * (size_t)count + i]);
	return true;
}

/* Nodes of one and of two branches are three of four that are seen. */
TRIE_INLINE bool find_branch(const struct trie *trie, const uint16_t *node, uint32_t unit,
			     struct branch *out)
{
	if (node[0] == 1) {
		*out = (struct branch){ node[2], node + 3 };
		return node[1] == unit;
	}
	if (node[0] != 2)
		return find_among_many(trie, node, unit, out);
	if (node[1] == unit) {
		*out = (struct branch){ node[3], node + 6 };
		return true;
	}
	*out = (struct branch){ node[4], node + 6 + resolve(trie, node[5]) };
	return node[2] == unit;
}

TRIE_INLINE bool read_segment(struct name *n, const uint16_t *segment, uint32_t len)
{
	if ((size_t)(n->end - n->at) < len)
		return false;
	for (uint32_t i = 0; i < len; i++) {
		if (next_unit(n) != segment[i])
			return false;
	}
	return true;
}

/* The result in value if it counts here, else the one before. */
TRIE_INLINE int better(const struct name *n, uint32_t value, int result)
{
	return n->at == n->end || (value & TRIE_GLOB) ? (int)(value & TRIE_NUMBER) : result;
}

/* Any name, from a node on. */
static int find_from(const struct trie *trie, const uint16_t *node, struct name n, int result)
{
	struct branch branch;

	while (find_branch(trie, node, next_unit(&n), &branch)) {
		node = branch.content;
		if (branch.value & (TRIE_LEAF | TRIE_BUD)) {
			result = better(&n, branch.value, result);
			if (branch.value & TRIE_LEAF)
				break;
		} else if (branch.value) {
			if (!read_segment(&n, node, branch.value))
				break;
			node += branch.value;
			if (*node & TRIE_LEAF)
				return better(&n, *node, result);
		}
	}
	return result;
}

/* ---- far from the end of a name, and ASCII */

#define BLOCK 16 /* bytes of a name that are compared at once */

typedef uint8_t bytes_block __attribute__((vector_size(BLOCK)));
typedef uint16_t half_block __attribute__((vector_size(BLOCK)));
typedef uint64_t whole_block __attribute__((vector_size(BLOCK)));

enum same { SAME, DIFFERENT, NOT_ASCII };

TRIE_INLINE half_block load(const uint16_t *from)
{
	half_block block;

	memcpy(&block, from, sizeof(block));
	return block;
}

TRIE_INLINE bool any(half_block block)
{
	whole_block all = (whole_block)block;

	return (all[0] | all[1]) != 0;
}

/* Whether the next len bytes, 1 to BLOCK, are these units. A block of both can be read. */
TRIE_INLINE enum same compare_block(const uint8_t *at, const uint16_t *units, uint32_t len)
{
	static const uint16_t mask[2 * BLOCK] = { [0 ... BLOCK - 1] = 0xffff };
	half_block low, high;
	bytes_block bytes, zero = { 0 };

	memcpy(&bytes, at, sizeof(bytes));
	/* '/' is '.' + 1, and a byte 0, which no name has, becomes one that is not ASCII. */
	bytes += (bytes_block)((bytes == '/') | (bytes == 0));
	low = (half_block)__builtin_shufflevector(bytes, zero, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
						  21, 6, 22, 7, 23);
	high = (half_block)__builtin_shufflevector(bytes, zero, 8, 24, 9, 25, 10, 26, 11, 27, 12,
						   28, 13, 29, 14, 30, 15, 31);
	low = ((low ^ load(units)) | (low & 0x80)) & load(mask + BLOCK - len);
	high = ((high ^ load(units + BLOCK / 2)) | (high & 0x80)) &
	       load(mask + BLOCK - len + BLOCK / 2);
	if (!any(low | high))
		return SAME;
	return any((half_block)bytes & 0x8080) ? NOT_ASCII : DIFFERENT;
}

/* A whole segment. A block more than it can be read of both. */
TRIE_INLINE enum same compare(const uint8_t *at, const uint16_t *units, uint32_t len)
{
	enum same same = SAME;

	for (; len > BLOCK && same == SAME; len -= BLOCK) {
		same = compare_block(at, units, BLOCK);
		at += BLOCK;
		units += BLOCK;
	}
	return same == SAME ? compare_block(at, units, len) : same;
}

/*
 * The loop takes ASCII names while a unit and a block more are left: then no rule ends just where
 * the name does, and a block can be read. The rest is for find_from().
 */
int trie_find(const struct trie *trie, const void *name, size_t len, size_t from)
{
	struct name n = { .at = name, .end = (const uint8_t *)name + len };
	const uint16_t *node = trie->units, *last = trie->units + trie->count;
	int result = TRIE_NONE;
	struct branch branch;

	n.at += from < len ? from : len;
	while (n.end - n.at > BLOCK + 1 && (uint8_t)(*n.at - 1) < 0x7f) {
		if (!find_branch(trie, node, *n.at == '/' ? '.' : *n.at, &branch))
			return result;
		if (branch.value & (TRIE_LEAF | TRIE_BUD)) {
			if (branch.value & TRIE_GLOB)
				result = (int)(branch.value & TRIE_NUMBER);
			if (branch.value & TRIE_LEAF)
				return result;
			n.at++;
			node = branch.content;
			continue;
		}
		if (branch.value) {
			enum same same;

			if ((branch.value > BLOCK &&
			     n.end - n.at - BLOCK - 1 <= (ptrdiff_t)branch.value) ||
			    last - branch.content - BLOCK < (ptrdiff_t)branch.value)
				break;
			same = compare(n.at + 1, branch.content, branch.value);
			if (same == DIFFERENT)
				return result;
			if (same == NOT_ASCII)
				break;
			branch.content += branch.value;
			if (*branch.content & TRIE_LEAF)
				return *branch.content & TRIE_GLOB
					       ? (int)(*branch.content & TRIE_NUMBER)
					       : result;
		}
		n.at += 1 + branch.value;
		node = branch.content;
	}
	return find_from(trie, node, n, result);
}

struct trie_match trie_match(const struct trie *trie, const void *name, size_t len, size_t from)
{
	struct trie_search search;

	trie_begin(&search, (uint32_t)len, (uint32_t)len, (uint32_t)from);
	while (!trie_step(&search, trie, name, (uint32_t)len))
		;
	if (search.number == TRIE_NONE)
		return (struct trie_match){ .number = TRIE_NONE };
	return (struct trie_match){ search.number, search.matched - (uint32_t)from,
				    search.glob != 0 };
}
