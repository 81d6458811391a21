/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_CALL_PROGRAMS_H
#define JVS_CALL_PROGRAMS_H

#include "capture.h"
#include "unwind.h"

#include <bpf/bpf_tracing.h>

/*
 * The programs of a group that looks at calls and at their returns: those of single links, of multi
 * links, and the one of session links, which runs for both.
 *
 * Who says JVS_CALL_PROGRAMS(group) has these, all of them __always_inline:
 *
 *	struct caller					whose call it is
 *	bool find_caller(struct caller *)		false: it is no target's
 *	int on_entry(ctx, const struct caller *)	1: no return is wanted
 *	void on_return(ctx, const struct caller *)
 */

/* The first two of a group with a control for each target: struct jvs_GROUP_control. */
#define JVS_CALLER(group)                                                                        \
	struct caller {                                                                          \
		const struct jvs_target *t;                                                      \
		const struct jvs_##group##_control *control;                                     \
		__u64 start_ns; /* of the program */                                             \
		__u32 target;                                                                    \
	};                                                                                       \
                                                                                                 \
	static __always_inline bool find_caller(struct caller *caller)                           \
	{                                                                                        \
		caller->start_ns = bpf_ktime_get_ns();                                           \
		caller->t = jvs_current_target(&caller->target);                                 \
		if (!caller->t)                                                                  \
			return false;                                                            \
		caller->control = bpf_map_lookup_elem(&jvs_##group##_controls, &caller->target); \
		return caller->control;                                                          \
	}

/* A call whose return is waited for. */
struct jvs_pending {
	__u64 sp;    /* at its entry; 0: there is none */
	__u64 epoch; /* of the links, in which it began */
};

#define JVS_PENDING_MAX 16 /* returns that a thread waits for at once */

/* Whether the kernel has the return of the call that began at sp among those to come. */
static __always_inline bool jvs_is_waited_for(__u64 sp)
{
	const struct return_instance *pending;
	const struct uprobe_task *utask;

	if (!jvs_kernel_has_returns())
		return true;
	utask = bpf_get_current_task_btf()->utask;
	pending = utask ? utask->return_instances : NULL;
	for (int i = 0; i < JVS_PENDING_MAX && pending; i++) {
		if (pending->stack == sp)
			return true;
		pending = pending->next;
	}
	return false;
}

/* What a call is to the one that its thread remembers. */
enum jvs_call_place {
	JVS_CALL_ALONE,
	JVS_CALL_PART,	/* of that one, which counts for both */
	JVS_CALL_BEHIND /* that one, which has returned unseen or was left by a jump, and is lost */
};

/*
 * A return that was never seen would make all deeper calls parts of what the thread remembers, so
 * the kernel is asked whether it waits for it. At the same place it is a jump from one probed
 * function to another.
 */
static __always_inline enum jvs_call_place jvs_place_of_call(const struct jvs_pending *pending,
							     __u64 sp, __u64 epoch)
{
	if (!pending->sp || pending->epoch != epoch || pending->sp == sp)
		return JVS_CALL_ALONE;
	if (sp < pending->sp && jvs_is_waited_for(pending->sp))
		return JVS_CALL_PART;
	return JVS_CALL_BEHIND;
}

/*
 * Which of both a program of a session link runs for: at a return the thread is where it returns
 * to, while the kernel says what was probed. Not to be told by what the thread waits for: another
 * state of the links may have begun during the call, and a return that is taken for an entry is
 * waited for in vain, with all calls below it taken for parts of it.
 */
static __always_inline bool jvs_is_return(struct pt_regs *ctx)
{
	return PT_REGS_IP(ctx) != bpf_get_func_ip(ctx);
}

#define JVS_ENTRY_PROGRAM(name)                      \
	SEC("?uprobe") int name(struct pt_regs *ctx) \
	{                                            \
		struct caller caller;                \
                                                     \
		if (find_caller(&caller))            \
			on_entry(ctx, &caller);      \
		return 0;                            \
	}

#define JVS_RETURN_PROGRAM(name)                        \
	SEC("?uretprobe") int name(struct pt_regs *ctx) \
	{                                               \
		struct caller caller;                   \
                                                        \
		if (find_caller(&caller))               \
			on_return(ctx, &caller);        \
		return 0;                               \
	}

/* The verifier wants to see that the result is one of the two. */
#define JVS_SESSION_PROGRAM(name)                      \
	SEC("?uprobe") int name(struct pt_regs *ctx)   \
	{                                              \
		struct caller caller;                  \
                                                       \
		if (!find_caller(&caller))             \
			return 1;                      \
		if (jvs_is_return(ctx)) {              \
			on_return(ctx, &caller);       \
			return 0;                      \
		}                                      \
		return on_entry(ctx, &caller) ? 1 : 0; \
	}

#define JVS_CALL_PROGRAMS(group)                       \
	JVS_ENTRY_PROGRAM(jvs_##group##_entry)         \
	JVS_RETURN_PROGRAM(jvs_##group##_return)       \
	JVS_ENTRY_PROGRAM(jvs_##group##_entry_multi)   \
	JVS_RETURN_PROGRAM(jvs_##group##_return_multi) \
	JVS_SESSION_PROGRAM(jvs_##group##_session)

#endif
