/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_PPROF_STREAM_H
#define JVMSCOPE_PPROF_STREAM_H

#include <stdio.h>
#include <zlib.h>

#include "profile.pb-c.h"

/*
 * A profile, part by part, gzipped straight to a FILE.
 *
 * Messages of protobuf that stand one behind the other are one message, in which lists are joined.
 * So a part is a Profile with a few elements, and memory does not grow with the document. The first
 * failure is remembered and everything after it dropped.
 */
struct pprof_stream {
	z_stream gzip;
	FILE *out;
	uint8_t *packed; /* owned */
	size_t packed_size;
	int err;
};

/* Returns 0 or -ENOMEM. */
int pprof_stream_open(struct pprof_stream *stream, FILE *out);
void pprof_put(struct pprof_stream *stream, const Perftools__Profiles__Profile *part);
/* Flushes and frees. Returns 0 or the first failure as a negative errno. */
int pprof_stream_close(struct pprof_stream *stream);

#endif
