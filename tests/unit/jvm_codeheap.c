/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "jvm/codeheap.h"
#include "unit/jvm_fake.h"
#include "unit/unit.h"

#define SEGMENT	 128u
#define SEGMENTS 1024u
#define HEAPS	 2

static struct target *self;
static struct hotspot hotspot;
static struct jvs_java_layout layout;

/* Two heaps of 128 KiB, their segment maps, and the structures that lead to them. */
static _Alignas(SEGMENT) uint8_t code[HEAPS][SEGMENT * SEGMENTS];
static uint8_t segmap[HEAPS][SEGMENTS];
static uint8_t code_heap[HEAPS][1024];
static uint64_t heap_pointers[HEAPS + 8];
static uint8_t heap_array[64];
static const void *heap_list;
static uint32_t fill[HEAPS]; /* segments in use */

/* The interpreter's queue of codelets, and the static variables. */
static uint8_t queue[64];
static const void *queue_pointer;
static uint64_t call_stub;

static void put_pointer(void *base, struct field f, const void *value)
{
	fake_put(base, f, fake_address(value));
}

static void make_heap(int n)
{
	struct fields *f = &hotspot.field;
	uint8_t *memory = code_heap[n] + f->heap_memory.at;
	uint8_t *map = code_heap[n] + f->heap_segmap.at;

	memset(code[n], 0, sizeof(code[n]));
	memset(segmap[n], 0xff, sizeof(segmap[n]));
	memset(code_heap[n], 0, sizeof(code_heap[n]));
	put_pointer(memory, f->space_low_boundary, code[n]);
	put_pointer(memory, f->space_high_boundary, code[n] + sizeof(code[n]));
	put_pointer(memory, f->space_high, code[n] + sizeof(code[n]) / 2);
	put_pointer(map, f->space_low_boundary, segmap[n]);
	fake_put(code_heap[n], f->heap_segment_shift, 7);
	heap_pointers[n] = fake_address(code_heap[n]);
	fill[n] = 0;
}

static void make_jvm(int jdk)
{
	struct fields *f = &hotspot.field;

	ASSERT_INT(fake_hotspot(self, jdk, &hotspot), 0);
	memset(&layout, 0, sizeof(layout));
	memset(heap_array, 0, sizeof(heap_array));
	memset(queue, 0, sizeof(queue));
	make_heap(0);
	make_heap(1);
	fake_put(heap_array, f->array_length, HEAPS);
	put_pointer(heap_array, f->array_data, heap_pointers);
	heap_list = heap_array;
	f->code_heaps.at = fake_address(&heap_list);
	f->interpreter_code.at = fake_address(&queue_pointer);
	f->call_stub_return.at = fake_address(&call_stub);
	queue_pointer = queue;
	call_stub = 0x1234;
}

/* Adds a used block of so many segments with a blob in it. Returns the blob. */
static uint8_t *add_blob(int heap, uint32_t segments, const char *name)
{
	struct fields *f = &hotspot.field;
	uint8_t *block = code[heap] + fill[heap] * SEGMENT;
	uint8_t *blob = block + hotspot.heap_block_size;

	fake_put(block, f->block_length, segments);
	fake_put(block, f->block_used, 1);
	put_pointer(blob, f->blob_name, name);
	if (field_exists(f->blob_code_begin)) {
		put_pointer(blob, f->blob_code_begin, block + SEGMENT);
		put_pointer(blob, f->blob_code_end, block + segments * SEGMENT);
	} else {
		fake_put(blob, f->blob_code_offset, SEGMENT - hotspot.heap_block_size);
		fake_put(blob, f->blob_data_offset, segments * SEGMENT - hotspot.heap_block_size);
	}
	/* As CodeHeap::mark_segmap_as_used: distances of at most 254. */
	for (uint32_t i = 0; i < segments; i++)
		segmap[heap][fill[heap] + i] = (uint8_t)(i > 254 ? (i - 1) % 254 + 1 : i);
	fill[heap] += segments;
	return blob;
}

