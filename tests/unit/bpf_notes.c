/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/bpf_world.h"

static struct jvs_walk *w = &world.walk;

#define VM	  (LIBRARY + 0x1000) /* returns by fp */
#define VM_SP	  (LIBRARY + 0x1100) /* 4 words, fp untouched */
#define ROOT	  (LIBRARY + 0x1300)
#define BYTECODES (INTERPRETER + 0x4000)

static __u64 compiled;	  /* 6 words */
static __u64 stub;	  /* a runtime stub of 4 words */
static __u64 stub_return; /* into the call stub */
static __u64 top;	  /* the next frame's place */

static void setup(void)
{
	world_reset();
	put_row(0x1000, JVS_ROW_FP, 2, -2);
	put_row(0x1100, JVS_ROW_SP, 4, 0);
	put_row(0x1300, JVS_ROW_END, 0, 0);
	compiled = put_method(6, 8, 77);
	stub = put_blob(NAME_RUNTIME, 4, 4, 0);
	stub_return = put_blob(NAME_STUBS, 8, 0, 0) + BLOB_CODE + 0x20;
	world.target.java.call_stub_return = stub_return;
	top = SP;
}

/* ---- frames, from the leaf outwards; each is given where its caller returns to */

static void vm_frame(__u64 caller, __u64 caller_fp)
{
	put_words(top + 0x30, caller_fp, caller);
	top += 0x40;
}

static void small_vm_frame(__u64 caller)
{
	put_u64(top + 24, caller);
	top += 32;
}

static void stub_frame(__u64 caller, __u64 caller_fp)
{
	put_words(top + 16, caller_fp, caller);
	top += 32;
}

static void compiled_frame(__u64 caller, __u64 caller_fp)
{
	put_words(top + 32, caller_fp, caller);
	top += 48;
}

static void interpreted_frame(__u64 caller, __u64 caller_fp, __u32 bci)
{
	put_words(top + 8, BYTECODE + bci, 0, 0, 0, 0, METHOD, 0, top + 88, caller_fp, caller);
	top += 88;
}

/* VM, VM, a runtime stub, compiled, compiled, interpreted twice, the call stub, the root. */
static void put_mixed_stack(void)
{
	__u64 pc = compiled + BLOB_CODE + 0x40, end;

	w->pc = VM + 8;
	w->fp = SP + 0x30;
	vm_frame(VM_SP + 8, 0x1230);
	small_vm_frame(stub + BLOB_CODE + 0x10);
	stub_frame(pc, 0x4560);
	compiled_frame(pc + 0x10, 0x7890);
	end = top + 48;
	compiled_frame(BYTECODES, end + 72);
	interpreted_frame(BYTECODES + 8, end + 88 + 72, 5);
	interpreted_frame(stub_return, end + 2 * 88ull, 7);
	put_words(top, 0, ROOT + 4);
}

static __u64 walk(void)
{
	int result = JVS_STATUS_RUN;

	for (__u32 i = 0; i < JVS_WALK_LIMIT + 8 && result == JVS_STATUS_RUN; i++)
		result = jvs_step(w);
	w->status = jvs_final_status(w, result);
	return w->hash;
}

/* The walk of put_mixed_stack(), with notes or without. */
static __u64 walk_mixed(bool noted)
{
	world_walk_reset();
	w->pc = VM + 8;
	w->fp = SP + 0x30;
	if (!noted)
		jvs_note_no_more(w);
	return walk();
}

static bool is_noted(__u64 at)
{
	for (__u32 i = 0; i < w->notes; i++)
		if (SP + w->noted_at[i] * 8ull == at)
			return true;
	return false;
}

static bool has_identity(__u64 at, __u64 value)
{
	for (__u32 i = 0; i < w->identities; i++)
		if (w->identity_at[i] == at && w->identity[i] == value)
			return true;
	return false;
}

static void all_that_decides_is_noted(void)
{
	__u64 hash;

	put_mixed_stack();
	hash = walk_mixed(true);
	ASSERT_INT(w->status, JVS_STATUS_END);
	ASSERT_INT(w->walked, 9);
	CU_ASSERT_TRUE(jvs_has_notes(w));
	ASSERT_INT(w->noted_bytes, top + 16 - SP);

	/* All other words of the stack are something else. */
	for (__u64 at = SP; at < SP + 0x400; at += 8)
		if (!is_noted(at))
			put_u64(at, compiled + BLOB_CODE + 0x60);
	CU_ASSERT_EQUAL(walk_mixed(false), hash);
	ASSERT_INT(w->status, JVS_STATUS_END);
}

static void notes_have_the_values(void)
{
	put_mixed_stack();
	walk_mixed(true);
	for (__u32 i = 0; i < w->notes; i++)
		ASSERT_INT(w->noted[i], jvs_read_word(SP + w->noted_at[i] * 8ull));
}

/* But for a saved fp that nobody uses, each noted word makes another stack. */
static void each_return_address_and_bytecode_is_noted(void)
{
	__u64 interpreted = SP + 0x40 + 32 + 32 + 2 * 48ull;

	put_mixed_stack();
	walk_mixed(true);
	CU_ASSERT_TRUE(is_noted(SP + 0x38));
	CU_ASSERT_TRUE(is_noted(SP + 0x40 + 24));
	CU_ASSERT_TRUE(is_noted(SP + 0x60 + 24));
	CU_ASSERT_TRUE(is_noted(SP + 0x80 + 40));
	CU_ASSERT_TRUE(is_noted(SP + 0xb0 + 40));
	for (__u64 fp = interpreted + 72; fp <= interpreted + 88 + 72; fp += 88) {
		CU_ASSERT_TRUE(is_noted(fp - 64)); /* bcp */
		CU_ASSERT_TRUE(is_noted(fp - 24)); /* Method */
		CU_ASSERT_TRUE(is_noted(fp - 8));  /* the sender's sp */
		CU_ASSERT_TRUE(is_noted(fp));
		CU_ASSERT_TRUE(is_noted(fp + 8));
	}
	CU_ASSERT_TRUE(is_noted(top + 8));
}

