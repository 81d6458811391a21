/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "target/insn_flow.h"
#include "target/x86.h"
#include "unit/unit.h"

/* In these functions "call" goes 0x1000 behind their start, a call of something else 0x2000. */
#define CALLED 0x1000

static size_t bytes_of(const char *hex, uint8_t *to)
{
	unsigned int byte;
	size_t size = 0;
	int used;

	for (; sscanf(hex, "%2x%n", &byte, &used) == 1; hex += used)
		to[size++] = (uint8_t)byte;
	return size;
}

static bool is_called(void *ctx, int64_t offset)
{
	(void)ctx;
	return offset == CALLED;
}

static size_t results_of(const char *hex, struct insn_result *out)
{
	uint8_t code[256];
	size_t size = bytes_of(hex, code);
	uint8_t *copy = malloc(size ? size : 1); /* exact, for the sanitizer */
	size_t count;

	memcpy(copy, code, size);
	count = insn_results_x86(copy, size, is_called, NULL, out);
	free(copy);
	return count;
}

#define RBP 5

static void finds_a_place_behind_each_call(void)
{
	/* malloc(size ? size : 1), with another path that adds to the argument of the call. */
	static const char one_if_zero[] =
		"55 48 85 ff b8 01 00 00 00 48 0f 45 c7 48 89 e5 41 54 53 48 89 c3 41 89 f4 "
		"48 8b 0a f0 48 0f c1 11 48 89 df 48 83 f9 01 7f 12 e8 d1 0f 00 00 48 89 c7 "
		"48 85 c0 74 0b 5b 41 5c 5d c3 48 83 c7 12 73 e8 31 c0 5b 41 5c 5d c3";
	/* Two calls, one behind "je", one behind "mov rcx, rax; jne"; a call of another function.
	 */
	static const char two_calls[] =
		"41 56 53 41 89 f6 48 89 fb ba 01 00 00 00 48 85 db 48 0f 44 da e8 e6 1f 00 00 "
		"85 c0 74 0e 48 89 df e8 da 0f 00 00 48 85 c0 74 12 c3 48 8d 7b 10 e8 cb 0f 00 00 "
		"48 89 c1 48 85 c0 75 02 31 c0 c3";
	/* Ends in a jump to another function. */
	static const char tail[] = "53 55 48 89 fb 89 f5 e8 f4 0f 00 00 48 85 c0 75 01 c3 "
				   "e9 e9 1f 00 00";
	struct insn_result out[INSN_RESULTS_MAX];

	CU_ASSERT_EQUAL_FATAL(results_of(one_if_zero, out), 1);
	CU_ASSERT_EQUAL(out[0].offset, 0x35);
	CU_ASSERT_EQUAL(out[0].first, X86_RBX);
	CU_ASSERT_EQUAL(out[0].second, X86_R12);

	CU_ASSERT_EQUAL_FATAL(results_of(two_calls, out), 2);
	CU_ASSERT_EQUAL(out[0].offset, 0x29);
	CU_ASSERT_EQUAL(out[1].offset, 0x3b);
	CU_ASSERT_EQUAL(out[0].first, X86_RBX);
	CU_ASSERT_EQUAL(out[1].second, 14);

	CU_ASSERT_EQUAL_FATAL(results_of(tail, out), 1);
	CU_ASSERT_EQUAL(out[0].offset, 0xf);
	CU_ASSERT_EQUAL(out[0].second, RBP);
}

