/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/mman.h>

#include "jvm/method.h"
#include "unit/jvm_fake_method.h"
#include "unit/unit.h"

static struct target *self;
static struct hotspot hotspot;
static struct methods methods;
static struct fake_method fake;

/* bci 0 line 7, bci 3 line 9. */
static const uint8_t lines[] = { 0 << 3 | 7, 3 << 3 | 2, 0 };

static void make_jvm(int jdk)
{
	methods_free(&methods);
	ASSERT_INT(fake_hotspot(self, jdk, &hotspot), 0);
	methods = (struct methods){ .target = self, .hotspot = &hotspot, .bias = jdk >= 20 };
	fake_make_method(&hotspot, &fake, "com/example/Main", "run", lines, sizeof(lines));
}

static void setup(void)
{
	CU_ASSERT_FATAL(target_open(getpid(), &self) == 0);
	make_jvm(17);
}

static void teardown(void)
{
	methods_free(&methods);
	target_close(self);
}

static int get(const struct method **out)
{
	return methods_get(&methods, fake_address(fake.method), out);
}

static uint32_t cookie(void)
{
	return method_cookie(fake_address(fake.const_method));
}

static void names_methods_of_all_generations(void)
{
	static const int jdks[] = { 8, 11, 17, 21, 25, 26, 28 };
	const struct method *method;

	for (size_t i = 0; i < ARRAY_SIZE(jdks); i++) {
		make_jvm(jdks[i]);
		ASSERT_INT(get(&method), 0);
		CU_ASSERT_STRING_EQUAL(method->shown.class_name, "com/example/Main");
		CU_ASSERT_STRING_EQUAL(method->shown.name, "run");
		CU_ASSERT_STRING_EQUAL(method->shown.signature, "(I)V");
		CU_ASSERT_PTR_NOT_NULL_FATAL(method->shown.source_file);
		CU_ASSERT_STRING_EQUAL(method->shown.source_file, "com/example/Main");
		CU_ASSERT(!method->shown.native && !method->shown.hidden);
		ASSERT_INT(method_line(&methods, method, 0), 7);
		ASSERT_INT(method_line(&methods, method, 2), 7);
		ASSERT_INT(method_line(&methods, method, 5), 9);
		ASSERT_INT(method_line(&methods, method, -1), 7);
	}
}

static void knows_native_methods_and_methods_without_lines(void)
{
	const struct method *method;

	fake_put(fake.method, hotspot.field.method_access_flags, 0x109);
	ASSERT_INT(get(&method), 0);
	CU_ASSERT(method->shown.native);
	ASSERT_INT(method_line(&methods, method, 3), -2);

	make_jvm(17);
	fake_make_method(&hotspot, &fake, "A", "b", NULL, 0);
	ASSERT_INT(get(&method), 0);
	ASSERT_INT(method_line(&methods, method, 3), -1);

	/* A table without an end is none. */
	fake_make_method(&hotspot, &fake, "A", "b", lines, sizeof(lines));
	methods_free(&methods);
	memset(fake.const_method + hotspot.const_method_bytes + FAKE_CODE_SIZE, 9,
	       sizeof(fake.const_method) - hotspot.const_method_bytes - FAKE_CODE_SIZE);
	ASSERT_INT(get(&method), 0);
	ASSERT_INT(method_line(&methods, method, 3), -1);
}

