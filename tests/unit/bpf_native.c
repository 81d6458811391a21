/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/bpf_world.h"

static struct jvs_walk *w = &world.walk;

/* Rows of a library: one function per kind, 0x100 apart from LIBRARY + 0x1000. */
#define FN_SP	  (LIBRARY + 0x1000)
#define FN_FP	  (LIBRARY + 0x1100)
#define FN_PLT	  (LIBRARY + 0x1200)
#define FN_ROOT	  (LIBRARY + 0x1300)
#define FN_SIGNAL (LIBRARY + 0x1400)
#define FN_BAD	  (LIBRARY + 0x1500)
#define FN_GAP	  (LIBRARY + 0x1600)
#define FN_SAVES  (LIBRARY + 0x1700) /* saves rbp not right below the return address, and r13 */
#define FN_LAST	  (LIBRARY + 0x1800)
#define CALLER	  (FN_SP + 0x10)
#define UNMAPPED  0x1230000ull

static void setup(void)
{
	world_reset();
	put_row(0x1000, JVS_ROW_SP, 4, 0);
	put_row(0x1100, JVS_ROW_FP, 2, -2);
	put_row(0x1200, JVS_ROW_PLT, 11, 0);
	put_row(0x1300, JVS_ROW_END, 0, 0);
	put_row(0x1400, JVS_ROW_SIGNAL, 0, 0);
	put_row(0x1500, JVS_ROW_BAD, 0, 0);
	put_row(0x1600, JVS_ROW_GAP, 0, 0);
	put_row(0x1700, JVS_ROW_SP | 4 << 3, 8, -3);
	put_row(0x1800, JVS_ROW_SP, 1, 0);
}

static void by_sp(void)
{
	w->pc = FN_SP + 8;
	w->fp = 0x1234;
	put_u64(SP + 24, CALLER);
	ASSERT_STEP(JVS_FRAME_NATIVE, JVS_HOW_NORMAL);
	ASSERT_AT(CALLER, SP + 32, 0x1234);
	ASSERT_INT(address_of(0), FN_SP + 8);
	ASSERT_INT(frame(0)->cookie, 11);
}

static void by_fp(void)
{
	w->pc = FN_FP + 8;
	w->fp = SP + 0x40;
	put_words(SP + 0x40, SP + 0x100, CALLER);
	ASSERT_STEP(JVS_FRAME_NATIVE, JVS_HOW_NORMAL);
	ASSERT_AT(CALLER, SP + 0x50, SP + 0x100);
}

static void restores_registers_saved_elsewhere(void)
{
	w->pc = FN_SAVES + 8;
	put_u64(SP + 56, CALLER);
	put_u64(SP + 64 - 24, 0xaaaa8); /* rbp */
	put_u64(SP + 64 - 32, 0xbbbb8); /* r13 */
	ASSERT_STEP(JVS_FRAME_NATIVE, JVS_HOW_NORMAL);
	ASSERT_AT(CALLER, SP + 64, 0xaaaa8);
	ASSERT_INT(w->r13, 0xbbbb8);
}

static void leaves_r13_alone_below_java(void)
{
	w->pc = FN_SAVES + 8;
	w->java_frames = 1;
	w->r13 = 5;
	put_u64(SP + 56, CALLER);
	put_u64(SP + 64 - 32, 0xbbbb8);
	ASSERT_STEP(JVS_FRAME_NATIVE, JVS_HOW_NORMAL);
	ASSERT_INT(w->r13, 5);
}

/* The linker's stub pushes an index at its 11th byte. */
static void plt_stub_before_and_after_its_push(void)
{
	w->pc = FN_PLT + 0x20;
	put_words(SP, CALLER, CALLER + 1);
	ASSERT_STEP(JVS_FRAME_NATIVE, JVS_HOW_NORMAL);
	ASSERT_AT(CALLER, SP + 8, 0);

	w->pc = FN_PLT + 0x2b;
	w->sp = SP;
	w->at = JVS_AT_LEAF;
	ASSERT_STEP(JVS_FRAME_NATIVE, JVS_HOW_NORMAL);
	ASSERT_AT(CALLER + 1, SP + 16, 0);
}

/* A call can be a function's last instruction: the address behind it has another row. */
static void return_addresses_belong_to_the_call(void)
{
	w->pc = FN_FP; /* the end of FN_SP */
	w->at = JVS_AT_RETURN;
	put_u64(SP + 24, CALLER);
	ASSERT_STEP(JVS_FRAME_NATIVE, JVS_HOW_NORMAL);
	ASSERT_AT(CALLER, SP + 32, 0);
	ASSERT_INT(address_of(0), FN_FP);
}

static void ends_where_the_return_address_is_undefined(void)
{
	w->pc = FN_ROOT + 4;
	w->at = JVS_AT_RETURN;
	ASSERT_INT(jvs_step(w), JVS_STATUS_END);
	ASSERT_INT(w->walked, 1);
	ASSERT_INT(kind_of(0), JVS_FRAME_NATIVE);
}

