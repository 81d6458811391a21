/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_CODEHEAP_H
#define JVMSCOPE_CODEHEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/jvs_abi.h"
#include "jvm/layout.h"

struct target;

/* The code cache: heaps, the blobs in them, and the few blobs that BPF is told about. */

/* Head of a CodeBlob. */
struct blob {
	uint64_t address;
	uint64_t name; /* char* */
	uint64_t code_begin;
	uint64_t code_end;
};

/*
 * Fills heaps, heap_count and segment_shift; the rest of *out is left alone. Returns 0, -EAGAIN
 * (not made yet), -EPROTO (more than JVS_MAX_HEAPS, or segments that make no sense: logged),
 * -EFAULT, -ESRCH.
 */
int codeheap_read(const struct target *t, const struct hotspot *h, struct jvs_java_layout *out);

/*
 * Fills interpreter, method_entries and call_stub_return; needs the heaps. Returns 0, -EAGAIN
 * (not made yet), -EBADMSG, -EFAULT, -ESRCH.
 */
int codeheap_interpreter(const struct target *t, const struct hotspot *h,
			 struct jvs_java_layout *out);

/* How far the search for names has come. A zeroed struct starts at the beginning. */
struct codeheap_search {
	uint32_t heaps_done;
	uint64_t block; /* address, 0: start of the heap */
};

/*
 * Goes over the next blobs, 4,096 at most, until name_nmethod, name_native_nmethod and
 * continuation_stubs of *out are known or the last blob was seen; then starts over. They stay 0
 * until such code exists. Returns 0 or -ESRCH.
 */
int codeheap_search(const struct target *t, const struct hotspot *h, struct codeheap_search *search,
		    struct jvs_java_layout *out);

/* Whether nothing is left to search for. Continuation stubs (19+) are made before any code. */
static inline bool codeheap_complete(const struct jvs_java_layout *layout)
{
	return layout->name_nmethod && layout->name_native_nmethod;
}

/* The head of the blob at an address. Returns 0, -EBADMSG, -EFAULT, -ESRCH. */
int codeheap_blob(const struct target *t, const struct hotspot *h, uint64_t address,
		  struct blob *out);

/* The same from bytes, h->blob_header of them. Returns 0 or -EBADMSG. */
int codeheap_parse_blob(const struct hotspot *h, uint64_t address, const uint8_t *bytes,
			struct blob *out);

/* The blob that holds pc, by the segment map. Returns 0, -ENOENT, -EFAULT, -ESRCH. */
int codeheap_find(const struct target *t, const struct hotspot *h,
		  const struct jvs_java_layout *layout, uint64_t pc, struct blob *out);

#endif
