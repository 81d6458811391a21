/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/trie_rivals.h"

#include <stdlib.h>
#include <string.h>

#include "trie/trie_walk.h"

static uint8_t fold(uint8_t c)
{
	return c == '/' ? '.' : c;
}

/* ---- the encoded trie as its description says it: a binary search in each node */

static void *plain_build(const struct trie *trie)
{
	struct trie *copy = malloc(sizeof(*copy));

	if (copy)
		*copy = *trie;
	return copy;
}

static size_t plain_size(const void *built)
{
	return 2 * (size_t)trie_total(built);
}

static uint32_t plain_branch(const uint16_t *branches, uint32_t count, uint32_t unit)
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

static uint32_t plain_jump(const struct trie *trie, uint32_t jump)
{
	const uint16_t *halves = trie->units + trie->count;

	if (jump < TRIE_LONG_JUMP)
		return jump;
	halves += 2 * (size_t)(jump - TRIE_LONG_JUMP);
	return halves[0] | (uint32_t)halves[1] << 16;
}

static int plain_find(const void *built, const uint8_t *name, size_t len)
{
	const struct trie *trie = built;
	const uint16_t *at = trie->units;
	int result = TRIE_NONE;
	size_t k = 0;

	while (k < len) {
		uint32_t count = at[0], value;
		uint32_t branch = plain_branch(at + 1, count, fold(name[k++]));

		if (branch == count)
			return result;
		value = at[1 + count + branch];
		at += 3 * (size_t)count +
		      (branch ? plain_jump(trie, at[2 * (size_t)count + branch]) : 0);
		if (value & (TRIE_LEAF | TRIE_BUD)) {
			if (k == len || (value & TRIE_GLOB))
				result = (int)(value & TRIE_NUMBER);
			if (value & TRIE_LEAF)
				return result;
			continue;
		}
		if (len - k < value)
			return result;
		for (uint32_t i = 0; i < value; i++) {
			if (fold(name[k++]) != *at++)
				return result;
		}
		if (value && (*at & TRIE_LEAF))
			return k == len || (*at & TRIE_GLOB) ? (int)(*at & TRIE_NUMBER) : result;
	}
	return result;
}

/* ---- the keys as a sorted list */

struct key {
	const uint8_t *bytes;
	uint32_t len;
	int32_t parent; /* the longest key this one begins with; -1 none */
	uint32_t number;
};

struct keys {
	struct key *items;
	size_t count;
	uint8_t *bytes;
	size_t size;
};

static int keys_count(const uint16_t *key, size_t len, uint32_t number, void *ctx)
{
	struct keys *keys = ctx;

	(void)key;
	(void)number;
	keys->count++;
	keys->size += len;
	return 0;
}

static int keys_add(const uint16_t *key, size_t len, uint32_t number, void *ctx)
{
	struct keys *keys = ctx;
	struct key *k = &keys->items[keys->count];
	uint8_t *to = keys->bytes + keys->size;

	for (size_t i = 0; i < len; i++)
		to[i] = (uint8_t)key[i];
	*k = (struct key){ to, (uint32_t)len, (int32_t)keys->count - 1, number };
	while (k->parent >= 0) {
		const struct key *parent = &keys->items[k->parent];

		if (parent->len < len && !memcmp(parent->bytes, to, parent->len))
			break;
		k->parent = parent->parent;
	}
	keys->count++;
	keys->size += len;
	return 0;
}

static void keys_free(void *built)
{
	struct keys *keys = built;

	if (!keys)
		return;
	free(keys->items);
	free(keys->bytes);
	free(keys);
}

static void *keys_build(const struct trie *trie)
{
	struct keys *keys = calloc(1, sizeof(*keys));
	struct trie_visitor counts = { .key = keys_count, .ctx = keys };
	struct trie_visitor adds = { .key = keys_add, .ctx = keys };
	struct trie_walk_end end;

	if (!keys || trie_walk(trie, &counts, &end))
		goto fail;
	keys->items = calloc(keys->count + 1, sizeof(*keys->items));
	keys->bytes = malloc(keys->size + 1);
	keys->count = 0;
	keys->size = 0;
	if (keys->items && keys->bytes && !trie_walk(trie, &adds, &end))
		return keys;
fail:
	keys_free(keys);
	return NULL;
}

