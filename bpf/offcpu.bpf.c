/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Test mode: the stack of each thread at the moment it leaves its CPU, so that the stacks of
 * blocked threads can be compared with what the JVM says of them. Loaded only on request.
 */
SEC("?tp_btf/sched_switch")
int jvs_on_switch(__u64 *ctx)
{
	struct jvs_target *t;
	struct jvs_walk *w;
	__u32 index;

	t = jvs_current_target(&index);
	if (!t || t->arm)
		return 0;

	w = jvs_capture(ctx, JVS_SLOT_SWITCH, index, t, true, false);
	if (w)
		jvs_send_sample(w);
	return 0;
}
