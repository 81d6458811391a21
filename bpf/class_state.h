/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_CLASS_STATE_H
#define JVS_CLASS_STATE_H

/*
 * Maps and small helpers of class.bpf.c; nobody else includes this.
 *
 * A thread may parse a class while it parses another (a superclass), or in an agent or an
 * initializer that runs meanwhile. Frames are kept by thread and stack pointer, the innermost is
 * known by thread: what ended unseen is recognised because the stack has shrunk since.
 */
#include "capture.h"
#include "jvs_class.h"

#define JVS_CLASS_THREADS      4096
#define JVS_CLASS_FRAMES       4096
#define JVS_CLASS_FACTS	       8192 /* classes parsed and not yet defined */
#define JVS_CLASS_FILE_MAX     (64u << 20)
#define JVS_CLASS_STALE_FRAMES 4 /* forgotten at once */
#define JVS_CLASS_LINKINGS     4 /* of a thread: see class_link.h */
#define JVS_CLASS_ALL_COUNTS   (JVS_MAX_TARGETS * JVS_CLASS_COUNT_NR)

/* Of a ClassFileStream; the same on JDK 11 to 28. */
#define JVS_STREAM_START  8
#define JVS_STREAM_END	  16
#define JVS_STREAM_SOURCE 32

/* A class that is linked but for the tables of its methods. */
struct jvs_class_linking {
	__u64 klass;
	__u64 sp; /* below the lock of the class */
};

/* A thread that has parsed, initialized or been notified of a class. */
struct jvs_class_thread {
	__u64 top;	   /* stack pointer of the innermost frame; 0: none */
	__u64 nested_ns;   /* of loads and initializers that ended within the innermost open one */
	__u64 last_symbol; /* key of the facts that were stored last */
	__u64 last_loader;
	__u64 notified;	   /* Klass* of the last notification */
	__u64 hook_symbol; /* of a class file load hook outside of a frame: an archived class */
	__u64 hook_ns;
	__u64 hook_end_ns;
	__u64 hook_buffer;
	__u32 hook_bytes;
	__u32 notified_archived;
	__u32 premain;	   /* agents are running in it */
	__u32 linkings;	   /* the first of the below that are in use; the last is the innermost */
	__u64 read_symbol; /* of the class file that the boot loader reads; 0: none */
	__u64 read_ns;
	struct jvs_class_linking linking[JVS_CLASS_LINKINGS];
};

struct jvs_class_frame_key {
	__u64 sp;
	__u64 tid;
};

/* From create_from_stream, or the parser's constructor, to the parser's destructor. */
struct jvs_class_frame {
	__u64 parent; /* stack pointer of the frame around it */
	__u64 outer_nested_ns;
	__u64 symbol;
	__u64 loader;
	__u64 buffer; /* of the class file before the hook */
	__u64 parser;
	__u64 hook_ns; /* when the hook began */
	struct jvs_class_facts facts;
};

/* The same class may be parsed by several threads at once: theirs are one entry, of equal bytes. */
struct jvs_class_facts_key {
	__u64 symbol;
	__u64 loader;
	__u64 target;
};

struct jvs_class_init_key {
	__u64 klass;
	__u64 tid;
};

struct jvs_class_init {
	__u64 start_ns;
	__u64 outer_nested_ns;
};

/* When the parts of linking began; 0: not (yet). Key: struct jvs_class_init_key. */
struct jvs_class_link {
	__u64 start_ns;
	__u64 verify_ns;
	__u64 rewrite_ns;
	__u64 methods_ns;
};

struct jvs_class_generation {
	__u32 generation;
	__u32 told; /* the record of the loader was sent */
};

/* Too large for the stack. Taken and given back as a walk's slot is. */
struct jvs_class_scratch {
	__u32 busy;
	__u32 pad;
	__u64 rule_hash;
	struct trie_search search;
	struct jvs_class_event event;
	struct jvs_class_loader loader;
	struct jvs_class_frame frame;
	struct jvs_class_rule rule;
	struct jvs_class_bytes bytes;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_class_layout);
} jvs_class_layouts SEC(".maps");

/* By target: whether the first call of its class file load hook was told. Userspace clears it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, __u32);
} jvs_class_hooked SEC(".maps");

/* By target: enum jvs_class_mode. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, __u32);
} jvs_class_modes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, JVS_CLASS_ALL_COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} jvs_class_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, JVS_CLASS_THREADS);
	__type(key, __u32);
	__type(value, struct jvs_class_thread);
} jvs_class_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, JVS_CLASS_FRAMES);
	__type(key, struct jvs_class_frame_key);
	__type(value, struct jvs_class_frame);
} jvs_class_frames SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, JVS_CLASS_FRAMES);
	__type(key, struct jvs_class_init_key);
	__type(value, struct jvs_class_init);
} jvs_class_inits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, JVS_CLASS_FRAMES);
	__type(key, struct jvs_class_init_key);
	__type(value, struct jvs_class_link);
} jvs_class_links SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, JVS_CLASS_FACTS);
	__type(key, struct jvs_class_facts_key);
	__type(value, struct jvs_class_facts);
} jvs_class_facts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, JVS_CLASS_LOADERS);
	__type(key, struct jvs_class_loader_key);
	__type(value, struct jvs_class_generation);
} jvs_class_loaders SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, JVS_CLASS_RULES);
	__type(key, struct jvs_class_rule_key);
	__type(value, struct jvs_class_rule);
} jvs_class_rules SEC(".maps");

/* Index: CPU * JVS_CLASS_SCRATCHES + number. Sized at load. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, JVS_DEFAULT_CPUS *JVS_CLASS_SCRATCHES);
	__type(key, __u32);
	__type(value, struct jvs_class_scratch);
} jvs_class_scratches SEC(".maps");

/* ---- counters, scratch */

