/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "call_programs.h"
#include "jvs_mapping.h"

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

/* A call that is going on. */
struct jvs_mapping_begun {
	struct jvs_pending call;
	struct jvs_mapped record;
};

/*
 * What a thread is mapping. The VM maps memory while it makes a thread, which is no part of that
 * thread's stack.
 */
struct jvs_mapping_thread {
	struct jvs_mapping_begun range;
	struct jvs_mapping_begun stack; /* JVS_MAPPING_STACK */
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

static __always_inline struct jvs_mapping_begun *begun_of(struct jvs_mapping_thread *thread,
							  __u32 op)
{
	return op == JVS_MAPPING_STACK ? &thread->stack : &thread->range;
}

/* A first look. Returns whether the call is to be booked, with its stack. */
__attribute__((noinline)) int jvs_mapping_begin(const struct jvs_mapping_call *call)
{
	struct jvs_mapping_thread *thread;
	struct jvs_mapping_begun *begun;
	enum jvs_call_place place;
	__u32 target;

	if (!call)
		return 0;
	target = call->record.event.target;
	thread = bpf_task_storage_get(&jvs_mapping_threads, bpf_get_current_task_btf(), NULL,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		count(target, JVS_MAPPING_COUNT_NO_STATE);
		return 0;
	}
	begun = begun_of(thread, call->record.op);
	place = jvs_place_of_call(&begun->call, call->sp, call->epoch);
	/* As in os::reserve_memory_aligned: the other is told as a whole. */
	if (place == JVS_CALL_PART) {
		count(target, JVS_MAPPING_COUNT_NESTED);
		return 0;
	}
	if (place == JVS_CALL_BEHIND)
		count(target, JVS_MAPPING_COUNT_NO_RETURN);
	begun->call.sp = 0;
	return 1;
}

/* Books a call that has begun. Returns 0: its return is to be waited for. */
__attribute__((noinline)) int jvs_mapping_book(const struct jvs_mapping_call *call)
{
	struct jvs_mapping_thread *thread;
	struct jvs_mapping_begun *begun;

	if (!call)
		return 1;
	thread = bpf_task_storage_get(&jvs_mapping_threads, bpf_get_current_task_btf(), NULL, 0);
	if (!thread)
		return 1;
	begun = begun_of(thread, call->record.op);
	begun->record = call->record;
	begun->call.epoch = call->epoch;
	begun->call.sp = call->sp;
	return 0;
}

/* How large the stack is that the thread is making, if it is. */
static __always_inline void set_stack_size(const struct jvs_mapping_call *call)
{
	struct jvs_mapping_thread *thread;

	thread = bpf_task_storage_get(&jvs_mapping_threads, bpf_get_current_task_btf(), NULL, 0);
	if (thread && thread->stack.call.sp && thread->stack.call.epoch == call->epoch)
		thread->stack.record.size = call->record.size;
}

/* The call that began at sp has returned. */
__attribute__((noinline)) int jvs_mapping_end(__u64 sp, __u64 value)
{
	struct jvs_mapping_thread *thread;
	struct jvs_mapping_begun *begun;
	__u32 op;

	thread = bpf_task_storage_get(&jvs_mapping_threads, bpf_get_current_task_btf(), NULL, 0);
	if (!thread || !sp)
		return 0;
	begun = thread->stack.call.sp == sp ? &thread->stack : &thread->range;
	if (begun->call.sp != sp)
		return 0;
	begun->call.sp = 0;
	op = begun->record.op;
	if (op == JVS_MAPPING_RESERVE || op == JVS_MAPPING_MAP)
		begun->record.address = value;
	else if (op != JVS_MAPPING_COMMIT_EXIT && !(value & 0xff))
		return 0;
	if (!begun->record.address)
		return 0;
	begun->record.event.time_ns = bpf_ktime_get_ns();
	send(&begun->record);
	return 0;
}

static __always_inline __u64 argument(const __u64 *args, __u32 number)
{
	return args[number & 7];
}

JVS_CALLER(mapping)

/* Takes the stack of a call that begins, and waits for its return. Returns 1 when it does not. */
static __always_inline int begin(struct jvs_mapping_call *call, const struct caller *caller,
				 bool with_stack)
{
	enum jvs_captured how;

	if (!jvs_mapping_begin(call))
		return 1;
	if (with_stack) {
		call->record.stack = jvs_capture_at_probe(caller->target, caller->t, &how);
		if (how == JVS_CAPTURED_NOT || how == JVS_CAPTURED_UNSENT)
			count(caller->target, JVS_MAPPING_COUNT_NO_STACK);
	}
	return jvs_mapping_book(call);
}

static __always_inline void read_registers(struct pt_regs *ctx, struct jvs_mapping_call *call)
{
	/* The first is none. */
	__u64 args[8] = { 0,
			  PT_REGS_PARM1(ctx),
			  PT_REGS_PARM2(ctx),
			  PT_REGS_PARM3(ctx),
			  PT_REGS_PARM4(ctx),
			  PT_REGS_PARM5(ctx) };
	__u64 cookie = bpf_get_attach_cookie(ctx);

	call->sp = PT_REGS_SP(ctx);
	call->record.op = cookie & 0xff;
	call->record.address = argument(args, cookie >> 8);
	call->record.size = argument(args, cookie >> 12);
	call->record.tag =
		cookie >> 16 & 7 ? argument(args, cookie >> 16) & 0xff : JVS_MAPPING_NO_TAG;
}

static __always_inline int on_entry(struct pt_regs *ctx, const struct caller *caller)
{
	struct jvs_mapping_call call = {};
	__u32 target = caller->target;
	int done = 1;

	count(target, JVS_MAPPING_COUNT_CALLS);
	jvs_fill_event(&call.record.event, JVS_EVENT_MAPPING, target);
	read_registers(ctx, &call);
	call.epoch = caller->control->epoch;
	if (begins(call.record.op))
		done = begin(&call, caller, !caller->control->no_stacks);
	else if (call.record.op == JVS_MAPPING_STACK_SIZE)
		set_stack_size(&call);
	else
		send(&call.record);
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
