/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/bpf_world.h"

static struct jvs_walk *w = &world.walk;
static __u64 method; /* frame of 6 words, complete 32 bytes into its code */
static __u64 code;
static __u64 caller; /* a return address into another method */

static void setup(void)
{
	world_reset();
	method = put_method(6, 32, 1234);
	code = method + BLOB_CODE;
	caller = put_method(4, 32, 1235) + BLOB_CODE + 0x40;
	/* verified entry: mov [rsp - n], eax; push rbp; sub rsp, 0x20 */
	put_code(code + 16, 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x20,
		 0x90, 0x90, 0x90, 0x90);
}

static void whole_frame_by_its_size(void)
{
	w->pc = code + 0x50;
	w->fp = 4; /* compiled code uses rbp as it likes */
	put_words(SP + 32, 0x5550, caller);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_NORMAL);
	ASSERT_AT(caller, SP + 48, 0x5550);
	ASSERT_INT(address_of(0), method);
	ASSERT_INT(frame(0)->offset, 0x50);
	ASSERT_INT(frame(0)->cookie, 1234);
	CU_ASSERT(is_leaf(0));
	ASSERT_INT(w->java_frames, 1);
}

static void same_with_the_layout_of_newer_jdks(void)
{
	struct jvs_java_layout *java = &world.target.java;

	java->code_is_offset = 1;
	java->frame_complete_is_16bit = 1;
	java->verified_entry_is_offset = 1;
	java->deopt_is_offset = 1;
	put_u32(method + BLOB_BEGIN, BLOB_CODE);
	put_u32(method + BLOB_END, 8 * SEGMENT - BLOCK_SIZE);
	put_u32(method + NM_ENTRY, 16);
	put_u32(method + NM_DEOPT, BLOB_CODE + 0x200);
	put_u32(method + NM_DEOPT_MH, BLOB_CODE + 0x210);
	put_u32(caller - 0x40 - BLOB_CODE + BLOB_BEGIN, BLOB_CODE);
	whole_frame_by_its_size();

	/* 16 bits: what follows is another field. */
	w->pc = code + 24;
	w->sp = SP;
	w->at = JVS_AT_LEAF;
	put_u32(method + BLOB_COMPLETE, 0xabcd0020);
	put_words(SP, 0x6660, caller);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_FP_RA);
	ASSERT_AT(caller, SP + 16, 0x6660);

	w->pc = code + 0x200;
	w->sp = SP;
	put_u64(SP + 8, code + 0x44);
	put_words(SP + 32, 0x5550, caller);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_DEOPT);
	ASSERT_INT(frame(2)->offset, 0x44);
}

static void leaf_in_the_prologue(void)
{
	static const struct {
		__u32 offset;
		int how;
	} cases[] = {
		{ 4, JVS_HOW_RA },     /* inline cache check */
		{ 16, JVS_HOW_RA },    /* verified entry */
		{ 23, JVS_HOW_RA },    /* at push rbp */
		{ 24, JVS_HOW_FP_RA }, /* after it */
		{ 28, JVS_HOW_NORMAL } /* after sub rsp, before "complete" */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		setup();
		w->pc = code + cases[i].offset;
		w->fp = 0x7770;
		if (cases[i].how == JVS_HOW_RA)
			put_words(SP, caller);
		else if (cases[i].how == JVS_HOW_FP_RA)
			put_words(SP, 0x5550, caller);
		else
			put_words(SP + 32, 0x5550, caller);
		ASSERT_STEP(JVS_FRAME_NMETHOD, cases[i].how);
		ASSERT_INT(w->pc, caller);
		ASSERT_INT(w->fp, cases[i].how == JVS_HOW_RA ? 0x7770 : 0x5550);
	}
}

