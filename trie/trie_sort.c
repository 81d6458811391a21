/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trie/trie_build.h"

/*
 * Class names share long prefixes, so comparing whole keys would read the same units over and over.
 * Instead three units are looked at a time: a range is sorted by them, and only those that are
 * equal are sorted by the next three.
 */
#define CHUNK_UNITS  3
#define INSERTED_MAX 64 /* items for which a simple sort is the fastest */

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct item {
	uint64_t chunk; /* three units, and in the low bits how many there are: a prefix is first */
	uint32_t rule;	/* its index */
};

static uint64_t chunk_at(const struct trie_rules *rules, uint32_t rule, size_t depth)
{
	const struct trie_rule *r = &rules->items[rule];
	const uint16_t *key = rules->units + r->start;
	uint64_t chunk = 0;
	size_t i;

	for (i = 0; i < CHUNK_UNITS && depth + i < r->len; i++)
		chunk |= (uint64_t)key[depth + i] << (48 - 16 * i);
	return chunk | i;
}

/* Whether items first.. are still to be told apart: equal chunks with units behind them. */
static bool load_chunks(const struct trie_rules *rules, struct item *items, size_t count,
			size_t depth)
{
	bool equal = true;

	for (size_t i = 0; i < count; i++) {
		items[i].chunk = chunk_at(rules, items[i].rule, depth);
		equal &= items[i].chunk == items[0].chunk;
	}
	return equal;
}

static bool is_whole(uint64_t chunk)
{
	return (chunk & 3) < CHUNK_UNITS;
}

/* Stable, as all here: equal keys stay in the order they were added. */
static void insert_in_order(struct item *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct item item = items[i];
		size_t to = i;

		for (; to > 0 && items[to - 1].chunk > item.chunk; to--)
			items[to] = items[to - 1];
		items[to] = item;
	}
}

/* One pass of a radix sort, by the byte at "shift". */
static void distribute(struct item *items, struct item *spare, size_t count, unsigned int shift)
{
	size_t ends[256] = { 0 }, sum = 0;

	for (size_t i = 0; i < count; i++)
		ends[items[i].chunk >> shift & 0xff]++;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		sum += ends[i];
		ends[i] = sum - ends[i];
	}
	for (size_t i = 0; i < count; i++)
		spare[ends[items[i].chunk >> shift & 0xff]++] = items[i];
	memcpy(items, spare, count * sizeof(*items));
}

static void sort_chunks(struct item *items, struct item *spare, size_t count)
{
	uint64_t differing = 0;

	if (count <= INSERTED_MAX) {
		insert_in_order(items, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		differing |= items[i].chunk ^ items[0].chunk;
	for (unsigned int shift = 0; shift < 64; shift += 8) {
		if (differing >> shift & 0xff)
			distribute(items, spare, count, shift);
	}
}

/* Recursion ends after TRIE_NAME_MAX / 3 levels, and each is over fewer items. */
static void sort_range(const struct trie_rules *rules, struct item *items, struct item *spare,
		       size_t count, size_t depth)
{
	size_t first = 0, end;

	while (load_chunks(rules, items, count, depth) && !is_whole(items[0].chunk))
		depth += CHUNK_UNITS;
	sort_chunks(items, spare, count);

	for (; first < count; first = end) {
		end = first + 1;
		while (end < count && items[end].chunk == items[first].chunk)
			end++;
		if (end - first > 1 && !is_whole(items[first].chunk))
			sort_range(rules, items + first, spare, end - first, depth + CHUNK_UNITS);
	}
}

static bool same_key(const struct trie_rules *rules, const struct trie_rule *a,
		     const struct trie_rule *b)
{
	return a->len == b->len &&
	       !memcmp(rules->units + a->start, rules->units + b->start, a->len * sizeof(uint16_t));
}

/* One rule for each key. The items are sorted, equal keys in the order they were added. */
static size_t merge(const struct trie_rules *rules, struct trie_rule *items, trie_again_fn *again,
		    void *ctx)
{
	size_t kept = 0;

	for (size_t i = 1; i < rules->count; i++) {
		struct trie_rule *last = &items[kept], *rule = &items[i];

		if (!same_key(rules, last, rule)) {
			items[++kept] = *rule;
			continue;
		}
		if (again && ((last->number ^ rule->number) & TRIE_NUMBER))
			again(rules, last, rule, ctx);
		rule->number |= last->number & TRIE_GLOB;
		*last = *rule;
	}
	return kept + 1;
}

int trie_rules_sort(struct trie_rules *rules, trie_again_fn *again, void *ctx)
{
	struct item *items, *spare;
	struct trie_rule *sorted;
	int err = -ENOMEM;

	if (rules->count < 2)
		return 0;
	items = calloc(rules->count, sizeof(*items));
	spare = calloc(rules->count, sizeof(*spare));
	sorted = calloc(rules->count, sizeof(*sorted));
	if (!items || !spare || !sorted)
		goto out;
	for (size_t i = 0; i < rules->count; i++)
		items[i].rule = (uint32_t)i;
	sort_range(rules, items, spare, rules->count, 0);
	for (size_t i = 0; i < rules->count; i++)
		sorted[i] = rules->items[items[i].rule];

	free(rules->items);
	rules->items = sorted;
	rules->capacity = rules->count;
	sorted = NULL;
	rules->count = merge(rules, rules->items, again, ctx);
	err = 0;
out:
	free(items);
	free(spare);
	free(sorted);
	return err;
}

static int reserve_units(struct trie_rules *rules, size_t more)
{
	size_t capacity = rules->unit_capacity ? rules->unit_capacity * 2 : 4096;
	uint16_t *units;

	if (rules->unit_count + more > UINT32_MAX)
		return -E2BIG;
	if (rules->unit_count + more <= rules->unit_capacity)
		return 0;
	while (capacity < rules->unit_count + more)
		capacity *= 2;
	units = reallocarray(rules->units, capacity, sizeof(*units));
	if (!units)
		return -ENOMEM;
	rules->units = units;
	rules->unit_capacity = capacity;
	return 0;
}

static int reserve_rule(struct trie_rules *rules)
{
	size_t capacity = rules->capacity ? rules->capacity * 2 : 64;
	struct trie_rule *items;

	if (rules->count < rules->capacity)
		return 0;
	items = reallocarray(rules->items, capacity, sizeof(*items));
	if (!items)
		return -ENOMEM;
	rules->items = items;
	rules->capacity = capacity;
	return 0;
}

int trie_rules_add(struct trie_rules *rules, const uint16_t *name, size_t len, uint32_t number,
		   uint32_t line)
{
	struct trie_rule rule = { .line = line, .number = (uint16_t)number };
	uint16_t *key;
	int err;

	if (len == 0 || name[0] == '*')
		return -EINVAL;
	if (len > TRIE_NAME_MAX)
		return -ENAMETOOLONG;
	if (number > TRIE_NUMBER)
		return -ERANGE;
	if (name[len - 1] == '*') {
		rule.number |= TRIE_GLOB;
		len--;
	}
	err = reserve_units(rules, len);
	if (!err)
		err = reserve_rule(rules);
	if (err)
		return err;

	key = rules->units + rules->unit_count;
	for (size_t i = 0; i < len; i++)
		key[i] = name[i] == '/' ? '.' : name[i];
	rule.start = (uint32_t)rules->unit_count;
	rule.len = (uint16_t)len;
	rules->unit_count += len;
	rules->items[rules->count++] = rule;
	return 0;
}

void trie_rules_free(struct trie_rules *rules)
{
	free(rules->units);
	free(rules->items);
	*rules = (struct trie_rules){ 0 };
}
