/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_NATIVE_STATE_H
#define JVS_NATIVE_STATE_H

/* Maps of native.bpf.c; nobody else includes this. */
#include "call_programs.h"
#include "jvs_native.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_native_control);
} jvs_native_controls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_native_counts);
} jvs_native_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, JVS_NATIVE_SITES);
	__type(key, struct jvs_native_site_key);
	__type(value, __u32);
} jvs_native_site_ids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, JVS_NATIVE_SITES);
	__type(key, __u32);
	__type(value, struct jvs_native_site);
} jvs_native_sites SEC(".maps");

/* Places of sites whose program has ended: userspace puts them in, all 0, to be used again. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, JVS_NATIVE_SITES);
	__type(value, __u32);
} jvs_native_free_sites SEC(".maps");

const volatile __u32 jvs_native_max_sites = JVS_NATIVE_SITES; /* as the maps are sized */

/* How many sites there are, the unused first one included. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} jvs_native_site_count SEC(".maps");

/* Preallocated: what is full is counted, while an LRU map would drop live blocks in silence. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, JVS_NATIVE_LIVE);
	__type(key, __u64);
	__type(value, struct jvs_native_block);
} jvs_native_live SEC(".maps");

/* What a thread is allocating, and how far it is from its next sample. */
struct jvs_native_thread {
	struct jvs_pending outermost; /* allocation */
	__u64 freeing;		      /* the block that os::free is about to give to libc's free */
	__u64 result;		      /* where posix_memalign puts the block */
	__u64 old;		      /* the block that is reallocated */
	__s64 left;		      /* bytes to the next sample */
	__u64 has_left;		      /* the above was drawn */
	struct jvs_native_block fresh;
	struct jvs_native_block had; /* the old block's; site 0: not known */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct jvs_native_thread);
} jvs_native_threads SEC(".maps");

/* A call as its probe saw it. */
struct jvs_native_call {
	__u64 args[3];
	__u64 sp;
	__u64 size;
	__u64 old;
	__u64 result;
	__u32 probe; /* enum jvs_native_probe */
	__u32 target;
	__u32 tag;
	__u32 use; /* enum jvs_native_use */
	__u32 blocks;
	__u32 mode;
	__u64 bytes;
	__u64 interval;
	__u64 time_ns;
	__u32 epoch;
	__u32 pad;
};

#endif
