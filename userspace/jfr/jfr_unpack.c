/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_unpack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define PACKED_SIZE  (64u << 10)
#define GZIP_WINDOW  (15 + 16) /* the largest window, and a gzip header */
#define ZSTD_LOG_MAX 27	       /* windows over 128 MiB are refused, as zstd itself does */

struct jfr_unpack {
	bool is_zstd;
	bool ended;  /* the file */
	bool middle; /* inside a member: the end of the file would be a cut */
	int err;     /* of the bytes behind those already handed out */
	z_stream gzip;
	ZSTD_DStream *zstd;
	uint8_t *packed; /* owned */
	size_t at, end;	 /* of what is in packed */
	size_t capacity;
	uint64_t read; /* packed bytes */
};

static int open_gzip(struct jfr_unpack *unpack)
{
	return inflateInit2(&unpack->gzip, GZIP_WINDOW) == Z_OK ? 0 : -ENOMEM;
}

static int open_zstd(struct jfr_unpack *unpack)
{
	unpack->is_zstd = true;
	unpack->zstd = ZSTD_createDStream();
	if (!unpack->zstd)
		return -ENOMEM;
	ZSTD_DCtx_setParameter(unpack->zstd, ZSTD_d_windowLogMax, ZSTD_LOG_MAX);
	return 0;
}

int jfr_unpack_open(const uint8_t *first, size_t size, struct jfr_unpack **out)
{
	bool is_gzip = size >= 2 && !memcmp(first, "\x1f\x8b", 2);
	bool is_zstd = size >= 4 && !memcmp(first, "\x28\xb5\x2f\xfd", 4);
	struct jfr_unpack *unpack;
	int err;

	if (!is_gzip && !is_zstd)
		return 0;
	unpack = calloc(1, sizeof(*unpack));
	if (!unpack)
		return -ENOMEM;
	err = is_zstd ? open_zstd(unpack) : open_gzip(unpack);
	unpack->capacity = size > PACKED_SIZE ? size : PACKED_SIZE;
	unpack->packed = malloc(unpack->capacity);
	if (err || !unpack->packed) {
		jfr_unpack_close(unpack);
		return -ENOMEM;
	}
	memcpy(unpack->packed, first, size);
	unpack->end = unpack->read = size;
	*out = unpack;
	return 0;
}

void jfr_unpack_limit(struct jfr_unpack *unpack, uint64_t window_bytes)
{
	int most = ZSTD_LOG_MAX;

	while (window_bytes && window_bytes >> most == 0)
		most--;
	if (unpack->is_zstd)
		ZSTD_DCtx_setParameter(unpack->zstd, ZSTD_d_windowLogMax, most);
}

uint64_t jfr_unpack_packed(const struct jfr_unpack *unpack)
{
	return unpack->read;
}

void jfr_unpack_close(struct jfr_unpack *unpack)
{
	if (!unpack)
		return;
	if (unpack->is_zstd)
		ZSTD_freeDStream(unpack->zstd);
	else
		inflateEnd(&unpack->gzip);
	free(unpack->packed);
	free(unpack);
}

/* More packed bytes when there are none. Returns 0 or a negative errno. */
static int fill(struct jfr_unpack *unpack, int fd)
{
	ssize_t got;

	if (unpack->at < unpack->end || unpack->ended)
		return 0;
	do
		got = read(fd, unpack->packed, unpack->capacity);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	unpack->at = 0;
	unpack->end = (size_t)got;
	unpack->read += (size_t)got;
	unpack->ended = !got;
	return 0;
}

/* Both return how many bytes came out, also before damage, which sets err. */
static ssize_t step_gzip(struct jfr_unpack *unpack, uint8_t *to, size_t size)
{
	z_stream *z = &unpack->gzip;
	int status;

	z->next_in = unpack->packed + unpack->at;
	z->avail_in = (uInt)(unpack->end - unpack->at);
	z->next_out = to;
	z->avail_out = (uInt)size;
	status = inflate(z, Z_NO_FLUSH);
	if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
		unpack->err = status == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	unpack->at = unpack->end - z->avail_in;
	unpack->middle = status != Z_STREAM_END;
	if (status == Z_STREAM_END)
		inflateReset(z);
	return (ssize_t)(size - z->avail_out);
}

static ssize_t step_zstd(struct jfr_unpack *unpack, uint8_t *to, size_t size)
{
	ZSTD_inBuffer from = { unpack->packed, unpack->end, unpack->at };
	ZSTD_outBuffer out = { .size = size };
	size_t status;

	out.dst = to;
	status = ZSTD_decompressStream(unpack->zstd, &out, &from);
	if (ZSTD_isError(status))
		unpack->err = ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge
				      ? -EFBIG
				      : -EBADMSG;
	unpack->at = from.pos;
	unpack->middle = status != 0;
	return (ssize_t)out.pos;
}

ssize_t jfr_unpack_read(struct jfr_unpack *unpack, int fd, uint8_t *to, size_t size)
{
	/* Lengths of zlib have 32 bits. */
	if (size > 1u << 30)
		size = 1u << 30;
	while (!unpack->err) {
		ssize_t got;

		unpack->err = fill(unpack, fd);
		if (unpack->err)
			break;
		if (unpack->at == unpack->end && unpack->ended && !unpack->middle)
			return 0;
		got = unpack->is_zstd ? step_zstd(unpack, to, size) : step_gzip(unpack, to, size);
		if (got)
			return got;
		if (!unpack->err && unpack->at == unpack->end && unpack->ended && unpack->middle)
			unpack->err = -EBADMSG;
	}
	return unpack->err;
}
