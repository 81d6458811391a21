/* SPDX-License-Identifier: Apache-2.0 */
#include "live/resolve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/jvm.h"
#include "live/process.h"
#include "model/names.h"
#include "target/image.h"
#include "target/ksyms.h"

#define MAX_KNOWN    (1u << 19) /* frames remembered; then all are forgotten */
#define SYMBOL_MAX   512	/* longer names are cut */
#define KEYS_AT_ONCE 64

/* ---- making frames of the recording */

static uint32_t text(struct recording *rec, const char *s)
{
	return rec_string(rec, s, strlen(s));
}

static uint32_t plain_frame(struct recording *rec, enum rec_frame_kind kind, const char *name,
			    const char *module)
{
	struct rec_method method = { .name = text(rec, name) };
	struct rec_frame frame = { .kind = kind, .line = -1, .bci = -1 };

	if (module)
		method.module = text(rec, module);
	frame.method = rec_method(rec, &method);
	return rec_frame(rec, &frame);
}

static const enum rec_frame_kind kinds[] = {
	[JVM_FRAME_INTERPRETED] = REC_FRAME_INTERPRETED,
	[JVM_FRAME_C1] = REC_FRAME_C1,
	[JVM_FRAME_C2] = REC_FRAME_C2,
	[JVM_FRAME_INLINED] = REC_FRAME_INLINED,
	[JVM_FRAME_NATIVE] = REC_FRAME_NATIVE,
	[JVM_FRAME_STUB] = REC_FRAME_STUB,
};

/* A method is remembered by what cannot be that of another, so as not to intern its names again. */
static uint32_t remember_method(struct resolver *r, uint64_t key, uint32_t id)
{
	if (id)
		map64_set(&r->methods, key, id);
	return id;
}

static uint32_t java_method(struct resolver *r, const struct process *p, struct recording *rec,
			    const struct jvm_method *from)
{
	const uint32_t words[] = { p->rec_jvm, p->programs, from->number, 0 };
	uint64_t key = map64_hash(words, sizeof(words));
	struct rec_method method;
	const char *normal, *raw;
	uint32_t id;

	if (map64_get(&r->methods, key, &id))
		return id;
	names_class(from->class_name, strlen(from->class_name), &r->normal, &r->raw);
	normal = strbuf_text(&r->normal);
	raw = strbuf_text(&r->raw);
	method = (struct rec_method){
		.class_name = text(rec, normal),
		.name = text(rec, from->name),
		.signature = text(rec, from->signature),
		.file = from->source_file ? text(rec, from->source_file) : 0,
		.raw_class = raw[0] ? text(rec, raw) : 0,
	};
	return remember_method(r, key, rec_method(rec, &method));
}

static uint32_t java_frame(struct resolver *r, const struct process *p, struct recording *rec,
			   const struct jvm_frame *from)
{
	struct rec_frame frame = { .kind = kinds[from->type],
				   .line = from->line,
				   .bci = from->bci };

	if (from->type == JVM_FRAME_STUB || !from->method)
		return plain_frame(rec, REC_FRAME_STUB, from->stub ? from->stub : "[stub]", NULL);
	frame.method = java_method(r, p, rec, from->method);
	return rec_frame(rec, &frame);
}

/* ---- naming one raw frame: innermost first, how many ids were written */

struct raw_frame {
	const struct jvs_frame *frame;
	uint64_t address;
	enum jvs_frame_kind kind;
	bool leaf;
};

struct naming {
	struct resolver *r;
	struct process *p;
	struct recording *rec;
	uint32_t ids[JVM_INLINE_MAX];
	bool keep; /* may be remembered */
};

static size_t one(struct naming *n, uint32_t id)
{
	n->ids[0] = id;
	return 1;
}

