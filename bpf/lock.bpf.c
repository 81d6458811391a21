/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "call_programs.h"
#include "jvs_lock.h"
#include "object.h"
#include "vm_state.h"

/*
 * Threads that wait. A call is measured from its entry to its return; only what took long gets a
 * stack, which is that of the caller.
 */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_lock_control);
} jvs_lock_controls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, JVS_LOCK_SUMS);
	__type(key, struct jvs_lock_key);
	__type(value, struct jvs_lock_sum);
} jvs_lock_sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, JVS_LOCK_BYS);
	__type(key, struct jvs_lock_by_key);
	__type(value, struct jvs_lock_by);
} jvs_lock_bys SEC(".maps");

/* What a thread waits for: a monitor also while it is in Object.wait(), to have it again. */
struct jvs_lock_wait {
	struct jvs_pending call;
	__u64 outer; /* calls around it whose returns are still to come, and say nothing */
	__u64 start_ns;
	__u64 klass;
	__u64 address; /* until a park ends that of its Parker */
	__u64 timeout;
	__u64 by; /* address of what is told who ends it; 0: that is not asked for */
};

struct jvs_lock_thread {
	struct jvs_lock_wait waits[JVS_LOCK_OPS];
	struct jvs_lock_event event; /* that waits for its stack */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct jvs_lock_thread);
} jvs_lock_threads SEC(".maps");

static __always_inline struct jvs_lock_control *control_of(const struct jvs_vm_call *call)
{
	__u32 target = call->target;

	return bpf_map_lookup_elem(&jvs_lock_controls, &target);
}

static __always_inline struct jvs_lock_thread *thread_of(__u64 flags)
{
	return bpf_task_storage_get(&jvs_lock_threads, bpf_get_current_task_btf(), NULL, flags);
}

/* ---- what is waited for */

#define NS_PER_MS 1000000ull

static __always_inline void begin_monitor(const struct jvs_vm_call *call,
					  const struct jvs_lock_control *control,
					  struct jvs_lock_wait *wait)
{
	__u64 object = jvs_vm_object(&control->objects, call->args[0] + control->monitor_object);

	wait->address = call->args[0];
	wait->klass = jvs_object_klass(&control->objects, object);
	wait->timeout = JVS_LOCK_NO_TIMEOUT;
	if (call->site == JVS_VM_LOCK_WAIT && call->args[1])
		wait->timeout = call->args[1] * NS_PER_MS;
}

static __always_inline void begin_park(const struct jvs_vm_call *call, struct jvs_lock_wait *wait)
{
	wait->address = call->args[0];
	wait->klass = 0;
	wait->timeout = JVS_LOCK_NO_TIMEOUT;
	/* Absolute times are of another clock; a time of 0 is none. */
	if (!(call->args[1] & 0xff) && call->args[2])
		wait->timeout = call->args[2];
}

/* The JavaThread of a thread that parks; 0: not known. */
static __always_inline __u64 java_thread_of(struct jvs_lock_control *control, __u64 parker)
{
	__u32 tid = bpf_get_current_pid_tgid();
	__u64 *known = bpf_map_lookup_elem(&jvs_threads, &tid);

	if (!known)
		return control->parker ? parker - control->parker : 0;
	if (!control->parker && parker > *known && parker - *known < JVS_LOCK_PARKER_MAX)
		control->parker = parker - *known;
	return *known;
}

/* Who blocks a thread is told by its Thread object; it has not run since. */
static __always_inline void find_blocker(struct jvs_lock_control *control,
					 struct jvs_lock_wait *wait)
{
	const struct jvs_object_layout *objects = &control->objects;
	__u64 java_thread = java_thread_of(control, wait->address), thread;

	wait->address = 0;
	if (!java_thread || !objects->thread_blocker)
		return;
	thread = jvs_vm_object(objects, java_thread + objects->thread_object);
	if (!thread)
		return;
	wait->address = jvs_field_object(objects, thread + objects->thread_blocker);
	wait->klass = jvs_object_klass(objects, wait->address);
}

/* ---- who ends a wait */