static void leaf_in_the_epilogue(void)
{
	/* add rsp, 0x20; pop rbp; cmp rsp, [r15 + n]; ja; ret */
	put_code(code + 0x60, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0x49, 0x3b, 0xa7, 1, 2, 3, 4, 0x0f,
		 0x87, 1, 2, 3, 4, 0xc3);
	w->pc = code + 0x64;
	put_words(SP, 0x5550, caller);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_FP_RA);
	ASSERT_AT(caller, SP + 16, 0x5550);

	for (__u32 offset = 0x65; offset <= 0x72; offset++) {
		if (offset != 0x65 && offset != 0x6c && offset != 0x72)
			continue;
		w->pc = code + offset;
		w->sp = SP;
		w->fp = 0x99;
		w->at = JVS_AT_LEAF;
		put_words(SP, caller, 0);
		ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_RA);
		ASSERT_AT(caller, SP + 8, 0x99);
	}
}

/* 5d that begins no epilogue: the word above is no return address. */
static void pop_rbp_needs_a_return_address(void)
{
	put_code(code + 0x60, 0x5d, 0x90);
	w->pc = code + 0x60;
	put_words(SP, 0, 0x1234, 0, 0, 0x5550, caller);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_NORMAL);
	ASSERT_AT(caller, SP + 48, 0x5550);
}

static void end_of_a_native_wrapper(void)
{
	put_u64(method + BLOB_NAME, NAME_NATIVE);
	put_code(code + 0x60, 0xc9, 0x49, 0x83, 0x7f, 0x08, 0x00, 0x0f, 0x85, 1, 2, 3, 4, 0xc3);
	for (__u32 offset = 0x61; offset <= 0x66; offset += 5) {
		w->pc = code + offset;
		w->sp = SP;
		w->at = JVS_AT_LEAF;
		put_words(SP, caller);
		ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_RA);
		ASSERT_INT(w->sp, SP + 8);
	}
}

static void deoptimized_frame_keeps_its_pc(void)
{
	static const __u32 handlers[] = { 0x200, 0x210 };

	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++) {
		setup();
		w->pc = code + handlers[i];
		w->at = JVS_AT_RETURN;
		put_words(SP, 0, code + 0x77, 0, 0, 0x5550, caller);
		ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_DEOPT);
		ASSERT_AT(caller, SP + 48, 0x5550);
		ASSERT_INT(frame(0)->offset, 0x77);
	}
}

static void original_pc_must_be_in_the_method(void)
{
	w->pc = code + 0x200;
	w->at = JVS_AT_RETURN;
	put_words(SP, 0, caller, 0, 0, 0x5550, caller);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_NORMAL);
	ASSERT_INT(frame(0)->offset, 0x200);
}

static void no_second_handler_since_26(void)
{
	world.target.java.nmethod_deopt_mh = JVS_NO_FIELD;
	w->pc = code + 0x210;
	w->at = JVS_AT_RETURN;
	put_words(SP, 0, code + 0x77, 0, 0, 0x5550, caller);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_NORMAL);
	ASSERT_INT(frame(0)->offset, 0x210);
}

/* Method-handle intrinsics have none; -1 must not become four billion words. */
static void frame_sizes_below_one_mean_no_frame(void)
{
	static const __s32 sizes[] = { 0, -1 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		setup();
		put_u64(method + BLOB_NAME, NAME_NATIVE);
		put_u32(method + BLOB_FRAME_SIZE, (__u32)sizes[i]);
		w->pc = code + 0x50;
		w->fp = 0x88;
		put_words(SP, caller);
		ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_NO_FRAME);
		ASSERT_AT(caller, SP + 8, 0x88);
	}
}

static void arguments_pushed_for_a_stub_are_skipped(void)
{
	w->pc = code + 0x80;
	w->at = JVS_AT_RETURN;
	w->after_native = 1;
	put_code(code + 0x80, 0x5b, 0x5b, 0x48); /* pop rbx; pop rbx */
	put_words(SP + 32, 1, caller /* stale */, 0x5550, caller + 1);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_EXTRA);
	ASSERT_AT(caller + 1, SP + 64, 0x5550);
}

