/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_find.h"

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

	if (left < 2 || (at[1] & 0xc0) != 0x80)
		return TRIE_NAME_END;
	if ((at[0] & 0xe0) == 0xc0) {
		n->at = at + 2;
		return (uint32_t)(at[0] & 0x1f) << 6 | (at[1] & 0x3f);
	}
	if (left < 3 || (at[0] & 0xf0) != 0xe0 || (at[2] & 0xc0) != 0x80)
		return TRIE_NAME_END;
	n->at = at + 3;
	return (uint32_t)(at[0] & 0xf) << 12 | (uint32_t)(at[1] & 0x3f) << 6 | (at[2] & 0x3f);
}

static inline uint32_t next_unit(struct name *n)
{
	uint8_t first;

	if (n->at == n->end)
		return TRIE_NAME_END;
	first = *n->at;
	if (first >= 0x80)
		return next_long_unit(n);
	n->at++;
	return first == '/' ? '.' : first;
}

/* Which of the branches is the unit, or their number when none. */
static inline uint32_t find_branch(const uint16_t *branches, uint32_t count, uint32_t unit)
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

static uint32_t resolve(const struct trie *trie, uint32_t jump)
{
	const uint16_t *halves = trie->units + trie->count;

	if (jump < TRIE_LONG_JUMP)
		return jump;
	halves += 2 * (size_t)(jump - TRIE_LONG_JUMP);
	return halves[0] | (uint32_t)halves[1] << 16;
}

static inline bool read_segment(struct name *n, const uint16_t *segment, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		if (next_unit(n) != segment[i])
			return false;
	}
	return true;
}

static inline int better(const struct name *n, uint32_t value, int result)
{
	return n->at == n->end || (value & TRIE_GLOB) ? (int)(value & TRIE_NUMBER) : result;
}

int trie_find(const struct trie *trie, const void *name, size_t len, size_t from)
{
	const uint16_t *at = trie->units;
	struct name n = { .at = name, .end = (const uint8_t *)name + len };
	uint32_t unit, branches, branch, value;
	int result = TRIE_NONE;

	n.at += from < len ? from : len;
	for (;;) {
		unit = next_unit(&n);
		branches = at[0];
		branch = find_branch(at + 1, branches, unit);
		if (branch == branches)
			return result;
		value = at[1 + branches + branch];
		if (branch)
			at += resolve(trie, at[2 * branches + branch]);
		at += 3 * branches;
		if (value & (TRIE_LEAF | TRIE_BUD)) {
			result = better(&n, value, result);
			if (value & TRIE_LEAF)
				return result;
			continue;
		}
		if (value == 0)
			continue;
		if ((size_t)(n.end - n.at) < value || !read_segment(&n, at, value))
			return result;
		at += value;
		if (*at & TRIE_LEAF)
			return better(&n, *at, result);
	}
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
