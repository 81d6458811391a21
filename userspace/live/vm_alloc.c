/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/jvm.h"
#include "jvm/loader.h"
#include "live/decode.h"
#include "live/process.h"
#include "live/vm_impl.h"
#include "model/heap.h"
#include "model/names.h"
#include "model/recording.h"
#include "model/table.h"
#include "target/target.h"

/*
 * Allocation in the Java heap. The kernel has the sums by class, and those count; records say who
 * allocated, and what none of them stands for has no stack.
 */

#define LIBJVM	   "libjvm.so"
#define UNKNOWN	   "(unknown class)"
#define OTHERS	   "(other classes)"
#define EVERY	   16 /* objects that one that is told stands for, about, when not all are */
#define MEAN_BYTES 65536
#define EARLY_MAX  4096 /* records that wait for the name of their class */
#define BATCH	   1024

/* A class, by where it is and where its name is. */
struct class_key {
	uint64_t klass;
	uint64_t symbol;
};

struct heap_class {
	struct class_key key;
	uint32_t name; /* string of the recording; 0: not known yet */
	uint64_t told; /* bytes that records stand for */
	int64_t rest;  /* bytes in the totals without a stack */
};

/* A record whose class has no name yet. */
struct early {
	uint32_t class;
	struct rec_sample sample;
};

struct vm_heap {
	struct jvs_heap_control shown;
	struct jvs_class_layout layout; /* ready 0: not known yet */
	struct table classes;		/* of struct heap_class */
	struct map64 stacks; /* id of a stack as it was taken to one without the VM's frames */
	struct early *early; /* owned */
	uint32_t early_count;
	uint64_t hits, bytes; /* of all records */
	uint32_t unnamed;     /* classes without a name */
	bool over;	      /* all was told */
};

void vm_heap_close(struct vm_target *t)
{
	struct vm_heap *heap = t->heap;

	if (!heap)
		return;
	table_free(&heap->classes);
	map64_free(&heap->stacks);
	free(heap->early);
	free(heap);
	t->heap = NULL;
}

/* ---- what the kernel is told */

static uint64_t interval_of(const struct vm_heap *heap, enum rec_native_state state)
{
	uint64_t mean = heap->hits ? heap->bytes / heap->hits : MEAN_BYTES;

	if (state == REC_NATIVE_EXACT)
		return JVS_HEAP_ALL;
	return state == REC_NATIVE_COUNTERS ? JVS_HEAP_NONE : EVERY * mean;
}

static void show(const struct vm *vm, const struct process *p)
{
	bpf_map_update_elem(vm->heap_controls_fd, &p->index, &vm->targets[p->index].heap->shown,
			    BPF_ANY);
}

/* Where the names of classes are is known when the JVM can be read. */
static void look_for_layout(const struct vm *vm, const struct process *p)
{
	struct vm_heap *heap = vm->targets[p->index].heap;
	struct jvs_heap_control *control = &heap->shown;
	struct jvm_thread_heap thread;

	if (heap->layout.ready || !p->jvm)
		return;
	jvm_class_layout(p->jvm, &heap->layout);
	thread = jvm_thread_heap(p->jvm);
	control->thread_allocated = thread.allocated;
	control->tlab_start = thread.tlab_start;
	control->tlab_top = thread.tlab_top;
	if (!heap->layout.ready)
		return;
	control->klass_name = heap->layout.klass_name;
	control->symbol_body = heap->layout.symbol_body;
	control->symbol_length = heap->layout.symbol_length;
	show(vm, p);
}

void vm_heap_state(const struct vm *vm, const struct process *p, enum rec_native_state state)
{
	struct vm_heap *heap = vm->targets[p->index].heap;

	heap->shown.interval = interval_of(heap, state);
	show(vm, p);
}

/* Sums of those that find no place go there. */
static void make_others(const struct vm *vm, uint32_t target)
{
	static const struct jvs_heap_class none;
	const struct jvs_heap_class_key key = { .target = target };

	bpf_map_update_elem(vm->heap_classes_fd, &key, &none, BPF_ANY);
}

