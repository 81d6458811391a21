/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/bpf_world.h"

static struct jvs_walk *w = &world.walk;
static __u64 caller; /* a return address into a compiled method */

static void setup(void)
{
	world_reset();
	caller = put_method(4, 32, 1) + BLOB_CODE + 0x40;
}

/* A blob of this name whose code is all nops; returns its code. */
static __u64 put_stubs(__u64 name, __s32 frame_size, __s32 complete)
{
	__u64 code = put_blob(name, 12, frame_size, complete) + BLOB_CODE;

	for (__u64 i = 0; i < 0x400; i++)
		put_u8(code + i, 0x90);
	return code;
}

/* ---- adapters and vtable stubs */

static void vtable_stub_has_no_frame(void)
{
	w->pc = put_stubs(NAME_VTABLE, 0, 0) + 0x10;
	w->fp = 0x33;
	put_words(SP, caller);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_RA);
	ASSERT_AT(caller, SP + 8, 0x33);
}

/* lea r13, [rsp + 8]; pop rax; sub rsp, 0x20; push rax */
static void c2i_adapter_extends_the_caller(void)
{
	static const struct {
		__u32 pc;
		bool in_rax;
		bool extended;
	} cases[] = {
		{ 0, false, false }, /* r13 is stale, though it looks right */
		{ 5, false, true },  /* after lea */
		{ 6, true, true },   /* after pop */
		{ 10, true, true },  /* after sub */
		{ 11, false, true }, /* after push */
	};
	__u64 code = put_stubs(NAME_ADAPTER, 0, 0);

	put_code(code + 0x40, 0x4c, 0x8d, 0x6c, 0x24, 0x08, 0x58, 0x48, 0x83, 0xec, 0x20, 0x50);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		w->pc = code + 0x40 + cases[i].pc;
		w->sp = SP;
		w->at = JVS_AT_LEAF;
		w->r13 = SP + 0x40;
		w->ax = cases[i].in_rax ? caller : 0;
		put_words(SP, cases[i].in_rax ? 0 : caller);
		jvs_step(w);
		ASSERT_INT(w->pc, caller);
		ASSERT_INT(w->sp, cases[i].extended ? SP + 0x40 : SP + 8);
		ASSERT_INT(kind_of(w->walked - 1), JVS_FRAME_ADAPTER);
	}
}

static void adapter_that_called_the_vm(void)
{
	w->pc = put_stubs(NAME_ADAPTER, 0, 0) + 0x80;
	w->at = JVS_AT_RETURN;
	w->r13 = SP + 0x100;
	put_words(SP + 0x100, caller);
	ASSERT_STEP(JVS_FRAME_ADAPTER, JVS_HOW_R13);
	ASSERT_AT(caller, SP + 0x108, 0);
}

/* A collector's barrier in a C2I adapter. */
static void adapter_that_saved_registers(void)
{
	w->pc = put_stubs(NAME_ADAPTER, 0, 0) + 0x80;
	put_words(SP, 1, 2, 3, caller);
	ASSERT_STEP(JVS_FRAME_ADAPTER, JVS_HOW_SCAN);
	ASSERT_AT(caller, SP + 32, 0);
}

static void adapter_without_a_return_address(void)
{
	w->pc = put_stubs(NAME_ADAPTER, 0, 0) + 0x80;
	ASSERT_INT(jvs_step(w), JVS_STATUS_ADAPTER);
	setup();
	w->pc = put_stubs(NAME_VTABLE, 0, 0) + 0x80;
	ASSERT_INT(jvs_step(w), JVS_STATUS_VTABLE_STUB);
}

/* ---- runtime stubs with a frame size */

static void runtime_stub_by_its_size(void)
{
	w->pc = put_stubs(NAME_RUNTIME, 8, 12) + 0x20;
	w->at = JVS_AT_RETURN;
	put_words(SP + 48, 0x5550, caller);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_NORMAL);
	ASSERT_AT(caller, SP + 64, 0x5550);
	ASSERT_INT(w->after_native, 1);

	setup();
	w->pc = put_stubs(NAME_RUNTIME, 8, 12) + 0x20;
	w->at = JVS_AT_RETURN;
	ASSERT_INT(jvs_step(w), JVS_STATUS_FRAMED_RA);
}

static void runtime_stub_with_part_of_its_frame(void)
{
	__u64 code = put_stubs(NAME_RUNTIME, 8, 12);

	w->pc = code; /* nothing pushed */
	put_words(SP, caller, caller + 1);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_RA);
	ASSERT_AT(caller, SP + 8, 0);

	w->pc = code + 1;
	w->sp = SP;
	w->at = JVS_AT_LEAF;
	put_words(SP, 0x5550, caller);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_FP_RA);
	ASSERT_AT(caller, SP + 16, 0x5550);

	w->pc = code + 0x100;
	w->sp = SP;
	w->at = JVS_AT_LEAF;
	put_u8(w->pc, 0xc3);
	put_words(SP, caller);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_RA);
	ASSERT_AT(caller, SP + 8, 0x5550);
}

