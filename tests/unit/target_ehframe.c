/* SPDX-License-Identifier: Apache-2.0 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/ehframe.h"
#include "target/image.h"
#include "unit/elf_bytes.h"
#include "unit/unit.h"

/* Written by hand: what the tools of this machine do not make, and damage. x86-64 only. */
#if defined(__x86_64__)

#define TEXT 0x800000u /* where the functions are; nothing of the file lies there */

/* A section while it is written. */
static struct {
	uint8_t bytes[48 * 1024];
	size_t size;
	size_t record; /* where the open record starts */
} section;

static struct unwind_rows rows;

static void setup(void)
{
	memset(&section, 0, sizeof(section));
	rows = (struct unwind_rows){ 0 };
}

static void teardown(void)
{
	ehframe_free(&rows);
}

static void put(const void *bytes, size_t size)
{
	CU_ASSERT_FATAL(section.size + size <= sizeof(section.bytes));
	memcpy(section.bytes + section.size, bytes, size);
	section.size += size;
}

static void put_u32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void put_u8(uint8_t value)
{
	put(&value, sizeof(value));
}

static void put_text(const char *text)
{
	put(text, strlen(text) + 1);
}

static void begin_record(uint32_t id)
{
	section.record = section.size;
	put_u32(0);
	put_u32(id);
}

static void end_record(void)
{
	uint32_t length = (uint32_t)(section.size - section.record - 4);

	memcpy(section.bytes + section.record, &length, sizeof(length));
}

#define PUT(...)                                           \
	do {                                               \
		static const uint8_t put_[] = __VA_ARGS__; \
		put(put_, sizeof(put_));                   \
	} while (0)

/* CFA = sp + 8, return address at CFA - 8; pointers are absolute u32. Its offset. */
static size_t put_cie(const char *letters)
{
	begin_record(0);
	put_u8(1);
	put_text(letters);
	PUT({ 1, 0x78, 16 }); /* code 1, data -8, return address is 16 */
	if (letters[0] == 'z')
		PUT({ 1, DW_EH_PE_udata4 });
	PUT({ DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 });
	end_record();
	return section.record;
}

static size_t put_usual_cie(void)
{
	return put_cie("zR");
}

static void begin_function(size_t cie, uint32_t start, uint32_t size)
{
	begin_record((uint32_t)(section.size + 4 - cie));
	put_u32(start);
	put_u32(size);
	put_u8(0);
}

static int read_rows(void)
{
	static struct elf_bytes elf;
	uint8_t *bytes;
	struct image *image;
	int err;

	elf_begin(&elf);
	elf_add_bytes(&elf, ".eh_frame", section.bytes, section.size);
	elf_end(&elf);
	bytes = elf_copy(&elf);
	ASSERT_INT(image_open_bytes(bytes, elf.size, "test.so", &image), 0);
	err = ehframe_rows(image, &rows);
	image_close(image);
	return err;
}

static void expect_row(size_t i, uint32_t address, uint8_t kind, int cfa, int fp)
{
	CU_ASSERT_FATAL(i < rows.count);
	ASSERT_INT(rows.rows[i].address, address);
	ASSERT_INT(rows.rows[i].kind, kind);
	ASSERT_INT(rows.rows[i].cfa, cfa);
	ASSERT_INT(rows.rows[i].fp, fp);
}

static void reads_a_function_with_a_frame_pointer(void)
{
	begin_function(put_usual_cie(), TEXT, 0x40);
	PUT({ DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2 });
	PUT({ DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6 });
	PUT({ DW_CFA_advance_loc1, 0x3b, DW_CFA_def_cfa, 7, 8, DW_CFA_restore | 6 });
	end_record();
	ASSERT_INT(read_rows(), 0);
	ASSERT_INT(rows.count, 5);
	ASSERT_INT(rows.functions, 1);
	expect_row(0, TEXT, JVS_ROW_SP, 1, 0);
	expect_row(1, TEXT + 1, JVS_ROW_SP, 2, -2);
	expect_row(2, TEXT + 4, JVS_ROW_FP, 2, -2);
	expect_row(3, TEXT + 0x3f, JVS_ROW_SP, 1, 0);
	expect_row(4, TEXT + 0x40, JVS_ROW_GAP, 0, 0);
	ASSERT_INT(rows.index_count, (TEXT >> 8) + 2);
	ASSERT_INT(rows.index[TEXT >> 8], 0);
	ASSERT_INT(rows.index[(TEXT >> 8) + 1], 4);
}

