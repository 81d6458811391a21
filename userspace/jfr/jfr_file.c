/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "jfr/jfr_bytes.h"

#define SIZE_OFFSET 8 /* of the chunk's size in its header */

/* The first two bytes of a chunk, taken for an event: its size and type. */
#define OUTER_SIZE 'F'
#define OUTER_TYPE 'L'
/* Behind that event lies another one: so far the beginning of a new chunk is not what it will be.
 */
#define HEAD_SIZE  (OUTER_SIZE + JFR_PADDED_MAX + 1)
#define INNER_TYPE (JFR_HEADER_SIZE + 1) /* offset of the type of the chunk's own first event */

/* An event of unknown type over the beginning of a further segment. */
#define COVER_SIZE (JFR_PADDED_MAX + 1)

/*
 * Forgetting means to copy what stays, so it is done seldom: of a full file a quarter goes, and
 * chunks may become a quarter older than asked.
 */
#define KEPT_OF_4      3
#define AGE_SLACK_OF_4 5

#define COPY_BYTES (1u << 18)

struct entry {
	uint64_t size;
	int64_t end_ns;
};

struct jfr_file {
	char *path; /* owned */
	struct jfr_file_limits limits;
	int fd;		      /* owned; -1 before the first chunk, and for a stream */
	struct output stream; /* open when it is one */
	struct entry *chunks; /* owned */
	size_t count;
	size_t capacity;
	uint64_t size;			 /* of all chunks */
	uint8_t header[JFR_HEADER_SIZE]; /* of the last chunk */
	bool is_stream;			 /* no regular file */
};

static bool is_stream(const char *path)
{
	struct stat found;

	return !strcmp(path, "-") || (!lstat(path, &found) && !S_ISREG(found.st_mode));
}

int jfr_file_open(const char *path, const struct jfr_file_limits *limits, struct jfr_file **out)
{
	struct jfr_file *file = calloc(1, sizeof(*file));

	if (!file)
		return -ENOMEM;
	file->path = strdup(path);
	if (!file->path) {
		free(file);
		return -ENOMEM;
	}
	file->limits = *limits;
	file->fd = -1;
	file->is_stream = is_stream(path);
	*out = file;
	return 0;
}

bool jfr_file_is_stream(const struct jfr_file *file)
{
	return file->is_stream;
}

/* ---- bytes */

static int write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t written = pwrite(fd, at, size, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written ? -errno : -EIO;
		at += written;
		size -= (size_t)written;
		offset += (uint64_t)written;
	}
	return 0;
}

static int write_size(int fd, uint64_t chunk_offset, uint64_t size)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(size >> (56 - 8 * i));
	return write_at(fd, bytes, sizeof(bytes), chunk_offset + SIZE_OFFSET);
}

static int resize(int fd, uint64_t size)
{
	return ftruncate(fd, (off_t)size) ? -errno : 0;
}

/* ---- the list of chunks */

static int reserve_entry(struct jfr_file *file)
{
	size_t capacity = file->capacity ? file->capacity * 2 : 64;
	struct entry *chunks;

	if (file->count < file->capacity)
		return 0;
	chunks = reallocarray(file->chunks, capacity, sizeof(*chunks));
	if (!chunks)
		return -ENOMEM;
	file->chunks = chunks;
	file->capacity = capacity;
	return 0;
}

static void add_entry(struct jfr_file *file, const struct jfr_finished_segment *segment)
{
	if (segment->begins_chunk)
		file->chunks[file->count++] = (struct entry){ 0 };
	file->chunks[file->count - 1].size += segment->size;
	file->chunks[file->count - 1].end_ns = segment->end_ns;
	file->size += segment->size;
	memcpy(file->header, segment->header, sizeof(file->header));
}

/* How many of the oldest chunks go when they may take max_bytes and end before oldest_ns. */
static size_t count_old(const struct jfr_file *file, uint64_t max_bytes, int64_t oldest_ns)
{
	uint64_t size = file->size;
	size_t old = 0;

	while (old < file->count && (size > max_bytes || file->chunks[old].end_ns < oldest_ns))
		size -= file->chunks[old++].size;
	return old;
}

/* ---- a file made anew: the first one, and one without its oldest chunks */

static int copy_bytes(int from, uint64_t offset, uint64_t size, int to)
{
	char *buffer = malloc(COPY_BYTES);
	uint64_t written = 0;
	int err = buffer ? 0 : -ENOMEM;

	while (!err && written < size) {
		uint64_t left = size - written;
		ssize_t got = pread(from, buffer, left < COPY_BYTES ? left : COPY_BYTES,
				    (off_t)(offset + written));

		if (got <= 0) {
			err = got ? -errno : -EIO;
			break;
		}
		err = write_at(to, buffer, (size_t)got, written);
		written += (uint64_t)got;
	}
	free(buffer);
	return err;
}

