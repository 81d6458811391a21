/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json_runtime.h"

#include <stdlib.h>

#include "exporters/json_stream.h"
#include "model/recording.h"
#include "model/runtime.h"

static void write_threads(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	const struct rec_thread_event *rows = rec_thread_events(rec, &count);

	if (!count)
		return;
	json_key(json, "thread_events");
	json_array(json);
	for (size_t i = 0; i < count && !json->err; i++) {
		json_map(json);
		json_key_index(json, "jvm", rows[i].jvm);
		json_key_text(json, "event", rows[i].ends ? "end" : "start");
		json_key_index(json, "thread", rows[i].thread);
		json_key_signed(json, "time_ns", rows[i].time_ns);
		json_key_index(json, "parent", rows[i].parent);
		json_key_index(json, "stack", rows[i].stack);
		json_map_end(json);
	}
	json_array_end(json);
}

/* "com.example.Foo.bar"; null where it could not be named. */
static void write_method(struct json_stream *json, const struct recording *rec, uint32_t method,
			 char *buffer, size_t size)
{
	const struct rec_method *row = rec_method_get(rec, method);

	json_key_text_or_null(json, "method",
			      method ? rec_method_text(rec, method, buffer, size) : "");
	json_key_text_or_null(json, "signature", method ? rec_text(rec, row->signature) : "");
}

static void write_outcome(struct json_stream *json, const struct rec_compilation *row)
{
	json_key(json, "succeeded");
	if (row->outcome == REC_COMPILED_UNKNOWN)
		json_null(json);
	else
		json_bool(json, row->outcome == REC_COMPILED);
	json_key_signed_or_null(json, "code_bytes", row->code_bytes, row->code_bytes != 0);
}

static void write_compilations(struct json_stream *json, const struct recording *rec)
{
	size_t count, size = rec_text_size(rec);
	const struct rec_compilation *rows = rec_compilations(rec, &count);
	char *buffer = count ? malloc(size) : NULL;

	if (!buffer)
		return;
	json_key(json, "compilations");
	json_array(json);
	for (size_t i = 0; i < count && !json->err; i++) {
		json_map(json);
		json_key_index(json, "jvm", rows[i].jvm);
		json_key_unsigned(json, "id", rows[i].compile_id);
		write_method(json, rec, rows[i].method, buffer, size);
		json_key_unsigned(json, "level", rows[i].level);
		json_key_signed_or_null(json, "osr_bci", rows[i].osr_bci, rows[i].osr_bci >= 0);
		json_key_unsigned(json, "inlined_bytes", rows[i].inlined_bytes);
		write_outcome(json, &rows[i]);
		json_key_index(json, "thread", rows[i].thread);
		json_key_signed(json, "start_time_ns", rows[i].time_ns);
		json_key_unsigned(json, "duration_ns", rows[i].duration_ns);
		json_map_end(json);
	}
	json_array_end(json);
	free(buffer);
}

void json_runtime(struct json_stream *json, const struct recording *rec)
{
	write_threads(json, rec);
	write_compilations(json, rec);
}
