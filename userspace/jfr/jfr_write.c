/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/jfr_bytes.h"
#include "jfr/jfr_events.h"
#include "jfr/jfr_metadata.h"
#include "jfr/jfr_write_impl.h"

/*
 * Ticks are nanoseconds on one clock for the whole file, since JDK 25 takes that of the first chunk
 * for all. They are small, and so short: an event has five bytes of time for the first half minute,
 * six for the first hour.
 */
#define TICKS_PER_SECOND 1000000000
#define FIRST_TICKS	 1000000000 /* what began a little before the recording has a place, too */
#define FIRST_TICK	 1
#define DAY_NS		 86400000000000

#define FLAG_COMPRESSED_INTS 1

_Static_assert(JFR_JDK_EVENT_END <= 'L' && JFR_OWN_EVENT_FIRST > 'L' &&
		       JFR_OWN_EVENT_END <= JFR_UNDECLARED,
	       "no event has the number of the second letter of a chunk, or of padding");

uint64_t jfr_ticks(const struct jfr_writer *w, int64_t time_ns)
{
	int64_t ticks;

	if (__builtin_sub_overflow(time_ns, w->epoch_ns, &ticks))
		ticks = time_ns < w->epoch_ns ? INT64_MIN : INT64_MAX;
	ticks = rec_sum(ticks, w->first_ticks);
	return (uint64_t)(ticks < FIRST_TICK ? FIRST_TICK : ticks);
}

static void begin_chunk(struct jfr_writer *w, const struct recording *rec)
{
	static const uint8_t header[JFR_HEADER_SIZE];

	w->chunk_start_ns = w->start_ns;
	w->checkpoint = 0;
	w->agent_count = 0;
	jfr_put_bytes(&w->bytes, header, sizeof(header));
	jfr_put_first(w);
	w->metadata = w->bytes.len;
	jfr_put_metadata(&w->bytes, jfr_ticks(w, w->start_ns));
	w->settings = 0;
	jfr_put_environment(w, rec);
}

static void begin_segment(struct jfr_writer *w, const struct recording *rec)
{
	if (w->chunk_size)
		jfr_put_jvms(w, rec);
	else
		begin_chunk(w, rec);
	w->begun = true;
}

/* How long before the recording the first event began. */
static int64_t before_start(const struct jfr_writer *w)
{
	int64_t earliest_ns = w->options.earliest_ns, before_ns;

	if (!earliest_ns || earliest_ns >= w->epoch_ns)
		return 0;
	if (__builtin_sub_overflow(w->epoch_ns, earliest_ns, &before_ns) || before_ns > DAY_NS)
		return DAY_NS;
	return before_ns;
}

int jfr_writer_open(const struct jfr_writer_options *options, const struct recording *rec,
		    struct jfr_writer **out)
{
	struct jfr_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->pools = jfr_pools_new();
	if (!w->pools) {
		free(w);
		return -ENOMEM;
	}
	w->options = *options;
	w->epoch_ns = w->start_ns = rec_meta_get(rec)->start_time_ns;
	w->first_ticks = FIRST_TICKS + before_start(w);
	*out = w;
	return 0;
}

/* ---- samples */

void jfr_writer_sample(struct jfr_writer *w, const struct recording *rec,
		       const struct rec_sample *sample)
{
	static const enum jfr_type_id types[REC_STATE_NR] = {
		[REC_STATE_IN_JAVA] = JFR_EXECUTION_SAMPLE,
		[REC_STATE_IN_NATIVE] = JFR_NATIVE_METHOD_SAMPLE,
		[REC_STATE_IN_VM] = JFR_EXECUTION_SAMPLE,
		[REC_STATE_BLOCKED] = JFR_EXECUTION_SAMPLE,
		[REC_STATE_VM_THREAD] = JFR_EXECUTION_SAMPLE,
		[REC_STATE_UNKNOWN] = JFR_EXECUTION_SAMPLE,
	};
	uint8_t *event, *at;

	if (!w->begun)
		begin_segment(w, rec);
	if (sample->key.metric != REC_CPU) {
		jfr_put_sample_event(w, rec, sample);
		return;
	}
	event = jfr_reserve(&w->bytes, 2 + 4 * JFR_LONG_MAX);
	if (!event)
		return;
	at = jfr_encode(event + 1, types[sample->state]);
	at = jfr_encode(at, jfr_ticks(w, sample->time_ns));
	at = jfr_encode(at, jfr_pools_thread(w->pools, rec, sample->key.thread));
	at = jfr_encode(at, jfr_pools_stack(w->pools, rec, sample->key.stack));
	/* On a CPU, whatever the thread's state: async-profiler's readers go by it. */
	at = jfr_encode(at, JFR_STATE_DEFAULT);
	*event = (uint8_t)(at - event);
	w->bytes.len += *event;
	jfr_count_load(w, rec, sample);
}

