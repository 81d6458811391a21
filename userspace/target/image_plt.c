/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "target/elffile.h"
#include "target/image.h"
#include "target/image_file.h"

/* The part of image.h about calls of functions that other files have. */

#define STUB_SIZE      16
#define RELOCATION_MAX (1u << 16)

/*
 * The slot that a stub of the procedure linkage table jumps by: "jmp *slot(%rip)", with endbr64
 * and a bnd prefix before it where it was built for CET. 0: it is none.
 */
static uint64_t slot_of(const struct elffile *file, uint64_t stub)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const struct elffile_segment *segment = elffile_segment_at(file, stub);
	struct cursor c;
	uint8_t *code;
	uint64_t slot = 0;

	if (!segment ||
	    elffile_load(file, segment->offset + (stub - segment->vaddr), STUB_SIZE, &code))
		return 0;
	c = cursor_of(code, STUB_SIZE);
	if (!memcmp(code, endbr64, sizeof(endbr64)))
		cursor_bytes(&c, sizeof(endbr64));
	if (*c.at == 0xf2)
		cursor_u8(&c);
	if (cursor_u16(&c) == 0x25ff) {
		slot = stub + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
		slot += (uint64_t)(c.at - code);
	}
	free(code);
	return slot;
}

/* The number of the symbol whose address the loader puts in a slot. 0: none. */
static uint64_t symbol_of(const struct elffile *file, const struct elffile_section *table,
			  uint64_t slot)
{
	uint64_t count = table->size / sizeof(Elf64_Rela), symbol = 0;
	uint8_t *bytes;

	if (count > RELOCATION_MAX || elffile_load(file, table->offset, table->size, &bytes))
		return 0;
	for (uint64_t i = 0; i < count && !symbol; i++) {
		Elf64_Rela entry;

		memcpy(&entry, bytes + i * sizeof(entry), sizeof(entry));
		if (entry.r_offset == slot)
			symbol = ELF64_R_SYM(entry.r_info);
	}
	free(bytes);
	return symbol;
}

/* Bytes of a section, or NULL; to be freed. */
static uint8_t *load_from(const struct elffile *file, uint32_t section, uint64_t offset,
			  uint64_t size)
{
	const struct elffile_section *from;
	uint8_t *bytes;

	if (section >= file->section_count)
		return NULL;
	from = &file->sections[section];
	if (offset > from->size || size > from->size - offset ||
	    from->offset + offset < from->offset ||
	    elffile_load(file, from->offset + offset, size, &bytes))
		return NULL;
	return bytes;
}

static bool is_named(const struct elffile *file, uint32_t symbols, uint64_t symbol,
		     const char *name)
{
	size_t length = strlen(name) + 1;
	Elf64_Sym entry;
	uint8_t *bytes = load_from(file, symbols, symbol * sizeof(entry), sizeof(entry));
	bool same;

	if (!bytes)
		return false;
	memcpy(&entry, bytes, sizeof(entry));
	free(bytes);
	bytes = load_from(file, file->sections[symbols].link, entry.st_name, length);
	same = bytes && !memcmp(bytes, name, length);
	free(bytes);
	return same;
}

bool image_imports(const struct image *image, uint64_t vaddr, const char *name)
{
	const struct elffile *file = image_file(image);
	const struct elffile_section *table = elffile_section(file, ".rela.plt");
	uint64_t slot = slot_of(file, vaddr), symbol = 0;

	if (slot && table)
		symbol = symbol_of(file, table, slot);
	return symbol && is_named(file, table->link, symbol, name);
}
