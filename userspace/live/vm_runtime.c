/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "jvm/jvm.h"
#include "live/decode.h"
#include "live/process.h"
#include "live/vm_impl.h"
#include "model/recording.h"
#include "model/runtime.h"
#include "target/image.h"
#include "target/target.h"

/* Threads that start and end, compilations, deoptimizations, exceptions. */

enum { REASON, ACTION };

/* ---- what the kernel must know */

void vm_find_trap_names(struct vm_target *t, struct image *image, uint64_t bias)
{
	static const char *const symbols[] = {
		[REASON] = "_ZN14Deoptimization17_trap_reason_nameE",
		[ACTION] = "_ZN14Deoptimization17_trap_action_nameE",
	};

	for (int i = 0; i < 2; i++) {
		uint64_t vaddr;

		if (image_symbol(image, symbols[i], false, &vaddr))
			continue;
		t->trap_names[i] = vaddr + bias;
		t->trap_name_counts[i] = (uint32_t)(image_symbol_size(image, symbols[i]) / 8);
	}
}

void vm_show_runtime(struct vm *vm, const struct process *p)
{
	struct vm_target *t = &vm->targets[p->index];
	struct jvm_task_layout task = { 0 };
	bool found = !jvm_task_layout(p->jvm, &task);

	if (!found && !t->runtime_shown && vm->groups & 1u << JVS_VM_JIT)
		log_warn("pid %d: it does not show its CompileTask: no compilations",
			 p->target->pid);
	t->runtime_shown = true;
	t->runtime = (struct jvs_runtime_control){ .objects = t->lock.objects,
						   .task_method = task.method,
						   .task_id = task.id,
						   .task_level = task.level,
						   .task_osr_bci = task.osr_bci,
						   .task_inlined = task.inlined,
						   .task_succeeded = task.succeeded,
						   .task_code_size = task.code_size,
						   .task_code = task.code,
						   .nmethod_consts = task.consts,
						   .nmethod_oops = task.oops,
						   .nmethod_scopes = task.scopes,
						   .nmethod_dependencies = task.dependencies,
						   .nmethod_handlers = task.handlers,
						   .nmethod_end = task.end,
						   .method_const = task.const_method,
						   .ready = found };
	bpf_map_update_elem(vm->runtime_fd, &p->index, &t->runtime, BPF_ANY);
}

/* ---- threads */

/*
 * A thread whose Java name was never read has the name that the kernel had of it at its end: in the
 * first moment of its life that is its parent's.
 */
static void name_by_comm(const struct process *p, struct recording *rec, uint32_t id,
			 const char comm[16])
{
	struct rec_thread *thread = rec_thread_get(rec, id);
	char text[17];
	uint32_t at;

	if (!thread || (map64_get(&p->threads, (uint64_t)thread->tid, &at) && p->known[at].named))
		return;
	snprintf(text, sizeof(text), "%.16s", comm);
	thread->name = rec_string(rec, text, strlen(text));
	thread->group = rec_string(rec, "java", 4);
}

static void take_thread(struct vm_target *t, struct decoder *d, struct process *p,
			struct recording *rec, const struct jvs_thread_event *record)
{
	struct rec_thread_event row = { .jvm = p->rec_jvm,
					.ends = record->site == JVS_VM_THREAD_EXITS,
					.time_ns = d->epoch_ns + (int64_t)record->event.time_ns };
	struct vm_starting *starting = &t->starting;
	uint32_t thread = decode_thread(p, rec, &record->event);

	if (record->site == JVS_VM_THREAD_STARTS) {
		struct vm_start *start = &starting->items[starting->next++ % VM_STARTING];

		t->losses[VM_LOSS_PARENTS] += start->thread != 0;
		*start = (struct vm_start){ .thread = record->thread, .parent = thread };
		if (record->stack)
			decode_stack(d, record->stack, &start->stack);
		return;
	}
	row.thread = thread;
	if (row.ends)
		name_by_comm(p, rec, thread, record->comm);
	for (int i = 0; i < VM_STARTING && !row.ends; i++) {
		struct vm_start *start = &starting->items[i];

		if (start->thread != record->thread)
			continue;
		row.parent = start->parent;
		row.stack = start->stack;
		start->thread = 0;
	}
	p->rethread = true;
	rec_thread_event(rec, &row);
}

/* ---- compilations */

/* The method by the frame that an interpreter would have of it. */
static uint32_t method_of(struct decoder *d, struct process *p, struct recording *rec,
			  const struct jvs_compilation *record)
{
	struct jvs_frame frame = {
		.word = jvs_frame_word(record->method, JVS_FRAME_INTERPRETED, JVS_HOW_NORMAL),
		.offset = JVS_NO_BCI,
		.cookie = (uint32_t)(record->const_method >> 3),
	};
	struct raw_stack raw = {
		.frames = &frame, .stored = 1, .walked = 1, .status = JVS_STATUS_END
	};
	struct rec_stack stack = rec_stack_get(rec, resolve_stack(&d->resolver, p, rec, &raw));

	return stack.count ? rec_frame_get(rec, stack.frames[0])->method : 0;
}

