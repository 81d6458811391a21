/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_BPF_WORLD_H
#define JVMSCOPE_BPF_WORLD_H

/*
 * A process made up for the unwinder: its memory, its mappings with their unwind rows, and a JVM
 * with a code heap. The step code of bpf/ is compiled into each file that includes this.
 *
 * Addresses: a native library, a code heap, the interpreter, metadata, one thread's stack. A read
 * outside of these fails, as one of memory that is not present.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/unwind_step.h"
#include "unit/unit.h"

#define WORLD_FN static __attribute__((unused))

#define LIBRARY	    0x400000ull /* mapping 0, id 11 */
#define LIBRARY_END 0x500000ull
#define HEAP	    0x7000000ull
#define HEAP_SIZE   0x10000ull
#define SEGMAP	    0x6f00000ull
#define SEGMENT	    128ull
#define META	    0x9000000ull
#define META_SIZE   0x4000ull
#define STACK	    0xa000000ull
#define STACK_SIZE  0x40000ull
#define SP	    (STACK + 0x2000) /* where most tests begin */

/* The interpreter's blob fills the upper half of the heap. */
#define INTERPRETER	(HEAP + 0x8000)
#define INTERPRETER_END (HEAP + HEAP_SIZE)
#define METHOD_ENTRY	(INTERPRETER + 0x1000)
#define METHOD_ENTRIES	(INTERPRETER + 0x2000) /* end of them */

/* Field offsets, as in no real JVM. */
#define BLOCK_SIZE	16
#define BLOCK_USED	8
#define BLOB_NAME	96
#define BLOB_FRAME_SIZE 28
#define BLOB_COMPLETE	24
#define BLOB_BEGIN	32
#define BLOB_END	40
#define NM_DEOPT	200
#define NM_DEOPT_MH	208
#define NM_ORIG_PC	220
#define NM_ENTRY	184
#define NM_ID		304
#define BLOB_CODE	0x150 /* from the blob to its code */

#define NAMES	      META
#define NAME_NATIVE   NAMES
#define NAME_NMETHOD  (NAMES + 7) /* the tail of "native nmethod" */
#define NAME_STUBS    (NAMES + 0x40)
#define NAME_ADAPTER  (NAMES + 0x80)
#define NAME_VTABLE   (NAMES + 0xc0)
#define NAME_RUNTIME  (NAMES + 0x100)
#define NAME_DEOPT    (NAMES + 0x140)
#define NAME_HANDLERS (NAMES + 0x180)
#define METHOD	      (META + 0x1000)
#define THREAD	      (META + 0x3000) /* a JavaThread */
#define THREAD_ID     77
#define ANCHOR	      0x100
#define SAVED_PC      0x180

#define FRAMES_MAX 4096 /* frames a test may keep */

struct world_region {
	__u64 start;
	__u64 size;
	__u8 *bytes;
};

static struct world {
	struct jvs_target target;
	struct jvs_mapping mappings[3];
	__u32 mapping_count;
	struct jvs_row rows[64];
	__u32 row_count;
	__u32 index[64];
	struct jvs_stack_part parts[FRAMES_MAX / JVS_PART_FRAMES];
	struct jvs_walk walk;
	__u8 native[LIBRARY_END - LIBRARY];
	__u8 heap[HEAP_SIZE];
	__u8 segmap[HEAP_SIZE / SEGMENT];
	__u8 meta[META_SIZE];
	__u8 stack[STACK_SIZE];
	__u64 next_segment;
	__u64 java_thread;
	bool no_window; /* nothing as large as the walk's window can be read */
} world;

WORLD_FN __u8 *world_at(__u64 from, __u64 size)
{
	const struct world_region regions[] = {
		{ LIBRARY, sizeof(world.native), world.native },
		{ HEAP, sizeof(world.heap), world.heap },
		{ SEGMAP, sizeof(world.segmap), world.segmap },
		{ META, sizeof(world.meta), world.meta },
		{ STACK, sizeof(world.stack), world.stack },
	};

	for (size_t i = 0; i < ARRAY_SIZE(regions); i++)
		if (from >= regions[i].start && from - regions[i].start < regions[i].size &&
		    size <= regions[i].size - (from - regions[i].start))
			return regions[i].bytes + (from - regions[i].start);
	return NULL;
}

/* ---- what the step code asks for */

WORLD_FN int jvs_read_user(void *to, __u32 size, __u64 from)
{
	const __u8 *bytes = world_at(from, size);

	if (!bytes || (world.no_window && size == sizeof(world.walk.window)))
		return -EFAULT;
	memcpy(to, bytes, size);
	return 0;
}

WORLD_FN const struct jvs_target *jvs_target_of(__u32 index)
{
	return index == 0 ? &world.target : NULL;
}

WORLD_FN const struct jvs_mapping *jvs_mapping_at(__u32 index)
{
	return index < ARRAY_SIZE(world.mappings) ? &world.mappings[index] : NULL;
}

WORLD_FN const struct jvs_row *jvs_row_at(__u32 index)
{
	return index < ARRAY_SIZE(world.rows) ? &world.rows[index] : NULL;
}

