/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/bpf_world.h"

static struct jvs_walk *w = &world.walk;

#define ROOT	 (LIBRARY + 0x1300) /* a thread's first function */
#define FUNCTION (LIBRARY + 0x1000) /* returns through [sp] */

static void setup(void)
{
	world_reset();
	put_row(0x1000, JVS_ROW_SP, 1, 0);
	put_row(0x1300, JVS_ROW_END, 0, 0);
}

/* As jvs_walk_user(). */
static int walk(void)
{
	int result = JVS_STATUS_RUN;

	for (__u32 i = 0; i < JVS_WALK_LIMIT + 8 && result == JVS_STATUS_RUN; i++)
		result = jvs_step(w);
	return (int)jvs_final_status(w, result);
}

/* ---- the frame list */

static void push_native(__u64 address)
{
	jvs_set_frame(w, address, JVS_FRAME_NATIVE, 0, 0);
	ASSERT_INT(jvs_push(w), JVS_STATUS_RUN);
}

static void frames_are_stored_in_order(void)
{
	for (__u64 i = 0; i < FRAMES_MAX; i++)
		push_native(i + 1);
	for (__u32 i = 0; i < FRAMES_MAX; i++)
		ASSERT_INT(address_of(i), i + 1);
	ASSERT_INT(w->walked, FRAMES_MAX);
}

/* Beyond the limit the outermost frames go round in a circle. */
static void outermost_frames_are_kept(void)
{
	static const __u32 totals[] = { 101, 131, 132, 133, 1000, JVS_WALK_LIMIT };
	__u32 depth = 100, circle = depth - JVS_ROOT_FRAMES;

	for (size_t i = 0; i < ARRAY_SIZE(totals); i++) {
		setup();
		w->max_depth = depth;
		for (__u64 n = 0; n < totals[i]; n++)
			push_native(n + 1);

		for (__u32 n = 0; n < circle; n++)
			ASSERT_INT(address_of(n), n + 1);
		/* The header's rule, read by a reader: the 32 outermost, each at its place. */
		for (__u32 n = totals[i] - JVS_ROOT_FRAMES; n < totals[i]; n++) {
			__u32 turn = (n + JVS_ROOT_FRAMES * 4 - depth) % JVS_ROOT_FRAMES;

			if (n >= circle)
				ASSERT_INT(address_of(circle + turn), n + 1);
		}
		ASSERT_INT(w->walked, totals[i]);
	}
}

static void walk_has_a_limit(void)
{
	for (__u64 n = 0; n < JVS_WALK_LIMIT; n++)
		push_native(1);
	ASSERT_INT(jvs_push(w), JVS_STATUS_WALK_LIMIT);
	ASSERT_INT(w->walked, JVS_WALK_LIMIT);
}

static __u64 hash_of(__u64 address, __u32 offset, __u32 cookie, __u32 how)
{
	w->hash = 0;
	w->walked = 0;
	w->how = how;
	jvs_set_frame(w, address, JVS_FRAME_NMETHOD, offset, cookie);
	jvs_push(w);
	push_native(1);
	return w->hash;
}

static void hash_is_of_all_that_identifies_a_frame(void)
{
	__u64 hash = hash_of(1, 2, 3, 0);

	CU_ASSERT_EQUAL(hash_of(1, 2, 3, 0), hash);
	CU_ASSERT_EQUAL(hash_of(1, 2, 3, JVS_HOW_SCAN), hash);
	CU_ASSERT_NOT_EQUAL(hash_of(2, 2, 3, 0), hash);
	CU_ASSERT_NOT_EQUAL(hash_of(1, 3, 3, 0), hash);
	CU_ASSERT_NOT_EQUAL(hash_of(1, 2, 4, 0), hash); /* the code was replaced */
	CU_ASSERT_NOT_EQUAL(hash_of(1, 3, 2, 0), hash);
}

static void hash_depends_on_order(void)
{
	__u64 hash;

	push_native(1);
	push_native(2);
	hash = w->hash;
	w->hash = 0;
	push_native(2);
	push_native(1);
	CU_ASSERT_NOT_EQUAL(w->hash, hash);
}

/* ---- the code heap */

