/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_form.h"

#include <errno.h>

#include "trie_help.h"
#include "trie_naive.h"

static struct trie_words words;
static struct trie_words again;
static char said[256];

static void setup(void)
{
	said[0] = '\0';
}

static void teardown(void)
{
	trie_words_free(&words);
	trie_words_free(&again);
}

static void keep_message(const struct trie_message *message, void *ctx)
{
	(void)ctx;
	ASSERT_INT(message->error, 1);
	snprintf(said, sizeof(said), "%s", message->text);
}

/* Rules with a jump that is long in both encodings, or in the old one only. */
static void build_big(uint32_t units)
{
	static uint16_t name[TRIE_NAME_MAX];
	struct trie_rules rules = { 0 };

	for (size_t i = 0; i < TRIE_NAME_MAX; i++)
		name[i] = (uint16_t)('a' + i % 26);
	for (uint32_t left = units; left; left -= left > 8000 ? 8000 : left) {
		name[1] = (uint16_t)('A' + left / 8000);
		ASSERT_INT(trie_rules_add(&rules, name, left > 8000 ? 8000 : left, 3, 0), 0);
	}
	name[0] = 'b';
	ASSERT_INT(trie_rules_add(&rules, name, 3, 4, 0), 0);
	ASSERT_INT(trie_rules_sort(&rules, NULL, NULL), 0);
	ASSERT_INT(trie_build(&rules, &words), 0);
	trie_rules_free(&rules);
}

static void *write_binary(size_t *size)
{
	struct trie trie = trie_of(&words);
	char *bytes;
	FILE *to = open_memstream(&bytes, size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	ASSERT_INT(trie_write_binary(&trie, to), 0);
	fclose(to);
	return bytes;
}

static void check_same(void)
{
	struct trie trie = trie_of(&words);

	ASSERT_INT(again.count, words.count);
	ASSERT_INT(again.long_count, words.long_count);
	CU_ASSERT(!memcmp(again.units, words.units, trie_total(&trie) * 2));
}

static void binary_form_is_bytes_like_these(void)
{
	static const char expected[] = "\xdd\x09\x72\x13\0\0\0\3\1\xe4\xb8\xad\xe8\x80\x87\0\0\0";
	size_t size;
	uint8_t *bytes;

	trie_help_build("7 \xe4\xb8\xad\n", &words);
	bytes = write_binary(&size);
	ASSERT_INT(size, sizeof(expected));
	CU_ASSERT(!memcmp(bytes, expected, size));
	ASSERT_INT(trie_from_bytes(bytes, size, &again, keep_message, NULL), 0);
	check_same();
	free(bytes);
}

static void binary_form_is_read_back(void)
{
	static const uint32_t sizes[] = { 1, 100, 40000, 61440 - 24, 70000 };
	size_t size;
	void *bytes;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		build_big(sizes[i]);
		bytes = write_binary(&size);
		ASSERT_INT(trie_from_bytes(bytes, size, &again, keep_message, NULL), 0);
		check_same();
		free(bytes);
		teardown();
	}
}

static void the_empty_trie_is_read(void)
{
	static const uint8_t empty[] = { 0xdd, 0x09, 0x72, 0x13, 0, 0, 0, 0, 0, 0, 0, 0 };
	size_t size;
	void *bytes;

	trie_help_build("", &words);
	bytes = write_binary(&size);
	ASSERT_INT(trie_from_binary(bytes, size, &again, keep_message, NULL), 0);
	check_same();
	trie_words_free(&again);
	ASSERT_INT(trie_from_binary(empty, sizeof(empty), &again, keep_message, NULL), 0);
	check_same();
	free(bytes);
}

struct old {
	uint16_t *units;
	uint32_t longs[64];
	uint32_t long_count;
};

static int write_old_jump(uint32_t place, uint32_t distance, void *ctx)
{
	struct old *old = ctx;

	old->units[place] = (uint16_t)distance;
	if (distance < 0x8000)
		return 0;
	CU_ASSERT_FATAL(old->long_count < ARRAY_SIZE(old->longs));
	old->units[place] = (uint16_t)(0x8000 | old->long_count);
	old->longs[old->long_count++] = distance;
	return 0;
}

