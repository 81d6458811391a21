/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/bpf_world.h"

static struct jvs_walk *w = &world.walk;

#define BYTECODES (INTERPRETER + 0x4000) /* a codelet that is no method entry */
#define CALLER	  (INTERPRETER + 0x5000) /* where an interpreted caller goes on */
#define FP	  (SP + 0x80)
#define SENDER_SP (FP + 0x30) /* more than fp + 16: an adapter made room */
#define CALLER_FP (FP + 0x200)

static void setup(void)
{
	world_reset();
	/* Codelets end in other codelets, not in zeros. */
	for (__u64 at = INTERPRETER + 0x100; at < INTERPRETER_END; at++)
		put_u8(at, 0x90);
}

/* A finished frame at FP, at this bytecode. */
static void put_frame(__u64 bcp)
{
	put_words(FP - 64, bcp, 0, 0, 0, 0, METHOD, 0, SENDER_SP, CALLER_FP, CALLER);
	w->fp = FP;
}

static void caller_frame(void)
{
	put_frame(BYTECODE + 7);
	w->pc = BYTECODES;
	w->at = JVS_AT_RETURN;
	w->r13 = BYTECODE + 50; /* not this frame's */
	ASSERT_STEP(JVS_FRAME_INTERPRETED, JVS_HOW_NORMAL);
	ASSERT_AT(CALLER, SENDER_SP, CALLER_FP);
	ASSERT_INT(address_of(0), METHOD);
	ASSERT_INT(frame(0)->offset, 7);
	ASSERT_INT(frame(0)->cookie, CONST_METHOD >> 3);
	CU_ASSERT_FALSE(is_leaf(0));
}

static void leaf_takes_its_bytecode_from_r13(void)
{
	static const struct {
		__u64 slot;
		__u64 r13;
		__u32 bci;
	} cases[] = {
		{ BYTECODE + 7, BYTECODE + 50, 50 },
		{ BYTECODE + 7, SENDER_SP, 7 },	      /* r13 holds something else */
		{ BYTECODE + 7, BYTECODE + 100, 7 },  /* behind the method's code */
		{ SENDER_SP, SENDER_SP, JVS_NO_BCI }, /* a native method has none */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		setup();
		put_frame(cases[i].slot);
		w->pc = BYTECODES;
		w->r13 = cases[i].r13;
		ASSERT_STEP(JVS_FRAME_INTERPRETED, JVS_HOW_NORMAL);
		ASSERT_AT(CALLER, SENDER_SP, CALLER_FP);
		ASSERT_INT(frame(0)->offset, cases[i].bci);
		CU_ASSERT(is_leaf(0));
	}
}

static void bytecode_slot_of_jdk_8(void)
{
	world.target.java.interpreter_bcp = -7;
	put_words(FP - 56, BYTECODE + 9, 0, 0, 0, METHOD, 0, SENDER_SP, CALLER_FP, CALLER);
	w->fp = FP;
	w->pc = BYTECODES;
	w->at = JVS_AT_RETURN;
	ASSERT_STEP(JVS_FRAME_INTERPRETED, JVS_HOW_NORMAL);
	ASSERT_INT(frame(0)->offset, 9);
}

/* rbp is the new frame's, but fewer than nine words are below it. */
static void frame_being_built(void)
{
	for (__u32 words = 0; words < 9; words++) {
		setup();
		w->pc = METHOD_ENTRY + 0x40;
		w->sp = FP - 8 * words;
		w->start_sp = w->sp;
		w->fp = FP;
		w->bx = METHOD;
		w->r13 = SENDER_SP;
		put_words(FP, CALLER_FP, CALLER);
		if (words > 0)
			put_u64(FP - 8, SENDER_SP);
		ASSERT_STEP(JVS_FRAME_INTERPRETED, JVS_HOW_ENTRY_PART);
		ASSERT_AT(CALLER, SENDER_SP, CALLER_FP);
		ASSERT_INT(address_of(0), METHOD);
		ASSERT_INT(frame(0)->offset, 0);
	}
}

static void finished_frame_of_a_method_entry(void)
{
	put_frame(BYTECODE);
	w->sp = FP - 72;
	w->pc = METHOD_ENTRY + 0x40;
	w->bx = METHOD;
	w->r13 = BYTECODE;
	ASSERT_STEP(JVS_FRAME_INTERPRETED, JVS_HOW_NORMAL);
	ASSERT_AT(CALLER, SENDER_SP, CALLER_FP);
}

/*
 * Called by the VM, before "push rbp": the call stub's frame has the Method* where an interpreted
 * one has it.
 */
