/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "vm_state.h"

/*
 * Safepoints and what the VM thread does, at one of them or not. All of it is by the VM thread, but
 * for threads that are slow to stop.
 */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Since when the threads of each target are being stopped; 0: they are not. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, __u64);
} jvs_vm_stopping SEC(".maps");

static __always_inline volatile __u64 *stopping_of(const struct jvs_vm_call *call)
{
	__u32 target = call->target;

	return bpf_map_lookup_elem(&jvs_vm_stopping, &target);
}

static __always_inline void set_stopping(const struct jvs_vm_call *call, __u64 since_ns)
{
	volatile __u64 *stopping = stopping_of(call);

	if (stopping)
		*stopping = since_ns;
}

/* What it began under other links is forgotten. */
static __always_inline struct jvs_vm_thread *thread_of(const struct jvs_vm_call *call)
{
	const struct jvs_vm_layout *layout = jvs_vm_layout_of(call);
	struct jvs_vm_thread *thread;

	thread = bpf_task_storage_get(&jvs_vm_threads, bpf_get_current_task_btf(), NULL,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		jvs_vm_count(call->target, JVS_VM_SAFEPOINT, JVS_VM_COUNT_NO_STATE, 1);
		return NULL;
	}
	if (layout && thread->epoch != layout->epoch) {
		thread->epoch = layout->epoch;
		thread->safepoint.start_ns = 0;
		thread->operation.start_ns = 0;
	}
	return thread;
}

/* Who asks for an operation is known before its name is. */
static __always_inline void op_evaluate(const struct jvs_vm_call *call,
					struct jvs_vm_thread *thread)
{
	const struct jvs_vm_layout *layout = jvs_vm_layout_of(call);

	thread->operation.caller = 0;
	if (layout && layout->op_caller)
		bpf_probe_read_user(&thread->operation.caller, 8,
				    (const void *)(call->args[1] + layout->op_caller));
}

static __always_inline void op_begin(const struct jvs_vm_call *call, struct jvs_vm_thread *thread)
{
	struct jvs_vm_operation *op = &thread->operation;

	op->start_ns = call->time_ns;
	op->stops = thread->safepoint.start_ns != 0;
	op->safepoint = op->stops ? thread->safepoint.id : 0;
	if (bpf_probe_read_user_str(op->name, sizeof(op->name), (const void *)call->first) < 0)
		op->name[0] = '\0';
}

static __always_inline void op_end(const struct jvs_vm_call *call, struct jvs_vm_thread *thread)
{
	if (!thread->operation.start_ns)
		return;
	jvs_vm_fill(&thread->operation.event, JVS_EVENT_VM_OPERATION, call);
	jvs_vm_send(&thread->operation, JVS_VM_SAFEPOINT);
	thread->operation.start_ns = 0;
	thread->operation.caller = 0;
}

static __always_inline int safepoint_begin(const struct jvs_vm_call *call,
					   struct jvs_vm_thread *thread)
{
	set_stopping(call, call->time_ns);
	thread->safepoint.start_ns = call->time_ns;
	thread->safepoint.reached_ns = 0;
	thread->safepoint.id = 0;
	return JVS_VM_RETURN;
}

static __always_inline int safepoint_end(const struct jvs_vm_call *call,
					 struct jvs_vm_thread *thread)
{
	thread->safepoint.end_ns = call->time_ns;
	return thread->safepoint.start_ns ? JVS_VM_RETURN : JVS_VM_NOTHING;
}

/* ---- threads that are slow to stop */

static __always_inline void read_variable(void *to, __u32 size, __u64 address)
{
	if (address)
		bpf_probe_read_user(to, size, (const void *)address);
}

/*
 * Whether a thread that stops now kept the others waiting: only one that ran Java code or code of
 * the VM did. One that comes back from native code or from waiting was as good as stopped: its
 * state says so up to JDK 17, later ones have no such states, but the VM has noted it.
 */
static __always_inline bool is_awaited(const struct jvs_vm_call *call,
				       const struct jvs_vm_layout *layout)
{
	__u64 noted = 0;
	__u8 is_safe = 0;
	__u32 index = call->target, state = 0;
	const struct jvs_target *t = bpf_map_lookup_elem(&jvs_targets, &index);

	if (!t || !(t->flags & JVS_TARGET_JAVA) ||
	    bpf_probe_read_user(&state, sizeof(state),
				(const void *)(call->args[0] + t->java.thread_state)))
		return false;
	if (layout->thread_safepoint) {
		read_variable(&noted, sizeof(noted), call->args[0] + layout->thread_safepoint);
		read_variable(&is_safe, sizeof(is_safe), noted + JVS_VM_SAFEPOINT_SAFE);
	}
	state &= ~1u; /* in transit from there */
	return !is_safe && (state == JVS_THREAD_STATE_IN_JAVA || state == JVS_THREAD_STATE_IN_VM);
}

