/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "jvm/javafield.h"
#include "jvm/threadname.h"
#include "unit/jvm_fake.h"
#include "unit/unit.h"

/* A small Java heap in our own memory. Offsets of fields are made up, but for what JDKs fix. */
#define EETOP	      16
#define NAME	      24
#define VALUE	      12
#define CODER	      16
#define THREAD_OBJECT 8 /* JavaThread::_threadObj */

#define POOL_HEADER 72
#define SYMBOLS	    6

static struct target *self;
static struct hotspot hotspot;
static struct threadnames names;
static char to[THREADNAME_MAX];

static struct {
	_Alignas(16) uint8_t java_thread[32];
	uint64_t handle; /* the slot of an OopHandle */
	_Alignas(16) uint8_t thread[64];
	_Alignas(16) uint8_t string[32];
	_Alignas(16) uint8_t array[2048];
} heap;

/* Metadata of one class. */
static struct {
	_Alignas(8) uint8_t klass[64];
	_Alignas(8) uint8_t pool[POOL_HEADER + 8 * (SYMBOLS + 1)];
	_Alignas(8) uint8_t symbols[SYMBOLS][32];
	_Alignas(8) uint8_t fields[256];
} meta;

static void put32(void *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put64(void *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void setup(void)
{
	CU_ASSERT_FATAL(target_open(getpid(), &self) == 0);
	memset(&heap, 0, sizeof(heap));
	memset(&meta, 0, sizeof(meta));
	hotspot = (struct hotspot){ .constant_pool_bytes = POOL_HEADER };
	hotspot.field.thread_object = (struct field){ .at = THREAD_OBJECT, .size = 8 };
	names = (struct threadnames){ .thread_name = NAME,
				      .thread_eetop = EETOP,
				      .string_value = VALUE,
				      .string_coder = CODER,
				      .array_length = 12,
				      .array_data = 16,
				      .compressed = true };
	/* 4 bytes reach our own memory from here. */
	names.base = fake_address(&heap) - 16;
	put64(heap.java_thread + THREAD_OBJECT, fake_address(&heap.handle));
	heap.handle = fake_address(heap.thread);
	put64(heap.thread + EETOP, fake_address(heap.java_thread));
	put32(heap.thread + NAME, (uint32_t)(fake_address(heap.string) - names.base));
	put32(heap.string + VALUE, (uint32_t)(fake_address(heap.array) - names.base));
	to[0] = '\0';
}

static void teardown(void)
{
	target_close(self);
}

static void put_text(const char *text, uint32_t size, uint8_t coder)
{
	heap.string[CODER] = coder;
	put32(heap.array + names.array_length, size);
	memcpy(heap.array + names.array_data, text, size);
}

static int read_name(const char *comm)
{
	return threadname_read(self, &hotspot, &names, fake_address(heap.java_thread), comm, to);
}

static void expect_name(const char *expected)
{
	ASSERT_INT(read_name("?"), 0);
	if (strcmp(to, expected) != 0)
		fprintf(stderr, "\"%s\", expected \"%s\"\n", to, expected);
	CU_ASSERT_STRING_EQUAL(to, expected);
}

/* ---- names */

static void both_kinds_of_strings_are_read(void)
{
	put_text("worker-1", 8, 0);
	expect_name("worker-1");
	put_text("gr\xf6\xdf"
		 "er",
		 6, 0);
	expect_name("gr\xc3\xb6\xc3\x9f"
		    "er");
	/* U+6F22, U+1F600 as two units, U+0041 */
	put_text("\x22\x6f\x3d\xd8\x00\xde\x41\x00", 8, 1);
	expect_name("\xe6\xbc\xa2\xf0\x9f\x98\x80"
		    "A");
	/* half of a pair, and control characters */
	put_text("\x3d\xd8\x41\x00\x00\x00\x0a\x00", 8, 1);
	expect_name("\xef\xbf\xbd"
		    "A\xef\xbf\xbd\xef\xbf\xbd");
}

static void a_long_name_is_cut(void)
{
	char text[1000];

	memset(text, 'x', sizeof(text));
	put_text(text, sizeof(text), 0);
	ASSERT_INT(read_name("?"), 0);
	ASSERT_INT(strlen(to), THREADNAME_MAX - 1);
}

static void references_of_eight_bytes_are_read(void)
{
	names.compressed = false;
	names.string_value = 16;
	names.string_coder = 24;
	put_text("worker-1", 8, 0);
	put64(heap.thread + NAME, fake_address(heap.string));
	put64(heap.string + 16, fake_address(heap.array));
	expect_name("worker-1");
}

static void the_thread_may_be_a_plain_reference(void)
{
	put64(heap.java_thread + THREAD_OBJECT, fake_address(heap.thread));
	put_text("worker-1", 8, 0);
	expect_name("worker-1");
}

static void strings_of_jdk_8_have_no_coder(void)
{
	names.string_coder = 0;
	put32(heap.array + names.array_length, 2);
	memcpy(heap.array + names.array_data, "o\0k\0", 4);
	expect_name("ok");
}

static void another_threads_object_is_not_believed(void)
{
	put_text("worker-1", 8, 0);
	put64(heap.thread + EETOP, 12345);
	ASSERT_INT(read_name("worker-1"), -ESTALE);
	CU_ASSERT_STRING_EQUAL(to, "");
}

static void what_makes_no_sense_is_not_believed(void)
{
	static const struct {
		uint32_t length;
		uint8_t coder;
	} cases[] = { { 8, 2 }, { 8, 0x80 }, { 0x80000000, 0 }, { 0xffffffff, 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		put_text("worker-1", 8, cases[i].coder);
		put32(heap.array + names.array_length, cases[i].length);
		ASSERT_INT(read_name("worker-1"), -ESTALE);
	}
}

static void a_thread_without_a_name_has_none(void)
{
	put_text("", 0, 0);
	ASSERT_INT(read_name("?"), -ENOENT);
	put32(heap.thread + NAME, 0);
	ASSERT_INT(read_name("?"), -ENOENT);
	heap.handle = 0;
	CU_ASSERT(read_name("?") < 0);
	put64(heap.java_thread + THREAD_OBJECT, 0);
	ASSERT_INT(read_name("?"), -ENOENT);
}

static void memory_that_is_gone_is_an_error(void)
{
	names.compressed = false;
	put64(heap.thread + NAME, 8);
	ASSERT_INT(read_name("?"), -EFAULT);
	put64(heap.java_thread + THREAD_OBJECT, 8);
	ASSERT_INT(read_name("?"), -EFAULT);
}

static void where_objects_move_the_kernel_must_agree(void)
{
	static const struct {
		const char *comm;
		int result;
	} cases[] = {
		{ "a long name for", 0 },
		{ "a long name for\xef\xbf\xbd", 0 }, /* cut in a character */
		{ "a long name of ", -ESTALE },
		{ "java", -ESTALE },
		{ "", -ESTALE },
		{ "\xef\xbf\xbd", -ESTALE },
	};

	names.trust = THREADNAME_MOVING;
	put_text("a long name for a thread", 24, 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ASSERT_INT(read_name(cases[i].comm), cases[i].result);
}

/* ---- colours */

static uint64_t bad, good, offset_mask, shift;
static const void *globals[4] = { &bad, &good, &offset_mask, &shift };
static const void *globals_pointer = globals;

static void colour(bool shifted)
{
	struct fields *f = &hotspot.field;

	names.trust = THREADNAME_COLOUR;
	names.compressed = false;
	names.string_value = 8;
	f->z_globals = (struct field){ .at = fake_address(&globals_pointer), .size = 8 };
	f->z_bad_mask = (struct field){ .at = 0, .size = 8 };
	f->z_good_mask = (struct field){ .at = 8, .size = 8 };
	f->z_offset_mask = (struct field){ .at = 16, .size = 8 };
	if (shifted)
		f->z_load_shift = (struct field){ .at = 24, .size = 8 };
	put_text("worker-1", 8, 0);
}

static void put_references(uint64_t thread, uint64_t string, uint64_t array)
{
	heap.handle = thread;
	put64(heap.thread + NAME, string);
	put64(heap.string + 8, array);
}

static void good_colours_need_no_other_word(void)
{
	colour(true);
	shift = 13;
	bad = 0x1000;
	put_references(fake_address(heap.thread) << 13 | 0x0800, fake_address(heap.string) << 13,
		       fake_address(heap.array) << 13);
	ASSERT_INT(read_name("another"), 0);
	CU_ASSERT_STRING_EQUAL(to, "worker-1");
}

static void bad_colours_need_the_kernels_word(void)
{
	colour(true);
	shift = 13;
	bad = 0x1000;
	put_references(fake_address(heap.thread) << 13, fake_address(heap.string) << 13 | 0x1000,
		       fake_address(heap.array) << 13);
	ASSERT_INT(read_name("another"), -ESTALE);
	ASSERT_INT(read_name("work"), 0);
}

/* On 17 the colour is a bit of the address, and the memory is mapped once for each. */
static void colours_in_the_address_are_exchanged(void)
{
	const uint64_t bit = 1ull << 50;

	colour(false);
	offset_mask = bit - 1;
	good = 0;
	bad = bit;
	put_references(fake_address(heap.thread), fake_address(heap.string) | bit,
		       fake_address(heap.array));
	ASSERT_INT(read_name("another"), -ESTALE);
	ASSERT_INT(read_name("worker-1"), 0);
	bad = 0;
	ASSERT_INT(read_name("another"), 0);
}

static void a_shift_that_makes_no_sense_is_refused(void)
{
	colour(true);
	shift = 64;
	ASSERT_INT(read_name("worker-1"), -EBADMSG);
}

/* ---- fields */

static const char *const symbols[SYMBOLS] = { "name", "eetop", "J", "tid", "x", "daemon" };

static void make_class(void)
{
	struct fields *f = &hotspot.field;

	f->klass_constants = (struct field){ .at = 0, .size = 8 };
	f->pool_length = (struct field){ .at = 8, .size = 4 };
	f->symbol_length = (struct field){ .at = 4, .size = 2 };
	f->symbol_body = (struct field){ .at = 6, .size = 8 };
	put64(meta.klass, fake_address(meta.pool));
	put32(meta.pool + 8, SYMBOLS + 1);
	for (size_t i = 0; i < SYMBOLS; i++) {
		meta.symbols[i][4] = (uint8_t)strlen(symbols[i]);
		memcpy(meta.symbols[i] + 6, symbols[i], strlen(symbols[i]));
		/* Some carry a mark. */
		put64(meta.pool + POOL_HEADER + 8 * (i + 1),
		      fake_address(meta.symbols[i]) | (i & 1));
	}
}

static void use_slots(uint32_t length, uint16_t count)
{
	/* access flags, name, signature, value, offset << 2 | tag in two halves */
	static const uint16_t slots[][6] = { { 2, 1, 3, 0, NAME << 2 | 1, 0 },
					     { 2, 4, 3, 0, 8 << 2, 0 },
					     { 2, 2, 3, 0, 0x0001, 1 } };
	struct fields *f = &hotspot.field;

	f->klass_fields = (struct field){ .at = 16, .size = 8 };
	f->klass_field_count = (struct field){ .at = 24, .size = 2 };
	put64(meta.klass + 16, fake_address(meta.fields));
	memcpy(meta.klass + 24, &count, sizeof(count));
	put32(meta.fields, length);
	memcpy(meta.fields + 4, slots, sizeof(slots));
}

static int find(struct javafield found[3], int major)
{
	found[0] = (struct javafield){ .name = "name" };
	found[1] = (struct javafield){ .name = "eetop" };
	found[2] = (struct javafield){ .name = "none" };
	return javafield_find(self, &hotspot, major, fake_address(meta.klass), found, 3);
}

static void fields_are_found_in_slots(void)
{
	struct javafield found[3];

	make_class();
	use_slots(18, 3);
	ASSERT_INT(find(found, 17), 0);
	ASSERT_INT(found[0].offset, NAME);
	ASSERT_INT(found[1].offset, 0x10001 >> 2);
	ASSERT_INT(found[2].offset, 0);
	/* Fields of the JVM follow; and an array that is shorter than it says. */
	use_slots(18, 1);
	ASSERT_INT(find(found, 17), 0);
	ASSERT_INT(found[1].offset, 0);
	use_slots(12, 3000);
	ASSERT_INT(find(found, 17), 0);
	ASSERT_INT(found[1].offset, 0);
	use_slots(70000, 3);
	ASSERT_INT(find(found, 17), -EBADMSG);
}

static void use_stream(const uint32_t *numbers, size_t count)
{
	size_t len = 0;

	hotspot.field.klass_field_stream = (struct field){ .at = 16, .size = 8 };
	put64(meta.klass + 16, fake_address(meta.fields));
	for (size_t i = 0; i < count; i++)
		len += fake_unsigned5(meta.fields + 4 + len, 1, numbers[i]);
	put32(meta.fields, (uint32_t)len);
}

static void fields_are_found_in_a_stream(void)
{
	/* how many, how many of the JVM; name, signature, offset, access, flags, what they say */
	static const uint32_t numbers[] = {
		3, 1,  4, 3,	   500, 2,	 1u << 0 | 1u << 2 | 1u << 4,
		7, 8,  9, 1,	   3,	NAME,	 2,
		0, 2,  3, 40000,   2,	1u << 3, 1,
		3, 99, 2, 1u << 1,
	};
	struct javafield found[3];

	make_class();
	hotspot.field_numbers = 1u << 0 | 1u << 2 | 1u << 4;
	use_stream(numbers, ARRAY_SIZE(numbers));
	ASSERT_INT(find(found, 25), 0);
	ASSERT_INT(found[0].offset, NAME);
	ASSERT_INT(found[1].offset, 40000);
	use_stream(numbers, 9);
	ASSERT_INT(find(found, 25), -EBADMSG);
}

static void flags_that_a_number_follows_are_the_jvms(void)
{
	/* JDK 28: those of values come first, and two of them have a number, too */
	static const uint32_t numbers[] = {
		2, 0, 4, 3,    500, 2, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4, 7, 8,
		9, 1, 3, NAME, 2,   0,
	};
	struct javafield found[3];

	make_class();
	hotspot.field_numbers = 1u << 3 | 1u << 5 | 1u << 7 | 1u << 1 | 1u << 2;
	use_stream(numbers, ARRAY_SIZE(numbers));
	ASSERT_INT(find(found, 28), 0);
	ASSERT_INT(found[0].offset, NAME);
	hotspot.field_numbers &= ~(1u << 2);
	ASSERT_INT(find(found, 28), 0);
	ASSERT_INT(found[0].offset, 0);
}

static void without_a_list_of_fields_there_are_none(void)
{
	struct javafield found[3];

	make_class();
	ASSERT_INT(find(found, 25), -ENOENT);
	put64(meta.klass, 8);
	ASSERT_INT(find(found, 25), -EFAULT);
}

static CU_TestInfo tests[] = {
	{ "both kinds of strings are read", both_kinds_of_strings_are_read },
	{ "a long name is cut", a_long_name_is_cut },
	{ "references of eight bytes are read", references_of_eight_bytes_are_read },
	{ "the thread may be a plain reference", the_thread_may_be_a_plain_reference },
	{ "strings of JDK 8 have no coder", strings_of_jdk_8_have_no_coder },
	{ "another thread's object is not believed", another_threads_object_is_not_believed },
	{ "what makes no sense is not believed", what_makes_no_sense_is_not_believed },
	{ "a thread without a name has none", a_thread_without_a_name_has_none },
	{ "memory that is gone is an error", memory_that_is_gone_is_an_error },
	{ "where objects move the kernel must agree", where_objects_move_the_kernel_must_agree },
	{ "good colours need no other word", good_colours_need_no_other_word },
	{ "bad colours need the kernel's word", bad_colours_need_the_kernels_word },
	{ "colours in the address are exchanged", colours_in_the_address_are_exchanged },
	{ "a shift that makes no sense is refused", a_shift_that_makes_no_sense_is_refused },
	{ "fields are found in slots", fields_are_found_in_slots },
	{ "fields are found in a stream", fields_are_found_in_a_stream },
	{ "flags that a number follows are the JVM's", flags_that_a_number_follows_are_the_jvms },
	{ "without a list of fields there are none", without_a_list_of_fields_there_are_none },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_threadname_suite = {
	.pName = "jvm threadname",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
