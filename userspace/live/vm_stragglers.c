/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/jvs_vm.h"
#include "jvm/jvm.h"
#include "live/decode.h"
#include "live/process.h"
#include "live/vm_impl.h"
#include "model/recording.h"
#include "target/target.h"

/*
 * Threads that keep the others waiting for a safepoint. The kernel tells of each that stops late,
 * with the stack of where it does, which is behind what took it so long: the next poll, often of
 * the return of that very method, whose frame is gone by then, so it is put back. A CPU sample of
 * the same time is of that itself, so its stack is the better one; and it is all there is of a
 * thread that went to native code or to wait, where it stops nowhere but is as good as stopped.
 */

#define ROWS_MAX     ((size_t)2 * VM_STOPPED)
#define POLL_HANDLER "handle_polling_page_exception"

/* The stragglers of one safepoint. */
struct telling {
	const struct jvs_safepoint *safepoint;
	struct rec_straggler rows[ROWS_MAX];
	size_t count;
};

void vm_see_running(struct vm_target *t, const struct vm_running *running)
{
	t->running[t->next_running++ % VM_RUNNING] = *running;
}

/* ---- who is waited for */

/*
 * The VM keeps a ThreadSafepointState for each JavaThread: {bool at a poll, JavaThread *, bool
 * safe,
 * ...}. Nothing exports where a thread has its own, but it is near to the thread's state (8 to 24
 * bytes behind it in 17 and 25) and points back.
 */
#define STATE_WORDS   8 /* looked at: those behind JavaThread::_thread_state */
#define STATE_THREADS 3
#define STATE_TRIES   100 /* ten a second: a JVM that starts has few threads */

static bool points_back(const struct target *target, uint64_t thread, uint32_t offset)
{
	uint64_t at, state[JVS_VM_SAFEPOINT_SAFE / 8 + 1];

	return !target_read_u64(target, thread + offset, &at) && at && at % 8 == 0 &&
	       !target_read(target, at, state, sizeof(state)) && state[1] == thread &&
	       (state[0] & 0xff) <= 1 && (state[2] & 0xff) <= 1;
}

/* The one word that does so in all threads; 0: there is none, or several. */
static uint32_t find_state(const struct process *p, const uint64_t *threads)
{
	uint32_t first = (jvm_layout(p->jvm)->thread_state + 7) & ~7u, found = 0;

	for (uint32_t offset = first; offset < first + 8 * STATE_WORDS; offset += 8) {
		size_t same = 0;

		while (same < STATE_THREADS && points_back(p->target, threads[same], offset))
			same++;
		if (same < STATE_THREADS)
			continue;
		if (found)
			return 0;
		found = offset;
	}
	return found;
}

void vm_find_safepoint_states(struct vm *vm, const struct process *p)
{
	struct vm_target *t = &vm->targets[p->index];
	uint64_t threads[STATE_THREADS];
	size_t count = 0;

	if (!t->sets[JVS_VM_SAFEPOINT].attached || t->layout.thread_safepoint || !p->jvm ||
	    t->state_tries >= STATE_TRIES)
		return;
	t->state_tries++;
	for (size_t i = 0; i < p->known_count && count < STATE_THREADS; i++)
		if (p->known[i].java_thread)
			threads[count++] = p->known[i].java_thread;
	if (count < STATE_THREADS)
		return;
	t->layout.thread_safepoint = find_state(p, threads);
	if (t->layout.thread_safepoint)
		bpf_map_update_elem(vm->layouts_fd, &p->index, &t->layout, BPF_ANY);
}

/* ---- where it stops */

/* The first Java frame, if the thread hit a safepoint poll of compiled code there; else 0. */
static size_t frame_of_poll(const struct recording *rec, const struct rec_stack *stack)
{
	size_t at = 0;
	const struct rec_frame *frame;

	while (at < stack->count && !rec_kind_is_java(rec_frame_get(rec, stack->frames[at])->kind))
		at++;
	/* Above it the stub that the poll went to, and what the stub calls. */
	if (at < 2 || at == stack->count)
		return 0;
	frame = rec_frame_get(rec, stack->frames[at - 2]);
	return strstr(rec_text(rec, rec_method_get(rec, frame->method)->name), POLL_HANDLER) ? at
											     : 0;
}

static uint32_t method_of(const struct recording *rec, uint32_t frame)
{
	return rec_frame_get(rec, frame)->method;
}

