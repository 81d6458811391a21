/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TOP_H
#define JVMSCOPE_TOP_H

#include <stddef.h>
#include <stdint.h>

#include "model/recording.h"

/* One method's part of a metric: of cpu in samples, of others by their value. */
struct top_row {
	uint32_t method;
	int64_t self;  /* samples whose innermost Java frame (any frame, when none is Java) is the
			  method */
	int64_t total; /* samples that have it anywhere, counted once each */
};

/*
 * The methods with the largest self count of one metric, at most max. Returns how many were
 * written to out, or -ENOMEM. *all is the sum over all samples.
 */
int top_methods(const struct recording *rec, enum rec_metric metric, struct top_row *out,
		size_t max, int64_t *all);

#endif