/* ---- the end of a segment */

static void put_big_endian(uint8_t *to, uint64_t value, int size)
{
	for (int i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> (8 * (size - 1 - i)));
}

static void fill_header(struct jfr_writer *w, int64_t end_ns)
{
	static const uint8_t magic_and_version[] = { 'F', 'L', 'R', 0, 0, 2, 0, 1 };
	uint8_t *header = w->header;

	memcpy(header, magic_and_version, sizeof(magic_and_version));
	put_big_endian(header + 8, w->chunk_size + w->bytes.len, 8);
	put_big_endian(header + 16, w->checkpoint, 8);
	put_big_endian(header + 24, w->metadata, 8);
	put_big_endian(header + 32, (uint64_t)w->chunk_start_ns, 8);
	put_big_endian(header + 40, (uint64_t)(end_ns - w->chunk_start_ns), 8);
	put_big_endian(header + 48, jfr_ticks(w, w->chunk_start_ns), 8);
	put_big_endian(header + 56, TICKS_PER_SECOND, 8);
	header[67] = FLAG_COMPRESSED_INTS;
	if (!w->chunk_size)
		memcpy(w->bytes.data, header, JFR_HEADER_SIZE);
}

/* Readers go from the last checkpoint back to the first by their distances, which are negative. */
static int put_checkpoint(struct jfr_writer *w, int64_t end_ns)
{
	uint64_t before = w->checkpoint;

	w->checkpoint = w->chunk_size + w->bytes.len;
	return jfr_pools_write(w->pools, &w->bytes, jfr_ticks(w, end_ns),
			       before ? (int64_t)(before - w->checkpoint) : 0);
}

/* Whether one more segment of this size and length would be too much for the chunk. */
static bool is_full(const struct jfr_writer *w, const struct jfr_finished_segment *segment,
		    int64_t length_ns)
{
	return w->chunk_size + segment->size > w->options.chunk_bytes ||
	       (uint64_t)(segment->end_ns - segment->start_ns + length_ns) > w->options.chunk_ns;
}

int jfr_writer_segment(struct jfr_writer *w, const struct recording *rec, int64_t end_ns,
		       double machine_load)
{
	struct jfr_finished_segment segment;
	int64_t length_ns;
	int err;

	/* JMC leaves out a chunk that begins when another does. */
	if (end_ns <= w->start_ns)
		end_ns = w->start_ns + 1;
	length_ns = end_ns - w->start_ns;
	if (!w->begun)
		begin_segment(w, rec);
	jfr_put_classes(w, rec, end_ns);
	jfr_put_settings(w, rec);
	jfr_put_ledgers(w, rec);
	jfr_put_native(w, rec, end_ns);
	jfr_put_sites(w, rec, end_ns);
	jfr_put_heap(w, rec, end_ns);
	jfr_put_budgets(w, rec, end_ns);
	jfr_put_gc(w, rec, end_ns);
	jfr_put_runtime(w, rec);
	jfr_put_totals(w, rec, end_ns);
	jfr_put_io(w, rec);
	jfr_put_ending(w, rec, end_ns, machine_load);
	err = put_checkpoint(w, end_ns);
	if (err || w->failed)
		return -ENOMEM;
	fill_header(w, end_ns);
	segment = (struct jfr_finished_segment){
		.bytes = w->bytes.data,
		.size = w->bytes.len,
		.header = w->header,
		.begins_chunk = !w->chunk_size,
		.start_ns = w->chunk_start_ns,
		.end_ns = end_ns,
	};
	w->chunk_size += w->bytes.len;
	w->start_ns = end_ns;
	w->begun = false;
	w->bytes.len = 0;
	err = w->options.sink(w->options.ctx, &segment);
	/* Constants of a segment that was not taken are missing in the chunk. */
	if (err || is_full(w, &segment, length_ns)) {
		w->chunk_size = 0;
		jfr_pools_next_chunk(w->pools);
	}
	return err;
}

size_t jfr_writer_size(const struct jfr_writer *w)
{
	return w->bytes.len;
}

void jfr_writer_close(struct jfr_writer *w)
{
	if (!w)
		return;
	jfr_pools_free(w->pools);
	jfr_bytes_free(&w->bytes);
	free(w->jvms);
	free(w->loads);
	free(w->threads);
	free(w->quality);
	free(w->heap_classes.hashes);
	free(w->classes);
	free(w->totals);
	free(w->values);
	free(w->counted);
	jfr_free_native(w);
	jfr_free_sites(w);
	jfr_free_gc(w);
	free(w->agents);
	free(w);
}