/* The blob that holds pc, or 0. */
static __u64 blob_at(__u64 pc)
{
	int heap = jvs_heap_of(w, &world.target.java, pc);

	return heap < 0 || jvs_load_blob(w, (__u32)heap, pc) ? 0 : w->blob;
}

static void finds_the_blob_of_every_segment(void)
{
	__u64 small = put_blob(NAME_VTABLE, 4, 0, 0);
	__u64 large = put_blob(NAME_VTABLE, 50, 0, 0);
	__u64 block = large - BLOCK_SIZE;

	ASSERT_INT(blob_at(small), small);
	ASSERT_INT(blob_at(small + 4 * SEGMENT - BLOCK_SIZE - 1), small);
	for (__u32 i = 0; i < 50; i++)
		ASSERT_INT(blob_at(block + i * SEGMENT), large);
	ASSERT_INT(blob_at(block + 50 * SEGMENT), 0); /* free */

	put_u8(block + BLOCK_USED, 0);
	ASSERT_INT(blob_at(large), 0);
	ASSERT_INT(blob_at(HEAP - 1), 0);
	ASSERT_INT(blob_at(HEAP + HEAP_SIZE), 0);
}

/* A byte tells at most 254 segments: larger blobs take more than one hop, but not for ever. */
static void segment_map_hops_are_bounded(void)
{
	__u64 blob = put_blob(NAME_VTABLE, 60, 0, 0);

	for (__u32 i = 1; i < 60; i++)
		world.segmap[i] = i > 50 ? 5 : (__u8)i;
	ASSERT_INT(blob_at(HEAP + 59 * SEGMENT), blob);

	for (__u32 i = 1; i < 60; i++)
		world.segmap[i] = 1;
	ASSERT_INT(blob_at(HEAP + 15 * SEGMENT), blob);
	ASSERT_INT(blob_at(HEAP + 40 * SEGMENT), 0);
}

/* The last blob of a heap may end where its memory ends. */
static void short_blobs_are_read_all_the_same(void)
{
	__u64 last = HEAP_SIZE / SEGMENT - 2;

	world.segmap[last] = 0;
	world.segmap[last + 1] = 1;
	put_u8(HEAP + last * SEGMENT + BLOCK_USED, 1);
	put_u64(HEAP + last * SEGMENT + BLOCK_SIZE + BLOB_NAME, NAME_VTABLE);
	ASSERT_INT(blob_at(HEAP + (last + 1) * SEGMENT), HEAP + last * SEGMENT + BLOCK_SIZE);
	ASSERT_INT(jvs_blob_kind(w), JVS_BLOB_VTABLE);
}

static void free_code_is_told(void)
{
	w->pc = HEAP + 0x100;
	ASSERT_INT(jvs_step(w), JVS_STATUS_NO_BLOB);
	ASSERT_INT(w->fail_pc, HEAP + 0x100);
	ASSERT_INT(w->walked, 0);
}

static void return_addresses_are_behind_a_first_instruction(void)
{
	__u64 code = put_method(4, 8, 1) + BLOB_CODE;

	CU_ASSERT(jvs_is_code(w, code + 1));
	CU_ASSERT_FALSE(jvs_is_code(w, code));
	CU_ASSERT(jvs_is_code(w, LIBRARY + 5));
	CU_ASSERT_FALSE(jvs_is_code(w, LIBRARY_END));
	CU_ASSERT_FALSE(jvs_is_code(w, 0x1000));
	CU_ASSERT_FALSE(jvs_is_code(w, HEAP + 0x7000));
	/* Without a layout the heap is no code at all. */
	w->flags = JVS_TARGET_ON;
	CU_ASSERT_FALSE(jvs_is_code(w, code + 1));
}

/* ---- whole walks */

static void walks_from_java_to_the_root(void)
{
	__u64 code = put_method(4, 8, 9) + BLOB_CODE;
	__u64 stub = put_blob(NAME_STUBS, 8, 0, 0) + BLOB_CODE + 0x20;

	world.target.java.call_stub_return = stub;
	w->pc = code + 0x30;
	put_words(SP + 16, SP + 0x100, stub); /* rbp, return address */
	put_words(SP + 0x100, 0, FUNCTION + 4);
	put_words(SP + 0x110, ROOT + 4);

	ASSERT_INT(walk(), JVS_STATUS_END);
	ASSERT_INT(w->walked, 4);
	ASSERT_INT(kind_of(0), JVS_FRAME_NMETHOD);
	ASSERT_INT(kind_of(1), JVS_FRAME_CALL_STUB);
	ASSERT_INT(kind_of(2), JVS_FRAME_NATIVE);
	ASSERT_INT(kind_of(3), JVS_FRAME_NATIVE);
	ASSERT_INT(address_of(3), ROOT + 4);
	CU_ASSERT(is_leaf(0));
	CU_ASSERT_FALSE(is_leaf(1));
}