static int write_segment(const struct jfr_file *file, uint64_t kept,
			 const struct jfr_finished_segment *segment, int to)
{
	int err = write_at(to, segment->bytes, segment->size, kept);

	if (!err && !segment->begins_chunk)
		err = write_at(to, segment->header, JFR_HEADER_SIZE,
			       kept - file->chunks[file->count - 1].size);
	return err;
}

/* What is kept of the file, from an offset on, and a new segment or NULL, to the file to. */
static int write_kept(const struct jfr_file *file, uint64_t offset,
		      const struct jfr_finished_segment *segment, int to)
{
	uint64_t kept = file->size - offset;
	char name[32];
	int from, err;

	if (kept) {
		/* Ours was opened for writing only, and its path may be another file by now. */
		snprintf(name, sizeof(name), "/proc/self/fd/%d", file->fd);
		from = open(name, O_RDONLY | O_CLOEXEC);
		if (from < 0)
			return -errno;
		err = copy_bytes(from, offset, kept, to);
		close(from);
		if (err)
			return err;
	}
	return segment ? write_segment(file, kept, segment, to) : 0;
}

/* Makes the file anew without its first old chunks, and with a segment unless that is NULL. */
static int replace(struct jfr_file *file, size_t old, const struct jfr_finished_segment *segment)
{
	struct output output;
	uint64_t gone = 0;
	int fd, err;

	for (size_t i = 0; i < old; i++)
		gone += file->chunks[i].size;
	err = output_open(file->path, &output);
	if (err)
		return err;
	if (!output.temporary) {
		output_abort(&output);
		return -EBUSY; /* it was a regular file when it was opened */
	}
	err = write_kept(file, gone, segment, fileno(output.file));
	fd = err ? -1 : fcntl(fileno(output.file), F_DUPFD_CLOEXEC, 0);
	if (fd < 0) {
		err = err ? err : -errno;
		output_abort(&output);
		return err;
	}
	err = output_commit(&output);
	if (err) {
		close(fd);
		return err;
	}
	if (file->fd >= 0)
		close(file->fd);
	file->fd = fd;
	file->count -= old;
	memmove(file->chunks, file->chunks + old, file->count * sizeof(*file->chunks));
	file->size -= gone;
	return 0;
}

/* ---- one more chunk or segment behind the others */

/* The beginning that a chunk has until it is one: two events of unknown type. */
static void disguise(const struct jfr_finished_segment *segment, uint8_t head[HEAD_SIZE])
{
	memcpy(head, segment->bytes, HEAD_SIZE);
	head[INNER_TYPE] = JFR_UNDECLARED;
	jfr_encode_padded(&head[OUTER_SIZE], segment->size - OUTER_SIZE);
	head[HEAD_SIZE - 1] = JFR_UNDECLARED;
}

/*
 * Gives the space of the new bytes to the last chunk, with a beginning that they have until they
 * are there. Between the first write and the last the file is longer than its chunks say; nothing
 * here depends on how many they are.
 */
static int give_space(const struct jfr_file *file, const uint8_t *head, size_t head_size,
		      uint64_t size)
{
	const struct entry *last = &file->chunks[file->count - 1];
	uint64_t end = file->size;
	int err;

	err = write_at(file->fd, head, head_size, end);
	if (!err)
		err = resize(file->fd, end + size);
	if (!err)
		err = write_size(file->fd, end - last->size, last->size + size);
	return err;
}

static int append_chunk(struct jfr_file *file, const struct jfr_finished_segment *segment)
{
	const struct entry *last = &file->chunks[file->count - 1];
	const uint8_t *bytes = segment->bytes;
	uint64_t end = file->size;
	uint8_t head[HEAD_SIZE];
	int err;

	disguise(segment, head);
	err = give_space(file, head, sizeof(head), segment->size);
	if (!err)
		err = write_at(file->fd, bytes + HEAD_SIZE, segment->size - HEAD_SIZE,
			       end + HEAD_SIZE);
	/* From here on the new chunk is there. */
	if (!err)
		err = write_size(file->fd, end - last->size, last->size);
	if (!err)
		err = write_at(file->fd, bytes + JFR_HEADER_SIZE, HEAD_SIZE - JFR_HEADER_SIZE,
			       end + JFR_HEADER_SIZE);
	if (!err)
		return 0;
	write_size(file->fd, end - last->size, last->size);
	resize(file->fd, end);
	return err;
}

