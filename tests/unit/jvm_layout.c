/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/log.h"
#include "unit/jvm_fake.h"
#include "unit/unit.h"

static struct target *self;
static struct fake_tables rows;

static void setup(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	CU_ASSERT_FATAL(target_open(getpid(), &self) == 0);
}

static void teardown(void)
{
	target_close(self);
	log_set_level(LOG_LEVEL_INFO);
}

/* ---- the tables */

static void reads_the_tables(void)
{
	struct vmstructs_table tables[VMSTRUCTS_TABLES];
	const struct vm_field *field;
	struct vmstructs vm;
	int64_t value = 0;

	fake_rows(11, &rows);
	rows.longs[rows.long_count++] = (struct fake_long){ "markWord::x", ~0ull };
	rows.ints[rows.int_count++] = (struct fake_int){ "frame::y", -8 };
	fake_describe(&rows, tables);
	ASSERT_INT(vmstructs_read(self, tables, &vm), 0);
	ASSERT_INT(vm.field_count, rows.field_count);
	ASSERT_INT(vm.type_count, rows.type_count);

	/* On the type itself, and on one that it inherits from. */
	field = vmstructs_field(&vm, "CodeBlob::_frame_size");
	CU_ASSERT_PTR_NOT_NULL_FATAL(field);
	ASSERT_INT(field->at, 28);
	CU_ASSERT_STRING_EQUAL(field->ctype, "int");
	field = vmstructs_field(&vm, "nmethod::_method");
	CU_ASSERT_PTR_NOT_NULL_FATAL(field);
	CU_ASSERT_STRING_EQUAL(field->type, "CompiledMethod");
	CU_ASSERT_PTR_NOT_NULL(vmstructs_field(&vm, "HeapBlock::Header::_length"));

	CU_ASSERT_PTR_NULL(vmstructs_field(&vm, "CodeBlob::_method"));
	CU_ASSERT_PTR_NULL(vmstructs_field(&vm, "Nobody::_method"));
	CU_ASSERT_PTR_NULL(vmstructs_field(&vm, "_method"));
	CU_ASSERT(vmstructs_constant(&vm, "markWord::x", &value) && value == -1);
	CU_ASSERT(vmstructs_constant(&vm, "frame::y", &value) && value == -8);
	CU_ASSERT(!vmstructs_constant(&vm, "frame::z", &value));
	vmstructs_free(&vm);
}

/* A chain of superclasses that leads back to itself ends all the same. */
static void survives_a_circle_of_superclasses(void)
{
	struct vmstructs_table tables[VMSTRUCTS_TABLES];
	struct vmstructs vm;

	rows = (struct fake_tables){ .type_count = 2 };
	rows.types[0] = (struct fake_type){ .name = "A", .super = "B" };
	rows.types[1] = (struct fake_type){ .name = "B", .super = "A" };
	fake_describe(&rows, tables);
	ASSERT_INT(vmstructs_read(self, tables, &vm), 0);
	CU_ASSERT_PTR_NULL(vmstructs_field(&vm, "A::_x"));
	vmstructs_free(&vm);
}

static void refuses_tables_that_make_no_sense(void)
{
	struct vmstructs_table good[VMSTRUCTS_TABLES], bad[VMSTRUCTS_TABLES];
	struct vmstructs vm;

	fake_rows(17, &rows);
	fake_describe(&rows, good);
	for (size_t table = 0; table < VMSTRUCTS_TABLES; table++) {
		memcpy(bad, good, sizeof(bad));
		bad[table].stride = 0;
		ASSERT_INT(vmstructs_read(self, bad, &vm), -EBADMSG);
		bad[table].stride = 1 << 20;
		ASSERT_INT(vmstructs_read(self, bad, &vm), -EBADMSG);
		bad[table] = good[table];
		bad[table].column[1] = bad[table].stride;
		ASSERT_INT(vmstructs_read(self, bad, &vm), -EBADMSG);
		bad[table] = good[table];
		bad[table].array = 8;
		ASSERT_INT(vmstructs_read(self, bad, &vm), -EFAULT);
	}
}

