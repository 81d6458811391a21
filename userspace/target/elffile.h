/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_ELFFILE_H
#define JVMSCOPE_ELFFILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The structure of one 64-bit ELF file of this machine, for this folder only.
 *
 * Read with pread, never mapped: a file that is cut short under us is then a failed read, not a
 * SIGBUS, and only what is needed takes memory. Nothing in the file is trusted: a table that
 * does not lie inside the file is as if absent.
 */

/* A load over this is refused. The largest .eh_frame known to us has 20 MB. */
#define ELFFILE_LOAD_MAX (64u << 20)

struct elffile_segment {
	uint32_t type;
	uint32_t flags;
	uint64_t offset;
	uint64_t vaddr;
	uint64_t file_size; /* never reaches beyond the end of the file */
	uint64_t mem_size;  /* with what is zero at the start and has no bytes in the file */
	uint64_t align;
	uint8_t *bytes; /* owned; loaded by image_bytes(), NULL before */
};

struct elffile_section {
	uint32_t name; /* offset into section_names */
	uint32_t type;
	uint32_t link;
	uint64_t vaddr;
	uint64_t offset;
	uint64_t size;
};

struct elffile {
	int fd;		/* owned; -1: bytes are used */
	uint8_t *bytes; /* owned; NULL: fd is used */
	uint64_t size;
	struct elffile_segment *segments; /* owned */
	size_t segment_count;
	struct elffile_section *sections; /* owned; none when the file has no section headers */
	size_t section_count;
	uint8_t *section_names; /* owned; NUL-terminated */
	size_t section_names_size;
};

/*
 * Reads the headers. fd or bytes are taken over on success. Returns 0, -ENOEXEC (not a 64-bit ELF
 * file of this machine, or damaged), -ENOMEM. On error *out is untouched.
 */
int elffile_open(int fd, struct elffile *out);
int elffile_open_bytes(uint8_t *bytes, size_t size, struct elffile *out);
void elffile_close(struct elffile *file);

/* A copy of size bytes at an offset, with a NUL behind them. -ENOEXEC when they are not there. */
int elffile_load(const struct elffile *file, uint64_t offset, uint64_t size, uint8_t **out);

/* A section by name, whose bytes lie inside the file, or NULL. */
const struct elffile_section *elffile_section(const struct elffile *file, const char *name);

/* The PT_LOAD segment whose bytes in the file hold a virtual address, or NULL. */
struct elffile_segment *elffile_segment_at(const struct elffile *file, uint64_t vaddr);

/* Bytes of memory held. */
size_t elffile_memory(const struct elffile *file);

#endif
