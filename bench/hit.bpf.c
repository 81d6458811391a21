/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/*
 * Programs for bench/hit.c: one that does nothing, at entry, at return and both, and some that do
 * one thing each. Their names are those of live/probes.h.
 */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u64);
} table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} ring SEC(".maps");

volatile __u64 sink;

static __always_inline void do_nothing(struct pt_regs *ctx)
{
}

static __always_inline void do_count(struct pt_regs *ctx)
{
	__u32 zero = 0;
	__u64 *value = bpf_map_lookup_elem(&counts, &zero);

	if (value)
		__sync_fetch_and_add(value, 1);
}

static __always_inline void do_clock(struct pt_regs *ctx)
{
	sink = bpf_ktime_get_ns();
}

static __always_inline void do_lookup(struct pt_regs *ctx)
{
	__u64 key = 7, one = 1, *value = bpf_map_lookup_elem(&table, &key);

	if (value)
		__sync_fetch_and_add(value, 1);
	else
		bpf_map_update_elem(&table, &key, &one, BPF_ANY);
}

static __always_inline void do_insert(struct pt_regs *ctx)
{
	__u64 key = bpf_get_prandom_u32(), one = 1;

	bpf_map_update_elem(&table, &key, &one, BPF_NOEXIST);
	bpf_map_delete_elem(&table, &key);
}

static __always_inline void do_task(struct pt_regs *ctx)
{
	__u64 *value = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL,
					    BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (value)
		(*value)++;
}

static __always_inline void do_read(struct pt_regs *ctx)
{
	__u64 words[2];

	if (!bpf_probe_read_user(words, sizeof(words), (const void *)PT_REGS_SP(ctx)))
		sink = words[0];
}

static __always_inline void do_send(struct pt_regs *ctx)
{
	__u64 record[8] = { 0 };

	bpf_ringbuf_output(&ring, record, sizeof(record), BPF_RB_NO_WAKEUP);
}

#define ENTRIES(group, work)                                              \
	SEC("?uprobe") int jvs_##group##_entry(struct pt_regs *ctx)       \
	{                                                                 \
		work(ctx);                                                \
		return 0;                                                 \
	}                                                                 \
	SEC("?uprobe") int jvs_##group##_entry_multi(struct pt_regs *ctx) \
	{                                                                 \
		work(ctx);                                                \
		return 0;                                                 \
	}

ENTRIES(empty, do_nothing)
ENTRIES(count, do_count)
ENTRIES(clock, do_clock)
ENTRIES(lookup, do_lookup)
ENTRIES(insert, do_insert)
ENTRIES(task, do_task)
ENTRIES(read, do_read)
ENTRIES(send, do_send)

SEC("?uretprobe")
int jvs_empty_return(struct pt_regs *ctx)
{
	return 0;
}

SEC("?uretprobe")
int jvs_empty_return_multi(struct pt_regs *ctx)
{
	return 0;
}

SEC("?uprobe")
int jvs_empty_session(struct pt_regs *ctx)
{
	return 0;
}

/* No return is wanted. */
SEC("?uprobe")
int jvs_skip_session(struct pt_regs *ctx)
{
	return 1;
}
