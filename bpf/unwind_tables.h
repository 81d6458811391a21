/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_UNWIND_TABLES_H
#define JVS_UNWIND_TABLES_H

#include "unwind.h"

/*
 * Which mapping, unwind row, code heap and code blob an address belongs to, and with that whether
 * a word from the stack can be a return address.
 */

#define JVS_MAPPING_STEPS   12 /* 4096 mappings of one process */
#define JVS_ROW_STEPS	    20 /* a million rows of one image */
#define JVS_SEGMENT_HOPS    16 /* 4 is the most seen over code that runs */
#define JVS_FREE_SEGMENT    0xff
#define JVS_SEGMENT_BYTES   16	/* of the segment map read at once; a power of two */
#define JVS_BLOCK_MAX	    16	/* bytes; 8 since JDK 21 */
#define JVS_BLOB_HEADER_MIN 112 /* bytes every blob has, code included */
#define JVS_SCAN_MAX	    64	/* words */

/* The walk's mapping that holds pc: an index into jvs_mappings, or -1. */
JVS_FN int jvs_mapping_find(struct jvs_walk *w, __u64 pc)
{
	const struct jvs_mapping *mapping;
	__u32 base, count, half, middle;

	if (!w)
		return -1;
	base = w->mappings;
	count = w->mappings >> 32;
	if (!count)
		return -1;

	for (__u32 i = 0; i < JVS_MAPPING_STEPS; i++) {
		if (count <= 1)
			break;
		half = count >> 1;
		middle = base + half;
		mapping = jvs_mapping_at(middle);
		if (!mapping)
			return -1;
		base = mapping->start <= pc ? middle : base;
		count -= half;
	}

	middle = base;
	mapping = jvs_mapping_at(middle);
	if (!mapping || pc < mapping->start || pc >= mapping->end)
		return -1;
	return base;
}

/* The last of count rows from first whose address is at most address; the first if none is. */
JVS_FN int jvs_row_find(__u32 first, __u32 count, __u32 address)
{
	const struct jvs_row *row;
	__u32 half, middle;

	for (__u32 i = 0; i < JVS_ROW_STEPS; i++) {
		if (count <= 1)
			break;
		half = count >> 1;
		middle = first + half;
		row = jvs_row_at(middle);
		if (!row)
			return -1;
		first = row->address <= address ? middle : first;
		count -= half;
	}
	return first;
}

/* The row of an ELF address in a mapping, or -1: the step index leaves two or three to search. */
JVS_INLINE int jvs_row_of(const struct jvs_mapping *mapping, __u64 address)
{
	__u32 first = mapping->row_first, count = mapping->row_count;
	__u64 step = address >> JVS_INDEX_SHIFT;
	const __u32 *low, *high;

	if (!count)
		return -1;
	if (step + 1 < mapping->index_count) {
		low = jvs_row_index_at(mapping->index_first + (__u32)step);
		high = jvs_row_index_at(mapping->index_first + (__u32)step + 1);
		if (low && high) {
			first = *low;
			count = *high - *low + 1;
		}
	}
	return jvs_row_find(first, count, address);
}

JVS_INLINE bool jvs_in_range(const struct jvs_range *range, __u64 address)
{
	return address >= range->low && address < range->high;
}

/* The code heap that holds pc, or -1. */
JVS_INLINE int jvs_heap_of(const struct jvs_walk *w, const struct jvs_java_layout *java, __u64 pc)
{
	int heap = -1;

	if (!(w->flags & JVS_TARGET_JAVA))
		return -1;
	for (int i = 0; i < JVS_MAX_HEAPS; i++)
		if (pc >= java->heaps[i].low && pc < java->heaps[i].high)
			heap = i;
	return heap;
}

/*
 * The first segment of the block that holds pc, or -1: a segment's byte says how many segments back
 * to go on; 0: the block begins here. Reads of segments that were never committed fail.
 */
JVS_INLINE __s64 jvs_first_segment(const struct jvs_code_heap *heap, __u64 segment)
{
	__u8 back = 0;

	for (__u32 i = 0; i < JVS_SEGMENT_HOPS; i++) {
		if (jvs_read_user(&back, 1, heap->segmap + segment) || back == JVS_FREE_SEGMENT)
			return -1;
		if (back == 0)
			return segment;
		segment -= back;
	}
	return -1;
}

/*
 * The HeapBlock that holds pc, or 0. It may be free.
 *
 * Every read costs as much as the rest of a step, and most blobs are small: so the bytes of 16
 * segments are read at once, and nearly always hold both hops.
 */
JVS_INLINE __u64 jvs_block_in(struct jvs_walk *w, const struct jvs_java_layout *java, int number,
			      __u64 pc)
{
	const struct jvs_code_heap *heap = &java->heaps[number & (JVS_MAX_HEAPS - 1)];
	__u32 shift = java->segment_shift & 31, back;
	__s64 segment = (pc - heap->low) >> shift;

	if (segment >= JVS_SEGMENT_BYTES - 1 &&
	    !jvs_read_user(w->segments, JVS_SEGMENT_BYTES,
			   heap->segmap + segment - (JVS_SEGMENT_BYTES - 1))) {
		back = w->segments[JVS_SEGMENT_BYTES - 1];
		if (back == JVS_FREE_SEGMENT)
			return 0;
		if (back < JVS_SEGMENT_BYTES &&
		    w->segments[(JVS_SEGMENT_BYTES - 1 - back) & (JVS_SEGMENT_BYTES - 1)] == 0)
			return heap->low + ((segment - back) << shift);
	}
	segment = jvs_first_segment(heap, segment);
	return segment < 0 ? 0 : heap->low + (segment << shift);
}