static __always_inline void add_class(__u32 target, __u32 counter, __u64 more)
{
	__u32 index = target * JVS_CLASS_COUNT_NR + counter;
	__u64 *sum = bpf_map_lookup_elem(&jvs_class_counts, &index);

	if (sum)
		__sync_fetch_and_add(sum, more); /* preemptible: two may be on one CPU */
}

static __always_inline void count_class(__u32 target, __u32 counter)
{
	add_class(target, counter, 1);
}

static __always_inline __u32 class_mode(__u32 target)
{
	const __u32 *mode = bpf_map_lookup_elem(&jvs_class_modes, &target);

	return mode ? *mode : JVS_CLASS_MODE_EXACT;
}

static __always_inline struct jvs_class_scratch *take_scratch(void)
{
	__u32 first = bpf_get_smp_processor_id() * JVS_CLASS_SCRATCHES, index;
	struct jvs_class_scratch *scratch;

	for (__u32 i = 0; i < JVS_CLASS_SCRATCHES; i++) {
		index = first + i;
		scratch = bpf_map_lookup_elem(&jvs_class_scratches, &index);
		if (scratch && !__sync_val_compare_and_swap(&scratch->busy, 0, 1))
			return scratch;
	}
	return NULL;
}

static __always_inline void give_scratch(struct jvs_class_scratch *scratch)
{
	barrier();
	*(volatile __u32 *)&scratch->busy = 0;
}

/* ---- the target's memory */

/* The word at an address; 0 when it cannot be read. */
static __always_inline __u64 class_word(__u64 addr)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (const void *)addr);
	return word;
}

static __always_inline const struct jvs_class_layout *class_layout(__u32 target)
{
	const struct jvs_class_layout *layout = bpf_map_lookup_elem(&jvs_class_layouts, &target);

	return layout && layout->ready ? layout : NULL;
}

/*
 * The bytes of a Symbol, at most max (a power of two); *len is the length of the whole. Returns how
 * many were read.
 */
static __always_inline __u32 read_symbol(const struct jvs_class_layout *layout, __u64 symbol,
					 char *to, __u32 max, __u32 *len)
{
	__u16 length = 0;
	__u64 size;

	*len = 0;
	if (!symbol)
		return 0;
	if (bpf_probe_read_user(&length, sizeof(length),
				(const void *)(symbol + layout->symbol_length)))
		return 0;
	size = length;
	/* Without the barriers one copy may be tested and another used. */
	barrier_var(size);
	if (size > max)
		size = max;
	barrier_var(size);
	if (bpf_probe_read_user(to, size, (const void *)(symbol + layout->symbol_body)))
		return 0;
	*len = length;
	return size;
}

/* ---- frames */

static __always_inline struct jvs_class_thread *class_thread(__u32 tid)
{
	static const struct jvs_class_thread fresh;
	struct jvs_class_thread *thread = bpf_map_lookup_elem(&jvs_class_threads, &tid);

	if (thread)
		return thread;
	bpf_map_update_elem(&jvs_class_threads, &tid, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&jvs_class_threads, &tid);
}

/* That of the current thread and the index of its target; NULL: it is of none. */
static __always_inline struct jvs_class_thread *current_class_thread(__u32 *index)
{
	return jvs_current_target(index) ? class_thread(bpf_get_current_pid_tgid()) : NULL;
}

/* The same, but none is made for it. */
static __always_inline struct jvs_class_thread *known_class_thread(__u32 *index)
{
	__u32 tid = bpf_get_current_pid_tgid();

	return jvs_current_target(index) ? bpf_map_lookup_elem(&jvs_class_threads, &tid) : NULL;
}

static __always_inline struct jvs_class_frame *class_frame(__u64 sp, __u32 tid)
{
	struct jvs_class_frame_key key = { .sp = sp, .tid = tid };

	return sp ? bpf_map_lookup_elem(&jvs_class_frames, &key) : NULL;
}

/* Forgets frames that ended unseen: the stack pointer is above them. */
static __always_inline void drop_stale_frames(struct jvs_class_thread *thread, __u32 tid, __u64 sp)
{
	struct jvs_class_frame_key key = { .tid = tid };
	struct jvs_class_frame *frame;

	for (int i = 0; i < JVS_CLASS_STALE_FRAMES; i++) {
		if (!thread->top || thread->top > sp)
			return;
		key.sp = thread->top;
		frame = bpf_map_lookup_elem(&jvs_class_frames, &key);
		thread->top = frame ? frame->parent : 0;
		bpf_map_delete_elem(&jvs_class_frames, &key);
	}
	if (thread->top <= sp)
		thread->top = 0;
}

/* ---- loaders */

static __always_inline struct jvs_class_generation *class_generation(__u64 loader, __u32 target)
{
	static const struct jvs_class_generation fresh;
	struct jvs_class_loader_key key = { .loader = loader, .target = target };
	struct jvs_class_generation *found = bpf_map_lookup_elem(&jvs_class_loaders, &key);

	if (found)
		return found;
	bpf_map_update_elem(&jvs_class_loaders, &key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&jvs_class_loaders, &key);
}

#endif