/* C1's stubs begin "push rbp; mov rbp, rsp": their size is true only after all saves. */
static void runtime_stub_by_its_frame_pointer(void)
{
	__u64 code = put_stubs(NAME_RUNTIME, 144, -1);

	put_code(code, 0x55, 0x48, 0x8b, 0xec);
	for (int at = JVS_AT_RETURN; at <= JVS_AT_LEAF; at++) {
		w->pc = code + 0x40;
		w->sp = SP;
		w->fp = SP + 0x60;
		w->at = (__u32)at;
		put_words(SP + 0x60, 0x5550, caller);
		ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_FP);
		ASSERT_AT(caller, SP + 0x70, 0x5550);
	}
	w->pc = code + 1;
	w->sp = SP;
	w->at = JVS_AT_LEAF;
	put_words(SP, 0x6660, caller);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_FP_RA);
	ASSERT_AT(caller, SP + 16, 0x6660);
}

/* push rbx; push rbp; mov rbp, rsp: the return address is filled in later. */
static void safepoint_stub_before_its_return_address(void)
{
	static const struct {
		__u32 pc;
		__u64 sp; /* above it the method's frame begins at SP + 0x100 */
	} cases[] = { { 0, SP + 0x100 }, { 1, SP + 0xf8 }, { 2, SP + 0xf0 } };
	__u64 code = put_stubs(NAME_RUNTIME, 356, 0);

	put_code(code, 0x53, 0x55, 0x48, 0x8b, 0xec);
	put_u64(THREAD + SAVED_PC, caller);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		w->pc = code + cases[i].pc;
		w->sp = cases[i].sp;
		w->fp = 0x21;
		w->at = JVS_AT_LEAF;
		ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_ENTRY);
		ASSERT_AT(caller, SP + 0x100, 0x21);
	}

	/* Saving: the slot still holds rbx. */
	w->pc = code + 0x20;
	w->sp = SP;
	w->fp = SP + 0xf0;
	w->at = JVS_AT_LEAF;
	put_words(SP + 0xf0, 0x21, 0xbb);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_FP);
	ASSERT_AT(caller, SP + 0x100, 0x21);

	/* As a caller it is there. */
	w->pc = code + 0x40;
	w->sp = SP;
	w->fp = SP + 0xf0;
	put_words(SP + 0xf0, 0x21, caller + 1);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_FP);
	ASSERT_AT(caller + 1, SP + 0x100, 0x21);
}

static void safepoint_stub_of_a_thread_not_known_yet(void)
{
	__u64 code = put_stubs(NAME_RUNTIME, 356, 0);

	put_code(code, 0x53, 0x55, 0x48, 0x8b, 0xec);
	put_u64(THREAD + SAVED_PC, caller);
	world.java_thread = 0;
	w->r15 = THREAD;
	w->pc = code;
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_ENTRY);
	ASSERT_AT(caller, SP, 0);
}

/* push rdx; sub rsp, n: reached by a jump, with the return address in rdx */
static void exception_stub_at_its_beginning(void)
{
	__u64 code = put_stubs(NAME_RUNTIME, 2, 0);

	put_code(code, 0x52, 0x48, 0x83, 0xec, 0x08);
	w->pc = code;
	w->dx = caller;
	w->fp = 0x21;
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_NO_FRAME);
	ASSERT_AT(caller, SP, 0x21);

	w->pc = code + 1;
	w->at = JVS_AT_LEAF;
	put_words(SP, caller);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_RA);
	ASSERT_AT(caller, SP + 8, 0x21);
}

/* ---- StubRoutines */

static void stub_routine_by_its_frame_pointer(void)
{
	w->pc = put_stubs(NAME_STUBS, 0, 0) + 0x100;
	w->fp = SP + 0x20;
	put_words(SP + 0x20, 0x5550, caller);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_FP);
	ASSERT_AT(caller, SP + 0x30, 0x5550);
}