static void deep_stacks_are_told(void)
{
	w->max_depth = 64;
	w->pc = FUNCTION + 1;
	for (__u32 i = 0; i < 64; i++)
		put_u64(SP + i * 8, FUNCTION + 4);
	put_u64(SP + 63 * 8, ROOT + 4);
	ASSERT_INT(walk(), JVS_STATUS_DEPTH);
	ASSERT_INT(w->walked, 65);

	setup();
	w->max_depth = 65;
	w->pc = FUNCTION + 1;
	for (__u32 i = 0; i < 64; i++)
		put_u64(SP + i * 8, FUNCTION + 4);
	put_u64(SP + 63 * 8, ROOT + 4);
	ASSERT_INT(walk(), JVS_STATUS_END);
}

/* A return into the continuation stubs: the rest of the virtual thread is in the heap. */
static void frames_in_the_heap_are_marked(void)
{
	__u64 stubs = put_blob(NAME_STUBS, 8, 0, 0) + BLOB_CODE;

	world.target.java.continuation_stubs = (struct jvs_range){ stubs, stubs + 0x100 };
	w->pc = stubs + 0x40;
	w->at = JVS_AT_RETURN;
	w->fp = SP + 0x40;
	put_words(SP + 0x40, 0, ROOT + 4);
	ASSERT_INT(walk(), JVS_STATUS_CONTINUATION);
	ASSERT_INT(kind_of(0), JVS_FRAME_HEAP_FRAMES);
	ASSERT_INT(kind_of(1), JVS_FRAME_STUB);
	ASSERT_INT(w->walked, 3);

	/* A leaf there is only a stub that runs. */
	setup();
	stubs = put_blob(NAME_STUBS, 8, 0, 0) + BLOB_CODE;
	world.target.java.continuation_stubs = (struct jvs_range){ stubs, stubs + 0x100 };
	w->pc = stubs + 0x40;
	w->fp = SP + 0x40;
	put_words(SP + 0x40, 0, ROOT + 4);
	ASSERT_INT(walk(), JVS_STATUS_END);
	ASSERT_INT(w->walked, 2);
}

static void failures_below_deoptimization_are_told_apart(void)
{
	__u64 deopt = put_blob(NAME_DEOPT, 12, 8, 0) + BLOB_CODE;

	w->pc = deopt + 0x20;
	w->at = JVS_AT_RETURN;
	put_words(SP + 48, 0, INTERPRETER + 0x4000);
	ASSERT_INT(walk(), JVS_STATUS_DEOPT);
	ASSERT_INT(w->walked, 1);
	ASSERT_INT(w->fail_pc, INTERPRETER + 0x4000);
}

/* The VM fills in frames that are linked already, from the outside in. */
static void frames_being_made_by_deoptimization(void)
{
	__u64 deopt = put_blob(NAME_DEOPT, 12, 8, 0) + BLOB_CODE;
	__u64 stub = put_blob(NAME_STUBS, 8, 0, 0) + BLOB_CODE + 0x20;

	world.target.java.call_stub_return = stub;
	w->pc = deopt + 0x20;
	w->at = JVS_AT_RETURN;
	put_words(SP + 48, SP + 0x100, INTERPRETER + 0x4000);
	put_words(SP + 0x100 - 8, SP + 0x110, SP + 0x200, INTERPRETER + 0x4100);
	put_words(SP + 0x200 - 24, METHOD, 0, SP + 0x210, SP + 0x300, stub);
	put_words(SP + 0x300, 0, ROOT + 4);
	ASSERT_INT(walk(), JVS_STATUS_DEOPT);
	ASSERT_INT(w->walked, 5);
	ASSERT_INT(kind_of(1), JVS_FRAME_STUB);
	ASSERT_INT(address_of(1), INTERPRETER + 0x4000);
	ASSERT_INT(kind_of(2), JVS_FRAME_INTERPRETED);
	ASSERT_INT(address_of(4), ROOT + 4);
	ASSERT_INT(w->fail_pc, 0);
}

