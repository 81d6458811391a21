/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_UNWIND_RETURNS_H
#define JVS_UNWIND_RETURNS_H

#include "unwind.h"

/*
 * Return probes, our own and those of others: while a probed function runs, the return address on
 * the stack is that of the kernel's trampoline, and the kernel has the real one.
 */

#ifdef __bpf__
#include <bpf/bpf_core_read.h>

#define JVS_RETURNS_MAX 4 /* of one function: a tail call shares its caller's place */

/* Takes note of the innermost return that is pending. A few loads, and nothing where none is. */
JVS_INLINE void jvs_note_returns(struct jvs_walk *w, const struct task_struct *task)
{
	const struct uprobe_task *utask;

	if (!jvs_kernel_has_returns())
		return;
	utask = task->utask;
	w->returns = utask ? (__u64)utask->return_instances : 0;
}

/* Puts the real return address in the place of the trampoline's. Returns whether it did. */
JVS_FN int jvs_real_return(struct jvs_walk *w)
{
	const struct return_instance *pending;
	unsigned long stack, pc = 0;
	int done = 0;

	if (!w || !jvs_kernel_has_returns())
		return 0;
	for (int i = 0; i < JVS_RETURNS_MAX; i++) {
		pending = (const struct return_instance *)w->returns;
		if (!pending || bpf_core_read(&stack, sizeof(stack), &pending->stack) ||
		    stack + JVS_RETURN_SLOT != w->sp)
			break;
		bpf_core_read(&pc, sizeof(pc), &pending->orig_ret_vaddr);
		w->pc = pc;
		if (bpf_core_read(&w->returns, sizeof(w->returns), &pending->next))
			w->returns = 0;
		done = 1;
	}
	return done;
}
#else
JVS_INLINE int jvs_real_return(struct jvs_walk *w)
{
	(void)w;
	return 0;
}
#endif

#endif
