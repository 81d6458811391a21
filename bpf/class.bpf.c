/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "class_record.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* ---- parsing */

/* KlassFactory::create_from_stream(stream, name, loader, info, thread) */
SEC("?uprobe")
int jvs_on_class_parse(struct pt_regs *ctx)
{
	struct jvs_class_scratch *scratch;
	struct jvs_class_thread *thread;
	__u32 index;

	if (!jvs_current_target(&index))
		return 0;
	thread = class_thread(bpf_get_current_pid_tgid());
	scratch = take_scratch();
	if (!scratch)
		return 0;
	if (thread) {
		scratch->frame.symbol = PT_REGS_PARM2(ctx);
		scratch->frame.loader = PT_REGS_PARM3(ctx);
		begin_frame(thread, scratch, PT_REGS_SP(ctx), PT_REGS_PARM1(ctx));
	}
	give_scratch(scratch);
	return 0;
}

/*
 * JvmtiExport::post_class_file_load_hook(name, loader, domain, &data, &end, cache)
 *
 * Within create_from_stream, or outside of it for a class from the archive, whose bytes the JVM
 * reads for this alone.
 */
SEC("?uprobe")
int jvs_on_class_hook(struct pt_regs *ctx)
{
	__u64 buffer = class_word(PT_REGS_PARM4(ctx)), bytes;
	__u32 index, tid = bpf_get_current_pid_tgid();
	struct jvs_class_thread *thread;
	struct jvs_class_frame *frame;

	if (!jvs_current_target(&index))
		return 0;
	count_class(index, JVS_CLASS_COUNT_HOOKED);
	thread = class_thread(tid);
	if (!thread)
		return 0;
	frame = class_frame(thread->top, tid);
	if (frame && !frame->parser && frame->buffer == buffer) {
		frame->hook_ns = bpf_ktime_get_ns();
		frame->facts.flags |= JVS_CLASS_HOOKED;
		return 0;
	}
	bytes = class_word(PT_REGS_PARM5(ctx)) - buffer;
	thread->hook_symbol = PT_REGS_PARM1(ctx);
	thread->hook_buffer = buffer;
	thread->hook_bytes = bytes < JVS_CLASS_FILE_MAX ? bytes : 0;
	thread->hook_ns = bpf_ktime_get_ns();
	thread->hook_end_ns = 0;
	return 0;
}

/* The hook of an archived class was outside of a frame, which only its parser begins. */
static __always_inline void take_archived_hook(struct jvs_class_thread *thread,
					       struct jvs_class_frame *frame)
{
	if (!thread->hook_symbol || thread->hook_symbol != frame->symbol)
		return;
	frame->hook_ns = thread->hook_ns;
	frame->buffer = thread->hook_buffer;
	frame->facts.bytes = thread->hook_bytes;
	frame->facts.flags |= JVS_CLASS_HOOKED;
	thread->hook_symbol = 0;
}

/* ClassFileParser::ClassFileParser(this, stream, name, loader, ...): the bytes are final. */
SEC("?uprobe")
int jvs_on_class_parser(struct pt_regs *ctx)
{
	__u64 stream = PT_REGS_PARM2(ctx), buffer = class_word(stream + JVS_STREAM_START), size,
	      now;
	__u32 index, tid = bpf_get_current_pid_tgid();
	struct jvs_class_scratch *scratch;
	struct jvs_class_thread *thread;
	struct jvs_class_frame *frame;

	if (!jvs_current_target(&index))
		return 0;
	count_class(index, JVS_CLASS_COUNT_PARSED);
	thread = class_thread(tid);
	scratch = take_scratch();
	if (!scratch)
		return 0;
	if (!thread)
		goto out;
	drop_stale_frames(thread, tid, PT_REGS_SP(ctx));
	frame = class_frame(thread->top, tid);
	if (!frame || frame->parser) {
		scratch->frame.symbol = PT_REGS_PARM3(ctx);
		scratch->frame.loader = PT_REGS_PARM4(ctx);
		begin_frame(thread, scratch, PT_REGS_SP(ctx), stream);
		frame = class_frame(thread->top, tid);
		if (!frame)
			goto out;
		take_archived_hook(thread, frame);
	}
	frame->parser = PT_REGS_PARM1(ctx);
	now = bpf_ktime_get_ns();
	if (frame->hook_ns)
		frame->facts.transform_ns = now - frame->hook_ns;
	size = class_word(stream + JVS_STREAM_END) - buffer;
	frame->facts.bytes_after = size < JVS_CLASS_FILE_MAX ? size : 0;
	if (frame->hook_ns && buffer != frame->buffer) {
		frame->facts.flags |= JVS_CLASS_TRANSFORMED;
		send_change(scratch, index, frame, buffer);
	}
	/* From here on, so that what the agents did is not in it. */
	frame->facts.parse_ns = bpf_ktime_get_ns();
	thread->nested_ns = 0;
out:
	give_scratch(scratch);
	return 0;
}