static void signal_frame_leads_to_a_leaf(void)
{
	__u64 registers = SP + 40;

	w->pc = FN_SIGNAL + 9;
	w->at = JVS_AT_RETURN;
	put_u64(registers + 5 * 8, 13);
	put_u64(registers + 10 * 8, 0x5550);
	put_u64(registers + 11 * 8, 0xb);
	put_u64(registers + 13 * 8, 0xa);
	put_u64(registers + 15 * 8, SP - 0x1000); /* an alternate stack may lie above */
	put_u64(registers + 16 * 8, FN_LAST + 1);
	put_u64(SP - 0x1000, CALLER);

	ASSERT_STEP(JVS_FRAME_NATIVE, JVS_HOW_SIGNAL);
	ASSERT_INT(w->at, JVS_AT_SIGNAL);
	ASSERT_INT(w->pc, FN_LAST + 1);
	ASSERT_INT(w->fp, 0x5550);
	ASSERT_INT(w->bx, 0xb);
	ASSERT_INT(w->ax, 0xa);
	ASSERT_INT(w->r13, 13);
	CU_ASSERT_FALSE(is_leaf(0));

	ASSERT_STEP(JVS_FRAME_NATIVE, JVS_HOW_NORMAL);
	CU_ASSERT(is_leaf(1));
	ASSERT_AT(CALLER, SP - 0x1000 + 8, 0x5550);
}

static void unreadable_signal_frame_is_told(void)
{
	w->pc = FN_SIGNAL + 9;
	w->sp = STACK + STACK_SIZE - 8;
	w->at = JVS_AT_RETURN;
	ASSERT_INT(jvs_step(w), JVS_STATUS_SIGNAL_READ);
}

static void falls_back_to_the_frame_pointer(void)
{
	static const struct {
		__u64 pc;
		__u32 kind;
		int else_status;
	} cases[] = {
		{ FN_BAD + 8, JVS_FRAME_NATIVE, JVS_STATUS_BAD_ROW },
		{ FN_GAP + 8, JVS_FRAME_NATIVE, JVS_STATUS_NO_ROW },
		{ LIBRARY + 0x10, JVS_FRAME_NATIVE, JVS_STATUS_NO_ROW }, /* before all rows */
		{ UNMAPPED, JVS_FRAME_UNMAPPED, JVS_STATUS_NO_MAPPING },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		setup();
		w->pc = cases[i].pc;
		w->fp = SP + 0x40;
		put_words(SP + 0x40, SP + 0x100, CALLER);
		ASSERT_STEP(cases[i].kind, JVS_HOW_FP_FALLBACK);
		ASSERT_AT(CALLER, SP + 0x50, SP + 0x100);

		setup();
		w->pc = cases[i].pc;
		w->fp = SP + 0x40;
		put_words(SP + 0x40, SP + 0x100, UNMAPPED);
		ASSERT_INT(jvs_step(w), cases[i].else_status);
		ASSERT_INT(w->fail_pc, cases[i].pc);
		ASSERT_INT(w->fail_sp, SP);
		ASSERT_INT(w->fail_fp, SP + 0x40);
		ASSERT_INT(w->walked, 1);
	}
}

static void fallback_refuses_what_is_no_frame_pointer(void)
{
	static const __u64 bad[] = { 0, SP - 8, SP + 0x44, SP + 0x200000, STACK + STACK_SIZE - 8 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		setup();
		w->pc = UNMAPPED;
		w->fp = bad[i];
		put_words(SP + 0x44, 0, CALLER);
		ASSERT_INT(jvs_step(w), JVS_STATUS_NO_MAPPING);
	}
}

static void a_mapping_without_rows_uses_the_frame_pointer(void)
{
	world.mappings[0].row_count = 0;
	w->pc = FN_SP + 8;
	w->fp = SP;
	put_words(SP, SP + 0x100, CALLER);
	ASSERT_STEP(JVS_FRAME_NATIVE, JVS_HOW_FP_FALLBACK);
}

static void new_thread_and_its_creator_behind_clone(void)
{
	put_code(FN_GAP + 0x10, 0x0f, 0x05);
	w->pc = FN_GAP + 0x12;
	w->ax = 0;
	ASSERT_INT(jvs_step(w), JVS_STATUS_END);

	w->ax = (__u64)-38;
	w->fp = 0x77;
	put_u64(SP, CALLER);
	ASSERT_STEP(JVS_FRAME_NATIVE, JVS_HOW_RA);
	ASSERT_AT(CALLER, SP + 8, 0x77);
}

/* The thread's first function in a C library without unwind information. */
static void zero_fp_ends_a_stack_without_rows(void)
{
	w->pc = FN_GAP + 8;
	w->at = JVS_AT_RETURN;
	w->fp = 0;
	ASSERT_INT(jvs_step(w), JVS_STATUS_END);
	ASSERT_INT(w->walked, 1);

	/* A leaf has used fp for something else. */
	w->at = JVS_AT_LEAF;
	ASSERT_INT(jvs_step(w), JVS_STATUS_NO_ROW);
}

