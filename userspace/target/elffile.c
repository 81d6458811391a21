/* SPDX-License-Identifier: Apache-2.0 */
#include "target/elffile.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#endif

/* libjvm has 10 segments and 35 sections; a file built with -ffunction-sections is linked. */
#define SEGMENTS_MAX	  256
#define SECTIONS_MAX	  4096
#define SECTION_NAMES_MAX (1u << 20)

static int read_at(int fd, uint64_t offset, uint8_t *to, size_t size)
{
	size_t done = 0;
	ssize_t got;

	while (done < size) {
		got = pread(fd, to + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -ENOEXEC;
		done += (size_t)got;
	}
	return 0;
}

int elffile_load(const struct elffile *file, uint64_t offset, uint64_t size, uint8_t **out)
{
	uint8_t *bytes;
	int err = 0;

	if (offset > file->size || size > file->size - offset || size > ELFFILE_LOAD_MAX)
		return -ENOEXEC;
	bytes = malloc(size + 1);
	if (!bytes)
		return -ENOMEM;
	if (file->bytes)
		memcpy(bytes, file->bytes + offset, size);
	else
		err = read_at(file->fd, offset, bytes, size);
	if (err) {
		free(bytes);
		return err;
	}
	bytes[size] = '\0';
	*out = bytes;
	return 0;
}

static int check_header(const Elf64_Ehdr *header)
{
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	if (header->e_machine != MACHINE || (header->e_type != ET_DYN && header->e_type != ET_EXEC))
		return -ENOEXEC;
	if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 ||
	    header->e_phnum > SEGMENTS_MAX)
		return -ENOEXEC;
	return 0;
}

static int read_segments(struct elffile *file, const Elf64_Ehdr *header)
{
	size_t size = header->e_phnum * sizeof(Elf64_Phdr);
	struct cursor c;
	Elf64_Phdr from;
	uint8_t *table;
	int err = elffile_load(file, header->e_phoff, size, &table);

	if (err)
		return err;
	file->segments = calloc(header->e_phnum, sizeof(*file->segments));
	if (!file->segments) {
		free(table);
		return -ENOMEM;
	}
	c = cursor_of(table, size);
	for (size_t i = 0; i < header->e_phnum; i++) {
		memcpy(&from, cursor_bytes(&c, sizeof(from)), sizeof(from));
		if (from.p_offset > file->size || from.p_vaddr + from.p_memsz < from.p_vaddr)
			continue;
		if (from.p_filesz > file->size - from.p_offset)
			from.p_filesz = file->size - from.p_offset;
		file->segments[file->segment_count++] = (struct elffile_segment){
			.type = from.p_type,
			.flags = from.p_flags,
			.offset = from.p_offset,
			.vaddr = from.p_vaddr,
			.file_size = from.p_filesz,
			.mem_size = from.p_memsz,
			.align = from.p_align,
		};
	}
	free(table);
	return 0;
}

static void read_section_names(struct elffile *file, size_t index)
{
	const struct elffile_section *names = &file->sections[index];

	if (index >= file->section_count || names->size > SECTION_NAMES_MAX)
		return;
	if (elffile_load(file, names->offset, names->size, &file->section_names) == 0)
		file->section_names_size = names->size;
}

/* Section headers are a help, not a need: without them there are no symbols. */
static int read_sections(struct elffile *file, const Elf64_Ehdr *header)
{
	size_t size = header->e_shnum * sizeof(Elf64_Shdr);
	struct cursor c;
	Elf64_Shdr from;
	uint8_t *table;

	if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum > SECTIONS_MAX ||
	    header->e_shnum == 0 || elffile_load(file, header->e_shoff, size, &table))
		return 0;
	file->sections = calloc(header->e_shnum, sizeof(*file->sections));
	if (!file->sections) {
		free(table);
		return -ENOMEM;
	}
	c = cursor_of(table, size);
	for (size_t i = 0; i < header->e_shnum; i++) {
		memcpy(&from, cursor_bytes(&c, sizeof(from)), sizeof(from));
		file->sections[i] = (struct elffile_section){
			.name = from.sh_name,
			.type = from.sh_type,
			.link = from.sh_link,
			.vaddr = from.sh_addr,
			.offset = from.sh_offset,
			.size = from.sh_size,
		};
	}
	file->section_count = header->e_shnum;
	free(table);
	read_section_names(file, header->e_shstrndx);
	return 0;
}

static int read_headers(struct elffile *file)
{
	Elf64_Ehdr header;
	uint8_t *bytes;
	int err = elffile_load(file, 0, sizeof(header), &bytes);

	if (err)
		return err;
	memcpy(&header, bytes, sizeof(header));
	free(bytes);
	err = check_header(&header);
	if (!err)
		err = read_segments(file, &header);
	if (!err)
		err = read_sections(file, &header);
	return err;
}

static int open_file(struct elffile *file, struct elffile *out)
{
	int err = read_headers(file);

	if (err) {
		/* The caller keeps what it gave. */
		file->fd = -1;
		file->bytes = NULL;
		elffile_close(file);
		return err;
	}
	*out = *file;
	return 0;
}

int elffile_open(int fd, struct elffile *out)
{
	struct elffile file = { .fd = fd };
	struct stat stat;

	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode))
		return -ENOEXEC;
	file.size = (uint64_t)stat.st_size;
	return open_file(&file, out);
}

int elffile_open_bytes(uint8_t *bytes, size_t size, struct elffile *out)
{
	struct elffile file = { .fd = -1, .size = size };

	file.bytes = bytes;
	return open_file(&file, out);
}

void elffile_close(struct elffile *file)
{
	for (size_t i = 0; i < file->segment_count; i++)
		free(file->segments[i].bytes);
	if (file->fd >= 0)
		close(file->fd);
	free(file->bytes);
	free(file->segments);
	free(file->sections);
	free(file->section_names);
	*file = (struct elffile){ .fd = -1 };
}

const struct elffile_section *elffile_section(const struct elffile *file, const char *name)
{
	const struct elffile_section *section;

	for (size_t i = 0; i < file->section_count; i++) {
		section = &file->sections[i];
		if (section->type == SHT_NOBITS || section->name >= file->section_names_size)
			continue;
		if (strcmp((const char *)file->section_names + section->name, name) != 0)
			continue;
		if (section->offset <= file->size && section->size <= file->size - section->offset)
			return section;
	}
	return NULL;
}

struct elffile_segment *elffile_segment_at(const struct elffile *file, uint64_t vaddr)
{
	struct elffile_segment *segment;

	for (size_t i = 0; i < file->segment_count; i++) {
		segment = &file->segments[i];
		if (segment->type == PT_LOAD && vaddr >= segment->vaddr &&
		    vaddr - segment->vaddr < segment->file_size)
			return segment;
	}
	return NULL;
}

size_t elffile_memory(const struct elffile *file)
{
	size_t size = file->segment_count * sizeof(*file->segments) +
		      file->section_count * sizeof(*file->sections) + file->section_names_size;

	for (size_t i = 0; i < file->segment_count; i++)
		size += file->segments[i].bytes ? file->segments[i].file_size : 0;
	return size + (file->bytes ? file->size : 0);
}
