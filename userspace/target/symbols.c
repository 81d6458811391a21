/* SPDX-License-Identifier: Apache-2.0 */
#include "target/symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "target/elffile.h"

/*
 * How many symbols before the nearest one are looked at: a label inside a function hides the
 * function's own symbol.
 */
#define LOOK_BACK 16

/* As many characters decide between two names: a damaged file can have a million long ones. */
#define NAME_COMPARED 64

static bool is_defined(const Elf64_Sym *from, size_t names_size)
{
	int type = ELF64_ST_TYPE(from->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_OBJECT)
		return false;
	if (from->st_shndx == SHN_UNDEF || from->st_shndx == SHN_ABS)
		return false;
	return from->st_value && from->st_value <= UINT32_MAX && from->st_name < names_size;
}

/* Global before weak before local. */
static uint8_t kind_of(const Elf64_Sym *from)
{
	switch (ELF64_ST_BIND(from->st_info)) {
	case STB_GLOBAL:
		return 2;
	case STB_WEAK:
		return 1;
	default:
		return 0;
	}
}

static void fill(const uint8_t *table, size_t size, bool objects, struct symbols *out)
{
	struct cursor c = cursor_of(table, size);
	Elf64_Sym from;
	int type;

	while (cursor_left(&c) >= sizeof(from)) {
		memcpy(&from, cursor_bytes(&c, sizeof(from)), sizeof(from));
		if (!is_defined(&from, out->names_size))
			continue;
		type = ELF64_ST_TYPE(from.st_info);
		if (objects && type != STT_OBJECT)
			continue;
		out->items[out->count++] = (struct symbol){
			.vaddr = (uint32_t)from.st_value,
			.size = from.st_size > UINT32_MAX ? UINT32_MAX : (uint32_t)from.st_size,
			.name = from.st_name,
			.kind = kind_of(&from),
			.function = type != STT_OBJECT,
		};
	}
}

static size_t leading_marks(const char *name)
{
	size_t count = 0;

	while (count < NAME_COMPARED && name[count] == '_')
		count++;
	return count;
}

/* "read" before "__read"; and always the same one of several. */
static int compare_names(const char *x, const char *y)
{
	size_t x_marks = leading_marks(x);
	size_t y_marks = leading_marks(y);

	if (x_marks != y_marks)
		return x_marks > y_marks ? -1 : 1;
	return strncmp(y, x, NAME_COMPARED);
}

/* Functions first, by address; at one address the best name last. */
static int compare(const void *a, const void *b, void *names)
{
	const struct symbol *x = a;
	const struct symbol *y = b;

	if (x->function != y->function)
		return x->function ? -1 : 1;
	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return compare_names((const char *)names + x->name, (const char *)names + y->name);
}

static void sort(struct symbols *symbols)
{
	struct symbol *smaller;

	if (!symbols->count)
		return;
	qsort_r(symbols->items, symbols->count, sizeof(*symbols->items), compare, symbols->names);
	while (symbols->functions < symbols->count && symbols->items[symbols->functions].function)
		symbols->functions++;
	smaller = reallocarray(symbols->items, symbols->count, sizeof(*smaller));
	if (smaller)
		symbols->items = smaller;
}

static int read_tables(const struct elffile *file, const struct elffile_section *table,
		       const struct elffile_section *names, bool objects, struct symbols *out)
{
	uint8_t *bytes = NULL;
	uint8_t *text;
	int err;

	err = elffile_load(file, names->offset, names->size, &text);
	if (err)
		return err;
	out->names = (char *)text;
	out->names_size = names->size;

	err = elffile_load(file, table->offset, table->size, &bytes);
	if (err)
		return err;
	out->items = calloc(table->size / sizeof(Elf64_Sym) + 1, sizeof(*out->items));
	if (out->items)
		fill(bytes, table->size, objects, out);
	free(bytes);
	return out->items ? 0 : -ENOMEM;
}

static int read_section(const struct elffile *file, const char *section_name, bool objects,
			struct symbols *out)
{
	const struct elffile_section *table = elffile_section(file, section_name);
	struct symbols symbols = { 0 };
	int err;

	if (!table)
		return -ENOENT;
	if (table->link >= file->section_count)
		return -ENOEXEC;
	err = read_tables(file, table, &file->sections[table->link], objects, &symbols);
	if (err) {
		symbols_free(&symbols);
		return err;
	}
	sort(&symbols);
	*out = symbols;
	return 0;
}

int symbols_read(const struct elffile *file, const char *section_name, struct symbols *out)
{
	return read_section(file, section_name, false, out);
}

int symbols_read_objects(const struct elffile *file, const char *section_name, struct symbols *out)
{
	return read_section(file, section_name, true, out);
}

const struct symbol *symbols_named(const struct symbols *symbols, const char *name)
{
	size_t len = strlen(name);
	const char *other;

	for (size_t i = 0; i < symbols->count; i++) {
		other = symbols->names + symbols->items[i].name;
		if (!strncmp(other, name, len) && (!other[len] || other[len] == '@'))
			return &symbols->items[i];
	}
	return NULL;
}

/* How many functions start at or below an address. */
static size_t functions_up_to(const struct symbols *symbols, uint64_t vaddr)
{
	size_t low = 0;
	size_t high = symbols->functions;
	size_t middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (symbols->items[middle].vaddr <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct symbol *symbols_function_at(const struct symbols *symbols, uint64_t vaddr)
{
	size_t at = functions_up_to(symbols, vaddr);
	const struct symbol *without_size = NULL;
	const struct symbol *symbol;

	for (size_t n = 0; n < LOOK_BACK && n < at; n++) {
		symbol = &symbols->items[at - 1 - n];
		if (vaddr - symbol->vaddr < symbol->size)
			return symbol;
		if (n == 0 && !symbol->size)
			without_size = symbol;
	}
	return without_size;
}

size_t symbols_memory(const struct symbols *symbols)
{
	return symbols->count * sizeof(*symbols->items) + symbols->names_size;
}

void symbols_free(struct symbols *symbols)
{
	free(symbols->items);
	free(symbols->names);
	*symbols = (struct symbols){ 0 };
}
