/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "class_link.h"
#include "class_start.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* ---- parsing */

/* KlassFactory::create_from_stream(stream, name, loader, info, thread) */
JVS_FN int jvs_on_class_parse(__u64 stream, __u64 symbol, __u64 loader, __u64 sp)
{
	struct jvs_class_scratch *scratch;
	struct jvs_class_thread *thread;
	__u32 index;

	if (!jvs_current_target(&index))
		return 0;
	thread = class_thread(bpf_get_current_pid_tgid());
	scratch = take_scratch();
	if (!scratch) {
		count_class(index, JVS_CLASS_COUNT_EVENT_LOST);
		return 0;
	}
	if (thread) {
		scratch->frame.symbol = symbol;
		scratch->frame.loader = loader;
		begin_frame(thread, scratch, sp, stream);
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
JVS_FN int jvs_on_class_hook(__u64 symbol, __u64 data, __u64 end)
{
	__u64 buffer = class_word(data), bytes;
	__u32 index, tid = bpf_get_current_pid_tgid();
	struct jvs_class_thread *thread;
	struct jvs_class_frame *frame;

	if (!jvs_current_target(&index))
		return 0;
	count_class(index, JVS_CLASS_COUNT_HOOKED);
	tell_first_hook(index);
	thread = class_thread(tid);
	if (!thread)
		return 0;
	frame = class_frame(thread->top, tid);
	if (frame && !frame->parser && frame->buffer == buffer) {
		frame->hook_ns = bpf_ktime_get_ns();
		frame->facts.flags |= JVS_CLASS_HOOKED;
		return 0;
	}
	bytes = class_word(end) - buffer;
	thread->hook_symbol = symbol;
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
JVS_FN int jvs_on_class_parser(__u64 parser, __u64 stream, __u64 symbol, __u64 loader, __u64 sp)
{
	__u64 buffer = class_word(stream + JVS_STREAM_START), size, now;
	__u32 index, tid = bpf_get_current_pid_tgid();
	struct jvs_class_scratch *scratch;
	struct jvs_class_thread *thread;
	struct jvs_class_frame *frame;

	if (!jvs_current_target(&index))
		return 0;
	count_class(index, JVS_CLASS_COUNT_PARSED);
	thread = class_thread(tid);
	scratch = take_scratch();
	if (!scratch) {
		count_class(index, JVS_CLASS_COUNT_EVENT_LOST);
		return 0;
	}
	if (!thread)
		goto out;
	drop_stale_frames(thread, tid, sp);
	frame = class_frame(thread->top, tid);
	if (!frame || frame->parser) {
		scratch->frame.symbol = symbol;
		scratch->frame.loader = loader;
		begin_frame(thread, scratch, sp, stream);
		frame = class_frame(thread->top, tid);
		if (!frame)
			goto out;
		take_archived_hook(thread, frame);
	}
	frame->parser = parser;
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
JVS_FN int jvs_on_class_parsed(__u64 parser)
{
	__u32 index, tid = bpf_get_current_pid_tgid();
	struct jvs_class_facts_key key = { 0 };
	struct jvs_class_frame_key at = { .tid = tid };
	struct jvs_class_thread *thread = current_class_thread(&index);
	struct jvs_class_frame *frame;
	__u64 now = bpf_ktime_get_ns(), outer_ns;

	if (!thread)
		return 0;
	frame = class_frame(thread->top, tid);
	if (!frame || frame->parser != parser)
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
JVS_FN int jvs_on_class_notified(__u64 klass, __u64 archived)
{
	const struct jvs_class_layout *layout;
	struct jvs_class_thread *thread;
	__u32 index;

	if (!jvs_current_target(&index))
		return 0;
	count_class(index, JVS_CLASS_COUNT_NOTIFIED);
	thread = class_thread(bpf_get_current_pid_tgid());
	if (!thread)
		return 0;
	thread->notified = klass;
	thread->notified_archived = archived & 1;
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
	/* What is nested is of other classes, which are counted or listed. */
	if (facts->parse_ns > facts->nested_ns)
		__sync_fetch_and_add(&rule->parse_ns, facts->parse_ns - facts->nested_ns);
	__sync_fetch_and_add(&rule->transform_ns, facts->transform_ns);
}

/* Klass::append_to_sibling_list(this): once for each class that was really loaded, and for arrays
 */
static __always_inline int on_class_load(__u64 klass)
{
	const struct jvs_class_layout *layout;
	struct jvs_class_scratch *scratch;
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
	if (class_mode(index) == JVS_CLASS_MODE_COUNTED) {
		count_class(index, JVS_CLASS_COUNT_COUNTED);
		return 0;
	}
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
JVS_FN int jvs_on_class_unload(__u64 klass)
{
	const struct jvs_class_layout *layout;
	struct jvs_class_scratch *scratch;
	struct jvs_class_rule *rule;
	__u32 index;

	if (!jvs_current_target(&index))
		return 0;
	count_class(index, JVS_CLASS_COUNT_UNLOADED);
	if (class_mode(index) == JVS_CLASS_MODE_COUNTED)
		return 0;
	layout = class_layout(index);
	scratch = take_scratch();
	if (!scratch) {
		count_class(index, JVS_CLASS_COUNT_UNLOAD_LOST);
		return 0;
	}
	fill_event(scratch, JVS_EVENT_CLASS_UNLOAD, index, klass, layout);
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
JVS_FN int jvs_on_class_redefined(__u64 klass)
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
	fill_event(scratch, JVS_EVENT_CLASS_REDEFINED, index, klass, layout);
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
JVS_FN int jvs_on_class_loader(__u64 loader)
{
	struct jvs_class_loader_key key = { .loader = loader };
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
JVS_FN int jvs_on_class_loader_end(__u64 loader)
{
	struct jvs_class_loader_key key = { .loader = loader };
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
	jvs_fill_event(&scratch->loader.event, JVS_EVENT_CLASS_LOADER_END, index);
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
JVS_FN int jvs_on_class_init(__u64 klass)
{
	__u32 index, tid = bpf_get_current_pid_tgid();
	struct jvs_class_init_key key = { .klass = klass, .tid = tid };
	struct jvs_class_init init = { .start_ns = bpf_ktime_get_ns() };
	struct jvs_class_thread *thread = current_class_thread(&index);

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
static __always_inline int on_class_initialized(__u64 klass)
{
	__u32 index, tid = bpf_get_current_pid_tgid();
	struct jvs_class_init_key key = { .klass = klass, .tid = tid };
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

/* ---- programs */

static __always_inline int on_site(struct pt_regs *ctx)
{
	switch (bpf_get_attach_cookie(ctx)) {
	case JVS_CLASS_SITE_PARSE:
		return jvs_on_class_parse(PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx),
					  PT_REGS_PARM3(ctx), PT_REGS_SP(ctx));
	case JVS_CLASS_SITE_HOOK:
		return jvs_on_class_hook(PT_REGS_PARM1(ctx), PT_REGS_PARM4(ctx),
					 PT_REGS_PARM5(ctx));
	case JVS_CLASS_SITE_PARSER:
		return jvs_on_class_parser(PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx),
					   PT_REGS_PARM3(ctx), PT_REGS_PARM4(ctx), PT_REGS_SP(ctx));
	case JVS_CLASS_SITE_PARSED:
		return jvs_on_class_parsed(PT_REGS_PARM1(ctx));
	case JVS_CLASS_SITE_NOTIFIED:
		return jvs_on_class_notified(PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx));
	case JVS_CLASS_SITE_LOAD:
		return on_class_load(PT_REGS_PARM1(ctx));
	case JVS_CLASS_SITE_UNLOAD:
		return jvs_on_class_unload(PT_REGS_PARM1(ctx));
	case JVS_CLASS_SITE_REDEFINED:
		return jvs_on_class_redefined(PT_REGS_PARM4(ctx));
	case JVS_CLASS_SITE_REDEFINED_11:
		return jvs_on_class_redefined(PT_REGS_PARM3(ctx));
	case JVS_CLASS_SITE_LOADER:
		return jvs_on_class_loader(PT_REGS_PARM1(ctx));
	case JVS_CLASS_SITE_LOADER_END:
		return jvs_on_class_loader_end(PT_REGS_PARM1(ctx));
	case JVS_CLASS_SITE_INIT:
		return jvs_on_class_init(PT_REGS_PARM1(ctx));
	case JVS_CLASS_SITE_INITIALIZED:
		return on_class_initialized(PT_REGS_PARM1(ctx));
	case JVS_CLASS_SITE_VM_INITIALIZED:
		return jvs_on_vm_initialized();
	case JVS_CLASS_SITE_PREMAIN:
		return jvs_on_premain();
	case JVS_CLASS_SITE_MAIN:
		return jvs_on_main();
	case JVS_CLASS_SITE_READ:
		return jvs_on_class_read(PT_REGS_PARM1(ctx));
	case JVS_CLASS_SITE_VERIFY:
		return jvs_on_class_verify(PT_REGS_PARM1(ctx));
	case JVS_CLASS_SITE_REWRITE:
		return jvs_on_class_rewrite(PT_REGS_PARM1(ctx));
	case JVS_CLASS_SITE_METHODS:
		return jvs_on_class_methods(PT_REGS_PARM1(ctx), PT_REGS_SP(ctx));
	case JVS_CLASS_SITE_UNLOCKED:
		return on_class_unlocked(PT_REGS_PARM1(ctx));
	case JVS_CLASS_SITE_AGENT:
		return jvs_on_agent(PT_REGS_PARM1(ctx), JVS_CLASS_PHASE_LOADING);
	case JVS_CLASS_SITE_AGENTS_LOADED:
		return jvs_on_agent(0, JVS_CLASS_PHASE_ALL_LOADED);
	case JVS_CLASS_SITE_AGENT_LOADED:
		return jvs_on_agent(PT_REGS_PARM1(ctx), JVS_CLASS_PHASE_LOADED);
	}
	return 0;
}

static __always_inline bool is_phase(__u64 site)
{
	return site == JVS_CLASS_SITE_INIT || site == JVS_CLASS_SITE_INITIALIZED ||
	       site >= JVS_CLASS_SITE_READ;
}

/* What a hit costs, but for the trap, which userspace knows. */
static __always_inline int on_hit(struct pt_regs *ctx)
{
	__u64 start_ns = bpf_ktime_get_ns();
	__u32 index;

	on_site(ctx);
	if (!jvs_current_target(&index))
		return 0;
	count_class(index, JVS_CLASS_COUNT_HITS);
	if (is_phase(bpf_get_attach_cookie(ctx)))
		count_class(index, JVS_CLASS_COUNT_PHASE_HITS);
	add_class(index, JVS_CLASS_COUNT_RUN_NS, bpf_ktime_get_ns() - start_ns);
	return 0;
}

SEC("?uprobe")
int jvs_class_entry(struct pt_regs *ctx)
{
	return on_hit(ctx);
}

SEC("?uprobe")
int jvs_class_entry_multi(struct pt_regs *ctx)
{
	return on_hit(ctx);
}