/* A further segment of the last chunk. */
static int append_segment(struct jfr_file *file, const struct jfr_finished_segment *segment)
{
	uint64_t end = file->size, start = end - file->chunks[file->count - 1].size;
	const uint8_t *bytes = segment->bytes;
	uint8_t cover[COVER_SIZE];
	int err;

	jfr_encode_padded(cover, segment->size);
	cover[COVER_SIZE - 1] = JFR_UNDECLARED;
	err = give_space(file, cover, sizeof(cover), segment->size);
	if (!err)
		err = write_at(file->fd, bytes + COVER_SIZE, segment->size - COVER_SIZE,
			       end + COVER_SIZE);
	/* From here on its constants are there, */
	if (!err)
		err = write_at(file->fd, segment->header, JFR_HEADER_SIZE, start);
	/* and from here on its events. */
	if (!err)
		err = write_at(file->fd, bytes, COVER_SIZE, end);
	if (!err)
		return 0;
	write_at(file->fd, file->header, JFR_HEADER_SIZE, start);
	resize(file->fd, end);
	return err;
}

/* ---- pipes */

static int append_to_stream(struct jfr_file *file, const struct jfr_finished_segment *segment)
{
	FILE *out = file->stream.file;

	errno = 0;
	if (fwrite(segment->bytes, 1, segment->size, out) < segment->size || fflush(out))
		return errno ? -errno : -EIO;
	return 0;
}

/* ---- */

static int append_first(struct jfr_file *file, const struct jfr_finished_segment *segment)
{
	int err;

	if (!file->is_stream)
		return replace(file, 0, segment);
	if (file->limits.max_bytes || file->limits.max_age_ns)
		return -ESPIPE;
	err = output_open(file->path, &file->stream);
	return err ? err : append_to_stream(file, segment);
}

/* Whether chunks must go, and how many. The chunk that the segment belongs to stays. */
static size_t count_over(const struct jfr_file *file, const struct jfr_finished_segment *segment)
{
	const struct jfr_file_limits *limits = &file->limits;
	int64_t oldest_ns = INT64_MIN, too_old_ns = INT64_MIN;
	uint64_t room = UINT64_MAX;
	size_t old, most = file->count - !segment->begins_chunk;

	if (limits->max_age_ns) {
		too_old_ns = segment->end_ns - (int64_t)(limits->max_age_ns / 4 * AGE_SLACK_OF_4);
		oldest_ns = segment->end_ns - (int64_t)limits->max_age_ns;
	}
	if (limits->max_bytes && file->size + segment->size > limits->max_bytes) {
		room = limits->max_bytes / 4 * KEPT_OF_4;
		room = room > segment->size ? room - segment->size : 0;
	}
	if (room == UINT64_MAX && file->chunks[0].end_ns >= too_old_ns)
		return 0;
	old = count_old(file, room, oldest_ns);
	return old < most ? old : most;
}

static int append(struct jfr_file *file, const struct jfr_finished_segment *segment)
{
	size_t over = count_over(file, segment);

	if (over)
		return replace(file, over, segment);
	return segment->begins_chunk ? append_chunk(file, segment) : append_segment(file, segment);
}

int jfr_file_append(void *ctx, const struct jfr_finished_segment *segment)
{
	struct jfr_file *file = ctx;
	int err;

	if (!segment->begins_chunk && (!file->count || file->is_stream))
		return -EINVAL;
	err = reserve_entry(file);
	if (err)
		return err;
	if (file->stream.file)
		err = append_to_stream(file, segment);
	else if (!file->count)
		err = append_first(file, segment);
	else
		err = append(file, segment);
	if (!err)
		add_entry(file, segment);
	return err;
}

size_t jfr_file_chunks(const struct jfr_file *file)
{
	return file->count;
}

uint64_t jfr_file_size(const struct jfr_file *file)
{
	return file->size;
}

static int forget_old(struct jfr_file *file)
{
	int64_t oldest_ns;
	size_t old;

	if (file->fd < 0 || !file->count || !file->limits.max_age_ns)
		return 0;
	oldest_ns = file->chunks[file->count - 1].end_ns - (int64_t)file->limits.max_age_ns;
	old = count_old(file, UINT64_MAX, oldest_ns);
	return old ? replace(file, old, NULL) : 0;
}

int jfr_file_close(struct jfr_file *file)
{
	int err, closed = 0;

	if (!file)
		return 0;
	err = forget_old(file);
	if (file->stream.file)
		closed = output_commit(&file->stream);
	if (file->fd >= 0 && close(file->fd))
		closed = -errno;
	free(file->chunks);
	free(file->path);
	free(file);
	return err ? err : closed;
}