/* The intrinsics of method handles: a private pool whose head was copied from the class's. */
static void takes_the_source_file_from_the_class(void)
{
	static _Alignas(8) uint8_t private_pool[256];
	const struct method *method;

	memset(private_pool, 0, sizeof(private_pool));
	memcpy(private_pool, fake.pool, hotspot.constant_pool_bytes);
	fake_put(private_pool, hotspot.field.pool_length, 3);
	fake_put(private_pool, hotspot.field.pool_source_file, 30);
	fake_pool_slot(&hotspot, private_pool, 1, fake.symbols[1]);
	fake_pool_slot(&hotspot, private_pool, 2, fake.symbols[2]);
	fake_put(fake.const_method, hotspot.field.const_method_constants,
		 fake_address(private_pool));
	ASSERT_INT(get(&method), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(method->shown.source_file);
	CU_ASSERT_STRING_EQUAL(method->shown.source_file, "com/example/Main");
}

static void does_without_a_source_file(void)
{
	const struct method *method;

	fake_put(fake.pool, hotspot.field.pool_source_file, 0);
	ASSERT_INT(get(&method), 0);
	CU_ASSERT_PTR_NULL(method->shown.source_file);
	methods_free(&methods);
	fake_put(fake.pool, hotspot.field.pool_source_file, 4); /* not in the pool */
	ASSERT_INT(get(&method), 0);
	CU_ASSERT_PTR_NULL(method->shown.source_file);
}

static void reads_long_names_and_names_at_the_end_of_memory(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char text[401] = "";
	const struct method *method;
	uint8_t *memory, *symbol;

	memset(text, 'L', 400);
	fake_symbol(&hotspot, fake.symbols[0], text);
	memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(memory != MAP_FAILED);
	CU_ASSERT_FATAL(mprotect(memory + page, page, PROT_NONE) == 0);
	symbol = memory + page - 16;
	fake_symbol(&hotspot, symbol, "at the end");
	fake_pool_slot(&hotspot, fake.pool, 1, symbol);
	ASSERT_INT(get(&method), 0);
	CU_ASSERT_STRING_EQUAL(method->shown.class_name, text);
	CU_ASSERT_STRING_EQUAL(method->shown.name, "at the end");
	munmap(memory, 2 * page);
}

static void reads_each_method_once(void)
{
	const struct method *first, *second;

	ASSERT_INT(get(&first), 0);
	fake_symbol(&hotspot, fake.symbols[1], "xyz");
	ASSERT_INT(get(&second), 0);
	CU_ASSERT_PTR_EQUAL(first, second);
	CU_ASSERT_STRING_EQUAL(second->shown.name, "run");
}

/* Unloading: the memory holds something else, or nothing, and the name is still known. */
static void remembers_methods_that_are_gone(void)
{
	const struct method *before, *after;
	uint32_t old = cookie();

	ASSERT_INT(methods_get_exactly(&methods, fake_address(fake.method), old, &before), 0);
	methods.generation++;
	memset(&fake, 0xa5, sizeof(fake));
	ASSERT_INT(methods_get_exactly(&methods, fake_address(fake.method), old, &after), 0);
	CU_ASSERT_PTR_EQUAL(before, after);
	ASSERT_INT(methods_get_exactly(&methods, fake_address(fake.method), old + 1, &after),
		   -EBADMSG);
}

/* A class of the same shape was loaded where an unloaded one was: both addresses are the same. */
static void notices_another_class_at_the_same_addresses(void)
{
	const struct method *before, *after;

	ASSERT_INT(methods_get_exactly(&methods, fake_address(fake.method), cookie(), &before), 0);
	methods.generation++;
	fake_symbol(&hotspot, fake.symbols[3], "com/example/Next");
	fake_put(fake.klass, hotspot.field.klass_name, fake_address(fake.symbols[3]));
	ASSERT_INT(methods_get_exactly(&methods, fake_address(fake.method), cookie(), &after), 0);
	CU_ASSERT_STRING_EQUAL(before->shown.class_name, "com/example/Main");
	CU_ASSERT_STRING_EQUAL(after->shown.class_name, "com/example/Next");
}

/* Everything is where it was, and the name's symbol is another's by now. */
static void notices_a_name_that_was_written_over(void)
{
	const struct method *before, *after;

	ASSERT_INT(get(&before), 0);
	fake_symbol(&hotspot, fake.symbols[0], "com/example/Mail");
	ASSERT_INT(get(&after), 0);
	CU_ASSERT_PTR_EQUAL(before, after); /* once in a generation */
	methods.generation++;
	ASSERT_INT(get(&after), 0);
	CU_ASSERT_STRING_EQUAL(before->shown.class_name, "com/example/Main");
	CU_ASSERT_STRING_EQUAL(after->shown.class_name, "com/example/Mail");
}

/* Each of these changes when a method is another one at the same address. */
static void notices_what_lies_elsewhere(void)
{
	static struct fake_method other;
	const struct fields *f = &hotspot.field;
	const struct method *before, *after;
	const struct {
		uint8_t *base;
		struct field field;
		uint64_t value;
	} changes[] = {
		{ fake.method, f->method_const_method, fake_address(other.const_method) },
		{ fake.const_method, f->const_method_constants, fake_address(other.pool) },
		{ fake.const_method, f->const_method_name, 3 },
		{ fake.const_method, f->const_method_signature, 3 },
		{ fake.pool, f->pool_holder, fake_address(other.klass) },
		{ fake.klass, f->klass_name, fake_address(other.symbols[0]) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		make_jvm(17);
		fake_make_method(&hotspot, &other, "com/example/Next", "go", lines, sizeof(lines));
		ASSERT_INT(get(&before), 0);
		methods.generation++;
		fake_put(changes[i].base, changes[i].field, changes[i].value);
		ASSERT_INT(get(&after), 0);
		CU_ASSERT_PTR_NOT_EQUAL(before, after);
		methods.generation++;
		ASSERT_INT(get(&before), 0);
		CU_ASSERT_PTR_EQUAL(before, after);
	}
}

/* Some of each kind at once: known, known but changed, new, none. */
static void gets_some_at_once(void)
{
	enum { COUNT = 40 };
	static struct fake_method many[COUNT];
	uint64_t addresses[COUNT + 2] = { 0 };
	const struct method *out[COUNT + 2], *again[COUNT + 2];
	char name[16];

	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		fake_make_method(&hotspot, &many[i], "Many", name, NULL, 0);
		addresses[i] = fake_address(many[i].method);
	}
	addresses[COUNT] = 16;
	addresses[COUNT + 1] = addresses[3];
	ASSERT_INT(methods_get_some(&methods, addresses, COUNT / 2, out), 0);
	methods.generation++;
	fake_symbol(&hotspot, many[5].symbols[1], "m5"); /* the same */
	fake_put(many[7].const_method, hotspot.field.const_method_name, 2);
	ASSERT_INT(methods_get_some(&methods, addresses, COUNT + 2, again), 0);
	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		CU_ASSERT_PTR_NOT_NULL_FATAL(again[i]);
		CU_ASSERT_STRING_EQUAL(again[i]->shown.name, i == 7 ? "(I)V" : name);
		if (i < COUNT / 2)
			CU_ASSERT((again[i] == out[i]) == (i != 7));
	}
	CU_ASSERT_PTR_NULL(again[COUNT]);
	CU_ASSERT_PTR_EQUAL(again[COUNT + 1], again[3]);
}