static void unreadable_stack_is_told(void)
{
	w->pc = FN_SP + 8;
	w->sp = STACK + STACK_SIZE;
	ASSERT_INT(jvs_step(w), JVS_STATUS_READ_STACK);
}

static void zero_return_address_is_no_thread_start(void)
{
	w->pc = FN_SP + 8;
	ASSERT_INT(jvs_step(w), JVS_STATUS_PC_ZERO);
}

static void step_index_narrows_the_search(void)
{
	world.mappings[0].index_count = 0x19;
	for (__u32 i = 0; i < 0x19; i++)
		world.index[i] = i <= 0x10 ? 0 : i - 0x10;
	by_fp();
	setup();
	world.mappings[0].index_count = 0x19;
	for (__u32 i = 0; i < 0x19; i++)
		world.index[i] = i <= 0x10 ? 0 : i - 0x10;
	by_sp();
	/* The last step has no successor: the whole search. */
	setup();
	world.mappings[0].index_count = 0x18;
	w->pc = FN_LAST + 1;
	put_u64(SP, CALLER);
	ASSERT_STEP(JVS_FRAME_NATIVE, JVS_HOW_NORMAL);
	ASSERT_AT(CALLER, SP + 8, 0);
}

static void finds_the_mapping_by_its_bounds(void)
{
	world.mappings[0].end = LIBRARY + 0x1000;
	world.mappings[1] =
		(struct jvs_mapping){ .start = LIBRARY + 0x2000, .end = LIBRARY + 0x3000 };
	world.mappings[2] =
		(struct jvs_mapping){ .start = LIBRARY + 0x3000, .end = LIBRARY + 0x4000 };
	w->mappings = 3ull << 32;

	ASSERT_INT(jvs_mapping_find(w, LIBRARY - 1), -1);
	ASSERT_INT(jvs_mapping_find(w, LIBRARY), 0);
	ASSERT_INT(jvs_mapping_find(w, LIBRARY + 0xfff), 0);
	ASSERT_INT(jvs_mapping_find(w, LIBRARY + 0x1000), -1);
	ASSERT_INT(jvs_mapping_find(w, LIBRARY + 0x2fff), 1);
	ASSERT_INT(jvs_mapping_find(w, LIBRARY + 0x3000), 2);
	ASSERT_INT(jvs_mapping_find(w, LIBRARY + 0x4000), -1);

	/* Another target's mappings are not this one's. */
	w->mappings = 1 | 2ull << 32;
	ASSERT_INT(jvs_mapping_find(w, LIBRARY), -1);
	ASSERT_INT(jvs_mapping_find(w, LIBRARY + 0x3000), 2);
	w->mappings = 0;
	ASSERT_INT(jvs_mapping_find(w, LIBRARY), -1);
}

static void broken_on_purpose_for_tests(void)
{
	w->flags = JVS_TARGET_ON | JVS_TARGET_JAVA | JVS_TARGET_BREAK_NATIVE;
	w->pc = FN_SP + 8;
	ASSERT_INT(jvs_step(w), JVS_STATUS_NO_ROW);
	/* Only above Java. */
	setup();
	w->flags = JVS_TARGET_ON | JVS_TARGET_JAVA | JVS_TARGET_BREAK_NATIVE;
	w->java_frames = 1;
	by_sp();
}

static CU_TestInfo tests[] = {
	{ "by sp", by_sp },
	{ "by fp", by_fp },
	{ "restores registers saved elsewhere", restores_registers_saved_elsewhere },
	{ "leaves r13 alone below Java", leaves_r13_alone_below_java },
	{ "PLT stub before and after its push", plt_stub_before_and_after_its_push },
	{ "return addresses belong to the call", return_addresses_belong_to_the_call },
	{ "ends where the return address is undefined",
	  ends_where_the_return_address_is_undefined },
	{ "signal frame leads to a leaf", signal_frame_leads_to_a_leaf },
	{ "unreadable signal frame is told", unreadable_signal_frame_is_told },
	{ "falls back to the frame pointer", falls_back_to_the_frame_pointer },
	{ "fallback refuses what is no frame pointer", fallback_refuses_what_is_no_frame_pointer },
	{ "a mapping without rows uses the frame pointer",
	  a_mapping_without_rows_uses_the_frame_pointer },
	{ "new thread and its creator behind clone", new_thread_and_its_creator_behind_clone },
	{ "zero fp ends a stack without rows", zero_fp_ends_a_stack_without_rows },
	{ "unreadable stack is told", unreadable_stack_is_told },
	{ "zero return address is no thread start", zero_return_address_is_no_thread_start },
	{ "step index narrows the search", step_index_narrows_the_search },
	{ "finds the mapping by its bounds", finds_the_mapping_by_its_bounds },
	{ "broken on purpose for tests", broken_on_purpose_for_tests },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo bpf_native_suite = {
	.pName = "bpf native frames",
	.pSetUpFunc = setup,
	.pTests = tests,
};