/* ---- the anchor */

static __u64 anchored_method(void)
{
	__u64 pc = put_method(4, 8, 9) + BLOB_CODE + 0x40;
	__u64 stub = put_blob(NAME_STUBS, 8, 0, 0) + BLOB_CODE + 0x20;

	world.target.java.call_stub_return = stub;
	put_words(THREAD + ANCHOR, SP + 0x200, pc, 0);
	put_words(SP + 0x200 + 16, SP + 0x400, stub);
	put_words(SP + 0x400, 0, ROOT + 4);
	return pc;
}

static void goes_on_at_the_anchor(void)
{
	__u64 pc = anchored_method();

	w->pc = 0x1230000; /* unmapped */
	ASSERT_INT(walk(), JVS_STATUS_END);
	ASSERT_INT(w->anchored, 1);
	ASSERT_INT(w->walked, 5);
	ASSERT_INT(kind_of(0), JVS_FRAME_UNMAPPED);
	ASSERT_INT(kind_of(1), JVS_FRAME_ANCHOR);
	ASSERT_INT(kind_of(2), JVS_FRAME_NMETHOD);
	ASSERT_INT(address_of(1), pc);
	CU_ASSERT_FALSE(is_leaf(2));
}

static void anchor_without_a_pc_has_it_below_sp(void)
{
	__u64 pc = anchored_method();

	put_u64(THREAD + ANCHOR + 8, 0);
	put_u64(SP + 0x200 - 8, pc);
	w->pc = 0x1230000;
	ASSERT_INT(walk(), JVS_STATUS_END);
	ASSERT_INT(address_of(1), pc);
}

static void anchor_is_not_used(void)
{
	/* When the thread is in Java. */
	anchored_method();
	put_u64(THREAD + ANCHOR, 0);
	w->pc = 0x1230000;
	ASSERT_INT(walk(), JVS_STATUS_NO_MAPPING);

	/* When it lies below the stack that was walked. */
	setup();
	anchored_method();
	put_u64(THREAD + ANCHOR, SP - 0x100);
	w->pc = 0x1230000;
	ASSERT_INT(walk(), JVS_STATUS_NO_MAPPING);

	/* When the thread is no Java thread. */
	setup();
	anchored_method();
	world.java_thread = 0;
	w->pc = 0x1230000;
	ASSERT_INT(walk(), JVS_STATUS_NO_MAPPING);

	/* When it is switched off. */
	setup();
	anchored_method();
	w->flags = JVS_TARGET_ON | JVS_TARGET_JAVA;
	w->pc = 0x1230000;
	ASSERT_INT(walk(), JVS_STATUS_NO_MAPPING);

	/* A second time, or below a Java frame. */
	setup();
	anchored_method();
	put_u64(SP + 0x200 + 24, 0x1230000);
	w->pc = 0x1230000;
	ASSERT_INT(walk(), JVS_STATUS_NMETHOD_RA);
}

/* The VM called Java again, through a library that cannot be unwound: that call has the anchor. */
static void goes_on_at_the_older_anchor(void)
{
	__u64 older = anchored_method(), stub = world.target.java.call_stub_return;
	__u64 leaf = put_method(4, 8, 8) + BLOB_CODE + 0x40, wrapper = META + 0x3800;

	world.target.java.call_wrapper = -6;
	world.target.java.wrapper_anchor_sp = 0x20;
	put_words(wrapper + 0x20, SP + 0x200, older, 0);
	put_u64(THREAD + ANCHOR, 0); /* the thread is in Java */
	w->pc = leaf;
	put_words(SP + 16, SP + 0x100, stub);
	put_u64(SP + 0x100 - 6 * 8, wrapper);
	put_words(SP + 0x100, 4, 0x1230000);

	ASSERT_INT(walk(), JVS_STATUS_END);
	ASSERT_INT(w->anchored, 1);
	ASSERT_INT(kind_of(1), JVS_FRAME_CALL_STUB);
	ASSERT_INT(kind_of(2), JVS_FRAME_UNMAPPED);
	ASSERT_INT(kind_of(3), JVS_FRAME_ANCHOR);
	ASSERT_INT(address_of(3), older);
	ASSERT_INT(kind_of(4), JVS_FRAME_NMETHOD);
	ASSERT_INT(address_of(6), ROOT + 4);
}

