/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LIVE_VM_H
#define JVMSCOPE_LIVE_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/jvs_heap.h"
#include "bpf/jvs_lock.h"
#include "bpf/jvs_runtime.h"
#include "bpf/jvs_vm.h"
#include "live/budget.h"
#include "live/klasses.h"
#include "live/probes.h"
#include "model/gc.h"
#include "model/table.h"

struct bpf_object;
struct live_status;
struct decoder;
struct image;
struct mapping;
struct maps;
struct process;
struct recording;
struct vm_heap;
struct vm_io;

/*
 * What the VM does by itself: attaches bpf/vm.bpf.c to the targets' libjvm, and turns its records
 * into rows of model/gc.h. Each group of places is attached, and has a budget, on its own.
 */

/* A collection that has begun, by the tracer that follows it; the last one of each tracer. */
struct vm_collection {
	uint64_t tracer; /* 0: free */
	uint32_t order;	 /* in which they began */
	uint32_t id;	 /* it has ended: its row, which may still be told sizes. 0: it runs */
	struct rec_collection row;
	struct rec_gc_phase phases[JVS_GC_PHASES];
	uint32_t phase_count;
};
#define VM_COLLECTIONS 4 /* at once; one that has ended gives way, else the oldest */

/* Threads that were told to start, and have not yet run: the newest. */
#define VM_STARTING 64
struct vm_start {
	uint64_t thread; /* Thread*; 0: free */
	uint32_t parent, stack;
};
struct vm_starting {
	struct vm_start items[VM_STARTING];
	uint32_t next;
};

/*
 * What a group lost here, beside what the kernel counts (JVS_VM_COUNTER_LIST).
 * X(NAME, group, "name in outputs")
 */
#define VM_LOSS_LIST(X)                                                                           \
	X(PUSHED_OUT, GC, "gc_pushed_out") /* of VM_COLLECTIONS: number, sizes and phases */      \
	X(PARENTS, THREAD, "thread_parents_pushed_out")		    /* of VM_STARTING */          \
	X(STRAGGLERS, SAFEPOINT, "safepoint_stragglers_pushed_out") /* of VM_STOPPED */           \
	X(UNLISTED, ALLOC, "alloc_classes_full")  /* records of one class more than fit */        \
	X(UNTOTALLED, ALLOC, "alloc_totals_full") /* classes without sums, for the same reason */ \
	X(UNNAMED, ALLOC, "alloc_names_late")	  /* records: too many waited for the name */

enum vm_loss {
#define X(name, group, text) VM_LOSS_##name,
	VM_LOSS_LIST(X)
#undef X
		VM_LOSS_NR,
};

/* How objects look is asked for until it is known, less and less often, or until it cannot be. */
struct vm_objects {
	bool known, given_up;
	uint32_t ticks;	  /* until it is asked again */
	uint32_t waiting; /* ticks, the last time */
};
#define VM_OBJECTS_WAIT_MAX 64 /* 6.4 s */

/* A thread that stopped late: the last ones, of the safepoint that began at start_ns. */
struct vm_stopped {
	uint64_t start_ns; /* CLOCK_MONOTONIC, as time_ns; 0: free */
	uint64_t time_ns;
	uint32_t thread, stack;
};
#define VM_STOPPED 32

/* A CPU sample of a thread that ran Java code or code of the VM: the last ones. */
struct vm_running {
	uint64_t time_ns; /* CLOCK_MONOTONIC; 0: free */
	uint32_t thread, stack;
};
#define VM_RUNNING 256

