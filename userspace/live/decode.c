/* SPDX-License-Identifier: Apache-2.0 */
#include "live/decode.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/jvm.h"
#include "live/calls.h"
#include "live/classes.h"
#include "live/mappings.h"
#include "live/offcpu.h"
#include "live/vm.h"
#include "model/groups.h"
#include "model/recording.h"
#include "target/target.h"

/* Between two times that a thread's Java name is asked for. */
#define ASK_MIN_NS 20000000ull
#define ASK_MAX_NS 1000000000ull

#define STACKS_PER_GENERATION (1u << 17)
#define GROUP_JAVA	      "java"
#define GROUP_NATIVE	      "native"
#define CPUS_MAX	      8192 /* the largest CONFIG_NR_CPUS */

/* ---- stacks */

/* What userspace is about to forget, the kernel must not take for known. */
static void forget_older(struct decoder *d)
{
	const struct map64_slot *slot;
	size_t at = 0;

	while ((slot = map64_next(&d->older, &at)))
		tables_forget_stack(d->seen, slot->key);
	map64_free(&d->older);
}

static void remember_stack(struct decoder *d, uint64_t hash, uint32_t stack)
{
	if (d->stacks.count >= STACKS_PER_GENERATION) {
		forget_older(d);
		d->older = d->stacks;
		d->stacks = (struct map64){ 0 };
	}
	map64_set(&d->stacks, hash, stack);
}

static bool find_stack(struct decoder *d, uint64_t hash, uint32_t *stack)
{
	if (map64_get(&d->stacks, hash, stack))
		return true;
	if (!map64_get(&d->older, hash, stack))
		return false;
	remember_stack(d, hash, *stack);
	return true;
}

bool decode_stack(struct decoder *d, uint64_t hash, uint32_t *stack)
{
	if (find_stack(d, hash, stack))
		return true;
	tables_forget_stack(d->seen, hash);
	return false;
}

static void assembly_free(struct assembly *a)
{
	free(a->stack.frames);
	*a = (struct assembly){ 0 };
}

/* Which of its CPU's slots a stack was taken in: the low byte of capture is that of its number. */
static uint8_t slot_of(const struct decoder *d, const struct jvs_stack_part *part)
{
	uint32_t first = part->event.cpu * d->slots_per_cpu;

	return (uint8_t)(part->capture - first);
}

/* The assembly of a scratch slot: it sends the parts of one stack before those of the next. */
static struct assembly *assembly_of_slot(struct decoder *d, const struct jvs_stack_part *part)
{
	uint32_t first = part->event.cpu * d->slots_per_cpu;
	size_t at = first + slot_of(d, part);
	size_t count = first + d->slots_per_cpu;
	struct assembly *items;

	if (part->event.cpu >= CPUS_MAX || at >= count)
		return NULL;
	if (at < d->assembly_count)
		return &d->assemblies[at];
	items = reallocarray(d->assemblies, count, sizeof(*items));
	if (!items)
		return NULL;
	memset(items + d->assembly_count, 0, (count - d->assembly_count) * sizeof(*items));
	d->assemblies = items;
	d->assembly_count = count;
	return &items[at];
}

/* A stack that will never be completed, since a later part was lost, gives way to a new one. */
static struct assembly *assembly_for(struct decoder *d, const struct jvs_stack_part *part)
{
	struct assembly *fresh = assembly_of_slot(d, part);

	if (!fresh || fresh->capture == part->capture)
		return fresh;
	if (part->first != 0)
		return NULL;
	assembly_free(fresh);
	fresh->stack.frames = calloc(part->stored ? part->stored : 1, sizeof(struct jvs_frame));
	if (!fresh->stack.frames)
		return NULL;
	fresh->capture = part->capture;
	fresh->stack.stored = part->stored;
	fresh->stack.walked = part->walked;
	fresh->stack.status = part->status;
	return fresh;
}

static bool part_is_sane(const struct jvs_stack_part *part, size_t size)
{
	return size >= JVS_STACK_PART_HEADER && part->count <= JVS_PART_FRAMES &&
	       size >= JVS_STACK_PART_HEADER + part->count * sizeof(struct jvs_frame) &&
	       part->stored <= JVS_DEPTH_MAX + JVS_KERNEL_DEPTH && part->first <= part->stored &&
	       part->count <= part->stored - part->first;
}

static void on_stack_part(struct decoder *d, struct recording *rec, const void *data, size_t size)
{
	const struct jvs_stack_part *part = data;
	struct process *p;
	struct assembly *a;
	uint32_t stack;

	if (!part_is_sane(part, size)) {
		d->bad_records++;
		return;
	}
	p = &d->processes[part->event.target];
	a = assembly_for(d, part);
	if (!a)
		return;
	for (uint32_t i = 0; i < part->count; i++) {
		a->stack.frames[part->first + i] = part->frames[i];
		if (part->frames[i].word >> 56 == JVS_FRAME_UNMAPPED)
			p->unmapped = true;
	}
	a->have += part->count;
	if (part->first + part->count < part->stored)
		return;
	d->whole_stacks++;
	if (d->hooks && d->hooks->stack)
		d->hooks->stack(d->hooks->ctx, part, &a->stack);
	if (a->have == a->stack.stored && p->target) {
		stack = resolve_stack(&d->resolver, p, rec, &a->stack);
		remember_stack(d, part->stack, stack);
		if (d->calls && slot_of(d, part) >= JVS_SLOT_PROBE)
			calls_see(d->calls, p, rec, part->stack, &a->stack, stack);
	}
	assembly_free(a);
}