static __always_inline void ask_who(const struct jvs_vm_call *call, __u32 op,
				    struct jvs_lock_wait *wait)
{
	struct jvs_lock_by_key key = { .target = call->target, .op = op };
	struct jvs_lock_by nobody = {};

	wait->by = 0;
	if (op == JVS_LOCK_ENTER)
		wait->by = call->args[0];
	else if (op == JVS_LOCK_WAIT)
		wait->by = call->args[3];
	key.address = wait->by;
	if (wait->by && !bpf_map_lookup_elem(&jvs_lock_bys, &key))
		bpf_map_update_elem(&jvs_lock_bys, &key, &nobody, BPF_NOEXIST);
}

static __always_inline void tell_who(const struct jvs_vm_call *call, __u32 op, __u64 address)
{
	struct jvs_lock_by_key key = { .target = call->target, .op = op, .address = address };
	struct jvs_lock_by *by = address ? bpf_map_lookup_elem(&jvs_lock_bys, &key) : NULL;

	if (!by)
		return;
	by->time_ns = call->time_ns;
	by->tid = bpf_get_current_pid_tgid();
}

/* Who did since it began; 0: not known, or nobody did. */
static __always_inline __u32 who_ended(const struct jvs_vm_call *call, __u32 op,
				       const struct jvs_lock_wait *wait)
{
	struct jvs_lock_by_key key = { .target = call->target, .op = op, .address = wait->by };
	const struct jvs_lock_by *by = wait->by ? bpf_map_lookup_elem(&jvs_lock_bys, &key) : NULL;

	return by && by->time_ns >= wait->start_ns ? by->tid : 0;
}

#define WAITER_THREAD 16 /* ObjectWaiter::_thread, behind two links */

/* The first of those that wait; what is read wrong is the thread of no wait that is looked up. */
static __always_inline __u64 first_waiter(const struct jvs_vm_call *call,
					  const struct jvs_lock_control *control)
{
	__u64 waiter = 0;

	if (control->objects.wait_set)
		waiter = jvs_word_at(call->args[0] + control->objects.wait_set);
	return waiter ? jvs_word_at(waiter + WAITER_THREAD) : 0;
}

/* ---- calls */

static __always_inline __u32 op_of(__u32 site)
{
	switch (site) {
	case JVS_VM_LOCK_WAIT:
		return JVS_LOCK_WAIT;
	case JVS_VM_LOCK_PARK:
		return JVS_LOCK_PARK;
	}
	return JVS_LOCK_ENTER;
}

/*
 * One function calls the other in some JDKs, or goes on as the other: the inner one counts, as in
 * the JVM's recordings.
 */
static __always_inline void begin_wait(const struct jvs_vm_call *call,
				       const struct jvs_lock_control *control,
				       struct jvs_lock_wait *wait)
{
	struct jvs_pending *before = &wait->call;
	bool ended = before->sp && before->epoch != control->epoch;
	enum jvs_call_place place = jvs_place_of_call(before, call->sp, control->epoch);

	if (ended || place == JVS_CALL_BEHIND)
		jvs_vm_count(call->target, JVS_VM_LOCK, JVS_VM_COUNT_NO_RETURN, 1);
	if (place == JVS_CALL_PART || (!ended && before->sp == call->sp))
		wait->outer++;
	else
		wait->outer = 0;
	before->sp = call->sp;
	before->epoch = control->epoch;
	wait->start_ns = call->time_ns;
}

