/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_ELF_BYTES_H
#define JVMSCOPE_ELF_BYTES_H

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Small ELF files for tests, built piece by piece: begin, append bytes, name them as sections and
 * segments, end.
 *
 * The first segment covers the whole file; a virtual address is the file offset + ELF_BASE.
 */
#define ELF_BASE 0x400000u

#if defined(__aarch64__)
#define ELF_MACHINE EM_AARCH64
#else
#define ELF_MACHINE EM_X86_64
#endif

struct elf_bytes {
	uint8_t bytes[96 * 1024];
	size_t size;
	Elf64_Phdr segments[8];
	size_t segment_count;
	Elf64_Shdr sections[16];
	size_t section_count;
	char names[256];
	size_t names_size;
};

/* Appends at a multiple of 8; the file offset. */
static inline uint64_t elf_append(struct elf_bytes *elf, const void *bytes, size_t size)
{
	uint64_t at = (elf->size + 7) / 8 * 8;

	if (at + size > sizeof(elf->bytes))
		abort();
	if (size)
		memcpy(elf->bytes + at, bytes, size);
	elf->size = at + size;
	return at;
}

static inline void elf_begin(struct elf_bytes *elf)
{
	memset(elf, 0, sizeof(*elf));
	elf->size = sizeof(Elf64_Ehdr);
	elf->section_count = 1; /* the first is empty */
	elf->names_size = 1;
	elf->segment_count = 1; /* the whole file, filled at the end */
}

static inline void elf_add_segment(struct elf_bytes *elf, Elf64_Phdr segment)
{
	elf->segments[elf->segment_count++] = segment;
}

/* The index of the section. */
static inline size_t elf_add_section(struct elf_bytes *elf, const char *name, Elf64_Shdr section)
{
	section.sh_name = (uint32_t)elf->names_size;
	section.sh_addr = section.sh_offset + ELF_BASE;
	elf->sections[elf->section_count] = section;
	memcpy(elf->names + elf->names_size, name, strlen(name) + 1);
	elf->names_size += strlen(name) + 1;
	return elf->section_count++;
}

/* Appends bytes and names them. */
static inline uint64_t elf_add_bytes(struct elf_bytes *elf, const char *name, const void *bytes,
				     size_t size)
{
	uint64_t at = elf_append(elf, bytes, size);

	elf_add_section(elf, name,
			(Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_offset = at, .sh_size = size });
	return at;
}

struct elf_symbol {
	const char *name;
	uint64_t vaddr;
	uint64_t size;
	uint8_t type;
	uint8_t bind;
};

/* Adds ".symtab" or ".dynsym" and its strings. */
static inline void elf_add_symbols(struct elf_bytes *elf, const char *table,
				   const struct elf_symbol *symbols, size_t count)
{
	Elf64_Sym entries[64] = { 0 };
	char strings[2048] = { 0 };
	size_t used = 1;
	uint64_t at;
	size_t link;

	for (size_t i = 0; i < count; i++) {
		entries[i + 1] = (Elf64_Sym){
			.st_name = (uint32_t)used,
			.st_info = ELF64_ST_INFO(symbols[i].bind, symbols[i].type),
			.st_shndx = symbols[i].vaddr ? 1 : SHN_UNDEF,
			.st_value = symbols[i].vaddr,
			.st_size = symbols[i].size,
		};
		memcpy(strings + used, symbols[i].name, strlen(symbols[i].name) + 1);
		used += strlen(symbols[i].name) + 1;
	}
	at = elf_append(elf, strings, used);
	link = elf_add_section(
		elf, table[1] == 'd' ? ".dynstr" : ".strtab",
		(Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = used });
	at = elf_append(elf, entries, (count + 1) * sizeof(entries[0]));
	elf_add_section(elf, table,
			(Elf64_Shdr){ .sh_type = SHT_SYMTAB,
				      .sh_offset = at,
				      .sh_size = (count + 1) * sizeof(entries[0]),
				      .sh_link = (uint32_t)link });
}

static inline void elf_add_build_id(struct elf_bytes *elf, uint8_t fill, uint32_t size)
{
	uint32_t note[3 + 1 + 5] = { 4, size, NT_GNU_BUILD_ID };
	uint64_t at;

	memcpy(&note[3], "GNU", 4);
	memset(&note[4], fill, size);
	at = elf_append(elf, note, 16 + size);
	elf_add_segment(elf, (Elf64_Phdr){ .p_type = PT_NOTE,
					   .p_offset = at,
					   .p_vaddr = at + ELF_BASE,
					   .p_filesz = 16 + size,
					   .p_memsz = 16 + size,
					   .p_align = 4 });
}

/* Writes the tables. elf->bytes and elf->size are the file. */
static inline void elf_end(struct elf_bytes *elf)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, 1 },
		.e_type = ET_DYN,
		.e_machine = ELF_MACHINE,
		.e_version = 1,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	uint64_t names = elf_append(elf, elf->names, sizeof(elf->names));

	header.e_shstrndx = (uint16_t)elf_add_section(
		elf, ".shstrtab",
		(Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = names, .sh_size = 256 });
	memcpy(elf->bytes + names, elf->names, sizeof(elf->names));
	header.e_shnum = (uint16_t)elf->section_count;
	header.e_phnum = (uint16_t)elf->segment_count;
	header.e_shoff =
		elf_append(elf, elf->sections, elf->section_count * sizeof(elf->sections[0]));
	header.e_phoff =
		elf_append(elf, elf->segments, elf->segment_count * sizeof(elf->segments[0]));
	elf->segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
					 .p_flags = PF_R | PF_X,
					 .p_vaddr = ELF_BASE,
					 .p_filesz = elf->size,
					 .p_memsz = elf->size,
					 .p_align = 4096 };
	memcpy(elf->bytes + header.e_phoff, elf->segments,
	       elf->segment_count * sizeof(elf->segments[0]));
	memcpy(elf->bytes, &header, sizeof(header));
}

/* The file as malloc'd bytes. */
static inline uint8_t *elf_copy(const struct elf_bytes *elf)
{
	uint8_t *copy = malloc(elf->size);

	if (!copy)
		abort();
	memcpy(copy, elf->bytes, elf->size);
	return copy;
}

#endif