struct vm_target {
	struct probe_set sets[JVS_VM_GROUP_NR];
	struct probe_budget budgets[JVS_VM_GROUP_NR];
	bool tried; /* to attach: it is done once a program */
	struct vm_collection collections[VM_COLLECTIONS];
	uint32_t next_collection;
	uint32_t newest_gc_id; /* that began; */
	uint64_t begun_gc_ids; /* bit n: the one n before it did so, too. 0: none was seen */
	bool clock_known;
	int64_t clock_ns;	/* CLOCK_MONOTONIC when the JVM's elapsed counter was 0 */
	uint64_t clock_address; /* in the target; 0: not known */
	struct jvs_vm_layout layout;
	struct klasses klasses;
	struct vm_starting starting;
	struct vm_stopped stopped[VM_STOPPED];
	struct vm_running running[VM_RUNNING];
	uint32_t next_stopped, next_running;
	uint32_t state_tries; /* to find where threads note that they are stopped */
	struct vm_objects objects;
	uint32_t monitor_object; /* ObjectMonitor::_object */
	struct jvs_lock_control lock;
	struct table lock_sums; /* of struct vm_lock_sum */
	struct jvs_runtime_control runtime;
	bool runtime_shown;
	uint64_t trap_names[2]; /* in the target: of reasons, of actions; 0: not known */
	uint32_t trap_name_counts[2];
	uint64_t losses[VM_LOSS_NR];
	struct vm_heap *heap;		   /* owned; NULL: allocation is not looked at */
	struct vm_io *io;		   /* owned; NULL: nor are reads and writes */
	struct rec_vm_operation operation; /* the first at the safepoint that lasts; name 0: none */
	struct jvs_vm_counts before;	   /* what the kernel counted for others in this place */
};

struct vm {
	struct bpf_object *object; /* borrowed */
	enum probe_links links;
	unsigned int groups; /* bits: what is wanted */
	double max_overhead; /* per cent of a core; 0: no limit */
	double trap_ns;	     /* what a hit costs beside its program */
	int counts_fd;
	int layouts_fd;
	int locks_fd;
	int lock_sums_fd;
	int runtime_fd;
	int heap_controls_fd;
	int heap_classes_fd;
	int io_fd;
	int io_sums_fd;
	bool goes_on;	      /* what is told by vm_finish() is not the last */
	uint64_t collections; /* that have ended, of all targets */
	uint64_t paused_ns;   /* by them */
	struct vm_target targets[JVS_MAX_TARGETS];
};

/*
 * Before the object is loaded: which programs and maps are wanted. events: enum live_event, or-ed.
 * Returns 0 or a negative errno.
 */
int vm_choose(struct bpf_object *object, unsigned int events);

/* After it: *out is to be closed. */
int vm_open(struct bpf_object *object, unsigned int events, double max_overhead, struct vm **out);
void vm_close(struct vm *vm);

/* What of a group of places a libjvm has. */
struct vm_places {
	const char *event; /* of -e */
	const char *what;  /* is recorded by it */
	size_t count;	   /* of its places */
	size_t missing;
	const char *lost[16];  /* [missing]: what is not known without each, */
	const char *names[16]; /* and its name as newer JDKs have it */
};

/* Writes what each group finds in libjvm. Nothing is logged. */
void vm_places(struct image *image, struct vm_places out[JVS_VM_GROUP_NR]);

/* From now on nothing is probed any more: the links go to those that are given up. */
void vm_give_up(struct vm *vm, struct probes_leaving *leaving);

/*
 * Attaches to a target's libjvm, and to the libraries beside it, once a program. What it does not
 * have is said in one line for each group; the recording goes on without. mapping is one of maps.
 */
void vm_attach(struct vm *vm, const struct process *p, const struct maps *maps, struct image *image,
	       const struct mapping *mapping);
bool vm_attached(const struct vm *vm, const struct process *p);

/* What needs doing ten times a second: the budgets are looked at. */
void vm_tick(struct vm *vm, const struct decoder *d, struct process *p, struct recording *rec);

/* The counters so far. */
void vm_finish(struct vm *vm, struct decoder *d, const struct process *p, struct recording *rec);

/* How many collections there were, where they are recorded. */
void vm_status(const struct vm *vm, struct live_status *status);

/* The target runs another program, or its place is given to another. */
void vm_forget(struct vm *vm, const struct process *p);

/* A CPU sample of a thread in Java code or code of the VM: it had not stopped for a safepoint. */
void vm_see_running(struct vm_target *t, const struct vm_running *running);

/* A record of the ring. */
void vm_decode(struct decoder *d, struct recording *rec, const void *data, size_t size);

#endif
