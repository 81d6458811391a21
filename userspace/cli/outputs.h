/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_OUTPUTS_H
#define JVMSCOPE_OUTPUTS_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "cli/options.h"

struct exporter;
struct filter;
struct recording;
struct stream;

/* The files of one recording: their names, formats, and the writing of them. */

/* "json, collapsed": every format there is. Returns to. */
const char *outputs_formats(char *to, size_t size);

/*
 * The format of the n-th file: by its suffix, else --format. A single file is written as --format
 * says whatever its suffix. NULL: none.
 */
const struct exporter *outputs_format(const struct options *options, size_t n);

/*
 * Whether each file has a format and "-" is there once at most; logs and returns -EINVAL. Warns of
 * options without effect, too.
 */
int outputs_check_formats(const struct options *options);

/* A warning for each option that only formats have a use for that no output is of. */
void outputs_say_unused(const struct options *options);

/*
 * %p becomes pid, %t when as local time (20250131-235959), %% a %; any other % stays as it is.
 * Returns 0 or -ENAMETOOLONG.
 */
int outputs_expand(const char *pattern, const char *pid, time_t when, char *to, size_t size);

/* What %p stands for: "42", for several pids "42+2" (two others), "all", or pid itself. */
const char *outputs_pid_text(const struct options *options, pid_t pid, char *to, size_t size);

#define OUTPUTS_PATH_MAX 4096

struct outputs {
	const struct options *options;
	char pid[32];				   /* for %p */
	time_t when;				   /* for %t */
	struct stream *streams[OPTIONS_FILES_MAX]; /* owned; NULL: written at the end */
};

/*
 * Says before a recording begins what would fail at its end: a folder that is not there, is no
 * folder or may not be written. Logs and returns a negative errno.
 */
int outputs_check_paths(const struct outputs *outputs);

/*
 * Begins the files that are written while the recording goes on, and has it keep samples when
 * there are any. The recording knows when it began. Logs and returns a negative errno.
 */
int outputs_begin(struct outputs *outputs, struct recording *rec);

/*
 * Writes the samples so far to those files, and forgets them. Returns 0 as long as there is an
 * output left that can be written; else the error, which is logged.
 */
int outputs_chunk(struct outputs *outputs, struct recording *rec, struct filter *filter,
		  int64_t end_ns);

/* The same for the last time, and ends those files. Returns 0 or the first error, logged. */
int outputs_end(struct outputs *outputs, struct recording *rec, struct filter *filter);

/*
 * Writes each of the other files, and goes on with the next when one fails. Logs a line for each.
 * Returns 0 or the first error.
 */
int outputs_write(const struct outputs *outputs, const struct recording *rec);

/* Closes what is still open. */
void outputs_close(struct outputs *outputs);

#endif
