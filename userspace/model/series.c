/* SPDX-License-Identifier: Apache-2.0 */
#include "model/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording_impl.h"

#define FIRST_BUCKET_NS 1000000000ull
#define FIRST_BUCKETS	64
_Static_assert(REC_MAX_SERIES *FIRST_BUCKETS <= REC_MAX_VALUES, "each series has its first ones");

bool rec_series_is_machine(const char *name)
{
	return !strncmp(name, REC_MACHINE, strlen(REC_MACHINE));
}

static bool is_it(const struct rec_series *series, uint32_t jvm, uint32_t name)
{
	return series->jvm == jvm && series->name == name;
}

static struct rec_series *find(struct recording *rec, uint32_t jvm, uint32_t name)
{
	struct rec_series *rows;

	/* Values of files come one behind the other. */
	if (rec->series_last < rec->series_count &&
	    is_it(&rec->series[rec->series_last], jvm, name))
		return &rec->series[rec->series_last];
	for (uint32_t i = 0; i < rec->series_count; i++) {
		if (is_it(&rec->series[i], jvm, name)) {
			rec->series_last = i;
			return &rec->series[i];
		}
	}
	if (rec->series_count == REC_MAX_SERIES) {
		rec_quality_add(rec, REC_QUALITY_INFO, "series_over_limit", 1);
		return NULL;
	}
	rows = rec_grow(rec, rec->series, &rec->series_capacity, rec->series_count + 1u,
			sizeof(*rows));
	if (!rows)
		return NULL;
	rec->series = rows;
	rows[rec->series_count] = (struct rec_series){ .jvm = jvm, .name = name };
	return &rows[rec->series_count++];
}

/* Gives back what is behind the last bucket, of which many series have much. */
static void shrink(struct recording *rec, struct rec_series *series)
{
	uint32_t capacity = FIRST_BUCKETS;
	struct rec_value *values;

	while (capacity < series->buckets)
		capacity *= 2;
	if (capacity >= series->capacity)
		return;
	values = reallocarray(series->values, capacity, sizeof(*values));
	if (values)
		series->values = values;
	rec->series_values -= series->capacity - capacity;
	series->capacity = capacity;
}

/* Two buckets become one. */
static void halve(struct recording *rec)
{
	rec->bucket_ns *= 2;
	for (uint32_t s = 0; s < rec->series_count; s++) {
		struct rec_series *series = &rec->series[s];

		for (uint32_t i = 0; i < series->buckets; i++) {
			uint32_t to = i / 2;
			bool keeps = i % 2 && series->values[to].there && !series->values[i].there;

			if (!keeps)
				series->values[to] = series->values[i];
		}
		for (uint32_t i = (series->buckets + 1) / 2; i < series->buckets; i++)
			series->values[i].there = false;
		series->buckets = (series->buckets + 1) / 2;
		shrink(rec, series);
	}
}

static uint32_t capacity_for(const struct rec_series *series, uint32_t bucket)
{
	uint32_t capacity = series->capacity ? series->capacity : FIRST_BUCKETS;

	while (capacity <= bucket)
		capacity *= 2;
	return capacity;
}

/* Room for a bucket; never more than REC_MAX_BUCKETS. */
static bool make_room(struct recording *rec, struct rec_series *series, uint32_t bucket)
{
	uint32_t capacity = capacity_for(series, bucket);
	struct rec_value *values;

	if (capacity == series->capacity)
		return true;
	values = reallocarray(series->values, capacity, sizeof(*values));
	if (!values) {
		rec->err = -ENOMEM;
		return false;
	}
	memset(values + series->capacity, 0, (capacity - series->capacity) * sizeof(*values));
	rec->series_values += capacity - series->capacity;
	series->values = values;
	series->capacity = capacity;
	return true;
}

/* Whether buckets are too short for a value at this time. */
static bool is_too_much(const struct recording *rec, const struct rec_series *series,
			uint64_t since_ns)
{
	uint64_t bucket = since_ns / rec->bucket_ns;

	return bucket >= REC_MAX_BUCKETS ||
	       rec->series_values + capacity_for(series, (uint32_t)bucket) - series->capacity >
		       REC_MAX_VALUES;
}

void rec_series_add(struct recording *rec, uint32_t jvm, const char *name, int64_t time_ns,
		    int64_t value)
{
	struct rec_series *series = find(rec, jvm, rec_string(rec, name, strlen(name)));
	int64_t since_ns;
	uint64_t bucket;

	if (__builtin_sub_overflow(time_ns, rec->meta.start_time_ns, &since_ns))
		return;
	if (!rec->bucket_ns)
		rec->bucket_ns = FIRST_BUCKET_NS;
	if (!series || since_ns < 0)
		return;
	while (is_too_much(rec, series, (uint64_t)since_ns))
		halve(rec);
	bucket = (uint64_t)since_ns / rec->bucket_ns;
	if (!make_room(rec, series, (uint32_t)bucket))
		return;
	series->values[bucket] = (struct rec_value){ .value = value, .there = true };
	if (series->buckets <= bucket)
		series->buckets = (uint32_t)bucket + 1;
}

bool rec_series_get(const struct rec_series *series, uint32_t bucket, int64_t *value)
{
	if (!series || bucket >= series->buckets || !series->values[bucket].there)
		return false;
	*value = series->values[bucket].value;
	return true;
}

const struct rec_series *rec_series(const struct recording *rec, size_t *count, uint64_t *bucket_ns)
{
	*count = rec->series_count;
	*bucket_ns = rec->bucket_ns ? rec->bucket_ns : FIRST_BUCKET_NS;
	return rec->series;
}

void rec_series_free(struct recording *rec)
{
	for (uint32_t i = 0; i < rec->series_count; i++)
		free(rec->series[i].values);
	free(rec->series);
}
