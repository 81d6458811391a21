/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jfr/jfr_unpack.h"

/* Large enough for few system calls, small enough to stay in the cache of a core. */
#define WINDOW_SIZE (256u << 10)
/*
 * What zstd keeps of what it has unpacked is some 8 MiB for -19, but as much as there is, up to
 * 128 MiB, for --ultra -22: a small file may not ask for that.
 */
#define ZSTD_WINDOW_LEAST   (16u << 20)
#define ZSTD_WINDOW_OF_FILE 4
#define SEEK_LEAST	    4096 /* fewer bytes cost less to read than a system call */

void jfr_input_memory(const void *bytes, size_t size, struct jfr_input *out)
{
	*out = (struct jfr_input){
		.at = bytes,
		.end = (const uint8_t *)bytes + size,
		.size = size,
		.fd = -1,
		.ended = true,
		.memory = bytes,
	};
}

static ssize_t read_some(struct jfr_input *in, uint8_t *to, size_t size)
{
	ssize_t got;

	if (in->unpack)
		return jfr_unpack_read(in->unpack, in->fd, to, size);
	do
		got = read(in->fd, to, size);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Moves what is left to the front of the window, which gets room for size bytes. */
static int make_room(struct jfr_input *in, size_t size)
{
	size_t left = (size_t)(in->end - in->at);
	uint8_t *larger;

	if (left)
		memmove(in->window, in->at, left);
	in->at = in->window;
	in->end = in->at + left;
	if (size <= in->capacity)
		return 0;
	larger = realloc(in->window, size);
	if (!larger)
		return -ENOMEM;
	in->window = larger;
	in->capacity = size;
	in->at = larger;
	in->end = larger + left;
	return 0;
}

/*
 * Reads once into what is free behind end: wanted bytes, but not less than a window of the usual
 * size, nor more, so that one large event does not push everything out of the cache for good.
 */
static void fill(struct jfr_input *in, uint64_t wanted)
{
	size_t used = (size_t)(in->end - in->window);
	size_t size = in->capacity - used;
	ssize_t got;

	if (wanted < WINDOW_SIZE)
		wanted = WINDOW_SIZE;
	got = read_some(in, in->window + used, size < wanted ? size : (size_t)wanted);

	if (got > 0) {
		in->end += got;
		return;
	}
	in->ended = true;
	in->err = (int)got;
}

void jfr_input_limit(struct jfr_input *in, size_t window_max)
{
	in->window_max = window_max;
}

uint64_t jfr_input_packed(const struct jfr_input *in)
{
	return in->unpack ? jfr_unpack_packed(in->unpack) : UINT64_MAX;
}

/* Whether the window has all that may be in it. */
static bool is_too_much(const struct jfr_input *in, size_t left)
{
	return in->unpack && in->window_max && left > in->window_max &&
	       left - in->window_max > jfr_unpack_packed(in->unpack);
}

size_t jfr_input_need(struct jfr_input *in, uint64_t size)
{
	size_t left = (size_t)(in->end - in->at);

	while (left < size && !in->ended) {
		/* Twice what there is, never what is asked for: that may be a lie. */
		size_t room = size < in->capacity ? in->capacity : 2 * in->capacity;
		int err = is_too_much(in, left) ? -EFBIG : 0;

		if (!err && (left == in->capacity || in->at != in->window))
			err = make_room(in, in->capacity);
		if (!err && left == in->capacity)
			err = make_room(in, room);
		if (err) {
			in->err = err;
			in->ended = true;
			break;
		}
		fill(in, size - left);
		left = (size_t)(in->end - in->at);
	}
	return left;
}

static bool is_file(const struct jfr_input *in)
{
	return in->size != UINT64_MAX && !in->memory;
}

/*
 * Steps over bytes of a file behind the window, which is empty, as far as they need not be read:
 * the last one is, for the file may have been cut. Returns how many.
 */
static uint64_t seek_over(struct jfr_input *in, uint64_t size)
{
	uint64_t left = in->size > in->offset ? in->size - in->offset : 0;

	if (size > left)
		size = left;
	if (!is_file(in) || in->ended || size < SEEK_LEAST ||
	    lseek(in->fd, (off_t)(in->offset + size - 1), SEEK_SET) < 0)
		return 0;
	in->offset += size - 1;
	return size - 1;
}

uint64_t jfr_input_skip(struct jfr_input *in, uint64_t size)
{
	uint64_t skipped = 0;

	for (;;) {
		uint64_t left = (uint64_t)(in->end - in->at);
		uint64_t step = size - skipped < left ? size - skipped : left;

		in->at += step;
		in->offset += step;
		skipped += step;
		if (skipped == size)
			return skipped;
		skipped += seek_over(in, size - skipped);
		if (!jfr_input_need(in, 1))
			return skipped;
	}
}

/* A file is read where the bytes lie, and its own position stays. */
static size_t peek_file(const struct jfr_input *in, uint64_t distance, uint8_t *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(in->fd, to + done, size - done,
				    (off_t)(in->offset + distance + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

size_t jfr_input_peek(struct jfr_input *in, uint64_t distance, void *to, size_t size)
{
	size_t left;

	if (is_file(in) && distance + size > (uint64_t)(in->end - in->at))
		return peek_file(in, distance, to, size);
	left = jfr_input_need(in, distance + size);
	if (left <= distance)
		return 0;
	if (size > left - distance)
		size = (size_t)(left - distance);
	memcpy(to, in->at + distance, size);
	return size;
}

/* Compressed bytes begin with a magic number of their own. */
static int look_for_compression(struct jfr_input *in)
{
	uint64_t size = in->size;
	size_t left = jfr_input_need(in, JFR_UNPACK_MAGIC);
	int err;

	err = jfr_unpack_open(in->at, left, &in->unpack);
	if (err || !in->unpack)
		return err;
	if (size != UINT64_MAX)
		jfr_unpack_limit(in->unpack, ZSTD_WINDOW_LEAST + ZSTD_WINDOW_OF_FILE * size);
	in->size = UINT64_MAX;
	in->ended = false;
	in->at = in->end = in->window;
	return 0;
}

int jfr_input_open(const char *path, struct jfr_input *out)
{
	struct jfr_input in = { .size = UINT64_MAX, .fd = STDIN_FILENO };
	struct stat st;
	int err = 0;

	if (strcmp(path, "-") != 0)
		in.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (in.fd < 0 || fstat(in.fd, &st))
		err = -errno;
	else if (S_ISDIR(st.st_mode))
		err = -EISDIR;
	else if (S_ISREG(st.st_mode) && lseek(in.fd, 0, SEEK_CUR) == 0)
		in.size = (uint64_t)st.st_size;
	in.window = malloc(WINDOW_SIZE);
	in.at = in.end = in.window;
	in.capacity = WINDOW_SIZE;
	if (!err && !in.window)
		err = -ENOMEM;
	if (!err)
		err = look_for_compression(&in);
	if (!err && in.err)
		err = in.err;
	if (err) {
		jfr_input_close(&in);
		return err;
	}
	*out = in;
	return 0;
}

const char *jfr_input_strerror(int err)
{
	if (err == -EFBIG)
		return "the compressed bytes unpack to far more than a recording has";
	return err == -EBADMSG ? "the compressed bytes are damaged or cut" : strerror(-err);
}

void jfr_input_close(struct jfr_input *in)
{
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	jfr_unpack_close(in->unpack);
	free(in->window);
	*in = (struct jfr_input){ .fd = -1 };
}
