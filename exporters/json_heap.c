/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json_heap.h"

#include "exporters/json_stream.h"
#include "model/heap.h"
#include "model/recording.h"

void json_heap(struct json_stream *json, const struct recording *rec)
{
	if (!rec_has_heap(rec))
		return;
	json_key(json, "heap");
	json_map(json);
	json_key(json, "by_class");
	json_array(json);
	for (uint32_t id = 1; id <= rec_heap_class_count(rec) && !json->err; id++) {
		const struct rec_heap_class *row = rec_heap_class_get(rec, id);

		json_map(json);
		json_key_index(json, "jvm", row->jvm);
		json_key_text_or_null(json, "class", rec_text(rec, row->name));
		json_key_unsigned(json, "bytes", rec_heap_bytes(row));
		json_key_unsigned(json, "tlabs", row->tlabs);
		json_key_unsigned(json, "tlab_bytes", row->tlab_bytes);
		json_key_unsigned(json, "inside_bytes", row->inside_bytes);
		json_key_unsigned(json, "outside_objects", row->outside);
		json_key_unsigned(json, "outside_bytes", row->outside_bytes);
		json_map_end(json);
	}
	json_array_end(json);
	json_map_end(json);
}
