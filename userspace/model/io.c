/* SPDX-License-Identifier: Apache-2.0 */
#include "model/io.h"

#include "model/recording_impl.h"

static const struct rec_rows nothing = {
	.row_size = sizeof(struct rec_io),
	.max = REC_MAX_IO,
	.over_limit = "io_over_limit",
};

uint32_t rec_io(struct recording *rec, const struct rec_io *io)
{
	struct rec_io *row;

	if (!rec->io.row_size)
		rec->io = nothing;
	row = rec_rows_add(rec, &rec->io, 1);
	if (!row)
		return 0;
	*row = *io;
	return rec->io.count;
}

const struct rec_io *rec_ios(const struct recording *rec, size_t *count)
{
	*count = rec->io.count;
	return rec->io.items;
}

bool rec_io_metric(enum rec_metric time, enum rec_metric *bytes)
{
	static const struct {
		enum rec_metric time, bytes;
	} metrics[] = {
		{ REC_SOCKET_READ, REC_SOCKET_READ_BYTES },
		{ REC_SOCKET_WRITE, REC_SOCKET_WRITE_BYTES },
		{ REC_FILE_READ, REC_FILE_READ_BYTES },
		{ REC_FILE_WRITE, REC_FILE_WRITE_BYTES },
		{ REC_FILE_FORCE, REC_METRIC_NR },
	};

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		if (metrics[i].time != time)
			continue;
		*bytes = metrics[i].bytes;
		return true;
	}
	return false;
}

void rec_io_each_stack(struct recording *rec, uint32_t (*change)(uint32_t stack, void *ctx),
		       void *ctx)
{
	struct rec_io *rows = rec->io.items;

	for (uint32_t i = 0; i < rec->io.count; i++)
		if (rows[i].stack)
			rows[i].stack = change(rows[i].stack, ctx);
}
