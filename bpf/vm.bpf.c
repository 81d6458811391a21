/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture.h"
#include "jvs_vm.h"

#include "call_programs.h"
#include "vm_state.h"

/* The programs of what the VM does: who is it, and which place of the VM is it at. */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_vm_counts);
} jvs_vm_counts SEC(".maps");

struct jvs_vm_layouts_map jvs_vm_layouts SEC(".maps");
struct jvs_vm_threads_map jvs_vm_threads SEC(".maps");

__attribute__((noinline)) int jvs_vm_count(__u32 target, __u32 group, __u32 counter, __u64 more)
{
	struct jvs_vm_counts *counts = bpf_map_lookup_elem(&jvs_vm_counts, &target);

	/* What is compared is what is used as an index. */
	barrier_var(group);
	barrier_var(counter);
	if (counts && group < JVS_VM_GROUP_NR && counter < JVS_VM_COUNT_NR)
		__sync_fetch_and_add(&counts->values[group][counter], more);
	return 0;
}

struct caller {
	const struct jvs_target *t;
	__u64 start_ns; /* of the program */
	__u32 target;
};

static __always_inline bool find_caller(struct caller *caller)
{
	caller->start_ns = bpf_ktime_get_ns();
	caller->t = jvs_current_target(&caller->target);
	return caller->t;
}

static __always_inline __u32 site_of(struct pt_regs *ctx)
{
	return bpf_get_attach_cookie(ctx) & JVS_VM_COOKIE_SITE;
}

static __always_inline void end_program(const struct caller *caller, __u32 site, __u32 counter)
{
	__u32 group = site >> JVS_VM_SITE_BITS;

	jvs_vm_count(caller->target, group, counter, 1);
	jvs_vm_count(caller->target, group, JVS_VM_COUNT_RUN_NS,
		     bpf_ktime_get_ns() - caller->start_ns);
}

/* ---- the groups */

static __always_inline int on_call(struct jvs_vm_call *call)
{
	switch (call->site >> JVS_VM_SITE_BITS) {
	case JVS_VM_GC:
		return jvs_vm_gc(call);
	case JVS_VM_SAFEPOINT:
		return jvs_vm_safepoint(call);
	case JVS_VM_LOCK:
		return jvs_vm_lock(call);
	case JVS_VM_THREAD:
		return jvs_vm_thread(call);
	case JVS_VM_JIT:
		return jvs_vm_jit(call);
	case JVS_VM_EXCEPTION:
		return jvs_vm_exception(call);
	case JVS_VM_ALLOC:
		return jvs_vm_alloc(call);
	case JVS_VM_IO:
		return jvs_vm_io(call);
	}
	return JVS_VM_NOTHING;
}

static __always_inline int on_call_return(struct jvs_vm_call *call)
{
	switch (call->site >> JVS_VM_SITE_BITS) {
	case JVS_VM_GC:
		return jvs_vm_gc_return(call);
	case JVS_VM_SAFEPOINT:
		return jvs_vm_safepoint_return(call);
	case JVS_VM_LOCK:
		return jvs_vm_lock_return(call);
	case JVS_VM_JIT:
		return jvs_vm_jit_return(call);
	case JVS_VM_IO:
		return jvs_vm_io_return(call);
	}
	return JVS_VM_NOTHING;
}

static __always_inline int on_stack(struct jvs_vm_call *call)
{
	switch (call->site >> JVS_VM_SITE_BITS) {
	case JVS_VM_SAFEPOINT:
		return jvs_vm_safepoint_stack(call);
	case JVS_VM_LOCK:
		return jvs_vm_lock_stack(call);
	case JVS_VM_THREAD:
	case JVS_VM_JIT:
	case JVS_VM_EXCEPTION:
		return jvs_vm_runtime_stack(call);
	case JVS_VM_ALLOC:
		return jvs_vm_alloc_stack(call);
	case JVS_VM_IO:
		return jvs_vm_io_stack(call);
	}
	return JVS_VM_NOTHING;
}

static __always_inline void take_stack(struct jvs_vm_call *call, const struct jvs_target *t)
{
	const struct jvs_vm_layout *layout = jvs_vm_layout_of(call);
	__u32 group = call->site >> JVS_VM_SITE_BITS;
	enum jvs_captured how;

	if (layout && layout->no_stacks >> (group & 31) & 1) {
		call->stack = 0;
		return;
	}
	call->stack = jvs_capture_at_probe(call->target, t, &how);
	if (how == JVS_CAPTURED_NOT)
		jvs_vm_count(call->target, group, JVS_VM_COUNT_NO_STACK, 1);
	else if (how == JVS_CAPTURED_UNSENT)
		jvs_vm_count(call->target, group, JVS_VM_COUNT_STACK_FULL, 1);
	else if (how == JVS_CAPTURED_AGAIN)
		jvs_vm_count(call->target, group, JVS_VM_COUNT_RECALLED, 1);
}

/* ---- programs */

static __always_inline int on_entry(struct pt_regs *ctx, const struct caller *caller)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	struct jvs_vm_call call = { .time_ns = caller->start_ns, .target = caller->target };
	int wants;

	call.site = cookie & JVS_VM_COOKIE_SITE;
	call.sp = PT_REGS_SP(ctx);
	call.args[0] = PT_REGS_PARM1(ctx);
	call.args[1] = PT_REGS_PARM2(ctx);
	call.args[2] = PT_REGS_PARM3(ctx);
	call.args[3] = PT_REGS_PARM4(ctx);
	call.args[4] = PT_REGS_PARM5(ctx);
	call.args[5] = JVS_SIXTH_ARGUMENT(ctx);
	call.first = jvs_preserved(ctx, cookie >> JVS_VM_COOKIE_FIRST & 0xff);
	wants = on_call(&call);
	if (wants & JVS_VM_STACK) {
		take_stack(&call, caller->t);
		wants |= on_stack(&call);
	}
	end_program(caller, call.site, JVS_VM_COUNT_HITS);
	return !(wants & JVS_VM_RETURN);
}

static __always_inline void on_return(struct pt_regs *ctx, const struct caller *caller)
{
	struct jvs_vm_call call = { .time_ns = caller->start_ns,
				    .target = caller->target,
				    .args = { PT_REGS_RC(ctx) },
				    .sp = PT_REGS_SP(ctx) - JVS_RETURN_SLOT,
				    .site = site_of(ctx) };

	if (on_call_return(&call) & JVS_VM_STACK) {
		take_stack(&call, caller->t);
		on_stack(&call);
	}
	end_program(caller, call.site, JVS_VM_COUNT_RETURNS);
}

JVS_CALL_PROGRAMS(vm)
