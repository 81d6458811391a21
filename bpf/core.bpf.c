/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core.bpf.h"

struct jvs_targets_map jvs_targets SEC(".maps");
struct jvs_pids_map jvs_pids SEC(".maps");
struct jvs_mappings_map jvs_mappings SEC(".maps");
struct jvs_rows_map jvs_rows SEC(".maps");
struct jvs_row_index_map jvs_row_index SEC(".maps");
struct jvs_threads_map jvs_threads SEC(".maps");
struct jvs_seen_stacks_map jvs_seen_stacks SEC(".maps");
struct jvs_counters_map jvs_counters SEC(".maps");
struct jvs_events_map jvs_events SEC(".maps");
struct jvs_slots_map jvs_slots SEC(".maps");
struct jvs_parts_map jvs_parts SEC(".maps");

const volatile __u32 jvs_max_depth = JVS_DEFAULT_DEPTH;
const volatile __u32 jvs_slots_per_cpu = JVS_SLOTS_PER_CPU;
const volatile __u32 jvs_parts_per_slot = JVS_DEFAULT_PARTS;

char LICENSE[] SEC("license") = "Dual BSD/GPL";

int jvs_count(__u32 target, __u32 counter, __u64 value)
{
	__u32 index = target * JVS_COUNT_NR + counter;
	__u64 *sum = bpf_map_lookup_elem(&jvs_counters, &index);

	if (sum)
		__sync_fetch_and_add(sum, value); /* a sample may interrupt another program here */
	return 0;
}

/* Which part is sent, for the loop callback. */
struct send {
	struct jvs_walk *w;
	__u32 stored;
	__u32 failed;
};

static void fill_part(struct jvs_stack_part *part, const struct jvs_walk *w)
{
	part->event.time_ns = w->time_ns;
	part->event.kind = JVS_EVENT_STACK_PART;
	part->event.cpu = w->cpu;
	part->event.pid = w->pid;
	part->event.tid = w->tid;
	part->event.target = w->target;
	part->stack = w->hash;
	/* One CPU takes one stack of a slot at a time. */
	part->capture = w->time_ns << 8 | (w->slot & 0xff);
	part->walked = w->walked;
	part->status = w->status;
	part->start_pc = w->start_pc;
	part->start_sp = w->start_sp;
	part->fail_pc = w->fail_pc;
	part->fail_sp = w->fail_sp;
	part->fail_fp = w->fail_fp;
}

static long send_part(__u32 number, void *data)
{
	struct send *send = data;
	struct jvs_walk *w = send->w;
	__u32 first = number * JVS_PART_FRAMES;
	__u64 flags = BPF_RB_NO_WAKEUP;
	__u32 index = w->first_part + number;
	struct jvs_stack_part *part = bpf_map_lookup_elem(&jvs_parts, &index);
	__u64 count = send->stored - first;

	if (!part) {
		send->failed = 1;
		return 1;
	}
	/* The last part wakes the reader: names are to be looked up while they are still true. */
	if (count <= JVS_PART_FRAMES)
		flags = BPF_RB_FORCE_WAKEUP;

	/* Without the barrier one copy may be tested and another used. */
	barrier_var(count);
	if (count > JVS_PART_FRAMES)
		count = JVS_PART_FRAMES;
	fill_part(part, w);
	part->first = first;
	part->count = count;
	part->stored = send->stored;

	if (bpf_ringbuf_output(&jvs_events, part,
			       JVS_STACK_PART_HEADER + count * sizeof(struct jvs_frame), flags)) {
		send->failed = 1;
		return 1;
	}
	return 0;
}

static __always_inline volatile __u64 *seen_at(__u32 index)
{
	return bpf_map_lookup_elem(&jvs_seen_stacks, &index);
}

int jvs_is_seen(__u64 hash)
{
	__u32 index = hash & (JVS_SEEN_STACKS - 2);
	volatile __u64 *first = seen_at(index), *second = seen_at(index + 1);

	return first && second && (*first == hash || *second == hash);
}

static __always_inline void set_seen(__u64 hash)
{
	__u32 index = hash & (JVS_SEEN_STACKS - 2);
	volatile __u64 *first = seen_at(index), *second = seen_at(index + 1);

	if (!first || !second)
		return;
	*second = *first;
	*first = hash;
}

int jvs_send_stack(struct jvs_walk *w, __u32 always)
{
	struct send send = { 0 };
	__u32 parts;

	if (!w)
		return 1;
	if (!always && jvs_is_seen(w->hash))
		return 0;

	send.w = w;
	send.stored = w->walked < w->max_depth ? w->walked : w->max_depth;
	/* A stack without a frame has a part all the same: it says why. */
	parts = (send.stored + JVS_PART_FRAMES - 1) / JVS_PART_FRAMES;
	bpf_loop(parts ? parts : 1, send_part, &send, 0);
	if (send.failed)
		return 1;

	jvs_count(w->target, JVS_COUNT_STACKS_SENT, 1);
	set_seen(w->hash);
	return 0;
}