/* ClassFileParser::~ClassFileParser(this): a class was made of it, or none */
SEC("?uprobe")
int jvs_on_class_parsed(struct pt_regs *ctx)
{
	__u32 index, tid = bpf_get_current_pid_tgid();
	struct jvs_class_facts_key key = { 0 };
	struct jvs_class_frame_key at = { .tid = tid };
	struct jvs_class_thread *thread;
	struct jvs_class_frame *frame;
	__u64 now = bpf_ktime_get_ns(), outer_ns;

	if (!jvs_current_target(&index))
		return 0;
	thread = class_thread(tid);
	if (!thread)
		return 0;
	frame = class_frame(thread->top, tid);
	if (!frame || frame->parser != PT_REGS_PARM1(ctx))
		return 0;
	frame->facts.parse_ns = now - frame->facts.parse_ns;
	frame->facts.nested_ns = thread->nested_ns;
	outer_ns = frame->outer_nested_ns + now - frame->facts.start_ns;
	key.symbol = frame->symbol;
	key.loader = frame->loader;
	key.target = index;
	bpf_map_update_elem(&jvs_class_facts, &key, &frame->facts, BPF_ANY);
	thread->last_symbol = frame->symbol;
	thread->last_loader = frame->loader;
	at.sp = thread->top;
	thread->top = frame->parent;
	thread->nested_ns = outer_ns;
	bpf_map_delete_elem(&jvs_class_frames, &at);
	return 0;
}

/* ClassLoadingService::notify_class_loaded(klass, archived): what the JVM itself counts */
SEC("?uprobe")
int jvs_on_class_notified(struct pt_regs *ctx)
{
	const struct jvs_class_layout *layout;
	struct jvs_class_thread *thread;
	__u64 klass = PT_REGS_PARM1(ctx);
	__u32 index;

	if (!jvs_current_target(&index))
		return 0;
	count_class(index, JVS_CLASS_COUNT_NOTIFIED);
	thread = class_thread(bpf_get_current_pid_tgid());
	if (!thread)
		return 0;
	thread->notified = klass;
	thread->notified_archived = PT_REGS_PARM2(ctx) & 1;
	layout = class_layout(index);
	if (thread->hook_symbol && layout &&
	    class_word(klass + layout->klass_name) == thread->hook_symbol)
		thread->hook_end_ns = bpf_ktime_get_ns();
	return 0;
}

/* ---- loads */

/* What was found out when the event's class was parsed, or taken from the archive. */
static __always_inline void take_facts(struct jvs_class_scratch *scratch)
{
	struct jvs_class_event *event = &scratch->event;
	struct jvs_class_thread *thread = class_thread(event->event.tid);
	struct jvs_class_facts_key key = { .symbol = event->symbol,
					   .loader = event->loader,
					   .target = event->event.target };
	struct jvs_class_facts *facts = bpf_map_lookup_elem(&jvs_class_facts, &key);

	if (!thread)
		return;
	/* A hidden class gets its name after it was parsed; others may be parsed without one. */
	if (!facts && event->loader && thread->last_loader == event->loader) {
		key.symbol = thread->last_symbol;
		facts = bpf_map_lookup_elem(&jvs_class_facts, &key);
	}
	if (facts) {
		event->facts = *facts;
		bpf_map_delete_elem(&jvs_class_facts, &key);
	} else if (event->symbol && thread->hook_symbol == event->symbol) {
		event->facts.flags = JVS_CLASS_HOOKED;
		event->facts.bytes = thread->hook_bytes;
		event->facts.bytes_after = thread->hook_bytes;
		if (thread->hook_end_ns)
			event->facts.transform_ns = thread->hook_end_ns - thread->hook_ns;
		thread->hook_symbol = 0;
	}
	if (thread->notified == event->klass && thread->notified_archived)
		event->flags |= JVS_CLASS_ARCHIVED;
	if (thread->premain)
		event->flags |= JVS_CLASS_PREMAIN;
}