static __always_inline int safepoint_block(const struct jvs_vm_call *call)
{
	const struct jvs_vm_layout *layout = jvs_vm_layout_of(call);
	volatile __u64 *stopping = stopping_of(call);
	__u64 since_ns = stopping ? *stopping : 0;

	if (!layout || !since_ns || call->time_ns < since_ns + layout->straggler_ns)
		return JVS_VM_NOTHING;
	return is_awaited(call, layout) ? JVS_VM_STACK : JVS_VM_NOTHING;
}

__attribute__((noinline)) int jvs_vm_safepoint_stack(struct jvs_vm_call *call)
{
	volatile __u64 *stopping = call ? stopping_of(call) : NULL;
	struct jvs_straggler record = {};
	const struct jvs_target *t;
	__u32 index;

	if (!stopping)
		return JVS_VM_NOTHING;
	index = call->target;
	t = bpf_map_lookup_elem(&jvs_targets, &index);
	if (t && t->java.thread_saved_pc)
		read_variable(&record.saved_pc, sizeof(record.saved_pc),
			      call->args[0] + t->java.thread_saved_pc);
	record.start_ns = *stopping;
	record.stack = call->stack;
	jvs_vm_fill(&record.event, JVS_EVENT_STRAGGLER, call);
	jvs_vm_send(&record, JVS_VM_SAFEPOINT);
	return JVS_VM_NOTHING;
}

/* ---- calls */

__attribute__((noinline)) int jvs_vm_safepoint(struct jvs_vm_call *call)
{
	struct jvs_vm_thread *thread;

	if (!call)
		return JVS_VM_NOTHING;
	if (call->site == JVS_VM_SAFEPOINT_BLOCK)
		return safepoint_block(call);
	thread = thread_of(call);
	if (!thread)
		return JVS_VM_NOTHING;
	switch (call->site) {
	case JVS_VM_SAFEPOINT_BEGIN:
		return safepoint_begin(call, thread);
	case JVS_VM_SAFEPOINT_END:
		return safepoint_end(call, thread);
	case JVS_VM_OP_EVALUATE:
		op_evaluate(call, thread);
		break;
	case JVS_VM_OP_BEGIN:
		op_begin(call, thread);
		break;
	case JVS_VM_OP_END:
		op_end(call, thread);
		break;
	}
	return JVS_VM_NOTHING;
}

/*
 * All threads have stopped. When they had, the VM notes itself, on the same clock: what it does
 * from then on, up to here, is not waiting for them.
 */
static __always_inline void safepoint_reached(const struct jvs_vm_call *call,
					      struct jvs_safepoint *safepoint)
{
	const struct jvs_vm_layout *layout = jvs_vm_layout_of(call);
	__u64 noted_ns = 0;

	safepoint->reached_ns = call->time_ns;
	safepoint->threads = 0;
	safepoint->critical = 0;
	if (!layout)
		return;
	if (layout->safepoint_id_size == 4)
		read_variable(&safepoint->id, 4, layout->safepoint_id);
	else
		read_variable(&safepoint->id, 8, layout->safepoint_id);
	read_variable(&safepoint->threads, sizeof(safepoint->threads), layout->safepoint_threads);
	read_variable(&safepoint->critical, sizeof(safepoint->critical),
		      layout->safepoint_critical);
	read_variable(&noted_ns, sizeof(noted_ns), layout->safepoint_reached);
	if (noted_ns > safepoint->start_ns && noted_ns < call->time_ns)
		safepoint->reached_ns = noted_ns;
}

__attribute__((noinline)) int jvs_vm_safepoint_return(struct jvs_vm_call *call)
{
	struct jvs_vm_thread *thread;

	if (!call)
		return JVS_VM_NOTHING;
	thread = bpf_task_storage_get(&jvs_vm_threads, bpf_get_current_task_btf(), NULL, 0);
	if (!thread || !thread->safepoint.start_ns)
		return JVS_VM_NOTHING;
	if (call->site == JVS_VM_SAFEPOINT_BEGIN) {
		set_stopping(call, 0);
		safepoint_reached(call, &thread->safepoint);
		return JVS_VM_NOTHING;
	}
	jvs_vm_fill(&thread->safepoint.event, JVS_EVENT_SAFEPOINT, call);
	jvs_vm_send(&thread->safepoint, JVS_VM_SAFEPOINT);
	thread->safepoint.start_ns = 0;
	return JVS_VM_NOTHING;
}
