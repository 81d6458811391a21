/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_GROWTH_H
#define JVMSCOPE_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether a level that was looked at now and then grows without end, as that of a leak, or has
 * found its height, as that of a pool.
 *
 * Many levels are looked at together, so that the times of the looks are kept once. There is a
 * fixed number of them: when it is reached every other one is forgotten, and later looks are as far
 * apart as those that stay. A recording of any length is so told in 32 to 64 points.
 */
#define GROWTH_POINTS 64

/* When was looked. A zeroed struct is empty. */
struct growth_clock {
	uint32_t count;
	uint64_t step_ns; /* between two looks, at least */
	uint64_t time_ns[GROWTH_POINTS];
	uint64_t work_ns[GROWTH_POINTS];     /* CPU time of the process until then */
	uint64_t collections[GROWTH_POINTS]; /* of its heap until then */
};

/* What is seen at each look, beside the levels. Times are of any clock. */
struct growth_look {
	uint64_t time_ns;
	uint64_t work_ns;
	uint64_t collections;
};

/*
 * A level at each look: the lowest since the look before, and the last one as it is. What goes up
 * and down between two looks is seen by what it falls to.
 */
struct growth_level {
	int64_t bytes[GROWTH_POINTS];
};

bool growth_is_due(const struct growth_clock *clock, uint64_t time_ns);

/*
 * Adds a look and returns its place in all levels. *thinned: every other look before was
 * forgotten, and growth_thin() is due for each level first.
 */
uint32_t growth_look(struct growth_clock *clock, const struct growth_look *look, bool *thinned);
void growth_thin(struct growth_level *level);

enum growth_kind {
	GROWTH_UNDECIDED, /* too few looks */
	GROWTH_LEAK,	  /* what stays grew all the time until the end */
	GROWTH_ONCE,	  /* it came at once, and stays */
	GROWTH_POOL,	  /* it came in steps or goes up and down, but stays at a height */
	GROWTH_KIND_NR,
};
const char *growth_kind_name(enum growth_kind kind);
int growth_kind_find(const char *name); /* -1: there is none of that name */

/*
 * "All the time" is by the work that the process did: when it was idle nothing can have grown.
 * What goes up and down is judged by what it never falls below afterwards.
 */
enum growth_kind growth_judge(const struct growth_clock *clock, const struct growth_level *level);

/* Slope of the straight line that fits best (least squares), by time; 0 without two looks. */
double growth_bytes_per_minute(const struct growth_clock *clock, const struct growth_level *level);

/*
 * The first look at or after a time; clock->count when it was later than all. born[] of
 * growth_survived() has a place for each, and one more.
 */
uint32_t growth_look_after(const struct growth_clock *clock, uint64_t time_ns);

/*
 * How many collections the older half of the bytes has survived: born[n] of them came before look
 * n, and after the one before it.
 */
uint64_t growth_survived(const struct growth_clock *clock, const int64_t born[GROWTH_POINTS + 1]);

#endif
