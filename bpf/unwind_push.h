/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_UNWIND_PUSH_H
#define JVS_UNWIND_PUSH_H

#include "unwind.h"

/* The list of frames, and the hash that names it. */

/* The place of frame number n: see struct jvs_stack_part. */
JVS_INLINE __u32 jvs_place_of(__u32 n, __u32 max_depth)
{
	if (n < max_depth)
		return n;
	return max_depth - JVS_ROOT_FRAMES + ((n - max_depth) & (JVS_ROOT_FRAMES - 1));
}

/* Appends w->frame. A stack's hash is of all that identifies its frames: not of how. */
JVS_FN int jvs_push(struct jvs_walk *w)
{
	struct jvs_stack_part *part;
	__u32 place, index;

	if (!w)
		return JVS_STATUS_INTERNAL;
	if (w->walked >= JVS_WALK_LIMIT)
		return JVS_STATUS_WALK_LIMIT;

	w->hash = jvs_mix(w->hash, w->frame.word);
	w->hash = jvs_mix(w->hash, (__u64)w->frame.cookie << 32 | w->frame.offset);
	place = jvs_place_of(w->walked, w->max_depth);
	part = jvs_part_at(w->first_part + place / JVS_PART_FRAMES);
	if (!part)
		return JVS_STATUS_INTERNAL;
	index = place % JVS_PART_FRAMES;
	part->frames[index].word = w->frame.word | (__u64)w->how << JVS_ADDRESS_BITS;
	part->frames[index].offset = w->frame.offset;
	part->frames[index].cookie = w->frame.cookie;
	w->walked++;
	return JVS_STATUS_RUN;
}

#endif
