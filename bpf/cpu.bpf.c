/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture.h"

#include "unwind.h"

#define JVS_SIGSTOP 19

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Test mode: stops the sampled thread, so that another walker can walk the same registers.
 *
 * The signal is delivered before the thread's next user instruction. Returns whether to take the
 * sample: from the one that stops the thread until the test arms the target again, none is.
 */
static __always_inline bool stop_when_armed(struct jvs_target *t, bool in_kernel)
{
	if (!t->arm)
		return true;
	if (in_kernel || __sync_val_compare_and_swap(&t->arm, 1, 2) != 1)
		return false;
	if (bpf_send_signal_thread(JVS_SIGSTOP)) {
		t->arm = 1;
		return false;
	}
	return true;
}

/* A timer or cycle counter interrupt. */
SEC("perf_event")
int jvs_on_sample(struct bpf_perf_event_data *ctx)
{
	bool in_kernel = jvs_hit_kernel(ctx), armed;
	struct jvs_target *t;
	struct jvs_walk *w;
	__u32 index;

	t = jvs_current_target(&index);
	if (!t)
		return 0;
	armed = t->arm;
	if (!stop_when_armed(t, in_kernel))
		return 0;

	jvs_count(index, JVS_COUNT_SEEN, 1);
	if (in_kernel)
		jvs_count(index, JVS_COUNT_IN_KERNEL, 1);
	w = jvs_capture(ctx, JVS_SLOT_SAMPLE, index, t, in_kernel, armed);
	if (w)
		jvs_send_sample(w);
	return 0;
}
