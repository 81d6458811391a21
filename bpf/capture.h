/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_CAPTURE_H
#define JVS_CAPTURE_H

#include "core.bpf.h"
#include "unwind_notes.h"

/*
 * From a program's context to a stack that userspace has.
 *
 * Inline, because contexts differ in type; what is long is in global functions. A program does:
 *
 *	w = jvs_capture(ctx, JVS_SLOT_..., index, in_kernel);
 *	if (!w) return 0;		every loss was counted
 *	... a record with w->hash ...
 *	jvs_release(w);
 */

/* The header of a record about the current thread. */
static __always_inline void jvs_fill_event(struct jvs_event *event, __u32 kind, __u32 target)
{
	__u64 id = bpf_get_current_pid_tgid();

	event->time_ns = bpf_ktime_get_ns();
	event->kind = kind;
	event->cpu = bpf_get_smp_processor_id();
	event->pid = id >> 32;
	event->tid = id;
	event->target = target;
}

/* The current process's index in jvs_targets and its row, or NULL when it is no target. */
static __always_inline struct jvs_target *jvs_current_target(__u32 *index)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	__u32 *found = bpf_map_lookup_elem(&jvs_pids, &pid);
	struct jvs_target *t;

	if (!found)
		return NULL;
	*index = *found;
	t = bpf_map_lookup_elem(&jvs_targets, index);
	return t && t->flags & JVS_TARGET_ON ? t : NULL;
}

static __always_inline struct jvs_walk *jvs_take_free_slot(__u32 kind)
{
	__u32 tries = kind == JVS_SLOT_PROBE ? JVS_PROBE_SLOTS : 1;
	__u32 first = bpf_get_smp_processor_id() * jvs_slots_per_cpu + kind, index;
	struct jvs_walk *w;

	for (__u32 i = 0; i < tries; i++) {
		index = first + i;
		w = bpf_map_lookup_elem(&jvs_slots, &index);
		if (w && !__sync_val_compare_and_swap(&w->busy, 0, 1)) {
			w->slot = first + i;
			return w;
		}
	}
	return NULL;
}

/* A slot for a walk of a target's thread; NULL: all are taken. Arguments as in jvs_capture(). */
static __always_inline struct jvs_walk *jvs_take_slot(__u32 kind, __u32 target, bool in_kernel)
{
	struct jvs_walk *w = jvs_take_free_slot(kind);

	if (!w)
		return NULL;
	w->target = target;
	w->source = kind;
	w->in_kernel = in_kernel;
	return w;
}

/* Gives the slot back. Nothing of the walk may be used after it. */
static __always_inline void jvs_release(struct jvs_walk *w)
{
	barrier();
	*(volatile __u32 *)&w->busy = 0;
}

/* Whose stack it is, and what it is to be unwound by. */
static __always_inline void jvs_begin_thread(struct jvs_walk *w, const struct jvs_target *t)
{
	__u64 id = bpf_get_current_pid_tgid();

	w->flags = t->flags;
	/* Before what it is the generation of: a memo may be of an older one, and never matches. */
	w->generation = *(const volatile __u32 *)&t->generation;
	barrier();
	w->mappings = t->mappings;
	w->pid = id >> 32;
	w->tid = id;
}

static __always_inline void jvs_begin_walk(struct jvs_walk *w, const struct jvs_target *t)
{
	jvs_begin_thread(w, t);
	w->cpu = bpf_get_smp_processor_id();
	w->time_ns = bpf_ktime_get_ns();
	w->max_depth = jvs_max_depth;
	w->first_part = w->slot * jvs_parts_per_slot;

	w->after_native = 0;
	w->returns = 0;
	w->window_at = 0;
	w->start_pc = 0;
	w->start_sp = 0;
	w->status = JVS_STATUS_RUN;
	w->notes = JVS_NOTES_END;
	w->walked = 0;
	w->java_frames = 0;
	w->anchored = 0;
	w->wrapper = 0;
	w->last_java_sp = 0;
	w->heap_frames = 0;
	w->deoptimizing = 0;
	w->nameless = 0;
	w->unmapped = 0;
	w->fail_pc = 0;
	w->fail_sp = 0;
	w->fail_fp = 0;
	/* Two JVMs may have the same code at the same addresses. */
	w->hash = w->pid;
}

/* What came of a capture at a probe. */
enum jvs_captured {
	JVS_CAPTURED_NOT,    /* no slot was free */
	JVS_CAPTURED_UNSENT, /* walked, but it did not fit in the ring */
	JVS_CAPTURED,	     /* userspace has it */
	JVS_CAPTURED_AGAIN,  /* the same, and it was not walked: see memo.bpf.c */
};

/* For a test: whether walking finds the stack that was recalled. */
static __always_inline void jvs_walk_again(struct jvs_walk *w, const struct jvs_target *t)
{
	__u64 hash = w->hash;

	jvs_begin_walk(w, t);
	jvs_walk_user(w);
	jvs_count(w->target, w->hash == hash ? JVS_COUNT_RECALLED_SAME : JVS_COUNT_RECALLED_OTHER,
		  1);
	w->hash = hash;
}

