/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_CLASS_RECORD_H
#define JVS_CLASS_RECORD_H

/* Rules and records of class.bpf.c; nobody else includes this. */
#include "trie/trie.h"

#include "class_state.h"

/* The rules; 0 units: no class is ignored. See trie_loop.h. */
const volatile __u32 jvs_trie_count;
const volatile __u32 jvs_trie_long_count;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 16);
} trie_words SEC(".maps");

#include "trie_loop.h"

_Static_assert(TRIE_LOOP_NAME_MAX <= JVS_CLASS_NAME_MAX, "a record's name has the room");

/* ---- rules */

/* Searches the event's name. The answer is in scratch->search. */
JVS_FN int jvs_class_search(struct jvs_class_scratch *scratch)
{
	if (!scratch)
		return 0;
	scratch->search.number = TRIE_NONE;
	if (jvs_trie_count)
		trie_loop_rule(&scratch->search,
			       (const struct trie_loop_name *)(const void *)scratch->event.name,
			       scratch->event.name_bytes, scratch->event.name_len);
	return 0;
}

/* A callback's data is on the stack. */
struct take_rule {
	struct jvs_class_scratch *scratch;
};

/* Eight bytes of the text of the rule that matched, into scratch->rule and its hash. */
static long take_rule_word(__u32 number, void *data)
{
	struct jvs_class_scratch *scratch = ((const struct take_rule *)data)->scratch;
	__u32 at = number * sizeof(__u64), left;
	__u64 word = 0;

	if (at >= JVS_CLASS_RULE_MAX)
		return 1;
	if (at < scratch->search.matched) {
		word = *(const volatile __u64 *)(scratch->event.name + at);
		left = scratch->search.matched - at;
		if (left < sizeof(word))
			word &= (1ull << 8 * left) - 1;
	}
	*(volatile __u64 *)(scratch->rule.text + at) = word;
	scratch->rule_hash = (scratch->rule_hash ^ word) * 0x9e3779b97f4a7c15ull;
	scratch->rule_hash ^= scratch->rule_hash >> 29;
	return 0;
}

/* The counters of the rule by which the event's class is ignored; NULL: it is not. */
static __always_inline struct jvs_class_rule *ignoring_rule(struct jvs_class_scratch *scratch)
{
	struct jvs_class_rule_key key = { .target = scratch->event.event.target };
	struct take_rule take = { .scratch = scratch };
	struct jvs_class_rule *rule;

	jvs_class_search(scratch);
	if (scratch->search.number <= 0)
		return NULL;
	scratch->rule_hash = scratch->search.matched;
	scratch->rule.text_len = scratch->search.matched;
	bpf_loop(JVS_CLASS_RULE_MAX / sizeof(__u64), take_rule_word, &take, 0);
	key.hash = scratch->rule_hash;
	key.number = (__u32)scratch->search.number | scratch->search.glob;
	rule = bpf_map_lookup_elem(&jvs_class_rules, &key);
	if (rule)
		return rule;
	scratch->rule.loaded = 0;
	scratch->rule.unloaded = 0;
	scratch->rule.bytes = 0;
	scratch->rule.parse_ns = 0;
	scratch->rule.transform_ns = 0;
	scratch->rule.link_ns = 0;
	scratch->rule.initialize_ns = 0;
	/* Another CPU may just have made it, and counted. */
	bpf_map_update_elem(&jvs_class_rules, &key, &scratch->rule, BPF_NOEXIST);
	return bpf_map_lookup_elem(&jvs_class_rules, &key);
}

/* ---- records */

static __always_inline void forget_facts(struct jvs_class_facts *facts)
{
	facts->start_ns = 0;
	facts->read_ns = 0;
	facts->parse_ns = 0;
	facts->nested_ns = 0;
	facts->transform_ns = 0;
	facts->bytes_id = 0;
	facts->bytes = 0;
	facts->bytes_after = 0;
	facts->flags = 0;
	facts->source_len = 0;
}