/* A second method of the class, whose pool and klass it has. */
static void make_sibling(struct fake_method *other)
{
	fake_make_method(&hotspot, other, "unused", "unused", lines, sizeof(lines));
	fake_put(other->const_method, hotspot.field.const_method_constants,
		 fake_address(fake.pool));
	fake_put(other->const_method, hotspot.field.const_method_name, 2);
}

/* The class's own names are read once in a generation, and never taken from another class. */
static void takes_names_of_the_class_from_its_methods(void)
{
	static struct fake_method second, third;
	const struct method *method, *other;

	make_sibling(&second);
	make_sibling(&third);
	ASSERT_INT(get(&method), 0);
	ASSERT_INT(methods_get(&methods, fake_address(second.method), &other), 0);
	CU_ASSERT_PTR_EQUAL(other->shown.class_name, method->shown.class_name);
	CU_ASSERT_PTR_EQUAL(other->shown.source_file, method->shown.source_file);
	CU_ASSERT_STRING_EQUAL(other->shown.name, "(I)V");
	methods.generation++;
	fake_symbol(&hotspot, fake.symbols[0], "com/example/Mail");
	ASSERT_INT(methods_get(&methods, fake_address(third.method), &other), 0);
	CU_ASSERT_STRING_EQUAL(other->shown.class_name, "com/example/Mail");
	/* Another class at the address of the old one. */
	make_sibling(&third);
	methods_free(&methods);
	ASSERT_INT(get(&method), 0);
	fake_put(fake.klass, hotspot.field.klass_name, fake_address(fake.symbols[1]));
	ASSERT_INT(methods_get(&methods, fake_address(third.method), &other), 0);
	CU_ASSERT_STRING_EQUAL(other->shown.class_name, "run");
}

