/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/trie_rivals.h"

#include <stdbool.h>
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

/* ---- all keys in a hash table, asked for each beginning of the name that may be one */

struct hashed {
	struct keys *keys;
	uint32_t *slots; /* number of a key + 1; 0 free */
	uint32_t mask;
	uint32_t len_max;
	bool *odd_len; /* by length: a prefix ends there, and not with '.' or '$' */
};

/* Of a beginning that is one byte longer. */
static uint32_t hash_on(uint32_t hash, uint8_t c)
{
	return (hash ^ c) * 16777619u;
}

static uint32_t hash_slot(const struct hashed *h, uint32_t hash)
{
	return (hash ^ hash >> 15) & h->mask;
}

static bool is_joint(uint8_t c)
{
	return c == '.' || c == '$';
}

static void hashed_free(void *built)
{
	struct hashed *h = built;

	if (!h)
		return;
	keys_free(h->keys);
	free(h->slots);
	free(h->odd_len);
	free(h);
}

static void hashed_add(struct hashed *h, uint32_t number)
{
	const struct key *key = &h->keys->items[number];
	uint32_t hash = 0, slot;

	for (uint32_t i = 0; i < key->len; i++)
		hash = hash_on(hash, key->bytes[i]);
	for (slot = hash_slot(h, hash); h->slots[slot]; slot = (slot + 1) & h->mask)
		;
	h->slots[slot] = number + 1;
	if ((key->number & TRIE_GLOB) && !is_joint(key->bytes[key->len - 1]))
		h->odd_len[key->len] = true;
}

static void *hashed_build(const struct trie *trie)
{
	struct hashed *h = calloc(1, sizeof(*h));
	uint32_t slots = 4;

	if (!h)
		return NULL;
	h->keys = keys_build(trie);
	while (h->keys && slots < 2 * h->keys->count)
		slots *= 2;
	h->mask = slots - 1;
	for (size_t i = 0; h->keys && i < h->keys->count; i++) {
		if (h->keys->items[i].len > h->len_max)
			h->len_max = h->keys->items[i].len;
	}
	h->slots = calloc(slots, sizeof(*h->slots));
	h->odd_len = calloc(h->len_max + 1, sizeof(*h->odd_len));
	if (!h->keys || !h->slots || !h->odd_len) {
		hashed_free(h);
		return NULL;
	}
	for (size_t i = 0; i < h->keys->count; i++)
		hashed_add(h, (uint32_t)i);
	return h;
}

static size_t hashed_size(const void *built)
{
	const struct hashed *h = built;

	return sizeof(*h) + keys_size(h->keys) + (h->mask + 1) * sizeof(*h->slots) + h->len_max + 1;
}

/* The number of the key that is the first len bytes of the name; TRIE_NONE if it does not count. */
static int hashed_ask(const struct hashed *h, uint32_t hash, const uint8_t *name, size_t len,
		      bool whole)
{
	for (uint32_t slot = hash_slot(h, hash); h->slots[slot]; slot = (slot + 1) & h->mask) {
		const struct key *key = &h->keys->items[h->slots[slot] - 1];

		if (key->len == len && !keys_compare(key, name, len))
			return keys_take(key, whole ? len : len + 1);
	}
	return TRIE_NONE;
}

static int hashed_find(const void *built, const uint8_t *name, size_t len)
{
	const struct hashed *h = built;
	int result = TRIE_NONE;
	uint32_t hash = 0;

	for (size_t i = 0; i < len && i < h->len_max; i++) {
		uint8_t c = fold(name[i]);
		int number;

		hash = hash_on(hash, c);
		if (!is_joint(c) && !h->odd_len[i + 1] && i + 1 != len)
			continue;
		number = hashed_ask(h, hash, name, i + 1, i + 1 == len);
		if (number != TRIE_NONE)
			result = number;
	}
	return result;
}

/* ---- a trie of nodes and pointers, with a sorted list of its children in each */

struct twig {
	struct twig **children; /* owned, ascending */
	uint32_t count;
	int32_t number; /* TRIE_NONE: no key ends here */
	uint16_t glob;
	uint8_t unit;
};

static void twig_free(void *built)
{
	struct twig *twig = built;

	if (!twig)
		return;
	for (uint32_t i = 0; i < twig->count; i++)
		twig_free(twig->children[i]);
	free(twig->children);
	free(twig);
}

static struct twig *new_twig(uint8_t unit)
{
	struct twig *twig = calloc(1, sizeof(*twig));

	if (twig) {
		twig->unit = unit;
		twig->number = TRIE_NONE;
	}
	return twig;
}

/* Keys come in order, so a child that is not the last one is new, and is the last from now on. */
static struct twig *twig_child(struct twig *twig, uint8_t unit)
{
	struct twig **larger;

	if (twig->count && twig->children[twig->count - 1]->unit == unit)
		return twig->children[twig->count - 1];
	larger = reallocarray(twig->children, twig->count + 1, sizeof(struct twig *));
	if (!larger)
		return NULL;
	twig->children = larger;
	twig->children[twig->count] = new_twig(unit);
	return twig->children[twig->count] ? twig->children[twig->count++] : NULL;
}

static int twig_add(const uint16_t *key, size_t len, uint32_t number, void *ctx)
{
	struct twig *twig = ctx;

	for (size_t i = 0; i < len && twig; i++)
		twig = twig_child(twig, (uint8_t)key[i]);
	if (!twig)
		return -1;
	twig->number = (int32_t)(number & TRIE_NUMBER);
	twig->glob = number & TRIE_GLOB;
	return 0;
}

static void *twig_build(const struct trie *trie)
{
	struct twig *root = new_twig(0);
	struct trie_visitor adds = { .key = twig_add, .ctx = root };
	struct trie_walk_end end;

	if (root && !trie_walk(trie, &adds, &end))
		return root;
	twig_free(root);
	return NULL;
}

static size_t twig_size(const void *built)
{
	const struct twig *twig = built;
	size_t size = sizeof(*twig) + twig->count * sizeof(*twig->children);

	for (uint32_t i = 0; i < twig->count; i++)
		size += twig_size(twig->children[i]);
	return size;
}

static const struct twig *twig_branch(const struct twig *twig, uint8_t unit)
{
	uint32_t low = 0, high = twig->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (twig->children[middle]->unit < unit)
			low = middle + 1;
		else
			high = middle;
	}
	return low < twig->count && twig->children[low]->unit == unit ? twig->children[low] : NULL;
}

static int twig_find(const void *built, const uint8_t *name, size_t len)
{
	const struct twig *twig = built;
	int result = TRIE_NONE;

	for (size_t i = 0; i < len; i++) {
		twig = twig_branch(twig, fold(name[i]));
		if (!twig)
			return result;
		if (twig->number != TRIE_NONE && (twig->glob || i + 1 == len))
			result = twig->number;
	}
	return result;
}

const struct rival trie_rivals[] = {
	{ TRIE_RIVAL_PLAIN, plain_build, plain_find, plain_size, free },
	{ TRIE_RIVAL_SORTED, keys_build, sorted_find, keys_size, keys_free },
	{ "pointer trie, 128 children a node", nodes_build, nodes_find, nodes_size, nodes_free },
	{ "pointer trie, sorted lists of children", twig_build, twig_find, twig_size, twig_free },
	{ "hash of all beginnings", hashed_build, hashed_find, hashed_size, hashed_free },
	{ "every key in turn", keys_build, linear_find, keys_size, keys_free },
	{ 0 },
};