static void code_and_methods_are_identified(void)
{
	put_mixed_stack();
	walk_mixed(true);
	CU_ASSERT_TRUE(has_identity((compiled + NM_ID) | JVS_NOTED_U32, 77));
	CU_ASSERT_TRUE(has_identity(stub + BLOB_NAME, NAME_RUNTIME));
	CU_ASSERT_TRUE(has_identity(METHOD + 8, CONST_METHOD));
}

/* Frames that jvs_run() takes. */
static void recursions_are_noted_too(void)
{
	__u64 pc = compiled + BLOB_CODE + 0x40;

	w->pc = VM_SP + 8;
	small_vm_frame(pc);
	for (__u32 i = 0; i < 20; i++)
		compiled_frame(pc, i);
	compiled_frame(ROOT + 4, 0);
	walk();
	CU_ASSERT_TRUE(jvs_has_notes(w));
	for (__u64 at = SP + 32; at < top; at += 48)
		CU_ASSERT_TRUE(is_noted(at + 40) && is_noted(at + 32));
}

static void long_stacks_are_not_noted(void)
{
	w->pc = VM_SP + 8;
	for (__u32 i = 0; i < JVS_NOTES; i++)
		small_vm_frame(VM_SP + 8);
	small_vm_frame(ROOT + 4);
	walk();
	ASSERT_INT(w->walked, JVS_NOTES + 2);
	CU_ASSERT_FALSE(jvs_has_notes(w));
}

static void far_words_are_not_noted(void)
{
	w->pc = VM + 8;
	w->fp = SP + JVS_NOTED_BYTES;
	put_words(w->fp, 0, ROOT + 4);
	walk();
	ASSERT_INT(w->walked, 2);
	CU_ASSERT_FALSE(jvs_has_notes(w));
}

/* ---- steps that look elsewhere */

static void a_search_is_not_noted(void)
{
	w->pc = VM_SP + 8;
	small_vm_frame(compiled + BLOB_CODE + 0x40);
	top += 8; /* something was pushed */
	compiled_frame(stub_return, SP);
	world.walk.fp = top;
	put_words(top, 0, ROOT + 4);
	walk();
	ASSERT_INT(how_of(1), JVS_HOW_SCAN);
	CU_ASSERT_FALSE(jvs_has_notes(w));
}

/* Neither with the original return address nor where that makes no sense. */
static void a_deoptimized_frame_is_not_noted(void)
{
	const __u64 originals[] = { compiled + BLOB_CODE + 0x40, 5 };

	for (size_t i = 0; i < ARRAY_SIZE(originals); i++) {
		world_walk_reset();
		top = SP;
		w->pc = VM_SP + 8;
		small_vm_frame(compiled + BLOB_CODE + 0x200);
		put_u64(top + 8, originals[i]);
		compiled_frame(stub_return, top + 48);
		put_words(top, 0, ROOT + 4);
		walk();
		ASSERT_INT(how_of(1), i == 0 ? JVS_HOW_DEOPT : JVS_HOW_NORMAL);
		ASSERT_INT(w->walked, 4);
		CU_ASSERT_FALSE(jvs_has_notes(w));
	}
}

static void a_java_leaf_is_not_noted(void)
{
	w->pc = compiled + BLOB_CODE + 0x40;
	compiled_frame(stub_return, top + 48);
	put_words(top, 0, ROOT + 4);
	walk();
	ASSERT_INT(w->walked, 3);
	CU_ASSERT_FALSE(jvs_has_notes(w));
}

static void an_anchored_stack_says_so(void)
{
	put_mixed_stack();
	world.rows[0].kind = JVS_ROW_BAD;
	put_words(THREAD + ANCHOR, SP + 0x80, compiled + BLOB_CODE + 0x40, 0);
	w->fp = 0;
	walk();
	ASSERT_INT(w->anchored, 1);
	ASSERT_INT(w->status, JVS_STATUS_END);
	CU_ASSERT_FALSE(jvs_has_notes(w));
}

static CU_TestInfo tests[] = {
	{ "all that decides is noted", all_that_decides_is_noted },
	{ "notes have the values", notes_have_the_values },
	{ "return addresses and bytecodes", each_return_address_and_bytecode_is_noted },
	{ "code and methods are identified", code_and_methods_are_identified },
	{ "recursions", recursions_are_noted_too },
	{ "long stacks are not noted", long_stacks_are_not_noted },
	{ "far words are not noted", far_words_are_not_noted },
	{ "a search is not noted", a_search_is_not_noted },
	{ "a deoptimized frame is not noted", a_deoptimized_frame_is_not_noted },
	{ "a Java leaf is not noted", a_java_leaf_is_not_noted },
	{ "an anchored stack says so", an_anchored_stack_says_so },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo bpf_notes_suite = {
	.pName = "bpf notes of a walk",
	.pSetUpFunc = setup,
	.pTests = tests,
};
