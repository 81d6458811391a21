/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_MODEL_NATIVE_IMPL_H
#define JVMSCOPE_MODEL_NATIVE_IMPL_H

#include "base/map64.h"
#include "model/native.h"
#include "model/table.h"

/* Inside of model/native*.c. */

/* Rows of one size, in the order they were added. */
struct rec_rows {
	void *items; /* owned */
	uint32_t count;
	uint32_t capacity;
};

struct rec_native {
	struct rec_rows sites;
	struct map64 by_key; /* of sites, to their ids */
	struct table calls;  /* of struct rec_native_calls */
	struct rec_rows counts;
	struct rec_rows budgets;
	struct rec_rows events;
	struct rec_rows suspects;
};

/* That of a recording, made when there is none; NULL when memory is out. */
struct rec_native *rec_native_of(struct recording *rec);

#endif