/* Only a stub gets arguments that way. */
static void pops_after_a_java_call_are_not_arguments(void)
{
	w->pc = code + 0x80;
	w->at = JVS_AT_RETURN;
	put_code(code + 0x80, 0x5b, 0x5b, 0x48);
	put_words(SP + 32, 0x4440, caller, 0x5550, caller + 1);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_NORMAL);
	ASSERT_AT(caller, SP + 48, 0x4440);
}

static void barrier_stub_spilled_registers(void)
{
	for (int leaf = 0; leaf < 2; leaf++) {
		setup();
		w->pc = code + 0x1c0;
		w->at = leaf ? JVS_AT_LEAF : JVS_AT_RETURN;
		w->after_native = !leaf;
		/* sub rsp, 64; mov [rsp + 16], rdx */
		put_code(code + 0x1a0, 0x48, 0x83, 0xec, 0x40, 0x48, 0x89, 0x54, 0x24, 0x10);
		put_words(SP + 32, 0x4440, caller + 1 /* stale */);
		put_words(SP + 0x40 + 32, 0x5550, caller);
		ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_SCAN);
		ASSERT_AT(caller, SP + 0x40 + 48, 0x5550);
	}
}

/* A wrapper makes room for what it passes on, and others do before another call. */
static void other_room_is_no_spill(void)
{
	w->pc = code + 0x1c0;
	w->at = JVS_AT_RETURN;
	w->after_native = 1;
	put_code(code + 0x1a0, 0x48, 0x83, 0xec, 0x40, 0xe8);
	put_words(SP + 32, 0x4440, caller);
	put_words(SP + 0x40 + 32, 0x5550, caller + 1);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_NORMAL);
	ASSERT_AT(caller, SP + 48, 0x4440);
}

/* A method that calls itself: below its caller's frame lies a frame of the same size. */
static void the_room_of_the_method_itself_is_no_spill(void)
{
	w->pc = code + 0x60;
	w->at = JVS_AT_RETURN;
	w->after_native = 1;
	put_code(code + 4, 0x48, 0x83, 0xec, 0x28, 0x48, 0x89, 0x6c, 0x24, 0x20);
	put_words(SP + 32, 0x4440, caller);
	put_words(SP + 48 + 0x28 - 8, caller + 1);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_NORMAL);
	ASSERT_AT(caller, SP + 48, 0x4440);
}

/* push rax; sub rsp, 16; call: rax is not to change, so it lies above the arguments. */
static void barrier_call_of_c1_pushed_rax_first(void)
{
	w->pc = code + 0x1c0;
	put_code(code + 0x1b0, 0x50, 0x48, 0x83, 0xec, 0x10);
	put_words(SP + 24 + 24, caller, 0, 0x5550, caller + 1);
	put_words(SP + 24 + 32, 0x5550, caller + 1);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_SCAN);
	ASSERT_AT(caller + 1, SP + 24 + 48, 0x5550);
}

/* A stale return address lies lower than the real one, which is above the saved fp. */
static void the_saved_fp_tells_which_word_is_real(void)
{
	w->pc = code + 0x50;
	w->fp = SP + 0x100;
	put_words(SP + 40, 0, caller, SP + 0x100, caller + 1);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_SCAN);
	ASSERT_AT(caller + 1, SP + 72, SP + 0x100);
}

/* A method-handle intrinsic in a load barrier: all registers are on its return address. */
static void intrinsic_that_spilled_registers(void)
{
	put_u64(method + BLOB_NAME, NAME_NATIVE);
	put_u32(method + BLOB_FRAME_SIZE, 0);
	w->pc = code + 0x50;
	w->at = JVS_AT_RETURN;
	w->fp = SP + 0x400;
	put_u64(SP + 0x48, caller);
	put_words(SP + 0x140, SP + 0x400, caller + 1);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_NO_FRAME);
	ASSERT_AT(caller + 1, SP + 0x150, SP + 0x400);

	/* Without the pair: the lowest word. */
	w->pc = code + 0x50;
	w->sp = SP;
	w->fp = SP + 0x408;
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_NO_FRAME);
	ASSERT_AT(caller, SP + 0x50, SP + 0x408);

	w->pc = code + 0x50;
	w->sp = SP + 0x1000;
	ASSERT_INT(jvs_step(w), JVS_STATUS_NMETHOD_RA);
}

