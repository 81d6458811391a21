/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_MODEL_NATIVE_IMPL_H
#define JVMSCOPE_MODEL_NATIVE_IMPL_H

#include "model/native.h"
#include "model/recording_impl.h"
#include "model/table.h"

/* Inside of model/native*.c. */

struct rec_native {
	struct table sites; /* of struct rec_native_site */
	struct table calls; /* of struct rec_native_calls */
	struct rec_rows counts;
	struct rec_rows budgets;
	struct map64 budget_places; /* JVM and group to the index of its row */
	struct rec_rows events;
	struct rec_rows suspects;
};

/* That of a recording, made when there is none; NULL when memory is out. */
struct rec_native *rec_native_of(struct recording *rec);

#endif