/* fp there is that of an interpreted caller: using it would lose one frame. */
static void stub_routine_at_its_edges(void)
{
	static const struct {
		__u32 pc;
		int how;
	} cases[] = {
		{ 0x100, JVS_HOW_RA },	  /* at push rbp */
		{ 0x101, JVS_HOW_FP_RA }, /* at mov rbp, rsp */
		{ 0x140, JVS_HOW_RA },	  /* at ret */
	};
	__u64 code = put_stubs(NAME_STUBS, 0, 0);

	put_code(code + 0x100, 0x55, 0x48, 0x8b, 0xec);
	put_u8(code + 0x140, 0xc3);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		w->pc = code + cases[i].pc;
		w->sp = SP;
		w->fp = SP + 0x80;
		w->at = JVS_AT_LEAF;
		put_words(SP + 0x80, 0x5550, caller + 8);
		if (cases[i].how == JVS_HOW_RA)
			put_words(SP, caller, 0);
		else
			put_words(SP, SP + 0x80, caller);
		ASSERT_STEP(JVS_FRAME_STUB, cases[i].how);
		ASSERT_INT(w->pc, caller);
		ASSERT_INT(w->fp, SP + 0x80);
	}
}

static void stub_routine_without_a_frame(void)
{
	w->pc = put_stubs(NAME_STUBS, 0, 0) + 0x100;
	w->fp = 7;
	put_words(SP, caller);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_RA);
	ASSERT_AT(caller, SP + 8, 7);

	/* It pushed registers: the lowest word that returns to Java. */
	w->pc = put_stubs(NAME_STUBS, 0, 0) + 0x100;
	w->sp = SP;
	w->at = JVS_AT_LEAF;
	put_words(SP, 1, 2, LIBRARY + 8, caller);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_SCAN);
	ASSERT_AT(caller, SP + 32, 7);

	setup();
	w->pc = put_stubs(NAME_STUBS, 0, 0) + 0x100;
	put_words(SP, 0, 0, 0, 0);
	ASSERT_INT(jvs_step(w), JVS_STATUS_STUB);
}

/* Called in a method's prologue: return address, -1, saved rbp. */
static void entry_barrier(void)
{
	w->pc = put_stubs(NAME_STUBS, 0, 0) + 0x100;
	w->fp = SP + 0x20;
	put_words(SP + 0x20, 0x5550, ~0ull, caller);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_EXTRA);
	ASSERT_AT(caller, SP + 0x38, 0x5550);
}

/* A single stub that does not begin with push rbp leaves its caller's fp alone. */
static void single_stub_never_uses_a_foreign_fp(void)
{
	__u64 code = put_stubs(NAME_HANDLERS, 0, 0);

	w->pc = code + 0x10;
	w->fp = SP + 0x80;
	put_words(SP + 0x80, 0x5550, caller + 8);
	put_words(SP, 1, caller);
	ASSERT_STEP(JVS_FRAME_STUB, JVS_HOW_SCAN);
	ASSERT_AT(caller, SP + 16, SP + 0x80);
}

static void call_stub_leads_to_the_vm(void)
{
	w->pc = put_stubs(NAME_STUBS, 0, 0) + 0x50;
	world.target.java.call_stub_return = w->pc;
	w->at = JVS_AT_RETURN;
	w->fp = SP + 0x60;
	put_words(SP + 0x60, 0x5550, LIBRARY + 0x10);
	ASSERT_STEP(JVS_FRAME_CALL_STUB, JVS_HOW_NORMAL);
	ASSERT_AT(LIBRARY + 0x10, SP + 0x70, 0x5550);

	w->pc = world.target.java.call_stub_return;
	w->fp = STACK + STACK_SIZE;
	ASSERT_INT(jvs_step(w), JVS_STATUS_STUB_READ);
}

static CU_TestInfo tests[] = {
	{ "vtable stub has no frame", vtable_stub_has_no_frame },
	{ "c2i adapter extends the caller", c2i_adapter_extends_the_caller },
	{ "adapter that called the VM", adapter_that_called_the_vm },
	{ "adapter that saved registers", adapter_that_saved_registers },
	{ "adapter without a return address", adapter_without_a_return_address },
	{ "runtime stub by its size", runtime_stub_by_its_size },
	{ "runtime stub with part of its frame", runtime_stub_with_part_of_its_frame },
	{ "runtime stub by its frame pointer", runtime_stub_by_its_frame_pointer },
	{ "safepoint stub before its return address", safepoint_stub_before_its_return_address },
	{ "safepoint stub of a thread not known yet", safepoint_stub_of_a_thread_not_known_yet },
	{ "exception stub at its beginning", exception_stub_at_its_beginning },
	{ "stub routine by its frame pointer", stub_routine_by_its_frame_pointer },
	{ "stub routine at its edges", stub_routine_at_its_edges },
	{ "stub routine without a frame", stub_routine_without_a_frame },
	{ "entry barrier", entry_barrier },
	{ "single stub never uses a foreign fp", single_stub_never_uses_a_foreign_fp },
	{ "call stub leads to the VM", call_stub_leads_to_the_vm },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo bpf_stub_suite = {
	.pName = "bpf stubs",
	.pSetUpFunc = setup,
	.pTests = tests,
};
