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

#define NOTES_MAX (16u << 20) /* libjvm.so has 50 KB */
#define NOTE_TYPE 3	      /* NT_STAPSDT in systemtap's sys/sdt.h */
#define NOTE_NAME "stapsdt"

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

/* Of a prelinked file places moved with the section that each note names the old address of. */
static uint64_t placed(const struct elffile *file, uint64_t vaddr, uint64_t base)
{
	const struct elffile_section *section = elffile_section(file, ".stapsdt.base");

	return section && base ? vaddr + (section->vaddr - base) : vaddr;
}

static int each_note(const struct elffile *file, struct cursor *c,
		     int (*found)(const struct usdt_place *place, void *ctx), void *ctx)
{
	struct usdt_place place;
	struct cursor description;
	bool is_probe;
	int count = 0;

	while (next_note(c, &description, &is_probe)) {
		uint64_t vaddr, base;

		if (!is_probe)
			continue;
		vaddr = cursor_u64(&description);
		base = cursor_u64(&description);
		(void)cursor_u64(&description); /* its semaphore */
		place.provider = cursor_string(&description);
		place.name = cursor_string(&description);
		if (!place.name)
			return -ENOEXEC;
		place.arguments = cursor_string(&description);
		if (!place.arguments)
			place.arguments = "";
		place.vaddr = placed(file, vaddr, base);
		count++;
		if (found(&place, ctx))
			return count;
	}
	return c->failed ? -ENOEXEC : count;
}

int usdt_each(const struct image *image, int (*found)(const struct usdt_place *place, void *ctx),
	      void *ctx)
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
	count = each_note(file, &c, found, ctx);
	free(bytes);
	return count;
}

int usdt_first_register(const struct usdt_place *place)
{
	static const char *const names[] = {
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
		"r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"
	};
	const char *at = place->arguments;
	size_t len;

	at += *at == '-';
	if (strncmp(at, "8@%", 3) != 0)
		return -ENOENT;
	at += 3;
	len = strcspn(at, " ");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], at, len))
			return (int)i;
	return -ENOENT;
}