static void frame_not_begun_below_the_call_stub(void)
{
	__u64 stub = INTERPRETER + 0x6000;

	world.target.java.call_stub_return = stub;
	w->pc = METHOD_ENTRY + 0x10;
	w->fp = SP + 0x60;
	w->bx = METHOD;
	w->r13 = SP + 8;
	put_u64(SP, stub);
	put_words(SP + 0x60 - 24, METHOD, 0, 0, SP + 0x200, LIBRARY + 0x100);
	ASSERT_STEP(JVS_FRAME_INTERPRETED, JVS_HOW_ENTRY);
	ASSERT_AT(stub, SP + 8, SP + 0x60);
}

/* Before "push rbp": fp is the caller's, which is interpreted too. */
static void frame_not_begun(void)
{
	__u64 fp = SP + 0x1000;

	w->pc = METHOD_ENTRY + 0x10;
	w->fp = fp;
	w->bx = METHOD;
	w->r13 = SENDER_SP;
	put_words(SP, CALLER, 0);
	ASSERT_STEP(JVS_FRAME_INTERPRETED, JVS_HOW_ENTRY);
	ASSERT_AT(CALLER, SENDER_SP, fp);
	ASSERT_INT(frame(0)->offset, 0);

	/* Between "push rbp" and "mov rbp, rsp". */
	setup();
	w->pc = METHOD_ENTRY + 0x10;
	w->fp = fp;
	w->bx = METHOD;
	w->r13 = SENDER_SP;
	put_words(SP, fp, CALLER);
	ASSERT_STEP(JVS_FRAME_INTERPRETED, JVS_HOW_ENTRY_FP);
	ASSERT_AT(CALLER, SENDER_SP, fp);

	/* While room is made for the locals. */
	setup();
	w->pc = METHOD_ENTRY + 0x10;
	w->fp = fp;
	w->bx = METHOD;
	w->r13 = SENDER_SP;
	w->ax = CALLER;
	ASSERT_STEP(JVS_FRAME_INTERPRETED, JVS_HOW_ENTRY_RAX);
	ASSERT_AT(CALLER, SENDER_SP, fp);

	setup();
	w->pc = METHOD_ENTRY + 0x10;
	w->fp = fp;
	w->bx = METHOD;
	w->r13 = SENDER_SP;
	ASSERT_INT(jvs_step(w), JVS_STATUS_INTERPRETER_ENTRY);
}

/* A method-handle linker has popped its argument: the sender's sp is below sp. */
static void sender_sp_may_be_a_little_below_sp(void)
{
	w->pc = METHOD_ENTRY + 0x10;
	w->fp = SP + 0x1000;
	w->bx = METHOD;
	w->r13 = SP - 8;
	put_words(SP, CALLER, 0);
	ASSERT_STEP(JVS_FRAME_INTERPRETED, JVS_HOW_ENTRY);

	setup();
	w->pc = METHOD_ENTRY + 0x10;
	w->fp = SP + 0x1000;
	w->bx = METHOD;
	w->r13 = SP - 72;
	put_words(SP, CALLER, 0);
	ASSERT_INT(jvs_step(w), JVS_STATUS_SP_DOWN);
}

/* leave; pop r13; mov rsp, rbx; jmp r13 */
static void frame_being_torn_down(void)
{
	put_code(BYTECODES, 0xc9, 0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5);

	/* After "leave": the dead frame still has its method. */
	w->pc = BYTECODES + 1;
	w->sp = FP + 8;
	w->fp = 4; /* the caller is compiled */
	w->bx = SENDER_SP;
	put_u64(FP - 24, METHOD);
	put_u64(FP + 8, CALLER);
	ASSERT_STEP(JVS_FRAME_INTERPRETED, JVS_HOW_EPILOGUE);
	ASSERT_AT(CALLER, SENDER_SP, 4);
	ASSERT_INT(address_of(0), METHOD);
	ASSERT_INT(frame(0)->offset, JVS_NO_BCI);

	/* After "pop r13". */
	w->pc = BYTECODES + 3;
	w->sp = FP + 16;
	w->fp = 4;
	w->at = JVS_AT_LEAF;
	w->r13 = CALLER;
	w->bx = SENDER_SP;
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_EPILOGUE);
	ASSERT_AT(CALLER, SENDER_SP, 4);
	ASSERT_INT(address_of(1), BYTECODES + 3);
}

static void torn_down_with_the_dead_frame_overwritten(void)
{
	put_code(BYTECODES, 0xc9, 0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5);
	w->pc = BYTECODES + 1;
	w->sp = FP + 8;
	w->bx = SENDER_SP;
	put_u64(FP - 24, METHOD + 0x900);
	put_u64(FP + 8, CALLER);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_EPILOGUE);
	ASSERT_AT(CALLER, SENDER_SP, 0);
}