/* ---- samples */

static struct known_thread *java_thread_of(const struct process *p, pid_t tid)
{
	uint32_t at;

	return map64_get(&p->threads, (uint64_t)tid, &at) && p->known[at].java_thread
		       ? &p->known[at]
		       : NULL;
}

static void name_thread(struct process *p, struct recording *rec, struct rec_thread *thread,
			bool java)
{
	struct known_thread *known = java_thread_of(p, thread->tid);
	char name[JVM_THREAD_NAME_MAX];
	const char *group;

	target_thread_name(p->target, thread->tid, name, sizeof(name));
	if (thread->name && strcmp(name, "?") == 0)
		return; /* it is gone: what it was called stays */
	group = groups_of_thread(name, java || known);
	if (known && p->jvm) {
		if (!jvm_thread_name(p->jvm, known->java_thread, name, name))
			known->named = true;
		else if (known->named && thread->name)
			return; /* not to be read just now: what it was called stays */
	}
	thread->name = rec_string(rec, name, strlen(name));
	thread->group = rec_string(rec, group, strlen(group));
}

void decode_name_thread(struct process *p, struct recording *rec, struct rec_thread *thread)
{
	name_thread(p, rec, thread, false);
}

/*
 * Whether to ask for a Java name now. A collector that moves objects beside the threads leaves a
 * reference as it was for a while, to where nothing is any more, and then the name cannot be read.
 */
static bool is_to_be_asked(struct known_thread *known, uint64_t now_ns)
{
	if (!known || known->named || now_ns < known->ask_ns)
		return false;
	known->wait_ns = known->wait_ns < ASK_MAX_NS / 2 ? known->wait_ns * 2 : ASK_MAX_NS;
	if (known->wait_ns < ASK_MIN_NS)
		known->wait_ns = ASK_MIN_NS;
	known->ask_ns = now_ns + known->wait_ns;
	return true;
}

static struct rec_thread *thread_of(struct process *p, struct recording *rec,
				    const struct jvs_event *event, bool java, uint32_t *id)
{
	pid_t tid = (pid_t)event->tid;
	struct rec_thread *thread;

	*id = rec_thread(rec, p->rec_jvm, tid);
	thread = rec_thread_get(rec, *id);
	if (thread && (!thread->name || is_to_be_asked(java_thread_of(p, tid), event->time_ns)))
		name_thread(p, rec, thread, java);
	else if (thread && java && strcmp(rec_text(rec, thread->group), GROUP_NATIVE) == 0)
		thread->group = rec_string(rec, GROUP_JAVA, strlen(GROUP_JAVA));
	return thread;
}

uint32_t decode_thread(struct process *p, struct recording *rec, const struct jvs_event *event)
{
	uint32_t id;

	thread_of(p, rec, event, false, &id);
	return id;
}

/* JavaThreadState in globalDefinitions.hpp: 4 in native, 6 in VM, 8 in Java, 10 blocked; odd: in
 * transit. */
static enum rec_thread_state state_of(const struct recording *rec, uint32_t state,
				      const struct rec_thread *thread)
{
	const char *group = rec_text(rec, thread->group);

	switch (state & ~1u) {
	case 4:
		return REC_STATE_IN_NATIVE;
	case 6:
		return REC_STATE_IN_VM;
	case 8:
		return REC_STATE_IN_JAVA;
	case 10:
		return REC_STATE_BLOCKED;
	}
	if (strcmp(group, "gc") == 0 || strcmp(group, "vm") == 0 || strcmp(group, "jit") == 0)
		return REC_STATE_VM_THREAD;
	return REC_STATE_UNKNOWN;
}

static uint32_t state_in(const struct process *p, const struct jvs_cpu_sample *sample)
{
	if (!p->jvm || sample->thread_state == JVS_THREAD_STATE_UNKNOWN)
		return JVS_THREAD_STATE_UNKNOWN;
	return jvm_thread_state(p->jvm, sample->thread_state);
}

/* Where a thread was that may be late for a safepoint. */
static void see_running(struct decoder *d, const struct jvs_cpu_sample *sample,
			const struct rec_key *key, enum rec_thread_state state)
{
	const struct vm_running running = { .time_ns = sample->event.time_ns,
					    .thread = key->thread,
					    .stack = key->stack };

	if (d->vm && (state == REC_STATE_IN_JAVA || state == REC_STATE_IN_VM))
		vm_see_running(&d->vm->targets[sample->event.target], &running);
}

