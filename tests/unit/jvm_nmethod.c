/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "jvm/nmethod.h"
#include "unit/jvm_fake_method.h"
#include "unit/unit.h"

#define ID 42

static struct target *self;
static struct hotspot hotspot;
static struct methods methods;
static struct nmethods nmethods;
static struct jvm_frame frames[JVM_INLINE_MAX];
static struct fake_method outer, inner;

/* Head and, up to JDK 22, everything else; before it the head of its HeapBlock. */
#define BLOCK_BYTES 64
#define BLOB_BYTES  4096
static _Alignas(8) uint8_t block[BLOCK_BYTES + BLOB_BYTES];
static uint8_t *const blob = block + BLOCK_BYTES;
/* The blocks of their own of newer JDKs. */
static _Alignas(8) uint8_t immutable[2048];
static _Alignas(8) uint8_t mutable[256];

/* bci 0 line 7, bci 3 line 9. */
static const uint8_t lines_0[] = { 0 << 3 | 7, 3 << 3 | 2, 0 };

/*
 * What the compiler noted, in both biases: at 1 the outermost scope (method 1, bci 3), at
 * some place behind it one inlined there (method 2, bci 0), and one that names no method.
 */
struct notes {
	uint8_t scopes[128];
	size_t scopes_size;
	uint32_t inlined; /* offset */
	uint32_t nameless;
	int32_t descs[5][4];
};

static size_t add_scope(uint8_t *to, uint32_t sender, uint32_t method, int bci)
{
	unsigned int bias = methods.bias;
	size_t n = fake_unsigned5(to, bias, sender);

	n += fake_unsigned5(to + n, bias, method);
	return n + fake_unsigned5(to + n, bias, (uint32_t)(bci + 1));
}

static void make_notes(struct notes *notes)
{
	size_t n = 1;

	*notes = (struct notes){ 0 };
	n += add_scope(notes->scopes + n, 0, 1, 3);
	notes->inlined = (uint32_t)n;
	n += add_scope(notes->scopes + n, 1, 2, 0);
	notes->nameless = (uint32_t)n;
	n += add_scope(notes->scopes + n, 0, 0, -1);
	notes->scopes_size = n;
	memcpy(notes->descs,
	       (const int32_t[5][4]){ { -1 },
				      { 16, 1 },
				      { 32, (int32_t)notes->inlined },
				      { 48, (int32_t)notes->nameless },
				      { 1000, 0 } },
	       sizeof(notes->descs));
}

/* Up to 22: metadata, scopes, PcDescs behind the head. */
static void place_inside(const struct notes *notes, const uint64_t metadata[2])
{
	const struct fields *f = &hotspot.field;

	memcpy(blob + 512, metadata, 16);
	memcpy(blob + 528, notes->scopes, notes->scopes_size);
	memcpy(blob + 1024, notes->descs, sizeof(notes->descs));
	fake_put(blob, f->nmethod_metadata_offset, 512);
	if (field_exists(f->nmethod_scopes_begin))
		fake_put(blob, f->nmethod_scopes_begin, fake_address(blob + 528));
	else
		fake_put(blob, f->nmethod_scopes_offset, 528);
	fake_put(blob, f->nmethod_pcs_offset, 1024);
	fake_put(blob, f->nmethod_dependencies_offset, 1024 + sizeof(notes->descs));
}

/* From 23: PcDescs, then scopes, in a block of their own. */
static void place_immutable(const struct notes *notes, const uint64_t metadata[2])
{
	const struct fields *f = &hotspot.field;
	uint32_t scopes = 64 + sizeof(notes->descs);

	memcpy(immutable + 64, notes->descs, sizeof(notes->descs));
	memcpy(immutable + scopes, notes->scopes, notes->scopes_size);
	fake_put(blob, f->nmethod_immutable_data, fake_address(immutable));
	fake_put(blob, f->nmethod_immutable_data_size, scopes + notes->scopes_size);
	fake_put(blob, f->nmethod_pcs_offset, 64);
	fake_put(blob, f->nmethod_scopes_offset, scopes);
	if (field_exists(f->blob_mutable_data)) {
		memcpy(mutable + 32, metadata, 16);
		fake_put(blob, f->blob_mutable_data, fake_address(mutable));
		fake_put(blob, f->blob_mutable_data_size, 48);
		fake_put(blob, f->blob_relocation_size, 32);
	} else {
		memcpy(blob + 512 + 24, metadata, 16);
		fake_put(blob, f->blob_data_offset, 512);
		fake_put(blob, f->nmethod_metadata_offset, 24);
		fake_put(blob, f->blob_size, 552);
	}
}