/* Names that cannot be read, or have no end, cost their rows and nothing else. */
static void leaves_out_rows_with_bad_names(void)
{
	struct vmstructs_table tables[VMSTRUCTS_TABLES];
	static char endless[600];
	struct vmstructs vm;

	memset(endless, 'x', sizeof(endless) - 1);
	rows = (struct fake_tables){ 0 };
	rows.fields[0] = (struct fake_field){ .type = "A", .name = (const char *)(uintptr_t)8 };
	rows.fields[1] = (struct fake_field){ .type = "A", .name = endless };
	rows.fields[2] = (struct fake_field){ .type = "A", .name = "_b", .offset = 3 };
	rows.fields[4] =
		(struct fake_field){ .type = (const char *)(uintptr_t)-2048, .name = "_d" };
	rows.fields[3] = (struct fake_field){ .type = (const char *)(uintptr_t)-16, .name = "_c" };
	fake_describe(&rows, tables);
	ASSERT_INT(vmstructs_read(self, tables, &vm), 0);
	ASSERT_INT(vm.field_count, 1);
	CU_ASSERT_STRING_EQUAL(vm.fields[0].name, "_b");
	vmstructs_free(&vm);
}

/* The last row and the last string of a mapping are read; what follows is not there. */
static void reads_up_to_the_end_of_a_mapping(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct vmstructs_table tables[VMSTRUCTS_TABLES];
	struct fake_field *row;
	struct vmstructs vm;
	uint8_t *memory;
	char *text;

	memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(memory != MAP_FAILED);
	CU_ASSERT_FATAL(mprotect(memory + page, page, PROT_NONE) == 0);
	text = (char *)memory + page - 8;
	memcpy(text, "_a_name", 8);
	row = (struct fake_field *)(void *)(memory + page - 16 - 2 * sizeof(*row));
	row[0] = (struct fake_field){ .type = "A", .name = text, .offset = 5 };

	rows = (struct fake_tables){ 0 };
	fake_describe(&rows, tables);
	tables[0].array = fake_address(row);
	ASSERT_INT(vmstructs_read(self, tables, &vm), 0);
	ASSERT_INT(vm.field_count, 1);
	CU_ASSERT_STRING_EQUAL(vm.fields[0].name, "_a_name");
	vmstructs_free(&vm);
	munmap(memory, 2 * page);
}

/* ---- the layout */

static const struct jvs_java_layout expected[] = {
	{
		.heap_block_size = 16,
		.heap_block_used = 8,
		.blob_name = 8,
		.blob_frame_size = 44,
		.blob_frame_complete = 36,
		.blob_code_begin = 32,
		.blob_code_end = 40,
		.code_is_offset = 1,
		.blob_kind = JVS_NO_FIELD,
		.nmethod_deopt = 148,
		.nmethod_deopt_mh = 152,
		.deopt_is_offset = 1,
		.nmethod_compile_id = 204,
		.nmethod_orig_pc = 200,
		.nmethod_verified_entry = 128,
		.method_const_method = 8,
		.const_method_constants = 8,
		.pool_holder = 24,
		.klass_constants = 216,
		.klass_name = 16,
		.const_method_size = 48,
		.const_method_code_size = 32,
		.interpreter_bcp = LAYOUT_BCP_8,
		.thread_anchor_sp = 576,
		.thread_anchor_pc = 584,
		.thread_anchor_fp = 592,
		.thread_state = 728,
	},
	{
		.heap_block_size = 16,
		.heap_block_used = 8,
		.blob_name = 96,
		.blob_frame_size = 28,
		.blob_frame_complete = 20,
		.blob_code_begin = 32,
		.blob_code_end = 40,
		.blob_kind = JVS_NO_FIELD,
		.nmethod_deopt = 128,
		.nmethod_deopt_mh = 136,
		.nmethod_compile_id = 304,
		.nmethod_orig_pc = 300,
		.nmethod_verified_entry = 224,
		.method_const_method = 8,
		.const_method_constants = 8,
		.pool_holder = 24,
		.klass_constants = 232,
		.klass_name = 24,
		.const_method_size = 48,
		.const_method_code_size = 32,
		.interpreter_bcp = LAYOUT_BCP,
		.thread_anchor_sp = 656,
		.thread_anchor_pc = 664,
		.thread_anchor_fp = 672,
		.thread_state = 824,
	},
	{
		.heap_block_size = 8,
		.heap_block_used = 4,
		.blob_name = 8,
		.blob_frame_size = 44,
		.blob_frame_complete = 54,
		.frame_complete_is_16bit = 1,
		.blob_code_begin = 36,
		.blob_code_end = 40,
		.code_is_offset = 1,
		.blob_kind = 56,
		.nmethod_deopt = 176,
		.nmethod_deopt_mh = 180,
		.deopt_is_offset = 1,
		.nmethod_compile_id = 212,
		.nmethod_orig_pc = 208,
		.nmethod_verified_entry = 154,
		.verified_entry_is_offset = 1,
		.method_const_method = 8,
		.const_method_constants = 8,
		.pool_holder = 24,
		.klass_constants = 224,
		.klass_name = 24,
		.const_method_size = 56,
		.const_method_code_size = 34,
		.interpreter_bcp = LAYOUT_BCP,
		.thread_anchor_sp = 1152,
		.thread_anchor_pc = 1160,
		.thread_anchor_fp = 1168,
		.thread_state = 1324,
		.kind_of = { [3] = JVS_BLOB_ADAPTER,
			     [4] = JVS_BLOB_VTABLE,
			     [5] = JVS_BLOB_VTABLE,
			     [7] = JVS_BLOB_DEOPT },
	},
};

