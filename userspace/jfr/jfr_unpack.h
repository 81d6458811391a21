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

/* As read(), with a negative errno: -EBADMSG when the packed bytes are damaged or cut. */
ssize_t jfr_unpack_read(struct jfr_unpack *unpack, int fd, uint8_t *to, size_t size);

void jfr_unpack_close(struct jfr_unpack *unpack);

#endif