static void make_nmethod(const char *name)
{
	const struct fields *f = &hotspot.field;
	uint64_t metadata[2] = { fake_address(outer.method), fake_address(inner.method) };
	struct notes notes;

	fake_make_method(&hotspot, &outer, "Outer", "run", lines_0, sizeof(lines_0));
	fake_make_method(&hotspot, &inner, "Inner", "get", lines_0, sizeof(lines_0));
	memset(block, 0, sizeof(block));
	fake_put(blob - hotspot.heap_block_size, f->block_used, 1);
	make_notes(&notes);
	if (field_exists(f->nmethod_immutable_data))
		place_immutable(&notes, metadata);
	else
		place_inside(&notes, metadata);
	fake_put(blob, f->blob_name, fake_address(name));
	fake_put(blob, f->nmethod_method, fake_address(outer.method));
	fake_put(blob, f->nmethod_compile_id, ID);
	fake_put(blob, f->nmethod_level, 4);
}

static void forget(void)
{
	nmethods_free(&nmethods);
	methods_free(&methods);
}

/* 24 is 25 with the metadata still behind the code. */
static void make_jvm(int jdk)
{
	forget();
	ASSERT_INT(fake_hotspot(self, jdk == 24 ? 25 : jdk, &hotspot), 0);
	if (jdk == 24) {
		hotspot.field.blob_mutable_data = (struct field){ 0 };
		hotspot.field.nmethod_metadata_offset = (struct field){ 190, 2, false };
	}
	methods = (struct methods){ .target = self, .hotspot = &hotspot, .bias = jdk >= 20 };
	nmethods = (struct nmethods){ .target = self, .hotspot = &hotspot, .methods = &methods };
	make_nmethod("nmethod");
}

static void setup(void)
{
	CU_ASSERT_FATAL(target_open(getpid(), &self) == 0);
	make_jvm(17);
}

static void teardown(void)
{
	forget();
	target_close(self);
}

static int describe(uint32_t offset, bool leaf)
{
	struct nmethod *nmethod;
	int err = nmethods_get(&nmethods, fake_address(blob), ID, &nmethod);

	memset(frames, 0, sizeof(frames));
	return err ? err : nmethod_describe(&nmethods, nmethod, offset, leaf, frames);
}

static void expect(size_t at, enum jvm_frame_type type, const char *name, int bci, int line)
{
	ASSERT_INT(frames[at].type, type);
	CU_ASSERT_PTR_NOT_NULL_FATAL(frames[at].method);
	CU_ASSERT_STRING_EQUAL(frames[at].method->name, name);
	ASSERT_INT(frames[at].bci, bci);
	ASSERT_INT(frames[at].line, line);
	ASSERT_INT(frames[at].level, 4);
}

static void names_inlined_frames_of_all_generations(void)
{
	static const int jdks[] = { 8, 11, 17, 21, 24, 25, 26, 28 };

	for (size_t i = 0; i < ARRAY_SIZE(jdks); i++) {
		make_jvm(jdks[i]);
		ASSERT_INT(describe(32, false), 2);
		expect(0, JVM_FRAME_INLINED, "get", 0, 7);
		expect(1, JVM_FRAME_C2, "run", 3, 9);
		ASSERT_INT(describe(16, false), 1);
		expect(0, JVM_FRAME_C2, "run", 3, 9);
	}
}

static void looks_ahead_at_a_leaf_only(void)
{
	ASSERT_INT(describe(16, true), 2);
	ASSERT_INT(describe(15, true), 1);
	ASSERT_INT(describe(31, true), 2);
	/* No method in the scope: that of the nmethod; bci -1 is method entry, on its first line.
	 */
	ASSERT_INT(describe(32, true), 1);
	expect(0, JVM_FRAME_C2, "run", -1, 7);
	/* Behind the last description that names a scope. */
	ASSERT_INT(describe(100, false), 1);
	expect(0, JVM_FRAME_C2, "run", -1, -1);
	ASSERT_INT(describe(5000, true), 1);
	expect(0, JVM_FRAME_C2, "run", -1, -1);
}