/* The numbers were taken from JVMs whose stacks they unwound without a fault. */
static void makes_the_layout_of_three_generations(void)
{
	static const int jdks[] = { 8, 17, 25 };
	struct jvs_java_layout layout;
	struct hotspot hotspot;

	for (size_t i = 0; i < ARRAY_SIZE(jdks); i++) {
		ASSERT_INT(fake_hotspot(self, jdks[i], &hotspot), 0);
		memset(&layout, 0, sizeof(layout));
		layout_for_bpf(&hotspot, jdks[i], &layout);
		if (memcmp(&layout, &expected[i], sizeof(layout)))
			fprintf(stderr, "JDK %d: another layout\n", jdks[i]);
		CU_ASSERT(!memcmp(&layout, &expected[i], sizeof(layout)));
	}
}

static void knows_what_the_others_changed(void)
{
	struct jvs_java_layout layout = { 0 };
	struct hotspot hotspot;

	ASSERT_INT(fake_hotspot(self, 11, &hotspot), 0);
	ASSERT_INT(hotspot.field.array_data.at, 24);
	CU_ASSERT(field_exists(hotspot.field.first_thread));
	CU_ASSERT(!field_exists(hotspot.field.thread_list));
	CU_ASSERT(field_exists(hotspot.field.klass_source_file));
	ASSERT_INT(hotspot.field.method_access_flags.size, 4);

	ASSERT_INT(fake_hotspot(self, 21, &hotspot), 0);
	ASSERT_INT(hotspot.field.nmethod_level.size, 1);
	ASSERT_INT(hotspot.nmethod_header, 329);

	/* One deoptimization handler is left. */
	ASSERT_INT(fake_hotspot(self, 26, &hotspot), 0);
	layout_for_bpf(&hotspot, 26, &layout);
	ASSERT_INT(layout.nmethod_deopt, 176);
	ASSERT_INT(layout.nmethod_deopt_mh, JVS_NO_FIELD);

	/* The frame-complete offset is an int again, and a kind came in between. */
	ASSERT_INT(fake_hotspot(self, 28, &hotspot), 0);
	layout_for_bpf(&hotspot, 28, &layout);
	ASSERT_INT(layout.frame_complete_is_16bit, 0);
	ASSERT_INT(layout.kind_of[7], JVS_BLOB_OTHER);
	ASSERT_INT(layout.kind_of[8], JVS_BLOB_DEOPT);
}

static void gives_thread_states_one_numbering(void)
{
	static const uint8_t of_28[] = { 0, 2, 4, 6, 8, 10 };
	struct hotspot hotspot;

	ASSERT_INT(fake_hotspot(self, 17, &hotspot), 0);
	for (uint32_t i = 0; i < 12; i++)
		ASSERT_INT(layout_thread_state(&hotspot, i), i);
	ASSERT_INT(layout_thread_state(&hotspot, 0xff), 0xff);
	ASSERT_INT(fake_hotspot(self, 28, &hotspot), 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(of_28); i++)
		ASSERT_INT(layout_thread_state(&hotspot, i), of_28[i]);
}

static void without(const char *name)
{
	for (size_t i = 0; i < rows.field_count; i++) {
		if (!strcmp(rows.fields[i].name, name))
			rows.fields[i].name = "_renamed";
	}
}

