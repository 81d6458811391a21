/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include "vmlinux_common.h"

struct pt_regs {
	unsigned long r15;
	unsigned long r14;
	unsigned long r13;
	unsigned long r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long r11;
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long ax;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs; /* a union with 16 bits of the same name since 6.9 */
	unsigned long flags;
	unsigned long sp;
	unsigned long ss;
} __attribute__((preserve_access_index));

/*
 * A program's context, not kernel memory: registers in the order of struct pt_regs, and no CO-RE,
 * because every load from it must be 8 bytes wide.
 */
struct bpf_perf_event_data {
	__u64 regs[21];
	__u64 sample_period;
	__u64 addr;
};

#endif
