/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_CLASS_LINK_H
#define JVS_CLASS_LINK_H

/*
 * Reading and linking, for class.bpf.c; nobody else includes this.
 *
 * InstanceKlass::link_class_impl() is called for linked classes, too, and often. What it does to
 * others calls these, one after the other: each ends what the one before has begun. All of it is
 * under the lock of the class, which is an object on the stack: when that is gone, the class is
 * linked. Before, agents are told of it, in whose code others are linked.
 */
#include "class_record.h"

/* ClassLoader::load_class(name, ...): the boot loader reads a class file */
JVS_FN int jvs_on_class_read(__u64 symbol)
{
	__u32 index;
	struct jvs_class_thread *thread = current_class_thread(&index);

	if (!thread)
		return 0;
	thread->read_symbol = symbol;
	thread->read_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline struct jvs_class_link *begin_link(const struct jvs_class_init_key *key)
{
	struct jvs_class_link fresh = { .start_ns = bpf_ktime_get_ns() };

	bpf_map_update_elem(&jvs_class_links, key, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&jvs_class_links, key);
}

/* The linking of a class that is going on in this thread, begun now if there is none. */
static __always_inline struct jvs_class_link *class_link(__u64 klass, __u32 tid)
{
	struct jvs_class_init_key key = { .klass = klass, .tid = tid };
	struct jvs_class_link *link = bpf_map_lookup_elem(&jvs_class_links, &key);

	return link ? link : begin_link(&key);
}

/* Verifier::verify(klass, ...). It may have failed before: then that was the end of it. */
JVS_FN int jvs_on_class_verify(__u64 klass)
{
	__u32 index, tid = bpf_get_current_pid_tgid();
	struct jvs_class_init_key key = { .klass = klass, .tid = tid };
	struct jvs_class_link *link;

	link = jvs_current_target(&index) ? begin_link(&key) : NULL;
	if (link)
		link->verify_ns = link->start_ns;
	return 0;
}

/* Rewriter::rewrite(klass, thread) */
JVS_FN int jvs_on_class_rewrite(__u64 klass)
{
	struct jvs_class_link *link;
	__u32 index;

	if (!jvs_current_target(&index))
		return 0;
	link = class_link(klass, bpf_get_current_pid_tgid());
	if (link)
		link->rewrite_ns = bpf_ktime_get_ns();
	return 0;
}

/* Returns whether there was room for it. */
static __always_inline bool push_linking(struct jvs_class_thread *thread, __u64 klass, __u64 sp)
{
	__u32 count = thread->linkings;

	for (int i = 0; i < JVS_CLASS_LINKINGS; i++) {
		if (!count || count > JVS_CLASS_LINKINGS ||
		    thread->linking[(count - 1) & (JVS_CLASS_LINKINGS - 1)].sp > sp)
			break;
		/* It had no lock: it only carried new code to another class. */
		count--;
	}
	if (count >= JVS_CLASS_LINKINGS)
		return false;
	thread->linking[count & (JVS_CLASS_LINKINGS - 1)].klass = klass;
	thread->linking[count & (JVS_CLASS_LINKINGS - 1)].sp = sp;
	thread->linkings = count + 1;
	return true;
}

/* The class under the lock, which is linked now; 0: none is. */
static __always_inline __u64 pop_linking(struct jvs_class_thread *thread, __u64 lock)
{
	__u32 count = thread->linkings;
	__u64 klass = 0;

	for (int i = 0; i < JVS_CLASS_LINKINGS; i++) {
		if (!count || count > JVS_CLASS_LINKINGS ||
		    thread->linking[(count - 1) & (JVS_CLASS_LINKINGS - 1)].sp > lock)
			break;
		count--;
		klass = thread->linking[count & (JVS_CLASS_LINKINGS - 1)].klass;
	}
	thread->linkings = count;
	return klass;
}

/* InstanceKlass::link_methods(this, thread) */
JVS_FN int jvs_on_class_methods(__u64 klass, __u64 sp)
{
	__u32 index, tid = bpf_get_current_pid_tgid();
	struct jvs_class_thread *thread = current_class_thread(&index);
	struct jvs_class_link *link = thread ? class_link(klass, tid) : NULL;

	if (!link)
		return 0;
	link->methods_ns = bpf_ktime_get_ns();
	if (!push_linking(thread, klass, sp))
		count_class(index, JVS_CLASS_COUNT_EVENT_LOST);
	return 0;
}

/* What a class took to be linked, in scratch->event. */
static __always_inline void fill_link(struct jvs_class_event *event,
				      const struct jvs_class_link *link)
{
	event->duration_ns = event->event.time_ns - link->start_ns;
	if (link->verify_ns && link->rewrite_ns > link->verify_ns)
		event->verify_ns = link->rewrite_ns - link->verify_ns;
	if (link->rewrite_ns && link->methods_ns > link->rewrite_ns)
		event->rewrite_ns = link->methods_ns - link->rewrite_ns;
}

/* ObjectLocker::~ObjectLocker(this): the lock of a class is given back when it is linked */
static __always_inline int on_class_unlocked(__u64 lock)
{
	__u32 index, tid = bpf_get_current_pid_tgid();
	struct jvs_class_init_key key = { .tid = tid };
	struct jvs_class_thread *thread = known_class_thread(&index);
	struct jvs_class_scratch *scratch;
	struct jvs_class_link *link;
	struct jvs_class_rule *rule;

	key.klass = thread ? pop_linking(thread, lock) : 0;
	if (!key.klass)
		return 0;
	link = bpf_map_lookup_elem(&jvs_class_links, &key);
	scratch = link ? take_scratch() : NULL;
	if (!scratch) {
		count_class(index, JVS_CLASS_COUNT_EVENT_LOST);
		return 0;
	}
	fill_event(scratch, JVS_EVENT_CLASS_LINK, index, key.klass, class_layout(index));
	fill_link(&scratch->event, link);
	bpf_map_delete_elem(&jvs_class_links, &key);
	rule = ignoring_rule(scratch);
	if (rule)
		__sync_fetch_and_add(&rule->link_ns, scratch->event.duration_ns);
	else if (!send_event(scratch))
		count_class(index, JVS_CLASS_COUNT_EVENT_LOST);
	give_scratch(scratch);
	return 0;
}

#endif
