/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_OUTPUTS_H
#define JVMSCOPE_OUTPUTS_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

struct exporter;
struct options;
struct recording;

/* The files of one recording: their names, formats, and the writing of them. */

/* "json, collapsed": every format there is. Returns to. */
const char *outputs_formats(char *to, size_t size);

/*
 * The format of the n-th file: by its suffix, else --format. A single file is written as --format
 * says whatever its suffix. NULL: none.
 */
const struct exporter *outputs_format(const struct options *options, size_t n);

/* Whether each file has a format and "-" is there once at most; logs and returns -EINVAL. */
int outputs_check_formats(const struct options *options);

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
	char pid[32]; /* for %p */
	time_t when;  /* for %t */
};

/*
 * Says before a recording begins what would fail at its end: a folder that is not there, is no
 * folder or may not be written. Logs and returns a negative errno.
 */
int outputs_check_paths(const struct outputs *outputs);

/*
 * Writes each file, and goes on with the next when one fails. Logs a line for each. Returns 0 or
 * the first error.
 */
int outputs_write(const struct outputs *outputs, const struct recording *rec);

#endif