int vm_heap_open(const struct vm *vm, struct vm_target *t, const struct process *p)
{
	t->heap = calloc(1, sizeof(*t->heap));
	if (!t->heap)
		return -ENOMEM;
	t->heap->classes.row_size = sizeof(struct heap_class);
	t->heap->classes.key_size = sizeof(struct class_key);
	make_others(vm, p->index);
	look_for_layout(vm, p);
	show(vm, p);
	return 0;
}

/* ---- classes */

static uint32_t string_of(struct recording *rec, const struct strbuf *text)
{
	return rec_string(rec, strbuf_text(text), text->len);
}

static void set_name(struct vm_heap *heap, struct recording *rec, struct heap_class *class,
		     const char *name, size_t len)
{
	struct strbuf normal = { 0 }, raw = { 0 };

	names_type(name, len, &normal, &raw);
	if (!class->name)
		heap->unnamed--;
	class->name = string_of(rec, &normal);
	strbuf_free(&normal);
	strbuf_free(&raw);
}

/* From the target's memory, while the class is the one that was meant. */
static bool read_name(struct vm_heap *heap, const struct process *p, struct recording *rec,
		      struct heap_class *class)
{
	uint64_t symbol;
	char *name;
	int len;

	if (!heap->layout.ready || !p->target)
		return false;
	symbol = loader_class_symbol(p->target, &heap->layout, class->key.klass);
	if (!symbol || (class->key.symbol && class->key.symbol != symbol))
		return false;
	name = malloc(LOADER_NAME_MAX);
	len = name ? loader_symbol(p->target, &heap->layout, symbol, name, LOADER_NAME_MAX) : -1;
	if (len > 0)
		set_name(heap, rec, class, name, (size_t)len);
	free(name);
	return len > 0;
}

static struct heap_class *class_of(struct vm_heap *heap, struct recording *rec, uint64_t klass,
				   uint64_t symbol, uint32_t *id)
{
	const struct heap_class row = { .key = { klass, symbol } };
	uint32_t count = heap->classes.count;
	struct heap_class *class;

	if (table_add(&heap->classes, &row, REC_MAX_HEAP_CLASSES, id))
		return NULL;
	class = table_get(&heap->classes, *id);
	heap->unnamed += heap->classes.count - count;
	if (!klass && !class->name)
		set_name(heap, rec, class, OTHERS, strlen(OTHERS));
	return class;
}

static void take_name(struct vm_heap *heap, const struct process *p, struct recording *rec,
		      const struct jvs_heap_name *record)
{
	uint32_t id;
	struct heap_class *class = class_of(heap, rec, record->klass, record->symbol, &id);

	if (!class || class->name)
		return;
	if (record->name_len > record->name_bytes && read_name(heap, p, rec, class))
		return;
	if (record->name_bytes && record->name_bytes <= JVS_HEAP_NAME_MAX)
		set_name(heap, rec, class, record->name, record->name_bytes);
}

/* ---- stacks: they begin with the one that asked for memory, not with how the VM finds it */

static bool is_of_vm(const struct recording *rec, uint32_t id)
{
	const struct rec_frame *frame = rec_frame_get(rec, id);
	const struct rec_method *method = rec_method_get(rec, frame->method);

	if (frame->kind == REC_FRAME_CPP)
		return strcmp(rec_text(rec, method->module), LIBJVM) == 0;
	return frame->kind == REC_FRAME_STUB &&
	       strcmp(rec_text(rec, method->name), "call_stub") != 0;
}

static uint32_t without_vm(struct vm_heap *heap, struct recording *rec, uint32_t id)
{
	struct rec_stack stack = rec_stack_get(rec, id);
	uint32_t *frames, first = 0, shorter;

	if (map64_get(&heap->stacks, id, &shorter))
		return shorter;
	while (first < stack.count && is_of_vm(rec, stack.frames[first]))
		first++;
	/* A thread of the VM that allocates has no other frames. */
	if (!first || first == stack.count)
		return id;
	frames = calloc(stack.count - first, sizeof(*frames));
	if (!frames)
		return id;
	memcpy(frames, stack.frames + first, (stack.count - first) * sizeof(*frames));
	shorter = rec_stack(rec, frames, stack.count - first, stack.state);
	free(frames);
	map64_set(&heap->stacks, id, shorter);
	return shorter;
}

