/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_IMPORT_H
#define JVMSCOPE_IMPORT_H

#include <stdbool.h>

#include "model/recording.h"

/*
 * A recording from a file, whose format shows in its first bytes: JFR, our JSON, or collapsed
 * stacks; each also packed by gzip or zstd.
 */
struct import_options {
	const char *path;  /* "-" is standard input */
	bool keep_samples; /* rows of samples, for outputs that need them */
};

struct import_result {
	bool damaged; /* something is missing, of which warnings were given */
};

/*
 * Adds the file's contents to rec. Returns 0, or a negative errno of which one line is logged:
 * -EBADMSG when it is in none of the formats, or cannot be read at all.
 */
int import_file(const struct import_options *options, struct recording *rec,
		struct import_result *result);

#endif