static void has_no_answer_where_one_would_be_a_guess(void)
{
	static const struct {
		const char *what;
		const char *code;
	} cases[] = {
		{ "one of two calls has lost the size",
		  "53 55 48 89 fb 89 f5 e8 f4 0f 00 00 48 85 c0 74 01 c3 31 db e8 e7 0f 00 00 "
		  "48 85 c0 74 f4 c3" },
		{ "arguments in memory", "48 83 ec 18 48 89 7c 24 08 48 89 34 24 e8 ee 0f 00 00 "
					 "48 85 c0 74 00 c3" },
		{ "another way to the place", "53 55 48 89 fb 89 f5 31 c0 48 85 d2 74 05 "
					      "e8 ed 0f 00 00 48 85 c0 74 00 c3" },
		{ "another size on one way", "53 55 48 89 fb 89 f5 48 85 d2 74 04 48 83 c3 08 "
					     "e8 eb 0f 00 00 48 85 c0 74 00 c3" },
		{ "an instruction that is not known",
		  "53 55 48 89 fb 89 f5 c5 f8 77 e8 f1 0f 00 00 48 85 c0 74 00 c3" },
		{ "a jump by a register",
		  "53 55 48 89 fb 89 f5 ff e2 e8 f2 0f 00 00 48 85 c0 74 00 c3" },
		{ "a jump out of it on a condition",
		  "53 55 48 89 fb 89 f5 48 85 d2 0f 84 f0 1f 00 00 e8 eb 0f 00 00 48 85 c0 "
		  "74 00 c3" },
		{ "half of the size", "53 55 89 fb 89 f5 e8 f5 0f 00 00 48 85 c0 74 00 c3" },
		{ "a register that calls do not preserve",
		  "53 49 89 fa 89 f3 e8 f5 0f 00 00 48 85 c0 74 00 c3" },
		{ "only another function is called",
		  "53 55 48 89 fb 89 f5 e8 f4 1f 00 00 48 85 c0 74 00 c3" },
		{ "the result is gone", "53 55 48 89 fb 89 f5 e8 f4 0f 00 00 48 8b 40 08 48 85 c0 "
					"74 00 c3" },
		{ "bh is written", "53 55 48 89 fb 89 f5 b7 01 e8 f2 0f 00 00 48 85 c0 74 00 c3" },
		{ "chosen by a compare of less",
		  "53 55 b8 01 00 00 00 48 83 fa 04 48 0f 42 c7 48 89 c3 89 f5 e8 e7 0f 00 00 "
		  "48 85 c0 74 00 c3" },
		{ "no jump is near", "53 55 48 89 fb 89 f5 e8 f4 0f 00 00 48 89 c1 48 89 c2 "
				     "49 89 c0 49 89 c1 49 89 c2 48 85 c0 74 00 c3" },
		{ "nothing tests the result", "53 55 48 89 fb 89 f5 e8 f4 0f 00 00 c3" },
		{ "cut off in an instruction", "53 55 48 89 fb 89 f5 e8 f4 0f 00 00 48 85 c0 74" },
		{ "no code", "" },
	};
	struct insn_result out[INSN_RESULTS_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t count = results_of(cases[i].code, out);

		if (count)
			fprintf(stderr, "%s: %zu places\n", cases[i].what, count);
		CU_ASSERT_EQUAL(count, 0);
	}
}

/* Whatever the bytes are, it ends and stays within them. */
static void random_code_is_no_harm(void)
{
	struct insn_result out[INSN_RESULTS_MAX];
	uint8_t *code = malloc(INSN_FUNCTION_MAX);

	srand(7);
	for (int round = 0; round < 2000; round++) {
		size_t size = (size_t)rand() % INSN_FUNCTION_MAX;

		for (size_t i = 0; i < size; i++)
			/* Half of it jumps and calls, so that paths meet. */
			code[i] = rand() & 1 ? (uint8_t)rand()
					     : (uint8_t[]){ 0x74, 0xeb, 0xe8, 0x48 }[rand() & 3];
		CU_ASSERT_FATAL(insn_results_x86(code, size, is_called, NULL, out) <=
				INSN_RESULTS_MAX);
	}
	CU_ASSERT_EQUAL(insn_results_x86(code, INSN_FUNCTION_MAX + 1, is_called, NULL, out), 0);
	free(code);
}

#define BIT(reg) (1u << (reg))