WORLD_FN const __u32 *jvs_row_index_at(__u32 index)
{
	return index < ARRAY_SIZE(world.index) ? &world.index[index] : NULL;
}

WORLD_FN struct jvs_stack_part *jvs_part_at(__u32 index)
{
	return index < ARRAY_SIZE(world.parts) ? &world.parts[index] : NULL;
}

WORLD_FN __u64 jvs_java_thread(__u32 tid)
{
	return tid == THREAD_ID ? world.java_thread : 0;
}

/* ---- making it up */

WORLD_FN void put(__u64 at, const void *bytes, __u64 size)
{
	__u8 *to = world_at(at, size);

	if (!to)
		abort(); /* the test is wrong */
	memcpy(to, bytes, size);
}

WORLD_FN void put_u64(__u64 at, __u64 value)
{
	put(at, &value, sizeof(value));
}

WORLD_FN void put_u32(__u64 at, __u32 value)
{
	put(at, &value, sizeof(value));
}

WORLD_FN void put_u8(__u64 at, __u8 value)
{
	put(at, &value, sizeof(value));
}

/* Words on the stack, from at upwards. */
#define put_words(at, ...)                              \
	do {                                            \
		const __u64 words_[] = { __VA_ARGS__ }; \
                                                        \
		put(at, words_, sizeof(words_));        \
	} while (0)

/* Machine code at an address. */
#define put_code(at, ...)                             \
	do {                                          \
		const __u8 code_[] = { __VA_ARGS__ }; \
                                                      \
		put(at, code_, sizeof(code_));        \
	} while (0)

/*
 * A blob of so many segments with this name, frame size in words and, in bytes from its code, the
 * end of the prologue. Returns it; its code begins BLOB_CODE later and fills the rest.
 */
WORLD_FN __u64 put_blob(__u64 name, __u32 segments, __s32 frame_size, __s32 complete)
{
	__u64 block = HEAP + world.next_segment * SEGMENT, blob = block + BLOCK_SIZE;

	for (__u32 i = 0; i < segments; i++)
		world.segmap[world.next_segment + i] = (__u8)i;
	world.next_segment += segments;

	put_u8(block + BLOCK_USED, 1);
	put_u64(blob + BLOB_NAME, name);
	put_u32(blob + BLOB_FRAME_SIZE, (__u32)frame_size);
	put_u32(blob + BLOB_COMPLETE, (__u32)complete);
	put_u64(blob + BLOB_BEGIN, blob + BLOB_CODE);
	put_u64(blob + BLOB_END, block + segments * SEGMENT);
	return blob;
}

/* A compiled method whose verified entry is 16 bytes into its code. */
WORLD_FN __u64 put_method(__s32 frame_size, __s32 complete, __u32 id)
{
	__u64 blob = put_blob(NAME_NMETHOD, 8, frame_size, complete);

	put_u64(blob + NM_ENTRY, blob + BLOB_CODE + 16);
	put_u64(blob + NM_DEOPT, blob + BLOB_CODE + 0x200);
	put_u64(blob + NM_DEOPT_MH, blob + BLOB_CODE + 0x210);
	put_u32(blob + NM_ORIG_PC, 8);
	put_u32(blob + NM_ID, id);
	return blob;
}

/* The next unwind row of the library: from this offset on. */
WORLD_FN void put_row(__u32 address, __u32 kind, __s16 cfa, __s8 fp)
{
	world.rows[world.row_count++] =
		(struct jvs_row){ .address = address, .cfa = cfa, .fp = fp, .kind = (__u8)kind };
	world.mappings[0].row_count = world.row_count;
}

WORLD_FN void put_layout(struct jvs_java_layout *java)
{
	*java = (struct jvs_java_layout){
		.heap_count = 1,
		.segment_shift = 7,
		.heaps[0] = { HEAP, HEAP + HEAP_SIZE, SEGMAP },
		.heaps[1] = { ~0ull, ~0ull, 0 },
		.heaps[2] = { ~0ull, ~0ull, 0 },
		.heaps[3] = { ~0ull, ~0ull, 0 },
		.interpreter = { INTERPRETER, INTERPRETER_END },
		.method_entries = { METHOD_ENTRY, METHOD_ENTRIES },
		.name_nmethod = NAME_NMETHOD,
		.name_native_nmethod = NAME_NATIVE,
		.heap_block_size = BLOCK_SIZE,
		.heap_block_used = BLOCK_USED,
		.blob_name = BLOB_NAME,
		.blob_frame_size = BLOB_FRAME_SIZE,
		.blob_frame_complete = BLOB_COMPLETE,
		.blob_code_begin = BLOB_BEGIN,
		.blob_code_end = BLOB_END,
		.blob_kind = JVS_NO_FIELD,
		.nmethod_deopt = NM_DEOPT,
		.nmethod_deopt_mh = NM_DEOPT_MH,
		.nmethod_compile_id = NM_ID,
		.nmethod_orig_pc = NM_ORIG_PC,
		.nmethod_verified_entry = NM_ENTRY,
		.method_const_method = 8,
		.const_method_constants = 16,
		.pool_holder = 24,
		.klass_constants = 32,
		.klass_name = 40,
		.const_method_size = 48,
		.const_method_code_size = 40,
		.interpreter_bcp = -8,
		.thread_anchor_sp = ANCHOR,
		.thread_anchor_pc = ANCHOR + 8,
		.thread_anchor_fp = ANCHOR + 16,
		.thread_saved_pc = SAVED_PC,
	};
}

