/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/image.h"
#include "target/usdt.h"
#include "unit/elf_bytes.h"
#include "unit/unit.h"

static struct elf_bytes elf;
static struct image *image;
static uint8_t notes[4096];
static size_t notes_size;
static char seen[256];	 /* "provider:name " of each probe */
static int registers[8]; /* of their first arguments */
static size_t register_count;
static uint64_t last_vaddr;

static void setup(void)
{
	image = NULL;
	elf_begin(&elf);
	notes_size = 0;
	seen[0] = '\0';
	register_count = 0;
}

static void teardown(void)
{
	image_close(image);
}

static void put(const void *bytes, size_t size)
{
	memcpy(notes + notes_size, bytes, size);
	notes_size += size;
}

/* One note. strings: provider, name and arguments, each ended by NUL. */
static void put_note(uint32_t type, const char *owner, const char *strings, size_t strings_size)
{
	const uint64_t addresses[3] = { 0x1000, 0x2000, 0 };
	uint32_t size = (uint32_t)(sizeof(addresses) + strings_size);
	uint32_t head[3] = { (uint32_t)strlen(owner) + 1, size, type };

	put(head, sizeof(head));
	put(owner, head[0]);
	put("\0\0\0", (4 - head[0] % 4) % 4);
	put(addresses, sizeof(addresses));
	put(strings, strings_size);
	put("\0\0\0", (4 - size % 4) % 4);
}

#define PROBE(strings) put_note(3, "stapsdt", strings, sizeof(strings))

static int on_probe(const struct usdt_place *place, void *ctx)
{
	size_t used = strlen(seen);

	snprintf(seen + used, sizeof(seen) - used, "%s:%s ", place->provider, place->name);
	if (register_count < sizeof(registers) / sizeof(registers[0]))
		registers[register_count++] = usdt_first_register(place);
	last_vaddr = place->vaddr;
	return ctx && !strcmp(place->name, ctx);
}

static int read_notes(const char *last)
{
	uint8_t *bytes;

	if (notes_size)
		elf_add_bytes(&elf, ".note.stapsdt", notes, notes_size);
	elf_end(&elf);
	bytes = elf_copy(&elf);
	ASSERT_INT(image_open_bytes(bytes, elf.size, "/lib/test.so", &image), 0);
	return usdt_each(image, on_probe, (void *)(uintptr_t)last);
}

static void the_first_argument_is_in_a_register(void)
{
	PROBE("hotspot\0a\0008@%rax -4@%ecx");
	PROBE("hotspot\0b\000-8@%r12");
	PROBE("hotspot\0c\0004@%eax");
	PROBE("hotspot\0d\0008@-60(%rbp)");
	PROBE("hotspot\0e\0008@%r1");
	PROBE("hotspot\0f\0");
	ASSERT_INT(read_notes(NULL), 6);
	ASSERT_INT(registers[0], 0);
	ASSERT_INT(registers[1], 12);
	for (int i = 2; i < 6; i++)
		ASSERT_INT(registers[i], -ENOENT);
}

/* A file that was prelinked after its notes were written. */
static void places_move_with_their_section(void)
{
	static const uint8_t base[1] = { 0 };
	uint64_t at;

	PROBE("hotspot\0gc__begin\0");
	at = elf_add_bytes(&elf, ".stapsdt.base", base, sizeof(base));
	ASSERT_INT(read_notes(NULL), 1);
	ASSERT_INT(last_vaddr, ELF_BASE + at + 0x1000 - 0x2000);
}

static void each_place_is_told(void)
{
	PROBE("hotspot\0gc__begin\0008@%rax");
	PROBE("hotspot\0class__loaded\0");
	PROBE("hotspot\0gc__begin\0");
	ASSERT_INT(read_notes(NULL), 3);
	CU_ASSERT_STRING_EQUAL(seen, "hotspot:gc__begin hotspot:class__loaded hotspot:gc__begin ");
}

static void other_notes_are_passed_over(void)
{
	put_note(3, "GNU", "a\0b", 4);
	put_note(1, "stapsdt", "a\0b", 4);
	PROBE("libc\0setjmp\0");
	ASSERT_INT(read_notes(NULL), 1);
	CU_ASSERT_STRING_EQUAL(seen, "libc:setjmp ");
}

static void the_caller_may_end_it(void)
{
	PROBE("p\0one\0");
	PROBE("p\0two\0");
	PROBE("p\0three\0");
	ASSERT_INT(read_notes("two"), 2);
}

static void no_notes_is_enoent(void)
{
	ASSERT_INT(read_notes(NULL), -ENOENT);
}

static void the_last_note_may_lack_its_filling(void)
{
	PROBE("p\0one\0x");
	CU_ASSERT_FATAL(notes[notes_size - 1] == 0 && notes_size % 4 == 0);
	notes_size -= (4 - (24 + sizeof("p\0one\0x")) % 4) % 4;
	ASSERT_INT(read_notes(NULL), 1);
}

static void damaged_notes_are_refused(void)
{
	static const uint32_t sizes[] = { 0xffffffff, 0x7fffffff, 4096, 64 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		setup();
		PROBE("p\0one\0");
		memcpy(notes + 4, &sizes[i], 4);
		ASSERT_INT(read_notes(NULL), -ENOEXEC);
		image_close(image);
		setup();
		PROBE("p\0one\0");
		memcpy(notes, &sizes[i], 4);
		ASSERT_INT(read_notes(NULL), -ENOEXEC);
		image_close(image);
	}
	setup();
	put_note(3, "stapsdt", "noend", 5);
	ASSERT_INT(read_notes(NULL), -ENOEXEC);
	image_close(image);
	setup();
	PROBE("p\0one\0");
	put("\1\2\3", 3);
	ASSERT_INT(read_notes(NULL), -ENOEXEC);
}

static CU_TestInfo tests[] = {
	{ "each place is told", each_place_is_told },
	{ "other notes are passed over", other_notes_are_passed_over },
	{ "the caller may end it", the_caller_may_end_it },
	{ "the first argument is in a register", the_first_argument_is_in_a_register },
	{ "places move with their section", places_move_with_their_section },
	{ "no notes is ENOENT", no_notes_is_enoent },
	{ "the last note may lack its filling", the_last_note_may_lack_its_filling },
	{ "damaged notes are refused", damaged_notes_are_refused },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo target_usdt_suite = {
	.pName = "target usdt",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