static __always_inline void count_ignored(struct jvs_class_rule *rule,
					  const struct jvs_class_facts *facts)
{
	__sync_fetch_and_add(&rule->loaded, 1);
	__sync_fetch_and_add(&rule->bytes, facts->bytes);
	__sync_fetch_and_add(&rule->parse_ns, facts->parse_ns);
	__sync_fetch_and_add(&rule->transform_ns, facts->transform_ns);
}

/* Klass::append_to_sibling_list(this): once for each class that was really loaded, and for arrays
 */
SEC("?uprobe")
int jvs_on_class_load(struct pt_regs *ctx)
{
	const struct jvs_class_layout *layout;
	struct jvs_class_scratch *scratch;
	__u64 klass = PT_REGS_PARM1(ctx);
	struct jvs_class_rule *rule;
	struct jvs_target *t;
	__u32 index;

	t = jvs_current_target(&index);
	if (!t)
		return 0;
	layout = class_layout(index);
	if (layout && (__s32)class_word(klass + layout->klass_layout_helper) < 0)
		return 0;
	count_class(index, JVS_CLASS_COUNT_LOADED);
	scratch = take_scratch();
	if (!scratch) {
		count_class(index, JVS_CLASS_COUNT_BUSY);
		return 0;
	}
	fill_event(scratch, JVS_EVENT_CLASS_LOAD, index, klass, layout);
	take_facts(scratch);
	if (!layout)
		scratch->event.flags |= JVS_CLASS_EARLY;
	rule = ignoring_rule(scratch);
	if (rule) {
		count_ignored(rule, &scratch->event.facts);
		count_class(index, JVS_CLASS_COUNT_IGNORED);
		goto out;
	}
	if (layout)
		add_loader(scratch, layout);
	scratch->event.stack = class_stack(index, t);
	if (send_event(scratch))
		count_class(index, JVS_CLASS_COUNT_SENT);
	else
		count_class(index, JVS_CLASS_COUNT_RING_FULL);
out:
	give_scratch(scratch);
	return 0;
}

/* ClassLoadingService::notify_class_unloaded(klass) */
SEC("?uprobe")
int jvs_on_class_unload(struct pt_regs *ctx)
{
	const struct jvs_class_layout *layout;
	struct jvs_class_scratch *scratch;
	struct jvs_class_rule *rule;
	__u32 index;

	if (!jvs_current_target(&index))
		return 0;
	count_class(index, JVS_CLASS_COUNT_UNLOADED);
	layout = class_layout(index);
	scratch = take_scratch();
	if (!scratch) {
		count_class(index, JVS_CLASS_COUNT_UNLOAD_LOST);
		return 0;
	}
	fill_event(scratch, JVS_EVENT_CLASS_UNLOAD, index, PT_REGS_PARM1(ctx), layout);
	rule = ignoring_rule(scratch);
	if (rule) {
		__sync_fetch_and_add(&rule->unloaded, 1);
		goto out;
	}
	if (layout)
		add_loader(scratch, layout);
	if (!send_event(scratch))
		count_class(index, JVS_CLASS_COUNT_UNLOAD_LOST);
out:
	give_scratch(scratch);
	return 0;
}

