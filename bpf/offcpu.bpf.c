/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture.h"
#include "jvs_offcpu.h"

#include "unwind.h"

#include "regs.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Threads that leave their CPU, and come back. Where a thread leaves its stack is at hand; how long
 * it stays away is known only when it runs again. So each has its stack taken, or one of many where
 * that would cost too much.
 */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_offcpu_control);
} jvs_offcpu_controls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_offcpu_counts);
} jvs_offcpu_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct jvs_offcpu_event); /* start_ns 0: it runs, or is not looked at */
} jvs_offcpu_threads SEC(".maps");

static __always_inline void add(__u32 target, __u32 counter, __u64 more)
{
	struct jvs_offcpu_counts *counts = bpf_map_lookup_elem(&jvs_offcpu_counts, &target);

	if (counts && counter < JVS_OFFCPU_COUNT_NR)
		counts->values[counter] += more;
}

#define OWN_FRAMES 2 /* this program, and what ran it */

/* The stack of the current thread, kernel frames first. 0: it was not taken. */
static __always_inline __u64 take_stack(void *ctx, __u32 target, const struct jvs_target *t)
{
	struct jvs_walk *w = jvs_take_slot(JVS_SLOT_SWITCH, target, true);
	__u64 hash;
	long size;

	if (!w)
		return 0;
	jvs_begin_walk(w, t);
	size = bpf_get_stack(ctx, w->kernel, sizeof(w->kernel), OWN_FRAMES);
	if (size > 0)
		jvs_push_kernel(w, size / sizeof(__u64));
	jvs_walk_user(w);
	hash = jvs_send_stack(w, false) ? 0 : w->hash;
	jvs_release(w);
	return hash;
}

static __always_inline void leave(__u64 *ctx, struct task_struct *task, __u64 now_ns)
{
	struct jvs_offcpu_control *control;
	struct jvs_offcpu_event *away;
	struct jvs_target *t;
	__u32 target;

	t = jvs_current_target(&target);
	if (!t || t->arm)
		return;
	control = bpf_map_lookup_elem(&jvs_offcpu_controls, &target);
	if (!control || !control->on)
		return;
	add(target, JVS_OFFCPU_COUNT_SWITCHES, 1);
	if (control->every > 1 && bpf_get_prandom_u32() % control->every) {
		add(target, JVS_OFFCPU_COUNT_SKIPPED, 1);
		return;
	}
	away = bpf_task_storage_get(&jvs_offcpu_threads, task, NULL,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!away) {
		add(target, JVS_OFFCPU_COUNT_NO_STATE, 1);
		return;
	}
	jvs_fill_event(&away->event, JVS_EVENT_OFFCPU, target);
	away->start_ns = now_ns;
	away->woken_ns = 0;
	away->waker = 0;
	away->weight = control->every ? control->every : 1;
	away->state = ctx[3];
	away->call = jvs_system_call(task);
	away->stack = take_stack(ctx, target, t);
	if (!away->stack)
		add(target, JVS_OFFCPU_COUNT_NO_STACK, 1);
	add(target, JVS_OFFCPU_COUNT_RUN_NS, bpf_ktime_get_ns() - now_ns);
}

static __always_inline void come_back(struct task_struct *task, __u64 now_ns)
{
	struct jvs_offcpu_event *away = bpf_task_storage_get(&jvs_offcpu_threads, task, NULL, 0);
	struct jvs_offcpu_control *control;
	struct jvs_offcpu_event record;
	__u32 target;

	if (!away || !away->start_ns)
		return;
	record = *away;
	away->start_ns = 0;
	target = record.event.target;
	control = bpf_map_lookup_elem(&jvs_offcpu_controls, &target);
	if (!control || !control->on)
		return;
	record.event.time_ns = now_ns;
	if (now_ns - record.start_ns < control->least_ns) {
		add(target, JVS_OFFCPU_COUNT_SHORT, 1);
		add(target, JVS_OFFCPU_COUNT_SHORT_NS, now_ns - record.start_ns);
	} else if (bpf_ringbuf_output(&jvs_events, &record, sizeof(record), jvs_wake_flags())) {
		add(target, JVS_OFFCPU_COUNT_LOST, 1);
	}
	add(target, JVS_OFFCPU_COUNT_RUN_NS, bpf_ktime_get_ns() - now_ns);
}

/* preempt, the task that leaves, the one that comes, and the state of the first. */
SEC("?tp_btf/sched_switch")
int jvs_on_offcpu(__u64 *ctx)
{
	__u64 now_ns = bpf_ktime_get_ns();

	leave(ctx, (struct task_struct *)ctx[1], now_ns);
	come_back((struct task_struct *)ctx[2], now_ns);
	return 0;
}

/*
 * Only a thread that is in a system call itself wakes another: else it was only interrupted by what
 * does.
 */
SEC("?tp_btf/sched_waking")
int jvs_on_waking(__u64 *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	struct jvs_offcpu_event *away = bpf_task_storage_get(&jvs_offcpu_threads, task, NULL, 0);
	__u64 id;

	if (!away || !away->start_ns || away->woken_ns)
		return 0;
	away->woken_ns = bpf_ktime_get_ns();
	id = bpf_get_current_pid_tgid();
	if (id >> 32 == away->event.pid &&
	    jvs_system_call(bpf_get_current_task_btf()) != JVS_OFFCPU_NO_CALL)
		away->waker = id;
	return 0;
}

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
