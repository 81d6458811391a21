/* SPDX-License-Identifier: Apache-2.0 */
#include "target/image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/elffile.h"
#include "target/image_debug.h"
#include "target/image_file.h"
#include "target/maps.h"
#include "target/symbols.h"
#include "target/target.h"

#define VDSO_SIZE_MAX (1u << 20) /* 8 KiB today */
#define PAGE_MASK     4095ull

struct image {
	char *name; /* owned */
	struct elffile file;
	struct elffile debug; /* where symbols are when file has none; else empty */
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	size_t build_id_size;
	struct symbols dynamic;
	struct symbols full;
	struct symbols objects; /* see find_object() */
	bool objects_read;
	bool dynamic_read;
	bool full_read;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Takes over file when it returns 0. */
static int image_new(struct elffile *file, const char *path, struct image **out)
{
	struct image *image = calloc(1, sizeof(*image));
	char *name = strdup(base_name(path));

	if (!image || !name) {
		free(image);
		free(name);
		return -ENOMEM;
	}
	image->name = name;
	image->file = *file;
	image->debug.fd = -1;
	image->build_id_size = image_debug_build_id(file, image->build_id, IMAGE_BUILD_ID_MAX);
	*out = image;
	return 0;
}

int image_open_bytes(uint8_t *bytes, size_t size, const char *name, struct image **out)
{
	struct elffile file;
	int err = elffile_open_bytes(bytes, size, &file);

	if (err)
		return err;
	err = image_new(&file, name, out);
	if (err) {
		file.bytes = NULL; /* stays the caller's */
		elffile_close(&file);
	}
	return err;
}

/*
 * The kernel gives every process the same one: ours is read, since reading the target's would
 * fault its pages in. False when ours has another size.
 */
static bool read_own_vdso(uint8_t *to, uint64_t size)
{
	const struct mapping *own = NULL;
	struct maps maps;
	bool done = false;
	int fd;

	if (maps_read(getpid(), &maps))
		return false;
	for (size_t i = 0; i < maps.count && !own; i++)
		if (!strcmp(maps.items[i].path, "[vdso]"))
			own = &maps.items[i];
	fd = own && own->end - own->start == size ? open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
						  : -1;
	if (fd >= 0) {
		done = pread(fd, to, size, (off_t)own->start) == (ssize_t)size;
		close(fd);
	}
	maps_free(&maps);
	return done;
}

static int open_vdso(const struct target *t, const struct mapping *mapping, struct image **out)
{
	uint64_t size = mapping->end - mapping->start;
	uint8_t *bytes;
	int err;

	if (size > VDSO_SIZE_MAX)
		return -ENOEXEC;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	err = read_own_vdso(bytes, size) ? 0 : target_read(t, mapping->start, bytes, size);
	if (!err)
		err = image_open_bytes(bytes, size, mapping->path, out);
	if (err)
		free(bytes);
	return err == -EFAULT ? -ENOENT : err;
}

static int open_file(const struct target *t, const struct mapping *mapping, struct elffile *out)
{
	int fd = target_open_mapped(t, mapping);
	int err;

	if (fd < 0)
		return fd == -EPERM ? -EACCES : fd;
	err = elffile_open(fd, out);
	if (err)
		close(fd);
	return err;
}

static void find_debug_file(const struct target *t, const char *path, struct image *image)
{
	struct debug_key key = {
		.build_id = image->build_id,
		.build_id_size = image->build_id_size,
		.path = path,
	};

	if (!elffile_section(&image->file, ".symtab") &&
	    !elffile_section(&image->file, ".gnu_debugdata"))
		image_debug_open(t, &image->file, &key, &image->debug);
}

int image_open(const struct target *t, const struct mapping *mapping, struct image **out)
{
	struct image *image;
	struct elffile file;
	int err;

	if (!strcmp(mapping->path, "[vdso]"))
		return open_vdso(t, mapping, out);
	if (mapping->path[0] != '/')
		return -ENOENT;
	err = open_file(t, mapping, &file);
	if (err)
		return err;
	err = image_new(&file, mapping->path, &image);
	if (err) {
		elffile_close(&file);
		return err;
	}
	find_debug_file(t, mapping->path, image);
	*out = image;
	return 0;
}

void image_close(struct image *image)
{
	if (!image)
		return;
	symbols_free(&image->dynamic);
	symbols_free(&image->full);
	symbols_free(&image->objects);
	elffile_close(&image->file);
	elffile_close(&image->debug);
	free(image->name);
	free(image);
}

const char *image_name(const struct image *image)
{
	return image->name;
}

size_t image_build_id(const struct image *image, uint8_t id[IMAGE_BUILD_ID_MAX])
{
	if (id)
		memcpy(id, image->build_id, image->build_id_size);
	return image->build_id_size;
}

/* ---- addresses */

/*
 * Two segments can share a page of the file, and each maps it with its own rights. The first
 * page of a segment starts before the segment's own bytes.
 */
static bool holds_mapping(const struct elffile_segment *segment, const struct mapping *mapping)
{
	return segment->type == PT_LOAD && mapping->offset >= (segment->offset & ~PAGE_MASK) &&
	       mapping->offset < segment->offset + segment->file_size;
}

uint64_t image_bias(const struct image *image, const struct mapping *mapping)
{
	const struct elffile_segment *found = NULL;
	const struct elffile_segment *segment;
	bool same_rights;

	for (size_t i = 0; i < image->file.segment_count; i++) {
		segment = &image->file.segments[i];
		if (!holds_mapping(segment, mapping))
			continue;
		same_rights = !(segment->flags & PF_X) == !mapping->executable;
		if (!found || same_rights)
			found = segment;
	}
	if (!found)
		return mapping->start - mapping->offset;
	return mapping->start - mapping->offset - (found->vaddr - found->offset);
}

uint64_t image_end(const struct image *image)
{
	uint64_t end = 0;

	for (size_t i = 0; i < image->file.segment_count; i++) {
		const struct elffile_segment *segment = &image->file.segments[i];

		if (segment->type == PT_LOAD && segment->vaddr + segment->mem_size > end)
			end = segment->vaddr + segment->mem_size;
	}
	return end;
}

int image_file_offset(const struct image *image, uint64_t vaddr, uint64_t *offset)
{
	const struct elffile_segment *segment = elffile_segment_at(&image->file, vaddr);

	if (!segment)
		return -ENOENT;
	*offset = vaddr - segment->vaddr + segment->offset;
	return 0;
}

const uint8_t *image_bytes(const struct image *image, uint64_t vaddr, size_t *size)
{
	struct elffile_segment *segment = elffile_segment_at(&image->file, vaddr);

	if (!segment)
		return NULL;
	if (!segment->bytes &&
	    elffile_load(&image->file, segment->offset, segment->file_size, &segment->bytes))
		return NULL;
	*size = segment->file_size - (vaddr - segment->vaddr);
	return segment->bytes + (vaddr - segment->vaddr);
}

bool image_eh_frame_hdr(const struct image *image, uint64_t *vaddr, size_t *size)
{
	const struct elffile_segment *segment;

	for (size_t i = 0; i < image->file.segment_count; i++) {
		segment = &image->file.segments[i];
		if (segment->type != PT_GNU_EH_FRAME)
			continue;
		*vaddr = segment->vaddr;
		*size = segment->file_size;
		return true;
	}
	return false;
}

const struct elffile *image_file(const struct image *image)
{
	return &image->file;
}

/* ---- symbols */

static void read_dynamic(struct image *image)
{
	if (!image->dynamic_read)
		symbols_read(&image->file, ".dynsym", &image->dynamic);
	image->dynamic_read = true;
}

/* A failure leaves the table empty: names are missing, nothing else is. */
static void read_full(struct image *image)
{
	struct elffile unpacked;

	read_dynamic(image);
	if (image->full_read)
		return;
	image->full_read = true;
	if (symbols_read(&image->file, ".symtab", &image->full) == 0)
		return;
	if (image_debug_unpack(&image->file, &unpacked) == 0) {
		symbols_read(&unpacked, ".symtab", &image->full);
		elffile_close(&unpacked);
		return;
	}
	symbols_read(&image->debug, ".symtab", &image->full);
	elffile_close(&image->debug);
}

static const struct symbol *find_symbol(struct image *image, const char *name, bool dynamic_only)
{
	const struct symbol *symbol;

	read_dynamic(image);
	symbol = symbols_named(&image->dynamic, name);
	if (symbol || dynamic_only)
		return symbol;
	read_full(image);
	return symbols_named(&image->full, name);
}

int image_symbol(struct image *image, const char *name, bool dynamic_only, uint64_t *vaddr)
{
	const struct symbol *symbol = find_symbol(image, name, dynamic_only);

	if (!symbol)
		return -ENOENT;
	*vaddr = symbol->vaddr;
	return 0;
}

uint64_t image_symbol_size(struct image *image, const char *name)
{
	const struct symbol *symbol = find_symbol(image, name, false);

	return symbol ? symbol->size : 0;
}

/* Where .symtab is, the table of functions is not needed, which takes long to sort. */
static const struct symbol *find_object(struct image *image, const char *name)
{
	const struct symbol *symbol;

	if (!image->objects_read)
		symbols_read_objects(&image->file, ".symtab", &image->objects);
	image->objects_read = true;
	if (image->objects.count)
		return symbols_named(&image->objects, name);
	read_full(image);
	symbol = symbols_named(&image->full, name);
	return symbol ? symbol : symbols_named(&image->dynamic, name);
}

int image_object(struct image *image, const char *name, uint64_t *vaddr, uint64_t *size)
{
	const struct symbol *symbol = find_object(image, name);

	if (!symbol)
		return -ENOENT;
	*vaddr = symbol->vaddr;
	*size = symbol->size;
	return 0;
}

const char *image_function(struct image *image, uint64_t vaddr, uint64_t *offset)
{
	const struct symbols *tables[] = { &image->full, &image->dynamic };
	const struct elffile_segment *segment = elffile_segment_at(&image->file, vaddr);
	const struct symbol *found = NULL;
	const char *name = NULL;

	read_full(image);
	if (!segment)
		return NULL;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct symbol *symbol = symbols_function_at(tables[i], vaddr);

		if (!symbol || symbol->vaddr < segment->vaddr ||
		    (found && symbol->vaddr <= found->vaddr))
			continue;
		found = symbol;
		name = tables[i]->names + symbol->name;
	}
	if (found)
		*offset = vaddr - found->vaddr;
	return name;
}

bool image_has_symtab(struct image *image)
{
	read_full(image);
	return image->full.count > 0;
}

size_t image_memory(const struct image *image)
{
	return sizeof(*image) + elffile_memory(&image->file) + elffile_memory(&image->debug) +
	       symbols_memory(&image->dynamic) + symbols_memory(&image->full) +
	       symbols_memory(&image->objects);
}
