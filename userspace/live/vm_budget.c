/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "base/log.h"
#include "live/process.h"
#include "live/vm_impl.h"
#include "model/recording.h"
#include "target/target.h"

/*
 * Keeps the cost of what is probed in the VM within the budget, by live/governor.h: a group is
 * attached all the time, or in slices, or not.
 */

static const enum rec_probe_group probe_groups[JVS_VM_GROUP_NR] = {
	[JVS_VM_GC] = REC_PROBES_GC,	   [JVS_VM_SAFEPOINT] = REC_PROBES_SAFEPOINT,
	[JVS_VM_LOCK] = REC_PROBES_LOCK,   [JVS_VM_THREAD] = REC_PROBES_THREAD,
	[JVS_VM_JIT] = REC_PROBES_JIT,	   [JVS_VM_EXCEPTION] = REC_PROBES_EXCEPTION,
	[JVS_VM_ALLOC] = REC_PROBES_ALLOC, [JVS_VM_IO] = REC_PROBES_IO,
};

void vm_counts(const struct vm *vm, uint32_t target, struct jvs_vm_counts *out)
{
	int cpus = libbpf_num_possible_cpus();
	struct jvs_vm_counts *each = cpus > 0 ? calloc((size_t)cpus, sizeof(*each)) : NULL;

	*out = (struct jvs_vm_counts){ 0 };
	if (each && !bpf_map_lookup_elem(vm->counts_fd, &target, each))
		for (int cpu = 0; cpu < cpus; cpu++)
			for (int group = 0; group < JVS_VM_GROUP_NR; group++)
				for (int i = 0; i < JVS_VM_COUNT_NR; i++)
					out->values[group][i] += each[cpu].values[group][i];
	free(each);
}

static struct governor_input input_of(const struct vm *vm, const struct jvs_vm_counts *counts,
				      int group)
{
	const __u64 *values = counts->values[group];
	double traps = (double)values[JVS_VM_COUNT_HITS] +
		       BUDGET_RETURN_SHARE * (double)values[JVS_VM_COUNT_RETURNS];

	return (struct governor_input){ .cost_ns = (uint64_t)(traps * vm->trap_ns) +
						   values[JVS_VM_COUNT_RUN_NS],
					.hits = values[JVS_VM_COUNT_HITS],
					.trap_ns = vm->trap_ns };
}

/* The thread that is in a call now will not be seen to return from it. */
static void begin_epoch(struct vm *vm, const struct process *p)
{
	struct vm_target *t = &vm->targets[p->index];

	t->layout.epoch++;
	bpf_map_update_elem(vm->layouts_fd, &p->index, &t->layout, BPF_ANY);
	t->lock.epoch = t->layout.epoch;
	bpf_map_update_elem(vm->locks_fd, &p->index, &t->lock, BPF_ANY);
}

/* In all states but exact there are no stacks. */
static void want_stacks(struct vm *vm, const struct process *p, int group)
{
	struct vm_target *t = &vm->targets[p->index];
	bool none = t->budgets[group].governor.state != REC_NATIVE_EXACT;
	uint32_t bit = 1u << group;

	/* Allocation is told less often instead. */
	if (group == JVS_VM_ALLOC || none == !!(t->layout.no_stacks & bit))
		return;
	t->layout.no_stacks ^= bit;
	bpf_map_update_elem(vm->layouts_fd, &p->index, &t->layout, BPF_ANY);
}

void vm_begin_budget(struct vm *vm, const struct process *p, enum jvs_vm_group group)
{
	struct jvs_vm_counts counts;
	struct governor_input input;

	vm_counts(vm, p->index, &counts);
	input = input_of(vm, &counts, group);
	budget_begin(&vm->targets[p->index].budgets[group], vm->max_overhead, p, &input);
}

static void keep_budget(struct vm *vm, const struct decoder *d, struct process *p,
			struct recording *rec, int group)
{
	struct probe_budget *budget = &vm->targets[p->index].budgets[group];
	const struct rec_budget_event event = { .group = probe_groups[group],
						.to = budget->governor.state,
						.reason = budget->governor.reason };

	if (event.to == budget->state)
		return;
	log_info("pid %d: probes of %s are %s now, they were %s (they cost %.2f %% of a core)",
		 p->target->pid, rec_probe_group_name(event.group), rec_native_state_name(event.to),
		 rec_native_state_name(budget->state), governor_cost_pct(&budget->governor));
	budget_change(budget, d, p, rec, &event);
	if (group == JVS_VM_ALLOC)
		vm_heap_state(vm, p, event.to);
}

static void want_attached(struct vm *vm, const struct process *p, int group, bool attached)
{
	struct probe_set *sets;
	size_t count = vm_sets(&vm->targets[p->index], group, &sets);

	if (count && sets[0].attached != attached)
		begin_epoch(vm, p);
	for (size_t i = 0; i < count; i++)
		probes_want(&sets[i], attached);
}

void vm_keep_budgets(struct vm *vm, const struct decoder *d, struct process *p,
		     struct recording *rec)
{
	struct vm_target *t = &vm->targets[p->index];
	struct jvs_vm_counts counts;
	uint64_t cost_ns = 0;

	if (!t->tried)
		return;
	vm_counts(vm, p->index, &counts);
	for (int group = 0; group < JVS_VM_GROUP_NR; group++) {
		struct governor_input input = input_of(vm, &counts, group);

		if (!t->budgets[group].begun)
			continue;
		/* The budget is one: what other groups use of it is not there for this. */
		cost_ns += budget_look(&t->budgets[group], p, &input, p->class_cost_ns + cost_ns);
		keep_budget(vm, d, p, rec, group);
		want_stacks(vm, p, group);
		want_attached(vm, p, group, t->budgets[group].governor.attached);
	}
	p->vm_cost_ns = cost_ns;
}

void vm_tell_budgets(const struct vm *vm, const struct decoder *d, const struct process *p,
		     struct recording *rec)
{
	for (int group = 0; group < JVS_VM_GROUP_NR; group++)
		budget_tell(&vm->targets[p->index].budgets[group], probe_groups[group], d, p, rec);
}
