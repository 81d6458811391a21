/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jfr/jfr_file.h"
#include "jfr/jfr_write.h"
#include "model/recording.h"

/*
 * Makes recordings as JFR, for tests and measurements of the writer.
 *
 *   jfr_make large FILE BYTES     chunks until the file has so many bytes, most of them text;
 *                                 prints how many samples and chunks
 *   jfr_make speed FILE SAMPLES   prints nanoseconds and bytes per sample
 */

#define STACKS	      2000
#define FRAMES	      30
#define METHODS	      500
#define THREADS	      40
#define CHUNK_NS      10000000000
#define LARGE_CHUNK   (100u << 20)
#define LARGE_SAMPLES 1000
#define SPEED_SAMPLES 200000 /* a chunk */

static uint32_t add_text(struct recording *rec, const char *before, int number, const char *behind)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%s%d%s", before, number, behind);

	return rec_string(rec, text, (size_t)len);
}

static void add_frames(struct recording *rec, uint32_t frames[METHODS])
{
	for (int i = 0; i < METHODS; i++) {
		struct rec_method method = {
			.class_name = add_text(rec, "com.example.service.Component", i / 10, ""),
			.name = add_text(rec, "method", i, ""),
			.signature = rec_string(rec, "(I)V", 4),
			.file = add_text(rec, "Component", i / 10, ".java"),
		};
		struct rec_frame frame = { .kind = REC_FRAME_C2, .line = i, .bci = i };

		frame.method = rec_method(rec, &method);
		frames[i] = rec_frame(rec, &frame);
	}
}

static struct recording *make_recording(uint32_t stacks[STACKS], uint32_t threads[THREADS])
{
	struct rec_jvm jvm = { .pid = 4242 };
	struct recording *rec = rec_new();
	uint32_t frames[METHODS], stack[FRAMES], id;
	unsigned int seed = 1;

	if (!rec)
		return NULL;
	*rec_meta(rec) = (struct rec_meta){
		.start_time_ns = 1700000000000000000,
		.frequency_hz = 99,
		.cpus = 8,
	};
	id = rec_jvm(rec, &jvm);
	add_frames(rec, frames);
	for (int i = 0; i < STACKS; i++) {
		for (int k = 0; k < FRAMES; k++)
			stack[k] = frames[(unsigned int)rand_r(&seed) % METHODS];
		stacks[i] = rec_stack(rec, stack, FRAMES, REC_STACK_COMPLETE);
	}
	for (int i = 0; i < THREADS; i++) {
		threads[i] = rec_thread(rec, id, 5000 + i);
		rec_thread_get(rec, threads[i])->name = add_text(rec, "worker-", i, "");
		rec_thread_get(rec, threads[i])->group = rec_string(rec, "java", 4);
	}
	return rec;
}

struct making {
	struct recording *rec;
	struct jfr_file *file;
	struct jfr_writer *writer;
	uint32_t stacks[STACKS];
	uint32_t threads[THREADS];
	uint64_t samples;
	int64_t end_ns; /* of the last chunk */
};

static int begin(struct making *making, const char *path)
{
	const struct jfr_file_limits limits = { 0, 0 };
	struct jfr_writer_options options = { .sink = jfr_file_append };
	int err;

	making->rec = make_recording(making->stacks, making->threads);
	if (!making->rec)
		return -ENOMEM;
	making->end_ns = rec_meta_get(making->rec)->start_time_ns;
	err = jfr_file_open(path, &limits, &making->file);
	if (err)
		return err;
	options.ctx = making->file;
	return jfr_writer_open(&options, making->rec, &making->writer);
}

static int add_chunk(struct making *making, uint64_t count)
{
	int64_t step_ns = CHUNK_NS / (int64_t)count;

	for (uint64_t i = 0; i < count; i++, making->samples++) {
		struct rec_sample sample = {
			.time_ns = making->end_ns + (int64_t)i * step_ns,
			.key = { .stack = making->stacks[making->samples * 7919 % STACKS],
				 .thread = making->threads[making->samples % THREADS] },
			.value = 10101010,
		};

		jfr_writer_sample(making->writer, making->rec, &sample);
	}
	making->end_ns += CHUNK_NS;
	return jfr_writer_segment(making->writer, making->rec, making->end_ns, 0.5);
}

static int end(struct making *making)
{
	int err;

	jfr_writer_close(making->writer);
	err = jfr_file_close(making->file);
	rec_free(making->rec);
	return err;
}

/* A JVM with many arguments makes chunks large at little cost. */
static int add_padding(struct making *making)
{
	struct rec_jvm jvm = { .pid = 1 };
	char *text = malloc(LARGE_CHUNK);

	if (!text)
		return -ENOMEM;
	memset(text, 'x', LARGE_CHUNK);
	jvm.arguments = rec_string(making->rec, text, LARGE_CHUNK / 2);
	free(text);
	rec_jvm(making->rec, &jvm);
	return rec_error(making->rec);
}

static int make_large(struct making *making, uint64_t bytes)
{
	int err = add_padding(making);

	while (!err && jfr_file_size(making->file) < bytes)
		err = add_chunk(making, LARGE_SAMPLES);
	printf("%" PRIu64 " %zu\n", making->samples, jfr_file_chunks(making->file));
	return err;
}

static uint64_t cpu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int measure(struct making *making, uint64_t samples)
{
	uint64_t start_ns = cpu_now_ns(), spent_ns, fixed;
	int err = add_chunk(making, 1);

	fixed = jfr_file_size(making->file);
	while (!err && making->samples < samples)
		err = add_chunk(making, SPEED_SAMPLES);
	spent_ns = cpu_now_ns() - start_ns;
	printf("samples            %" PRIu64 " in %zu chunks\n", making->samples,
	       jfr_file_chunks(making->file));
	printf("CPU time           %.1f ns a sample, %.1f million samples a second\n",
	       (double)spent_ns / (double)making->samples,
	       (double)making->samples * 1e3 / (double)spent_ns);
	printf("size               %.2f bytes a sample with all that is in a chunk\n",
	       (double)jfr_file_size(making->file) / (double)making->samples);
	printf("a chunk of one     %" PRIu64 " bytes\n", fixed);
	return err;
}

int main(int argc, char **argv)
{
	struct making making = { 0 };
	uint64_t amount;
	int err, closed;

	if (argc != 4) {
		fprintf(stderr, "usage: jfr_make large|speed FILE AMOUNT\n");
		return 2;
	}
	amount = strtoull(argv[3], NULL, 10);
	err = begin(&making, argv[2]);
	if (!err)
		err = strcmp(argv[1], "large") ? measure(&making, amount)
					       : make_large(&making, amount);
	closed = end(&making);
	if (!err)
		err = closed;
	if (err)
		fprintf(stderr, "%s: %s\n", argv[2], strerror(-err));
	return err != 0;
}