static size_t name_java(struct naming *n, const struct raw_frame *raw)
{
	struct jvm_frame frames[JVM_INLINE_MAX];
	bool is_code = raw->kind == JVS_FRAME_STUB || raw->kind == JVS_FRAME_ADAPTER;
	int count = -ENOENT;

	if (n->p->jvm)
		count = jvm_describe(n->p->jvm, raw->frame, raw->leaf, frames);
	if (count > 0) {
		for (int i = 0; i < count; i++)
			n->ids[i] = java_frame(n->r, n->p, n->rec, &frames[i]);
		return (size_t)count;
	}
	n->keep = false;
	if (is_code)
		return one(n, plain_frame(n->rec, REC_FRAME_STUB, "[stub]", NULL));
	n->r->unnamed_java++;
	return one(n, plain_frame(n->rec,
				  raw->kind == JVS_FRAME_INTERPRETED ? REC_FRAME_INTERPRETED
								     : REC_FRAME_C2,
				  "[unknown Java method]", NULL));
}

/* A function of a library, by its symbol as the library has it. */
static uint32_t native_method(struct naming *n, const struct image *image, const char *symbol)
{
	struct rec_method method = { .module = text(n->rec, image_name(image)) };
	uint64_t words[2] = { method.module, map64_hash(symbol, strlen(symbol)) };
	uint64_t key = map64_hash(words, sizeof(words));
	char name[SYMBOL_MAX];
	uint32_t id;

	if (map64_get(&n->r->methods, key, &id))
		return id;
	method.name = text(n->rec, image_demangle(symbol, name, sizeof(name)));
	return remember_method(n->r, key, rec_method(n->rec, &method));
}

static size_t name_native(struct naming *n, const struct raw_frame *raw)
{
	const struct process_mapping *m = process_mapping_by_id(n->p, raw->frame->cookie);
	uint64_t at = raw->leaf ? raw->address : raw->address - 1;
	struct rec_frame frame = { .kind = REC_FRAME_CPP, .line = -1, .bci = -1 };
	const char *symbol;
	uint64_t offset;

	if (!m)
		m = process_mapping_at(n->p, raw->address);
	if (!m || !m->loaded || !m->loaded->image) {
		n->keep = m != NULL;
		n->r->unnamed_native++;
		return one(n, plain_frame(n->rec, REC_FRAME_CPP, "[unknown]", NULL));
	}
	symbol = image_function(m->loaded->image, at - m->bias, &offset);
	if (symbol) {
		frame.method = native_method(n, m->loaded->image, symbol);
	} else {
		struct rec_method method = { .module = text(n->rec, image_name(m->loaded->image)) };

		frame.method = rec_method(n->rec, &method);
		frame.offset = at - m->bias;
	}
	return one(n, rec_frame(n->rec, &frame));
}

static uint32_t kernel_method(struct resolver *r, struct recording *rec, uint64_t address)
{
	const char *name = ksyms_find(r->ksyms, address);
	struct rec_method method = { .name = text(rec, name ? name : "[unknown]"),
				     .module = text(rec, "[kernel]") };

	return rec_method(rec, &method);
}

static size_t name_kernel(struct naming *n, const struct raw_frame *raw)
{
	uint64_t address = (raw->address | ~JVS_ADDRESS_MASK) - !raw->leaf;
	struct rec_frame frame = { .kind = REC_FRAME_KERNEL, .line = -1, .bci = -1 };
	struct rec_method unnamed = { .module = text(n->rec, "[kernel]") };
	uint32_t id;

	if (n->r->ksyms) {
		frame.method = kernel_method(n->r, n->rec, address);
		return one(n, rec_frame(n->rec, &frame));
	}
	frame.method = rec_method(n->rec, &unnamed);
	frame.offset = address;
	id = rec_frame(n->rec, &frame);
	if (map64_set(&n->r->unnamed, id, 0))
		n->keep = false;
	return one(n, id);
}

void resolve_kernel_names(struct resolver *r, struct recording *rec)
{
	const struct map64_slot *slot;
	size_t at = 0;

	if (r->ksyms || r->unnamed.count == 0 || ksyms_open(&r->ksyms))
		return;
	while ((slot = map64_next(&r->unnamed, &at))) {
		uint32_t id = (uint32_t)slot->key;
		uint64_t address = rec_frame_get(rec, id)->offset;

		rec_frame_name(rec, id, kernel_method(r, rec, address));
	}
	map64_free(&r->unnamed);
}

static size_t name_call_stub(struct naming *n, const struct raw_frame *raw)
{
	(void)raw;
	return one(n, plain_frame(n->rec, REC_FRAME_STUB, "call_stub", NULL));
}

