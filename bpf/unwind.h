/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_UNWIND_H
#define JVS_UNWIND_H

#include "walk.h"

#include "unwind_notes.h"

/* What every step function shares: access to user memory, to the tables and to the walk. */

#ifdef __bpf__
#include "core.bpf.h"

/* Both return 0 or a negative errno; memory that is not present is not brought in. */
JVS_INLINE int jvs_read_user(void *to, __u32 size, __u64 from)
{
	return bpf_probe_read_user(to, size, (const void *)from);
}

/* Each returns NULL (0) for an index or a thread that does not exist. */
JVS_INLINE const struct jvs_target *jvs_target_of(__u32 index)
{
	return bpf_map_lookup_elem(&jvs_targets, &index);
}

JVS_INLINE const struct jvs_mapping *jvs_mapping_at(__u32 index)
{
	return bpf_map_lookup_elem(&jvs_mappings, &index);
}

JVS_INLINE const struct jvs_row *jvs_row_at(__u32 index)
{
	return bpf_map_lookup_elem(&jvs_rows, &index);
}

JVS_INLINE const __u32 *jvs_row_index_at(__u32 index)
{
	return bpf_map_lookup_elem(&jvs_row_index, &index);
}

JVS_INLINE struct jvs_stack_part *jvs_part_at(__u32 index)
{
	return bpf_map_lookup_elem(&jvs_parts, &index);
}

JVS_INLINE __u64 jvs_java_thread(__u32 tid)
{
	__u64 *thread = bpf_map_lookup_elem(&jvs_threads, &tid);

	return thread ? *thread : 0;
}
#else
/* The same, supplied by whoever includes the step code. */
static int jvs_read_user(void *to, __u32 size, __u64 from);
static const struct jvs_target *jvs_target_of(__u32 index);
static const struct jvs_mapping *jvs_mapping_at(__u32 index);
static const struct jvs_row *jvs_row_at(__u32 index);
static const __u32 *jvs_row_index_at(__u32 index);
static struct jvs_stack_part *jvs_part_at(__u32 index);
static __u64 jvs_java_thread(__u32 tid);
#endif

/* A word of user memory; 0 when it cannot be read. */
JVS_INLINE __u64 jvs_read_word(__u64 from)
{
	__u64 word = 0;

	if (jvs_read_user(&word, sizeof(word), from))
		return 0;
	return word;
}

#include "regs.h"

/* Fields of the blob copied to w->header. The offset comes from the target's layout. */
JVS_INLINE __u64 jvs_header_u64(const struct jvs_walk *w, __u32 offset)
{
	offset = (offset + w->blob_at) & JVS_HEADER_MASK;
	barrier_var(offset);
	return *(const volatile jvs_any_u64 *)(w->header + offset);
}

JVS_INLINE __u32 jvs_header_u32(const struct jvs_walk *w, __u32 offset)
{
	offset = (offset + w->blob_at) & JVS_HEADER_MASK;
	barrier_var(offset);
	return *(const volatile jvs_any_u32 *)(w->header + offset);
}

JVS_INLINE __u16 jvs_header_u16(const struct jvs_walk *w, __u32 offset)
{
	offset = (offset + w->blob_at) & JVS_HEADER_MASK;
	barrier_var(offset);
	return *(const volatile jvs_any_u16 *)(w->header + offset);
}

JVS_INLINE __u8 jvs_header_u8(const struct jvs_walk *w, __u32 offset)
{
	offset = (offset + w->blob_at) & JVS_HEADER_MASK;
	barrier_var(offset);
	return *(const volatile __u8 *)(w->header + offset);
}

JVS_INLINE __u64 jvs_code_begin(const struct jvs_walk *w, const struct jvs_java_layout *java)
{
	if (java->code_is_offset)
		return w->blob + jvs_header_u32(w, java->blob_code_begin);
	return jvs_header_u64(w, java->blob_code_begin);
}

JVS_INLINE __u64 jvs_code_end(const struct jvs_walk *w, const struct jvs_java_layout *java)
{
	if (java->code_is_offset)
		return w->blob + jvs_header_u32(w, java->blob_code_end);
	return jvs_header_u64(w, java->blob_code_end);
}

/* Words, return address and saved fp included; 0 and less: no frame. */
JVS_INLINE __s32 jvs_frame_size(const struct jvs_walk *w, const struct jvs_java_layout *java)
{
	return (__s32)jvs_header_u32(w, java->blob_frame_size);
}

/* Bytes from code begin to where the frame is complete; -1: never. */
JVS_INLINE __s64 jvs_frame_complete(const struct jvs_walk *w, const struct jvs_java_layout *java)
{
	if (java->frame_complete_is_16bit)
		return (__s16)jvs_header_u16(w, java->blob_frame_complete);
	return (__s32)jvs_header_u32(w, java->blob_frame_complete);
}

/* The frame that is being unwound; its step may still change how. */
JVS_INLINE void jvs_set_frame(struct jvs_walk *w, __u64 address, __u32 kind, __u32 offset,
			      __u32 cookie)
{
	w->frame.word = jvs_frame_word(address, kind, 0);
	w->frame.offset = offset;
	w->frame.cookie = cookie;
}

/* Goes on at a caller. */
JVS_INLINE int jvs_go(struct jvs_walk *w, __u64 pc, __u64 sp, __u64 fp)
{
	w->pc = pc & JVS_RETURN_MASK;
	w->sp = sp;
	w->fp = fp;
	w->at = JVS_AT_RETURN;
	return JVS_STATUS_RUN;
}

JVS_INLINE int jvs_go_how(struct jvs_walk *w, __u64 pc, __u64 sp, __u64 fp, __u32 how)
{
	w->how = how;
	return jvs_go(w, pc, sp, fp);
}

JVS_INLINE __u64 jvs_mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* Of 16 places, the one of an address. */
JVS_INLINE __u32 jvs_place16(__u64 address)
{
	return address * 0x9e3779b97f4a7c15ull >> 60;
}

/* An address inside the instruction that is executing, or the call that has not returned. */
JVS_INLINE __u64 jvs_inside(const struct jvs_walk *w)
{
	return w->at == JVS_AT_RETURN ? w->pc - 1 : w->pc;
}

/* Whether the memory from sp up to size bytes may hold a frame record at fp. */
JVS_INLINE bool jvs_fp_near(const struct jvs_walk *w, __u64 size)
{
	return w->fp >= w->sp && w->fp - w->sp < size && !(w->fp & 7);
}

#endif