/* What was read where a task has nothing of the kind is no size. */
#define CODE_BYTES_MAX (1u << 28)

static enum rec_compiled outcome_of(const struct jvs_compilation *record)
{
	bool has_code = record->code_bytes && record->code_bytes <= CODE_BYTES_MAX;

	if (record->succeeded == 1)
		return has_code ? REC_COMPILED : REC_COMPILED_UNKNOWN;
	return record->succeeded || has_code ? REC_COMPILED_UNKNOWN : REC_COMPILED_NOT;
}

static void take_compilation(struct decoder *d, struct process *p, struct recording *rec,
			     const struct jvs_compilation *record)
{
	const struct rec_compilation row = {
		.jvm = p->rec_jvm,
		.thread = decode_thread(p, rec, &record->event),
		.method = method_of(d, p, rec, record),
		.compile_id = record->compile_id,
		.level = record->level,
		.osr_bci = (int32_t)record->osr_bci,
		.inlined_bytes = record->inlined_bytes,
		.outcome = outcome_of(record),
		.code_bytes = outcome_of(record) == REC_COMPILED ? record->code_bytes : 0,
		.time_ns = d->epoch_ns + (int64_t)record->start_ns,
		.duration_ns = record->event.time_ns - record->start_ns,
	};

	rec_compilation(rec, &row);
}

/* ---- deoptimizations */

/* How HotSpot packs a request: all bits but the debug number, inverted; or the class it lacks. */
#define ACTION_BITS 3
#define REASON_BITS 5

static uint32_t bits_of(int32_t request, int shift, int count)
{
	return ((uint32_t)~request >> shift) & ((1u << count) - 1);
}

/* The name in the target's own table; "" when it cannot be read. */
static void read_name(const struct vm_target *t, const struct process *p, int which,
		      uint32_t number, char *to, size_t size)
{
	uint64_t at;

	to[0] = '\0';
	if (!t->trap_names[which] || number >= t->trap_name_counts[which] ||
	    target_read_u64(p->target, t->trap_names[which] + 8ull * number, &at) ||
	    target_read_string(p->target, at, to, size) < 0)
		to[0] = '\0';
}

static void take_trap(struct vm_target *t, struct decoder *d, struct process *p,
		      struct recording *rec, const struct jvs_trap *record)
{
	char reason[64] = "unloaded", action[64] = "reinterpret", text[160];
	struct rec_sample sample = { .time_ns = d->epoch_ns + (int64_t)record->event.time_ns,
				     .key = { .metric = REC_DEOPTIMIZATION, .jvm = p->rec_jvm },
				     .value = 1 };

	if (record->request < 0) {
		read_name(t, p, REASON, bits_of(record->request, ACTION_BITS, REASON_BITS), reason,
			  sizeof(reason));
		read_name(t, p, ACTION, bits_of(record->request, 0, ACTION_BITS), action,
			  sizeof(action));
	}
	snprintf(text, sizeof(text), "%s, %s", reason, action);
	sample.key.label = rec_string(rec, text, strlen(text));
	sample.key.thread = decode_thread(p, rec, &record->event);
	if (record->stack)
		decode_stack(d, record->stack, &sample.key.stack);
	rec_add(rec, &sample.key, 1, 1);
	rec_sample(rec, &sample);
}

/* ---- exceptions */

static void take_exception(struct vm_target *t, struct decoder *d, struct process *p,
			   struct recording *rec, const struct jvs_exception *record)
{
	struct rec_sample sample = { .time_ns = d->epoch_ns + (int64_t)record->event.time_ns,
				     .key = { .metric = REC_EXCEPTION, .jvm = p->rec_jvm },
				     .value = 1 };

	sample.key.label = klasses_name(&t->klasses, p, rec, record->klass);
	sample.key.thread = decode_thread(p, rec, &record->event);
	if (record->stack)
		decode_stack(d, record->stack, &sample.key.stack);
	rec_add(rec, &sample.key, 1, 1);
	rec_sample(rec, &sample);
}

void vm_take_runtime(struct vm_target *t, struct decoder *d, struct process *p,
		     struct recording *rec, const struct jvs_event *event)
{
	switch (event->kind) {
	case JVS_EVENT_THREAD:
		take_thread(t, d, p, rec, (const void *)event);
		break;
	case JVS_EVENT_COMPILATION:
		take_compilation(d, p, rec, (const void *)event);
		break;
	case JVS_EVENT_TRAP:
		take_trap(t, d, p, rec, (const void *)event);
		break;
	case JVS_EVENT_EXCEPTION:
		take_exception(t, d, p, rec, (const void *)event);
		break;
	}
}
