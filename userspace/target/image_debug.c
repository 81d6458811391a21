/* SPDX-License-Identifier: Apache-2.0 */
#include "target/image_debug.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cursor.h"
#include "target/elffile.h"
#include "target/image.h"
#include "target/target.h"

#define DEBUG_ROOT "/usr/lib/debug"

/* libjvm's symbol table unpacked is 5 MB. */
#define UNPACKED_MAX	  (64u << 20)
#define UNPACK_MEMORY_MAX (64u << 20)

#define NOTES_SIZE_MAX (64u << 10)
#define CRC_CHUNK      (64u << 10)
#define CRC_FILE_MAX   (1ull << 30)

/* ---- build id */

static size_t padding(size_t size, size_t align)
{
	return (align - size % align) % align;
}

/* One note segment. */
static size_t find_build_id(struct cursor c, size_t align, uint8_t *id, size_t size)
{
	uint32_t name_size;
	uint32_t id_size;
	uint32_t type;
	const void *name;
	const void *bytes;

	while (cursor_left(&c) && !c.failed) {
		name_size = cursor_u32(&c);
		id_size = cursor_u32(&c);
		type = cursor_u32(&c);
		name = cursor_bytes(&c, name_size);
		cursor_bytes(&c, padding(name_size, align));
		bytes = cursor_bytes(&c, id_size);
		if (!name || !bytes)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && !memcmp(name, "GNU", 4)) {
			size = id_size < size ? id_size : size;
			memcpy(id, bytes, size);
			return size;
		}
		cursor_bytes(&c, padding(id_size, align));
	}
	return 0;
}

size_t image_debug_build_id(const struct elffile *file, uint8_t *id, size_t size)
{
	const struct elffile_segment *segment;
	uint8_t *notes;
	size_t found = 0;

	for (size_t i = 0; !found && i < file->segment_count; i++) {
		segment = &file->segments[i];
		if (segment->type != PT_NOTE || segment->file_size > NOTES_SIZE_MAX ||
		    elffile_load(file, segment->offset, segment->file_size, &notes))
			continue;
		found = find_build_id(cursor_of(notes, segment->file_size),
				      segment->align == 8 ? 8 : 4, id, size);
		free(notes);
	}
	return found;
}

/* ---- .gnu_debugdata */

static int run_decoder(lzma_stream *xz, uint8_t **out, size_t *out_size)
{
	size_t capacity = 0;
	lzma_ret state = LZMA_OK;
	uint8_t *bigger;

	while (state == LZMA_OK) {
		if (xz->avail_out == 0) {
			if (capacity >= UNPACKED_MAX)
				return -ENOEXEC;
			capacity = capacity ? capacity * 2 : 1u << 20;
			bigger = realloc(*out, capacity);
			if (!bigger)
				return -ENOMEM;
			*out = bigger;
			xz->next_out = bigger + xz->total_out;
			xz->avail_out = capacity - xz->total_out;
		}
		state = lzma_code(xz, LZMA_FINISH);
	}
	*out_size = xz->total_out;
	return state == LZMA_STREAM_END ? 0 : -ENOEXEC;
}

static int unpack(const uint8_t *packed, size_t packed_size, uint8_t **out, size_t *out_size)
{
	lzma_stream xz = LZMA_STREAM_INIT;
	uint8_t *bytes = NULL;
	int err;

	if (lzma_stream_decoder(&xz, UNPACK_MEMORY_MAX, 0) != LZMA_OK)
		return -ENOMEM;
	xz.next_in = packed;
	xz.avail_in = packed_size;
	err = run_decoder(&xz, &bytes, out_size);
	lzma_end(&xz);
	if (err) {
		free(bytes);
		return err;
	}
	*out = bytes;
	return 0;
}

int image_debug_unpack(const struct elffile *file, struct elffile *out)
{
	const struct elffile_section *section = elffile_section(file, ".gnu_debugdata");
	uint8_t *packed;
	uint8_t *bytes;
	size_t size;
	int err;

	if (!section)
		return -ENOENT;
	err = elffile_load(file, section->offset, section->size, &packed);
	if (err)
		return err;
	err = unpack(packed, section->size, &bytes, &size);
	free(packed);
	if (err)
		return err;
	err = elffile_open_bytes(bytes, size, out);
	if (err)
		free(bytes);
	return err;
}

/* ---- debug files */

/* What .gnu_debuglink holds: a name and the checksum of the file. */
struct debug_link {
	char name[NAME_MAX + 1];
	uint32_t crc;
};