/* VM_RedefineClasses::redefine_single_class(this, thread, class, scratch): once for each class */
SEC("?uprobe")
int jvs_on_class_redefined(struct pt_regs *ctx)
{
	const struct jvs_class_layout *layout;
	struct jvs_class_scratch *scratch;
	__u32 index;

	if (!jvs_current_target(&index))
		return 0;
	count_class(index, JVS_CLASS_COUNT_REDEFINED);
	layout = class_layout(index);
	scratch = take_scratch();
	if (!scratch) {
		count_class(index, JVS_CLASS_COUNT_EVENT_LOST);
		return 0;
	}
	fill_event(scratch, JVS_EVENT_CLASS_REDEFINED, index, PT_REGS_PARM4(ctx), layout);
	take_facts(scratch);
	jvs_class_search(scratch);
	if (scratch->search.number <= 0) {
		if (layout)
			add_loader(scratch, layout);
		if (!send_event(scratch))
			count_class(index, JVS_CLASS_COUNT_EVENT_LOST);
	}
	give_scratch(scratch);
	return 0;
}

/* ---- loaders */

/* ClassLoaderData::ClassLoaderData(this, ...): what was known of this address is of another */
SEC("?uprobe")
int jvs_on_class_loader(struct pt_regs *ctx)
{
	struct jvs_class_loader_key key = { .loader = PT_REGS_PARM1(ctx) };
	struct jvs_class_generation *generation;
	__u32 index;

	if (!jvs_current_target(&index))
		return 0;
	key.target = index;
	generation = bpf_map_lookup_elem(&jvs_class_loaders, &key);
	if (generation) {
		generation->generation++;
		generation->told = 0;
	}
	return 0;
}

/* ClassLoaderData::unload(this): its classes are unloaded next */
SEC("?uprobe")
int jvs_on_class_loader_end(struct pt_regs *ctx)
{
	struct jvs_class_loader_key key = { .loader = PT_REGS_PARM1(ctx) };
	struct jvs_class_generation *generation;
	struct jvs_class_scratch *scratch;
	__u32 index;

	if (!jvs_current_target(&index))
		return 0;
	key.target = index;
	generation = bpf_map_lookup_elem(&jvs_class_loaders, &key);
	if (!generation || !generation->told)
		return 0;
	scratch = take_scratch();
	if (!scratch) {
		count_class(index, JVS_CLASS_COUNT_EVENT_LOST);
		return 0;
	}
	fill_header(&scratch->loader.event, JVS_EVENT_CLASS_LOADER_END, index);
	scratch->loader.loader = key.loader;
	scratch->loader.generation = generation->generation;
	if (bpf_ringbuf_output(&jvs_events, &scratch->loader, JVS_CLASS_LOADER_HEADER,
			       BPF_RB_NO_WAKEUP))
		count_class(index, JVS_CLASS_COUNT_EVENT_LOST);
	give_scratch(scratch);
	return 0;
}

/* ---- initializers */

/* InstanceKlass::call_class_initializer(this, thread) */
SEC("?uprobe")
int jvs_on_class_init(struct pt_regs *ctx)
{
	__u32 index, tid = bpf_get_current_pid_tgid();
	struct jvs_class_init_key key = { .klass = PT_REGS_PARM1(ctx), .tid = tid };
	struct jvs_class_init init = { .start_ns = bpf_ktime_get_ns() };
	struct jvs_class_thread *thread;

	if (!jvs_current_target(&index))
		return 0;
	thread = class_thread(tid);
	if (!thread)
		return 0;
	init.outer_nested_ns = thread->nested_ns;
	if (bpf_map_update_elem(&jvs_class_inits, &key, &init, BPF_ANY))
		return 0;
	thread->nested_ns = 0;
	return 0;
}

/* The initializer of scratch->event's class is done. */
static __always_inline void send_init(struct jvs_class_scratch *scratch,
				      const struct jvs_class_layout *layout, struct jvs_target *t)
{
	struct jvs_class_event *event = &scratch->event;
	struct jvs_class_rule *rule = ignoring_rule(scratch);

	if (rule)
		__sync_fetch_and_add(&rule->initialize_ns, event->self_ns);
	/* What agents initialize before main is worth to be known, whatever the rules say. */
	if (rule && !(event->flags & JVS_CLASS_PREMAIN))
		return;
	if (layout)
		add_loader(scratch, layout);
	if (event->flags & JVS_CLASS_PREMAIN)
		event->stack = class_stack(event->event.target, t);
	if (!send_event(scratch))
		count_class(event->event.target, JVS_CLASS_COUNT_EVENT_LOST);
}