/* Units as releases until 2026 wrote them: jumps of 0x8000 and more by number. */
static void old_jumps_are_understood(void)
{
	static const uint32_t sizes[] = { 100, 40000, 61000, 70000, 150000 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct old old = { 0 };
		struct trie_visitor visitor = { .jump = write_old_jump, .ctx = &old };
		struct trie_walk_end end;
		struct trie trie;

		build_big(sizes[i]);
		trie = trie_of(&words);
		old.units = calloc(words.count, 2);
		memcpy(old.units, words.units, words.count * 2);
		ASSERT_INT(trie_walk(&trie, &visitor, &end), 0);
		ASSERT_INT(end.jumps & TRIE_JUMPS_NEW, TRIE_JUMPS_NEW);
		ASSERT_INT(old.long_count != 0, sizes[i] >= 0x8000);

		ASSERT_INT(
			trie_adopt(old.units, words.count, old.longs, old.long_count, &again, &end),
			0);
		free(old.units);
		check_same();
		ASSERT_INT(end.jumps,
			   sizes[i] < 0x8000 ? TRIE_JUMPS_NEW | TRIE_JUMPS_OLD : TRIE_JUMPS_OLD);
		teardown();
	}
}

static void damage_is_named(void)
{
	static const struct {
		uint16_t units[16];
		uint32_t count;
		const char *problem;
	} cases[] = {
		{ { 0 }, 0, "a node is missing" },
		{ { 0, 0x61, 0x8001 }, 3, "no node has so many branches" },
		{ { 0x8000, 0x61, 0x8001 }, 3, "no node has so many branches" },
		{ { 2, 0x61, 0x62, 0x8001 }, 4, "the node does not fit" },
		{ { 2, 0x62, 0x61, 0x8001, 0x8001, 0 }, 6, "the branches are not in order" },
		{ { 2, 0x61, 0x61, 0x8001, 0x8001, 0 }, 6, "the branches are not in order" },
		{ { 2, 0x61, 0x62, 0x8001, 0x8001, 1 },
		  6,
		  "the jump does not lead to the content of its branch" },
		{ { 2, 0x61, 0x62, 0x8001, 0x8001, 0xf000 },
		  6,
		  "the jump does not lead to the content of its branch" },
		{ { 1, 0x61, 0xc001 }, 3, "a branch is leaf and bud" },
		{ { 1, 0x61, 0x4001 }, 3, "a node is missing" },
		{ { 1, 0x61, 2, 0x62, 0x63 }, 5, "the segment does not fit" },
		{ { 1, 0x61, 0x3fff, 0x62, 0x63 }, 5, "the segment does not fit" },
		{ { 1, 0x61, 1, 0x62, 0xc001 }, 5, "a segment cannot end in a bud" },
		{ { 1, 0x61, 0, 0x8001 }, 4, "no node has so many branches" },
		{ { 1, 0x61, 0x8001, 1 }, 4, "there are units behind the last node" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct trie_walk_end end;

		ASSERT_INT(trie_adopt(cases[i].units, cases[i].count, NULL, 0, &again, &end),
			   -EINVAL);
		CU_ASSERT_STRING_EQUAL_FATAL(end.problem, cases[i].problem);
	}
}

/* Every prefix, and every byte changed: an error or a trie, and no read behind the end. */
static void cut_and_changed_files_are_harmless(void)
{
	size_t size, changed = 0;
	uint8_t *bytes, *copy;

	trie_help_build("1 io.x.*\n0 io.x.Hot\n2 jp\n3 \xe4\xb8\xad.*\n4 \xe4\xb8\xad.A\n", &words);
	bytes = write_binary(&size);
	for (size_t cut = 0; cut < size; cut++) {
		copy = malloc(cut + 1);
		memcpy(copy + 1, bytes, cut);
		ASSERT_INT(trie_from_binary(copy + 1, cut, &again, keep_message, NULL), -EINVAL);
		free(copy);
	}
	CU_ASSERT(!strncmp(said, "cut short or damaged at byte ", 29));
	for (size_t at = 0; at < size * 256; at++) {
		copy = malloc(size);
		memcpy(copy, bytes, size);
		copy[at / 256] = (uint8_t)at;
		if (!trie_from_binary(copy, size, &again, keep_message, NULL)) {
			trie_words_free(&again);
			changed++;
		}
		free(copy);
	}
	CU_ASSERT(changed > size);
	free(bytes);
}

/* Random words that are nearly tries. What is accepted answers as its own keys say. */
static void accepted_words_answer_right(void)
{
	uint16_t units[24], name[4];
	uint64_t seed = 5;
	int accepted = 0;

	for (int round = 0; round < 300000; round++) {
		uint32_t count = 3 + naive_random(&seed, 20);
		struct trie_visitor visitor = { .key = naive_visit };
		struct naive naive = { 0 };
		struct trie_walk_end end;
		struct trie trie;

		for (uint32_t i = 0; i < count; i++)
			units[i] =
				(uint16_t)(naive_random(&seed, 3) |
					   (naive_random(&seed, 4) ? 0
								   : naive_random(&seed, 8) << 13));
		if (trie_adopt(units, count, NULL, 0, &again, &end))
			continue;
		accepted++;
		visitor.ctx = &naive;
		trie = trie_of(&again);
		ASSERT_INT(trie_walk(&trie, &visitor, &end), 0);
		for (int look = 0; look < 30; look++) {
			size_t len = naive_random(&seed, 5);
			uint8_t bytes[12];
			long size;

			for (size_t i = 0; i < len; i++)
				name[i] = (uint16_t)naive_random(&seed, 3);
			size = trie_name_from_units(name, len, bytes, sizeof(bytes));
			ASSERT_INT(trie_find(&trie, bytes, (size_t)size, 0),
				   naive_find(&naive, name, len));
		}
		naive_free(&naive);
		trie_words_free(&again);
	}
	CU_ASSERT(accepted > 100);
}

static char *text_of(int (*write)(const struct trie *, FILE *))
{
	struct trie trie = trie_of(&words);
	size_t size;
	char *text;
	FILE *to = open_memstream(&text, &size);

	ASSERT_INT(write(&trie, to), 0);
	fclose(to);
	return text;
}

static int write_c(const struct trie *trie, FILE *to)
{
	return trie_write_c(trie, "my_rules", to);
}

static int write_java(const struct trie *trie, FILE *to)
{
	return trie_write_java(trie, "a.b", "MyRules", to);
}

static void source_forms(void)
{
	char *text;

	trie_help_build("1 a1\n2 \xe4\xb8\xad*\n", &words);
	text = text_of(write_c);
	CU_ASSERT_STRING_EQUAL(text, "/* Made from a list of rules: change that. */\n"
				     "#include \"trie/trie.h\"\n\n"
				     "extern const struct trie my_rules;\n\n"
				     "static const __u16 units[8] = {\n"
				     "\t0x0002, 0x0061, 0x4e2d, 0x0001, 0xa002, 0x0002, 0x0031, "
				     "0x8001,\n};\n\n"
				     "const struct trie my_rules = { units, 8, 0 };\n");
	free(text);
	text = text_of(write_java);
	CU_ASSERT_STRING_EQUAL(text, "package a.b;\n\n"
				     "/** Made from a list of rules: change that. */\n"
				     "final class MyRules {\n"
				     "\tprivate MyRules() {\n\t}\n\n"
				     "\tstatic final String[] UNITS = {\n"
				     "\t\t\"\\002\\141\\u4e2d\\001\\ua002\\002\\061\\u8001\",\n"
				     "\t};\n\n"
				     "\tstatic final int[] LONG_JUMPS = {};\n}\n");
	free(text);
}

static CU_TestInfo tests[] = {
	{ "binary form is bytes like these", binary_form_is_bytes_like_these },
	{ "binary form is read back", binary_form_is_read_back },
	{ "the empty trie is read", the_empty_trie_is_read },
	{ "old jumps are understood", old_jumps_are_understood },
	{ "damage is named", damage_is_named },
	{ "cut and changed files are harmless", cut_and_changed_files_are_harmless },
	{ "accepted words answer right", accepted_words_answer_right },
	{ "source forms", source_forms },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo trie_form_suite = {
	.pName = "trie_form",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
