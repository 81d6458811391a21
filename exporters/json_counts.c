/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json_counts.h"

#include "model/by_jvm.h"

void json_counts(struct json_stream *json, const struct recording *rec,
		 const struct rec_count *counts, size_t count)
{
	uint32_t jvms = rec_jvm_count(rec);
	struct by_jvm sorted;
	int err = by_jvm_sort(counts, count, sizeof(*counts), offsetof(struct rec_count, jvm), jvms,
			      &sorted);

	if (err) {
		json->err = err;
		return;
	}
	json_key(json, "counts");
	json_array(json);
	for (uint32_t jvm = 1; jvm <= jvms && !json->err; jvm++) {
		json_map(json);
		json_key_index(json, "jvm", jvm);
		for (uint32_t i = sorted.first[jvm]; i < sorted.first[jvm + 1]; i++) {
			const struct rec_count *row = &counts[sorted.order[i]];

			json_key_unsigned(json, rec_text(rec, row->name), row->value);
		}
		json_map_end(json);
	}
	json_array_end(json);
	by_jvm_free(&sorted);
}
