/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture.h"
#include "jvs_mapping.h"

#include "call_programs.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_mapping_counts);
} jvs_mapping_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_mapping_control);
} jvs_mapping_controls SEC(".maps");

/* What a thread is mapping. */
struct jvs_mapping_thread {
	__u64 sp;    /* at the entry; 0: nothing */
	__u64 epoch; /* it began in */
	struct jvs_mapped record;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct jvs_mapping_thread);
} jvs_mapping_threads SEC(".maps");

static __always_inline void add(__u32 target, __u32 counter, __u64 more)
{
	struct jvs_mapping_counts *counts = bpf_map_lookup_elem(&jvs_mapping_counts, &target);

	if (counts && counter < JVS_MAPPING_COUNT_NR)
		__sync_fetch_and_add(&counts->values[counter], more);
}

static __always_inline void count(__u32 target, __u32 counter)
{
	add(target, counter, 1);
}

/* Whether the thread is within a call whose return will be seen. */
static __always_inline bool is_mapping(const struct jvs_mapping_thread *thread, __u32 epoch)
{
	return thread && thread->sp && thread->epoch == epoch;
}

static __always_inline void send(struct jvs_mapped *record)
{
	if (bpf_ringbuf_output(&jvs_events, record, sizeof(*record), jvs_wake_flags()))
		count(record->event.target, JVS_MAPPING_COUNT_LOST);
}

/* A call as its probe saw it. */
struct jvs_mapping_call {
	struct jvs_mapped record;
	__u64 sp;
	__u64 epoch;
};

/* Whether the return is to be waited for. */
static __always_inline bool begins(__u32 op)
{
	return op == JVS_MAPPING_RESERVE || op == JVS_MAPPING_MAP || op == JVS_MAPPING_COMMIT ||
	       op == JVS_MAPPING_COMMIT_EXIT || op == JVS_MAPPING_STACK;
}

/* Returns 1 when no return is wanted. */
__attribute__((noinline)) int jvs_mapping_begin(struct jvs_mapping_call *call)
{
	struct jvs_mapping_thread *thread;

	if (!call)
		return 1;
	if (!begins(call->record.op) && call->record.op != JVS_MAPPING_STACK_SIZE) {
		send(&call->record);
		return 1;
	}
	thread = bpf_task_storage_get(&jvs_mapping_threads, bpf_get_current_task_btf(), NULL,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		count(call->record.event.target, JVS_MAPPING_COUNT_NO_STATE);
		return 1;
	}
	if (call->record.op == JVS_MAPPING_STACK_SIZE) {
		if (is_mapping(thread, call->epoch) && thread->record.op == JVS_MAPPING_STACK)
			thread->record.size = call->record.size;
		return 1;
	}
	/* Within another one, which is told as a whole: os::reserve_memory_aligned. */
	if (is_mapping(thread, call->epoch) && call->sp < thread->sp &&
	    thread->record.op != JVS_MAPPING_STACK)
		return 1;
	thread->record = call->record;
	thread->epoch = call->epoch;
	thread->sp = call->sp;
	return 0;
}

/* The call that began at sp has returned. */
__attribute__((noinline)) int jvs_mapping_end(__u64 sp, __u64 value)
{
	struct jvs_mapping_thread *thread;
	__u32 op;

	thread = bpf_task_storage_get(&jvs_mapping_threads, bpf_get_current_task_btf(), NULL, 0);
	if (!thread || !thread->sp || thread->sp != sp)
		return 0;
	thread->sp = 0;
	op = thread->record.op;
	if (op == JVS_MAPPING_RESERVE || op == JVS_MAPPING_MAP)
		thread->record.address = value;
	else if (op != JVS_MAPPING_COMMIT_EXIT && !(value & 0xff))
		return 0;
	if (!thread->record.address)
		return 0;
	thread->record.event.time_ns = bpf_ktime_get_ns();
	send(&thread->record);
	return 0;
}

static __always_inline __u64 argument(const __u64 *args, __u32 number)
{
	return args[number & 7];
}

struct caller {
	const struct jvs_target *t;
	const struct jvs_mapping_control *control;
	__u64 start_ns; /* of the program */
	__u32 target;
};

static __always_inline bool find_caller(struct caller *caller)
{
	caller->start_ns = bpf_ktime_get_ns();
	caller->t = jvs_current_target(&caller->target);
	if (!caller->t)
		return false;
	caller->control = bpf_map_lookup_elem(&jvs_mapping_controls, &caller->target);
	return caller->control;
}

static __always_inline int on_entry(struct pt_regs *ctx, const struct caller *caller)
{
	/* The first is none. */
	__u64 args[8] = { 0,
			  PT_REGS_PARM1(ctx),
			  PT_REGS_PARM2(ctx),
			  PT_REGS_PARM3(ctx),
			  PT_REGS_PARM4(ctx),
			  PT_REGS_PARM5(ctx) };
	__u64 cookie = bpf_get_attach_cookie(ctx);
	struct jvs_mapping_call call = {};
	__u32 target = caller->target;
	enum jvs_captured how;
	int done;

	count(target, JVS_MAPPING_COUNT_CALLS);
	jvs_fill_event(&call.record.event, JVS_EVENT_MAPPING, target);
	call.sp = PT_REGS_SP(ctx);
	call.epoch = caller->control->epoch;
	call.record.op = cookie & 0xff;
	call.record.address = argument(args, cookie >> 8);
	call.record.size = argument(args, cookie >> 12);
	call.record.tag =
		cookie >> 16 & 7 ? argument(args, cookie >> 16) & 0xff : JVS_MAPPING_NO_TAG;
	if (begins(call.record.op) && !caller->control->no_stacks) {
		call.record.stack = jvs_capture_at_probe(target, caller->t, &how);
		if (how == JVS_CAPTURED_NOT || how == JVS_CAPTURED_UNSENT)
			count(target, JVS_MAPPING_COUNT_NO_STACK);
	}
	done = jvs_mapping_begin(&call);
	add(target, JVS_MAPPING_COUNT_RUN_NS, bpf_ktime_get_ns() - caller->start_ns);
	return done;
}

static __always_inline void on_return(struct pt_regs *ctx, const struct caller *caller)
{
	jvs_mapping_end(PT_REGS_SP(ctx) - JVS_RETURN_SLOT, PT_REGS_RC(ctx));
	count(caller->target, JVS_MAPPING_COUNT_RETURNS);
	add(caller->target, JVS_MAPPING_COUNT_RUN_NS, bpf_ktime_get_ns() - caller->start_ns);
}

JVS_CALL_PROGRAMS(mapping)
