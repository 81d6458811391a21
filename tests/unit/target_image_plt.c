/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "target/image.h"
#include "unit/elf_bytes.h"
#include "unit/unit.h"

#ifdef __x86_64__

/* A small file that calls two functions of another, the second by a stub built for CET. */

#define SLOT 0x500100u

struct file {
	struct elf_bytes elf;
	uint64_t plain, cet, neither; /* addresses of stubs */
};

/* "jmp *slot(%rip)" behind what comes before it. */
static uint64_t add_stub(struct elf_bytes *elf, const uint8_t *before, size_t size, uint32_t slot)
{
	uint8_t code[16] = { 0 };
	uint64_t at = elf_append(elf, NULL, 0) + ELF_BASE;
	uint32_t distance = slot - (uint32_t)(at + size + 6);

	memcpy(code, before, size);
	code[size] = 0xff;
	code[size + 1] = 0x25;
	memcpy(code + size + 2, &distance, sizeof(distance));
	elf_append(elf, code, sizeof(code));
	return at;
}

static void make_file(struct file *file)
{
	static const struct elf_symbol symbols[] = {
		{ "malloc", 0, 0, STT_FUNC, STB_GLOBAL },
		{ "free", 0, 0, STT_FUNC, STB_GLOBAL },
	};
	static const uint8_t cet[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2 };
	static const uint8_t ret[16] = { 0xc3 };
	Elf64_Rela relocations[] = {
		{ SLOT, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0 },
		{ SLOT + 8, ELF64_R_INFO(2, R_X86_64_JUMP_SLOT), 0 },
		{ SLOT + 16, ELF64_R_INFO(77, R_X86_64_JUMP_SLOT),
		  0 }, /* there is no such symbol */
	};
	uint64_t at;

	elf_begin(&file->elf);
	file->plain = add_stub(&file->elf, cet, 0, SLOT);
	file->cet = add_stub(&file->elf, cet, sizeof(cet), SLOT + 8);
	file->neither = elf_append(&file->elf, ret, sizeof(ret)) + ELF_BASE;
	elf_add_symbols(&file->elf, ".dynsym", symbols, ARRAY_SIZE(symbols));
	at = elf_append(&file->elf, relocations, sizeof(relocations));
	elf_add_section(&file->elf, ".rela.plt",
			(Elf64_Shdr){ .sh_type = SHT_RELA,
				      .sh_offset = at,
				      .sh_size = sizeof(relocations),
				      .sh_link = (uint32_t)file->elf.section_count - 1 });
	elf_end(&file->elf);
}

static struct image *open_file(const struct file *file)
{
	uint8_t *bytes = elf_copy(&file->elf);
	struct image *image = NULL;

	if (image_open_bytes(bytes, file->elf.size, "test.so", &image))
		free(bytes);
	return image;
}

static void knows_stubs_of_functions_elsewhere(void)
{
	struct file file;
	struct image *image;

	make_file(&file);
	image = open_file(&file);
	CU_ASSERT_PTR_NOT_NULL_FATAL(image);
	CU_ASSERT_TRUE(image_imports(image, file.plain, "malloc"));
	CU_ASSERT_FALSE(image_imports(image, file.plain, "free"));
	CU_ASSERT_FALSE(image_imports(image, file.plain, "mallocx"));
	CU_ASSERT_FALSE(image_imports(image, file.plain, "mall"));
	CU_ASSERT_TRUE(image_imports(image, file.cet, "free"));
	CU_ASSERT_FALSE(image_imports(image, file.cet, "malloc"));
	CU_ASSERT_FALSE(image_imports(image, file.neither, "malloc"));
	CU_ASSERT_FALSE(image_imports(image, file.plain + 1, "malloc"));
	CU_ASSERT_FALSE(image_imports(image, 0, "malloc"));
	CU_ASSERT_FALSE(image_imports(image, UINT64_MAX, "malloc"));
	image_close(image);
}

/* A jump by a slot that no relocation fills, or one of a symbol that is not there. */
static void knows_nothing_of_other_slots(void)
{
	struct file file;
	struct image *image;
	uint32_t distance;

	for (uint32_t slot = SLOT + 16; slot <= SLOT + 24; slot += 8) {
		make_file(&file);
		distance = slot - (uint32_t)(file.plain + 6);
		memcpy(file.elf.bytes + (file.plain - ELF_BASE) + 2, &distance, sizeof(distance));
		image = open_file(&file);
		CU_ASSERT_PTR_NOT_NULL_FATAL(image);
		CU_ASSERT_FALSE(image_imports(image, file.plain, "malloc"));
		image_close(image);
	}
}

static void survives_changed_bytes(void)
{
	struct image *image;
	struct file file;

	make_file(&file);
	for (size_t at = 0; at < file.elf.size; at++) {
		uint8_t kept = file.elf.bytes[at];

		for (int bit = 0; bit < 8; bit++) {
			file.elf.bytes[at] = (uint8_t)(kept ^ 1u << bit);
			image = open_file(&file);
			if (image)
				image_imports(image, file.plain, "malloc");
			image_close(image);
		}
		file.elf.bytes[at] = kept;
	}
	CU_PASS("no read outside of the file");
}

#endif

static CU_TestInfo tests[] = {
#ifdef __x86_64__
	{ "knows stubs of functions elsewhere", knows_stubs_of_functions_elsewhere },
	{ "knows nothing of other slots", knows_nothing_of_other_slots },
	{ "survives changed bytes", survives_changed_bytes },
#endif
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo target_image_plt_suite = { .pName = "image_plt", .pTests = tests };
