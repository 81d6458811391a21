/* SPDX-License-Identifier: Apache-2.0 */
#include "target/ehframe.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/map64.h"
#include "target/ehframe_cfa.h"
#include "target/elffile.h"
#include "target/image.h"
#include "target/image_file.h"

/* An image that reaches higher gets no rows there: the index takes 4 bytes for each 256. */
#define ADDRESS_MAX (1ull << 30)

#define HEADER_SIZE 12	  /* as much of .eh_frame_hdr as is needed */
#define CIES_MAX    16384 /* of one image; the linker leaves a handful */

/* The records of one section, while they are read. */
struct reader {
	struct eh_section section;
	bool exact_size;     /* of the section; else it may run into the next one */
	struct eh_cie *cies; /* owned */
	size_t cie_count;
	size_t cie_capacity;
	struct map64 cie_at; /* offset in the section to index in cies */
	struct eh_rows rows;
	size_t functions;
};

/* ---- finding the section */

/* Where .eh_frame_hdr says that .eh_frame is, or 0. */
static uint64_t section_start(const struct image *image)
{
	const struct elffile *file = image_file(image);
	struct eh_section header = { .size = HEADER_SIZE };
	const struct elffile_segment *segment;
	uint64_t start = 0;
	uint8_t *bytes;
	struct cursor c;
	uint8_t encoding;
	size_t size;

	if (!image_eh_frame_hdr(image, &header.vaddr, &size) || size < HEADER_SIZE)
		return 0;
	segment = elffile_segment_at(file, header.vaddr);
	if (!segment || elffile_load(file, header.vaddr - segment->vaddr + segment->offset,
				     HEADER_SIZE, &bytes))
		return 0;
	header.bytes = bytes;
	c = cursor_of(bytes, HEADER_SIZE);
	if (cursor_u8(&c) == 1) {
		encoding = cursor_u8(&c);
		cursor_u16(&c); /* encodings of the search table, which is not used */
		start = eh_pointer(&header, &c, encoding);
	}
	free(bytes);
	return c.failed ? 0 : start;
}

/* Loads the section; *owned is to be freed. */
static int load_section(const struct image *image, struct reader *reader, uint8_t **owned)
{
	const struct elffile *file = image_file(image);
	const struct elffile_section *section = elffile_section(file, ".eh_frame");
	uint64_t start = section_start(image);
	const struct elffile_segment *segment;
	uint64_t size;
	int err;

	if (!start && section)
		start = section->vaddr;
	segment = start ? elffile_segment_at(file, start) : NULL;
	if (!segment)
		return -ENOENT;
	size = segment->file_size - (start - segment->vaddr);
	reader->exact_size = section && section->vaddr == start && section->size <= size;
	if (reader->exact_size)
		size = section->size;
	if (size > ELFFILE_LOAD_MAX)
		size = ELFFILE_LOAD_MAX;
	err = elffile_load(file, start - segment->vaddr + segment->offset, size, owned);
	if (err)
		return err == -ENOMEM ? err : -EBADMSG;
	reader->section = (struct eh_section){ .bytes = *owned, .size = size, .vaddr = start };
	return 0;
}

/* ---- reading records */

static int add_cie(struct reader *reader, size_t offset, struct cursor *c)
{
	size_t capacity = reader->cie_capacity ? reader->cie_capacity * 2 : 16;
	struct eh_cie *cies;
	struct eh_cie cie;

	if (reader->cie_count == CIES_MAX || !eh_read_cie(&reader->section, c, &cie))
		return 0;
	if (reader->cie_count == reader->cie_capacity) {
		cies = reallocarray(reader->cies, capacity, sizeof(*cies));
		if (!cies)
			return -ENOMEM;
		reader->cies = cies;
		reader->cie_capacity = capacity;
	}
	reader->cies[reader->cie_count] = cie;
	return map64_set(&reader->cie_at, offset, (uint32_t)reader->cie_count++);
}

/* A function whose CIE is not known, or lies behind it, is left out. */
static int add_function(struct reader *reader, uint64_t cie_offset, struct cursor *c)
{
	struct eh_function function = { .section = &reader->section };
	const struct eh_cie *cie;
	uint64_t size;
	uint32_t index;

	if (!map64_get(&reader->cie_at, cie_offset, &index) || index >= reader->cie_count)
		return 0;
	cie = &reader->cies[index];
	function.cie = cie;
	function.start = eh_pointer(&reader->section, c, cie->pointer_encoding);
	size = eh_pointer(&reader->section, c, cie->pointer_encoding & 0x0f);
	if (cie->has_augmentation_size)
		cursor_bytes(c, cursor_uleb(c));
	if (c->failed || size == 0 || size > ADDRESS_MAX || function.start > ADDRESS_MAX - size)
		return 0;
	function.end = function.start + size;
	function.program = *c;
	reader->functions++;
	return eh_add_function(&function, &reader->rows);
}

