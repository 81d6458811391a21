/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/bpf_world.h"

#define CODE_MAX 64

static struct jvs_walk *w = &world.walk;

static void load(const __u8 *code, size_t size)
{
	memset(w->code, 0x90, sizeof(w->code));
	memcpy(w->code, code, size);
}

static void equality_has_no_false_positive(void)
{
	CU_ASSERT_EQUAL(jvs_equal(0, 0), 1);
	CU_ASSERT_EQUAL(jvs_equal(0xffffffff, 0xffffffff), 1);
	CU_ASSERT_EQUAL(jvs_equal(0, 1), 0);
	CU_ASSERT_EQUAL(jvs_equal(0xc3, 0x1c3), 0);
	CU_ASSERT_EQUAL(jvs_equal(0x80000000, 0), 0);
}

static void sees_how_far_a_prologue_is(void)
{
	/* mov [rsp - 0x14000], eax; push rbp; sub rsp, 0x20; mov [rsp + 0x18], esi */
	static const __u8 compiled[] = { 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55,
					 0x48, 0x83, 0xec, 0x20, 0x89, 0x74, 0x24, 0x18 };
	/* the same with a large frame: sub rsp, 0x120 */
	static const __u8 large[] = { 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55,
				      0x48, 0x81, 0xec, 0x20, 0x01, 0x00, 0x00 };
	/* push rbp; mov rbp, rsp; nop; nop: a wrapper before its sub */
	static const __u8 wrapper[] = { 0x55, 0x48, 0x8b, 0xec, 0x90, 0x90 };
	static const __u8 wrapper_b[] = { 0x55, 0x48, 0x89, 0xe5, 0x90, 0x90 };
	static const struct {
		const __u8 *code;
		size_t size;
		__u32 length; /* of it before pc */
		int leaf;
	} cases[] = {
		{ compiled, sizeof(compiled), 0, JVS_LEAF_RA },
		{ compiled, sizeof(compiled), 7, JVS_LEAF_RA },
		{ compiled, sizeof(compiled), 8, JVS_LEAF_FP_RA },
		{ compiled, sizeof(compiled), 12, JVS_LEAF_WHOLE },
		{ compiled, sizeof(compiled), 16, JVS_LEAF_WHOLE },
		{ large, sizeof(large), 8, JVS_LEAF_FP_RA },
		{ large, sizeof(large), 15, JVS_LEAF_WHOLE },
		{ wrapper, sizeof(wrapper), 1, JVS_LEAF_FP_RA },
		{ wrapper, sizeof(wrapper), 4, JVS_LEAF_FP_RA },
		{ wrapper, sizeof(wrapper), 6, JVS_LEAF_FP_RA },
		{ wrapper_b, sizeof(wrapper_b), 6, JVS_LEAF_FP_RA },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		load(cases[i].code, cases[i].size);
		ASSERT_INT(jvs_scan_prologue(w, cases[i].length), cases[i].leaf);
	}
}

static void long_prologues_are_bounded(void)
{
	memset(w->code, 0x90, sizeof(w->code));
	ASSERT_INT(jvs_scan_prologue(w, 63), JVS_LEAF_RA);
	ASSERT_INT(jvs_scan_prologue(w, 5000), JVS_LEAF_RA);
}

