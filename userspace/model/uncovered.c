/* SPDX-License-Identifier: Apache-2.0 */
#include "model/uncovered.h"

#include <string.h>

#include "model/ledger.h"
#include "model/native.h"
#include "model/recording.h"

/*
 * A chunk has a header of 8 bytes, and its size is a multiple of 16: that is 8 more in the mean of
 * sizes of which none is more likely than another.
 */
#define CHUNK_OVERHEAD 16

static int64_t allocated(const struct rec_ledger *ledger)
{
	const struct rec_malloc *m = &ledger->malloc;

	return (int64_t)(m->in_use_bytes + m->mapped_bytes - m->cached_bytes);
}

static bool with_libc(const struct recording *rec, uint32_t jvm)
{
	for (uint32_t id = 1; id <= rec_native_site_count(rec); id++) {
		const struct rec_native_site *site = rec_native_site_get(rec, id);

		if (site && site->jvm == jvm && site->use == REC_NATIVE_HEAP &&
		    !strcmp(rec_text(rec, site->tag), REC_NATIVE_LIBC_TAG))
			return true;
	}
	return false;
}

bool rec_uncovered(const struct recording *rec, uint32_t jvm, struct rec_uncovered *out)
{
	const struct rec_ledger *first = rec_ledger_first(rec, jvm);
	const struct rec_ledger *last = rec_ledger_last(rec, jvm);
	struct rec_uncovered found = { 0 };

	/* Another allocator's blocks are in no chunk of libc. */
	if (!first || !last || *rec_text(rec, last->allocator) ||
	    !rec_native_budget_get(rec, jvm) || !rec_native_live_known(rec, jvm))
		return false;
	found.explained_bytes = last->native_bytes - first->native_bytes;
	found.overhead_bytes = CHUNK_OVERHEAD * (last->native_blocks - first->native_blocks);
	found.with_libc = with_libc(rec, jvm);
	found.growth_bytes = allocated(last) - allocated(first);
	found.unread_bytes = (int64_t)(first->malloc.unread_bytes + last->malloc.unread_bytes);
	found.uncovered_bytes = found.growth_bytes - found.explained_bytes - found.overhead_bytes;
	*out = found;
	return true;
}