/* fp is the Java caller's own caller's: following it would lose that Java frame. */
static void anchor_shows_that_fp_skipped_a_frame(void)
{
	__u64 pc = anchored_method();

	w->pc = 0x1230000;
	w->fp = SP + 0x400; /* behind the anchor's sp */
	ASSERT_INT(walk(), JVS_STATUS_END);
	ASSERT_INT(kind_of(1), JVS_FRAME_ANCHOR);
	ASSERT_INT(kind_of(2), JVS_FRAME_NMETHOD);
	ASSERT_INT(address_of(1), pc);
}

/* From the return barrier to where the carrier entered the virtual thread. */
static void goes_from_heap_frames_to_the_carrier(void)
{
	__u64 stubs = put_blob(NAME_STUBS, 8, 0, 0) + BLOB_CODE;
	__u64 enter = put_method(4, 8, 5) + BLOB_CODE + 0x40, entry = SP + 0x600;
	__u64 stub = put_blob(NAME_STUBS, 8, 0, 0) + BLOB_CODE + 0x20;

	world.target.java.call_stub_return = stub;
	world.target.java.continuation_stubs = (struct jvs_range){ stubs, stubs + 0x100 };
	world.target.java.thread_cont_entry = 0x200;
	world.target.java.cont_entry_size = 64;
	world.target.java.cont_return_pc = enter;
	put_u64(THREAD + 0x200, entry);
	put_words(entry + 16, SP + 0x700, stub);
	put_words(SP + 0x700, 0, ROOT + 4);
	w->pc = stubs + 0x40;
	w->at = JVS_AT_RETURN;
	w->fp = 4; /* the stub's fp leads nowhere */

	ASSERT_INT(walk(), JVS_STATUS_CONTINUATION);
	ASSERT_INT(kind_of(0), JVS_FRAME_HEAP_FRAMES);
	ASSERT_INT(kind_of(1), JVS_FRAME_NMETHOD);
	ASSERT_INT(frame(1)->cookie, 5);
	ASSERT_INT(address_of(3), ROOT + 4);
}

static void no_progress_is_told(void)
{
	w->pc = 0x10;
	ASSERT_INT(walk(), JVS_STATUS_PC_ZERO);
	ASSERT_INT(w->walked, 0);
}

static CU_TestInfo tests[] = {
	{ "frames are stored in order", frames_are_stored_in_order },
	{ "outermost frames are kept", outermost_frames_are_kept },
	{ "walk has a limit", walk_has_a_limit },
	{ "hash is of all that identifies a frame", hash_is_of_all_that_identifies_a_frame },
	{ "hash depends on order", hash_depends_on_order },
	{ "finds the blob of every segment", finds_the_blob_of_every_segment },
	{ "segment map hops are bounded", segment_map_hops_are_bounded },
	{ "short blobs are read all the same", short_blobs_are_read_all_the_same },
	{ "free code is told", free_code_is_told },
	{ "return addresses are behind a first instruction",
	  return_addresses_are_behind_a_first_instruction },
	{ "walks from Java to the root", walks_from_java_to_the_root },
	{ "deep stacks are told", deep_stacks_are_told },
	{ "frames in the heap are marked", frames_in_the_heap_are_marked },
	{ "failures below deoptimization are told apart",
	  failures_below_deoptimization_are_told_apart },
	{ "frames being made by deoptimization", frames_being_made_by_deoptimization },
	{ "goes on at the anchor", goes_on_at_the_anchor },
	{ "anchor without a pc has it below sp", anchor_without_a_pc_has_it_below_sp },
	{ "anchor is not used", anchor_is_not_used },
	{ "goes on at the older anchor", goes_on_at_the_older_anchor },
	{ "anchor shows that fp skipped a frame", anchor_shows_that_fp_skipped_a_frame },
	{ "goes from heap frames to the carrier", goes_from_heap_frames_to_the_carrier },
	{ "no progress is told", no_progress_is_told },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo bpf_walk_suite = {
	.pName = "bpf walks",
	.pSetUpFunc = setup,
	.pTests = tests,
};
