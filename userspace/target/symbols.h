/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_SYMBOLS_H
#define JVMSCOPE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile;

/*
 * One symbol table of an ELF file, for this folder only. Compact: libjvm has 70,000 symbols.
 *
 * Addresses over 4 GiB and symbols without an address are left out. A zeroed struct is a valid
 * empty table.
 */
struct symbols {
	struct symbol *items; /* owned; the functions, sorted by address, then the rest */
	size_t functions;
	size_t count;
	char *names; /* owned */
	size_t names_size;
};

struct symbol {
	uint32_t vaddr;
	uint32_t size; /* 0: unknown */
	uint32_t name; /* offset into names */
	uint8_t kind;  /* of two at one address the better name has the higher one */
	bool function;
};

/*
 * Reads the table in section_name (".symtab", ".dynsym"). Returns 0, -ENOENT when there is none,
 * -ENOEXEC (damaged), -ENOMEM. On error *out is untouched.
 */
int symbols_read(const struct elffile *file, const char *section_name, struct symbols *out);

/*
 * The same with variables only: some thousand instead of 70,000, read in a tenth of the time.
 */
int symbols_read_objects(const struct elffile *file, const char *section_name, struct symbols *out);

/* By name, without the version ("@@GLIBC_2.2.5") it may carry, or NULL. */
const struct symbol *symbols_named(const struct symbols *symbols, const char *name);

/* The function that holds an address, or NULL. */
const struct symbol *symbols_function_at(const struct symbols *symbols, uint64_t vaddr);

/* Bytes of memory held. */
size_t symbols_memory(const struct symbols *symbols);

void symbols_free(struct symbols *symbols);

#endif
