/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jvs_runtime.h"
#include "object.h"
#include "vm_state.h"

/* Threads, compilations, deoptimizations, exceptions: what is a record each. */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_runtime_control);
} jvs_runtime_controls SEC(".maps");

/* What a compiler thread compiles. */
struct jvs_runtime_thread {
	struct jvs_compilation compilation;
	__u64 sp;   /* at the entry; 0: nothing */
	__u64 task; /* CompileTask*; it lives until after the return */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct jvs_runtime_thread);
} jvs_runtime_threads SEC(".maps");

static __always_inline const struct jvs_runtime_control *control_of(const struct jvs_vm_call *call)
{
	__u32 target = call->target;

	return bpf_map_lookup_elem(&jvs_runtime_controls, &target);
}

/* ---- threads */

static __always_inline void send_thread(const struct jvs_vm_call *call)
{
	struct jvs_thread_event record = { .thread = call->args[0],
					   .stack = call->stack,
					   .site = call->site };

	jvs_vm_fill(&record.event, JVS_EVENT_THREAD, call);
	bpf_get_current_comm(record.comm, sizeof(record.comm));
	jvs_vm_send(&record, JVS_VM_THREAD);
}

__attribute__((noinline)) int jvs_vm_thread(struct jvs_vm_call *call)
{
	if (!call)
		return JVS_VM_NOTHING;
	if (call->site == JVS_VM_THREAD_STARTS)
		return JVS_VM_STACK;
	send_thread(call);
	return JVS_VM_NOTHING;
}

/* ---- compilations */

static __always_inline __u32 u32_at(__u64 at)
{
	__u32 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (const void *)at);
	return value;
}

static __always_inline int begin_compilation(const struct jvs_vm_call *call)
{
	const struct jvs_runtime_control *control = control_of(call);
	struct jvs_runtime_thread *thread;
	__u64 task = call->args[0];

	if (!control || !control->ready) {
		jvs_vm_count(call->target, JVS_VM_JIT, JVS_VM_COUNT_NO_LAYOUT, 1);
		return JVS_VM_NOTHING;
	}
	thread = bpf_task_storage_get(&jvs_runtime_threads, bpf_get_current_task_btf(), NULL,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		jvs_vm_count(call->target, JVS_VM_JIT, JVS_VM_COUNT_NO_STATE, 1);
		return JVS_VM_NOTHING;
	}
	/* One compiler thread compiles one method at a time. */
	if (thread->sp)
		jvs_vm_count(call->target, JVS_VM_JIT, JVS_VM_COUNT_NO_RETURN, 1);
	thread->sp = call->sp;
	thread->task = task;
	thread->compilation.start_ns = call->time_ns;
	thread->compilation.method = jvs_word_at(task + control->task_method);
	thread->compilation.const_method =
		jvs_word_at(thread->compilation.method + control->method_const);
	thread->compilation.compile_id = u32_at(task + control->task_id);
	thread->compilation.level = u32_at(task + control->task_level);
	thread->compilation.osr_bci = u32_at(task + control->task_osr_bci);
	return JVS_VM_RETURN;
}

__attribute__((noinline)) int jvs_vm_jit(struct jvs_vm_call *call)
{
	if (!call)
		return JVS_VM_NOTHING;
	return call->site == JVS_VM_COMPILE ? begin_compilation(call) : JVS_VM_STACK;
}

/*
 * As the JVM's recordings have it: code, and what is known of it, without its references. To JDK 19
 * the task has the nmethod, later only its size.
 */
static __always_inline __u32 code_bytes(const struct jvs_runtime_control *control, __u64 task)
{
	__u64 nmethod;

	if (control->task_code_size)
		return u32_at(task + control->task_code_size);
	nmethod = control->task_code ? jvs_word_at(jvs_word_at(task + control->task_code)) : 0;
	if (!nmethod)
		return 0;
	return u32_at(nmethod + control->nmethod_oops) - u32_at(nmethod + control->nmethod_consts) +
	       u32_at(nmethod + control->nmethod_dependencies) -
	       (__u32)(jvs_word_at(nmethod + control->nmethod_scopes) - nmethod) +
	       u32_at(nmethod + control->nmethod_end) - u32_at(nmethod + control->nmethod_handlers);
}

static __always_inline __u32 succeeded(const struct jvs_runtime_control *control, __u64 task)
{
	__u8 value = 0xff;

	if (control->task_succeeded)
		bpf_probe_read_user(&value, sizeof(value),
				    (const void *)(task + control->task_succeeded));
	return value;
}

__attribute__((noinline)) int jvs_vm_jit_return(struct jvs_vm_call *call)
{
	const struct jvs_runtime_control *control;
	struct jvs_runtime_thread *thread;

	thread = bpf_task_storage_get(&jvs_runtime_threads, bpf_get_current_task_btf(), NULL, 0);
	if (!call || !thread || !thread->sp || thread->sp != call->sp)
		return JVS_VM_NOTHING;
	thread->sp = 0;
	control = control_of(call);
	if (!control || !control->ready)
		return JVS_VM_NOTHING;
	thread->compilation.inlined_bytes = u32_at(thread->task + control->task_inlined);
	thread->compilation.code_bytes = code_bytes(control, thread->task);
	thread->compilation.succeeded = succeeded(control, thread->task);
	jvs_vm_fill(&thread->compilation.event, JVS_EVENT_COMPILATION, call);
	jvs_vm_send(&thread->compilation, JVS_VM_JIT);
	return JVS_VM_NOTHING;
}

/* ---- exceptions */

__attribute__((noinline)) int jvs_vm_exception(struct jvs_vm_call *call)
{
	return call ? JVS_VM_STACK : JVS_VM_NOTHING;
}

/* ---- those with a stack */

/* A handle's low bits say of which kind it is. */
#define HANDLE_BITS 3ull

static __always_inline void send_exception(const struct jvs_vm_call *call)
{
	const struct jvs_runtime_control *control = control_of(call);
	struct jvs_exception record = { .stack = call->stack };
	__u64 object;

	if (control) {
		/* Of handles of a thread the address is as it is, also with ZGC. */
		object = jvs_word_at(call->args[1] & ~HANDLE_BITS);
		record.klass = jvs_object_klass(&control->objects, object);
	}
	jvs_vm_fill(&record.event, JVS_EVENT_EXCEPTION, call);
	jvs_vm_send(&record, JVS_VM_EXCEPTION);
}

static __always_inline void send_trap(const struct jvs_vm_call *call)
{
	struct jvs_trap record = { .stack = call->stack, .request = (__s32)call->args[1] };

	jvs_vm_fill(&record.event, JVS_EVENT_TRAP, call);
	jvs_vm_send(&record, JVS_VM_JIT);
}

__attribute__((noinline)) int jvs_vm_runtime_stack(struct jvs_vm_call *call)
{
	if (!call)
		return JVS_VM_NOTHING;
	switch (call->site) {
	case JVS_VM_THREAD_STARTS:
		send_thread(call);
		break;
	case JVS_VM_TRAP:
		send_trap(call);
		break;
	case JVS_VM_EXCEPTION_FILL:
		send_exception(call);
		break;
	}
	return JVS_VM_NOTHING;
}
