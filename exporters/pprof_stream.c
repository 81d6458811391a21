/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/pprof_stream.h"

#include <errno.h>
#include <stdlib.h>

#define GZIP_WINDOW (15 + 16) /* the largest window, and a gzip header */
#define GZIP_MEMORY 8	      /* zlib's default */
#define CHUNK	    16384

int pprof_stream_open(struct pprof_stream *stream, FILE *out)
{
	*stream = (struct pprof_stream){ .out = out };
	/* Without a time in its header: the same recording is the same file. */
	return deflateInit2(&stream->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
			    GZIP_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK
		       ? 0
		       : -ENOMEM;
}

static void deflate_to_file(struct pprof_stream *stream, int flush)
{
	uint8_t chunk[CHUNK];

	do {
		size_t size;

		stream->gzip.next_out = chunk;
		stream->gzip.avail_out = sizeof(chunk);
		deflate(&stream->gzip, flush);
		size = sizeof(chunk) - stream->gzip.avail_out;
		errno = 0;
		if (!stream->err && fwrite(chunk, 1, size, stream->out) < size)
			stream->err = errno ? -errno : -EIO;
	} while (!stream->gzip.avail_out);
}

void pprof_put(struct pprof_stream *stream, const Perftools__Profiles__Profile *part)
{
	size_t size = perftools__profiles__profile__get_packed_size(part);

	if (stream->err)
		return;
	if (size > stream->packed_size) {
		free(stream->packed);
		stream->packed_size = 2 * size;
		stream->packed = malloc(stream->packed_size);
		if (!stream->packed) {
			stream->packed_size = 0;
			stream->err = -ENOMEM;
			return;
		}
	}
	perftools__profiles__profile__pack(part, stream->packed);
	stream->gzip.next_in = stream->packed;
	stream->gzip.avail_in = (uInt)size;
	deflate_to_file(stream, Z_NO_FLUSH);
}

int pprof_stream_close(struct pprof_stream *stream)
{
	stream->gzip.avail_in = 0;
	deflate_to_file(stream, Z_FINISH);
	deflateEnd(&stream->gzip);
	free(stream->packed);
	errno = 0;
	if (!stream->err && (fflush(stream->out) || ferror(stream->out)))
		stream->err = errno ? -errno : -EIO;
	return stream->err;
}