static void add_codelet(uint8_t **at, uint32_t size, const char *description)
{
	fake_put(*at, hotspot.field.codelet_size, size);
	put_pointer(*at, hotspot.field.codelet_description, description);
	*at += size;
}

/* An interpreter in heap 1 behind the stubs, with two method entries among its codelets. */
static uint8_t *add_interpreter(void)
{
	uint8_t *blob, *start, *at;

	add_blob(1, 4, "StubRoutines (continuation stubs)");
	blob = add_blob(1, 40, "Interpreter");
	start = at = blob - hotspot.heap_block_size + SEGMENT;
	add_codelet(&at, 512, "return entry points");
	add_codelet(&at, 256, "method entry point (kind = zerolocals)");
	add_codelet(&at, 128, "method entry point (kind = native)");
	add_codelet(&at, 1024, "iload");
	put_pointer(queue, hotspot.field.queue_buffer, start);
	fake_put(queue, hotspot.field.queue_end, (uint64_t)(at - start));
	fake_put(queue, hotspot.field.queue_limit, 65536);
	return start;
}

static void setup(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	CU_ASSERT_FATAL(target_open(getpid(), &self) == 0);
	make_jvm(17);
}

static void teardown(void)
{
	log_set_level(LOG_LEVEL_INFO);
	target_close(self);
}

static void reads_the_heaps(void)
{
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), 0);
	ASSERT_INT(layout.heap_count, 2);
	ASSERT_INT(layout.segment_shift, 7);
	CU_ASSERT(layout.heaps[0].low == fake_address(code[0]));
	CU_ASSERT(layout.heaps[1].high == fake_address(code[1]) + sizeof(code[1]));
	CU_ASSERT(layout.heaps[1].segmap == fake_address(segmap[1]));
	CU_ASSERT(layout.heaps[2].low == ~0ull && layout.heaps[2].high == ~0ull);
	CU_ASSERT(layout.heaps[3].low == ~0ull && layout.heaps[3].high == ~0ull);
}

static void reads_the_single_heap_of_8(void)
{
	static const void *heap;

	make_jvm(8);
	heap = code_heap[0];
	hotspot.field.code_heap.at = fake_address(&heap);
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), 0);
	ASSERT_INT(layout.heap_count, 1);
	heap = NULL;
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), -EAGAIN);
}

static void waits_for_heaps_that_are_not_made_yet(void)
{
	heap_list = NULL;
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), -EAGAIN);
	heap_list = heap_array;
	fake_put(heap_array, hotspot.field.array_length, 0);
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), -EAGAIN);
	fake_put(heap_array, hotspot.field.array_length, HEAPS);
	heap_pointers[1] = 0;
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), -EAGAIN);
	heap_pointers[1] = fake_address(code_heap[1]);
	put_pointer(code_heap[1] + hotspot.field.heap_segmap.at, hotspot.field.space_low_boundary,
		    NULL);
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), -EAGAIN);
	ASSERT_INT(layout.heap_count, 0);
}

static void refuses_heaps_that_make_no_sense(void)
{
	fake_put(heap_array, hotspot.field.array_length, JVS_MAX_HEAPS + 1);
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), -EPROTO);
	fake_put(heap_array, hotspot.field.array_length, (uint64_t)-1);
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), -EPROTO);
	fake_put(heap_array, hotspot.field.array_length, HEAPS);
	fake_put(code_heap[0], hotspot.field.heap_segment_shift, 63);
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), -EPROTO);
	fake_put(code_heap[0], hotspot.field.heap_segment_shift, 7);
	heap_pointers[0] = 8;
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), -EFAULT);
}

