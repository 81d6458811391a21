/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "jvm/jvm.h"
#include "live/decode.h"
#include "live/keys.h"
#include "live/process.h"
#include "live/vm_impl.h"
#include "model/recording.h"
#include "target/image.h"
#include "target/target.h"

/* Threads that wait: for monitors, in Object.wait(), in LockSupport.park(). */

/* Groups that look at Java objects. */
#define WITH_OBJECTS \
	(1u << JVS_VM_LOCK | 1u << JVS_VM_EXCEPTION | 1u << JVS_VM_JIT | 1u << JVS_VM_IO)

#define THRESHOLD_NS   10000000 /* of the JDK's own profile settings */
#define MONITOR_OBJECT 8	/* ObjectMonitor::_object, behind the displaced header: 8 to 27 */

static const enum rec_metric metrics[JVS_LOCK_OPS] = {
	[JVS_LOCK_ENTER] = REC_LOCK_WAIT,
	[JVS_LOCK_WAIT] = REC_OBJECT_WAIT,
	[JVS_LOCK_PARK] = REC_PARK,
};

/*
 * JDK 28 has nothing before it. ObjectMonitor::object() begins with the load of it, mov rdi, [rdi]
 * or [rdi + imm8], behind an endbr64 where there is one.
 */
void vm_find_monitor_object(struct vm_target *t, struct image *image)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t load[] = { 0x48, 0x8b }, from_start = 0x3f;
	const uint8_t *code;
	uint64_t vaddr;
	size_t size;

	t->monitor_object = MONITOR_OBJECT;
	if (image_symbol(image, "_ZNK13ObjectMonitor6objectEv", false, &vaddr))
		return;
	code = image_bytes(image, vaddr, &size);
	if (!code || size < sizeof(endbr64) + sizeof(load) + 1)
		return;
	if (!memcmp(code, endbr64, sizeof(endbr64)))
		code += sizeof(endbr64);
	if (!memcmp(code, load, sizeof(load)) && code[sizeof(load)] == from_start)
		t->monitor_object = 0;
}

void vm_show_locks(struct vm *vm, const struct process *p)
{
	struct vm_target *t = &vm->targets[p->index];

	t->lock = (struct jvs_lock_control){ .threshold_ns = THRESHOLD_NS,
					     .monitor_object = t->monitor_object,
					     .epoch = t->layout.epoch };
	bpf_map_update_elem(vm->locks_fd, &p->index, &t->lock, BPF_ANY);
}

/* Most of what can be missing comes while the JVM starts. */
static void put_off(struct vm_target *t, const struct process *p, int err)
{
	if (err == -ENOENT || err == -EBADMSG) {
		log_warn(
			"pid %d: how its objects look is not known: locks and exceptions have no class",
			p->target->pid);
		t->objects.given_up = true;
		return;
	}
	t->objects.waiting = t->objects.waiting ? 2 * t->objects.waiting : 1;
	if (t->objects.waiting > VM_OBJECTS_WAIT_MAX)
		t->objects.waiting = VM_OBJECTS_WAIT_MAX;
	t->objects.ticks = t->objects.waiting;
}

void vm_show_objects(struct vm *vm, const struct process *p)
{
	struct vm_target *t = &vm->targets[p->index];
	int err;

	if (!(vm->groups & WITH_OBJECTS) || !p->jvm)
		return;
	if (!t->runtime_shown)
		vm_show_runtime(vm, p);
	if (t->objects.known || t->objects.given_up || (t->objects.ticks && --t->objects.ticks))
		return;
	err = jvm_object_layout(p->jvm, &t->lock.objects);
	if (err) {
		put_off(t, p, err);
		return;
	}
	t->objects.known = true;
	vm_show_runtime(vm, p);
	bpf_map_update_elem(vm->locks_fd, &p->index, &t->lock, BPF_ANY);
}