static size_t name_mark(struct naming *n, const struct raw_frame *raw)
{
	const char *name = raw->kind == JVS_FRAME_HEAP_FRAMES ? "[frames in heap]"
							      : "[frames skipped to anchor]";

	return one(n, plain_frame(n->rec, REC_FRAME_STUB, name, NULL));
}

static size_t (*const namers[JVS_FRAME_KIND_NR])(struct naming *, const struct raw_frame *) = {
	[JVS_FRAME_NATIVE] = name_native,	[JVS_FRAME_UNMAPPED] = name_native,
	[JVS_FRAME_INTERPRETED] = name_java,	[JVS_FRAME_NMETHOD] = name_java,
	[JVS_FRAME_STUB] = name_java,		[JVS_FRAME_ADAPTER] = name_java,
	[JVS_FRAME_CALL_STUB] = name_call_stub, [JVS_FRAME_KERNEL] = name_kernel,
	[JVS_FRAME_HEAP_FRAMES] = name_mark,	[JVS_FRAME_ANCHOR] = name_mark,
};

/* ---- remembering */

/* number: of the method of an interpreted frame, else 0. */
static uint64_t key_of(const struct process *p, const struct raw_frame *raw, uint32_t number)
{
	struct {
		uint64_t address;
		uint32_t offset, cookie, kind, leaf, jvm, program, number, pad;
	} key = { .address = raw->address,
		  .offset = raw->frame->offset,
		  .cookie = raw->frame->cookie,
		  .kind = raw->kind,
		  .leaf = raw->leaf,
		  .jvm = p->rec_jvm, /* not its place, which another takes when it has ended */
		  .program = p->programs,
		  .number = number };

	if (raw->kind == JVS_FRAME_KERNEL)
		key.jvm = key.program = 0;
	return map64_hash(&key, sizeof(key));
}

static void remember(struct resolver *r, uint64_t key, const uint32_t *ids, size_t count)
{
	if (r->known.count >= MAX_KNOWN)
		resolve_forget(r);
	if (r->runs_len + count + 1 > r->runs_capacity) {
		size_t capacity = r->runs_capacity ? r->runs_capacity * 2 : 4096;
		uint32_t *runs = reallocarray(r->runs, capacity, sizeof(*runs));

		if (!runs)
			return;
		r->runs = runs;
		r->runs_capacity = capacity;
	}
	if (map64_set(&r->known, key, (uint32_t)r->runs_len))
		return;
	r->runs[r->runs_len++] = (uint32_t)count;
	memcpy(&r->runs[r->runs_len], ids, count * sizeof(*ids));
	r->runs_len += count;
}

static struct raw_frame raw_of(const struct jvs_frame *frame)
{
	uint32_t kind = (uint32_t)(frame->word >> 56);

	return (struct raw_frame){
		.frame = frame,
		.address = frame->word & JVS_ADDRESS_MASK,
		.kind = kind < JVS_FRAME_KIND_NR ? (enum jvs_frame_kind)kind : JVS_FRAME_NONE,
		.leaf = (frame->word >> JVS_ADDRESS_BITS & JVS_HOW_LEAF) != 0,
	};
}

/* Writes at most JVM_INLINE_MAX ids to out; returns how many. */
static size_t resolve_frame(struct naming *n, const struct jvs_frame *frame, uint64_t key,
			    uint32_t *out)
{
	struct raw_frame raw = raw_of(frame);
	uint32_t at;
	size_t count;

	if (map64_get(&n->r->known, key, &at)) {
		count = n->r->runs[at];
		memcpy(out, &n->r->runs[at + 1], count * sizeof(*out));
		return count;
	}
	if (!namers[raw.kind])
		return 0;
	n->keep = true;
	count = namers[raw.kind](n, &raw);
	if (n->keep)
		remember(n->r, key, n->ids, count);
	memcpy(out, n->ids, count * sizeof(*out));
	return count;
}

/* ---- whole stacks */

static const enum rec_stack_state states[JVS_STATUS_NR] = {
#define C		     REC_STACK_COMPLETE
#define T		     REC_STACK_TRUNCATED
#define B		     REC_STACK_BROKEN
#define X(name, text, class) [JVS_STATUS_##name] = (class),
	JVS_STATUS_LIST(X)
#undef X
#undef C
#undef T
#undef B
};

