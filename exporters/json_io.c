/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json_io.h"

#include "exporters/json_stream.h"
#include "model/io.h"
#include "model/recording.h"

static void write_socket(struct json_stream *json, const struct recording *rec,
			 const struct rec_io *row)
{
	json_key_text_or_null(json, "address", rec_text(rec, row->address));
	json_key_unsigned(json, "port", row->port);
	if (row->metric == REC_SOCKET_READ)
		json_key_unsigned(json, "timeout_ns", row->timeout_ns);
}

static void write_row(struct json_stream *json, const struct recording *rec,
		      const struct rec_io *row)
{
	json_map(json);
	json_key_index(json, "jvm", row->jvm);
	json_key_text(json, "operation", rec_metric_info(row->metric)->name);
	json_key_index(json, "thread", row->thread);
	json_key_index(json, "stack", row->stack);
	json_key_signed(json, "start_time_ns", row->time_ns);
	json_key_unsigned(json, "duration_ns", row->duration_ns);
	json_key_unsigned(json, "bytes", row->bytes);
	if (row->metric == REC_SOCKET_READ || row->metric == REC_SOCKET_WRITE)
		write_socket(json, rec, row);
	else
		json_key_text_or_null(json, "path", rec_text(rec, row->path));
	if (row->metric == REC_SOCKET_READ || row->metric == REC_FILE_READ)
		json_key_bool(json, "end", row->end);
	if (row->metric == REC_FILE_FORCE)
		json_key_bool(json, "metadata", row->metadata);
	json_map_end(json);
}

void json_io(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	const struct rec_io *rows = rec_ios(rec, &count);

	if (!count)
		return;
	json_key(json, "io");
	json_array(json);
	for (size_t i = 0; i < count && !json->err; i++)
		write_row(json, rec, &rows[i]);
	json_array_end(json);
}
