/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_find.h"

/*
 * Fast means few instructions and branches that are guessed right. Most nodes have few branches,
 * and a scan whose end the processor guesses does not wait for the compares, where a binary search
 * does: measured, it takes two thirds of the time (bench/trie_bench.c).
 */
#define SCANNED_MAX 32 /* branches of a node that is scanned; more are halved */

/* A name being read. */
struct name {
	const uint8_t *at;
	const uint8_t *end;
};

/* One step of modified UTF-8: see trie_next_unit(), of which this is the form without state. */
static uint32_t next_long_unit(struct name *n)
{
	const uint8_t *at = n->at;
	size_t left = (size_t)(n->end - at);
	uint32_t unit;

	if (left < 2 || (at[1] & 0xc0) != 0x80)
		return TRIE_NAME_END;
	if ((at[0] & 0xe0) == 0xc0) {
		unit = (uint32_t)(at[0] & 0x1f) << 6 | (at[1] & 0x3f);
		n->at = at + 2;
		return unit && unit < 0x80 ? TRIE_NAME_END : unit;
	}
	if (left < 3 || (at[0] & 0xf0) != 0xe0 || (at[2] & 0xc0) != 0x80)
		return TRIE_NAME_END;
	unit = (uint32_t)(at[0] & 0xf) << 12 | (uint32_t)(at[1] & 0x3f) << 6 | (at[2] & 0x3f);
	n->at = at + 3;
	return unit < 0x800 ? TRIE_NAME_END : unit;
}

static inline uint32_t next_unit(struct name *n)
{
	uint8_t first;

	if (n->at == n->end)
		return TRIE_NAME_END;
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
static inline uint32_t scan(const uint16_t *branches, uint32_t count, uint32_t unit)
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

static inline uint32_t resolve(const struct trie *trie, uint32_t jump)
{
	const uint16_t *halves = trie->units + trie->count;

	if (jump < TRIE_LONG_JUMP)
		return jump;
	halves += 2 * (size_t)(jump - TRIE_LONG_JUMP);
	return halves[0] | (uint32_t)halves[1] << 16;
}

/* A branch of a node: what it says, and its content. */
struct branch {
	uint32_t value;
	const uint16_t *content;
};

static inline bool find_among_many(const struct trie *trie, const uint16_t *node, uint32_t unit,
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
static inline bool find_branch(const struct trie *trie, const uint16_t *node, uint32_t unit,
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

static inline bool read_segment(struct name *n, const uint16_t *segment, uint32_t len)
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
static inline int better(const struct name *n, uint32_t value, int result)
{
	return n->at == n->end || (value & TRIE_GLOB) ? (int)(value & TRIE_NUMBER) : result;
}

int trie_find(const struct trie *trie, const void *name, size_t len, size_t from)
{
	struct name n = { .at = name, .end = (const uint8_t *)name + len };
	const uint16_t *node = trie->units;
	int result = TRIE_NONE;
	struct branch branch;

	n.at += from < len ? from : len;
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
