/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_WRITE_H
#define JVMSCOPE_JFR_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "model/recording.h"

/*
 * A recording as JFR, chunk by chunk: samples as they come, and at the end of each chunk whatever
 * else the recording knows by then. A chunk is made in memory and handed on when it is complete.
 *
 * Names are read from the recording, which must be the same one in all calls.
 */
struct jfr_writer;

/* A finished chunk. It can be read alone, and stands in a file behind any other one. */
struct jfr_finished_chunk {
	void *bytes; /* valid during the call */
	size_t size;
	int64_t start_ns; /* since the epoch */
	int64_t end_ns;
};

/*
 * Behind the header comes an event of 8 to 127 bytes, which whoever appends chunks to a file may
 * cover for a moment by one of a type that is declared nowhere, as JFR_UNDECLARED and "L" are.
 */
#define JFR_HEADER_SIZE 68
#define JFR_UNDECLARED	127

/* Returns 0 or a negative errno, which jfr_writer_chunk() returns. */
typedef int jfr_chunk_sink(void *ctx, const struct jfr_finished_chunk *chunk);

struct jfr_writer_options {
	jfr_chunk_sink *sink;
	void *ctx;		 /* of sink */
	const char *destination; /* the file's name, as text in the file; NULL none. Borrowed */
	uint64_t max_bytes;	 /* the same; 0 none */
	uint64_t max_age_ns;
};

/* The first chunk begins at the recording's start. Returns 0 or -ENOMEM. */
int jfr_writer_open(const struct jfr_writer_options *options, const struct recording *rec,
		    struct jfr_writer **out);

/* Adds one sample to the current chunk. A failed allocation shows at its end. */
void jfr_writer_sample(struct jfr_writer *writer, const struct recording *rec,
		       const struct rec_sample *sample);

/*
 * Ends the chunk at a time, and begins the next there. machine_load is 0..1 of all CPUs, by all
 * processes; negative when it is not known. Returns 0, -ENOMEM, or what the sink returned.
 */
int jfr_writer_chunk(struct jfr_writer *writer, const struct recording *rec, int64_t end_ns,
		     double machine_load);

/* Bytes of the current chunk so far. */
size_t jfr_writer_size(const struct jfr_writer *writer);

/* Forgets what is not in a chunk yet. */
void jfr_writer_close(struct jfr_writer *writer);

#endif
