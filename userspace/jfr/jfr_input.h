/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_INPUT_H
#define JVMSCOPE_JFR_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The bytes of a recording, front to back: of a file, a pipe or memory; what is compressed by gzip
 * or zstd is unpacked on the way.
 *
 * at..end is what has been read and not yet taken. Files are read, not mapped: a file that somebody
 * cuts while we read it must not be the end of us, and a window that stays in the cache is as fast.
 *
 * The window grows when somebody needs more bytes at once than it holds, and only as far as bytes
 * really come: a size that a damaged file claims costs nothing.
 */
struct jfr_input {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t offset; /* of at, in the unpacked bytes */
	uint64_t size;	 /* all bytes; UINT64_MAX when not known: pipes and compressed files */
	int err;	 /* why reading ended early: a negative errno, 0 at the true end */
	/* Private. */
	int fd; /* owned, but for standard input */
	bool ended;
	uint8_t *window; /* owned; NULL for memory */
	size_t capacity;
	size_t window_max;	   /* of what is packed: see jfr_input_limit(); 0 none */
	const uint8_t *memory;	   /* borrowed */
	struct jfr_unpack *unpack; /* owned; NULL for plain bytes */
};

/* path "-" is standard input. Returns 0 or a negative errno. */
int jfr_input_open(const char *path, struct jfr_input *out);

/* bytes must live as long as the input. Compressed bytes are not unpacked. */
void jfr_input_memory(const void *bytes, size_t size, struct jfr_input *out);

void jfr_input_close(struct jfr_input *in);

/*
 * Bytes that are packed may be many more than the file has. Of them no more than window_max and as
 * many as were packed are then available at once: needing more is the end, with -EFBIG.
 */
void jfr_input_limit(struct jfr_input *in, size_t window_max);

/* How many packed bytes were read so far; UINT64_MAX where nothing is packed. */
uint64_t jfr_input_packed(const struct jfr_input *in);

/* An error of opening or reading in words: strerror() knows none for damaged packed bytes. */
const char *jfr_input_strerror(int err);

/* Makes at least size bytes available at once, and tells how many are: fewer only at the end. */
size_t jfr_input_need(struct jfr_input *in, uint64_t size);

/* Steps over size bytes, of a file without reading many; fewer at the end. Returns how many. */
uint64_t jfr_input_skip(struct jfr_input *in, uint64_t size);

/*
 * Up to size bytes that lie distance bytes behind at, for files without reading what is between
 * into memory. Copied to to; the number of bytes is returned.
 */
size_t jfr_input_peek(struct jfr_input *in, uint64_t distance, void *to, size_t size);

#endif
