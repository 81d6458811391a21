/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/bpf_world.h"

#include "bpf/memo.h"

static struct jvs_walk *w = &world.walk;

#define VM	  (LIBRARY + 0x1000) /* 4 words, fp untouched */
#define ROOT	  (LIBRARY + 0x1300)
#define BYTECODES (INTERPRETER + 0x4000)
#define UNUSED	  (SP + 8) /* a word that no step looks at */

static __u64 compiled; /* 6 words */
static __u64 stub;     /* a runtime stub of 4 words */

/* ---- what is asked for */

static struct memo memos[MEMOS];
static bool is_seen;

static struct memo *jvs_memo_at(__u32 index)
{
	return index < MEMOS ? &memos[index] : NULL;
}

static void jvs_copy(void *to, __u32 size, const void *from)
{
	memcpy(to, from, size);
}

static int jvs_is_seen(__u64 hash)
{
	return hash && is_seen;
}

static int jvs_take_registers(struct jvs_walk *walk)
{
	walk->start_pc = walk->pc = VM + 8;
	walk->start_sp = walk->sp = SP;
	walk->start_fp = walk->fp = 0;
	walk->start_lr = walk->lr = 0;
	walk->at = JVS_AT_LEAF;
	return 0;
}

/* ---- a stack: VM, a runtime stub, compiled, interpreted, the call stub, the root */

static void setup(void)
{
	__u64 stub_return, frame = SP + 32;

	memset(memos, 0, sizeof(memos));
	is_seen = true;
	world_reset();
	put_row(0x1000, JVS_ROW_SP, 4, 0);
	put_row(0x1300, JVS_ROW_END, 0, 0);
	compiled = put_method(6, 8, 77);
	put_u32(compiled + NM_ID + 4, 0x1234); /* something else, which may change */
	stub = put_blob(NAME_RUNTIME, 4, 4, 0);
	stub_return = put_blob(NAME_STUBS, 8, 0, 0) + BLOB_CODE + 0x20;
	world.target.java.call_stub_return = stub_return;

	put_u64(SP + 24, stub + BLOB_CODE + 0x10);
	put_words(frame + 16, 0x4560, compiled + BLOB_CODE + 0x40);
	frame += 32;
	put_words(frame + 32, frame + 48 + 72, BYTECODES);
	frame += 48;
	put_words(frame + 8, BYTECODE + 5, 0, 0, 0, 0, METHOD, 0, frame + 88, frame + 88,
		  stub_return);
	put_words(frame + 88, 0, ROOT + 4);
}

static bool recall(void)
{
	world_walk_reset();
	return jvs_recall(w);
}

/* As jvs_capture_at_probe() does. Returns the hash of the walk. */
static __u64 walk_and_remember(void)
{
	int result = JVS_STATUS_RUN;

	ASSERT_INT(recall(), 0);
	jvs_note_begin(w);
	for (__u32 i = 0; i < JVS_WALK_LIMIT + 8 && result == JVS_STATUS_RUN; i++)
		result = jvs_step(w);
	w->status = jvs_final_status(w, result);
	ASSERT_INT(w->status, JVS_STATUS_END);
	ASSERT_INT(w->walked, 6);
	ASSERT_INT(jvs_remember(w), 1);
	return w->hash;
}

/* ---- tests */

static void the_same_stack_is_recalled(void)
{
	__u64 hash = walk_and_remember();

	ASSERT_INT(recall(), 1);
	CU_ASSERT_EQUAL(w->hash, hash);
	put_u64(UNUSED, 0x1234);
	ASSERT_INT(recall(), 1);
	/* Userspace has forgotten it. */
	is_seen = false;
	ASSERT_INT(recall(), 0);
}

/* The same words of the stack may lead through other code, or be of another method. */
static void other_code_and_methods_are_not_recalled(void)
{
	walk_and_remember();
	put_u32(compiled + NM_ID, 78);
	ASSERT_INT(recall(), 0);
	put_u32(compiled + NM_ID, 77);
	put_u32(compiled + NM_ID + 4, 0x5678);
	ASSERT_INT(recall(), 1);

	put_u64(stub + BLOB_NAME, NAME_DEOPT);
	ASSERT_INT(recall(), 0);
	put_u64(stub + BLOB_NAME, NAME_RUNTIME);
	ASSERT_INT(recall(), 1);

	put_u64(METHOD + 8, CONST_METHOD + 0x100);
	ASSERT_INT(recall(), 0);
	put_u64(METHOD + 8, CONST_METHOD);
	ASSERT_INT(recall(), 1);
}

static void each_word_that_was_noted_is_compared(void)
{
	__u16 noted_at[JVS_NOTES];
	__u32 notes;

	walk_and_remember();
	notes = w->notes;
	memcpy(noted_at, w->noted_at, sizeof(noted_at));
	CU_ASSERT_TRUE(notes > 8);
	for (__u32 i = 0; i < notes; i++) {
		__u64 at = SP + noted_at[i] * 8ull, was = jvs_read_word(at);

		put_u64(at, was + 8);
		ASSERT_INT(recall(), 0);
		put_u64(at, was);
		ASSERT_INT(recall(), 1);
	}
}

static void another_target_or_generation_is_not_recalled(void)
{
	walk_and_remember();
	world_walk_reset();
	w->generation++;
	ASSERT_INT(jvs_recall(w), 0);
	world_walk_reset();
	w->mappings++;
	ASSERT_INT(jvs_recall(w), 0);
	world_walk_reset();
	w->flags ^= JVS_TARGET_ANCHOR;
	ASSERT_INT(jvs_recall(w), 0);
	ASSERT_INT(recall(), 1);
}

static void a_memo_that_is_in_use_is_left_alone(void)
{
	walk_and_remember();
	for (size_t i = 0; i < MEMOS; i++)
		memos[i].busy = 1;
	ASSERT_INT(recall(), 0);
	ASSERT_INT(jvs_remember(w), 0);
}

static CU_TestInfo tests[] = {
	{ "the same stack is recalled", the_same_stack_is_recalled },
	{ "other code and methods are not recalled", other_code_and_methods_are_not_recalled },
	{ "each word that was noted is compared", each_word_that_was_noted_is_compared },
	{ "another target or generation is not recalled",
	  another_target_or_generation_is_not_recalled },
	{ "a memo that is in use is left alone", a_memo_that_is_in_use_is_left_alone },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo bpf_memo_suite = {
	.pName = "bpf memos of stacks",
	.pSetUpFunc = setup,
	.pTests = tests,
};
