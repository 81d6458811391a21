/* SPDX-License-Identifier: Apache-2.0 */
#include "live/calls.h"

#include <stdlib.h>
#include <string.h>

#include "jvm/jvm.h"
#include "live/images.h"
#include "live/process.h"
#include "model/recording.h"
#include "target/image.h"
#include "target/target.h"

/*
 * What calls os::malloc on behalf of others. NMT takes the caller of these where it can, too.
 */
static bool is_allocator(const char *function)
{
	static const char *const names[] = { "os::malloc", "AllocateHeap", "ReallocateHeap" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(function, names[i]))
			return true;
	return false;
}

static uint32_t offset_of(const struct process *p, const struct jvs_frame *frame, uint64_t address)
{
	const struct process_mapping *m = process_mapping_by_id(p, frame->cookie);
	uint64_t offset;

	if (!m)
		m = process_mapping_at(p, address);
	if (!m || !m->loaded || !m->loaded->image)
		return 0;
	/* As for its name: a call that does not come back may be the last of its function. */
	if (!image_function(m->loaded->image, address - 1 - m->bias, &offset))
		return 0;
	return (uint32_t)offset + 1;
}

/* Where compiled code begins, from its CodeBlob; the CodeBlob when that is not to be read. */
static uint64_t code_of(const struct process *p, uint64_t blob)
{
	const struct jvs_java_layout *java = p->jvm ? jvm_layout(p->jvm) : NULL;
	uint64_t code;
	uint32_t offset;

	if (!java)
		return blob;
	if (!java->code_is_offset)
		return target_read_u64(p->target, blob + java->blob_code_begin, &code) ? blob
										       : code;
	return target_read_u32(p->target, blob + java->blob_code_begin, &offset) ? blob
										 : blob + offset;
}

/* An interpreted method has no address of its own but that of its Method. */
static uint64_t address_of(const struct process *p, const struct jvs_frame *raw)
{
	uint64_t address = raw->word & JVS_ADDRESS_MASK;

	return raw->word >> 56 == JVS_FRAME_NMETHOD ? code_of(p, address) + raw->offset : address;
}

/*
 * Names are those of the stack's frames: each native frame is one of them, and what is behind the
 * first other one is not looked at.
 */
static struct rec_native_call call_of(const struct process *p, struct recording *rec,
				      const struct jvs_frame *raw, uint32_t frame)
{
	struct rec_native_call call = { .address = address_of(p, raw) };
	const struct rec_frame *named = rec_frame_get(rec, frame);
	char text[512];

	if (rec_kind_is_java(named->kind)) {
		rec_frame_text(rec, frame, text, sizeof(text));
		call.function = rec_string(rec, text, strlen(text));
		return call;
	}
	call.function = rec_method_get(rec, named->method)->name;
	if (call.function && named->kind == REC_FRAME_CPP)
		call.offset = offset_of(p, raw, call.address);
	return call;
}

static bool is_native(const struct jvs_frame *frame)
{
	return frame->word >> 56 == JVS_FRAME_NATIVE;
}

static void read_calls(const struct process *p, struct recording *rec, const struct raw_stack *raw,
		       uint32_t stack, struct rec_native_chain *out)
{
	uint32_t frames = rec_stack_get(rec, stack).count, count = 0;

	for (uint32_t i = 1; i < raw->stored && i < frames && count < REC_NATIVE_CALLS; i++) {
		struct rec_native_call call =
			call_of(p, rec, &raw->frames[i], rec_stack_get(rec, stack).frames[i]);

		if (count || !is_allocator(rec_text(rec, call.function)))
			out->calls[count++] = call;
		if (!is_native(&raw->frames[i]))
			break;
	}
}

void calls_see(struct calls *calls, const struct process *p, struct recording *rec, uint64_t hash,
	       const struct raw_stack *raw, uint32_t stack)
{
	struct called_stack *stacks = calls->stacks;
	uint32_t at, capacity;

	if (calls->count >= CALLS_MAX || map64_get(&calls->by_stack, hash, &at))
		return;
	if (calls->count == calls->capacity) {
		capacity = calls->capacity ? calls->capacity * 2 : 256;
		stacks = reallocarray(stacks, capacity, sizeof(*stacks));
		if (!stacks)
			return;
		calls->stacks = stacks;
		calls->capacity = capacity;
	}
	stacks[calls->count] = (struct called_stack){ .hash = hash, .target = p->index };
	if (map64_set(&calls->by_stack, hash, calls->count))
		return;
	read_calls(p, rec, raw, stack, &stacks[calls->count++].chain);
}

const struct rec_native_chain *calls_of(const struct calls *calls, uint64_t hash)
{
	uint32_t at;

	return map64_get(&calls->by_stack, hash, &at) ? &calls->stacks[at].chain : NULL;
}

void calls_forget(struct calls *calls, uint32_t target)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < calls->count; i++) {
		const struct called_stack *stack = &calls->stacks[i];

		if (stack->target == target) {
			map64_remove(&calls->by_stack, stack->hash);
			continue;
		}
		/* It replaces a value, for which no memory is needed. */
		map64_set(&calls->by_stack, stack->hash, kept);
		calls->stacks[kept++] = *stack;
	}
	calls->count = kept;
}

void calls_free(struct calls *calls)
{
	map64_free(&calls->by_stack);
	free(calls->stacks);
	*calls = (struct calls){ 0 };
}
