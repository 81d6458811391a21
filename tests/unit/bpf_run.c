/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/bpf_world.h"

/*
 * Runs of plain Java frames: whatever is on the stack, they find what single steps find. The
 * window is what a run reads first, so a world without it has single steps only.
 */

#define ROOT	      (LIBRARY + 0x1300)
#define BYTECODES     (INTERPRETER + 0x4000)
#define METHODS	      3
#define CALLS	      6
#define DEEPEST	      400
#define RANDOM_STACKS 20000

static struct jvs_walk *w = &world.walk;
static __u64 seed;
static __u64 call_pc[CALLS];
static __u32 call_size[CALLS]; /* words */

static __u32 below(__u32 limit)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (__u32)(seed >> 33) % limit;
}

static __u64 method_at(__u32 number)
{
	return METHOD + number * 0x400;
}

static void setup(void)
{
	world_reset();
	put_row(0x1300, JVS_ROW_END, 0, 0);
	for (__u32 i = 0; i < METHODS; i++)
		put_u64(method_at(i) + 8, method_at(i) + 0x100);
	for (__u32 i = 0; i < CALLS; i++) {
		if (i % 2 == 0)
			call_size[i] = 4 + 3 * i;
		else
			call_size[i] = call_size[i - 1];
		call_pc[i] = (i % 2 == 0 ? put_method((__s32)call_size[i], 8, 70 + i) + BLOB_CODE
					 : call_pc[i - 1]) +
			     0x20;
	}
}

/* One frame of the stack that is made up. */
struct made {
	__u64 sp;
	__u64 pc;
	__u64 fp; /* what the register holds in it */
	__u32 interpreted;
	__u32 words;
};

static struct made made[DEEPEST + 1];

/* The last one is interpreted: only the call stub, which is no plain frame, returns into the VM. */
static void make_frame(struct made *m, __u64 sp, bool last)
{
	__u32 call = below(CALLS);

	*m = (struct made){ .sp = sp, .interpreted = last || below(2) };
	if (m->interpreted) {
		m->words = 11 + below(6);
		m->pc = BYTECODES + below(0x100);
	} else {
		m->words = call_size[call];
		m->pc = call_pc[call];
	}
}

static void fill_frame(const struct made *m, const struct made *caller)
{
	__u64 method = method_at(below(METHODS));

	if (m->interpreted)
		put_words(m->fp - 64, method + 0x130 + below(90), 0, 0, 0, 0, method, 0, caller->sp,
			  caller->fp, caller->pc);
	else
		put_words(caller->sp - 16, caller->fp, caller->pc);
}

static void make_stack(__u32 frames)
{
	__u64 sp = SP;

	for (__u32 i = 0; i < frames; i++) {
		make_frame(&made[i], sp, i + 1 == frames);
		sp += made[i].words * 8ull;
	}
	made[frames] = (struct made){ .sp = sp, .pc = ROOT + 4 };
	for (__u32 i = frames; i-- > 0;)
		made[i].fp = made[i].interpreted ? made[i].sp + 72 : made[i + 1].fp;
	for (__u32 i = 0; i < frames; i++)
		fill_frame(&made[i], &made[i + 1]);

	w->pc = made[0].pc;
	w->sp = made[0].sp;
	w->fp = made[0].fp;
	w->at = JVS_AT_RETURN;
}

static void damage(__u32 frames)
{
	const __u64 words[] = { 0,
				0x1234,
				METHOD,
				call_pc[below(CALLS)],
				BYTECODES,
				SP + 0x101,
				made[below(frames)].sp,
				made[below(frames)].fp,
				ROOT + 4 };
	__u64 size = made[frames].sp - SP;

	put_u64(SP + below((__u32)(size / 8)) * 8ull, words[below(ARRAY_SIZE(words))]);
}

struct result {
	int status;
	__u32 walked, java_frames;
	__u64 hash, fail_pc, fail_sp, fail_fp;
	__u32 steps;
};

static struct result walk_from(const struct jvs_walk *start)
{
	struct result result = { .status = JVS_STATUS_RUN };

	*w = *start;
	while (result.status == JVS_STATUS_RUN && result.steps++ < JVS_WALK_LIMIT + 8)
		result.status = jvs_step(w);
	result.status = (int)jvs_final_status(w, result.status);
	result.walked = w->walked;
	result.java_frames = w->java_frames;
	result.hash = w->hash;
	result.fail_pc = w->fail_pc;
	result.fail_sp = w->fail_sp;
	result.fail_fp = w->fail_fp;
	return result;
}

