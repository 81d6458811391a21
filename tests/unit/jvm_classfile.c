/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "jvm/classfile.h"
#include "unit/unit.h"

/* A class file that is being made. */
struct maker {
	uint8_t bytes[2048];
	size_t size;
};

static void put(struct maker *m, uint64_t value, unsigned int bytes)
{
	while (bytes--)
		m->bytes[m->size++] = (uint8_t)(value >> 8 * bytes);
}

static void put_text(struct maker *m, const char *text)
{
	put(m, 1, 1);
	put(m, strlen(text), 2);
	memcpy(m->bytes + m->size, text, strlen(text));
	m->size += strlen(text);
}

static void put_indexes(struct maker *m, uint8_t tag, uint16_t a, uint16_t b)
{
	put(m, tag, 1);
	put(m, a, 2);
	put(m, b, 2);
}

/* What a method of the made class is. */
struct made {
	const char *code;
	size_t code_size;
	uint16_t stack;
	uint16_t frames; /* of one byte each */
};

/* The constants of made classes: A.f:()V is 8, A.g:()V is 14. */
static void put_pool(struct maker *m, bool with_g)
{
	put(m, 0xcafebabe, 4);
	put(m, 61, 4);
	put(m, with_g ? 17 : 12, 2);
	put_text(m, "A"); /* 1 */
	put(m, 7, 1);
	put(m, 1, 2);		      /* 2 */
	put_text(m, "f");	      /* 3 */
	put_text(m, "()V");	      /* 4 */
	put_text(m, "Code");	      /* 5 */
	put_text(m, "StackMapTable"); /* 6 */
	put_indexes(m, 12, 3, 4);     /* 7 */
	put_indexes(m, 10, 2, 7);     /* 8 */
	put(m, 5, 1);
	put(m, 12345, 8);      /* 9, 10 */
	put_text(m, "unused"); /* 11 */
	if (!with_g)
		return;
	put_text(m, "g");	   /* 12 */
	put_indexes(m, 12, 12, 4); /* 13 */
	put_indexes(m, 10, 2, 13); /* 14 */
	put_text(m, "B");	   /* 15 */
	put(m, 7, 1);
	put(m, 15, 2); /* 16 */
}

/* Class A with one method f, which calls what its code says. */
static void make(struct maker *m, const struct made *made, bool with_g)
{
	size_t frames = made->frames ? 6 + 2 + made->frames : 0;

	m->size = 0;
	put_pool(m, with_g);
	put(m, 0x21, 2);
	put(m, 2, 2);
	put(m, 2, 2);
	put(m, 0, 2);
	put(m, 0, 2);
	put(m, 1, 2);
	put(m, 9, 2);
	put(m, 3, 2);
	put(m, 4, 2);
	put(m, 1, 2);
	put(m, 5, 2);
	put(m, 12 + made->code_size + frames, 4);
	put(m, made->stack, 2);
	put(m, 3, 2);
	put(m, made->code_size, 4);
	memcpy(m->bytes + m->size, made->code, made->code_size);
	m->size += made->code_size;
	put(m, 0, 2);
	put(m, frames ? 1 : 0, 2);
	if (frames) {
		put(m, 6, 2);
		put(m, frames - 6, 4);
		put(m, made->frames, 2);
		for (uint16_t i = 0; i < made->frames; i++)
			put(m, 0, 1);
	}
	put(m, 0, 2);
}

static struct maker before, after;
static struct classfile before_file, after_file;
static struct classfile_change last;
static int changes;

static void remember(const struct classfile_change *change, void *ctx)
{
	(void)ctx;
	last = *change;
	changes++;
}

#define CODE(text) .code = (text), .code_size = sizeof(text) - 1

/* Returns what classfile_compare() does. */
static int compare(const struct made *old, const struct made *fresh, bool with_g)
{
	int added;

	changes = 0;
	make(&before, old, false);
	make(&after, fresh, with_g);
	ASSERT_INT(classfile_parse(before.bytes, before.size, &before_file), 0);
	ASSERT_INT(classfile_parse(after.bytes, after.size, &after_file), 0);
	added = classfile_compare(&before_file, &after_file, remember, NULL);
	return added;
}

static void done(void)
{
	classfile_free(&before_file);
	classfile_free(&after_file);
}