static void finds_the_blob_of_a_pc(void)
{
	static const int jdks[] = { 17, 25 };
	uint8_t *small, *large;
	struct blob blob;

	for (size_t i = 0; i < ARRAY_SIZE(jdks); i++) {
		make_jvm(jdks[i]);
		small = add_blob(0, 2, "small");
		large = add_blob(0, 900, "large");
		ASSERT_INT(codeheap_read(self, &hotspot, &layout), 0);
		ASSERT_INT(codeheap_find(self, &hotspot, &layout, fake_address(small) + 130, &blob),
			   0);
		CU_ASSERT(blob.address == fake_address(small));
		CU_ASSERT(blob.code_begin == fake_address(small) - hotspot.heap_block_size + 128);
		/* The last segment is four hops away. */
		ASSERT_INT(codeheap_find(self, &hotspot, &layout,
					 fake_address(large) + 899 * SEGMENT, &blob),
			   0);
		CU_ASSERT(blob.address == fake_address(large));
	}
}

static void finds_no_blob_where_there_is_none(void)
{
	uint8_t *first = add_blob(0, 2, "first");
	struct blob blob;

	ASSERT_INT(codeheap_read(self, &hotspot, &layout), 0);
	/* free, in no heap, freed, and a map that leads in front of the heap */
	ASSERT_INT(codeheap_find(self, &hotspot, &layout, fake_address(code[0]) + 1000, &blob),
		   -ENOENT);
	ASSERT_INT(codeheap_find(self, &hotspot, &layout, 0x1000, &blob), -ENOENT);
	fake_put(first - hotspot.heap_block_size, hotspot.field.block_used, 0);
	ASSERT_INT(codeheap_find(self, &hotspot, &layout, fake_address(first), &blob), -ENOENT);
	segmap[0][0] = 1;
	ASSERT_INT(codeheap_find(self, &hotspot, &layout, fake_address(first), &blob), -ENOENT);
}

static void refuses_blobs_that_make_no_sense(void)
{
	uint8_t *first = add_blob(0, 2, "first");
	struct blob blob;

	put_pointer(first, hotspot.field.blob_code_end, first - 4096);
	ASSERT_INT(codeheap_blob(self, &hotspot, fake_address(first), &blob), -EBADMSG);
	put_pointer(first, hotspot.field.blob_code_end, first + (1ull << 40));
	ASSERT_INT(codeheap_blob(self, &hotspot, fake_address(first), &blob), -EBADMSG);
	ASSERT_INT(codeheap_blob(self, &hotspot, 16, &blob), -EFAULT);
}

static void finds_the_interpreter_and_its_method_entries(void)
{
	uint8_t *start = add_interpreter();

	ASSERT_INT(codeheap_read(self, &hotspot, &layout), 0);
	ASSERT_INT(codeheap_interpreter(self, &hotspot, &layout), 0);
	CU_ASSERT(layout.interpreter.low == fake_address(start));
	CU_ASSERT(layout.interpreter.high == fake_address(start) + 39 * SEGMENT);
	CU_ASSERT(layout.method_entries.low == fake_address(start) + 512);
	CU_ASSERT(layout.method_entries.high == fake_address(start) + 896);
	ASSERT_INT(layout.call_stub_return, 0x1234);

	/* A queue filled to its limit has no end. */
	fake_put(queue, hotspot.field.queue_end, 0);
	fake_put(queue, hotspot.field.queue_limit, 1920);
	ASSERT_INT(codeheap_interpreter(self, &hotspot, &layout), 0);
	CU_ASSERT(layout.method_entries.high == fake_address(start) + 896);
}

static void waits_for_the_interpreter(void)
{
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), 0);
	queue_pointer = NULL;
	ASSERT_INT(codeheap_interpreter(self, &hotspot, &layout), -EAGAIN);
	queue_pointer = queue;
	ASSERT_INT(codeheap_interpreter(self, &hotspot, &layout), -EAGAIN);
	add_interpreter();
	call_stub = 0;
	ASSERT_INT(codeheap_interpreter(self, &hotspot, &layout), -EAGAIN);
	call_stub = 0x1234;
	ASSERT_INT(codeheap_interpreter(self, &hotspot, &layout), 0);
}

