/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/jfr.h"

#include <errno.h>

#include "jfr/jfr_write.h"
#include "model/gc.h"

/* A total becomes as many events, and its count may be any number in a file that was read. */
#define SAMPLES_MAX 100000000

/* JMC holds a chunk in memory, and ends at 2 GiB. */
#define CHUNK_BYTES (32u << 20)

static int put_chunk(void *ctx, const struct jfr_finished_segment *chunk)
{
	FILE *out = ctx;

	errno = 0;
	if (fwrite(chunk->bytes, 1, chunk->size, out) < chunk->size)
		return errno ? -errno : -EIO;
	return 0;
}

static int put_sample(struct jfr_writer *writer, const struct recording *rec,
		      const struct rec_sample *sample)
{
	jfr_writer_sample(writer, rec, sample);
	if (jfr_writer_size(writer) < CHUNK_BYTES)
		return 0;
	return jfr_writer_segment(writer, rec, sample->time_ns, -1);
}

static int put_samples(struct jfr_writer *writer, const struct recording *rec)
{
	size_t count;
	const struct rec_sample *rows = rec_samples(rec, &count);
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = put_sample(writer, rec, &rows[i]);
	return err;
}

/* The state in which the thread was seen most often. */
static enum rec_thread_state usual_state(const struct rec_thread *thread)
{
	enum rec_thread_state usual = REC_STATE_UNKNOWN;

	for (enum rec_thread_state state = 0; thread && state < REC_STATE_NR; state++)
		if (thread->state_ns[state] > thread->state_ns[usual])
			usual = state;
	return usual;
}

/* Others are no samples: they are in the file by their sums. */
static bool is_sampled(enum rec_metric metric)
{
	return metric == REC_CPU || metric == REC_HEAP_ALLOC;
}

static int64_t count_all(const struct rec_total *totals, size_t count)
{
	int64_t all = 0;

	for (size_t i = 0; i < count; i++)
		if (is_sampled(totals[i].key.metric) && totals[i].count > 0)
			all = rec_sum(all, totals[i].count);
	return all;
}

static int put_total(struct jfr_writer *writer, const struct recording *rec,
		     const struct rec_total *total, double *time_ns, double step_ns)
{
	struct rec_sample sample = {
		.key = total->key,
		.state = usual_state(rec_thread_get(rec, total->key.thread)),
	};
	int err = 0;

	if (!is_sampled(total->key.metric))
		return 0;
	for (int64_t i = 0; i < total->count && !err; i++) {
		sample.time_ns = (int64_t)*time_ns + rec_meta_get(rec)->start_time_ns;
		/* Together they are the whole. */
		sample.value = total->value / total->count + (i < total->value % total->count);
		*time_ns += step_ns;
		err = put_sample(writer, rec, &sample);
	}
	return err;
}

static int put_totals(struct jfr_writer *writer, const struct recording *rec)
{
	const struct rec_meta *meta = rec_meta_get(rec);
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);
	double time_ns = 0, step_ns = 0;
	int64_t all = count_all(totals, count);
	int err = 0;

	if (all > SAMPLES_MAX)
		return -EFBIG;
	if (all)
		step_ns = (double)(meta->end_time_ns - meta->start_time_ns) / (double)all;
	for (size_t i = 0; i < count && !err; i++)
		err = put_total(writer, rec, &totals[i], &time_ns, step_ns);
	return err;
}

/*
 * Of other recorders' files: a wait that was over in the recording may have begun long before, and
 * so may a collection.
 */
static int64_t earliest_time(const struct recording *rec)
{
	int64_t earliest_ns = rec_meta_get(rec)->start_time_ns;
	size_t count;
	const struct rec_sample *rows = rec_samples(rec, &count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].time_ns && rows[i].time_ns < earliest_ns)
			earliest_ns = rows[i].time_ns;
	for (uint32_t id = 1; id <= rec_collection_count(rec); id++) {
		int64_t time_ns = rec_collection_get(rec, id)->time_ns;

		if (time_ns && time_ns < earliest_ns)
			earliest_ns = time_ns;
	}
	return earliest_ns;
}

int jfr_export(const struct recording *rec, const struct export_options *options, FILE *out)
{
	struct jfr_writer_options how = {
		.sink = put_chunk,
		.ctx = out,
		.earliest_ns = earliest_time(rec),
	};
	struct jfr_writer *writer;
	size_t count;
	int err;

	(void)options;
	err = jfr_writer_open(&how, rec, &writer);
	if (err)
		return err;
	rec_samples(rec, &count);
	err = count ? put_samples(writer, rec) : put_totals(writer, rec);
	if (!err)
		err = jfr_writer_segment(writer, rec, rec_meta_get(rec)->end_time_ns, -1);
	jfr_writer_close(writer);
	errno = 0;
	if (!err && fflush(out))
		err = errno ? -errno : -EIO;
	return err;
}
