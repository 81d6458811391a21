/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JSON_COUNTS_H
#define JVMSCOPE_JSON_COUNTS_H

#include "exporters/json_stream.h"
#include "model/recording.h"

/* The list "counts": for each JVM a map of what was counted. A failed allocation is json->err. */
void json_counts(struct json_stream *json, const struct recording *rec,
		 const struct rec_count *counts, size_t count);

#endif
