/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "model/recording_impl.h"

/* The stack with these frames and this state in the chain of newest, 0 when there is none. */
static uint32_t find_in_chain(const struct recording *rec, uint32_t newest,
			      const struct rec_stack *stack)
{
	uint32_t id = newest;

	while (id) {
		const struct rec_stack_row *row = &rec->stacks[id - 1];

		if (row->count == stack->count && row->state == stack->state &&
		    (!row->count || !memcmp(rec->stack_frames + row->first, stack->frames,
					    row->count * sizeof(*stack->frames))))
			break;
		id = row->older;
	}
	return id;
}

static bool reserve(struct recording *rec, uint32_t count)
{
	void *rows = rec_grow(rec, rec->stacks, &rec->stacks_capacity,
			      (size_t)rec->stacks_count + 1, sizeof(*rec->stacks));
	void *frames;

	if (!rows)
		return false;
	rec->stacks = rows;
	frames = rec_grow(rec, rec->stack_frames, &rec->stack_frames_capacity,
			  (size_t)rec->stack_frames_count + count, sizeof(*rec->stack_frames));
	if (!frames)
		return false;
	rec->stack_frames = frames;
	return true;
}

static uint32_t append(struct recording *rec, const struct rec_stack *stack, uint64_t hash,
		       uint32_t newest)
{
	if (!reserve(rec, stack->count))
		return 0;
	if (map64_set(&rec->stacks_by_hash, hash, rec->stacks_count + 1)) {
		rec->err = -ENOMEM;
		return 0;
	}
	rec->stacks[rec->stacks_count++] = (struct rec_stack_row){
		.first = rec->stack_frames_count,
		.count = stack->count,
		.state = stack->state,
		.older = newest,
	};
	if (stack->count)
		memcpy(rec->stack_frames + rec->stack_frames_count, stack->frames,
		       stack->count * sizeof(*stack->frames));
	rec->stack_frames_count += stack->count;
	return rec->stacks_count;
}

/* Finds or adds. *full is set when it would have to be added and the maximum is reached. */
static uint32_t find_or_add(struct recording *rec, const struct rec_stack *stack, bool limited,
			    bool *full)
{
	uint64_t hash = map64_hash(stack->frames, stack->count * sizeof(*stack->frames));
	uint32_t newest = 0;
	uint32_t id;

	map64_get(&rec->stacks_by_hash, hash, &newest);
	id = find_in_chain(rec, newest, stack);
	*full = !id && limited &&
		(rec->stacks_count >= rec->limits.stacks ||
		 stack->count > rec->limits.stack_frames ||
		 rec->stack_frames_count > rec->limits.stack_frames - stack->count);
	if (id || *full)
		return id;
	return append(rec, stack, hash, newest);
}

uint32_t rec_truncated_stack(struct recording *rec)
{
	struct rec_method method = {
		.name = rec_string(rec, REC_TRUNCATED, strlen(REC_TRUNCATED)),
	};
	struct rec_frame frame = { .kind = REC_FRAME_STUB, .line = -1, .bci = -1 };
	struct rec_stack stack = { .count = 1, .state = REC_STACK_TRUNCATED };
	uint32_t id;
	bool full;

	frame.method = rec_method(rec, &method);
	id = rec_frame(rec, &frame);
	stack.frames = &id;
	return find_or_add(rec, &stack, false, &full);
}

uint32_t rec_stack(struct recording *rec, const uint32_t *frames, size_t count,
		   enum rec_stack_state state)
{
	struct rec_stack stack = { .frames = frames, .count = (uint32_t)count, .state = state };
	bool full = count > UINT32_MAX;
	uint32_t id = full ? 0 : find_or_add(rec, &stack, true, &full);

	if (!full)
		return id;
	rec_quality_add(rec, REC_QUALITY_INFO, "stacks_over_limit", 1);
	return rec_truncated_stack(rec);
}

struct rec_stack rec_stack_get(const struct recording *rec, uint32_t id)
{
	const struct rec_stack_row *row;

	if (!id || id > rec->stacks_count)
		return (struct rec_stack){ .state = REC_STACK_BROKEN };
	row = &rec->stacks[id - 1];
	return (struct rec_stack){
		.frames = rec->stack_frames + row->first,
		.count = row->count,
		.state = row->state,
	};
}

uint32_t rec_stack_count(const struct recording *rec)
{
	return rec->stacks_count;
}
