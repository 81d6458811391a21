/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "vm_state.h"

/* Safepoints and what the VM thread does, at one of them or not. All of it is by the VM thread. */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

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

__attribute__((noinline)) int jvs_vm_safepoint(struct jvs_vm_call *call)
{
	struct jvs_vm_thread *thread;

	if (!call)
		return JVS_VM_NOTHING;
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

static __always_inline void read_variable(void *to, __u32 size, __u64 address)
{
	if (address)
		bpf_probe_read_user(to, size, (const void *)address);
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
		safepoint_reached(call, &thread->safepoint);
		return JVS_VM_NOTHING;
	}
	jvs_vm_fill(&thread->safepoint.event, JVS_EVENT_SAFEPOINT, call);
	jvs_vm_send(&thread->safepoint, JVS_VM_SAFEPOINT);
	thread->safepoint.start_ns = 0;
	return JVS_VM_NOTHING;
}