/*
 * Takes the stack of the current thread at a probe, and sends it if it is new.
 *
 * Returns its hash, or 0 when no slot was free. The caller counts losses.
 */
static __always_inline __u64 jvs_capture_at_probe(__u32 index, const struct jvs_target *t,
						  enum jvs_captured *how)
{
	struct jvs_walk *w = jvs_take_slot(JVS_SLOT_PROBE, index, false);
	__u64 hash;

	*how = JVS_CAPTURED_NOT;
	if (!w)
		return 0;
	jvs_begin_thread(w, t);
	if (jvs_recall(w)) {
		*how = JVS_CAPTURED_AGAIN;
		if (w->flags & JVS_TARGET_WALK_AGAIN)
			jvs_walk_again(w, t);
	} else {
		jvs_begin_walk(w, t);
		if (w->memo != JVS_NO_MEMO)
			jvs_note_begin(w);
		jvs_walk_user(w);
		jvs_remember(w);
		*how = jvs_send_stack(w, false) ? JVS_CAPTURED_UNSENT : JVS_CAPTURED;
	}
	hash = w->hash;
	jvs_release(w);
	return hash;
}

/* No record is longer. */
#define JVS_RECORD_MAX (sizeof(struct jvs_stack_part) + 8)

/*
 * The counter of a record the ring did not take: it was full, or an NMI has interrupted the
 * holder of its lock, on this CPU or for long enough on another.
 */
static __always_inline __u32 jvs_ring_refused(__u32 full)
{
	__u64 size = bpf_ringbuf_query(&jvs_events, BPF_RB_RING_SIZE);

	if (bpf_ringbuf_query(&jvs_events, BPF_RB_AVAIL_DATA) + JVS_RECORD_MAX < size)
		return JVS_COUNT_RING_BUSY;
	return full;
}

/*
 * Takes the stack of the current thread, kernel frames first, and sends it if it is new.
 *
 * kind: enum jvs_slot. index and t: from jvs_current_target(). in_kernel: the event hit the kernel.
 * always: send the stack even if it is not new.
 * Returns the walk, to be released; or NULL, and the loss is counted.
 */
static __always_inline struct jvs_walk *jvs_capture(void *ctx, __u32 kind, __u32 index,
						    const struct jvs_target *t, bool in_kernel,
						    bool always)
{
	struct jvs_walk *w = jvs_take_slot(kind, index, in_kernel);
	long size;

	if (!w) {
		jvs_count(index, JVS_COUNT_SLOT_BUSY, 1);
		return NULL;
	}
	jvs_begin_walk(w, t);
	if (in_kernel) {
		size = bpf_get_stack(ctx, w->kernel, sizeof(w->kernel), 0);
		if (size > 0)
			jvs_push_kernel(w, size / sizeof(__u64));
	}
	jvs_walk_user(w);
	w->walk_ns = bpf_ktime_get_ns() - w->time_ns;

	jvs_count(index, JVS_COUNT_WALK_NS, w->walk_ns);
	if (w->anchored)
		jvs_count(index, JVS_COUNT_ANCHORED, 1);
	if (w->unmapped)
		jvs_count(index, JVS_COUNT_UNMAPPED, w->unmapped);
	if (jvs_send_stack(w, always)) {
		jvs_count(index, jvs_ring_refused(JVS_COUNT_STACK_RING_FULL), 1);
		jvs_release(w);
		return NULL;
	}
	return w;
}

/* So much waits before the reader is woken: a wake-up costs more than the record. */
#define JVS_WAKE_BYTES (64 * 1024)

static __always_inline __u64 jvs_wake_flags(void)
{
	if (bpf_ringbuf_query(&jvs_events, BPF_RB_AVAIL_DATA) >= JVS_WAKE_BYTES)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

/* The record of a sample; counted when it does not fit. Releases the slot. */
static __always_inline void jvs_send_sample(struct jvs_walk *w)
{
	struct jvs_cpu_sample sample = {
		.event = {
			.time_ns = w->time_ns,
			.kind = JVS_EVENT_CPU_SAMPLE,
			.cpu = w->cpu,
			.pid = w->pid,
			.tid = w->tid,
			.target = w->target,
		},
		.stack = w->hash,
		.status = w->status,
		.walked = w->walked,
		.walk_ns = w->walk_ns,
		.thread_state = jvs_thread_state(w),
		.in_kernel = w->in_kernel,
		.anchored = w->anchored,
		.source = w->source,
	};

	jvs_release(w);
	if (bpf_ringbuf_output(&jvs_events, &sample, sizeof(sample), jvs_wake_flags()))
		jvs_count(sample.event.target, jvs_ring_refused(JVS_COUNT_RING_FULL), 1);
}

#endif
