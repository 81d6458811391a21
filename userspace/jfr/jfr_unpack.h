/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_UNPACK_H
#define JVMSCOPE_JFR_UNPACK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* gzip and zstd, unpacked as a stream; several members one after the other are one stream. */
struct jfr_unpack;

#define JFR_UNPACK_MAGIC 4 /* bytes that tell which it is */

/*
 * first is what has been read of the stream so far. *out is NULL when it is not compressed.
 * Returns 0 or -ENOMEM.
 */
int jfr_unpack_open(const uint8_t *first, size_t size, struct jfr_unpack **out);

/*
 * No window of zstd is larger than this, which is at least 1 KiB; 0 for as large as zstd itself
 * allows, 128 MiB.
 */
void jfr_unpack_limit(struct jfr_unpack *unpack, uint64_t window_bytes);

/* How many packed bytes it has read. */
uint64_t jfr_unpack_packed(const struct jfr_unpack *unpack);

/*
 * As read(), with a negative errno: -EBADMSG when the packed bytes are damaged or cut, -EFBIG when
 * unpacking them takes more memory than they may.
 */
ssize_t jfr_unpack_read(struct jfr_unpack *unpack, int fd, uint8_t *to, size_t size);

void jfr_unpack_close(struct jfr_unpack *unpack);

#endif
