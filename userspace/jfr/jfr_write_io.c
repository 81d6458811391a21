/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/io.h"

/* Reads and writes of sockets and files that took long, since the last segment. */

#define NS_PER_MS 1000000

static void put_socket(struct jfr_writer *w, const struct recording *rec, const struct rec_io *row)
{
	/* What the program called the other side is not known; views are by host. */
	jfr_put_text(&w->bytes, rec_text(rec, row->address));
	jfr_put_text(&w->bytes, rec_text(rec, row->address));
	jfr_put_int(&w->bytes, (int32_t)row->port);
}

static void put_path(struct jfr_writer *w, const struct recording *rec, const struct rec_io *row)
{
	jfr_put_text(&w->bytes, row->path ? rec_text(rec, row->path) : NULL);
}

static void put_socket_read(struct jfr_writer *w, const struct recording *rec,
			    const struct rec_io *row)
{
	put_socket(w, rec, row);
	jfr_put_long(&w->bytes, row->timeout_ns / NS_PER_MS);
	jfr_put_long(&w->bytes, row->bytes);
	jfr_put_byte(&w->bytes, row->end);
}

static void put_socket_write(struct jfr_writer *w, const struct recording *rec,
			     const struct rec_io *row)
{
	put_socket(w, rec, row);
	jfr_put_long(&w->bytes, row->bytes);
}

static void put_file_read(struct jfr_writer *w, const struct recording *rec,
			  const struct rec_io *row)
{
	put_path(w, rec, row);
	jfr_put_long(&w->bytes, row->bytes);
	jfr_put_byte(&w->bytes, row->end);
}

static void put_file_write(struct jfr_writer *w, const struct recording *rec,
			   const struct rec_io *row)
{
	put_path(w, rec, row);
	jfr_put_long(&w->bytes, row->bytes);
}

static void put_file_force(struct jfr_writer *w, const struct recording *rec,
			   const struct rec_io *row)
{
	put_path(w, rec, row);
	jfr_put_byte(&w->bytes, row->metadata);
}

static const struct {
	enum rec_metric metric;
	enum jfr_type_id type;
	void (*put)(struct jfr_writer *w, const struct recording *rec, const struct rec_io *row);
} events[] = {
	{ REC_SOCKET_READ, JFR_SOCKET_READ, put_socket_read },
	{ REC_SOCKET_WRITE, JFR_SOCKET_WRITE, put_socket_write },
	{ REC_FILE_READ, JFR_FILE_READ, put_file_read },
	{ REC_FILE_WRITE, JFR_FILE_WRITE, put_file_write },
	{ REC_FILE_FORCE, JFR_FILE_FORCE, put_file_force },
};

static void put_row(struct jfr_writer *w, const struct recording *rec, const struct rec_io *row)
{
	size_t at;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (events[i].metric != row->metric)
			continue;
		at = jfr_begin(w, events[i].type, row->time_ns);
		jfr_put_long(&w->bytes, row->duration_ns);
		jfr_put_long(&w->bytes, jfr_pools_thread(w->pools, rec, row->thread));
		jfr_put_long(&w->bytes, jfr_pools_java_stack(w->pools, rec, row->stack));
		events[i].put(w, rec, row);
		jfr_end_event(&w->bytes, at);
	}
}

void jfr_put_io(struct jfr_writer *w, const struct recording *rec)
{
	size_t count;
	const struct rec_io *rows = rec_ios(rec, &count);

	for (; w->io < count; w->io++)
		put_row(w, rec, &rows[w->io]);
}
