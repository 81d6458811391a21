/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/codeheap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "target/target.h"

#define HOPS_MAX      4096	  /* of the segment map; 18 is the largest seen */
#define SEARCH_BLOBS  4096	  /* looked at in one call: 4 ms at most */
#define SEGMENT_FREE  0xff	  /* CodeHeap::free_sentinel */
#define CODE_MAX      (1u << 30)  /* bytes of one blob */
#define QUEUE_MAX     (16u << 20) /* bytes of the interpreter; 104 KiB seen */
#define CODELETS_MAX  8192	  /* 278 seen */
#define BLOB_NAME_MAX 64

static int too_odd(const struct target *t, const char *what)
{
	log_warn("pid %d: its JVM has %s: no Java frames of this process", (int)t->pid, what);
	return -EPROTO;
}

static int read_space(const struct target *t, const struct hotspot *h, uint64_t heap,
		      struct jvs_code_heap *out)
{
	uint64_t memory = heap + h->field.heap_memory.at;
	uint64_t segments = heap + h->field.heap_segmap.at;
	uint64_t low, high, segmap;
	int err;

	err = field_read(t, memory, h->field.space_low_boundary, &low);
	if (!err)
		err = field_read(t, memory, h->field.space_high_boundary, &high);
	if (!err)
		err = field_read(t, segments, h->field.space_low_boundary, &segmap);
	if (err)
		return err;
	if (!low || !segmap || low >= high)
		return -EAGAIN;
	*out = (struct jvs_code_heap){ .low = low, .high = high, .segmap = segmap };
	return 0;
}

/* The addresses of all CodeHeaps. */
static int read_heap_list(const struct target *t, const struct hotspot *h,
			  uint64_t heaps[JVS_MAX_HEAPS], uint32_t *count)
{
	uint64_t array, data, length = 1;
	int err;

	if (!field_exists(h->field.code_heaps)) {
		err = field_read(t, 0, h->field.code_heap, &heaps[0]);
		*count = 1;
		return err ? err : heaps[0] ? 0 : -EAGAIN;
	}
	err = field_read(t, 0, h->field.code_heaps, &array);
	if (err || !array)
		return err ? err : -EAGAIN;
	err = field_read(t, array, h->field.array_length, &length);
	if (!err)
		err = field_read(t, array, h->field.array_data, &data);
	if (err || !length || !data)
		return err ? err : -EAGAIN;
	if (length > JVS_MAX_HEAPS)
		return too_odd(t, "more code heaps than HotSpot makes");
	*count = (uint32_t)length;
	err = target_read(t, data, heaps, length * sizeof(*heaps));
	for (uint32_t i = 0; !err && i < length; i++) {
		if (!heaps[i])
			err = -EAGAIN;
	}
	return err;
}

int codeheap_read(const struct target *t, const struct hotspot *h, struct jvs_java_layout *out)
{
	struct jvs_code_heap spaces[JVS_MAX_HEAPS];
	uint64_t heaps[JVS_MAX_HEAPS] = { 0 };
	uint64_t shift;
	uint32_t count;
	int err;

	err = read_heap_list(t, h, heaps, &count);
	for (uint32_t i = 0; !err && i < count; i++)
		err = read_space(t, h, heaps[i], &spaces[i]);
	if (!err)
		err = field_read(t, heaps[0], h->field.heap_segment_shift, &shift);
	if (err)
		return err;
	if (!shift)
		return -EAGAIN;
	if (shift > 16)
		return too_odd(t, "code segments larger than HotSpot's");
	for (uint32_t i = count; i < JVS_MAX_HEAPS; i++)
		spaces[i] = (struct jvs_code_heap){ .low = ~0ull, .high = ~0ull };
	memcpy(out->heaps, spaces, sizeof(spaces));
	out->heap_count = count;
	out->segment_shift = (uint32_t)shift;
	return 0;
}

int codeheap_parse_blob(const struct hotspot *h, uint64_t address, const uint8_t *bytes,
			struct blob *out)
{
	const struct fields *f = &h->field;
	size_t size = h->blob_header;
	struct blob blob = { .address = address };

	blob.name = field_of(f->blob_name, bytes, size);
	if (field_exists(f->blob_code_begin)) {
		blob.code_begin = field_of(f->blob_code_begin, bytes, size);
		blob.code_end = field_of(f->blob_code_end, bytes, size);
	} else {
		blob.code_begin = address + field_of(f->blob_code_offset, bytes, size);
		blob.code_end = address + field_of(f->blob_data_offset, bytes, size);
	}
	if (blob.code_begin < address || blob.code_end < blob.code_begin ||
	    blob.code_end - address > CODE_MAX)
		return -EBADMSG;
	*out = blob;
	return 0;
}