static void remembers_and_restores(void)
{
	begin_function(put_usual_cie(), TEXT, 0x40);
	PUT({ DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 13, 3, DW_CFA_remember_state });
	PUT({ DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 8, DW_CFA_restore | 13 });
	PUT({ DW_CFA_advance_loc | 1, DW_CFA_restore_state });
	end_record();
	ASSERT_INT(read_rows(), 0);
	ASSERT_INT(rows.count, 4);
	expect_row(0, TEXT, JVS_ROW_SP | 3 << 3, 4, 0);
	expect_row(1, TEXT + 8, JVS_ROW_SP, 1, 0);
	expect_row(2, TEXT + 9, JVS_ROW_SP | 3 << 3, 4, 0);
}

static void a_gap_loses_against_a_function_that_starts_there(void)
{
	size_t cie = put_usual_cie();

	/* The later one first, as the linker may leave them. */
	begin_function(cie, TEXT + 0x10, 0x10);
	PUT({ DW_CFA_def_cfa_offset, 16 });
	end_record();
	begin_function(cie, TEXT, 0x10);
	end_record();
	ASSERT_INT(read_rows(), 0);
	ASSERT_INT(rows.count, 3);
	expect_row(0, TEXT, JVS_ROW_SP, 1, 0);
	expect_row(1, TEXT + 0x10, JVS_ROW_SP, 2, 0);
	expect_row(2, TEXT + 0x20, JVS_ROW_GAP, 0, 0);
}

static void functions_with_one_rule_become_one_row(void)
{
	size_t cie = put_usual_cie();

	for (uint32_t i = 0; i < 10; i++) {
		begin_function(cie, TEXT + i * 16, 16);
		end_record();
	}
	ASSERT_INT(read_rows(), 0);
	ASSERT_INT(rows.count, 2);
	ASSERT_INT(rows.functions, 10);
}

static void reads_the_special_kinds(void)
{
	size_t cie = put_usual_cie();

	begin_function(cie, TEXT, 0x10);
	PUT({ DW_CFA_undefined, 16 });
	end_record();
	begin_function(cie, TEXT + 0x10, 0x10);
	PUT({ DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
	      DW_OP_and, DW_OP_lit9, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus });
	end_record();
	begin_function(cie, TEXT + 0x20, 0x10);
	PUT({ DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8 });
	end_record();
	begin_function(put_cie("zRS"), TEXT + 0x30, 0x10);
	PUT({ DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8 });
	end_record();
	ASSERT_INT(read_rows(), 0);
	ASSERT_INT(rows.count, 5);
	expect_row(0, TEXT, JVS_ROW_END, 0, 0);
	expect_row(1, TEXT + 0x10, JVS_ROW_PLT, 9, 0);
	expect_row(2, TEXT + 0x20, JVS_ROW_BAD, 0, 0);
	expect_row(3, TEXT + 0x30, JVS_ROW_SIGNAL, 0, 0);
	ASSERT_INT(rows.unsupported, 1);
}

static void marks_what_a_row_cannot_hold(void)
{
	static const struct {
		uint8_t program[8];
		uint8_t size;
		uint8_t kind;
	} cases[] = {
		{ { DW_CFA_def_cfa, 10, 8 }, 3, JVS_ROW_BAD },	   /* another register */
		{ { DW_CFA_def_cfa_offset, 12 }, 2, JVS_ROW_BAD }, /* half a word */
		{ { DW_CFA_def_cfa_offset, 0x80, 0x80, 0x20 }, 4, JVS_ROW_BAD }, /* 64 Ki words */
		{ { DW_CFA_def_cfa_offset_sf, 1 }, 2, JVS_ROW_BAD },		 /* below sp */
		{ { DW_CFA_offset | 6, 0x81, 1 }, 3, JVS_ROW_BAD }, /* 129 words away */
		{ { DW_CFA_offset | 6, 0x80, 1 }, 3, JVS_ROW_SP },  /* 128 */
		{ { DW_CFA_offset | 6, 0 }, 2, JVS_ROW_BAD },	    /* at the CFA */
		{ { DW_CFA_register, 6, 3 }, 3, JVS_ROW_BAD },
		{ { DW_CFA_expression, 6, 1, DW_OP_lit0 }, 4, JVS_ROW_BAD },
		{ { DW_CFA_val_offset, 6, 1 }, 3, JVS_ROW_BAD },
		{ { DW_CFA_same_value, 6 }, 2, JVS_ROW_SP },
		{ { DW_CFA_register, 3, 2 }, 3, JVS_ROW_SP }, /* rbx does not matter */
		{ { DW_CFA_register, 16, 2 }, 3, JVS_ROW_BAD },
		{ { DW_CFA_offset | 16, 2 }, 2, JVS_ROW_BAD },
		{ { DW_CFA_offset | 13, 31 }, 2, JVS_ROW_SP | 31 << 3 },
		{ { DW_CFA_offset | 13, 32 }, 2, JVS_ROW_SP },
		{ { DW_CFA_offset_extended_sf, 13, 2 }, 3, JVS_ROW_SP | 2 << 3 },
		{ { 0x2f, 13, 0x7f }, 3, JVS_ROW_SP }, /* above the CFA */
		{ { DW_CFA_GNU_args_size, 16 }, 2, JVS_ROW_SP },
		{ { DW_CFA_restore_state }, 1, JVS_ROW_BAD }, /* nothing remembered */
		{ { 0x3f }, 1, JVS_ROW_BAD },		      /* no such instruction */
		{ { DW_CFA_def_cfa_expression, 0x7f, 1 }, 3, JVS_ROW_BAD }, /* cut */
		{ { DW_CFA_def_cfa, 7 }, 2, JVS_ROW_BAD },
	};
	size_t cie = put_usual_cie();

	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++) {
		begin_function(cie, TEXT + i * 0x20, 0x10);
		put(cases[i].program, cases[i].size);
		end_record();
	}
	ASSERT_INT(read_rows(), 0);
	ASSERT_INT(rows.count, 2 * ARRAY_SIZE(cases));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ASSERT_INT(rows.rows[2 * i].kind, cases[i].kind);
}

