/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind_step.h"

#define JVS_LOOPS (JVS_WALK_LIMIT + 8) /* steps that push nothing are rare; each ends the walk */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A callback gets one pointer to the caller's stack; the walk itself is in a map. */
struct loop {
	struct jvs_walk *w;
};

static long step_once(__u32 number, void *data)
{
	struct loop *loop = data;
	int result;

	/* A hostile stack can make each step search: interrupts are off as long as we walk. */
	if ((number & 63) == 63 && bpf_ktime_get_ns() - loop->w->time_ns > JVS_WALK_BUDGET_NS) {
		loop->w->status = JVS_STATUS_WALK_LIMIT;
		return 1;
	}
	result = jvs_step(loop->w);

	loop->w->status = result;
	return result != JVS_STATUS_RUN;
}

static long push_kernel_frame(__u32 number, void *data)
{
	struct loop *loop = data;
	struct jvs_walk *w = loop->w;

	if (number >= JVS_KERNEL_DEPTH)
		return 1;
	jvs_set_frame(w, w->kernel[number], JVS_FRAME_KERNEL, 0, 0);
	w->how = number ? JVS_HOW_NORMAL : JVS_HOW_LEAF;
	return jvs_push(w) != 0;
}

int jvs_push_kernel(struct jvs_walk *w, __u32 count)
{
	struct loop loop = { .w = w };

	if (!w || count > JVS_KERNEL_DEPTH)
		return 0;
	w->max_depth += count;
	bpf_loop(count, push_kernel_frame, &loop, 0);
	return 0;
}

/*
 * A timer can hit between a probe's breakpoint and its handler: pc is then one past the breakpoint,
 * but the instruction it replaced has not run, and unwind rules for pc are wrong.
 */
#ifdef JVS_INT3
static __always_inline void step_back_from_breakpoint(struct jvs_walk *w)
{
	__u8 byte = 0;

	if (w->source != JVS_SLOT_SAMPLE || !w->in_kernel)
		return;
	bpf_probe_read_user(&byte, 1, (const void *)(w->pc - 1));
	if (byte != JVS_INT3)
		return;
	w->pc--;
	jvs_count(w->target, JVS_COUNT_BREAKPOINT, 1);
}
#else
static __always_inline void step_back_from_breakpoint(struct jvs_walk *w)
{
}
#endif

int jvs_take_registers(struct jvs_walk *w)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs;
	int err;

	if (!w)
		return JVS_STATUS_INTERNAL;
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER))
		return JVS_STATUS_NO_REGISTERS;
	if (!task->mm)
		return task->flags & PF_EXITING ? JVS_STATUS_EXITING : JVS_STATUS_NO_REGISTERS;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	err = jvs_load_registers(w, regs);
	if (err)
		return err;
	w->start_pc = w->pc;
	w->start_sp = w->sp;
	w->start_fp = w->fp;
	w->start_lr = w->lr;
	w->at = JVS_AT_LEAF;
	jvs_note_returns(w, task);
	return 0;
}

int jvs_walk_user(struct jvs_walk *w)
{
	struct loop loop = { .w = w };
	int err;

	if (!w)
		return 0;
	err = jvs_take_registers(w);
	if (err) {
		w->status = err;
		return 0;
	}
	step_back_from_breakpoint(w);
	bpf_loop(JVS_LOOPS, step_once, &loop, 0);
	w->status = jvs_final_status(w, w->status);
	if (w->status == JVS_STATUS_END) {
		w->fail_pc = 0;
		w->fail_sp = 0;
		w->fail_fp = 0;
	}
	w->hash = jvs_mix(w->hash, w->status);
	return 0;
}

int jvs_thread_state(struct jvs_walk *w)
{
	const struct jvs_target *t;
	__u64 thread;
	__u32 state = JVS_THREAD_STATE_UNKNOWN;

	if (!w || !(w->flags & JVS_TARGET_JAVA))
		return JVS_THREAD_STATE_UNKNOWN;
	t = jvs_target_of(w->target);
	if (!t)
		return JVS_THREAD_STATE_UNKNOWN;

	thread = jvs_java_thread(w->tid);
	if (thread && !jvs_read_user(&state, 4, thread + t->java.thread_state))
		return state & 0xff;
	/* A thread too new for the table; only a thread in Java state runs Java code. */
	if (jvs_heap_of(w, &t->java, w->start_pc) >= 0)
		return JVS_THREAD_STATE_IN_JAVA;
	return JVS_THREAD_STATE_UNKNOWN;
}
