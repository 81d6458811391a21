/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_index.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trie/trie_find.h"
#include "trie/trie_name.h"
#include "trie/trie_walk.h"

#define STRIDE_MAX   8
#define SLOTS_MIN    16
#define SLOTS_MAX    (1u << 16)
#define CHILDREN_MAX 1024
#define SPREAD	     0x9e3779b97f4a7c15ull /* 2^64 divided by the golden ratio */

/* A key in bytes, as names are. */
struct key {
	const uint8_t *bytes;
	uint32_t len;
	uint32_t number; /* with TRIE_GLOB */
};

/* What may follow a state. */
struct child {
	uint64_t key;
	uint64_t compared;
	uint32_t state;
	uint32_t slot;
};

/* After some bytes: the keys first..end - 1 begin with them and go on. */
struct state {
	size_t first;
	size_t end;
	uint32_t depth;	 /* bytes */
	uint32_t stride; /* of the children */
	uint32_t child;	 /* the first */
	uint32_t children;
	uint64_t mask;
	uint16_t salt;
	int16_t number;
	uint8_t byte; /* its first, for those after the first byte */
};

struct maker {
	uint8_t *bytes; /* owned, as all that follow */
	size_t byte_count;
	struct key *keys;
	size_t key_count;
	uint32_t room; /* for states and for children */
	struct child *children;
	uint32_t child_count;
	struct state *states; /* first those after the first byte of a name */
	uint32_t state_count;
	uint32_t *order; /* of states, those with most children first */
	bool *taken;	 /* by slot */
	bool *salted;	 /* by salt */
	uint16_t next_salt;
	uint32_t hashed;      /* slots that hashes lead to */
	uint32_t first_count; /* states after the first byte */
};

/* ---- the keys, in bytes */

static bool has_slash(const uint16_t *key, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (key[i] == '/')
			return true;
	}
	return false;
}

static int count_key(const uint16_t *key, size_t len, uint32_t number, void *ctx)
{
	struct maker *m = ctx;

	(void)key;
	(void)number;
	m->byte_count += 3 * len;
	return ++m->key_count > SLOTS_MAX ? -E2BIG : 0;
}

/* A key with a '/' matches nothing, as names are read with '.'. */
static int add_key(const uint16_t *key, size_t len, uint32_t number, void *ctx)
{
	struct maker *m = ctx;
	uint8_t *to = m->bytes + m->byte_count;
	long size;

	if (has_slash(key, len))
		return 0;
	size = trie_name_from_units(key, len, to, 3 * len);
	m->keys[m->key_count++] = (struct key){ to, (uint32_t)size, number };
	m->byte_count += (size_t)size;
	return 0;
}

static int read_keys(struct maker *m, const struct trie *trie)
{
	struct trie_visitor count = { .key = count_key, .ctx = m };
	struct trie_visitor add = { .key = add_key, .ctx = m };
	struct trie_walk_end end;
	int err = trie_walk(trie, &count, &end);

	if (err)
		return err;
	m->bytes = malloc(m->byte_count + 1);
	m->keys = calloc(m->key_count + 1, sizeof(*m->keys));
	if (!m->bytes || !m->keys)
		return -ENOMEM;
	m->byte_count = 0;
	m->key_count = 0;
	return trie_walk(trie, &add, &end);
}

/* ---- states and what follows them */

/* Adds the state of keys that begin alike. The shortest may end here: then it gives the number. */
static int add_state(struct maker *m, size_t first, size_t end, uint32_t depth, int16_t number)
{
	const struct key *key = &m->keys[first];
	struct state state = { .first = first, .end = end, .depth = depth, .number = number };

	if (m->state_count == m->room)
		return -E2BIG;
	if (key->len == depth) {
		if (key->number & TRIE_GLOB)
			state.number = (int16_t)(key->number & TRIE_NUMBER);
		state.first++;
	}
	state.byte = key->bytes[0];
	m->states[m->state_count++] = state;
	return 0;
}

static size_t group_end(const struct maker *m, size_t from, size_t end, uint32_t depth,
			uint32_t len)
{
	const uint8_t *bytes = m->keys[from].bytes + depth;

	while (++from < end && !memcmp(m->keys[from].bytes + depth, bytes, len))
		;
	return from;
}

/* All bits of so many bytes, 1 to 8. */
static uint64_t stride_bits(uint32_t stride)
{
	return stride < 8 ? (1ull << 8 * stride) - 1 : ~0ull;
}

/* The distance to the nearest end of a key. */
static uint32_t stride_of(const struct maker *m, const struct state *s)
{
	uint32_t stride = STRIDE_MAX;

	for (size_t i = s->first; i < s->end; i++) {
		if (m->keys[i].len - s->depth < stride)
			stride = m->keys[i].len - s->depth;
	}
	return stride;
}

