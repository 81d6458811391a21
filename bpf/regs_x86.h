/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_REGS_X86_H
#define JVS_REGS_X86_H

/* Registers of x86-64. Only included by regs.h. */

#define JVS_PERF_CS	17     /* index of cs in the registers of a perf event's context */
#define JVS_USER_CS	0x33   /* 64-bit user code; bits above the low byte differ under Xen */
#define JVS_INT3	0xcc   /* what a uprobe puts in place of the probed instruction */
#define JVS_SYSCALL	0x050f /* the instruction, first byte lowest */
#define JVS_RETURN_SLOT 8      /* bytes a return takes off the stack */
#define JVS_RETURN_MASK ~0ull  /* a saved return address holds nothing but the address */

/* Where the kernel puts registers in a signal frame: uc_mcontext, 40 bytes above sp. */
#define JVS_SIGNAL_REGS 40
#define JVS_SIGNAL_R13	5
#define JVS_SIGNAL_R15	7
#define JVS_SIGNAL_BP	10
#define JVS_SIGNAL_BX	11
#define JVS_SIGNAL_DX	12
#define JVS_SIGNAL_AX	13
#define JVS_SIGNAL_SP	15
#define JVS_SIGNAL_PC	16

#ifdef __bpf__
/* Whether a perf event interrupted the kernel. */
JVS_INLINE bool jvs_hit_kernel(const struct bpf_perf_event_data *ctx)
{
	return !(ctx->regs[JVS_PERF_CS] & 3);
}

/* Loaded whatever the number: the compiler may not compute an offset into the context. */
#define JVS_LOADED(member) (*(const volatile unsigned long *)&(member))

/* The system call that a task is in, by its number; below 0: it is in none. */
JVS_INLINE __s32 jvs_system_call(struct task_struct *task)
{
	const struct pt_regs *regs = (const struct pt_regs *)bpf_task_pt_regs(task);

	return task->mm ? (__s32)regs->orig_ax : -1;
}

#define JVS_SIXTH_ARGUMENT(ctx) ((ctx)->r9)

/* A register that called functions preserve, by its number in instructions. */
JVS_INLINE __u64 jvs_preserved(const struct pt_regs *regs, __u32 number)
{
	__u64 bx = JVS_LOADED(regs->bx), bp = JVS_LOADED(regs->bp);
	__u64 r12 = JVS_LOADED(regs->r12), r13 = JVS_LOADED(regs->r13);
	__u64 r14 = JVS_LOADED(regs->r14), r15 = JVS_LOADED(regs->r15);

	switch (number) {
	case 3:
		return bx;
	case 5:
		return bp;
	case 12:
		return r12;
	case 13:
		return r13;
	case 14:
		return r14;
	case 15:
		return r15;
	}
	return 0;
}

JVS_INLINE int jvs_load_registers(struct jvs_walk *w, const struct pt_regs *regs)
{
	if ((regs->cs & 0xff) != JVS_USER_CS)
		return JVS_STATUS_NOT_64BIT;

	w->pc = regs->ip;
	w->sp = regs->sp;
	w->fp = regs->bp;
	w->ax = regs->ax;
	w->bx = regs->bx;
	w->dx = regs->dx;
	w->di = regs->di;
	w->r11 = regs->r11;
	w->r13 = regs->r13;
	w->r15 = regs->r15;
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

	w->r13 = jvs_read_word(at + JVS_SIGNAL_R13 * 8);
	w->r15 = jvs_read_word(at + JVS_SIGNAL_R15 * 8);
	w->fp = jvs_read_word(at + JVS_SIGNAL_BP * 8);
	w->bx = jvs_read_word(at + JVS_SIGNAL_BX * 8);
	w->dx = jvs_read_word(at + JVS_SIGNAL_DX * 8);
	w->ax = jvs_read_word(at + JVS_SIGNAL_AX * 8);
	w->pc = jvs_read_word(at + JVS_SIGNAL_PC * 8);
	w->sp = sp;
	return 0;
}

#endif