static void stays_inside_the_function(void)
{
	size_t cie = put_usual_cie();

	begin_function(cie, TEXT, 0x10);
	PUT({ DW_CFA_advance_loc4, 0xff, 0xff, 0xff, 0xff, DW_CFA_def_cfa_offset, 16 });
	end_record();
	begin_function(cie, TEXT + 0x20, 0x10);
	PUT({ DW_CFA_advance_loc | 0x10, DW_CFA_def_cfa_offset, 16 });
	end_record();
	begin_function(cie, TEXT + 0x40, 0x10);
	PUT({ DW_CFA_advance_loc | 0x0f, DW_CFA_def_cfa_offset, 16 });
	end_record();
	ASSERT_INT(read_rows(), 0);
	ASSERT_INT(rows.count, 7);
	expect_row(1, TEXT + 0x10, JVS_ROW_GAP, 0, 0);
	expect_row(3, TEXT + 0x30, JVS_ROW_GAP, 0, 0);
	expect_row(5, TEXT + 0x4f, JVS_ROW_SP, 2, 0);
}

static void leaves_out_functions_it_cannot_place(void)
{
	size_t cie = put_usual_cie();
	size_t odd = put_cie("zRX");

	begin_function(cie, TEXT, 0); /* empty */
	end_record();
	begin_function(cie, 0x3ffffff0, 0x20); /* too high */
	end_record();
	begin_function(cie, TEXT, 0xffffffff);
	end_record();
	begin_function(cie + 1, TEXT, 0x10); /* no CIE there */
	end_record();
	begin_function(odd, TEXT, 0x10); /* a letter not known */
	end_record();
	begin_record(0xfffffff0); /* before the section */
	end_record();
	begin_function(cie, TEXT + 0x100, 0x10);
	end_record();
	ASSERT_INT(read_rows(), 0);
	ASSERT_INT(rows.functions, 1);
	expect_row(0, TEXT + 0x100, JVS_ROW_SP, 1, 0);
}

static void functions_that_overlap_give_a_sorted_table(void)
{
	size_t cie = put_usual_cie();

	for (uint32_t i = 0; i < 100; i++) {
		begin_function(cie, TEXT + i * 7 % 50, 1 + i % 30);
		PUT({ DW_CFA_advance_loc | 3, DW_CFA_def_cfa_offset, 16 });
		end_record();
	}
	ASSERT_INT(read_rows(), 0);
	for (size_t i = 1; i < rows.count; i++)
		CU_ASSERT_FATAL(rows.rows[i - 1].address < rows.rows[i].address);
}

static void goes_on_behind_an_end_mark(void)
{
	size_t cie = put_usual_cie();

	put_u32(0);
	begin_function(cie, TEXT, 0x10);
	end_record();
	ASSERT_INT(read_rows(), 0);
	ASSERT_INT(rows.functions, 1);
}

static void keeps_what_comes_before_the_damage(void)
{
	static const uint32_t lengths[] = { 0xffffffff, 0x7fffffff, 0x1000, 3 };
	size_t size;

	begin_function(put_usual_cie(), TEXT, 0x10);
	end_record();
	size = section.size;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		section.size = size;
		put_u32(lengths[i]);
		put_u32(1);
		ASSERT_INT(read_rows(), 0);
		ASSERT_INT(rows.functions, 1);
		ehframe_free(&rows);
	}
}

