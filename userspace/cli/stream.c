/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/map64.h"
#include "base/text.h"
#include "cli/loop.h"
#include "cli/options.h"
#include "jfr/jfr_file.h"
#include "jfr/jfr_write.h"
#include "model/filter.h"
#include "model/recording.h"

#define DROPPED UINT32_MAX

/*
 * A chunk repeats what the one before said of types, stacks and names: its segments do not. The
 * JDK's chunks are as large; JMC holds one in memory. Forgetting goes chunk by chunk: the file must
 * have some.
 */
#define CHUNK_BYTES    (12ull << 20)
#define CHUNK_NS       120000000000ull
#define CHUNKS_TO_KEEP 16

/* Jiffies of all CPUs since the boot. */
struct cpu_times {
	uint64_t all;
	uint64_t idle;
};

struct stream {
	char *path; /* owned */
	struct jfr_file *file;
	struct jfr_writer *writer;
	struct cpu_times times; /* at the end of the last segment */
	struct map64 filtered;	/* stack to what the filter made of it, or DROPPED */
	int err;		/* the first */
};

/* ---- how busy the machine is */

static struct cpu_times read_cpu_times(void)
{
	FILE *file = fopen("/proc/stat", "re");
	struct cpu_times times = { 0 };
	char line[512];
	char *at;

	if (!file)
		return times;
	if (fgets(line, sizeof(line), file) && !strncmp(line, "cpu ", 4)) {
		at = line + 4;
		/* user nice system idle iowait irq softirq steal; guest times are in user's */
		for (int column = 0; column < 8; column++) {
			uint64_t jiffies = strtoull(at, &at, 10);

			times.all += jiffies;
			times.idle += column == 3 || column == 4 ? jiffies : 0;
		}
	}
	fclose(file);
	return times;
}

/* 0..1 since the last call, -1 when it is not known. */
static double machine_load(struct stream *stream)
{
	struct cpu_times now = read_cpu_times();
	uint64_t all = now.all - stream->times.all, idle = now.idle - stream->times.idle;

	stream->times = now;
	return all && idle <= all ? (double)(all - idle) / (double)all : -1;
}

/* ---- */

static const char *name_of(const struct stream *stream)
{
	return strcmp(stream->path, "-") ? stream->path : "standard output";
}

static void say_failed(const struct stream *stream, int err)
{
	size_t chunks = stream->file ? jfr_file_chunks(stream->file) : 0;
	const char *why = loop_aborted() ? "interrupted a second time" : strerror(-err);
	char size[TEXT_MAX];

	if (err == -ESPIPE)
		log_error("%s: not written: --max-size and --max-age need a regular file",
			  name_of(stream));
	else if (!chunks)
		log_error("%s: not written: %s", name_of(stream), why);
	else
		log_error("%s: written no further: %s; the %s before that can be read",
			  name_of(stream), why, text_bytes(jfr_file_size(stream->file), size));
}

static int fail(struct stream *stream, int err)
{
	stream->err = err;
	say_failed(stream, err);
	return err;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void limit_chunks(const struct options *options, const struct jfr_file *file,
			 struct jfr_writer_options *how)
{
	if (jfr_file_is_stream(file))
		return;
	how->chunk_bytes = CHUNK_BYTES;
	how->chunk_ns = CHUNK_NS;
	if (options->max_bytes)
		how->chunk_bytes = smaller(CHUNK_BYTES, options->max_bytes / CHUNKS_TO_KEEP);
	if (options->max_age_ns)
		how->chunk_ns = smaller(CHUNK_NS, options->max_age_ns / CHUNKS_TO_KEEP);
}

int stream_open(const char *path, const struct options *options, const struct recording *rec,
		struct stream **out)
{
	const struct jfr_file_limits limits = { options->max_bytes, options->max_age_ns };
	struct jfr_writer_options how = {
		.sink = jfr_file_append,
		.max_bytes = options->max_bytes,
		.max_age_ns = options->max_age_ns,
	};
	struct stream *stream = calloc(1, sizeof(*stream));
	int err = stream ? 0 : -ENOMEM;

	if (!err) {
		stream->path = strdup(path);
		err = stream->path ? jfr_file_open(path, &limits, &stream->file) : -ENOMEM;
	}
	if (!err) {
		how.ctx = stream->file;
		how.destination = stream->path;
		limit_chunks(options, stream->file, &how);
		err = jfr_writer_open(&how, rec, &stream->writer);
	}
	if (err) {
		log_error("%s: %s", path, strerror(-err));
		stream_close(stream);
		return err;
	}
	stream->times = read_cpu_times();
	*out = stream;
	return 0;
}

/* ---- segments */

/* What the filter makes of a stack, or of none (0): another one, the same, or DROPPED. */
static uint32_t filter_one(struct recording *rec, struct filter *filter, uint32_t id)
{
	struct rec_stack stack = rec_stack_get(rec, id);
	size_t count = stack.count;
	uint32_t *frames = calloc(count + 1, sizeof(*frames));

	if (!frames)
		return id;
	if (count)
		memcpy(frames, stack.frames, count * sizeof(*frames));
	if (!filter_stack(filter, frames, &count))
		id = DROPPED;
	else if (id)
		id = rec_stack(rec, frames, count, stack.state);
	free(frames);
	return id;
}

static uint32_t filtered_stack(struct stream *stream, struct recording *rec, struct filter *filter,
			       uint32_t id)
{
	uint32_t made;

	if (filter->mode != FILTER_FOLD && filter->mode != FILTER_DROP)
		return id;
	if (map64_get(&stream->filtered, id, &made))
		return made;
	made = filter_one(rec, filter, id);
	map64_set(&stream->filtered, id, made);
	return made;
}

int stream_chunk(struct stream *stream, struct recording *rec, struct filter *filter,
		 int64_t end_ns)
{
	const struct rec_sample *rows;
	size_t count;
	int err;

	if (stream->err)
		return stream->err;
	rows = rec_samples(rec, &count);
	for (size_t i = 0; i < count; i++) {
		struct rec_sample sample = rows[i];

		sample.key.stack = filtered_stack(stream, rec, filter, sample.key.stack);
		if (sample.key.stack != DROPPED)
			jfr_writer_sample(stream->writer, rec, &sample);
	}
	err = jfr_writer_segment(stream->writer, rec, end_ns, machine_load(stream));
	return err ? fail(stream, err) : 0;
}

int stream_end(struct stream *stream, struct recording *rec, struct filter *filter, int64_t end_ns)
{
	int err = stream_chunk(stream, rec, filter, end_ns);
	char size[TEXT_MAX];

	if (err)
		return err;
	text_bytes(jfr_file_size(stream->file), size);
	err = jfr_file_close(stream->file);
	stream->file = NULL;
	if (err)
		return fail(stream, err);
	log_info("%s: written, %s", name_of(stream), size);
	return 0;
}

void stream_close(struct stream *stream)
{
	if (!stream)
		return;
	jfr_writer_close(stream->writer);
	jfr_file_close(stream->file);
	map64_free(&stream->filtered);
	free(stream->path);
	free(stream);
}
