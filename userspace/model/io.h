/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_MODEL_IO_H
#define JVMSCOPE_MODEL_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/recording.h"

struct recording;

/*
 * Reads and writes of sockets and files that took long. All of them, also the short ones, are in
 * the totals: time of REC_SOCKET_READ and the like, bytes of REC_SOCKET_READ_BYTES and the like.
 *
 * Ids and strings are those of the recording; 0 is none, or not known.
 */

#define REC_MAX_IO (1u << 20) /* more are counted */

struct rec_io {
	uint32_t jvm;
	uint32_t thread;
	uint32_t stack;
	enum rec_metric metric; /* of its time */
	int64_t time_ns;
	uint64_t duration_ns;
	uint64_t bytes;
	uint64_t timeout_ns; /* of a socket's read or write; 0: none */
	uint32_t path;	     /* of a file */
	uint32_t address;    /* of a socket's other side, as text */
	uint32_t port;
	bool end;      /* of the stream, or of the file */
	bool metadata; /* of a file that is forced: of its metadata, too */
};

/* The id, or 0 when there was no more room, which is counted, or memory. */
uint32_t rec_io(struct recording *rec, const struct rec_io *io);
/* In the order they ended. */
const struct rec_io *rec_ios(const struct recording *rec, size_t *count);

/* Whether a metric is the time of such calls; *bytes is that of their bytes, if they have any. */
bool rec_io_metric(enum rec_metric time, enum rec_metric *bytes);

/* For rec_edit_stacks() alone: puts what change returns in place of each stack. */
void rec_io_each_stack(struct recording *rec, uint32_t (*change)(uint32_t stack, void *ctx),
		       void *ctx);

#endif
