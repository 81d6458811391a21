/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_FILE_H
#define JVMSCOPE_JFR_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "jfr/jfr_write.h"

/*
 * A file of finished chunks that can be read at any moment, also when we are killed at that moment.
 *
 * It appears under its name with its first segment. A reader refuses a file whose chunks do not end
 * where it does, so what comes later is not simply written behind the others: that takes long when
 * it is large or the disk slow. The space is first given to the last chunk, in which the new bytes
 * are one or two events of a type that nobody knows.
 *
 * A new chunk then gets its own life by one write of eight bytes. A further segment of the last
 * chunk gets it by two: the chunk's header, which from then on leads to its constants, and the head
 * of its first event. Constants that no event uses yet hurt nobody; events without theirs would.
 *
 * A pipe, a device or standard output is written one chunk after the other, each of one segment.
 */
struct jfr_file;

/* What is kept: the newest chunks. 0: all. A pipe cannot forget: limits are -ESPIPE there. */
struct jfr_file_limits {
	uint64_t max_bytes;
	uint64_t max_age_ns;
};

/* Nothing is opened before the first chunk. Returns 0 or -ENOMEM. */
int jfr_file_open(const char *path, const struct jfr_file_limits *limits, struct jfr_file **out);

/* Whether each segment must be a chunk, because what is written cannot be changed. */
bool jfr_file_is_stream(const struct jfr_file *file);

/*
 * Appends a segment; ctx is the file. Returns 0 or a negative errno, which leaves the file as it
 * was; -EINVAL for a further segment of a chunk that is not there or on a stream.
 */
int jfr_file_append(void *ctx, const struct jfr_finished_segment *segment);

/* Chunks in the file now, and its size. */
size_t jfr_file_chunks(const struct jfr_file *file);
uint64_t jfr_file_size(const struct jfr_file *file);

/* Forgets what is older than wanted and closes. Returns 0 or a negative errno. */
int jfr_file_close(struct jfr_file *file);

#endif
