/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "vm_state.h"

#include "jvs_heap.h"

/* Allocation in the Java heap: see jvs_heap.h. */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_heap_control);
} jvs_heap_controls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, JVS_HEAP_CLASSES);
	__type(key, struct jvs_heap_class_key);
	__type(value, struct jvs_heap_class);
} jvs_heap_classes SEC(".maps");

/* A thread of the VM, as it was at its last hit. */
struct heap_thread {
	__u64 java_thread; /* JavaThread*: a thread may leave the VM and be another one next */
	__u64 allocated;   /* by it, as the VM counts: in buffers that are full, and outside */
	__u64 outside;	   /* of which outside since its last buffer began */
	__u64 tlab;	   /* the size of that */
	__u64 counted;	   /* allocated is by the VM */
	__u64 klass;	   /* of the object that began its buffer */
	__u64 symbol;
	__u64 stack;
	struct jvs_heap_allocation record;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct heap_thread);
} jvs_heap_threads SEC(".maps");

static __always_inline void count(const struct jvs_vm_call *call, __u32 counter)
{
	jvs_vm_count(call->target, JVS_VM_ALLOC, counter, 1);
}

/* ---- what a hit stands for */

/* What the thread had allocated before; 0 when it cannot be read. */
static __always_inline __u64 allocated_by(const struct jvs_heap_control *control, __u64 java_thread)
{
	__u64 allocated = 0;

	if (control->thread_allocated)
		bpf_probe_read_user(&allocated, sizeof(allocated),
				    (const void *)(java_thread + control->thread_allocated));
	return allocated;
}

/*
 * Of a thread that was not seen before, what was allocated before we looked is nothing of ours: it
 * may be as much as fits a buffer. One that has only just begun has its first object.
 */
static __always_inline __u64 first_bytes(struct heap_thread *thread, __u64 size)
{
	if (thread->allocated >= thread->tlab)
		return thread->tlab;
	if (thread->allocated > size)
		return thread->allocated;
	/* It will be in the sum when its buffer is full. */
	thread->allocated += size;
	return size;
}

/* The bytes in buffers since the last one began. */
static __always_inline __u64 inside_bytes(struct heap_thread *thread, __u64 java_thread,
					  __u64 allocated, bool counted,
					  const struct jvs_heap_allocation *hit)
{
	__u64 before = thread->allocated, outside = thread->outside, last = thread->tlab;
	bool known = thread->java_thread == java_thread, was_counted = thread->counted;

	thread->java_thread = java_thread;
	thread->allocated = allocated;
	thread->outside = 0;
	thread->tlab = hit->tlab;
	thread->counted = counted;
	/* Without the VM's sum each buffer is taken to have been filled. */
	if (known && last && !(counted && was_counted))
		return last;
	if (!known || allocated < before)
		return first_bytes(thread, hit->size);
	return allocated - before > outside ? allocated - before - outside : 0;
}

static __always_inline void note_outside(struct heap_thread *thread, __u64 java_thread,
					 __u64 allocated, __u64 size)
{
	if (thread->java_thread == java_thread) {
		thread->outside += size;
		return;
	}
	thread->java_thread = java_thread;
	thread->allocated = allocated;
	thread->outside = 0;
	thread->tlab = 0;
}

/* ---- classes */

static __always_inline __u64 name_of(const struct jvs_heap_control *control, __u64 klass)
{
	__u64 symbol = 0;

	if (control->klass_name)
		bpf_probe_read_user(&symbol, sizeof(symbol),
				    (const void *)(klass + control->klass_name));
	return symbol;
}

/* Bytes until the next object of a class is told: between 0 and twice the interval. */
static __always_inline __s64 draw(__u64 interval)
{
	return interval >> 12 ? (__s64)((interval >> 11) * (bpf_get_prandom_u32() >> 20)) : 0;
}