static void fill_child(struct child *child, const uint8_t *bytes, uint32_t stride)
{
	uint64_t dots = 0;

	child->key = 0;
	for (uint32_t i = 0; i < stride; i++) {
		child->key |= (uint64_t)bytes[i] << (8 * i);
		if (bytes[i] == '.')
			dots |= 1ull << (8 * i);
	}
	child->compared = stride_bits(stride) & ~dots;
	child->key &= child->compared;
}

/* Whether two children are hashed alike, because they differ in the bit of '.' only. */
static bool has_twins(const struct child *child, const struct state *s)
{
	for (uint32_t i = 1; i < s->children; i++) {
		for (uint32_t j = 0; j < i; j++) {
			if (!((child[i].key ^ child[j].key) & s->mask))
				return true;
		}
	}
	return false;
}

/* With a stride of 1 there is no need for masks: '/' is a child of its own, of the same state. */
static void add_slash(struct child *child, struct state *s)
{
	for (uint32_t i = 0; i < s->children; i++) {
		if (child[i].compared == 0xff)
			continue;
		child[i].key = '.';
		child[i].compared = 0xff;
		child[s->children] = child[i];
		child[s->children++].key = '/';
		break;
	}
	s->mask = 0xff;
}

/* Lists the children of a state; -EAGAIN: a shorter stride is needed. */
static int list_children(struct maker *m, struct state *s)
{
	struct child *child = &m->children[s->child];
	uint32_t room = m->room - s->child;
	size_t end;

	s->children = 0;
	s->mask = stride_bits(s->stride);
	for (size_t at = s->first; at < s->end; at = end) {
		/* One remains for the slash. */
		if (s->children + 1 >= room || s->children == CHILDREN_MAX)
			return -E2BIG;
		end = group_end(m, at, s->end, s->depth, s->stride);
		child[s->children].state = m->state_count + s->children;
		fill_child(&child[s->children], m->keys[at].bytes + s->depth, s->stride);
		s->mask &= child[s->children++].compared;
	}
	if (s->stride == 1) {
		add_slash(child, s);
		return 0;
	}
	if (!has_twins(child, s))
		return 0;
	return -EAGAIN;
}

/* Adds the children of a state, and their states behind all others. */
static int expand(struct maker *m, uint32_t number)
{
	struct state s = m->states[number];
	size_t end;
	int err;

	if (s.first == s.end)
		return 0;
	s.child = m->child_count;
	s.stride = stride_of(m, &s);
	while ((err = list_children(m, &s)) == -EAGAIN)
		s.stride--;
	for (size_t at = s.first; at < s.end && !err; at = end) {
		end = group_end(m, at, s.end, s.depth, s.stride);
		err = add_state(m, at, end, s.depth + s.stride, s.number);
	}
	m->child_count += s.children;
	m->states[number] = s;
	return err;
}

static int make_states(struct maker *m)
{
	size_t end;
	int err = 0;

	/* Each takes at least a byte of a key; a '.' takes two children. */
	m->room = m->byte_count < SLOTS_MAX / 2 ? (uint32_t)(2 * m->byte_count + 2) : SLOTS_MAX;
	m->states = calloc(m->room + 1, sizeof(*m->states));
	m->children = calloc(m->room + 1, sizeof(*m->children));
	if (!m->states || !m->children)
		return -ENOMEM;
	for (size_t at = 0; at < m->key_count && !err; at = end) {
		end = group_end(m, at, m->key_count, 0, 1);
		err = add_state(m, at, end, 1, TRIE_NONE);
	}
	m->first_count = m->state_count;
	for (uint32_t i = 0; i < m->state_count && !err; i++)
		err = expand(m, i);
	return err;
}

/* ---- a slot for each child */

/* A slot below "hashed", which need not be a power of two. */
static inline uint32_t hash(uint64_t bytes, uint16_t salt, uint32_t hashed)
{
	return (uint32_t)(((bytes ^ salt) * SPREAD >> 32) * hashed >> 32);
}

/* Whether all children find a free slot with this salt; then they have it. */
static bool place_with(struct maker *m, const struct state *s, uint16_t salt)
{
	struct child *child = &m->children[s->child];
	uint32_t placed = 0;

	while (placed < s->children) {
		child[placed].slot = hash(child[placed].key & s->mask, salt, m->hashed);
		if (m->taken[child[placed].slot])
			break;
		m->taken[child[placed++].slot] = true;
	}
	if (placed == s->children)
		return true;
	while (placed)
		m->taken[child[--placed].slot] = false;
	return false;
}

/* Salts are taken in turn, so that one in use is seldom met. 0 is no salt. */
static bool place_children(struct maker *m, struct state *s)
{
	for (uint32_t tries = 0; tries < UINT16_MAX; tries++) {
		uint16_t salt = m->next_salt;

		m->next_salt = salt == UINT16_MAX ? 1 : (uint16_t)(salt + 1);
		if (m->salted[salt] || !place_with(m, s, salt))
			continue;
		m->salted[salt] = true;
		s->salt = salt;
		return true;
	}
	return false;
}

