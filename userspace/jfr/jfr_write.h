/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_WRITE_H
#define JVMSCOPE_JFR_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/recording.h"

/*
 * A recording as JFR, segment by segment: samples as they come, and at the end of each segment
 * whatever else the recording knows by then. A segment is made in memory and handed on when it is
 * complete.
 *
 * A chunk has one segment or more. It can be read alone, and stands in a file behind any other one.
 *
 * Names are read from the recording, which must be the same one in all calls.
 */
struct jfr_writer;

#define JFR_HEADER_SIZE 68

/*
 * A finished segment: events, and behind them the constants they use, as far as the chunk did not
 * have them. The first one of a chunk begins with the chunk's header and metadata. A later one
 * stands directly behind those before it, and the chunk's header is to be replaced.
 */
struct jfr_finished_segment {
	void *bytes; /* valid during the call */
	size_t size;
	const uint8_t *header; /* of the chunk with this segment, JFR_HEADER_SIZE; the same */
	bool begins_chunk;
	int64_t start_ns; /* of the chunk, since the epoch */
	int64_t end_ns;
};

/*
 * Behind the header comes an event of 8 to 127 bytes, which whoever appends chunks to a file may
 * cover for a moment by one of a type that is declared nowhere, as JFR_UNDECLARED and "L" are. A
 * later segment may be covered by one such event as a whole: it is longer than the head of one.
 */
#define JFR_UNDECLARED 127

/*
 * Returns 0 or a negative errno, which jfr_writer_segment() returns; a new chunk begins after that.
 */
typedef int jfr_segment_sink(void *ctx, const struct jfr_finished_segment *chunk);

struct jfr_writer_options {
	jfr_segment_sink *sink;
	void *ctx; /* of sink */
	/*
	 * A chunk gets no further segment that would, if it is like the one before, make the chunk
	 * larger or longer than this. 0: each segment is a chunk.
	 */
	uint64_t chunk_bytes;
	uint64_t chunk_ns;
	const char *destination; /* the file's name, as text in the file; NULL none. Borrowed */
	/*
	 * When the first event began, of a recording of which that is known: 0 is a second before
	 * the recording. What began earlier begins then, and more than a day is not believed.
	 */
	int64_t earliest_ns;
	uint64_t max_bytes; /* as text in the file; 0 none */
	uint64_t max_age_ns;
};

/* The first chunk begins at the recording's start. Returns 0 or -ENOMEM. */
int jfr_writer_open(const struct jfr_writer_options *options, const struct recording *rec,
		    struct jfr_writer **out);

/* Adds one sample to the current segment. A failed allocation shows at its end. */
void jfr_writer_sample(struct jfr_writer *writer, const struct recording *rec,
		       const struct rec_sample *sample);

/*
 * Ends the segment at a time, and begins the next there. machine_load is 0..1 of all CPUs, by all
 * processes; negative when it is not known. Returns 0, -ENOMEM, or what the sink returned.
 */
int jfr_writer_segment(struct jfr_writer *writer, const struct recording *rec, int64_t end_ns,
		       double machine_load);

/* Bytes of the current segment so far. */
size_t jfr_writer_size(const struct jfr_writer *writer);

/* Forgets what is not in a finished segment yet. */
void jfr_writer_close(struct jfr_writer *writer);

#endif
