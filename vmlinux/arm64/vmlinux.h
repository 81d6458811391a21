/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include "vmlinux_common.h"

struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
} __attribute__((preserve_access_index));

struct pt_regs {
	union {
		struct user_pt_regs user_regs;
		struct {
			__u64 regs[31];
			__u64 sp;
			__u64 pc;
			__u64 pstate;
		};
	};
	__s32 syscallno; /* below 0: in none */
} __attribute__((preserve_access_index));

/* A program's context, not kernel memory: x0 to x30, sp, pc, pstate. */
struct bpf_perf_event_data {
	__u64 regs[34];
	__u64 sample_period;
	__u64 addr;
};

#endif