static bool read_link(const struct elffile *file, struct debug_link *out)
{
	const struct elffile_section *section = elffile_section(file, ".gnu_debuglink");
	const char *name;
	struct cursor c;
	uint8_t *bytes;
	bool ok = false;

	if (!section || section->size > sizeof(out->name) + 8 ||
	    elffile_load(file, section->offset, section->size, &bytes))
		return false;
	c = cursor_of(bytes, section->size);
	name = cursor_string(&c);
	if (name && *name && strlen(name) < sizeof(out->name) && !strchr(name, '/')) {
		snprintf(out->name, sizeof(out->name), "%s", name);
		cursor_bytes(&c, padding(strlen(name) + 1, 4));
		out->crc = cursor_u32(&c);
		ok = !c.failed;
	}
	free(bytes);
	return ok;
}

static bool checksum_is(const struct elffile *file, uint32_t crc)
{
	uint64_t at = 0;
	uLong sum = crc32(0, NULL, 0);
	uint8_t *bytes;
	uint64_t size;

	if (file->size > CRC_FILE_MAX)
		return false;
	while (at < file->size) {
		size = file->size - at < CRC_CHUNK ? file->size - at : CRC_CHUNK;
		if (elffile_load(file, at, size, &bytes))
			return false;
		sum = crc32(sum, bytes, (uInt)size);
		free(bytes);
		at += size;
	}
	return (uint32_t)sum == crc;
}

/* A build id is compared when both have one, else the checksum of the link. */
static bool belongs(const struct elffile *file, const struct debug_key *key,
		    const struct debug_link *link)
{
	uint8_t id[IMAGE_BUILD_ID_MAX];
	size_t size = image_debug_build_id(file, id, sizeof(id));

	if (key->build_id_size && size)
		return size == key->build_id_size && !memcmp(id, key->build_id, size);
	return link && checksum_is(file, link->crc);
}

static int try_path(int fd, const struct debug_key *key, const struct debug_link *link,
		    struct elffile *out)
{
	struct elffile file;

	if (fd < 0)
		return -ENOENT;
	if (elffile_open(fd, &file)) {
		close(fd);
		return -ENOENT;
	}
	if (!elffile_section(&file, ".symtab") || !belongs(&file, key, link)) {
		elffile_close(&file);
		return -ENOENT;
	}
	*out = file;
	return 0;
}

/* As the target sees the path, then on the host. t may be NULL. */
static int try_both(const struct target *t, const char *path, const struct debug_key *key,
		    const struct debug_link *link, struct elffile *out)
{
	int err = -ENOENT;

	if (t)
		err = try_path(target_open_below_root(t, path), key, link, out);
	if (err && !strncmp(path, DEBUG_ROOT, strlen(DEBUG_ROOT)))
		err = try_path(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), key, link,
			       out);
	return err;
}

/* /usr/lib/debug/.build-id/12/3456.debug */
static int open_by_build_id(const struct target *t, const struct debug_key *key,
			    struct elffile *out)
{
	char path[sizeof(DEBUG_ROOT) + 2ul * IMAGE_BUILD_ID_MAX + sizeof("/.build-id//.debug")];
	int len;

	if (key->build_id_size < 2)
		return -ENOENT;
	len = snprintf(path, sizeof(path), "%s/.build-id/%02x/", DEBUG_ROOT, key->build_id[0]);
	for (size_t i = 1; i < key->build_id_size; i++)
		len += snprintf(path + len, sizeof(path) - (size_t)len, "%02x", key->build_id[i]);
	snprintf(path + len, sizeof(path) - (size_t)len, ".debug");
	return try_both(t, path, key, NULL, out);
}

/* Beside the image, in .debug there, or at the same place below /usr/lib/debug. */
static int open_by_link(const struct target *t, const struct elffile *file,
			const struct debug_key *key, struct elffile *out)
{
	static const char *const places[][2] = {
		{ "", "" },
		{ "", "/.debug" },
		{ DEBUG_ROOT, "" },
	};
	const char *slash = strrchr(key->path, '/');
	char path[PATH_MAX + NAME_MAX + 32];
	struct debug_link link;
	int err = -ENOENT;

	if (!slash || slash - key->path > PATH_MAX || !read_link(file, &link))
		return -ENOENT;
	for (size_t i = 0; err && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s%.*s%s/%s", places[i][0], (int)(slash - key->path),
			 key->path, places[i][1], link.name);
		err = try_both(t, path, key, &link, out);
	}
	return err;
}

int image_debug_open(const struct target *t, const struct elffile *file,
		     const struct debug_key *key, struct elffile *out)
{
	int err = open_by_build_id(t, key, out);

	return err ? open_by_link(t, file, key, out) : 0;
}