/* The stack with a frame of the method that was about to return, if that has none any more. */
static uint32_t with_returning(struct decoder *d, struct process *p, struct recording *rec,
			       uint32_t id, uint64_t poll_pc)
{
	struct rec_stack stack = rec_stack_get(rec, id), returning;
	size_t at = frame_of_poll(rec, &stack);
	struct raw_stack raw = { .stored = 1, .walked = 1, .status = JVS_STATUS_END };
	struct jvs_frame frame;
	uint32_t *frames;

	if (!at || !poll_pc || !p->jvm || jvm_frame_at(p->jvm, poll_pc, &frame))
		return id;
	raw.frames = &frame;
	returning = rec_stack_get(rec, resolve_stack(&d->resolver, p, rec, &raw));
	stack = rec_stack_get(rec, id);
	if (!returning.count ||
	    method_of(rec, returning.frames[0]) == method_of(rec, stack.frames[at]))
		return id;
	frames = calloc(stack.count + returning.count, sizeof(*frames));
	if (!frames)
		return id;
	memcpy(frames, stack.frames, at * sizeof(*frames));
	memcpy(frames + at, returning.frames, returning.count * sizeof(*frames));
	memcpy(frames + at + returning.count, stack.frames + at,
	       (stack.count - at) * sizeof(*frames));
	id = rec_stack(rec, frames, stack.count + returning.count, stack.state);
	free(frames);
	return id;
}

void vm_take_straggler(struct vm_target *t, struct decoder *d, struct process *p,
		       struct recording *rec, const struct jvs_straggler *record)
{
	struct vm_stopped *stopped = &t->stopped[t->next_stopped++ % VM_STOPPED];

	/* The safepoint that it is of comes last: one of the same was not told yet. */
	t->losses[VM_LOSS_STRAGGLERS] += stopped->start_ns == record->start_ns;
	*stopped = (struct vm_stopped){ .start_ns = record->start_ns,
					.time_ns = record->event.time_ns,
					.thread = decode_thread(p, rec, &record->event) };
	if (record->stack && decode_stack(d, record->stack, &stopped->stack))
		stopped->stack = with_returning(d, p, rec, stopped->stack, record->saved_pc);
}

static struct rec_straggler *row_of(struct telling *telling, uint32_t thread)
{
	for (size_t i = 0; i < telling->count; i++)
		if (telling->rows[i].thread == thread)
			return &telling->rows[i];
	return NULL;
}

static void add_stopped(struct telling *telling, const struct vm_stopped *stopped)
{
	if (!stopped->start_ns || stopped->start_ns != telling->safepoint->start_ns)
		return;
	telling->rows[telling->count++] =
		(struct rec_straggler){ .thread = stopped->thread,
					.stack = stopped->stack,
					.late_ns = stopped->time_ns - stopped->start_ns };
}

/* Samples come newest first: the last one of a thread counts. */
static void add_running(struct telling *telling, const struct vm_running *running)
{
	const struct jvs_safepoint *safepoint = telling->safepoint;
	struct rec_straggler *row;

	if (running->time_ns <= safepoint->start_ns || running->time_ns >= safepoint->reached_ns)
		return;
	row = row_of(telling, running->thread);
	if (row && !row->sampled) {
		row->stack = running->stack;
		row->sampled = true;
	}
	if (row || running->time_ns < safepoint->start_ns + VM_STRAGGLER_NS ||
	    telling->count == ROWS_MAX)
		return;
	telling->rows[telling->count++] =
		(struct rec_straggler){ .thread = running->thread,
					.stack = running->stack,
					.sampled = true,
					.late_ns = running->time_ns - safepoint->start_ns };
}

void vm_tell_stragglers(const struct vm_target *t, const struct process *p, struct recording *rec,
			const struct jvs_safepoint *record, uint32_t safepoint)
{
	struct telling telling = { .safepoint = record };

	for (uint32_t i = 0; i < VM_STOPPED; i++)
		add_stopped(&telling, &t->stopped[(t->next_stopped + i) % VM_STOPPED]);
	for (uint32_t i = 1; i <= VM_RUNNING; i++)
		add_running(&telling, &t->running[(t->next_running - i) % VM_RUNNING]);
	for (size_t i = 0; i < telling.count; i++) {
		telling.rows[i].jvm = p->rec_jvm;
		telling.rows[i].safepoint = safepoint;
		rec_straggler(rec, &telling.rows[i]);
	}
}