static void tells_the_compilers_apart(void)
{
	static const struct {
		uint64_t level;
		enum jvm_frame_type type;
	} cases[] = { { 1, JVM_FRAME_C1 }, { 3, JVM_FRAME_C1 }, { 4, JVM_FRAME_C2 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		make_jvm(17);
		fake_put(blob, hotspot.field.nmethod_level, cases[i].level);
		ASSERT_INT(describe(16, false), 1);
		ASSERT_INT(frames[0].type, cases[i].type);
		ASSERT_INT(frames[0].level, cases[i].level);
	}
}

static void names_native_wrappers(void)
{
	static const char name[] = "native nmethod";

	for (int known = 0; known < 2; known++) {
		make_jvm(17);
		make_nmethod(name);
		fake_put(blob, hotspot.field.nmethod_level, 0);
		nmethods.native_name = known ? fake_address(name) : 0;
		ASSERT_INT(describe(16, false), 1);
		ASSERT_INT(frames[0].type, JVM_FRAME_NATIVE);
		CU_ASSERT_STRING_EQUAL(frames[0].method->name, "run");
		ASSERT_INT(frames[0].bci, -1);
		ASSERT_INT(frames[0].line, -2);
		ASSERT_INT(frames[0].level, 0);
	}
}

/* All of it is needed only once. */
static void remembers_code_and_classes_that_are_gone(void)
{
	ASSERT_INT(describe(32, false), 2);
	memset(block, 0xa5, sizeof(block));
	memset(&outer, 0xa5, sizeof(outer));
	memset(&inner, 0xa5, sizeof(inner));
	methods.generation++;
	ASSERT_INT(describe(32, false), 2);
	expect(0, JVM_FRAME_INLINED, "get", 0, 7);
	expect(1, JVM_FRAME_C2, "run", 3, 9);
}

/* What else can be at the addresses of a nmethod and of a method of it by then. */
static void free_the_block(void)
{
	fake_put(blob - hotspot.heap_block_size, hotspot.field.block_used, 0);
}

static void unload_the_code(void)
{
	fake_put(blob, hotspot.field.nmethod_method, 0);
}

static void compile_something_else(void)
{
	fake_put(blob, hotspot.field.nmethod_compile_id, ID + 1);
}

static void make_a_stub(void)
{
	fake_put(blob, hotspot.field.blob_name, fake_address("a stub"));
}

/* A frame that was not named while its code was there gets no name of what is there now. */
static void does_not_name_by_what_is_there_now(void)
{
	static void (*const changes[])(void) = { free_the_block, unload_the_code,
						 compile_something_else, make_a_stub };
	static const int jdks[] = { 8, 17, 25 };

	for (size_t i = 0; i < ARRAY_SIZE(jdks) * ARRAY_SIZE(changes); i++) {
		make_jvm(jdks[i / ARRAY_SIZE(changes)]);
		ASSERT_INT(describe(16, false), 1);
		changes[i % ARRAY_SIZE(changes)]();
		fake_make_method(&hotspot, &inner, "Other", "put", lines_0, sizeof(lines_0));
		ASSERT_INT(describe(32, false), -ESTALE);
		ASSERT_INT(describe(16, false), 1);
		expect(0, JVM_FRAME_C2, "run", 3, 9);
	}
}

/* It is copied and then looked at again: here a free block's head is still whole. */
static void does_not_copy_what_was_freed(void)
{
	free_the_block();
	ASSERT_INT(describe(16, false), -ESTALE);
	fake_put(blob - hotspot.heap_block_size, hotspot.field.block_used, 1);
	ASSERT_INT(describe(16, false), 1);
}

static void tells_other_code_by_its_compile_id(void)
{
	struct nmethod *nmethod = NULL;

	ASSERT_INT(nmethods_get(&nmethods, fake_address(blob), ID + 1, &nmethod), -ESTALE);
	ASSERT_INT(nmethods_get(&nmethods, 16, ID, &nmethod), -EFAULT);
	CU_ASSERT_PTR_NULL(nmethod);
}

/* A class that was unloaded costs its own frames only. */
static void does_without_a_method_that_cannot_be_read(void)
{
	fake_put(inner.method, hotspot.field.method_const_method, 0);
	ASSERT_INT(describe(32, false), -ESTALE);
	ASSERT_INT(describe(16, false), 1);
	expect(0, JVM_FRAME_C2, "run", 3, 9);
	/* The nmethod's own method is not needed where scopes name theirs. */
	make_jvm(17);
	fake_put(blob, hotspot.field.nmethod_method, 0);
	ASSERT_INT(describe(16, false), 1);
	ASSERT_INT(describe(100, false), -ESTALE);
}

static void refuses_places_that_make_no_sense(void)
{
	static const struct {
		int jdk;
		size_t member;
	} cases[] = {
		{ 17, offsetof(struct fields, nmethod_dependencies_offset) },
		{ 8, offsetof(struct fields, nmethod_scopes_offset) },
		{ 25, offsetof(struct fields, nmethod_scopes_offset) },
		{ 25, offsetof(struct fields, nmethod_immutable_data_size) },
	};
	static const uint64_t values[] = { (uint64_t)-20000000, 0x7fffffff, 0x80000000 };
	struct field field;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(values); k++) {
			make_jvm(cases[i].jdk);
			memcpy(&field, (uint8_t *)&hotspot.field + cases[i].member, sizeof(field));
			fake_put(blob, field, values[k]);
			CU_ASSERT(describe(16, false) < 0);
		}
	}
	make_jvm(25);
	fake_put(blob, hotspot.field.nmethod_immutable_data, 16);
	ASSERT_INT(describe(16, false), -EFAULT);
	/* No metadata: no names for the scopes. */
	make_jvm(25);
	fake_put(blob, hotspot.field.blob_relocation_size, 64);
	ASSERT_INT(describe(16, false), -ESTALE);
}