/*
 * Copies the header of the blob that holds pc, which is in this heap, to w->header and sets
 * w->blob. Returns 0 or an enum jvs_status.
 */
JVS_FN int jvs_load_blob(struct jvs_walk *w, __u32 heap, __u64 pc)
{
	const struct jvs_target *t;
	__u64 block;

	if (!w)
		return JVS_STATUS_INTERNAL;
	t = jvs_target_of(w->target);
	if (!t)
		return JVS_STATUS_INTERNAL;
	block = jvs_block_in(w, &t->java, heap, pc);
	if (!block)
		return JVS_STATUS_NO_BLOB;
	/* A small blob may end right before memory that is not there. */
	if (jvs_read_user(w->header, JVS_BLOCK_MAX + JVS_BLOB_HEADER_MAX, block) &&
	    jvs_read_user(w->header, JVS_BLOCK_MAX + JVS_BLOB_HEADER_MIN, block))
		return JVS_STATUS_READ_BLOB;

	w->blob = block + t->java.heap_block_size;
	w->blob_at = t->java.heap_block_size;
	if (!w->header[t->java.heap_block_used & JVS_HEADER_MASK])
		return JVS_STATUS_NO_BLOB;
	return 0;
}

/*
 * Whether a word can be a return address: in a known mapping, or behind the first instruction of
 * a blob that is in use.
 */
JVS_FN int jvs_is_code(struct jvs_walk *w, __u64 address)
{
	const struct jvs_java_layout *java;
	const struct jvs_target *t;
	__u64 block, blob;
	__u32 at;
	int heap;

	if (!w || address <= JVS_LOWEST_ADDRESS)
		return 0;
	t = jvs_target_of(w->target);
	if (!t)
		return 0;
	java = &t->java;
	address &= JVS_RETURN_MASK;
	heap = jvs_heap_of(w, java, address);
	if (heap < 0)
		return jvs_mapping_find(w, address) >= 0;

	block = jvs_block_in(w, java, heap, address);
	if (!block || jvs_read_user(w->block, JVS_BLOCK_HEAD, block))
		return 0;
	if (!w->block[java->heap_block_used & (JVS_BLOCK_HEAD - 1)])
		return 0;
	blob = block + java->heap_block_size;
	at = (java->heap_block_size + java->blob_code_begin) & (JVS_BLOCK_HEAD - 1);
	barrier_var(at);
	if (java->code_is_offset)
		return address > blob + *(const volatile jvs_any_u32 *)(w->block + at);
	return address > *(const volatile jvs_any_u64 *)(w->block + at);
}

/* Whether an address is in a code heap at all. */
JVS_FN int jvs_in_heaps(struct jvs_walk *w, __u64 address)
{
	const struct jvs_target *t;

	if (!w)
		return 0;
	t = jvs_target_of(w->target);
	return t && jvs_heap_of(w, &t->java, address & JVS_RETURN_MASK) >= 0;
}

/* Whether a return address can be at a place on the stack. */
JVS_INLINE bool jvs_code_at(struct jvs_walk *w, __u64 at)
{
	return jvs_is_code(w, jvs_read_word(at));
}

/* Where the lowest of count words above base is that returns into the code heaps; 0: nowhere. */
JVS_FN __u64 jvs_scan_stack(struct jvs_walk *w, __u64 base, __u32 count)
{
	__u64 word;

	if (!w)
		return 0;
	for (__u32 i = 1; i < JVS_SCAN_MAX; i++) {
		if (i >= count)
			break;
		word = jvs_read_word(base + 8 * i);
		if (jvs_in_heaps(w, word) && jvs_is_code(w, word))
			return base + 8 * i;
	}
	return 0;
}

/*
 * The same for a return address right above a saved fp that is the walk's: where fp is not used,
 * the frame's two uppermost words. Two words that match are no accident, a stale return address is.
 */
JVS_FN __u64 jvs_scan_saved_fp(struct jvs_walk *w, __u64 base, __u32 count)
{
	if (!w || !jvs_fp_near(w, JVS_NATIVE_FP_MAX))
		return 0;
	for (__u32 i = 0; i < JVS_SCAN_MAX; i++) {
		if (i >= count || jvs_read_user(w->word, 16, base + 8 * i))
			break;
		if (w->word[0] == w->fp && jvs_in_heaps(w, w->word[1]) &&
		    jvs_is_code(w, w->word[1]))
			return base + 8 * i + 8;
	}
	return 0;
}

/*
 * Whether an address is a Method; leaves its ConstMethod in w->const_method.
 *
 * Its constant pool's holder points back to the pool. The pool of a method-handle intrinsic is
 * private, its holder points elsewhere: there a holder with a name is enough.
 */
JVS_FN int jvs_is_method(struct jvs_walk *w, __u64 method)
{
	const struct jvs_target *t;
	__u64 const_method, pool, holder;

	if (!w || method < JVS_LOWEST_ADDRESS || method & 7)
		return 0;
	t = jvs_target_of(w->target);
	if (!t)
		return 0;

	const_method = jvs_read_word(method + t->java.method_const_method);
	if (const_method < JVS_LOWEST_ADDRESS || const_method & 7)
		return 0;
	pool = jvs_read_word(const_method + t->java.const_method_constants);
	if (pool < JVS_LOWEST_ADDRESS || pool & 7)
		return 0;
	holder = jvs_read_word(pool + t->java.pool_holder);
	if (holder < JVS_LOWEST_ADDRESS || holder & 7)
		return 0;

	w->const_method = const_method;
	if (jvs_read_word(holder + t->java.klass_constants) == pool)
		return 1;
	return jvs_read_word(holder + t->java.klass_name) > JVS_LOWEST_ADDRESS;
}

#endif