/* ---- records */

static void add(struct recording *rec, struct heap_class *class, const struct rec_sample *sample)
{
	struct rec_sample named = *sample;

	named.key.label = class->name;
	rec_add(rec, &named.key, 1, named.value);
	rec_sample(rec, &named);
}

/* Whether there is room to. */
static bool wait_for_name(struct vm_heap *heap, uint32_t class, const struct rec_sample *sample)
{
	if (!heap->early)
		heap->early = calloc(EARLY_MAX, sizeof(*heap->early));
	if (!heap->early || heap->early_count == EARLY_MAX)
		return false;
	heap->early[heap->early_count++] = (struct early){ class, *sample };
	return true;
}

static void take_allocation(struct vm_target *t, struct decoder *d, struct process *p,
			    struct recording *rec, const struct jvs_heap_allocation *record)
{
	struct vm_heap *heap = t->heap;
	struct rec_sample sample = {
		.time_ns = d->epoch_ns + (int64_t)record->event.time_ns,
		.key = { .metric = REC_HEAP_ALLOC, .jvm = p->rec_jvm },
		.state = REC_STATE_IN_VM,
		.value = (int64_t)record->bytes,
		.object_bytes = record->size,
		.tlab_bytes = record->tlab,
	};
	uint32_t id;
	struct heap_class *class = class_of(heap, rec, record->klass, record->symbol, &id);

	if (!class) {
		t->losses[VM_LOSS_UNLISTED]++;
		return;
	}
	heap->hits += record->hits;
	heap->bytes += record->bytes;
	if (record->stack && decode_stack(d, record->stack, &sample.key.stack))
		sample.key.stack = without_vm(heap, rec, sample.key.stack);
	sample.key.thread = decode_thread(p, rec, &record->event);
	if (!class->name && !read_name(heap, p, rec, class)) {
		t->losses[VM_LOSS_UNNAMED] += !wait_for_name(heap, id, &sample);
		return;
	}
	class->told += record->bytes;
	add(rec, class, &sample);
}

void vm_take_heap(struct vm_target *t, struct decoder *d, struct process *p, struct recording *rec,
		  const struct jvs_event *event)
{
	if (!t->heap)
		return;
	if (event->kind == JVS_EVENT_HEAP_CLASS)
		take_name(t->heap, p, rec, (const void *)event);
	else
		take_allocation(t, d, p, rec, (const void *)event);
}

/* ---- now and then */

/* All names that can be read by now. */
static void name_classes(struct vm_heap *heap, const struct process *p, struct recording *rec)
{
	if (!heap->unnamed || !heap->layout.ready)
		return;
	for (uint32_t id = 1; id <= heap->classes.count; id++) {
		struct heap_class *class = table_get(&heap->classes, id);

		if (!class->name)
			read_name(heap, p, rec, class);
	}
}

/* Records that waited. last: they do not any more. */
static void add_early(struct vm_heap *heap, struct recording *rec, bool last)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < heap->early_count; i++) {
		struct heap_class *class = table_get(&heap->classes, heap->early[i].class);

		if (!class->name && last)
			set_name(heap, rec, class, UNKNOWN, strlen(UNKNOWN));
		if (!class->name) {
			heap->early[left++] = heap->early[i];
			continue;
		}
		class->told += (uint64_t)heap->early[i].sample.value;
		add(rec, class, &heap->early[i].sample);
	}
	heap->early_count = left;
}

void vm_heap_tick(const struct vm *vm, const struct process *p, struct recording *rec)
{
	struct vm_heap *heap = vm->targets[p->index].heap;

	if (!heap)
		return;
	look_for_layout(vm, p);
	name_classes(heap, p, rec);
	add_early(heap, rec, false);
}

/* ---- sums */

typedef void heap_class_fn(const struct jvs_heap_class_key *key, const struct jvs_heap_class *sums,
			   void *ctx);