static void on_cpu_sample(struct decoder *d, struct recording *rec, const void *data, size_t size)
{
	const struct jvs_cpu_sample *sample = data;
	struct process *p;
	struct rec_thread *thread;
	enum rec_thread_state state = REC_STATE_UNKNOWN;
	struct rec_key key = { .metric = REC_CPU };

	if (size < sizeof(*sample) || sample->status >= JVS_STATUS_NR) {
		d->bad_records++;
		d->lost_bad++;
		return;
	}
	p = &d->processes[sample->event.target];
	if (!p->target || !decode_stack(d, sample->stack, &key.stack)) {
		d->lost_stack++;
		return;
	}
	if (d->hooks && d->hooks->sample)
		d->hooks->sample(d->hooks->ctx, sample, key.stack);
	thread = thread_of(p, rec, &sample->event, sample->thread_state != JVS_THREAD_STATE_UNKNOWN,
			   &key.thread);
	key.jvm = p->rec_jvm;
	if (sample->source != JVS_SLOT_SAMPLE)
		return; /* a test's: a switch is no CPU time */
	if (thread) {
		state = state_of(rec, state_in(p, sample), thread);
		thread->state_ns[state] += d->period_ns;
	}
	see_running(d, sample, &key, state);
	rec_add(rec, &key, 1, (int64_t)d->period_ns);
	rec_sample(rec,
		   &(struct rec_sample){ .time_ns = d->epoch_ns + (int64_t)sample->event.time_ns,
					 .key = key,
					 .state = state,
					 .value = (int64_t)d->period_ns });
	d->by_status[sample->status]++;
	d->samples++;
}

static void on_mapping(struct decoder *d, struct recording *rec, const void *data, size_t size)
{
	const struct jvs_mapped *record = data;
	uint32_t stack = 0;

	(void)rec;
	if (size < sizeof(*record)) {
		d->bad_records++;
		return;
	}
	if (record->stack)
		decode_stack(d, record->stack, &stack);
	if (d->mappings && d->processes[record->event.target].target)
		mappings_add(d->mappings, record, stack);
}

typedef void (*handler)(struct decoder *d, struct recording *rec, const void *data, size_t size);

static const handler handlers[] = {
	[JVS_EVENT_CPU_SAMPLE] = on_cpu_sample,
	[JVS_EVENT_STACK_PART] = on_stack_part,
	[JVS_EVENT_CLASS_LOAD] = classes_decode,
	[JVS_EVENT_CLASS_UNLOAD] = classes_decode,
	[JVS_EVENT_CLASS_REDEFINED] = classes_decode,
	[JVS_EVENT_CLASS_INIT] = classes_decode,
	[JVS_EVENT_CLASS_LOADER] = classes_decode,
	[JVS_EVENT_CLASS_LOADER_END] = classes_decode,
	[JVS_EVENT_CLASS_BYTES] = classes_decode,
	[JVS_EVENT_CLASS_PHASE] = classes_decode,
	[JVS_EVENT_CLASS_LINK] = classes_decode,
	[JVS_EVENT_MAPPING] = on_mapping,
	[JVS_EVENT_GC_START] = vm_decode,
	[JVS_EVENT_GC_HEAP] = vm_decode,
	[JVS_EVENT_GC_METASPACE] = vm_decode,
	[JVS_EVENT_GC_PHASE] = vm_decode,
	[JVS_EVENT_GC_END] = vm_decode,
	[JVS_EVENT_SAFEPOINT] = vm_decode,
	[JVS_EVENT_VM_OPERATION] = vm_decode,
	[JVS_EVENT_STRAGGLER] = vm_decode,
	[JVS_EVENT_LOCK] = vm_decode,
	[JVS_EVENT_THREAD] = vm_decode,
	[JVS_EVENT_COMPILATION] = vm_decode,
	[JVS_EVENT_TRAP] = vm_decode,
	[JVS_EVENT_EXCEPTION] = vm_decode,
	[JVS_EVENT_IO] = vm_decode,
	[JVS_EVENT_OFFCPU] = offcpu_decode,
	[JVS_EVENT_HEAP_CLASS] = vm_decode,
	[JVS_EVENT_HEAP_ALLOCATION] = vm_decode,
};

void decode_record(struct decoder *d, struct recording *rec, const void *data, size_t size)
{
	const struct jvs_event *event = data;

	if (size < sizeof(*event) || event->kind >= sizeof(handlers) / sizeof(handlers[0]) ||
	    !handlers[event->kind] || event->target >= JVS_MAX_TARGETS) {
		d->bad_records++;
		return;
	}
	handlers[event->kind](d, rec, data, size);
}

void decode_forget(struct decoder *d)
{
	map64_free(&d->stacks);
	map64_free(&d->older);
	resolve_forget(&d->resolver);
}

void decode_free(struct decoder *d)
{
	for (size_t i = 0; i < d->assembly_count; i++)
		assembly_free(&d->assemblies[i]);
	free(d->assemblies);
	d->assemblies = NULL;
	d->assembly_count = 0;
	decode_forget(d);
	resolve_free(&d->resolver);
}