/* A number is never given twice, also when all was forgotten. */
static void numbers_methods(void)
{
	enum { COUNT = 30 };
	struct method_place places[COUNT];
	uint32_t before[COUNT], after[COUNT];
	const struct method *method;

	for (int i = 0; i < COUNT; i++)
		places[i] = (struct method_place){ fake_address(fake.method), cookie() };
	places[COUNT - 2].address = 16;
	places[COUNT - 1].cookie++;
	ASSERT_INT(methods_number(&methods, places, COUNT, before), 0);
	ASSERT_INT(get(&method), 0);
	ASSERT_INT(before[0], method->shown.number);
	CU_ASSERT(before[0] != 0);
	ASSERT_INT(before[COUNT - 3], before[0]);
	ASSERT_INT(before[COUNT - 2], 0);
	ASSERT_INT(before[COUNT - 1], 0);
	/* Another class at the same addresses is seen in the next generation. */
	methods.generation++;
	fake_symbol(&hotspot, fake.symbols[0], "com/example/Mail");
	ASSERT_INT(methods_number(&methods, places, COUNT, after), 0);
	CU_ASSERT(after[0] != 0 && after[0] != before[0]);
	/* It is gone: its name is not. */
	methods.generation++;
	memset(&fake, 0xa5, sizeof(fake));
	ASSERT_INT(methods_number(&methods, places, COUNT, before), 0);
	ASSERT_INT(before[0], after[0]);
	methods_free(&methods);
	fake_make_method(&hotspot, &fake, "com/example/Main", "run", lines, sizeof(lines));
	ASSERT_INT(methods_number(&methods, places, 1, before), 0);
	CU_ASSERT(before[0] > after[0]);
}

static void tells_a_replaced_method_by_its_cookie(void)
{
	const struct method *method = NULL;

	ASSERT_INT(methods_get_exactly(&methods, fake_address(fake.method), cookie() + 1, &method),
		   -ESTALE);
	CU_ASSERT_PTR_NULL(method);
}

static void refuses_what_is_no_method(void)
{
	const struct method *method = NULL;

	ASSERT_INT(methods_get(&methods, 0, &method), -EFAULT);
	ASSERT_INT(methods_get(&methods, fake_address(fake.method) + 4, &method), -EBADMSG);
	fake_put(fake.method, hotspot.field.method_const_method, 0);
	ASSERT_INT(get(&method), -EBADMSG);
	fake_put(fake.method, hotspot.field.method_const_method, 16);
	ASSERT_INT(get(&method), -EFAULT);

	make_jvm(17);
	fake_put(fake.const_method, hotspot.field.const_method_name, 0);
	ASSERT_INT(get(&method), -EBADMSG);
	make_jvm(17);
	fake_put(fake.symbols[0], hotspot.field.symbol_length, 0);
	ASSERT_INT(get(&method), -EBADMSG);
	make_jvm(17);
	fake_put(fake.pool, hotspot.field.pool_holder, 0x123);
	ASSERT_INT(get(&method), -EBADMSG);
	CU_ASSERT_PTR_NULL(method);
}

static void knows_hidden_classes(void)
{
	static const struct {
		const char *name;
		bool hidden;
	} cases[] = {
		{ "T$$Lambda$5+0x00007f1234567890", true },
		{ "T$$Lambda+0x0000000046040ce0", true },
		{ "java/lang/invoke/LambdaForm$MH/0x0000000800c0b000", true },
		{ "java/lang/String", false },
		{ "a/0", false },
		{ "T+0x", false },
		{ "", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ASSERT_INT(method_class_is_hidden(cases[i].name), cases[i].hidden);
}

static CU_TestInfo tests[] = {
	{ "names methods of all generations", names_methods_of_all_generations },
	{ "knows native methods and methods without lines",
	  knows_native_methods_and_methods_without_lines },
	{ "takes the source file from the class", takes_the_source_file_from_the_class },
	{ "does without a source file", does_without_a_source_file },
	{ "reads long names and names at the end of memory",
	  reads_long_names_and_names_at_the_end_of_memory },
	{ "reads each method once", reads_each_method_once },
	{ "remembers methods that are gone", remembers_methods_that_are_gone },
	{ "notices another class at the same addresses",
	  notices_another_class_at_the_same_addresses },
	{ "notices a name that was written over", notices_a_name_that_was_written_over },
	{ "notices what lies elsewhere", notices_what_lies_elsewhere },
	{ "gets some at once", gets_some_at_once },
	{ "takes names of the class from its methods", takes_names_of_the_class_from_its_methods },
	{ "numbers methods", numbers_methods },
	{ "tells a replaced method by its cookie", tells_a_replaced_method_by_its_cookie },
	{ "refuses what is no method", refuses_what_is_no_method },
	{ "knows hidden classes", knows_hidden_classes },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_method_suite = {
	.pName = "jvm method",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