static void knows_what_instructions_write(void)
{
	static const struct {
		const char *code;
		uint8_t length;
		uint16_t writes;
		bool stores;
	} cases[] = {
		{ "f3 0f 1e fa", 4, 0, false },			    /* endbr64 */
		{ "66 2e 0f 1f 84 00 00 00 00 00", 10, 0, false },  /* nop */
		{ "48 8d 05 07 3f 97 00", 7, BIT(X86_RAX), false }, /* lea rax, [rip + x] */
		{ "48 89 5c 24 08", 5, 0, true },		    /* mov [rsp + 8], rbx */
		{ "49 89 dc", 3, BIT(X86_R12), false },		    /* mov r12, rbx */
		{ "48 8b 4c c3 08", 5, BIT(X86_RCX), false }, /* mov rcx, [rbx + rax * 8 + 8] */
		{ "8b 04 25 00 10 00 00", 7, BIT(X86_RAX), false }, /* mov eax, [0x1000] */
		{ "48 b8 01 10 00 02 40 00 08 00", 10, BIT(X86_RAX), false }, /* movabs rax */
		{ "66 b8 01 00", 4, BIT(X86_RAX), false },		      /* mov ax, 1 */
		{ "66 81 c3 34 12", 5, BIT(X86_RBX), false },		      /* add bx, 0x1234 */
		{ "81 fb 34 12 00 00", 6, 0, false },			      /* cmp ebx, 0x1234 */
		{ "80 38 00", 3, 0, false },			       /* cmp byte [rax], 0 */
		{ "f7 c3 01 00 00 00", 6, 0, false },		       /* test ebx, 1 */
		{ "f6 c3 01", 3, 0, false },			       /* test bl, 1 */
		{ "48 f7 e1", 3, BIT(X86_RAX) | BIT(X86_RDX), false }, /* mul rcx */
		{ "48 f7 db", 3, BIT(X86_RBX), false },		       /* neg rbx */
		{ "f0 48 0f c1 11", 5, BIT(X86_RDX), true },	       /* lock xadd [rcx], rdx */
		{ "f0 48 0f b1 17", 5, BIT(X86_RAX), true },	       /* lock cmpxchg [rdi], rdx */
		{ "0f 94 c4", 3, BIT(X86_RSP) | BIT(X86_RAX), false }, /* sete ah */
		{ "40 0f 94 c4", 4, BIT(X86_RSP), false },	       /* sete spl */
		{ "f3 0f 6f 00", 4, 0, true },			       /* movdqu xmm0, [rax] */
		{ "66 48 0f 7e c3", 5, BIT(X86_RBX), false },	       /* movq rbx, xmm0 */
		{ "f3 48 ab", 3, BIT(X86_RCX) | BIT(X86_RSI) | BIT(X86_RDI), true }, /* rep stos */
		{ "ff 75 10", 3, BIT(X86_RSP), false },		 /* push [rbp + 0x10] */
		{ "c9", 1, BIT(X86_RSP) | BIT(X86_RBP), false }, /* leave */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t code[16];
		size_t size = bytes_of(cases[i].code, code);
		struct x86_insn insn = x86_decode(code, size);

		if (insn.length != cases[i].length || insn.writes != cases[i].writes)
			fprintf(stderr, "%s: length %u, writes %#x\n", cases[i].code, insn.length,
				insn.writes);
		CU_ASSERT_EQUAL(insn.length, cases[i].length);
		CU_ASSERT_EQUAL(insn.writes, cases[i].writes);
		CU_ASSERT_EQUAL(insn.stores, cases[i].stores);
		for (size_t cut = 0; cut < size; cut++)
			CU_ASSERT_EQUAL(x86_decode(code, cut).length, 0);
	}
}

static void knows_where_code_goes_on(void)
{
	static const struct {
		const char *code;
		enum x86_flow flow;
		int64_t target;
	} cases[] = {
		{ "74 fe", X86_BRANCH, 0 },
		{ "0f 84 10 00 00 00", X86_BRANCH, 0x16 },
		{ "eb 10", X86_JUMP, 0x12 },
		{ "e9 fb ff ff ff", X86_JUMP, 0 },
		{ "e8 00 01 00 00", X86_CALL, 0x105 },
		{ "ff d0", X86_CALL_INDIRECT, 0 },
		{ "ff 25 00 00 00 00", X86_JUMP_INDIRECT, 0 },
		{ "c3", X86_END, 0 },
		{ "f3 c3", X86_END, 0 },
		{ "0f 0b", X86_END, 0 },
		{ "90", X86_NEXT, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t code[16];
		size_t size = bytes_of(cases[i].code, code);
		struct x86_insn insn = x86_decode(code, size);

		CU_ASSERT_EQUAL(insn.length, size);
		CU_ASSERT_EQUAL(insn.flow, cases[i].flow);
		CU_ASSERT_EQUAL(insn.target, cases[i].target);
	}
}

static CU_TestInfo tests[] = {
	{ "finds a place behind each call", finds_a_place_behind_each_call },
	{ "has no answer where one would be a guess", has_no_answer_where_one_would_be_a_guess },
	{ "random code is no harm", random_code_is_no_harm },
	{ "knows what instructions write", knows_what_instructions_write },
	{ "knows where code goes on", knows_where_code_goes_on },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo target_insn_flow_suite = { .pName = "insn_flow", .pTests = tests };
