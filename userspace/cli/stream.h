/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_STREAM_H
#define JVMSCOPE_STREAM_H

#include <stdint.h>

struct filter;
struct options;
struct recording;

/*
 * An output that is written while the recording goes on: JFR. At the end of each segment, which is
 * what --chunk is about, the samples so far are in the file, which can be read from then on.
 */
struct stream;

/* Nothing is opened yet. Logs and returns a negative errno. */
int stream_open(const char *path, const struct options *options, const struct recording *rec,
		struct stream **out);

/*
 * Writes the samples of the recording as a segment that ends at end_ns; folds and drops stacks as
 * the filter's mode says. What has failed once is not tried again: later calls return the same
 * error. Logs and returns a negative errno.
 */
int stream_chunk(struct stream *stream, struct recording *rec, struct filter *filter,
		 int64_t end_ns);

/* The same for the last segment, and closes. Logs what was written. */
int stream_end(struct stream *stream, struct recording *rec, struct filter *filter, int64_t end_ns);

/* Closes without a last segment; the others stay. */
void stream_close(struct stream *stream);

#endif
