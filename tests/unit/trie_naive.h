/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TRIE_NAIVE_H
#define JVMSCOPE_TRIE_NAIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trie/trie_build.h"
#include "trie/trie_find.h"
#include "trie/trie_name.h"
#include "trie/trie_walk.h"

/*
 * The rules as a person would apply them: try each, keep the longest that matches. Slow, and too
 * simple to be wrong; what all searches are compared with.
 */
struct naive_rule {
	uint16_t *key; /* owned */
	size_t len;
	uint32_t number;
	bool glob;
};

struct naive {
	struct naive_rule *rules; /* owned */
	size_t count;
};

static inline uint16_t naive_fold(uint16_t unit)
{
	return unit == '/' ? '.' : unit;
}

static inline bool naive_begins(const uint16_t *name, size_t len, const struct naive_rule *rule)
{
	if (rule->len > len)
		return false;
	for (size_t i = 0; i < rule->len; i++) {
		if (naive_fold(name[i]) != rule->key[i])
			return false;
	}
	return true;
}

static inline int naive_find(const struct naive *naive, const uint16_t *name, size_t len)
{
	const struct naive_rule *best = NULL;

	for (size_t i = 0; i < naive->count; i++) {
		const struct naive_rule *rule = &naive->rules[i];

		if (best && best->len >= rule->len)
			continue;
		if (naive_begins(name, len, rule) && (rule->glob || rule->len == len))
			best = rule;
	}
	return best && len ? (int)best->number : -1;
}

static inline void naive_put(struct naive *naive, struct naive_rule rule)
{
	for (size_t i = 0; i < naive->count; i++) {
		struct naive_rule *other = &naive->rules[i];

		if (other->len != rule.len || memcmp(other->key, rule.key, rule.len * 2))
			continue;
		other->number = rule.number;
		other->glob |= rule.glob;
		free(rule.key);
		return;
	}
	naive->rules = reallocarray(naive->rules, naive->count + 1, sizeof(*naive->rules));
	if (!naive->rules)
		abort();
	naive->rules[naive->count++] = rule;
}

static inline struct naive_rule naive_rule(const uint16_t *key, size_t len, uint32_t number)
{
	struct naive_rule rule = { calloc(len + 1, 2), len, number & TRIE_NUMBER,
				   (number & TRIE_GLOB) != 0 };

	if (!rule.key)
		abort();
	for (size_t i = 0; i < len; i++)
		rule.key[i] = naive_fold(key[i]);
	return rule;
}

/* The name of a rule, as trie_rules_add() takes it. */
static inline void naive_add(struct naive *naive, const uint16_t *name, size_t len, uint32_t number)
{
	bool glob = name[len - 1] == '*';

	naive_put(naive, naive_rule(name, len - glob, number | (glob ? TRIE_GLOB : 0)));
}

/* A visitor of trie_walk(): the keys of any trie, which cannot be there twice. */
static inline int naive_visit(const uint16_t *key, size_t len, uint32_t number, void *ctx)
{
	struct naive *naive = ctx;

	naive->rules = reallocarray(naive->rules, naive->count + 1, sizeof(*naive->rules));
	if (!naive->rules)
		abort();
	naive->rules[naive->count] = naive_rule(key, len, number);
	/* Names have no '/', so a key that has one is never matched. */
	memcpy(naive->rules[naive->count++].key, key, len * 2);
	return 0;
}

static inline void naive_free(struct naive *naive)
{
	for (size_t i = 0; i < naive->count; i++)
		free(naive->rules[i].key);
	free(naive->rules);
	*naive = (struct naive){ 0 };
}

/* A small fast generator, so that a failure can be repeated from its seed. */
static inline uint32_t naive_random(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((*state >> 33) % below);
}

#endif
