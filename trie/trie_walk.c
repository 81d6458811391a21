/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_walk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OLD_LONG_JUMP 0x8000u

/* A node whose branches are being visited. */
struct visit {
	uint32_t place;	   /* of its branch count */
	uint32_t contents; /* of the first content */
	uint32_t branches;
	uint32_t branch; /* the next */
	uint32_t key_len;
};

struct walk {
	const struct trie *trie;
	const struct trie_visitor *visitor;
	struct trie_walk_end *end;
	uint32_t place;	      /* next unit that was not read */
	struct visit *visits; /* owned; from the root to the node being visited */
	uint32_t depth;
	uint32_t capacity;
	uint16_t key[TRIE_NAME_MAX + 1];
};

static int fail(struct walk *w, uint32_t place, const char *problem)
{
	w->end->place = place;
	w->end->problem = problem;
	return -EINVAL;
}

static uint32_t left(const struct walk *w)
{
	return w->trie->count - w->place;
}

static bool is_long(const struct trie *trie, uint32_t id, uint32_t distance)
{
	const uint16_t *halves = trie->units + trie->count + 2 * (size_t)id;

	return id < trie->long_count && (halves[0] | (uint32_t)halves[1] << 16) == distance;
}

/* Which encodings make the unit this distance. */
static unsigned int encodings_of(const struct trie *trie, uint32_t unit, uint32_t distance)
{
	unsigned int jumps = 0;

	if (unit < TRIE_LONG_JUMP ? unit == distance
				  : is_long(trie, unit - TRIE_LONG_JUMP, distance))
		jumps |= TRIE_JUMPS_NEW;
	if (unit < OLD_LONG_JUMP ? unit == distance : is_long(trie, unit - OLD_LONG_JUMP, distance))
		jumps |= TRIE_JUMPS_OLD;
	return jumps;
}

static int check_jump(struct walk *w, const struct visit *v)
{
	uint32_t at = v->place + 2 * v->branches + v->branch;
	uint32_t distance = w->place - v->contents;

	w->end->jumps &= encodings_of(w->trie, w->trie->units[at], distance);
	if (!w->end->jumps)
		return fail(w, at, "the jump does not lead to the content of its branch");
	if (w->visitor->jump)
		return w->visitor->jump(at, distance, w->visitor->ctx);
	return 0;
}

static int visit_key(struct walk *w, uint32_t len, uint32_t value)
{
	w->end->keys++;
	if (!w->visitor->key)
		return 0;
	return w->visitor->key(w->key, len, value & (TRIE_GLOB | TRIE_NUMBER), w->visitor->ctx);
}

/* No key is longer than a name, and each node on the way to it adds a unit: that is the limit. */
static int push_visit(struct walk *w, const struct visit *v)
{
	uint32_t capacity = w->capacity ? 2 * w->capacity : 16;
	struct visit *visits;

	if (w->depth == w->capacity) {
		visits = reallocarray(w->visits, capacity, sizeof(*visits));
		if (!visits)
			return -ENOMEM;
		w->visits = visits;
		w->capacity = capacity;
	}
	w->visits[w->depth++] = *v;
	return 0;
}

static int begin_node(struct walk *w, uint32_t key_len)
{
	const uint16_t *units = w->trie->units;
	struct visit v = { .place = w->place, .key_len = key_len };

	if (left(w) == 0)
		return fail(w, w->place, "a node is missing");
	v.branches = units[w->place];
	if (v.branches == 0 || v.branches > TRIE_BRANCHES_MAX)
		return fail(w, w->place, "no node has so many branches");
	if (left(w) < 3 * v.branches)
		return fail(w, w->place, "the node does not fit");
	for (uint32_t i = 1; i < v.branches; i++) {
		if (units[w->place + i] >= units[w->place + i + 1])
			return fail(w, w->place + i, "the branches are not in order");
	}
	w->place += 3 * v.branches;
	v.contents = w->place;
	return push_visit(w, &v);
}

/* The segment of a branch, and the result or the node behind it. */
static int visit_segment(struct walk *w, uint32_t key_len, uint32_t len)
{
	uint32_t value;

	if (left(w) <= len)
		return fail(w, w->place, "the segment does not fit");
	if (key_len + len > TRIE_NAME_MAX)
		return fail(w, w->place, "a key is too long");
	memcpy(w->key + key_len, w->trie->units + w->place, len * sizeof(*w->key));
	w->place += len;
	value = w->trie->units[w->place];
	if (len == 0 || !(value & TRIE_LEAF))
		return begin_node(w, key_len + len);
	if (value & TRIE_BUD)
		return fail(w, w->place, "a segment cannot end in a bud");
	w->place++;
	return visit_key(w, key_len + len, value);
}

