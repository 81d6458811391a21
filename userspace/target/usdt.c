/* SPDX-License-Identifier: Apache-2.0 */
#include "target/usdt.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "target/elffile.h"
#include "target/image.h"
#include "target/image_file.h"

#define NOTES_MAX     (16u << 20) /* libjvm.so has 50 KB */
#define NOTE_TYPE     3		  /* NT_STAPSDT in systemtap's sys/sdt.h */
#define NOTE_NAME     "stapsdt"
#define ADDRESS_WORDS 3 /* of the probe, of .stapsdt.base, of its semaphore */

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* The next note's description, when it is a probe's; false at the end. */
static bool next_note(struct cursor *c, struct cursor *description, bool *is_probe)
{
	uint32_t name_size, size, type;
	const char *name;
	const void *bytes;

	if (!cursor_left(c))
		return false;
	name_size = cursor_u32(c);
	size = cursor_u32(c);
	type = cursor_u32(c);
	name = cursor_bytes(c, padded(name_size));
	bytes = cursor_bytes(c, size);
	if (!name || !bytes)
		return false;
	/* The last one may lack the bytes that would only fill it up. */
	if (cursor_left(c) >= padded(size) - size)
		(void)cursor_bytes(c, padded(size) - size);
	*description = cursor_of(bytes, size);
	*is_probe = type == NOTE_TYPE && name_size == sizeof(NOTE_NAME) &&
		    !memcmp(name, NOTE_NAME, sizeof(NOTE_NAME));
	return true;
}

static int each_note(struct cursor *c,
		     int (*found)(const char *provider, const char *name, void *ctx), void *ctx)
{
	const char *provider, *name;
	struct cursor description;
	bool is_probe;
	int count = 0;

	while (next_note(c, &description, &is_probe)) {
		if (!is_probe)
			continue;
		(void)cursor_bytes(&description, ADDRESS_WORDS * sizeof(uint64_t));
		provider = cursor_string(&description);
		name = cursor_string(&description);
		if (!name)
			return -ENOEXEC;
		count++;
		if (found(provider, name, ctx))
			return count;
	}
	return c->failed ? -ENOEXEC : count;
}

int usdt_each(const struct image *image,
	      int (*found)(const char *provider, const char *name, void *ctx), void *ctx)
{
	const struct elffile *file = image_file(image);
	const struct elffile_section *section = elffile_section(file, ".note.stapsdt");
	struct cursor c;
	uint8_t *bytes;
	int count;

	if (!section)
		return -ENOENT;
	if (section->size > NOTES_MAX)
		return -ENOEXEC;
	count = elffile_load(file, section->offset, section->size, &bytes);
	if (count)
		return count;
	c = cursor_of(bytes, section->size);
	count = each_note(&c, found, ctx);
	free(bytes);
	return count;
}