/* [leave; [25: movb]] pop rdi; mov rsp, r11|r13; jmp rdi */
static void end_of_a_native_entry(void)
{
	static const struct {
		__u8 from; /* last byte of the mov */
		__u32 at;  /* of the code below */
		bool in_rdi;
	} cases[] = {
		{ 0xe3, 9, false }, { 0xe3, 10, true }, { 0xe3, 13, true }, { 0xe5, 9, false },
		{ 0xe5, 10, true }, { 0xe5, 13, true }, { 0xe3, 1, false }, /* at movb */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		setup();
		put_code(METHOD_ENTRY + 0x100, 0xc9, 0x41, 0xc6, 0x87, 1, 2, 3, 4, 0, 0x5f, 0x49,
			 0x8b, cases[i].from, 0xff, 0xe7);
		w->pc = METHOD_ENTRY + 0x100 + cases[i].at;
		w->fp = 0x44;
		w->r11 = cases[i].from == 0xe3 ? SENDER_SP : 1;
		w->r13 = cases[i].from == 0xe5 ? SENDER_SP : 1;
		w->di = cases[i].in_rdi ? CALLER : 1;
		put_words(SP, cases[i].in_rdi ? 1 : CALLER);
		ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_EPILOGUE);
		ASSERT_AT(CALLER, SENDER_SP, 0x44);
	}
}

static void garbage_frames_are_refused(void)
{
	static const struct {
		__u64 fp;
		__u64 method;
		int status;
	} cases[] = {
		{ SP - 0x108, METHOD, JVS_STATUS_INTERPRETER_FP },
		{ SP + 0x20000, METHOD, JVS_STATUS_INTERPRETER_FP },
		{ FP + 4, METHOD, JVS_STATUS_INTERPRETER_FP },
		{ FP, 0, JVS_STATUS_INTERPRETER_METHOD },
		{ FP, METHOD + 1, JVS_STATUS_INTERPRETER_METHOD },
		{ FP, METHOD + 0x900, JVS_STATUS_INTERPRETER_METHOD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (int at = JVS_AT_RETURN; at <= JVS_AT_LEAF; at++) {
			setup();
			put_frame(BYTECODE);
			put_u64(FP - 24, cases[i].method);
			w->fp = cases[i].fp;
			w->pc = BYTECODES;
			w->at = (__u32)at;
			ASSERT_INT(jvs_step(w), cases[i].status);
		}
	setup();
	w->pc = BYTECODES;
	w->sp = STACK + STACK_SIZE - 0x40;
	w->fp = w->sp + 0x38;
	w->at = JVS_AT_RETURN;
	ASSERT_INT(jvs_step(w), JVS_STATUS_INTERPRETER_READ);
}

/* Their pool is their own, and its holder's pool another. */
static void method_handle_intrinsics_are_methods(void)
{
	__u64 holder = METHOD + 0x300;

	CU_ASSERT(jvs_is_method(w, METHOD));
	put_u64(holder + 32, METHOD + 0x600);
	CU_ASSERT(jvs_is_method(w, METHOD));
	put_u64(holder + 40, 0);
	CU_ASSERT_FALSE(jvs_is_method(w, METHOD));
	CU_ASSERT_FALSE(jvs_is_method(w, METHOD + 8));
	CU_ASSERT_FALSE(jvs_is_method(w, 0));
}

static CU_TestInfo tests[] = {
	{ "caller frame", caller_frame },
	{ "leaf takes its bytecode from r13", leaf_takes_its_bytecode_from_r13 },
	{ "bytecode slot of JDK 8", bytecode_slot_of_jdk_8 },
	{ "frame being built", frame_being_built },
	{ "finished frame of a method entry", finished_frame_of_a_method_entry },
	{ "frame not begun", frame_not_begun },
	{ "frame not begun below the call stub", frame_not_begun_below_the_call_stub },
	{ "sender's sp may be a little below sp", sender_sp_may_be_a_little_below_sp },
	{ "frame being torn down", frame_being_torn_down },
	{ "torn down with the dead frame overwritten", torn_down_with_the_dead_frame_overwritten },
	{ "end of a native entry", end_of_a_native_entry },
	{ "garbage frames are refused", garbage_frames_are_refused },
	{ "method-handle intrinsics are methods", method_handle_intrinsics_are_methods },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo bpf_interpreter_suite = {
	.pName = "bpf interpreted frames",
	.pSetUpFunc = setup,
	.pTests = tests,
};