enum rec_stack_state resolve_state_of(uint32_t status)
{
	return status < JVS_STATUS_NR ? states[status] : REC_STACK_BROKEN;
}

/* Puts the circle of outermost frames in order: its oldest frame first. */
static void rotate(struct raw_stack *s)
{
	struct jvs_frame circle[JVS_ROOT_FRAMES];
	struct jvs_frame *at = s->frames + s->stored - JVS_ROOT_FRAMES;
	uint32_t first = (s->walked - s->stored) % JVS_ROOT_FRAMES;

	for (uint32_t i = 0; i < JVS_ROOT_FRAMES; i++)
		circle[i] = at[(first + i) % JVS_ROOT_FRAMES];
	memcpy(at, circle, sizeof(circle));
}

/* Frame ids, growing. */
struct ids {
	uint32_t *items; /* owned */
	size_t count;
	size_t capacity;
};

static bool reserve(struct ids *ids, size_t more)
{
	size_t capacity = ids->capacity * 2 + more;
	uint32_t *items;

	if (ids->count + more <= ids->capacity)
		return true;
	items = reallocarray(ids->items, capacity, sizeof(*items));
	if (!items)
		return false;
	ids->items = items;
	ids->capacity = capacity;
	return true;
}

static bool has_number(const struct process *p, const struct jvs_frame *frame)
{
	return p->jvm && frame->word >> 56 == JVS_FRAME_INTERPRETED;
}

/* The table of what is known is large, and cold after a pause: all places are asked for at once. */
static void find_keys(const struct naming *n, const struct jvs_frame *frames, size_t count,
		      uint64_t *keys)
{
	const struct jvs_frame *interpreted[KEYS_AT_ONCE];
	uint32_t numbers[KEYS_AT_ONCE];
	size_t numbered = 0;

	for (size_t i = 0; i < count; i++)
		if (has_number(n->p, &frames[i]))
			interpreted[numbered++] = &frames[i];
	if (numbered)
		jvm_number_methods(n->p->jvm, interpreted, numbered, numbers);
	numbered = 0;
	for (size_t i = 0; i < count; i++) {
		struct raw_frame raw = raw_of(&frames[i]);
		uint32_t number = has_number(n->p, &frames[i]) ? numbers[numbered++] : 0;

		keys[i] = key_of(n->p, &raw, number);
		map64_prefetch(&n->r->known, keys[i]);
	}
}

uint32_t resolve_stack(struct resolver *r, struct process *p, struct recording *rec,
		       struct raw_stack *s)
{
	struct naming n = { .r = r, .p = p, .rec = rec };
	bool cut = s->walked > s->stored && s->stored >= JVS_ROOT_FRAMES;
	uint32_t gap = cut ? s->stored - JVS_ROOT_FRAMES : UINT32_MAX, stack = 0, left;
	uint64_t keys[KEYS_AT_ONCE];
	struct ids ids = { 0 };

	if (cut)
		rotate(s);
	for (uint32_t i = 0; i < s->stored; i++) {
		if (!reserve(&ids, JVM_INLINE_MAX + 1))
			goto out;
		left = s->stored - i;
		if (i % KEYS_AT_ONCE == 0)
			find_keys(&n, &s->frames[i], left < KEYS_AT_ONCE ? left : KEYS_AT_ONCE,
				  keys);
		if (i == gap)
			ids.items[ids.count++] =
				plain_frame(rec, REC_FRAME_STUB, "[truncated]", NULL);
		ids.count += resolve_frame(&n, &s->frames[i], keys[i % KEYS_AT_ONCE],
					   &ids.items[ids.count]);
	}
	stack = rec_stack(rec, ids.items, ids.count, resolve_state_of(s->status));
out:
	free(ids.items);
	return stack;
}

void resolve_forget(struct resolver *r)
{
	map64_free(&r->known);
	map64_free(&r->methods);
	r->runs_len = 0;
}

void resolve_free(struct resolver *r)
{
	ksyms_close(r->ksyms);
	map64_free(&r->known);
	map64_free(&r->methods);
	map64_free(&r->unnamed);
	free(r->runs);
	strbuf_free(&r->normal);
	strbuf_free(&r->raw);
	*r = (struct resolver){ 0 };
}
