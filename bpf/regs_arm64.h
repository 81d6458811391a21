/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_REGS_ARM64_H
#define JVS_REGS_ARM64_H

/*
 * Registers of arm64. Only included by regs.h.
 *
 * The walk's registers are named after x86-64's; here they hold what plays the same part in
 * HotSpot: bx the Method* (x12), r13 the bytecode pointer (x22), r15 the thread (x28).
 */

#define JVS_PERF_PSTATE 33
#define JVS_PSTATE_MODE 0x0f /* exception level; 0: user */
#define JVS_PSTATE_32	0x10

#define JVS_RETURN_SLOT 0 /* the return address is in a register */

/* A return address may carry a pointer authentication code above the 48 bits of the address. */
#define JVS_RETURN_MASK JVS_ADDRESS_MASK

/* siginfo (128 bytes), then 176 bytes into ucontext the fault address, x0 to x30, sp, pc. */
#define JVS_SIGNAL_REGS (128 + 176 + 8)
#define JVS_SIGNAL_SP	31
#define JVS_SIGNAL_PC	32

#ifdef __bpf__
/* Whether a perf event interrupted the kernel. */
JVS_INLINE bool jvs_hit_kernel(const struct bpf_perf_event_data *ctx)
{
	return ctx->regs[JVS_PERF_PSTATE] & JVS_PSTATE_MODE;
}

/* The system call that a task is in, by its number; below 0: it is in none. */
JVS_INLINE __s32 jvs_system_call(struct task_struct *task)
{
	const struct pt_regs *regs = (const struct pt_regs *)bpf_task_pt_regs(task);

	return task->mm ? (__s32)regs->syscallno : -1;
}

#define JVS_SIXTH_ARGUMENT(ctx) ((ctx)->regs[5])

/* For probes within functions, which are not placed on this machine: target/insn_flow.h. */
JVS_INLINE __u64 jvs_preserved(const struct pt_regs *regs, __u32 number)
{
	return 0;
}

JVS_INLINE int jvs_load_registers(struct jvs_walk *w, const struct pt_regs *regs)
{
	if (regs->pstate & JVS_PSTATE_32)
		return JVS_STATUS_NOT_64BIT;

	w->pc = regs->pc;
	w->sp = regs->sp;
	w->fp = regs->regs[29];
	w->lr = regs->regs[30] & JVS_RETURN_MASK;
	w->bx = regs->regs[12];
	w->r13 = regs->regs[22];
	w->r15 = regs->regs[28];
	return 0;
}
#endif

/* The registers a signal handler interrupted. 0 or an enum jvs_status. */
JVS_INLINE int jvs_load_signal_registers(struct jvs_walk *w)
{
	__u64 at = w->sp + JVS_SIGNAL_REGS;
	__u64 sp = jvs_read_word(at + JVS_SIGNAL_SP * 8);

	if (!sp)
		return JVS_STATUS_SIGNAL_READ;

	w->bx = jvs_read_word(at + 12 * 8);
	w->r13 = jvs_read_word(at + 22 * 8);
	w->r15 = jvs_read_word(at + 28 * 8);
	w->fp = jvs_read_word(at + 29 * 8);
	w->lr = jvs_read_word(at + 30 * 8) & JVS_RETURN_MASK;
	w->pc = jvs_read_word(at + JVS_SIGNAL_PC * 8);
	w->sp = sp;
	return 0;
}

#endif