int codeheap_blob(const struct target *t, const struct hotspot *h, uint64_t address,
		  struct blob *out)
{
	uint8_t bytes[JVS_BLOB_HEADER_MAX];
	int err = target_read(t, address, bytes, h->blob_header);

	return err ? err : codeheap_parse_blob(h, address, bytes, out);
}

/* Start of the block that holds segment number at, or -ENOENT. */
static int block_segment(const struct target *t, const struct jvs_code_heap *heap, uint64_t *at)
{
	uint8_t tag;
	int err;

	for (size_t hops = 0; hops < HOPS_MAX; hops++) {
		err = target_read(t, heap->segmap + *at, &tag, 1);
		if (err)
			return err;
		if (tag == 0)
			return 0;
		if (tag == SEGMENT_FREE || tag > *at)
			return -ENOENT;
		*at -= tag;
	}
	return -ENOENT;
}

int codeheap_find(const struct target *t, const struct hotspot *h,
		  const struct jvs_java_layout *layout, uint64_t pc, struct blob *out)
{
	const struct jvs_code_heap *heap = NULL;
	uint64_t segment, block, used;
	int err;

	for (uint32_t i = 0; i < layout->heap_count && !heap; i++) {
		if (pc >= layout->heaps[i].low && pc < layout->heaps[i].high)
			heap = &layout->heaps[i];
	}
	if (!heap)
		return -ENOENT;
	segment = (pc - heap->low) >> layout->segment_shift;
	err = block_segment(t, heap, &segment);
	if (err)
		return err;
	block = heap->low + (segment << layout->segment_shift);
	err = field_read(t, block, h->field.block_used, &used);
	if (err || !used)
		return err ? err : -ENOENT;
	return codeheap_blob(t, h, block + h->heap_block_size, out);
}

/* Widens a range over [low, high). */
static void widen(struct jvs_range *range, uint64_t low, uint64_t high)
{
	if (!range->high || low < range->low)
		range->low = low;
	if (high > range->high)
		range->high = high;
}

/* The codelets lie back to back; those that enter methods are neighbours. */
static int find_method_entries(const struct target *t, const struct hotspot *h,
			       const uint8_t *bytes, struct jvs_range queue, struct jvs_range *out)
{
	static const char entry[] = "method entry point";
	size_t size, total = queue.high - queue.low;
	struct jvs_range found = { 0 };
	char text[BLOB_NAME_MAX];
	uint64_t name;
	size_t at = 0;

	for (size_t n = 0; n < CODELETS_MAX && at < total; n++, at += size) {
		size = (uint32_t)field_of(h->field.codelet_size, bytes + at, total - at);
		name = field_of(h->field.codelet_description, bytes + at, total - at);
		if (!size || size > total - at)
			break;
		/* A description longer than text is no method entry. */
		if (!name || target_read_string(t, name, text, sizeof(text)) < 0)
			continue;
		if (!strncmp(text, entry, sizeof(entry) - 1))
			widen(&found, queue.low + at, queue.low + at + size);
	}
	if (!found.high)
		return -EAGAIN;
	*out = found;
	return 0;
}

/* The part of the StubQueue that has codelets in it. */
static int read_queue(const struct target *t, const struct hotspot *h, struct jvs_range *out)
{
	uint64_t queue, buffer, limit, end;
	int err;

	err = field_read(t, 0, h->field.interpreter_code, &queue);
	if (err || !queue)
		return err ? err : -EAGAIN;
	err = field_read(t, queue, h->field.queue_buffer, &buffer);
	if (!err)
		err = field_read(t, queue, h->field.queue_limit, &limit);
	if (!err)
		err = field_read(t, queue, h->field.queue_end, &end);
	if (err)
		return err;
	/* _queue_end is 0 when the queue is full to its limit. */
	if (!end)
		end = limit;
	if (!buffer || !end)
		return -EAGAIN;
	if (end > QUEUE_MAX)
		return -EBADMSG;
	*out = (struct jvs_range){ .low = buffer, .high = buffer + end };
	return 0;
}

static int interpreter_blob(const struct target *t, const struct hotspot *h,
			    const struct jvs_java_layout *layout, uint64_t pc, struct blob *out)
{
	char name[BLOB_NAME_MAX];
	int err = codeheap_find(t, h, layout, pc, out);

	if (err)
		return err == -ENOENT ? -EAGAIN : err;
	if (target_read_string(t, out->name, name, sizeof(name)) < 0)
		return -EAGAIN;
	return strcmp(name, "Interpreter") ? -EAGAIN : 0;
}

int codeheap_interpreter(const struct target *t, const struct hotspot *h,
			 struct jvs_java_layout *out)
{
	struct jvs_range queue, entries;
	uint8_t *bytes = NULL;
	uint64_t call_stub, cont_return;
	struct blob blob;
	int err;