static __always_inline struct jvs_heap_class *class_of(const struct jvs_vm_call *call,
						       struct jvs_heap_class_key *key,
						       __u64 interval)
{
	struct jvs_heap_class fresh = {}, *class = bpf_map_lookup_elem(&jvs_heap_classes, key);

	if (class)
		return class;
	if (interval != JVS_HEAP_NONE)
		fresh.left = draw(interval);
	bpf_map_update_elem(&jvs_heap_classes, key, &fresh, BPF_NOEXIST);
	class = bpf_map_lookup_elem(&jvs_heap_classes, key);
	if (class)
		return class;
	count(call, JVS_VM_COUNT_UNPLACED);
	key->klass = 0;
	key->symbol = 0;
	return bpf_map_lookup_elem(&jvs_heap_classes, key);
}

/* Sends the name of a class, from memory that cannot be read right now without. */
static __attribute__((noinline)) int tell_name(const struct jvs_heap_class_key *key,
					       const struct jvs_heap_control *control,
					       __u64 time_ns)
{
	struct jvs_heap_name *record;
	__u64 size;
	__u16 len = 0;

	if (!key || !control)
		return 1;
	record = bpf_ringbuf_reserve(&jvs_events, sizeof(*record), 0);
	if (!record)
		return 1;
	jvs_fill_event(&record->event, JVS_EVENT_HEAP_CLASS, key->target);
	record->event.time_ns = time_ns;
	record->event.pad = 0;
	record->klass = key->klass;
	record->symbol = key->symbol;
	if (key->symbol)
		bpf_probe_read_user(&len, sizeof(len),
				    (const void *)(key->symbol + control->symbol_length));
	size = len;
	barrier_var(size);
	if (size > JVS_HEAP_NAME_MAX)
		size = JVS_HEAP_NAME_MAX;
	barrier_var(size);
	if (bpf_probe_read_user(record->name, size,
				(const void *)(key->symbol + control->symbol_body)))
		size = 0;
	record->name_len = len;
	record->name_bytes = size;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

/* ---- hits */

static __always_inline void send(const struct jvs_vm_call *call, struct heap_thread *thread)
{
	jvs_vm_fill(&thread->record.event, JVS_EVENT_HEAP_ALLOCATION, call);
	jvs_vm_send(&thread->record, JVS_VM_ALLOC);
}

/* Books a hit. Returns whether the class's next one is to be told, which is this. */
static __always_inline bool book(struct jvs_heap_class *class,
				 const struct jvs_heap_allocation *hit, __u64 interval)
{
	__s64 left;

	if (!hit->size) {
		__sync_fetch_and_add(&class->inside_bytes, hit->bytes);
	} else if (hit->tlab) {
		__sync_fetch_and_add(&class->tlabs, 1);
		__sync_fetch_and_add(&class->tlab_bytes, hit->tlab);
		__sync_fetch_and_add(&class->inside_bytes, hit->bytes);
	} else {
		__sync_fetch_and_add(&class->outside, 1);
		__sync_fetch_and_add(&class->outside_bytes, hit->bytes);
	}
	__sync_fetch_and_add(&class->pending, 1);
	__sync_fetch_and_add(&class->pending_bytes, hit->bytes);
	if (interval == JVS_HEAP_ALL)
		return true;
	if (interval == JVS_HEAP_NONE)
		return false;
	left = __sync_fetch_and_add(&class->left, -(__s64)hit->bytes);
	if (left > (__s64)hit->bytes)
		return false;
	class->left = draw(interval);
	return true;
}

/* site, klass, object, then the sizes and the thread: see on_call() of the probed functions. */
static __always_inline void read_hit(const struct jvs_vm_call *call,
				     const struct jvs_heap_control *control,
				     struct heap_thread *thread)
{
	struct jvs_heap_allocation *hit = &thread->record;
	bool inside = call->site == JVS_VM_ALLOC_TLAB;
	__u64 java_thread = inside ? call->args[4] : call->args[3];
	__u64 allocated = allocated_by(control, java_thread);

	hit->klass = call->args[0];
	hit->symbol = name_of(control, hit->klass);
	hit->stack = 0;
	hit->tlab = inside ? call->args[2] : 0;
	hit->size = inside ? call->args[3] : call->args[2];
	if (inside) {
		thread->klass = hit->klass;
		thread->symbol = hit->symbol;
		thread->stack = 0;
		hit->bytes = inside_bytes(thread, java_thread, allocated, control->thread_allocated,
					  hit);
		return;
	}
	hit->bytes = hit->size;
	thread->counted = control->thread_allocated;
	note_outside(thread, java_thread, allocated, hit->size);
}

/* What a thread that ends has in its last buffer. Returns whether it is anything. */
static __always_inline bool read_end(const struct jvs_vm_call *call,
				     const struct jvs_heap_control *control,
				     struct heap_thread *thread)
{
	struct jvs_heap_allocation *hit = &thread->record;
	__u64 java_thread = call->args[0], start = 0, top = 0, sum;

	if (thread->java_thread != java_thread || !thread->klass || !thread->counted ||
	    !control->tlab_top)
		return false;
	if (bpf_probe_read_user(&start, sizeof(start),
				(const void *)(java_thread + control->tlab_start)) ||
	    bpf_probe_read_user(&top, sizeof(top), (const void *)(java_thread + control->tlab_top)))
		return false;
	sum = allocated_by(control, java_thread) + (top > start ? top - start : 0);
	if (sum <= thread->allocated + thread->outside)
		return false;
	hit->klass = thread->klass;
	hit->symbol = thread->symbol;
	hit->size = 0;
	hit->tlab = 0;
	hit->bytes = sum - thread->allocated - thread->outside;
	thread->java_thread = 0;
	return true;
}

__attribute__((noinline)) int jvs_vm_alloc(struct jvs_vm_call *call)
{
	struct jvs_heap_control *control;
	struct jvs_heap_class_key key = {};
	struct jvs_heap_class *class;
	struct heap_thread *thread;
	__u32 target;

	if (!call)
		return JVS_VM_NOTHING;
	target = call->target;
	control = bpf_map_lookup_elem(&jvs_heap_controls, &target);
	thread = bpf_task_storage_get(&jvs_heap_threads, bpf_get_current_task_btf(), NULL,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!control || !thread) {
		count(call, JVS_VM_COUNT_NO_STATE);
		return JVS_VM_NOTHING;
	}
	if (call->site != JVS_VM_ALLOC_END)
		read_hit(call, control, thread);
	else if (!read_end(call, control, thread))
		return JVS_VM_NOTHING;
	key.klass = thread->record.klass;
	key.symbol = thread->record.symbol;
	key.target = call->target;
	class = class_of(call, &key, control->interval);
	if (!class) {
		count(call, JVS_VM_COUNT_LOST);
		return JVS_VM_NOTHING;
	}
	thread->record.klass = key.klass;
	thread->record.symbol = key.symbol;
	if (!class->told && key.klass && !tell_name(&key, control, call->time_ns))
		class->told = 1;
	if (!book(class, &thread->record, control->interval))
		return JVS_VM_NOTHING;
	thread->record.hits = __sync_lock_test_and_set(&class->pending, 0);
	thread->record.bytes = __sync_lock_test_and_set(&class->pending_bytes, 0);
	if (call->site != JVS_VM_ALLOC_END)
		return JVS_VM_STACK;
	thread->record.stack = thread->stack;
	send(call, thread);
	return JVS_VM_NOTHING;
}

__attribute__((noinline)) int jvs_vm_alloc_stack(struct jvs_vm_call *call)
{
	struct heap_thread *thread;

	if (!call)
		return JVS_VM_NOTHING;
	thread = bpf_task_storage_get(&jvs_heap_threads, bpf_get_current_task_btf(), NULL, 0);
	if (!thread)
		return JVS_VM_NOTHING;
	thread->record.stack = call->stack;
	if (thread->record.tlab)
		thread->stack = call->stack;
	send(call, thread);
	return JVS_VM_NOTHING;
}
