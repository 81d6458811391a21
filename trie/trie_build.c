/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_build.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX (1u << 31)

/* A node whose contents are being written. */
struct node {
	uint32_t place;	   /* of its branch count */
	uint32_t contents; /* of the content of its first branch */
	uint32_t branches;
	uint32_t branch; /* next to be written */
	size_t next;	 /* first rule of that branch */
	size_t end;	 /* behind the rules of the node */
	uint32_t depth;	 /* units of the key above the node */
};

struct builder {
	const struct trie_rules *rules;
	uint16_t *units;
	size_t count;
	size_t capacity;
	uint32_t *long_jumps;
	uint32_t long_count;
	struct node *nodes; /* from the root to the one being written */
	size_t node_count;
	size_t node_capacity;
};

static const uint16_t *key_of(const struct builder *b, size_t rule)
{
	return b->rules->units + b->rules->items[rule].start;
}

static int reserve(struct builder *b, size_t more)
{
	size_t capacity = b->capacity ? b->capacity : 1024;
	uint16_t *units;

	if (b->count + more <= b->capacity)
		return 0;
	while (capacity < b->count + more)
		capacity *= 2;
	if (capacity > WORDS_MAX)
		return -E2BIG;
	units = reallocarray(b->units, capacity, sizeof(*units));
	if (!units)
		return -ENOMEM;
	b->units = units;
	b->capacity = capacity;
	return 0;
}

/* The rules from "from" that have the same unit at depth end here. All are longer than depth. */
static size_t group_end(const struct builder *b, size_t from, size_t end, uint32_t depth)
{
	uint16_t unit = key_of(b, from)[depth];

	while (++from < end && key_of(b, from)[depth] == unit)
		;
	return from;
}

/* Writes the branches of a node with room for values and jumps, and makes it the current one. */
static int begin_node(struct builder *b, size_t from, size_t end, uint32_t depth)
{
	struct node node = {
		.place = (uint32_t)b->count, .next = from, .end = end, .depth = depth
	};
	struct node *nodes;
	int err;

	for (size_t at = from; at < end; at = group_end(b, at, end, depth))
		node.branches++;
	if (node.branches > TRIE_BRANCHES_MAX)
		return -EOVERFLOW;
	err = reserve(b, 3 * (size_t)node.branches);
	if (err)
		return err;

	b->units[b->count++] = (uint16_t)node.branches;
	for (size_t at = from; at < end; at = group_end(b, at, end, depth))
		b->units[b->count++] = key_of(b, at)[depth];
	memset(b->units + b->count, 0, (2 * node.branches - 1) * sizeof(*b->units));
	b->count += 2 * node.branches - 1;
	node.contents = (uint32_t)b->count;

	if (b->node_count == b->node_capacity) {
		b->node_capacity = b->node_capacity ? b->node_capacity * 2 : 64;
		nodes = reallocarray(b->nodes, b->node_capacity, sizeof(*nodes));
		if (!nodes)
			return -ENOMEM;
		b->nodes = nodes;
	}
	b->nodes[b->node_count++] = node;
	return 0;
}

static int set_jump(struct builder *b, const struct node *node)
{
	uint32_t jump = (uint32_t)b->count - node->contents;
	uint16_t *unit = &b->units[node->place + 2 * node->branches + node->branch];

	if (node->branch == 0)
		return 0;
	if (jump < TRIE_LONG_JUMP) {
		*unit = (uint16_t)jump;
		return 0;
	}
	if (b->long_count == TRIE_LONG_MAX)
		return -E2BIG;
	*unit = (uint16_t)(TRIE_LONG_JUMP | b->long_count);
	b->long_jumps[b->long_count++] = jump;
	return 0;
}

/* How many units the first and the last key of a sorted range, and so all, have in common. */
static uint32_t common_prefix(const struct builder *b, size_t first, size_t last, uint32_t from)
{
	const uint16_t *one = key_of(b, first), *other = key_of(b, last);
	uint32_t len = b->rules->items[first].len;

	while (from < len && one[from] == other[from])
		from++;
	return from;
}

/* The content of one branch, whose rules are first..end - 1. */
static int write_branch(struct builder *b, struct node *node, size_t first, size_t end)
{
	const struct trie_rule *rule = &b->rules->items[first];
	uint16_t *value = &b->units[node->place + 1 + node->branches + node->branch - 1];
	const uint16_t *key = key_of(b, first);
	uint32_t depth = node->depth + 1;
	bool alone = first + 1 == end;
	uint32_t until = rule->len;
	int err;

	if (rule->len == depth) {
		*value = (uint16_t)((alone ? TRIE_LEAF : TRIE_BUD) | rule->number);
		return alone ? 0 : begin_node(b, first + 1, end, depth);
	}
	if (!alone) {
		/* A segment cannot end in a bud: its last unit becomes a branch that can. */
		until = common_prefix(b, first, end - 1, depth);
		if (until == rule->len)
			until--;
	}
	*value = (uint16_t)(until - depth);
	err = reserve(b, until - depth + 1);
	if (err)
		return err;
	memcpy(b->units + b->count, key + depth, (until - depth) * sizeof(*key));
	b->count += until - depth;
	if (!alone)
		return begin_node(b, first, end, until);
	b->units[b->count++] = (uint16_t)(TRIE_LEAF | rule->number);
	return 0;
}

static int write_nodes(struct builder *b)
{
	struct node *node;
	size_t first;
	int err = 0;

	while (!err && b->node_count) {
		node = &b->nodes[b->node_count - 1];
		if (node->branch == node->branches) {
			b->node_count--;
			continue;
		}
		err = set_jump(b, node);
		if (err)
			break;
		first = node->next;
		node->next = group_end(b, first, node->end, node->depth);
		node->branch++;
		err = write_branch(b, node, first, node->next);
	}
	return err;
}

static int append_long_jumps(struct builder *b)
{
	int err = reserve(b, 2 * (size_t)b->long_count);

	if (err)
		return err;
	for (size_t i = 0; i < b->long_count; i++) {
		b->units[b->count + 2 * i] = (uint16_t)b->long_jumps[i];
		b->units[b->count + 2 * i + 1] = (uint16_t)(b->long_jumps[i] >> 16);
	}
	return 0;
}

int trie_build(const struct trie_rules *rules, struct trie_words *out)
{
	struct builder b = { .rules = rules };
	int err;

	b.long_jumps = calloc(TRIE_LONG_MAX, sizeof(*b.long_jumps));
	err = b.long_jumps ? reserve(&b, 1) : -ENOMEM;
	if (err)
		goto out;
	if (rules->count) {
		err = begin_node(&b, 0, rules->count, 0);
		if (!err)
			err = write_nodes(&b);
	} else {
		b.units[b.count++] = 0;
	}
	if (!err)
		err = append_long_jumps(&b);
	if (err)
		goto out;

	*out = (struct trie_words){ b.units, (uint32_t)b.count, b.long_count };
	b.units = NULL;
out:
	free(b.units);
	free(b.long_jumps);
	free(b.nodes);
	return err;
}

void trie_words_free(struct trie_words *words)
{
	free(words->units);
	*words = (struct trie_words){ 0 };
}
