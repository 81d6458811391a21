/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_VM_STATE_H
#define JVS_VM_STATE_H

#include "capture.h"
#include "jvs_vm.h"

/* What the files of the group "vm" share: vm.bpf.c has the programs and the maps. */

struct jvs_vm_layouts_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_vm_layout);
};

/* What a thread is doing; its first use is zeroed. */
struct jvs_vm_thread {
	struct jvs_safepoint safepoint;	   /* start_ns 0: none */
	struct jvs_vm_operation operation; /* start_ns 0: none */
	__u64 epoch;			   /* both began in */
	__u32 next_gc_id;		   /* behind the number it took last; 0: it has been used */
};

struct jvs_vm_threads_map {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct jvs_vm_thread);
};

extern struct jvs_vm_layouts_map jvs_vm_layouts SEC(".maps");
extern struct jvs_vm_threads_map jvs_vm_threads SEC(".maps");

/* A call, or a return, as its probe saw it. */
struct jvs_vm_call {
	__u64 time_ns;
	__u64 args[6]; /* of a return: its result, and nothing else */
	__u64 first;   /* of a USDT probe: its first argument */
	__u64 sp;      /* at the entry, also of a return */
	__u64 stack;   /* hash, when it was asked for; 0: it could not be taken */
	__u32 target;
	__u32 site; /* enum jvs_vm_site */
};

/* What a handler asks for, or-ed. */
#define JVS_VM_NOTHING 0
#define JVS_VM_RETURN  1 /* that the return of the call is seen */
#define JVS_VM_STACK   2 /* the thread's stack: the group's _stack() is called with it */

/* Adds to a counter of a group of a target. */
int jvs_vm_count(__u32 target, __u32 group, __u32 counter, __u64 more);

/*
 * The handlers of the groups: of a call, of the return of one, and when the stack is there that one
 * of both asked for. Those of calls return what they ask for, those of returns may ask for the
 * stack, those with the stack for the return.
 */
int jvs_vm_gc(struct jvs_vm_call *call);
int jvs_vm_gc_return(struct jvs_vm_call *call);
int jvs_vm_safepoint(struct jvs_vm_call *call);
int jvs_vm_safepoint_return(struct jvs_vm_call *call);
int jvs_vm_safepoint_stack(struct jvs_vm_call *call);
int jvs_vm_lock(struct jvs_vm_call *call);
int jvs_vm_lock_return(struct jvs_vm_call *call);
int jvs_vm_lock_stack(struct jvs_vm_call *call);
int jvs_vm_thread(struct jvs_vm_call *call);
int jvs_vm_jit(struct jvs_vm_call *call);
int jvs_vm_jit_return(struct jvs_vm_call *call);
int jvs_vm_exception(struct jvs_vm_call *call);
int jvs_vm_runtime_stack(struct jvs_vm_call *call); /* of all three */
int jvs_vm_alloc(struct jvs_vm_call *call);
int jvs_vm_alloc_stack(struct jvs_vm_call *call);
int jvs_vm_io(struct jvs_vm_call *call);
int jvs_vm_io_return(struct jvs_vm_call *call);
int jvs_vm_io_stack(struct jvs_vm_call *call);

static __always_inline void jvs_vm_fill(struct jvs_event *event, __u32 kind,
					const struct jvs_vm_call *call)
{
	jvs_fill_event(event, kind, call->target);
	event->time_ns = call->time_ns;
}

/* What userspace says of the target. The key is copied: 6.1 takes one from the stack alone. */
static __always_inline const struct jvs_vm_layout *jvs_vm_layout_of(const struct jvs_vm_call *call)
{
	__u32 target = call->target;

	return bpf_map_lookup_elem(&jvs_vm_layouts, &target);
}

/* A macro, since the size must be known. */
#define jvs_vm_send(record, group)                                                                \
	do {                                                                                      \
		if (bpf_ringbuf_output(&jvs_events, record, sizeof(*(record)), jvs_wake_flags())) \
			jvs_vm_count((record)->event.target, group, JVS_VM_COUNT_LOST, 1);        \
	} while (0)

#endif
