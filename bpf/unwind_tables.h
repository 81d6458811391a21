/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_UNWIND_TABLES_H
#define JVS_UNWIND_TABLES_H

#include "unwind.h"

/*
 * Which mapping, unwind row, code heap and code blob an address belongs to, and with that whether
 * a word from the stack can be a return address.
 */

#define JVS_MAPPING_STEPS 12 /* 4096 mappings of one process */
#define JVS_ROW_STEPS	  20 /* a million rows of one image */
#define JVS_SEGMENT_HOPS  16 /* 4 is the most seen over code that runs */
#define JVS_FREE_SEGMENT  0xff
#define JVS_SCAN_MAX	  64 /* words */

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
 * The CodeBlob that holds pc, or 0. A segment's byte says how many segments back its block may
 * begin; 0: here. Reads of segments that were never committed fail: no blob.
 */
JVS_INLINE __u64 jvs_blob_in(const struct jvs_java_layout *java, int heap, __u64 pc)
{
	const struct jvs_code_heap *in = &java->heaps[heap & (JVS_MAX_HEAPS - 1)];
	__u32 shift = java->segment_shift & 31;
	__u64 segment = (pc - in->low) >> shift, block;
	__u8 back = 0, used = 0;

	for (__u32 i = 0; i < JVS_SEGMENT_HOPS; i++) {
		if (jvs_read_user(&back, 1, in->segmap + segment) || back == JVS_FREE_SEGMENT)
			return 0;
		if (back == 0)
			break;
		segment -= back;
	}
	if (back)
		return 0;

	block = in->low + (segment << shift);
	if (jvs_read_user(&used, 1, block + java->heap_block_used) || !used)
		return 0;
	return block + java->heap_block_size;
}

JVS_FN __u64 jvs_blob_at(struct jvs_walk *w, __u64 pc)
{
	const struct jvs_target *t;
	int heap;

	if (!w)
		return 0;
	t = jvs_target_of(w->target);
	if (!t)
		return 0;
	heap = jvs_heap_of(w, &t->java, pc);
	return heap < 0 ? 0 : jvs_blob_in(&t->java, heap, pc);
}

/*
 * Whether a word can be a return address: in a known mapping, or behind the first instruction of
 * a blob that is in use.
 */
JVS_FN int jvs_is_code(struct jvs_walk *w, __u64 address)
{
	const struct jvs_java_layout *java;
	const struct jvs_target *t;
	__u64 blob, begin = 0;
	__u32 offset = 0;
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

	blob = jvs_blob_in(java, heap, address);
	if (!blob)
		return 0;
	if (java->code_is_offset) {
		if (jvs_read_user(&offset, sizeof(offset), blob + java->blob_code_begin))
			return 0;
		begin = blob + offset;
	} else if (jvs_read_user(&begin, sizeof(begin), blob + java->blob_code_begin)) {
		return 0;
	}
	return address > begin;
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
