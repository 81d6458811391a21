/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_SERIES_H
#define JVMSCOPE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording;

/*
 * Values over time: one for each bucket of time since the recording began, or none. A bucket is a
 * second at first; when there are REC_MAX_BUCKETS, or room for REC_MAX_VALUES of all series, it
 * becomes twice as long, and of two values the later one stays.
 *
 * What is of the machine, not of a JVM, has JVM 0, and a name that begins with "machine_".
 */
#define REC_MACHINE "machine_"

/*
 * When values of a bucket were read, in nanoseconds since the recording began: those of a JVM that
 * are read each second, and those of the machine. A rate is a difference by that of these.
 */
#define REC_SERIES_AT	      "counted_at_ns"
#define REC_MACHINE_SERIES_AT REC_MACHINE "counted_at_ns"

#define REC_MAX_SERIES	4096
#define REC_MAX_BUCKETS 3600
#define REC_MAX_VALUES	(2u << 20) /* 32 MiB */

struct rec_value {
	int64_t value;
	bool there;
};
struct rec_series {
	uint32_t jvm;		  /* 0: of the machine */
	uint32_t name;		  /* string id: "rss_bytes" */
	struct rec_value *values; /* owned; [bucket] */
	uint32_t buckets;
	uint32_t capacity;
};

/* Whether this is the name of one of the machine. */
bool rec_series_is_machine(const char *name);

/* Sets the value of the bucket that holds time_ns (since the epoch). */
void rec_series_add(struct recording *rec, uint32_t jvm, const char *name, int64_t time_ns,
		    int64_t value);

/* The value of a bucket; false, also of a series that is NULL, when there is none. */
bool rec_series_get(const struct rec_series *series, uint32_t bucket, int64_t *value);

/* In order of first sight. *bucket_ns is how long a bucket is now. */
const struct rec_series *rec_series(const struct recording *rec, size_t *count,
				    uint64_t *bucket_ns);

#endif
