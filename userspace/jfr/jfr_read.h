/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_READ_H
#define JVMSCOPE_JFR_READ_H

#include "jfr/jfr_chunk.h"
#include "jfr/jfr_input.h"

/*
 * Reads recordings: of the JDK from version 9 on, async-profiler, and our own.
 *
 * One pass forward. Events nobody wants are counted and stepped over by their size. Memory is one
 * chunk's constants, the window of the input, and late events; of what is
 * packed they are bounded, since its bytes may be a thousand times those of the file. Each chunk
 * has its own types, constants and clock, so that files of several JVMs, one behind the other, are
 * read right.
 *
 * What is damaged costs as little as can be: an event whose fields do not fit is left out, a chunk
 * ends where the next event cannot be found, and reading goes on with the next chunk where the
 * header says that it is. on_notice is told of all that was lost.
 */
struct jfr_visitor {
	const struct jfr_want *wants;
	size_t want_count;
	/* Each may be NULL. chunk is valid during the call. */
	void (*on_chunk)(void *ctx, const struct jfr_chunk *chunk);	/* before its events */
	void (*on_chunk_end)(void *ctx, const struct jfr_chunk *chunk); /* constants are known */
	/* One line: "offset 131402: ..." */
	void (*on_notice)(void *ctx, const char *text);
};

struct jfr_result {
	uint64_t chunks;
	uint64_t events; /* all, also those nobody wanted, without metadata and checkpoints */
	uint64_t events_damaged;    /* wanted, and could not be read */
	uint64_t constants_damaged; /* checkpoints that were not read, or not to their end */
	uint64_t bytes_lost;	    /* of chunks that ended early, and what is no chunk */
	bool unfinished;	    /* a chunk was still being written, or the last one is cut */
	const char *refusal;	    /* why there is nothing: "not a JFR recording"; NULL there is */
};

/*
 * Calls visitor for all that is in in. Returns 0 when there was at least one chunk, however
 * damaged; -EBADMSG when the bytes are no recording, of which notice was given; -ENOMEM; or the
 * negative errno of reading. *result is written in each case.
 */
int jfr_each_event(struct jfr_input *in, const struct jfr_visitor *visitor, void *ctx,
		   struct jfr_result *result);

#endif