void vm_take_lock(struct vm_target *t, struct decoder *d, struct process *p, struct recording *rec,
		  const struct jvs_lock_event *event)
{
	struct rec_sample sample = { .time_ns = d->epoch_ns + (int64_t)event->start_ns,
				     .key = { .jvm = p->rec_jvm },
				     .state = REC_STATE_BLOCKED,
				     .value = (int64_t)(event->event.time_ns - event->start_ns),
				     .address = event->address };
	struct jvs_event by = event->event;

	if (event->op >= JVS_LOCK_OPS) {
		d->bad_records++;
		return;
	}
	if (event->timeout != JVS_LOCK_NO_TIMEOUT)
		sample.timeout_ns = event->timeout;
	sample.key.metric = metrics[event->op];
	sample.key.label = klasses_name(&t->klasses, p, rec, event->klass);
	sample.key.thread = decode_thread(p, rec, &event->event);
	by.tid = event->by;
	sample.by = event->by ? decode_thread(p, rec, &by) : 0;
	if (event->stack)
		decode_stack(d, event->stack, &sample.key.stack);
	rec_add(rec, &sample.key, 1, sample.value);
	rec_sample(rec, &sample);
}

/* ---- what was shorter */

/* A stack of one mark: how long it took to be worth a stack of its own. */
static uint32_t short_stack(struct recording *rec)
{
	static const char text[] = "[shorter than 10 ms]";
	const struct rec_method method = { .name = rec_string(rec, text, sizeof(text) - 1) };
	const struct rec_frame frame = {
		.method = rec_method(rec, &method), .kind = REC_FRAME_STUB, .line = -1, .bci = -1
	};
	uint32_t id = rec_frame(rec, &frame);

	return rec_stack(rec, &id, 1, REC_STACK_COMPLETE);
}

static struct keys sums_of(const struct vm *vm)
{
	return (struct keys){ .map_fd = vm->lock_sums_fd,
			      .size = sizeof(struct jvs_lock_key),
			      .target_at = offsetof(struct jvs_lock_key, target),
			      .limit = JVS_LOCK_SUMS };
}

struct telling {
	struct vm *vm;
	const struct process *p;
	struct recording *rec;
};

/* What the recording has been told of a sum, which the kernel never begins anew. */
struct vm_lock_sum {
	struct jvs_lock_key key;
	struct jvs_lock_sum told;
};

void vm_tell_lock(struct vm_target *t, const struct process *p, struct recording *rec,
		  const struct jvs_lock_key *key, const struct jvs_lock_sum *sum)
{
	const struct vm_lock_sum row = { .key = *key };
	struct rec_key to = { .jvm = p->rec_jvm };
	struct jvs_lock_sum *told;
	uint32_t id;

	t->lock_sums.row_size = sizeof(row);
	t->lock_sums.key_size = sizeof(row.key);
	if (key->op >= JVS_LOCK_OPS || table_add(&t->lock_sums, &row, JVS_LOCK_SUMS, &id))
		return;
	told = &((struct vm_lock_sum *)table_get(&t->lock_sums, id))->told;
	if (sum->count == told->count)
		return;
	to.metric = metrics[key->op];
	to.stack = short_stack(rec);
	to.label = klasses_name(&t->klasses, p, rec, key->klass);
	rec_add(rec, &to, (int64_t)(sum->count - told->count), (int64_t)(sum->ns - told->ns));
	*told = *sum;
}

static void tell_sum(const void *key, void *ctx)
{
	const struct telling *telling = ctx;
	struct jvs_lock_sum sum;

	if (!bpf_map_lookup_elem(telling->vm->lock_sums_fd, key, &sum))
		vm_tell_lock(&telling->vm->targets[telling->p->index], telling->p, telling->rec,
			     key, &sum);
}

void vm_tell_locks(struct vm *vm, const struct process *p, struct recording *rec)
{
	const struct keys sums = sums_of(vm);
	struct telling telling = { vm, p, rec };

	if (vm->groups & 1u << JVS_VM_LOCK)
		keys_each(&sums, p->index, tell_sum, &telling);
}

void vm_drop_locks(const struct vm *vm, uint32_t target)
{
	const struct keys sums = sums_of(vm);

	keys_drop(&sums, target);
}