static void refuses_a_jvm_without_a_needed_field(void)
{
	static const struct {
		int jdk;
		const char *name;
		int err;
	} cases[] = {
		{ 17, "_frame_size", -EPROTO },
		{ 17, "_heaps", -EPROTO },
		{ 17, "_len", -EPROTO },
		{ 17, "_code_begin", -EPROTO },
		{ 17, "_verified_entry_point", -EPROTO },
		{ 17, "_dependencies_offset", -EPROTO },
		{ 17, "_metadata_offset", -EPROTO },
		{ 8, "_heap", -EPROTO },
		{ 25, "_scopes_data_offset", -EPROTO },
		{ 25, "_immutable_data_size", -EPROTO },
		{ 25, "_relocation_size", -EPROTO },
		{ 25, "_kind", 0 }, /* told by name then */
		{ 17, "_deopt_mh_handler_begin", 0 },
		{ 17, "_source_file_name_index", 0 },
		{ 17, "_java_thread_list", 0 },
		{ 17, "_current", 0 },
	};
	struct hotspot hotspot;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_rows(cases[i].jdk, &rows);
		without(cases[i].name);
		ASSERT_INT(fake_layout(self, &rows, &hotspot), cases[i].err);
	}
}

static void refuses_offsets_and_sizes_out_of_bounds(void)
{
	struct hotspot hotspot;

	fake_rows(17, &rows);
	for (size_t i = 0; i < rows.field_count; i++) {
		if (!strcmp(rows.fields[i].name, "_compile_id"))
			rows.fields[i].offset = JVS_BLOB_HEADER_MAX - 3;
	}
	ASSERT_INT(fake_layout(self, &rows, &hotspot), -EPROTO);

	fake_rows(17, &rows);
	for (size_t i = 0; i < rows.field_count; i++) {
		if (!strcmp(rows.fields[i].name, "_name_index"))
			rows.fields[i].offset = UINT64_MAX;
	}
	ASSERT_INT(fake_layout(self, &rows, &hotspot), -EPROTO);

	fake_rows(17, &rows);
	for (size_t i = 0; i < rows.type_count; i++) {
		if (!strcmp(rows.types[i].name, "ConstMethod"))
			rows.types[i].size = 100000;
	}
	ASSERT_INT(fake_layout(self, &rows, &hotspot), -EPROTO);
}

static void reads_fields_by_width_and_sign(void)
{
	static const uint8_t bytes[] = { 0xfe, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0 };
	static const struct {
		struct field field;
		uint64_t value;
	} cases[] = {
		{ { 0, 1, false }, 0xfe },	  { { 0, 1, true }, (uint64_t)-2 },
		{ { 0, 2, true }, (uint64_t)-2 }, { { 0, 4, false }, 0xfffffffe },
		{ { 0, 4, true }, (uint64_t)-2 }, { { 0, 8, false }, 0x1fffffffe },
		{ { 2, 8, false }, 0 },					  /* does not fit */
		{ { UINT64_MAX, 1, false }, 0 },  { { 0, 0, false }, 0 }, /* no such field */
	};
	uint64_t value = 7;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CU_ASSERT(field_of(cases[i].field, bytes, sizeof(bytes)) == cases[i].value);
	ASSERT_INT(field_read(self, fake_address(bytes), (struct field){ 1, 2, true }, &value), 0);
	ASSERT_INT(value, -1);
	ASSERT_INT(field_read(self, fake_address(bytes), (struct field){ 0 }, &value), -EBADMSG);
	ASSERT_INT(field_read(self, 8, (struct field){ 0, 4, false }, &value), -EFAULT);
	ASSERT_INT(value, -1);
}

static CU_TestInfo tests[] = {
	{ "reads the tables", reads_the_tables },
	{ "survives a circle of superclasses", survives_a_circle_of_superclasses },
	{ "refuses tables that make no sense", refuses_tables_that_make_no_sense },
	{ "leaves out rows with bad names", leaves_out_rows_with_bad_names },
	{ "reads up to the end of a mapping", reads_up_to_the_end_of_a_mapping },
	{ "makes the layout of three generations", makes_the_layout_of_three_generations },
	{ "knows what the others changed", knows_what_the_others_changed },
	{ "gives thread states one numbering", gives_thread_states_one_numbering },
	{ "refuses a JVM without a needed field", refuses_a_jvm_without_a_needed_field },
	{ "refuses offsets and sizes out of bounds", refuses_offsets_and_sizes_out_of_bounds },
	{ "reads fields by width and sign", reads_fields_by_width_and_sign },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_layout_suite = {
	.pName = "jvm layout",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