static size_t keys_size(const void *built)
{
	const struct keys *keys = built;

	return keys->count * sizeof(*keys->items) + keys->size;
}

/* How the name compares with a key; 0 when it begins with it. */
static int keys_compare(const struct key *key, const uint8_t *name, size_t len)
{
	size_t common = key->len < len ? key->len : len;

	for (size_t i = 0; i < common; i++) {
		int difference = fold(name[i]) - key->bytes[i];

		if (difference)
			return difference;
	}
	return key->len > len ? -1 : 0;
}

static int keys_take(const struct key *key, size_t len)
{
	return (key->number & TRIE_GLOB) || key->len == len ? (int)(key->number & TRIE_NUMBER) : -1;
}

/* The last key that is not behind the name, or one that key begins with. */
static int sorted_find(const void *built, const uint8_t *name, size_t len)
{
	const struct keys *keys = built;
	size_t low = 0, high = keys->count;
	int32_t at;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (keys_compare(&keys->items[middle], name, len) >= 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (at = (int32_t)low - 1; at >= 0; at = keys->items[at].parent) {
		const struct key *key = &keys->items[at];

		if (!keys_compare(key, name, len) && keys_take(key, len) >= 0)
			return keys_take(key, len);
	}
	return TRIE_NONE;
}

static int linear_find(const void *built, const uint8_t *name, size_t len)
{
	const struct keys *keys = built;
	const struct key *best = NULL;

	for (size_t i = 0; i < keys->count; i++) {
		const struct key *key = &keys->items[i];

		if (!keys_compare(key, name, len) && keys_take(key, len) >= 0 &&
		    (!best || key->len > best->len))
			best = key;
	}
	return best ? keys_take(best, len) : TRIE_NONE;
}

/* ---- a trie of nodes and pointers, with a place for each ASCII character */

struct node {
	struct node *children[128];
	struct node *next; /* of all */
	int32_t number;	   /* TRIE_NONE: no key ends here */
	uint32_t glob;
};

struct nodes {
	struct node *root;
	struct node *all;
	size_t count;
};

static struct node *new_node(struct nodes *nodes)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->number = TRIE_NONE;
	node->next = nodes->all;
	nodes->all = node;
	nodes->count++;
	return node;
}

static int nodes_add(const uint16_t *key, size_t len, uint32_t number, void *ctx)
{
	struct nodes *nodes = ctx;
	struct node *node = nodes->root;

	for (size_t i = 0; i < len; i++) {
		struct node **child = &node->children[key[i] & 127];

		if (!*child)
			*child = new_node(nodes);
		if (!*child)
			return -1;
		node = *child;
	}
	node->number = (int32_t)(number & TRIE_NUMBER);
	node->glob = number & TRIE_GLOB;
	return 0;
}

static void nodes_free(void *built)
{
	struct nodes *nodes = built;
	struct node *next;

	for (struct node *node = nodes ? nodes->all : NULL; node; node = next) {
		next = node->next;
		free(node);
	}
	free(nodes);
}

static void *nodes_build(const struct trie *trie)
{
	struct nodes *nodes = calloc(1, sizeof(*nodes));
	struct trie_visitor adds = { .key = nodes_add, .ctx = nodes };
	struct trie_walk_end end;

	if (nodes)
		nodes->root = new_node(nodes);
	if (nodes && nodes->root && !trie_walk(trie, &adds, &end))
		return nodes;
	nodes_free(nodes);
	return NULL;
}

static size_t nodes_size(const void *built)
{
	return ((const struct nodes *)built)->count * sizeof(struct node);
}

static int nodes_find(const void *built, const uint8_t *name, size_t len)
{
	const struct node *node = ((const struct nodes *)built)->root;
	int result = TRIE_NONE;

	for (size_t i = 0; i < len; i++) {
		node = node->children[fold(name[i]) & 127];
		if (!node)
			return result;
		if (node->number != TRIE_NONE && (node->glob || i + 1 == len))
			result = node->number;
	}
	return result;
}

const struct rival trie_rivals[] = {
	{ "the words, a plain search in C", plain_build, plain_find, plain_size, free },
	{ "sorted keys, binary search", keys_build, sorted_find, keys_size, keys_free },
	{ "pointer trie, 128 children a node", nodes_build, nodes_find, nodes_size, nodes_free },
	{ "every key in turn", keys_build, linear_find, keys_size, keys_free },
	{ 0 },
};