/* Byte 0 is before pc; the rest begins at pc. */
static void sees_the_return_of_every_jdk(void)
{
	static const struct {
		const char *what;
		__u8 code[20];
		int leaf;
	} cases[] = {
		{ "ret", { 0x90, 0xc3 }, JVS_LEAF_RA },
		{ "pop rbp", { 0x20, 0x5d }, JVS_LEAF_FP_RA },
		{ "8: test [rip + n], eax; ret",
		  { 0x5d, 0x85, 0x05, 1, 2, 3, 4, 0xc3 },
		  JVS_LEAF_RA },
		{ "11: mov r10, [r15 + n]; test [r10], eax; ret",
		  { 0x5d, 0x4d, 0x8b, 0x97, 1, 2, 3, 4, 0x41, 0x85, 0x02, 0xc3 },
		  JVS_LEAF_RA },
		{ "11: test [r10], eax; ret", { 0x00, 0x41, 0x85, 0x02, 0xc3 }, JVS_LEAF_RA },
		{ "17: cmp rsp, [r15 + n32]; ja; ret",
		  { 0x5d, 0x49, 0x3b, 0xa7, 1, 2, 3, 4, 0x0f, 0x87, 1, 2, 3, 4, 0xc3 },
		  JVS_LEAF_RA },
		{ "25: cmp rsp, [r15 + n8]; ja; ret",
		  { 0x5d, 0x49, 0x3b, 0x67, 0x28, 0x0f, 0x87, 1, 2, 3, 4, 0xc3 },
		  JVS_LEAF_RA },
		{ "slow path of a poll: mov r10, pc; mov [r15 + n], r10; jmp",
		  { 0xff, 0x49, 0xba, 1, 2, 3, 4, 5, 6, 7, 8, 0x4d, 0x89, 0x97, 1, 2, 3, 4, 0xe9 },
		  JVS_LEAF_RA },
		{ "its second instruction",
		  { 0x00, 0x4d, 0x89, 0x97, 1, 2, 3, 4, 0xe9 },
		  JVS_LEAF_RA },
		{ "ja; ret", { 0x00, 0x0f, 0x87, 1, 2, 3, 4, 0xc3 }, JVS_LEAF_RA },
		{ "a poll in a loop: 5d ends a displacement",
		  { 0x5d, 0x49, 0x3b, 0xa7, 1, 2, 3, 4, 0x72, 0x10 },
		  JVS_LEAF_WHOLE },
		{ "a poll of 11 in a loop",
		  { 0x5d, 0x4d, 0x8b, 0x97, 1, 2, 3, 4, 0x41, 0x85, 0x02, 0xeb },
		  JVS_LEAF_WHOLE },
		{ "ja that is no poll", { 0x00, 0x0f, 0x87, 1, 2, 3, 4, 0x90 }, JVS_LEAF_WHOLE },
		{ "anything", { 0x5d, 0x48, 0x89, 0xd8, 0x48 }, JVS_LEAF_WHOLE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		load(cases[i].code, sizeof(cases[i].code));
		if (jvs_scan_return(w) != cases[i].leaf)
			fprintf(stderr, "%s\n", cases[i].what);
		ASSERT_INT(jvs_scan_return(w), cases[i].leaf);
	}
}

/* Every instruction of the end of a wrapper, as JDK 17 and 25 emit it, with what comes around it.
 */
static void sees_the_end_of_a_wrapper(void)
{
	/* mov [rcx + 0x100], 0; leave; cmp; jne; ret; jmp; vzeroupper */
	static const __u8 jdk17[] = { 0xc7, 0x81, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
				      0x00, 0x00, 0xc9, 0x49, 0x83, 0x7f, 0x08, 0x00,
				      0x0f, 0x85, 0x01, 0x00, 0x00, 0x00, 0xc3, 0xe9,
				      0x01, 0x02, 0x03, 0x04, 0xc5, 0xf8, 0x77 };
	/* ZGC of 17 compares with a 32-bit immediate */
	static const __u8 zgc17[] = { 0xc7, 0x81, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
				      0x00, 0xc9, 0x49, 0x81, 0x7f, 0x08, 0x00, 0x00, 0x00,
				      0x00, 0x0f, 0x85, 0x01, 0x00, 0x00, 0x00, 0xc3, 0xe9,
				      0x09, 0xba, 0xa3, 0xff, 0xc5, 0xf8, 0x77 };
	static const __u8 jdk25[] = { 0xc7, 0x81, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
				      0xc9, 0x41, 0xf6, 0x47, 0x28, 0x01, 0x74, 0x16, 0x49, 0xba,
				      0x0f, 0x30, 0xed, 0xe3, 0xe3, 0x7f, 0x00, 0x00, 0x4d, 0x89,
				      0x97, 0x38, 0x05, 0x00, 0x00, 0xe9, 0x34, 0x6b, 0xab, 0xff,
				      0x49, 0x83, 0x7f, 0x08, 0x00, 0x0f, 0x85, 0x01, 0x00, 0x00,
				      0x00, 0xc3, 0xe9, 0xa3, 0x5e, 0xa6, 0xff, 0xc5, 0xf8, 0x77 };
	static const struct {
		const __u8 *code;
		size_t size;
		__u8 gone[12]; /* instructions behind leave; 0 ends */
		__u8 there[4]; /* instructions of a whole frame */
	} cases[] = {
		{ jdk17, sizeof(jdk17), { 11, 16, 22, 23 }, { 10, 28 } },
		{ zgc17, sizeof(zgc17), { 11, 19, 25, 26 }, { 10, 31 } },
		{ jdk25, sizeof(jdk25), { 11, 16, 18, 28, 35, 40, 45, 51, 52 }, { 10, 57 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		__u64 at = HEAP + 0x1000 * (i + 1);

		put(at, cases[i].code, cases[i].size);
		for (size_t k = 0; cases[i].gone[k]; k++) {
			w->pc = at + cases[i].gone[k];
			ASSERT_INT(jvs_in_wrapper_end(w), 1);
		}
		for (size_t k = 0; cases[i].there[k]; k++) {
			w->pc = at + cases[i].there[k];
			ASSERT_INT(jvs_in_wrapper_end(w), 0);
		}
	}
	w->pc = HEAP + 0x8000;
	ASSERT_INT(jvs_in_wrapper_end(w), 0);
}

static void finds_what_a_barrier_stub_spilled(void)
{
	w->pc = HEAP + 0x1000;
	put_code(w->pc - 100, 0x48, 0x83, 0xec, 0x10); /* an older one */
	put_code(w->pc - 40, 0x48, 0x83, 0xec, 0x58);
	ASSERT_INT(jvs_scan_spill(w), 0x58 | 40 << JVS_SPILL_BACK);
	put_code(w->pc - 20, 0x48, 0x81, 0xec, 0x20, 0x01, 0x00, 0x00);
	ASSERT_INT(jvs_scan_spill(w), 0x120 | 20 << JVS_SPILL_BACK);
	put_code(w->pc - 21, 0x50); /* push rax before it */
	ASSERT_INT(jvs_scan_spill(w), 0x120 | JVS_SPILL_PUSH | 20 << JVS_SPILL_BACK);
	w->pc = HEAP + 0x2000;
	ASSERT_INT(jvs_scan_spill(w), 0);
}

static void counts_the_arguments_popped_after_a_call(void)
{
	w->pc = HEAP + 0x1000;
	put_code(w->pc, 0x5b, 0x5b, 0x48, 0x85);
	ASSERT_INT(jvs_scan_arguments(w), 2);
	put_code(w->pc, 0x5d, 0x5b, 0x48, 0x85); /* pop rbp is an epilogue */
	ASSERT_INT(jvs_scan_arguments(w), 0);
	put_code(w->pc, 0x58, 0x59, 0x5a, 0x5b, 0x5e);
	ASSERT_INT(jvs_scan_arguments(w), 4);
	put_code(w->pc, 0x48, 0x83, 0xc4, 0x10, 0x48, 0x8b); /* add rsp, 16 */
	ASSERT_INT(jvs_scan_arguments(w), 2);
	put_code(w->pc, 0x48, 0x83, 0xc4, 0x10, 0x5d); /* before pop rbp: the method returns */
	ASSERT_INT(jvs_scan_arguments(w), 0);
	put_code(w->pc, 0x41, 0x58, 0x5b, 0x85, 0xdb); /* pop r8; pop rbx */
	ASSERT_INT(jvs_scan_arguments(w), 2);
	put_code(w->pc, 0x41, 0x5d, 0x48); /* pop r13 is not pop rbp */
	ASSERT_INT(jvs_scan_arguments(w), 1);
	put_code(w->pc, 0x48, 0x83, 0xc4, 0x10, 0x48, 0x8b, 0xf8, 0x58); /* mov; pop rax */
	ASSERT_INT(jvs_scan_arguments(w), 3);
	put_code(w->pc, 0x48, 0x83, 0xc4, 0x10, 0x58, 0xe9); /* pop rax */
	ASSERT_INT(jvs_scan_arguments(w), 3);
	put_code(w->pc, 0x48, 0x83, 0xc4, 0x10, 0x48, 0x8b, 0xf8, 0xe9); /* mov; jmp */
	ASSERT_INT(jvs_scan_arguments(w), 2);
}

/* leave; pop r13; mov rsp, rbx; jmp r13, with pc at each of its instructions. */
static void sees_where_an_interpreted_return_is(void)
{
	static const __u8 of_17[] = { 0xc9, 0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5 };
	static const __u8 of_25[] = { 0xc9, 0x41, 0xc6, 0x87, 0x10, 0x04, 0x00, 0x00, 0x00,
				      0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5 };
	static const struct {
		const __u8 *code;
		size_t size;
		size_t pc;
		int state;
	} cases[] = {
		{ of_17, sizeof(of_17), 0, JVS_EPILOGUE_NONE },
		{ of_17, sizeof(of_17), 1, JVS_EPILOGUE_LEFT },
		{ of_17, sizeof(of_17), 3, JVS_EPILOGUE_POPPED },
		{ of_17, sizeof(of_17), 6, JVS_EPILOGUE_POPPED },
		{ of_25, sizeof(of_25), 0, JVS_EPILOGUE_NONE },
		{ of_25, sizeof(of_25), 1, JVS_EPILOGUE_LEFT },
		{ of_25, sizeof(of_25), 9, JVS_EPILOGUE_LEFT },
		{ of_25, sizeof(of_25), 11, JVS_EPILOGUE_POPPED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(w->code, 0x90, sizeof(w->code));
		memcpy(w->code + JVS_CODELET_PC - cases[i].pc, cases[i].code, cases[i].size);
		ASSERT_INT(jvs_scan_interpreter_return(w), cases[i].state);
	}
}

static void sees_when_an_adapter_has_the_sender_sp(void)
{
	static const __u8 c2i[] = { 0x4c, 0x8d, 0x6c, 0x24, 0x08, 0x58, 0x48, 0x83, 0xec, 0x20 };
	static const __u8 mov[] = { 0x90, 0x4c, 0x8b, 0xec, 0x58 };

	load(c2i, sizeof(c2i));
	ASSERT_INT(jvs_scan_sender_sp(w, 0), 0);
	ASSERT_INT(jvs_scan_sender_sp(w, 5), 1);
	load(mov, sizeof(mov));
	ASSERT_INT(jvs_scan_sender_sp(w, 1), 0);
	ASSERT_INT(jvs_scan_sender_sp(w, 4), 1);
}

static CU_TestInfo tests[] = {
	{ "equality has no false positive", equality_has_no_false_positive },
	{ "sees how far a prologue is", sees_how_far_a_prologue_is },
	{ "long prologues are bounded", long_prologues_are_bounded },
	{ "sees the return of every JDK", sees_the_return_of_every_jdk },
	{ "sees the end of a wrapper", sees_the_end_of_a_wrapper },
	{ "finds what a barrier stub spilled", finds_what_a_barrier_stub_spilled },
	{ "counts the arguments popped after a call", counts_the_arguments_popped_after_a_call },
	{ "sees where an interpreted return is", sees_where_an_interpreted_return_is },
	{ "sees when an adapter has the sender's sp", sees_when_an_adapter_has_the_sender_sp },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo bpf_code_suite = {
	.pName = "bpf code patterns",
	.pSetUpFunc = world_reset,
	.pTests = tests,
};