/*
 * The length of the next record, 0 for none: an end mark, which the linker also leaves between
 * the parts of its input when the section's size says that more follows.
 */
static bool next_record(const struct reader *reader, struct cursor *c, uint64_t *length)
{
	*length = 0;
	while (cursor_left(c) >= 4 && *length == 0) {
		*length = cursor_u32(c);
		if (*length == 0 && !reader->exact_size)
			return false;
	}
	return *length && *length <= cursor_left(c);
}

static int read_records(struct reader *reader)
{
	struct cursor c = cursor_of(reader->section.bytes, reader->section.size);
	struct cursor record;
	uint64_t length;
	uint64_t id_offset;
	uint32_t id;
	int err = 0;

	while (!err && next_record(reader, &c, &length)) {
		id_offset = (uint64_t)(c.at - reader->section.bytes);
		record = cursor_of(cursor_bytes(&c, length), length);
		id = cursor_u32(&record);
		if (record.failed)
			continue;
		/* The id is 0, or the distance back to the CIE's start. */
		if (id == 0)
			err = add_cie(reader, id_offset - 4, &record);
		else if (id <= id_offset)
			err = add_function(reader, id_offset - id, &record);
	}
	return err == -E2BIG ? 0 : err;
}

/* ---- rows to table */

static bool is_gap(const struct jvs_row *row)
{
	return row->kind == JVS_ROW_GAP;
}

/* At one address a function's row comes after the gap of the one before it. */
static int compare(const void *a, const void *b)
{
	const struct jvs_row *x = a;
	const struct jvs_row *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (is_gap(x) != is_gap(y))
		return is_gap(x) ? -1 : 1;
	/* Damaged: any order, but always the same one. */
	return memcmp(x, y, sizeof(*x));
}

/* Of rows at one address the last one stays; a row that repeats the one before it goes. */
static size_t merge(struct jvs_row *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (i + 1 < count && rows[i + 1].address == rows[i].address)
			continue;
		if (kept && eh_same_rule(&rows[kept - 1], &rows[i]))
			continue;
		rows[kept++] = rows[i];
	}
	return kept;
}

static int build_index(struct unwind_rows *table)
{
	size_t count = (table->rows[table->count - 1].address >> JVS_INDEX_SHIFT) + 2;
	uint32_t row = 0;

	table->index = calloc(count, sizeof(*table->index));
	if (!table->index)
		return -ENOMEM;
	table->index_count = count;
	for (size_t i = 0; i < count; i++) {
		while (row + 1 < table->count &&
		       table->rows[row + 1].address <= (uint64_t)i << JVS_INDEX_SHIFT)
			row++;
		table->index[i] = row;
	}
	return 0;
}

/* Takes the rows over. */
static int make_table(struct reader *reader, struct unwind_rows *out)
{
	struct unwind_rows table = { .functions = reader->functions };
	struct jvs_row *smaller;
	int err;

	if (!reader->rows.count)
		return -EBADMSG;
	qsort(reader->rows.items, reader->rows.count, sizeof(struct jvs_row), compare);
	table.count = merge(reader->rows.items, reader->rows.count);
	smaller = reallocarray(reader->rows.items, table.count, sizeof(*smaller));
	table.rows = smaller ? smaller : reader->rows.items;
	reader->rows = (struct eh_rows){ 0 };
	for (size_t i = 0; i < table.count; i++)
		table.unsupported += (table.rows[i].kind & 7) == JVS_ROW_BAD;
	err = build_index(&table);
	if (err) {
		ehframe_free(&table);
		return err;
	}
	*out = table;
	return 0;
}

int ehframe_rows(const struct image *image, struct unwind_rows *out)
{
	struct reader reader = { 0 };
	uint8_t *bytes;
	int err = load_section(image, &reader, &bytes);

	if (err)
		return err;
	err = read_records(&reader);
	if (!err)
		err = make_table(&reader, out);
	free(reader.cies);
	free(reader.rows.items);
	map64_free(&reader.cie_at);
	free(bytes);
	return err;
}

void ehframe_free(struct unwind_rows *rows)
{
	free(rows->rows);
	free(rows->index);
	*rows = (struct unwind_rows){ 0 };
}
