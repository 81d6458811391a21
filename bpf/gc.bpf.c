/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "vm_state.h"

/*
 * Collections: what the VM's GCTracer knows of each. Its events are for the VM's own recording,
 * which need not run: the facts are gathered in any case.
 */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline void unread(const struct jvs_vm_call *call)
{
	jvs_vm_count(call->target, JVS_VM_GC, JVS_VM_COUNT_UNREAD, 1);
}

static __always_inline __u32 next_gc_id(const struct jvs_vm_call *call)
{
	const struct jvs_vm_layout *layout = jvs_vm_layout_of(call);
	__u32 next = 0;

	if (layout && layout->next_gc_id)
		bpf_probe_read_user(&next, sizeof(next), (const void *)layout->next_gc_id);
	return next;
}

/* The thread took its number some instructions ago. */
__attribute__((noinline)) int jvs_vm_gc_return(struct jvs_vm_call *call)
{
	struct jvs_vm_thread *thread;

	if (!call)
		return JVS_VM_NOTHING;
	thread = bpf_task_storage_get(&jvs_vm_threads, bpf_get_current_task_btf(), NULL,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (thread)
		thread->next_gc_id = next_gc_id(call);
	return JVS_VM_NOTHING;
}

static __always_inline void gc_start(const struct jvs_vm_call *call)
{
	struct jvs_gc_start record = { .tracer = call->args[0], .cause = call->args[1] };
	struct jvs_vm_thread *thread;

	jvs_vm_fill(&record.event, JVS_EVENT_GC_START, call);
	thread = bpf_task_storage_get(&jvs_vm_threads, bpf_get_current_task_btf(), NULL, 0);
	if (thread) {
		record.next_id = thread->next_gc_id;
		thread->next_gc_id = 0;
	}
	if (!record.next_id)
		record.next_id = next_gc_id(call);
	jvs_vm_send(&record, JVS_VM_GC);
}

static __always_inline void gc_summary(const struct jvs_vm_call *call, __u32 kind)
{
	struct jvs_gc_summary record = { .tracer = call->args[0], .after = call->args[1] & 1 };

	jvs_vm_fill(&record.event, kind, call);
	if (bpf_probe_read_user(record.words, sizeof(record.words), (const void *)call->args[2])) {
		unread(call);
		return;
	}
	jvs_vm_send(&record, JVS_VM_GC);
}

/* Sends one phase. Returns 1 when it cannot be read. */
static __attribute__((noinline)) int gc_phase(struct jvs_gc_phase *record, __u64 at,
					      const struct jvs_vm_layout *layout)
{
	__u64 name = 0;
	__u32 type = 0;

	if (!record || !layout)
		return 1;
	if (bpf_probe_read_user(&name, sizeof(name), (const void *)at) ||
	    bpf_probe_read_user(&record->level, 4, (const void *)(at + layout->phase_level)) ||
	    bpf_probe_read_user(&record->start, 8, (const void *)(at + layout->phase_start)) ||
	    bpf_probe_read_user(&record->end, 8, (const void *)(at + layout->phase_end)) ||
	    bpf_probe_read_user(&type, 4, (const void *)(at + layout->phase_type)) ||
	    bpf_probe_read_user_str(record->name, sizeof(record->name), (const void *)name) < 0)
		return 1;
	record->concurrent = type;
	jvs_vm_send(record, JVS_VM_GC);
	return 0;
}

static __always_inline void gc_phases(const struct jvs_vm_call *call)
{
	const struct jvs_vm_layout *layout = jvs_vm_layout_of(call);
	struct jvs_gc_phase record = { .tracer = call->args[0] };
	__u64 array = 0, data = 0;
	__u32 count = 0;

	if (!layout || !layout->phase_size)
		return;
	jvs_vm_fill(&record.event, JVS_EVENT_GC_PHASE, call);
	if (bpf_probe_read_user(&array, 8, (const void *)(call->args[1] + layout->phases)) ||
	    bpf_probe_read_user(&count, 4, (const void *)array) ||
	    bpf_probe_read_user(&data, 8, (const void *)(array + layout->phases_data))) {
		unread(call);
		return;
	}
	if (count > JVS_GC_PHASES)
		jvs_vm_count(call->target, JVS_VM_GC, JVS_VM_COUNT_CUT, count - JVS_GC_PHASES);
	for (__u32 i = 0; i < JVS_GC_PHASES; i++) {
		if (i >= count)
			break;
		if (gc_phase(&record, data + (__u64)i * layout->phase_size, layout))
			unread(call);
	}
}

/* The tracer's own words, behind its vtable; each time is a pair, the first in nanoseconds. */
struct gc_info {
	__u64 vtable;
	__u32 name;
	__u32 cause;
	__u64 start[2];
	__u64 end[2];
	__u64 sum_of_pauses[2];
	__u64 longest_pause[2];
};

static __always_inline void gc_end(const struct jvs_vm_call *call)
{
	struct jvs_gc_end record = { .tracer = call->args[0] };
	struct gc_info info;

	jvs_vm_fill(&record.event, JVS_EVENT_GC_END, call);
	if (bpf_probe_read_user(&info, sizeof(info), (const void *)call->args[0])) {
		unread(call);
		return;
	}
	record.name = info.name;
	record.cause = info.cause;
	record.start = info.start[0];
	record.end = info.end[0];
	record.sum_of_pauses = info.sum_of_pauses[0];
	record.longest_pause = info.longest_pause[0];
	jvs_vm_send(&record, JVS_VM_GC);
}

__attribute__((noinline)) int jvs_vm_gc(struct jvs_vm_call *call)
{
	if (!call)
		return JVS_VM_NOTHING;
	switch (call->site) {
	case JVS_VM_GC_NUMBER:
		return JVS_VM_RETURN;
	case JVS_VM_GC_START:
		gc_start(call);
		break;
	case JVS_VM_GC_HEAP:
		gc_summary(call, JVS_EVENT_GC_HEAP);
		break;
	case JVS_VM_GC_METASPACE:
		gc_summary(call, JVS_EVENT_GC_METASPACE);
		break;
	case JVS_VM_GC_PHASES:
		gc_phases(call);
		break;
	case JVS_VM_GC_END:
		gc_end(call);
		break;
	}
	return JVS_VM_NOTHING;
}