static bool same(const struct result *a, const struct result *b)
{
	return a->status == b->status && a->walked == b->walked &&
	       a->java_frames == b->java_frames && a->hash == b->hash && a->fail_pc == b->fail_pc &&
	       a->fail_sp == b->fail_sp && a->fail_fp == b->fail_fp;
}

static void runs_find_what_steps_find(void)
{
	struct result run, step;
	struct jvs_walk start;
	__u32 frames, bad = 0, broken = 0;

	for (seed = 1; seed <= RANDOM_STACKS; seed++) {
		__u64 number = seed;

		if (number % 100 == 1)
			setup();
		world_walk_reset();
		frames = 1 + below(number % 10 ? 40 : DEEPEST);
		make_stack(frames);
		if (below(3) == 0)
			damage(frames);
		start = *w;
		start.time_ns = number * 2;
		run = walk_from(&start);
		start.time_ns++;
		world.no_window = true;
		step = walk_from(&start);
		world.no_window = false;
		bad += !same(&run, &step);
		broken += step.status != JVS_STATUS_END;
		seed = number;
	}
	ASSERT_INT(bad, 0);
	/* The test is of both kinds. */
	CU_ASSERT(broken > RANDOM_STACKS / 20);
	CU_ASSERT(broken < RANDOM_STACKS / 2);
}

/* A recursion takes a step every JVS_RUN_FRAMES frames, as long as the window can be read. */
static void deep_stacks_take_few_steps(void)
{
	struct jvs_walk start;
	struct result run, step;

	seed = 5;
	make_stack(DEEPEST);
	start = *w;
	start.time_ns = 1;
	run = walk_from(&start);
	start.time_ns = 2;
	world.no_window = true;
	step = walk_from(&start);

	ASSERT_INT(run.status, JVS_STATUS_END);
	ASSERT_INT(run.walked, DEEPEST + 1);
	ASSERT_INT(step.steps, DEEPEST + 1);
	/* Six return addresses can share places. */
	CU_ASSERT(run.steps < DEEPEST / 2);
}

/* The same return address in another walk: the nmethod there may be another by now. */
static void a_call_is_remembered_in_one_walk_only(void)
{
	struct jvs_walk start;

	w->pc = call_pc[0];
	w->at = JVS_AT_RETURN;
	put_words(SP + call_size[0] * 8ull - 16, 0, call_pc[0]);
	put_words(SP + call_size[0] * 16ull - 16, 0, ROOT + 4);
	start = *w;
	start.time_ns = 1;
	ASSERT_INT(walk_from(&start).walked, 2);
	ASSERT_INT(frame(0)->cookie, 70);
	ASSERT_INT(frame(1)->cookie, 70);

	put_u32(call_pc[0] - 0x20 - BLOB_CODE + NM_ID, 99);
	memcpy(start.calls, w->calls, sizeof(start.calls));
	start.time_ns = 2;
	ASSERT_INT(walk_from(&start).walked, 2);
	ASSERT_INT(frame(0)->cookie, 99);
	ASSERT_INT(frame(1)->cookie, 99);
}

/*
 * Two frames of one method at its deoptimization handler. The first one's original pc makes no
 * sense, and so it is shown at the handler; that says nothing of the second one.
 */
static void a_handler_is_not_remembered(void)
{
	__u64 handler = call_pc[0] - 0x20 + 0x200, size = call_size[0] * 8ull;
	struct jvs_walk start;

	put_words(SP + 8, 0x1234);
	put_words(SP + size - 16, 0, handler);
	put_words(SP + size + 8, call_pc[0]);
	put_words(SP + 2 * size - 16, 0, call_pc[2]);
	put_words(SP + 2 * size + call_size[2] * 8ull - 16, 0, ROOT + 4);
	w->pc = handler;
	w->at = JVS_AT_RETURN;
	start = *w;
	start.time_ns = 1;
	ASSERT_INT(walk_from(&start).walked, 3);
	ASSERT_INT(frame(0)->offset, 0x200);
	ASSERT_INT(frame(1)->offset, 0x20);
}

static CU_TestInfo tests[] = {
	{ "runs find what steps find", runs_find_what_steps_find },
	{ "deep stacks take few steps", deep_stacks_take_few_steps },
	{ "a call is remembered in one walk only", a_call_is_remembered_in_one_walk_only },
	{ "a handler is not remembered", a_handler_is_not_remembered },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo bpf_run_suite = {
	.pName = "bpf runs of Java frames",
	.pSetUpFunc = setup,
	.pTests = tests,
};