static void a_pushed_word_is_found(void)
{
	w->pc = code + 0x50;
	put_words(SP + 32, 0, 1, 0x5550, caller);
	ASSERT_STEP(JVS_FRAME_NMETHOD, JVS_HOW_SCAN);
	ASSERT_AT(caller, SP + 64, 0x5550);
}

/* Not into free space or a library, nor at a blob's first byte, nor too far up. */
static void no_return_address_ends_the_walk(void)
{
	static const __u64 bad[] = { HEAP + 0x7f80, LIBRARY + 0x100, 1, 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		setup();
		w->pc = code + 0x50;
		put_u64(SP + 40, bad[i]);
		put_u64(SP + 40 + 8 * 8, caller);
		ASSERT_INT(jvs_step(w), JVS_STATUS_NMETHOD_RA);
		ASSERT_INT(kind_of(0), JVS_FRAME_NMETHOD);
	}
	setup();
	w->pc = code + 0x50;
	put_u64(SP + 40, code); /* nothing returns to a first instruction */
	ASSERT_INT(jvs_step(w), JVS_STATUS_NMETHOD_RA);
}

static void unreadable_stack_is_told(void)
{
	w->pc = code + 0x50;
	w->sp = STACK + STACK_SIZE - 16;
	ASSERT_INT(jvs_step(w), JVS_STATUS_NMETHOD_READ);
	setup();
	w->pc = code + 16;
	w->sp = STACK + STACK_SIZE;
	ASSERT_INT(jvs_step(w), JVS_STATUS_NMETHOD_LEAF);
}

static void names_decide_when_their_address_is_new(void)
{
	put(META + 0x200, "nmethod", 8);
	put_u64(method + BLOB_NAME, META + 0x200);
	whole_frame_by_its_size();
}

static CU_TestInfo tests[] = {
	{ "whole frame by its size", whole_frame_by_its_size },
	{ "same with the layout of newer JDKs", same_with_the_layout_of_newer_jdks },
	{ "leaf in the prologue", leaf_in_the_prologue },
	{ "leaf in the epilogue", leaf_in_the_epilogue },
	{ "pop rbp needs a return address", pop_rbp_needs_a_return_address },
	{ "end of a native wrapper", end_of_a_native_wrapper },
	{ "deoptimized frame keeps its pc", deoptimized_frame_keeps_its_pc },
	{ "original pc must be in the method", original_pc_must_be_in_the_method },
	{ "no second handler since 26", no_second_handler_since_26 },
	{ "frame sizes below one mean no frame", frame_sizes_below_one_mean_no_frame },
	{ "arguments pushed for a stub are skipped", arguments_pushed_for_a_stub_are_skipped },
	{ "pops after a Java call are not arguments", pops_after_a_java_call_are_not_arguments },
	{ "barrier stub spilled registers", barrier_stub_spilled_registers },
	{ "other room is no spill", other_room_is_no_spill },
	{ "the room of the method itself is no spill", the_room_of_the_method_itself_is_no_spill },
	{ "barrier call of C1 pushed rax first", barrier_call_of_c1_pushed_rax_first },
	{ "the saved fp tells which word is real", the_saved_fp_tells_which_word_is_real },
	{ "intrinsic that spilled registers", intrinsic_that_spilled_registers },
	{ "a pushed word is found", a_pushed_word_is_found },
	{ "no return address ends the walk", no_return_address_ends_the_walk },
	{ "unreadable stack is told", unreadable_stack_is_told },
	{ "names decide when their address is new", names_decide_when_their_address_is_new },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo bpf_compiled_suite = {
	.pName = "bpf compiled frames",
	.pSetUpFunc = setup,
	.pTests = tests,
};
