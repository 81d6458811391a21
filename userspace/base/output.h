/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_OUTPUT_H
#define JVMSCOPE_OUTPUT_H

#include <stdio.h>

/*
 * A file that appears under its name only when it is complete.
 *
 * Written under a short hidden name in the same folder and renamed at the end. "-" is standard
 * output. A path that exists and is not a regular file (/dev/full, a fifo) is written in place.
 */
struct output {
	FILE *file;
	char *path;	 /* owned; as given */
	char *temporary; /* owned; NULL when written in place */
};

/* Returns 0 or a negative errno. On error *out is untouched. */
int output_open(const char *path, struct output *out);

/*
 * Flushes, checks every earlier write, and renames. On error the temporary is removed, so no
 * half file is left. Frees what out owns in any case. Returns 0 or a negative errno (-ENOSPC).
 */
int output_commit(struct output *out);

/* Closes and removes the temporary. Safe on a zeroed or committed struct. */
void output_abort(struct output *out);

#endif