static int visit_branch(struct walk *w, const struct visit *v)
{
	const uint16_t *units = w->trie->units + v->place;
	uint32_t value = units[1 + v->branches + v->branch];
	int err = v->branch ? check_jump(w, v) : 0;

	if (err)
		return err;
	if (v->key_len >= TRIE_NAME_MAX)
		return fail(w, v->place, "a key is too long");
	w->key[v->key_len] = units[1 + v->branch];
	if (!(value & (TRIE_LEAF | TRIE_BUD)))
		return visit_segment(w, v->key_len + 1, value);
	if ((value & TRIE_LEAF) && (value & TRIE_BUD))
		return fail(w, v->place, "a branch is leaf and bud");
	err = visit_key(w, v->key_len + 1, value);
	if (err || (value & TRIE_LEAF))
		return err;
	return begin_node(w, v->key_len + 1);
}

static int walk_nodes(struct walk *w)
{
	struct visit *v, now;
	int err = begin_node(w, 0);

	while (!err && w->depth) {
		v = &w->visits[w->depth - 1];
		if (v->branch == v->branches) {
			w->depth--;
			continue;
		}
		now = *v;
		v->branch++;
		err = visit_branch(w, &now);
	}
	if (!err && left(w))
		err = fail(w, w->place, "there are units behind the last node");
	return err;
}

int trie_walk(const struct trie *trie, const struct trie_visitor *visitor,
	      struct trie_walk_end *end)
{
	struct walk *w;
	int err;

	*end = (struct trie_walk_end){ .jumps = TRIE_JUMPS_NEW | TRIE_JUMPS_OLD };
	if (trie->count == 1 && trie->units[0] == 0)
		return 0;
	w = malloc(sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->trie = trie;
	w->visitor = visitor;
	w->end = end;
	w->place = w->depth = w->capacity = 0;
	w->visits = NULL;
	err = walk_nodes(w);
	free(w->visits);
	free(w);
	return err;
}

/* ---- words from elsewhere */

struct rewrite {
	uint16_t *units;
	uint32_t *long_jumps;
	uint32_t long_count;
	uint32_t long_max;
};

static int rewrite_jump(uint32_t place, uint32_t distance, void *ctx)
{
	struct rewrite *r = ctx;

	if (distance < TRIE_LONG_JUMP) {
		r->units[place] = (uint16_t)distance;
		return 0;
	}
	if (r->long_count == r->long_max)
		return -E2BIG;
	r->units[place] = (uint16_t)(TRIE_LONG_JUMP | r->long_count);
	r->long_jumps[r->long_count++] = distance;
	return 0;
}

static void append_long_jumps(uint16_t *units, uint32_t count, const uint32_t *long_jumps,
			      uint32_t long_count)
{
	for (size_t i = 0; i < long_count; i++) {
		units[count + 2 * i] = (uint16_t)long_jumps[i];
		units[count + 2 * i + 1] = (uint16_t)(long_jumps[i] >> 16);
	}
}

/* How many long jumps there can be: a branch takes three units. */
static uint32_t long_jumps_max(uint32_t count)
{
	return count / 3 < TRIE_LONG_MAX ? count / 3 : TRIE_LONG_MAX;
}

/* Walks "from" and writes its jumps anew into *out, which has a copy of the units. */
static int rewrite(const struct trie *from, struct trie_words *out, struct trie_walk_end *end)
{
	struct rewrite r = { .units = out->units, .long_max = long_jumps_max(out->count) };
	struct trie_visitor visitor = { .jump = rewrite_jump, .ctx = &r };
	int err = -ENOMEM;

	r.long_jumps = calloc(r.long_max + 1, sizeof(*r.long_jumps));
	if (r.long_jumps)
		err = trie_walk(from, &visitor, end);
	if (!err) {
		append_long_jumps(out->units, out->count, r.long_jumps, r.long_count);
		out->long_count = r.long_count;
	}
	free(r.long_jumps);
	return err;
}

int trie_adopt(const uint16_t *units, uint32_t count, const uint32_t *long_jumps,
	       uint32_t long_count, struct trie_words *out, struct trie_walk_end *end)
{
	/* Of a hostile table only as many count as there can be jumps. */
	uint32_t usable = long_count < OLD_LONG_JUMP ? long_count : OLD_LONG_JUMP;
	struct trie_words from = { 0 }, to = { 0 };
	struct trie trie;
	int err = -ENOMEM;

	*end = (struct trie_walk_end){ 0 };
	from.units = calloc(count + 2 * (size_t)usable + 1, sizeof(*from.units));
	to.units = calloc(count + 2 * (size_t)long_jumps_max(count) + 1, sizeof(*to.units));
	if (!from.units || !to.units)
		goto out;
	memcpy(from.units, units, count * sizeof(*units));
	append_long_jumps(from.units, count, long_jumps, usable);
	memcpy(to.units, units, count * sizeof(*units));
	to.count = count;
	trie = (struct trie){ from.units, count, usable };
	err = rewrite(&trie, &to, end);
	if (err)
		goto out;

	*out = to;
	to.units = NULL;
out:
	free(from.units);
	free(to.units);
	return err;
}