static void survives_codelets_that_make_no_sense(void)
{
	uint8_t *start = add_interpreter();

	ASSERT_INT(codeheap_read(self, &hotspot, &layout), 0);
	fake_put(start, hotspot.field.codelet_size, 0);
	ASSERT_INT(codeheap_interpreter(self, &hotspot, &layout), -EAGAIN);
	fake_put(start, hotspot.field.codelet_size, 0xffffffff);
	ASSERT_INT(codeheap_interpreter(self, &hotspot, &layout), -EAGAIN);
	fake_put(queue, hotspot.field.queue_end, 0x7fffffff);
	ASSERT_INT(codeheap_interpreter(self, &hotspot, &layout), -EBADMSG);
}

static void searches_for_the_names(void)
{
	static const char native[] = "native nmethod";
	const char *plain = native + 7; /* linkers share the end */
	struct codeheap_search search = { 0 };

	add_interpreter();
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), 0);
	ASSERT_INT(codeheap_interpreter(self, &hotspot, &layout), 0);
	add_blob(0, 3, plain);
	ASSERT_INT(codeheap_search(self, &hotspot, &search, &layout), 0);
	CU_ASSERT(layout.name_nmethod == fake_address(plain));
	ASSERT_INT(layout.name_native_nmethod, 0);
	CU_ASSERT(layout.continuation_stubs.low == fake_address(code[1]) + SEGMENT);
	CU_ASSERT(layout.continuation_stubs.high == fake_address(code[1]) + 4 * SEGMENT);
	CU_ASSERT(!codeheap_complete(&layout));

	add_blob(0, 3, native);
	ASSERT_INT(codeheap_search(self, &hotspot, &search, &layout), 0);
	CU_ASSERT(layout.name_native_nmethod == fake_address(native));
	CU_ASSERT(codeheap_complete(&layout));
}

static void ends_the_search_at_blocks_that_make_no_sense(void)
{
	struct codeheap_search search = { 0 };
	uint8_t *blob;

	add_interpreter();
	ASSERT_INT(codeheap_read(self, &hotspot, &layout), 0);
	ASSERT_INT(codeheap_interpreter(self, &hotspot, &layout), 0);
	blob = add_blob(0, 3, (const char *)(uintptr_t)16);
	ASSERT_INT(codeheap_search(self, &hotspot, &search, &layout), 0);
	fake_put(blob - hotspot.heap_block_size, hotspot.field.block_length, UINT64_MAX / SEGMENT);
	ASSERT_INT(codeheap_search(self, &hotspot, &search, &layout), 0);
	ASSERT_INT(layout.name_nmethod, 0);
}

static CU_TestInfo tests[] = {
	{ "reads the heaps", reads_the_heaps },
	{ "reads the single heap of 8", reads_the_single_heap_of_8 },
	{ "waits for heaps that are not made yet", waits_for_heaps_that_are_not_made_yet },
	{ "refuses heaps that make no sense", refuses_heaps_that_make_no_sense },
	{ "finds the blob of a pc", finds_the_blob_of_a_pc },
	{ "finds no blob where there is none", finds_no_blob_where_there_is_none },
	{ "refuses blobs that make no sense", refuses_blobs_that_make_no_sense },
	{ "finds the interpreter and its method entries",
	  finds_the_interpreter_and_its_method_entries },
	{ "waits for the interpreter", waits_for_the_interpreter },
	{ "survives codelets that make no sense", survives_codelets_that_make_no_sense },
	{ "searches for the names", searches_for_the_names },
	{ "ends the search at blocks that make no sense",
	  ends_the_search_at_blocks_that_make_no_sense },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_codeheap_suite = {
	.pName = "jvm codeheap",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