__attribute__((noinline)) int jvs_vm_lock(struct jvs_vm_call *call)
{
	const struct jvs_lock_control *control;
	struct jvs_lock_thread *thread;
	struct jvs_lock_wait *wait;
	__u32 op;

	if (!call)
		return JVS_VM_NOTHING;
	control = control_of(call);
	if (!control)
		return JVS_VM_NOTHING;
	if (call->site == JVS_VM_LOCK_HANDS)
		tell_who(call, JVS_LOCK_ENTER, call->args[0]);
	if (call->site == JVS_VM_LOCK_NOTIFY)
		tell_who(call, JVS_LOCK_WAIT, first_waiter(call, control));
	if (call->site > JVS_VM_LOCK_PARK)
		return JVS_VM_NOTHING;
	thread = thread_of(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		jvs_vm_count(call->target, JVS_VM_LOCK, JVS_VM_COUNT_NO_STATE, 1);
		return JVS_VM_NOTHING;
	}
	op = op_of(call->site);
	wait = &thread->waits[op];
	begin_wait(call, control, wait);
	if (op == JVS_LOCK_PARK)
		begin_park(call, wait);
	else
		begin_monitor(call, control, wait);
	ask_who(call, op, wait);
	return JVS_VM_RETURN;
}

static __always_inline void add_short(const struct jvs_vm_call *call, __u32 op, __u64 klass,
				      __u64 ns)
{
	struct jvs_lock_key key = { .target = call->target, .op = op, .klass = klass };
	struct jvs_lock_sum *sum = bpf_map_lookup_elem(&jvs_lock_sums, &key);
	struct jvs_lock_sum first = {};

	if (!sum) {
		bpf_map_update_elem(&jvs_lock_sums, &key, &first, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&jvs_lock_sums, &key);
	}
	if (!sum) {
		jvs_vm_count(call->target, JVS_VM_LOCK, JVS_VM_COUNT_UNSUMMED, 1);
		return;
	}
	__sync_fetch_and_add(&sum->count, 1);
	__sync_fetch_and_add(&sum->ns, ns);
}

/* Whether it is the return of the wait. */
static __always_inline bool end_wait(const struct jvs_vm_call *call,
				     const struct jvs_lock_control *control,
				     struct jvs_lock_wait *wait)
{
	struct jvs_pending *begun = &wait->call;

	if (begun->sp != call->sp) {
		if (wait->outer)
			wait->outer--;
		else
			jvs_vm_count(call->target, JVS_VM_LOCK, JVS_VM_COUNT_NO_ENTRY, 1);
		return false;
	}
	begun->sp = 0;
	if (begun->epoch == control->epoch)
		return true;
	/* It may be of a later call, whose entry was not seen. */
	jvs_vm_count(call->target, JVS_VM_LOCK, JVS_VM_COUNT_NO_RETURN, 1);
	return false;
}

__attribute__((noinline)) int jvs_vm_lock_return(struct jvs_vm_call *call)
{
	struct jvs_lock_control *control;
	struct jvs_lock_thread *thread;
	struct jvs_lock_wait *wait;
	__u64 ns;
	__u32 op;

	if (!call)
		return JVS_VM_NOTHING;
	control = control_of(call);
	thread = thread_of(0);
	if (!control)
		return JVS_VM_NOTHING;
	if (!thread) {
		jvs_vm_count(call->target, JVS_VM_LOCK, JVS_VM_COUNT_NO_ENTRY, 1);
		return JVS_VM_NOTHING;
	}
	op = op_of(call->site);
	wait = &thread->waits[op];
	if (!end_wait(call, control, wait))
		return JVS_VM_NOTHING;
	ns = call->time_ns - wait->start_ns;
	if (op == JVS_LOCK_PARK)
		find_blocker(control, wait);
	if (ns < control->threshold_ns) {
		add_short(call, op, wait->klass, ns);
		return JVS_VM_NOTHING;
	}
	jvs_vm_fill(&thread->event.event, JVS_EVENT_LOCK, call);
	thread->event.start_ns = wait->start_ns;
	thread->event.klass = wait->klass;
	thread->event.address = wait->address;
	thread->event.timeout = wait->timeout;
	thread->event.op = op;
	thread->event.by = who_ended(call, op, wait);
	return JVS_VM_STACK;
}

__attribute__((noinline)) int jvs_vm_lock_stack(struct jvs_vm_call *call)
{
	struct jvs_lock_thread *thread = thread_of(0);

	if (!call || !thread)
		return JVS_VM_NOTHING;
	thread->event.stack = call->stack;
	jvs_vm_send(&thread->event, JVS_VM_LOCK);
	return JVS_VM_NOTHING;
}