static void survives_every_cut_and_many_changed_bytes(void)
{
	uint8_t whole[sizeof(section.bytes)];
	size_t size;

	reads_the_special_kinds();
	ehframe_free(&rows);
	size = section.size;
	memcpy(whole, section.bytes, size);
	for (size_t cut = 0; cut < size; cut++) {
		section.size = cut;
		if (read_rows() == 0)
			ehframe_free(&rows);
	}
	section.size = size;
	srand(1);
	for (int round = 0; round < 5000; round++) {
		memcpy(section.bytes, whole, size);
		for (int n = rand() % 4; n >= 0; n--)
			section.bytes[(size_t)rand() % size] = (uint8_t)rand();
		if (read_rows() == 0)
			ehframe_free(&rows);
	}
}

/* A LEB128 number that never ends, and one over 64 bits. */
static void reads_long_numbers(void)
{
	size_t cie = put_usual_cie();

	begin_function(cie, TEXT, 0x10);
	put_u8(DW_CFA_def_cfa_offset);
	for (int i = 0; i < 1000; i++)
		put_u8(0xff);
	end_record();
	begin_function(cie, TEXT + 0x10, 0x10);
	put_u8(DW_CFA_def_cfa_offset);
	for (int i = 0; i < 20; i++)
		put_u8(0x80);
	PUT({ 1, DW_CFA_def_cfa_offset, 0x90, 0x80, 0x80, 0 });
	end_record();
	ASSERT_INT(read_rows(), 0);
	expect_row(0, TEXT, JVS_ROW_BAD, 0, 0);
	expect_row(1, TEXT + 0x10, JVS_ROW_SP, 2, 0);
}

static void says_when_there_is_nothing(void)
{
	static struct elf_bytes elf;
	struct image *image;

	ASSERT_INT(read_rows(), -EBADMSG); /* an empty section */
	PUT({ 1, 2, 3, 4 });
	ASSERT_INT(read_rows(), -EBADMSG);
	elf_begin(&elf);
	elf_end(&elf);
	ASSERT_INT(image_open_bytes(elf_copy(&elf), elf.size, "test.so", &image), 0);
	ASSERT_INT(ehframe_rows(image, &rows), -ENOENT);
	CU_ASSERT_PTR_NULL(rows.rows);
	image_close(image);
}

/* Without section headers: through PT_GNU_EH_FRAME, up to the end mark. */
static void finds_the_section_through_its_header(void)
{
	static struct elf_bytes elf;
	uint8_t header[12] = { 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_omit, DW_EH_PE_omit };
	struct image *image;
	uint64_t frames;
	uint64_t at;
	int32_t distance;

	begin_function(put_usual_cie(), TEXT, 0x10);
	end_record();
	put_u32(0);
	PUT({ 0xff, 0xff, 0xff, 0xff });

	elf_begin(&elf);
	frames = elf_append(&elf, section.bytes, section.size);
	at = elf_append(&elf, header, sizeof(header));
	distance = (int32_t)(frames - (at + 4));
	memcpy(elf.bytes + at + 4, &distance, sizeof(distance));
	elf_add_segment(&elf, (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME,
					    .p_offset = at,
					    .p_vaddr = at + ELF_BASE,
					    .p_filesz = 12,
					    .p_memsz = 12 });
	elf_end(&elf);
	memset(elf.bytes + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
	ASSERT_INT(image_open_bytes(elf_copy(&elf), elf.size, "test.so", &image), 0);
	ASSERT_INT(ehframe_rows(image, &rows), 0);
	ASSERT_INT(rows.functions, 1);
	image_close(image);
}

static CU_TestInfo tests[] = {
	{ "reads a function with a frame pointer", reads_a_function_with_a_frame_pointer },
	{ "remembers and restores", remembers_and_restores },
	{ "a gap loses against a function that starts there",
	  a_gap_loses_against_a_function_that_starts_there },
	{ "functions with one rule become one row", functions_with_one_rule_become_one_row },
	{ "reads the special kinds", reads_the_special_kinds },
	{ "marks what a row cannot hold", marks_what_a_row_cannot_hold },
	{ "stays inside the function", stays_inside_the_function },
	{ "leaves out functions it cannot place", leaves_out_functions_it_cannot_place },
	{ "functions that overlap give a sorted table",
	  functions_that_overlap_give_a_sorted_table },
	{ "goes on behind an end mark", goes_on_behind_an_end_mark },
	{ "keeps what comes before the damage", keeps_what_comes_before_the_damage },
	{ "survives every cut and many changed bytes", survives_every_cut_and_many_changed_bytes },
	{ "reads long numbers", reads_long_numbers },
	{ "says when there is nothing", says_when_there_is_nothing },
	{ "finds the section through its header", finds_the_section_through_its_header },
	CU_TEST_INFO_NULL,
};

#else
static void setup(void)
{
}
#define teardown setup
static CU_TestInfo tests[] = { CU_TEST_INFO_NULL };
#endif

const CU_SuiteInfo target_ehframe_suite = {
	.pName = "ehframe",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
