/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_UNCOVERED_H
#define JVMSCOPE_UNCOVERED_H

#include <stdbool.h>
#include <stdint.h>

struct recording;

/*
 * How much of the growth of libc's heap is of nobody whose allocations were recorded. Without
 * libc's own probes those are all callers but the VM: zip, JNI libraries, the loader.
 *
 * It is a difference of large numbers: what libc's chunks take between the first and the last
 * ledger, less the growth of what lives at sites, less what libc adds to those blocks. Blocks from
 * before the recording that were freed in it are of unknown size, and make it too small.
 */
struct rec_uncovered {
	int64_t growth_bytes;	 /* of chunks in use and of blocks that are mappings of their own */
	int64_t explained_bytes; /* by which what lives at sites grew */
	int64_t overhead_bytes;	 /* of those blocks: headers and rounding, an estimate */
	int64_t unread_bytes;	 /* of arenas that could not be read at the one or the other end */
	int64_t uncovered_bytes;
	bool with_libc; /* sites of other callers than the VM were recorded, too */
};

/* False where there is no ledger, no site, or what lives is not known. */
bool rec_uncovered(const struct recording *rec, uint32_t jvm, struct rec_uncovered *out);

#endif
