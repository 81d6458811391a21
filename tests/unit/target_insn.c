/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "target/insn.h"
#include "unit/unit.h"

static struct insn_site site(const char *hex)
{
	uint8_t code[INSN_BYTES_MAX];
	unsigned int byte;
	size_t size = 0;
	int used;

	for (; sscanf(hex, "%2x%n", &byte, &used) == 1; hex += used)
		code[size++] = (uint8_t)byte;
	return insn_site_x86(code, size);
}

static void finds_the_first_emulated_instruction(void)
{
	static const struct {
		const char *what;
		const char *code;
		uint32_t offset;
	} cases[] = {
		{ "os::malloc of 17", "55 48 89 e5 41 55 41 54 41 89 f4 53", 0 },
		{ "os::malloc of 25 with a stack", "55 89 f0 48 89 e5 41 57", 0 },
		{ "os::free of 17", "48 85 ff 0f 84 c7 00 00 00 48 89 f9", 3 },
		{ "os::free of 25", "48 85 ff 0f 84 2f 01 00 00 48 8d 05", 3 },
		{ "os::malloc built for CET", "f3 0f 1e fa 55 48 89 e5 41 57", 4 },
		{ "os::free built for CET", "f3 0f 1e fa 48 85 ff 0f 84 2f 01 00 00", 7 },
		{ "os::free of 11 built for CET", "f3 0f 1e fa 55 48 89 e5 53", 4 },
		{ "malloc of glibc 2.36", "41 54 55 53 48 89 fb 48 83 ec 10", 0 },
		{ "aligned_alloc of glibc 2.36", "80 3d 71 0e 14 00 00 74 07 e9", 7 },
		{ "posix_memalign of glibc 2.36", "80 3d 01 02 14 00 00 41 54 49 89 d4", 7 },
		{ "jmp", "eb 10", 0 },
		{ "call", "e8 00 00 00 00", 0 },
		{ "nop", "90 55", 0 },
		{ "nop of two bytes", "66 90 55", 0 },
		/* A long one is emulated by the newest kernels only. */
		{ "nop of five bytes", "0f 1f 44 00 00 55", 5 },
		{ "mov to a free register", "48 89 f8 53", 3 },
		{ "mov of a number to eax", "b8 01 00 00 00 55", 5 },
		{ "mov of a long number to rax", "48 b8 01 02 03 04 05 06 07 08 55", 10 },
		{ "load of a field", "48 8b 47 08 41 57", 4 },
		{ "load with an index", "8b 44 8f 10 55", 4 },
		{ "lea of a static", "4c 8d 35 ab ff 96 00 41 56", 7 },
		{ "movzx to r10", "44 0f b6 16 55", 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct insn_site found = site(cases[i].code);

		if (!found.emulated || found.offset != cases[i].offset)
			fprintf(stderr, "%s: %s, offset %u\n", cases[i].what, cases[i].code,
				found.offset);
		CU_ASSERT(found.emulated);
		CU_ASSERT(found.offset == cases[i].offset);
	}
}

static void gives_up_where_arguments_or_the_stack_change(void)
{
	static const char *const cases[] = {
		"48 83 ec 18 55",	/* sub rsp: the return address is elsewhere */
		"48 89 f7 55",		/* mov to rdi */
		"bf 01 00 00 00 55",	/* mov of a number to edi */
		"41 b8 01 00 00 00 55", /* to r8d */
		"31 d2 55",		/* xor edx, edx */
		"48 8d 7f 10 55",	/* lea to rdi */
		"0f b6 f6 55",		/* movzx to esi: its upper bits change */
		"48 89 07 55",		/* a store may hit what an argument points to */
		"c3",			/* ret */
		"f2 ff 25 00 00 00 00", /* bnd jmp, indirect */
		"48 85",		/* cut off */
		"f3 0f 1e",		/* cut off */
		"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct insn_site found = site(cases[i]);

		if (found.emulated || found.offset)
			fprintf(stderr, "%s: offset %u\n", cases[i], found.offset);
		CU_ASSERT(!found.emulated && found.offset == 0);
	}
}

static void reads_no_byte_behind_the_end(void)
{
	static const uint8_t code[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x85, 0xff,
					0x0f, 0x84, 0x2f, 0x01, 0x00, 0x00 };

	for (size_t size = 0; size <= sizeof(code); size++) {
		uint8_t *copy = malloc(size);

		CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
		memcpy(copy, code, size);
		CU_ASSERT(insn_site_x86(copy, size).emulated == (size == sizeof(code)));
		free(copy);
	}
}

static void knows_the_hints_and_branches_of_arm64(void)
{
	static const uint8_t paciasp[] = { 0x3f, 0x23, 0x03, 0xd5 },
			     stp[] = { 0xfd, 0x7b, 0xbe, 0xa9 };
	static const uint8_t cbz[] = { 0x40, 0x01, 0x00, 0xb4 };

	CU_ASSERT(insn_site_arm64(paciasp, 4).emulated);
	CU_ASSERT(insn_site_arm64(cbz, 4).emulated);
	CU_ASSERT(!insn_site_arm64(stp, 4).emulated);
	CU_ASSERT(!insn_site_arm64(stp, 3).emulated);
}

/* InstanceKlass::link_methods of a JDK 17: mov 0x198(%rdi),%rax; mov (%rax),%edx; test; jle */
static void another_argument_may_be_lost(void)
{
	static const uint8_t code[] = { 0x48, 0x8b, 0x87, 0x98, 0x01, 0x00, 0x00, 0x8b, 0x10,
					0x85, 0xd2, 0x0f, 0x8e, 0xdb, 0x00, 0x00, 0x00 };
	/* mov (%rax),%edi: the first must not be */
	static const uint8_t first[] = { 0x8b, 0x38, 0x85, 0xd2, 0x55 };
	struct insn_site site = insn_site_x86_first(code, sizeof(code));

	CU_ASSERT_FALSE(insn_site_x86(code, sizeof(code)).emulated);
	CU_ASSERT_TRUE(site.emulated);
	ASSERT_INT(site.offset, 11);
	CU_ASSERT_FALSE(insn_site_x86_first(first, sizeof(first)).emulated);
}

/* FileOutputStream.write(int) of a JDK 17: mov fos_fd(%rip),%r8; movzbl %cl,%ecx; jmp */
static void all_but_two_arguments_may_be_lost(void)
{
	static const uint8_t code[] = { 0x4c, 0x8b, 0x05, 0x19, 0x6e, 0x01, 0x00, 0x0f,
					0xb6, 0xc9, 0xe9, 0x71, 0x70, 0x00, 0x00 };
	/* mov %rdx,%rsi: the second must not be */
	static const uint8_t second[] = { 0x48, 0x89, 0xd6, 0x55 };
	struct insn_site site = insn_site_x86_two(code, sizeof(code));

	CU_ASSERT_FALSE(insn_site_x86(code, sizeof(code)).emulated);
	CU_ASSERT_TRUE(site.emulated);
	ASSERT_INT(site.offset, 10);
	CU_ASSERT_FALSE(insn_site_x86_two(second, sizeof(second)).emulated);
	CU_ASSERT_TRUE(insn_site_x86_first(second, sizeof(second)).emulated);
}

static CU_TestInfo tests[] = {
	{ "finds the first emulated instruction", finds_the_first_emulated_instruction },
	{ "gives up where arguments or the stack change",
	  gives_up_where_arguments_or_the_stack_change },
	{ "reads no byte behind the end", reads_no_byte_behind_the_end },
	{ "knows the hints and branches of arm64", knows_the_hints_and_branches_of_arm64 },
	{ "another argument may be lost", another_argument_may_be_lost },
	{ "all but two arguments may be lost", all_but_two_arguments_may_be_lost },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo target_insn_suite = {
	.pName = "insn",
	.pTests = tests,
};
