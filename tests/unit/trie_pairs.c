/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_index.h"
#include "trie_help.h"
#include "trie_naive.h"

/*
 * Random rules and random names: every search answers what the naive one does. The rules of a set
 * and the names are made of the same few pieces, so that names often begin like rules.
 */
#define NAMES_PER_SET 500
#define NAME_UNITS    70000

static struct trie_index index_of_set;

struct random {
	uint64_t seed;
	const uint16_t *alphabet;
	uint32_t letters;
};

/* Class names, few letters, and units of one, two and three bytes with lone surrogates. */
static const uint16_t ascii[] = { 'a', 'b', 'c', '.', '.', '/', '$', 'X', '*' };
static const uint16_t few[] = { 'a', 'b' };
static const uint16_t wide[] = { 'a',	 '.',	 '/',	 0,	 1,	 0x7f,	 0x80,
				 0x7ff,	 0x800,	 0x4e2d, 0xac00, 0xd800, 0xdbff, 0xdc00,
				 0xdfff, 0xe000, 0xfeff, 0xfffe, 0xffff };

static const struct {
	const uint16_t *units;
	uint32_t count;
} alphabets[] = {
	{ ascii, ARRAY_SIZE(ascii) },
	{ few, ARRAY_SIZE(few) },
	{ wide, ARRAY_SIZE(wide) },
};

static size_t random_units(struct random *r, uint16_t *units, size_t max)
{
	size_t len = naive_random(&r->seed, (uint32_t)max + 1);

	for (size_t i = 0; i < len; i++)
		units[i] = r->alphabet[naive_random(&r->seed, r->letters)];
	return len;
}

/* Names that begin like a rule, go on like one, or are anything. */
static size_t random_name(struct random *r, const struct naive *naive, uint16_t *units)
{
	const struct naive_rule *rule =
		&naive->rules[naive_random(&r->seed, (uint32_t)naive->count)];
	uint32_t kind = naive_random(&r->seed, 8);
	size_t len = 0;

	if (kind == 0)
		return random_units(r, units, 20);
	if (kind == 1)
		return random_units(r, units, 1);
	memcpy(units, rule->key, rule->len * 2);
	len = rule->len;
	if (kind == 2)
		len = naive_random(&r->seed, (uint32_t)len + 1);
	if (kind == 3)
		units[naive_random(&r->seed, (uint32_t)len)] =
			r->alphabet[naive_random(&r->seed, r->letters)];
	if (kind >= 4 && kind <= 6)
		len += random_units(r, units + len, kind == 6 ? 40 : 2);
	return len;
}

static void random_rules(struct random *r, struct naive *naive, struct trie_rules *rules)
{
	uint32_t count = 1 + naive_random(&r->seed, 40), number;
	uint16_t name[64];
	size_t len;

	while (count) {
		len = random_units(r, name, 16);
		if (len && naive->count && naive_random(&r->seed, 2)) {
			const struct naive_rule *other =
				&naive->rules[naive_random(&r->seed, (uint32_t)naive->count)];

			/* Longer than another. */
			if (other->len + len < ARRAY_SIZE(name)) {
				memmove(name + other->len, name, len * 2);
				memcpy(name, other->key, other->len * 2);
				len += other->len;
			}
		}
		number = naive_random(&r->seed, 4) ? naive_random(&r->seed, 5) : 8191;
		if (trie_rules_add(rules, name, len, number, 0))
			continue;
		naive_add(naive, name, len, number);
		count--;
	}
}

static void check_name(const struct trie *trie, const struct naive *naive, const uint16_t *units,
		       size_t len, struct random *r)
{
	static uint8_t name[3 * NAME_UNITS];
	long size = trie_name_from_units(units, len, name, sizeof(name));
	size_t from = len ? naive_random(&r->seed, (uint32_t)len) : 0;
	size_t from_byte = trie_name_offset(name, (size_t)size, from);
	int expected = naive_find(naive, units, len);
	struct trie_match match = trie_match(trie, name, (size_t)size, 0);
	int from_expected = naive_find(naive, units + from, len - from);

	ASSERT_INT(trie_find(trie, name, (size_t)size, 0), expected);
	ASSERT_INT(match.number, expected);
	ASSERT_INT(trie_find(trie, name, (size_t)size, from_byte), from_expected);
	ASSERT_INT(trie_index_find(&index_of_set, name, (size_t)size, 0), expected);
	ASSERT_INT(trie_index_find(&index_of_set, name, (size_t)size, from_byte), from_expected);
}

static void check_set(uint64_t seed)
{
	static uint16_t units[NAME_UNITS];
	struct random r = { .seed = seed };
	uint32_t alphabet = naive_random(&r.seed, ARRAY_SIZE(alphabets));
	struct trie_rules rules = { 0 };
	struct naive naive = { 0 };
	struct trie_words words;
	struct trie trie;

	r.alphabet = alphabets[alphabet].units;
	r.letters = alphabets[alphabet].count;
	random_rules(&r, &naive, &rules);
	ASSERT_INT(trie_rules_sort(&rules, NULL, NULL), 0);
	ASSERT_INT(trie_build(&rules, &words), 0);
	ASSERT_INT(rules.count, naive.count);
	trie = trie_of(&words);
	ASSERT_INT(trie_index_build(&trie, &index_of_set), 0);
	for (int i = 0; i < NAMES_PER_SET; i++)
		check_name(&trie, &naive, units, random_name(&r, &naive, units), &r);
	trie_index_free(&index_of_set);
	trie_words_free(&words);
	trie_rules_free(&rules);
	naive_free(&naive);
}

static void searches_agree_with_the_naive_one(void)
{
	for (uint64_t set = 1; set <= 2000; set++)
		check_set(set);
}

/* The longest names the JVM has: 65,535 bytes, of units of one and of three bytes. */
static void searches_agree_on_the_longest_names(void)
{
	static uint16_t units[65536];
	struct random r = { .seed = 9, .alphabet = wide, .letters = ARRAY_SIZE(wide) };
	struct trie_rules rules = { 0 };
	struct naive naive = { 0 };
	struct trie_words words;
	struct trie trie;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		units[i] = i % 2 ? 'a' : '.';
	for (size_t len = 1; len <= 8190; len += 63) {
		uint16_t end = units[len];

		units[len] = '*';
		ASSERT_INT(trie_rules_add(&rules, units, len + len % 2, (uint32_t)len, 0), 0);
		naive_add(&naive, units, len + len % 2, (uint32_t)len);
		units[len] = end;
	}
	ASSERT_INT(trie_rules_sort(&rules, NULL, NULL), 0);
	ASSERT_INT(trie_build(&rules, &words), 0);
	trie = trie_of(&words);
	ASSERT_INT(trie_index_build(&trie, &index_of_set), 0);
	for (int i = 0; i < 20; i++) {
		check_name(&trie, &naive, units, 65535, &r);
		units[naive_random(&r.seed, 9000)] = 0x4e2d;
		check_name(&trie, &naive, units, 21845, &r);
	}
	trie_index_free(&index_of_set);
	trie_words_free(&words);
	trie_rules_free(&rules);
	naive_free(&naive);
}

static CU_TestInfo tests[] = {
	{ "searches agree with the naive one", searches_agree_with_the_naive_one },
	{ "searches agree on the longest names", searches_agree_on_the_longest_names },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo trie_pairs_suite = {
	.pName = "trie_pairs",
	.pTests = tests,
};