/* InstanceKlass::set_initialization_state_and_notify(this, state, thread) */
SEC("?uprobe")
int jvs_on_class_initialized(struct pt_regs *ctx)
{
	__u32 index, tid = bpf_get_current_pid_tgid();
	struct jvs_class_init_key key = { .klass = PT_REGS_PARM1(ctx), .tid = tid };
	const struct jvs_class_layout *layout;
	struct jvs_class_scratch *scratch;
	struct jvs_class_thread *thread;
	struct jvs_class_init *init;
	struct jvs_target *t;
	__u64 duration_ns, self_ns;

	t = jvs_current_target(&index);
	init = t ? bpf_map_lookup_elem(&jvs_class_inits, &key) : NULL;
	thread = init ? class_thread(tid) : NULL;
	if (!thread)
		return 0;
	count_class(index, JVS_CLASS_COUNT_INITIALIZED);
	duration_ns = bpf_ktime_get_ns() - init->start_ns;
	self_ns = thread->nested_ns < duration_ns ? duration_ns - thread->nested_ns : 0;
	thread->nested_ns = init->outer_nested_ns + duration_ns;
	bpf_map_delete_elem(&jvs_class_inits, &key);
	layout = class_layout(index);
	scratch = take_scratch();
	if (!scratch) {
		count_class(index, JVS_CLASS_COUNT_EVENT_LOST);
		return 0;
	}
	fill_event(scratch, JVS_EVENT_CLASS_INIT, index, key.klass, layout);
	scratch->event.duration_ns = duration_ns;
	scratch->event.self_ns = self_ns;
	if (thread->premain)
		scratch->event.flags |= JVS_CLASS_PREMAIN;
	send_init(scratch, layout, t);
	give_scratch(scratch);
	return 0;
}

/* ---- how far a JVM is */

static __always_inline void send_phase(__u32 index, __u32 phase)
{
	struct jvs_class_scratch *scratch = take_scratch();

	if (!scratch)
		return;
	fill_event(scratch, JVS_EVENT_CLASS_PHASE, index, 0, NULL);
	scratch->event.flags = phase;
	if (!send_event(scratch))
		count_class(index, JVS_CLASS_COUNT_EVENT_LOST);
	give_scratch(scratch);
}

/* JvmtiExport::post_vm_initialized(): agents run in it */
SEC("?uprobe")
int jvs_on_vm_initialized(struct pt_regs *ctx)
{
	struct jvs_class_thread *thread;
	__u32 index;

	if (!jvs_current_target(&index))
		return 0;
	thread = class_thread(bpf_get_current_pid_tgid());
	if (!thread)
		return 0;
	thread->premain = 1;
	send_phase(index, JVS_CLASS_PHASE_INITIALIZED);
	return 0;
}

/* jni_CallVoidMethod(): the instrument library calls premain by it */
SEC("?uprobe")
int jvs_on_premain(struct pt_regs *ctx)
{
	struct jvs_class_thread *thread;
	__u32 index, tid = bpf_get_current_pid_tgid();

	if (!jvs_current_target(&index))
		return 0;
	thread = bpf_map_lookup_elem(&jvs_class_threads, &tid);
	if (thread && thread->premain)
		send_phase(index, JVS_CLASS_PHASE_AGENT);
	return 0;
}

/* jni_CallStaticVoidMethod(): the launcher calls main by it */
SEC("?uprobe")
int jvs_on_main(struct pt_regs *ctx)
{
	struct jvs_class_thread *thread;
	__u32 index, tid = bpf_get_current_pid_tgid();

	if (!jvs_current_target(&index))
		return 0;
	thread = bpf_map_lookup_elem(&jvs_class_threads, &tid);
	if (!thread || !thread->premain)
		return 0;
	thread->premain = 0;
	send_phase(index, JVS_CLASS_PHASE_MAIN);
	return 0;
}
