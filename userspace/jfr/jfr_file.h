/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_FILE_H
#define JVMSCOPE_JFR_FILE_H

#include <stdint.h>

#include "jfr/jfr_write.h"

/*
 * A file of finished chunks that can be read at any moment, also when we are killed at that moment.
 *
 * It appears under its name with its first chunk. A reader refuses a file whose chunks do not end
 * where it does, so a later chunk is not simply written behind the others: that takes long when it
 * is large or the disk slow. The space is first given to the chunk before it, in which the new
 * one is two events of a type that nobody knows; one write of eight bytes then gives the new chunk
 * its own life.
 *
 * A pipe, a device or standard output is written one chunk after the other.
 */
struct jfr_file;

/* What is kept: the newest chunks. 0: all. A pipe cannot forget: limits are -ESPIPE there. */
struct jfr_file_limits {
	uint64_t max_bytes;
	uint64_t max_age_ns;
};

/* Nothing is opened before the first chunk. Returns 0 or -ENOMEM. */
int jfr_file_open(const char *path, const struct jfr_file_limits *limits, struct jfr_file **out);

/*
 * Appends a chunk; ctx is the file. Returns 0 or a negative errno, which leaves the file with the
 * chunks it had.
 */
int jfr_file_append(void *ctx, const struct jfr_finished_chunk *chunk);

/* Chunks in the file now, and its size. */
size_t jfr_file_chunks(const struct jfr_file *file);
uint64_t jfr_file_size(const struct jfr_file *file);

/* Forgets what is older than wanted and closes. Returns 0 or a negative errno. */
int jfr_file_close(struct jfr_file *file);

#endif