static void each_class(const struct vm *vm, uint32_t target, heap_class_fn *do_class, void *ctx)
{
	struct jvs_heap_class_key *keys = calloc(BATCH, sizeof(*keys));
	struct jvs_heap_class *sums = calloc(BATCH, sizeof(*sums));
	uint32_t in = 0, next = 0;
	bool first = true;
	int err = 0;

	while (keys && sums && !err) {
		uint32_t count = BATCH;

		err = bpf_map_lookup_batch(vm->heap_classes_fd, first ? NULL : &in, &next, keys,
					   sums, &count, NULL);
		for (uint32_t i = 0; (!err || err == -ENOENT) && i < count; i++)
			if (keys[i].target == target)
				do_class(&keys[i], &sums[i], ctx);
		in = next;
		first = false;
	}
	free(keys);
	free(sums);
}

struct telling {
	struct vm_heap *heap;
	const struct process *p;
	struct recording *rec;
	int64_t time_ns; /* now; 0: it goes on */
	uint64_t left;	 /* classes: more than fit */
};

/* What no record stands for, or none that came: it is known, but not who it was. */
static void tell_rest(struct telling *telling, struct heap_class *class, uint64_t bytes)
{
	const struct rec_key key = { .metric = REC_HEAP_ALLOC,
				     .jvm = telling->p->rec_jvm,
				     .label = class->name };
	int64_t rest = (int64_t)(bytes - class->told);
	const struct rec_sample sample = {
		.time_ns = telling->time_ns, .key = key, .state = REC_STATE_IN_VM, .value = rest
	};

	if (rest != class->rest)
		rec_add(telling->rec, &key, (rest != 0) - (class->rest != 0), rest - class->rest);
	class->rest = rest;
	if (telling->time_ns && rest > 0)
		rec_sample(telling->rec, &sample);
}

static void tell_class(const struct jvs_heap_class_key *key, const struct jvs_heap_class *sums,
		       void *ctx)
{
	struct telling *telling = ctx;
	struct vm_heap *heap = telling->heap;
	struct rec_heap_class *row;
	struct heap_class *class;
	uint32_t id;

	if (!sums->tlabs && !sums->outside)
		return;
	class = class_of(heap, telling->rec, key->klass, key->symbol, &id);
	if (!class) {
		telling->left++;
		return;
	}
	if (!class->name && !read_name(heap, telling->p, telling->rec, class))
		set_name(heap, telling->rec, class, UNKNOWN, strlen(UNKNOWN));
	tell_rest(telling, class, sums->inside_bytes + sums->outside_bytes);
	row = rec_heap_class(telling->rec, telling->p->rec_jvm, class->name);
	if (!row)
		return;
	row->tlabs += sums->tlabs;
	row->tlab_bytes += sums->tlab_bytes;
	row->inside_bytes += sums->inside_bytes;
	row->outside += sums->outside;
	row->outside_bytes += sums->outside_bytes;
}

void vm_heap_finish(struct vm *vm, const struct process *p, struct recording *rec, int64_t end_ns)
{
	struct vm_heap *heap = vm->targets[p->index].heap;
	struct telling telling = { heap, p, rec, end_ns, 0 };
	struct rec_native_budget *budget;

	if (!heap || heap->over)
		return;
	heap->over = end_ns != 0;
	name_classes(heap, p, rec);
	add_early(heap, rec, heap->over);
	rec_heap_forget(rec, p->rec_jvm);
	each_class(vm, p->index, tell_class, &telling);
	vm->targets[p->index].losses[VM_LOSS_UNTOTALLED] = telling.left;
	budget = rec_budget(rec, REC_PROBES_ALLOC, p->rec_jvm);
	if (!budget)
		return;
	budget->interval = heap->shown.interval == JVS_HEAP_NONE ? 0 : heap->shown.interval;
	budget->estimated = heap->shown.thread_allocated != 0;
}

/* ---- the end of a program */

static void drop_class(const struct jvs_heap_class_key *key, const struct jvs_heap_class *sums,
		       void *ctx)
{
	const struct vm *vm = ctx;

	(void)sums;
	bpf_map_delete_elem(vm->heap_classes_fd, key);
}

void vm_heap_forget(struct vm *vm, const struct process *p)
{
	if (!vm->targets[p->index].heap)
		return;
	each_class(vm, p->index, drop_class, vm);
	vm_heap_close(&vm->targets[p->index]);
}