/* A scope is called from an earlier one, so even the longest chain ends. */
static void ends_the_longest_chain(void)
{
	uint8_t *scopes = blob + 528;
	int32_t desc[4] = { 64, 0 };
	uint32_t last = 1;
	size_t n = 1;

	n += add_scope(scopes + n, 0, 1, 3);
	for (int i = 0; i < 70; i++) {
		desc[1] = (int32_t)n;
		n += add_scope(scopes + n, last, 2, 0);
		last = (uint32_t)desc[1];
	}
	memcpy(blob + 1024 + 4 * 16, desc, sizeof(desc));
	ASSERT_INT(describe(64, false), JVM_INLINE_MAX);
	expect(0, JVM_FRAME_INLINED, "get", 0, 7);
	expect(JVM_INLINE_MAX - 1, JVM_FRAME_C2, "run", 3, 9);
}

static void drops_the_oldest_copies(void)
{
	static uint8_t scopes[1 << 20];
	struct nmethod *nmethod;
	uint64_t pcs = fake_address(scopes) + sizeof(scopes) - fake_address(blob);

	/* Each copy takes 1 MiB. */
	fake_put(blob, hotspot.field.nmethod_scopes_begin, fake_address(scopes));
	fake_put(blob, hotspot.field.nmethod_pcs_offset, pcs);
	fake_put(blob, hotspot.field.nmethod_dependencies_offset, pcs);
	for (uint32_t id = 1; id < 40; id++) {
		fake_put(blob, hotspot.field.nmethod_compile_id, id);
		ASSERT_INT(nmethods_get(&nmethods, fake_address(blob), id, &nmethod), 0);
		CU_ASSERT(nmethods.bytes <= NMETHODS_BYTES);
	}
	memset(block, 0, sizeof(block));
	ASSERT_INT(nmethods_get(&nmethods, fake_address(blob), 39, &nmethod), 0);
	ASSERT_INT(nmethods_get(&nmethods, fake_address(blob), 1, &nmethod), -ESTALE);
	CU_ASSERT(nmethods_memory(&nmethods) >= nmethods.bytes);
}

static CU_TestInfo tests[] = {
	{ "names inlined frames of all generations", names_inlined_frames_of_all_generations },
	{ "looks ahead at a leaf only", looks_ahead_at_a_leaf_only },
	{ "tells the compilers apart", tells_the_compilers_apart },
	{ "names native wrappers", names_native_wrappers },
	{ "remembers code and classes that are gone", remembers_code_and_classes_that_are_gone },
	{ "does not name by what is there now", does_not_name_by_what_is_there_now },
	{ "does not copy what was freed", does_not_copy_what_was_freed },
	{ "tells other code by its compile id", tells_other_code_by_its_compile_id },
	{ "does without a method that cannot be read", does_without_a_method_that_cannot_be_read },
	{ "refuses places that make no sense", refuses_places_that_make_no_sense },
	{ "ends the longest chain", ends_the_longest_chain },
	{ "drops the oldest copies", drops_the_oldest_copies },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_nmethod_suite = {
	.pName = "jvm nmethod",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
