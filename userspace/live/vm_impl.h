/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LIVE_VM_IMPL_H
#define JVMSCOPE_LIVE_VM_IMPL_H

#include "bpf/jvs_io.h"
#include "live/vm.h"

/* Inside of vm*.c. */

#define VM_GROUP "vm" /* of programs */

/* The sets of a group's probes; returns how many, which may be none. */
size_t vm_sets(struct vm_target *t, int group, struct probe_set **sets);

/* The budget of each group that is attached. */
void vm_begin_budget(struct vm *vm, const struct process *p, enum jvs_vm_group group);
void vm_keep_budgets(struct vm *vm, const struct decoder *d, struct process *p,
		     struct recording *rec);
void vm_tell_budgets(const struct vm *vm, const struct decoder *d, const struct process *p,
		     struct recording *rec);

/* All counters of a target, summed over all CPUs. */
void vm_counts(const struct vm *vm, uint32_t target, struct jvs_vm_counts *out);

/* vm_gc.c: what a record of a collection tells. */
void vm_take_gc(struct vm_target *t, const struct decoder *d, struct process *p,
		struct recording *rec, const struct jvs_event *event);

/* vm_stragglers.c: threads that were slow to stop. */
#define VM_STRAGGLER_NS 10000000 /* who takes less is not told, as other waits */
/* Lets the kernel know where the VM notes who is stopped, as soon as that is found. */
void vm_find_safepoint_states(struct vm *vm, const struct process *p);
void vm_take_straggler(struct vm_target *t, struct decoder *d, struct process *p,
		       struct recording *rec, const struct jvs_straggler *record);
/* Those of the safepoint of this record, whose row is safepoint. */
void vm_tell_stragglers(const struct vm_target *t, const struct process *p, struct recording *rec,
			const struct jvs_safepoint *record, uint32_t safepoint);

/* vm_lock.c: where a monitor has its object. */
void vm_find_monitor_object(struct vm_target *t, struct image *image);
/* Lets the kernel know which waits are long ones. Before its probes are attached. */
void vm_show_locks(struct vm *vm, const struct process *p);
/* And how objects look, as soon as they do. */
void vm_show_objects(struct vm *vm, const struct process *p);
void vm_take_lock(struct vm_target *t, struct decoder *d, struct process *p, struct recording *rec,
		  const struct jvs_lock_event *event);
/* What was shorter than the threshold, so far. */
void vm_tell_locks(struct vm *vm, const struct process *p, struct recording *rec);
/* Of one class, of which the kernel has counted so much. */
void vm_tell_lock(struct vm_target *t, const struct process *p, struct recording *rec,
		  const struct jvs_lock_key *key, const struct jvs_lock_sum *sum);
/* The place is given to another. */
void vm_drop_locks(const struct vm *vm, uint32_t target);
/*
 * vm_alloc.c: allocation in the Java heap. Opened before its probes are attached, closed at the
 * end, or forgotten with what the kernel has of it.
 */
int vm_heap_open(const struct vm *vm, struct vm_target *t, const struct process *p);
void vm_heap_close(struct vm_target *t);
void vm_heap_forget(struct vm *vm, const struct process *p);
void vm_heap_state(const struct vm *vm, const struct process *p, enum rec_native_state state);
void vm_heap_tick(const struct vm *vm, const struct process *p, struct recording *rec);
void vm_take_heap(struct vm_target *t, struct decoder *d, struct process *p, struct recording *rec,
		  const struct jvs_event *event);
/* The sums. end_ns: since the epoch, when they are the last ones; else 0. */
void vm_heap_finish(struct vm *vm, const struct process *p, struct recording *rec, int64_t end_ns);

/* vm_runtime.c: where names of reasons and actions are. */
void vm_find_trap_names(struct vm_target *t, struct image *image, uint64_t bias);
/* Where compilations have what they are of; of objects once that is known. */
void vm_show_runtime(struct vm *vm, const struct process *p);
void vm_take_runtime(struct vm_target *t, struct decoder *d, struct process *p,
		     struct recording *rec, const struct jvs_event *event);

/*
 * vm_io.c: reads and writes of sockets and files. libjvm: the path of that file; show: what objects
 * look like, as soon as it is known.
 */
void vm_io_attach(struct vm *vm, const struct process *p, const struct maps *maps,
		  const char *libjvm);
void vm_io_show(const struct vm *vm, const struct process *p);
void vm_io_free(struct vm_io *io);
/* vm_io_rows.c */
void vm_take_io(struct vm_target *t, struct decoder *d, struct process *p, struct recording *rec,
		const struct jvs_io_event *event);
void vm_tell_io(const struct vm *vm, struct decoder *d, const struct process *p,
		struct recording *rec);
void vm_drop_io(const struct vm *vm, uint32_t target);

/* vm_names.c: the JVM's own numbers, by its feature release; "" for one that is not known. */
const char *vm_gc_name(int major, uint32_t number);
const char *vm_gc_cause(int major, uint32_t number);
/* A VM operation as the JVM's own recordings name it; some show themselves by another name. */
const char *vm_operation_name(const char *name);

#endif
