/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_CALL_PROGRAMS_H
#define JVS_CALL_PROGRAMS_H

#include <bpf/bpf_tracing.h>

#include "unwind.h"

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