static void reads_what_a_class_has(void)
{
	const struct made made = { CODE("\xb1"), .stack = 4, .frames = 2 };

	make(&before, &made, true);
	ASSERT_INT(classfile_parse(before.bytes, before.size, &before_file), 0);
	ASSERT_INT(before_file.major, 61);
	ASSERT_INT(before_file.constants, 17);
	ASSERT_INT(before_file.methodrefs, 2);
	ASSERT_INT(before_file.method_count, 1);
	CU_ASSERT_TRUE(before_file.has_frames);
	ASSERT_INT(before_file.methods[0].max_stack, 4);
	ASSERT_INT(before_file.methods[0].max_locals, 3);
	ASSERT_INT(before_file.methods[0].frame_count, 2);
	ASSERT_INT(before_file.methods[0].code_size, 1);
	ASSERT_INT(before_file.methods[0].name.len, 1);
	CU_ASSERT_TRUE(classfile_is_method(&before_file, 8));
	CU_ASSERT_FALSE(classfile_is_method(&before_file, 9));
	ASSERT_INT(classfile_constant(&before_file, 10), 0);
	ASSERT_INT(classfile_constant(&before_file, 17), 0);
	classfile_free(&before_file);
}

static void refuses_every_cut_class(void)
{
	const struct made made = { CODE("\xb1"), .frames = 2 };

	make(&before, &made, true);
	for (size_t size = 0; size + 2 < before.size; size++)
		ASSERT_INT(classfile_parse(before.bytes, size, &before_file), -EBADMSG);
}

static void finds_the_calls_an_agent_adds(void)
{
	const struct made old = { CODE("\xb8\x00\x08\xb1"), .stack = 0 };
	const struct made fresh = { CODE("\xb8\x00\x0e\xb8\x00\x08\xb8\x00\x0e\xb1"), .stack = 1,
				    .frames = 1 };

	ASSERT_INT(compare(&old, &fresh, true), 1);
	ASSERT_INT(changes, 1);
	ASSERT_INT(last.calls_added, 2);
	ASSERT_INT(last.calls_at_entry, 1);
	ASSERT_INT(last.calls_at_exit, 1);
	CU_ASSERT_TRUE(last.frames_changed);
	ASSERT_INT(last.before->code_size, 4);
	ASSERT_INT(last.after->code_size, 10);
	done();
}

static void a_call_in_the_middle_is_neither_at_entry_nor_at_exit(void)
{
	/* iconst_0, istore_0: not only arguments; then a call with an iconst behind it. */
	const struct made old = { CODE("\x03\x3b\x04\x3b\xb1") };
	const struct made fresh = { CODE("\x03\x3b\xb8\x00\x0e\x04\x3b\xb1") };

	ASSERT_INT(compare(&old, &fresh, true), 1);
	ASSERT_INT(last.calls_added, 1);
	ASSERT_INT(last.calls_at_entry, 0);
	ASSERT_INT(last.calls_at_exit, 0);
	done();
}

static void what_says_the_same_has_not_changed(void)
{
	const struct made same = { CODE("\xb8\x00\x08\xb1"), .stack = 2, .frames = 1 };
	const struct made deeper = { CODE("\xb8\x00\x08\xb1"), .stack = 3, .frames = 1 };

	ASSERT_INT(compare(&same, &same, true), 1);
	ASSERT_INT(changes, 0);
	done();
	ASSERT_INT(compare(&same, &deeper, false), 0);
	ASSERT_INT(changes, 1);
	CU_ASSERT_FALSE(last.frames_changed);
	ASSERT_INT(last.calls_added, 0);
	done();
}

static void code_that_is_none_does_no_harm(void)
{
	static const struct made bad[] = {
		{ CODE("\xaa") }, /* a switch without its table */
		{ CODE("\xab\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff") },
		{ CODE("\xaa\x00\x00\x00\x00\x00\x00\x00\x80\x00\x00\x00\x7f\xff\xff\xff") },
		{ CODE("\xc4") },     /* wide of nothing */
		{ CODE("\xb8\x00") }, /* half a call */
		{ CODE("\xff\xff") },
		{ CODE("\xb8\xff\xff") }, /* no such constant */
	};
	const struct made old = { CODE("\xb1") };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ASSERT_INT(compare(&old, &bad[i], false), 0);
		ASSERT_INT(changes, 1);
		done();
		ASSERT_INT(compare(&bad[i], &bad[i], false), 0);
		ASSERT_INT(changes, 0);
		done();
	}
}

static CU_TestInfo tests[] = {
	{ "reads what a class has", reads_what_a_class_has },
	{ "refuses every cut class", refuses_every_cut_class },
	{ "finds the calls an agent adds", finds_the_calls_an_agent_adds },
	{ "a call in the middle is neither at entry nor at exit",
	  a_call_in_the_middle_is_neither_at_entry_nor_at_exit },
	{ "what says the same has not changed", what_says_the_same_has_not_changed },
	{ "code that is none does no harm", code_that_is_none_does_no_harm },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_classfile_suite = { .pName = "jvm/classfile", .pTests = tests };