/* METHOD, with its ConstMethod 0x100 above it, 100 bytes of bytecode, and a class. */
#define CONST_METHOD (METHOD + 0x100)
#define BYTECODE     (CONST_METHOD + 48)
WORLD_FN void put_metadata(void)
{
	__u64 pool = METHOD + 0x200, klass = METHOD + 0x300;

	put_u64(METHOD + 8, CONST_METHOD);
	put_u64(CONST_METHOD + 16, pool);
	put_u8(CONST_METHOD + 40, 100);
	put_u64(pool + 24, klass);
	put_u64(klass + 32, pool);
	put_u64(klass + 40, METHOD + 0x400);
}

/* The interpreter's blob: found by range, but its segments are in use like all others. */
WORLD_FN void put_interpreter(void)
{
	__u64 first = (INTERPRETER - HEAP) / SEGMENT;

	for (__u64 i = first; i < ARRAY_SIZE(world.segmap); i++)
		world.segmap[i] = (__u8)(i - first < 254 ? i - first : 254);
	put_u8(INTERPRETER + BLOCK_USED, 1);
	put_u64(INTERPRETER + BLOCK_SIZE + BLOB_BEGIN, INTERPRETER + 0x100);
}

/* A walk that has not begun; its pc is not set. */
WORLD_FN void world_walk_reset(void)
{
	world.walk = (struct jvs_walk){
		.flags = JVS_TARGET_ON | JVS_TARGET_JAVA | JVS_TARGET_ANCHOR,
		.mappings = 1ull << 32,
		.tid = THREAD_ID,
		.max_depth = FRAMES_MAX,
		.sp = SP,
		.start_sp = SP,
		.at = JVS_AT_LEAF,
	};
}

/* Called by each suite's setup: nothing but the JVM's fixed parts; the walk's pc is not set. */
WORLD_FN void world_reset(void)
{
	memset(&world, 0, sizeof(world));
	memset(world.segmap, JVS_FREE_SEGMENT, sizeof(world.segmap));
	put_layout(&world.target.java);
	put(NAME_NATIVE, "native nmethod", 15);
	put(NAME_STUBS, "StubRoutines (1)", 17);
	put(NAME_ADAPTER, "I2C/C2I adapters", 17);
	put(NAME_VTABLE, "vtable chunks", 14);
	put(NAME_RUNTIME, "resolve_static_call", 20);
	put(NAME_DEOPT, "DeoptimizationBlob", 19);
	put(NAME_HANDLERS, "native signature handlers", 26);
	put_metadata();
	put_interpreter();

	world.mappings[0] = (struct jvs_mapping){
		.start = LIBRARY, .end = LIBRARY_END, .bias = LIBRARY, .id = 11
	};
	world.mapping_count = 1;
	world.java_thread = THREAD;
	world_walk_reset();
}

/* ---- looking at it */

/* Frame number n as stored. */
WORLD_FN const struct jvs_frame *frame(__u32 n)
{
	return &world.parts[n / JVS_PART_FRAMES].frames[n % JVS_PART_FRAMES];
}

WORLD_FN __u32 kind_of(__u32 n)
{
	return (__u32)(frame(n)->word >> 56);
}

/* Without the leaf mark. */
WORLD_FN __u32 how_of(__u32 n)
{
	return frame(n)->word >> JVS_ADDRESS_BITS & 0xff & ~(__u32)JVS_HOW_LEAF;
}

WORLD_FN bool is_leaf(__u32 n)
{
	return frame(n)->word >> JVS_ADDRESS_BITS & JVS_HOW_LEAF;
}

WORLD_FN __u64 address_of(__u32 n)
{
	return frame(n)->word & JVS_ADDRESS_MASK;
}

#define ASSERT_AT(want_pc, want_sp, want_fp)              \
	do {                                              \
		ASSERT_INT(world.walk.pc, want_pc);       \
		ASSERT_INT(world.walk.sp, want_sp);       \
		ASSERT_INT(world.walk.fp, want_fp);       \
		ASSERT_INT(world.walk.at, JVS_AT_RETURN); \
	} while (0)

/* One step that must go on, by this way. */
#define ASSERT_STEP(want_kind, want_how)                           \
	do {                                                       \
		__u32 before_ = world.walk.walked;                 \
                                                                   \
		ASSERT_INT(jvs_step(&world.walk), JVS_STATUS_RUN); \
		ASSERT_INT(world.walk.walked, before_ + 1);        \
		ASSERT_INT(kind_of(before_), want_kind);           \
		ASSERT_INT(how_of(before_), want_how);             \
	} while (0)

#endif
