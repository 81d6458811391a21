/* SPDX-License-Identifier: Apache-2.0 */
#include "model/native_calls.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "model/native_impl.h"
#include "model/recording_impl.h"

/* Keys are hashed and compared as bytes. */
_Static_assert(offsetof(struct rec_native_calls, sum) == 16 * REC_NATIVE_CALLS + 16, "no holes");

struct rec_native_calls *rec_native_calls(struct recording *rec,
					  const struct rec_native_chain *chain,
					  const struct rec_native_site *site)
{
	struct rec_native_calls row = {
		.chain = *chain, .jvm = site->jvm, .tag = site->tag, .use = site->use
	};
	struct rec_native *native = rec_native_of(rec);
	uint32_t id;
	int err;

	if (!native)
		return NULL;
	native->calls.row_size = sizeof(row);
	native->calls.key_size = offsetof(struct rec_native_calls, sum);
	row.sum = (struct rec_native_site){ .jvm = site->jvm, .tag = site->tag, .use = site->use };
	err = table_add(&native->calls, &row, REC_MAX_NATIVE_CALLS, &id);
	if (err == -ENOMEM)
		rec->err = -ENOMEM;
	return err ? NULL : table_get(&native->calls, id);
}

void rec_native_calls_add(struct recording *rec, const struct rec_native_chain *chain,
			  const struct rec_native_site *site)
{
	struct rec_native_calls *calls = rec_native_calls(rec, chain, site);

	if (calls)
		rec_native_site_add(&calls->sum, site);
}

const struct rec_native_calls *rec_native_calls_get(const struct recording *rec, uint32_t id)
{
	return rec->native ? table_get(&rec->native->calls, id) : NULL;
}

uint32_t rec_native_calls_count(const struct recording *rec)
{
	return rec->native ? rec->native->calls.count : 0;
}
