/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_CORE_BPF_H
#define JVS_CORE_BPF_H

#include "walk.h"

#include <bpf/bpf_core_read.h>

/*
 * The maps all programs share, defined in core.bpf.c, and what is done with them.
 *
 * Sizes are defaults. Userspace sets those of jvs_mappings, jvs_rows, jvs_row_index, jvs_events,
 * jvs_slots and jvs_parts before it loads, and then the two constants.
 */
#define JVS_DEFAULT_CPUS  8
#define JVS_DEFAULT_DEPTH 1024
#define JVS_DEFAULT_PARTS JVS_PARTS_OF(JVS_DEFAULT_DEPTH)
#define JVS_DEFAULT_SLOTS (JVS_DEFAULT_CPUS * JVS_SLOTS_PER_CPU)
#define JVS_ALL_COUNTERS  (JVS_MAX_TARGETS * JVS_COUNT_NR)
#define JVS_ALL_PARTS	  (JVS_DEFAULT_SLOTS * JVS_DEFAULT_PARTS)

struct jvs_targets_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_target);
};

/* Process to index in jvs_targets. */
struct jvs_pids_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, JVS_MAX_TARGETS * 2);
	__type(key, __u32);
	__type(value, __u32);
};

struct jvs_mappings_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct jvs_mapping);
};

struct jvs_rows_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 << 19);
	__type(key, __u32);
	__type(value, struct jvs_row);
};

struct jvs_row_index_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 << 18);
	__type(key, __u32);
	__type(value, __u32);
};

/* Thread, as the initial pid namespace numbers it, to its JavaThread. */
struct jvs_threads_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u64);
};

/* See JVS_SEEN_STACKS. */
struct jvs_seen_stacks_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, JVS_SEEN_STACKS);
	__type(key, __u32);
	__type(value, __u64);
};

struct jvs_counters_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, JVS_ALL_COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
};

struct jvs_events_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
};

/* Index: CPU * jvs_slots_per_cpu + enum jvs_slot. */
struct jvs_slots_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, JVS_DEFAULT_SLOTS);
	__type(key, __u32);
	__type(value, struct jvs_walk);
};

/* Where a walk collects its frames. Index: slot * jvs_parts_per_slot + part. */
struct jvs_parts_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, JVS_ALL_PARTS);
	__type(key, __u32);
	__type(value, struct jvs_stack_part);
};

extern struct jvs_targets_map jvs_targets SEC(".maps");
extern struct jvs_pids_map jvs_pids SEC(".maps");
extern struct jvs_mappings_map jvs_mappings SEC(".maps");
extern struct jvs_rows_map jvs_rows SEC(".maps");
extern struct jvs_row_index_map jvs_row_index SEC(".maps");
extern struct jvs_threads_map jvs_threads SEC(".maps");
extern struct jvs_seen_stacks_map jvs_seen_stacks SEC(".maps");
extern struct jvs_counters_map jvs_counters SEC(".maps");
extern struct jvs_events_map jvs_events SEC(".maps");
extern struct jvs_slots_map jvs_slots SEC(".maps");
extern struct jvs_parts_map jvs_parts SEC(".maps");

extern const volatile __u32 jvs_max_depth; /* user frames kept of a stack */
extern const volatile __u32 jvs_slots_per_cpu;
extern const volatile __u32 jvs_parts_per_slot; /* JVS_PARTS_OF(jvs_max_depth) */

/* Adds to a counter of a target. */
int jvs_count(__u32 target, __u32 counter, __u64 value);

/*
 * Sends a walked stack, unless userspace has it: "always" sends it in any case.
 * Returns 0, or 1 when the ring was full; a stack that was sent in part is sent again next time.
 */
int jvs_send_stack(struct jvs_walk *w, __u32 always);

/* Whether a stack was sent, and its hash was not pushed out since. */
int jvs_is_seen(__u64 hash);

/* unwind.bpf.c: adds the first count addresses of w->kernel, leaf first. */
int jvs_push_kernel(struct jvs_walk *w, __u32 count);

/* unwind.bpf.c: the user registers of the current task. Returns 0 or an enum jvs_status. */
int jvs_take_registers(struct jvs_walk *w);

/* memo.bpf.c: whether the stack was walked before; w is that of jvs_begin_thread(). */
int jvs_recall(struct jvs_walk *w);

/* memo.bpf.c: after the walk that follows when it was not. */
int jvs_remember(struct jvs_walk *w);

/* unwind.bpf.c: walks the user stack of the current task, from where it left user mode. */
int jvs_walk_user(struct jvs_walk *w);

/* unwind.bpf.c: JavaThread::_thread_state of the walk's thread, or JVS_THREAD_STATE_UNKNOWN. */
int jvs_thread_state(struct jvs_walk *w);

/* ---- pending returns of probed functions */

/* A kernel without uprobes has no such lists; what would read them must then be dead code. */
static __always_inline bool jvs_kernel_has_returns(void)
{
	return bpf_core_field_exists(struct uprobe_task, return_instances) &&
	       bpf_core_field_exists(struct task_struct, utask);
}

#endif