static int more_children(const void *one, const void *other, void *states)
{
	const struct state *a = (const struct state *)states + *(const uint32_t *)one;
	const struct state *b = (const struct state *)states + *(const uint32_t *)other;

	return a->children < b->children ? 1 : a->children > b->children ? -1 : 0;
}

/* States with many children need many free slots at once, so they are placed first. */
static bool place_all(struct maker *m)
{
	memset(m->taken, 0, m->hashed * sizeof(*m->taken));
	memset(m->salted, 0, (UINT16_MAX + 1) * sizeof(*m->salted));
	m->next_salt = 1;
	for (uint32_t i = 0; i < m->state_count; i++) {
		struct state *s = &m->states[m->order[i]];

		if (s->children && !place_children(m, s))
			return false;
	}
	return true;
}

/* In the smallest table in which all find a place. */
static int place(struct maker *m)
{
	m->order = calloc(m->state_count + 1, sizeof(*m->order));
	m->taken = malloc(SLOTS_MAX * sizeof(*m->taken));
	m->salted = malloc((UINT16_MAX + 1) * sizeof(*m->salted));
	if (!m->order || !m->taken || !m->salted)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->state_count; i++)
		m->order[i] = i;
	qsort_r(m->order, m->state_count, sizeof(*m->order), more_children, m->states);
	for (m->hashed = SLOTS_MIN; m->hashed <= SLOTS_MAX; m->hashed += m->hashed / 8) {
		if (m->hashed >= m->child_count && place_all(m))
			return 0;
	}
	return -E2BIG;
}

/* ---- the index */

static struct trie_index_slot slot_of(const struct state *s)
{
	return (struct trie_index_slot){
		.mask = s->mask,
		.salt = s->salt,
		.number = s->number,
		.stride = (uint16_t)s->stride,
	};
}

static void fill_slots(const struct maker *m, struct trie_index *index)
{
	struct trie_index_slot *slots = index->slots;
	uint32_t none = m->hashed + m->first_count;

	/* No bytes are compared, and none are not enough: never a match. */
	for (uint32_t i = 0; i <= none; i++)
		slots[i] = (struct trie_index_slot){ .key = 1, .number = TRIE_NONE };
	for (size_t i = 0; i < 256; i++)
		index->first[i] = none;
	for (uint32_t i = 0; i < m->first_count; i++) {
		slots[m->hashed + i] = slot_of(&m->states[i]);
		index->first[m->states[i].byte] = m->hashed + i;
	}
	index->first['/'] = index->first['.'];
	for (uint32_t i = 0; i < m->state_count; i++) {
		const struct state *s = &m->states[i];

		for (uint32_t j = s->child; j < s->child + s->children; j++) {
			const struct child *child = &m->children[j];

			slots[child->slot] = slot_of(&m->states[child->state]);
			slots[child->slot].key = child->key;
			slots[child->slot].compared = child->compared;
			slots[child->slot].parent = s->salt;
		}
	}
}

static int make(struct maker *m, const struct trie *trie, struct trie_index *index)
{
	int err = read_keys(m, trie);

	if (!err)
		err = make_states(m);
	if (!err)
		err = place(m);
	if (err)
		return err;
	index->trie = *trie;
	index->hashed = m->hashed;
	index->slot_count = (size_t)m->hashed + m->first_count + 1;
	index->slots = calloc(index->slot_count, sizeof(*index->slots));
	if (!index->slots)
		return -ENOMEM;
	fill_slots(m, index);
	return 0;
}

int trie_index_build(const struct trie *trie, struct trie_index *out)
{
	struct trie_index index = { 0 };
	struct maker m = { 0 };
	int err = make(&m, trie, &index);

	if (!err)
		*out = index;
	free(m.bytes);
	free(m.keys);
	free(m.states);
	free(m.children);
	free(m.order);
	free(m.taken);
	free(m.salted);
	return err;
}

/* A name that ends inside a stride, or by an exact rule, is left to the trie: these are few. */
#define LEFT_MIN (STRIDE_MAX + 1)

int trie_index_find(const struct trie_index *index, const void *name, size_t len, size_t from)
{
	const struct trie_index_slot *state, *next;
	const uint8_t *at, *last;
	uint64_t bytes;

	if (from >= len || len - from <= LEFT_MIN)
		return trie_find(&index->trie, name, len, from);
	at = (const uint8_t *)name + from;
	last = (const uint8_t *)name + len - LEFT_MIN;
	for (state = &index->slots[index->first[*at++]]; state->stride; state = next) {
		if (at > last)
			return trie_find(&index->trie, name, len, from);
		memcpy(&bytes, at, sizeof(bytes));
		next = &index->slots[hash(bytes & state->mask, state->salt, index->hashed)];
		if ((bytes & next->compared) != next->key || next->parent != state->salt)
			break;
		at += state->stride;
	}
	return state->number;
}

size_t trie_index_size(const struct trie_index *index)
{
	return sizeof(*index) + index->slot_count * sizeof(*index->slots);
}

void trie_index_free(struct trie_index *index)
{
	free(index->slots);
	*index = (struct trie_index){ 0 };
}