/* All of an event about a class but its stack, as far as it can be read. */
static __always_inline void fill_event(struct jvs_class_scratch *scratch, __u32 kind, __u32 target,
				       __u64 klass, const struct jvs_class_layout *layout)
{
	struct jvs_class_event *event = &scratch->event;

	jvs_fill_event(&event->event, kind, target);
	forget_facts(&event->facts);
	event->klass = klass;
	event->loader = 0;
	event->symbol = 0;
	event->stack = 0;
	event->duration_ns = 0;
	event->self_ns = 0;
	event->verify_ns = 0;
	event->rewrite_ns = 0;
	event->generation = 0;
	event->flags = 0;
	event->name_len = 0;
	event->name_bytes = 0;
	if (!layout || !klass)
		return;
	event->loader = class_word(klass + layout->klass_cld);
	event->symbol = class_word(klass + layout->klass_name);
	event->name_bytes = read_symbol(layout, event->symbol, event->name, JVS_CLASS_NAME_MAX,
					&event->name_len);
	if (!event->name_bytes && kind == JVS_EVENT_CLASS_LOAD)
		count_class(target, JVS_CLASS_COUNT_BAD_READ);
	if (klass >= layout->archive_low && klass < layout->archive_high)
		event->flags = JVS_CLASS_ARCHIVED;
}

/* Sends scratch->event. Returns whether it fit. */
static __always_inline bool send_event(struct jvs_class_scratch *scratch)
{
	__u64 size = scratch->event.name_bytes;

	barrier_var(size);
	if (size > JVS_CLASS_NAME_MAX)
		size = JVS_CLASS_NAME_MAX;
	return !bpf_ringbuf_output(&jvs_events, &scratch->event, JVS_CLASS_EVENT_HEADER + size,
				   jvs_wake_flags());
}

/* Sends what a loader is, once in its life. */
static __always_inline void tell_loader(struct jvs_class_scratch *scratch,
					const struct jvs_class_layout *layout,
					struct jvs_class_generation *generation)
{
	struct jvs_class_loader *record = &scratch->loader;
	__u64 loader = scratch->event.loader, type;
	__u32 len;

	if (generation->told || layout->loader_klass == JVS_NO_FIELD)
		return;
	jvs_fill_event(&record->event, JVS_EVENT_CLASS_LOADER, scratch->event.event.target);
	record->loader = loader;
	record->generation = generation->generation;
	record->type_bytes = 0;
	type = class_word(loader + layout->loader_klass);
	if (type)
		record->type_bytes = read_symbol(layout, class_word(type + layout->klass_name),
						 record->type, JVS_CLASS_RULE_MAX, &len);
	record->name_bytes = read_symbol(layout, class_word(loader + layout->loader_name_and_id),
					 record->name, JVS_CLASS_RULE_MAX, &len);
	if (bpf_ringbuf_output(&jvs_events, record, sizeof(*record), BPF_RB_NO_WAKEUP))
		count_class(record->event.target, JVS_CLASS_COUNT_EVENT_LOST);
	else
		generation->told = 1;
}

static __always_inline void add_loader(struct jvs_class_scratch *scratch,
				       const struct jvs_class_layout *layout)
{
	struct jvs_class_generation *generation;

	generation = class_generation(scratch->event.loader, scratch->event.event.target);
	if (!generation) {
		count_class(scratch->event.event.target, JVS_CLASS_COUNT_EVENT_LOST);
		return;
	}
	scratch->event.generation = generation->generation;
	tell_loader(scratch, layout, generation);
}

/*
 * The stack of the current thread, which userspace gets first; 0: none. That is counted, but for a
 * JVM that cannot be read yet.
 */
static __always_inline __u64 class_stack(__u32 target, const struct jvs_target *t)
{
	enum jvs_captured how;
	__u64 hash;

	if (!(t->flags & JVS_TARGET_JAVA) || class_mode(target) != JVS_CLASS_MODE_EXACT)
		return 0;
	hash = jvs_capture_at_probe(target, t, &how);
	if (how == JVS_CAPTURED || how == JVS_CAPTURED_AGAIN)
		return hash;
	count_class(target, JVS_CLASS_COUNT_STACK_LOST);
	return 0;
}

/* ---- class files */

/* A class file's bounds and source, of a ClassFileStream. */
static __always_inline void read_stream(struct jvs_class_frame *frame, __u64 stream)
{
	struct jvs_class_facts *facts = &frame->facts;
	__u64 end = class_word(stream + JVS_STREAM_END);
	long len;

	frame->buffer = class_word(stream + JVS_STREAM_START);
	if (end - frame->buffer < JVS_CLASS_FILE_MAX)
		facts->bytes = end - frame->buffer;
	facts->bytes_after = facts->bytes;
	len = bpf_probe_read_user_str(facts->source, sizeof(facts->source),
				      (const void *)class_word(stream + JVS_STREAM_SOURCE));
	facts->source_len = len > 0 ? len - 1 : 0;
}

