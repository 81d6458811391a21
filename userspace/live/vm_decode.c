/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "live/decode.h"
#include "live/process.h"
#include "live/vm_impl.h"
#include "live/vm_io.h"
#include "model/gc.h"
#include "model/recording.h"

/* Records of the VM's places; here those of safepoints and operations, the others are passed on. */

static void take_safepoint(struct vm_target *t, const struct decoder *d, struct process *p,
			   struct recording *rec, const struct jvs_safepoint *record)
{
	const struct rec_safepoint row = {
		.jvm = p->rec_jvm,
		.thread = decode_thread(p, rec, &record->event),
		.operation = t->operation.name,
		.threads = record->threads,
		.critical = record->critical,
		.id = record->id,
		.time_ns = d->epoch_ns + (int64_t)record->start_ns,
		.reach_ns = record->reached_ns > record->start_ns
				    ? record->reached_ns - record->start_ns
				    : 0,
		.duration_ns = record->event.time_ns - record->start_ns,
		.resume_ns = record->event.time_ns - record->end_ns,
	};

	t->operation.name = 0;
	vm_tell_stragglers(t, p, rec, record, rec_safepoint(rec, &row));
}

/* The thread of a JavaThread; 0: it is none, or not known. */
static uint32_t thread_at(const struct process *p, struct recording *rec, uint64_t java_thread)
{
	for (size_t i = 0; java_thread && i < p->known_count; i++)
		if (p->known[i].java_thread == java_thread)
			return rec_thread(rec, p->rec_jvm, p->known[i].tid);
	return 0;
}

static uint32_t operation_name(struct recording *rec, const struct jvs_vm_operation *record)
{
	char shown[JVS_VM_OP_NAME + 1] = "";
	const char *name;

	memcpy(shown, record->name, JVS_VM_OP_NAME);
	name = vm_operation_name(shown);
	return rec_string(rec, name, strlen(name));
}

static void take_operation(struct vm_target *t, const struct decoder *d, struct process *p,
			   struct recording *rec, const struct jvs_vm_operation *record)
{
	const struct rec_vm_operation row = {
		.jvm = p->rec_jvm,
		.name = operation_name(rec, record),
		.thread = decode_thread(p, rec, &record->event),
		.caller = thread_at(p, rec, record->caller),
		.stops = record->stops,
		.safepoint = record->safepoint,
		.time_ns = d->epoch_ns + (int64_t)record->start_ns,
		.duration_ns = record->event.time_ns - record->start_ns,
	};

	if (record->stops && !t->operation.name)
		t->operation = row;
	rec_vm_operation(rec, &row);
}

/* The size of each record, by its kind. */
static const size_t sizes[] = {
	[JVS_EVENT_GC_START] = sizeof(struct jvs_gc_start),
	[JVS_EVENT_GC_HEAP] = sizeof(struct jvs_gc_summary),
	[JVS_EVENT_GC_METASPACE] = sizeof(struct jvs_gc_summary),
	[JVS_EVENT_GC_PHASE] = sizeof(struct jvs_gc_phase),
	[JVS_EVENT_GC_END] = sizeof(struct jvs_gc_end),
	[JVS_EVENT_SAFEPOINT] = sizeof(struct jvs_safepoint),
	[JVS_EVENT_VM_OPERATION] = sizeof(struct jvs_vm_operation),
	[JVS_EVENT_STRAGGLER] = sizeof(struct jvs_straggler),
	[JVS_EVENT_LOCK] = sizeof(struct jvs_lock_event),
	[JVS_EVENT_THREAD] = sizeof(struct jvs_thread_event),
	[JVS_EVENT_COMPILATION] = sizeof(struct jvs_compilation),
	[JVS_EVENT_TRAP] = sizeof(struct jvs_trap),
	[JVS_EVENT_EXCEPTION] = sizeof(struct jvs_exception),
	[JVS_EVENT_IO] = sizeof(struct jvs_io_event),
	[JVS_EVENT_HEAP_CLASS] = sizeof(struct jvs_heap_name),
	[JVS_EVENT_HEAP_ALLOCATION] = sizeof(struct jvs_heap_allocation),
};

void vm_decode(struct decoder *d, struct recording *rec, const void *data, size_t size)
{
	const struct jvs_event *event = data;
	struct process *p = &d->processes[event->target];
	struct vm_target *t;

	if (size < sizes[event->kind]) {
		d->bad_records++;
		return;
	}
	if (!d->vm || !p->target || !p->rec_jvm)
		return;
	t = &d->vm->targets[event->target];
	if (event->kind == JVS_EVENT_SAFEPOINT)
		take_safepoint(t, d, p, rec, data);
	else if (event->kind == JVS_EVENT_VM_OPERATION)
		take_operation(t, d, p, rec, data);
	else if (event->kind == JVS_EVENT_STRAGGLER)
		vm_take_straggler(t, d, p, rec, data);
	else if (event->kind == JVS_EVENT_LOCK)
		vm_take_lock(t, d, p, rec, data);
	else if (event->kind == JVS_EVENT_HEAP_CLASS || event->kind == JVS_EVENT_HEAP_ALLOCATION)
		vm_take_heap(t, d, p, rec, event);
	else if (event->kind == JVS_EVENT_IO)
		vm_take_io(t, d, p, rec, data);
	else if (event->kind >= JVS_EVENT_THREAD)
		vm_take_runtime(t, d, p, rec, data);
	else
		vm_take_gc(t, d, p, rec, event);
}