	err = field_read(t, 0, h->field.call_stub_return, &call_stub);
	if (err || !call_stub)
		return err ? err : -EAGAIN;
	err = read_queue(t, h, &queue);
	if (!err)
		err = interpreter_blob(t, h, out, queue.low, &blob);
	if (err)
		return err;
	bytes = malloc(queue.high - queue.low);
	if (!bytes)
		return -ENOMEM;
	err = target_read(t, queue.low, bytes, queue.high - queue.low);
	if (!err)
		err = find_method_entries(t, h, bytes, queue, &entries);
	free(bytes);
	if (err)
		return err;
	out->interpreter = (struct jvs_range){ .low = blob.code_begin, .high = blob.code_end };
	out->method_entries = entries;
	out->call_stub_return = call_stub;
	/* Written before the first virtual thread is; without it stacks go on by rbp there. */
	if (field_exists(h->field.cont_return_pc) &&
	    field_read(t, 0, h->field.cont_return_pc, &cont_return) == 0)
		out->cont_return_pc = cont_return;
	return 0;
}

static void note_blob(const struct target *t, const struct blob *blob, struct jvs_java_layout *out)
{
	static const char continuation[] = "StubRoutines (cont"; /* two spellings so far */
	char name[BLOB_NAME_MAX];

	if (!blob->name || blob->name == out->name_nmethod ||
	    blob->name == out->name_native_nmethod)
		return;
	if (target_read_string(t, blob->name, name, sizeof(name)) < 0)
		return;
	if (!strcmp(name, "nmethod"))
		out->name_nmethod = blob->name;
	else if (!strcmp(name, "native nmethod"))
		out->name_native_nmethod = blob->name;
	else if (!strncmp(name, continuation, sizeof(continuation) - 1))
		widen(&out->continuation_stubs, blob->code_begin, blob->code_end);
}

/* Where the heap's committed memory ends. */
static uint64_t committed_end(const struct target *t, const struct hotspot *h,
			      const struct jvs_java_layout *layout, uint32_t heap)
{
	uint64_t heaps[JVS_MAX_HEAPS], high;
	uint32_t count;

	if (read_heap_list(t, h, heaps, &count) || heap >= count)
		return 0;
	if (field_read(t, heaps[heap] + h->field.heap_memory.at, h->field.space_high, &high))
		return 0;
	return high > layout->heaps[heap].high ? layout->heaps[heap].high : high;
}

/* One block of a heap. Returns its length in bytes, 0 when there is none. */
static uint64_t visit_block(const struct target *t, const struct hotspot *h, uint64_t block,
			    struct jvs_java_layout *out)
{
	uint8_t bytes[64 + JVS_BLOB_HEADER_MAX];
	size_t size = h->heap_block_size + h->blob_header;
	uint64_t segments;
	struct blob blob;

	if (target_read(t, block, bytes, size))
		return 0;
	segments = field_of(h->field.block_length, bytes, h->heap_block_size);
	if (segments > CODE_MAX >> out->segment_shift)
		return 0;
	if (field_of(h->field.block_used, bytes, h->heap_block_size) &&
	    !codeheap_parse_blob(h, block + h->heap_block_size, bytes + h->heap_block_size, &blob))
		note_blob(t, &blob, out);
	return segments << out->segment_shift;
}

/* The heap with the interpreter comes first: the continuation stubs lie before it there. */
static uint32_t heap_in_order(const struct jvs_java_layout *layout, uint32_t n)
{
	uint32_t first = 0;

	while (first + 1 < layout->heap_count &&
	       (layout->interpreter.low < layout->heaps[first].low ||
		layout->interpreter.low >= layout->heaps[first].high))
		first++;
	return (first + n) % layout->heap_count;
}

static bool search_is_over(const struct codeheap_search *search,
			   const struct jvs_java_layout *layout)
{
	return codeheap_complete(layout) &&
	       (search->heaps_done || search->block > layout->interpreter.low);
}

int codeheap_search(const struct target *t, const struct hotspot *h, struct codeheap_search *search,
		    struct jvs_java_layout *out)
{
	uint64_t length, end;
	size_t blobs = 0;
	uint32_t heap;

	if (!out->heap_count)
		return 0;
	for (; search->heaps_done < out->heap_count; search->heaps_done++, search->block = 0) {
		heap = heap_in_order(out, search->heaps_done);
		end = committed_end(t, h, out, heap);
		if (!search->block)
			search->block = out->heaps[heap].low;
		while (search->block < end && !search_is_over(search, out)) {
			if (blobs++ >= SEARCH_BLOBS)
				return 0;
			length = visit_block(t, h, search->block, out);
			if (!length)
				break;
			search->block += length;
		}
	}
	*search = (struct codeheap_search){ 0 };
	return target_alive(t) ? 0 : -ESRCH;
}