static __always_inline void begin_frame(struct jvs_class_thread *thread,
					struct jvs_class_scratch *scratch, __u64 sp, __u64 stream)
{
	struct jvs_class_frame_key key = { .sp = sp, .tid = (__u32)bpf_get_current_pid_tgid() };
	struct jvs_class_frame *frame = &scratch->frame;

	drop_stale_frames(thread, key.tid, sp);
	forget_facts(&frame->facts);
	frame->facts.flags = JVS_CLASS_PARSED;
	frame->facts.start_ns = bpf_ktime_get_ns();
	if (thread->read_symbol && thread->read_symbol == frame->symbol)
		frame->facts.read_ns = frame->facts.start_ns - thread->read_ns;
	thread->read_symbol = 0;
	frame->parent = thread->top;
	frame->outer_nested_ns = thread->nested_ns;
	frame->parser = 0;
	frame->hook_ns = 0;
	read_stream(frame, stream);
	if (bpf_map_update_elem(&jvs_class_frames, &key, frame, BPF_ANY))
		return;
	thread->top = sp;
	thread->nested_ns = 0;
}

/* A class file that is being sent. */
struct sending {
	struct jvs_class_scratch *scratch;
	__u64 from;
	__u32 failed;
};

static long send_bytes_part(__u32 number, void *data)
{
	struct sending *sending = data;
	struct jvs_class_bytes *record = &sending->scratch->bytes;
	__u32 first = number * JVS_CLASS_BYTES_PART;
	__u64 count = record->total - first;

	barrier_var(count);
	if (count > JVS_CLASS_BYTES_PART)
		count = JVS_CLASS_BYTES_PART;
	record->first = first;
	record->count = count;
	if (bpf_probe_read_user(record->bytes, count, (const void *)(sending->from + first)) ||
	    bpf_ringbuf_output(&jvs_events, record, JVS_CLASS_BYTES_HEADER + count,
			       jvs_wake_flags())) {
		count_class(record->event.target, JVS_CLASS_COUNT_BYTES_LOST);
		sending->failed = 1;
		return 1;
	}
	return 0;
}

/* Returns whether the whole file was sent; else it was counted. */
static __always_inline bool send_bytes(struct jvs_class_scratch *scratch, __u64 from, __u32 total,
				       __u32 after)
{
	struct sending sending = { .scratch = scratch, .from = from };
	__u32 parts = (total + JVS_CLASS_BYTES_PART - 1) / JVS_CLASS_BYTES_PART;

	scratch->bytes.total = total;
	scratch->bytes.after = after;
	bpf_loop(parts, send_bytes_part, &sending, 0);
	return !sending.failed;
}

static __always_inline bool is_sent(__u32 bytes)
{
	return bytes && bytes <= JVS_CLASS_FILE_SENT;
}

/* An agent has changed a class: both its files, for who wants to know what it did. */
static __always_inline void send_change(struct jvs_class_scratch *scratch, __u32 target,
					struct jvs_class_frame *frame, __u64 now_buffer)
{
	const struct jvs_class_layout *layout = class_layout(target);
	struct jvs_class_event *event = &scratch->event;

	count_class(target, JVS_CLASS_COUNT_TRANSFORMED);
	if (!layout)
		return;
	event->event.target = target;
	event->name_bytes = read_symbol(layout, frame->symbol, event->name, JVS_CLASS_NAME_MAX,
					&event->name_len);
	jvs_class_search(scratch);
	if (event->name_bytes && scratch->search.number > 0)
		return;
	if (!is_sent(frame->facts.bytes) || !is_sent(frame->facts.bytes_after)) {
		count_class(target, JVS_CLASS_COUNT_BYTES_LOST);
		return;
	}
	jvs_fill_event(&scratch->bytes.event, JVS_EVENT_CLASS_BYTES, target);
	frame->facts.bytes_id =
		scratch->bytes.event.time_ns << 8 | (scratch->bytes.event.cpu & 0xff);
	scratch->bytes.id = frame->facts.bytes_id;
	if (send_bytes(scratch, frame->buffer, frame->facts.bytes, 0))
		send_bytes(scratch, now_buffer, frame->facts.bytes_after, 1);
}

#endif
