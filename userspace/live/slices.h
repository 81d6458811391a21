/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_SLICES_H
#define JVMSCOPE_SLICES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What slices of time say of the time between them, in constant memory.
 *
 * Time is the target's own work in ns. A slice stands for the stretch before it: that one ended
 * when the account had saved for a slice, so by what was seen earlier and not by what this slice
 * sees, while how long a slice is and what stretch comes after it do depend on it. The stretch
 * after the last slice is taken as the mean of all.
 *
 * How far off that is comes from how much a slice differs from the one before: slices of a target
 * that does one thing for a long time and then another differ seldom, and are right all the same.
 */
#define SLICES_MIN	 16  /* with fewer, what is added is as uncertain as it is large */
#define SLICES_STRETCH	 5   /* a stretch longer than this part of all unseen work likewise */
#define SLICES_ERROR_MAX 5.0 /* per cent of the sum: above it there is no estimate */

/* Of a target. */
struct slices {
	uint32_t count;	   /* those that are over */
	bool begun;	   /* else all is watched: there are neither slices nor stretches */
	bool inside;	   /* a slice goes on, else a stretch */
	double last_ns;	   /* when the slice or the stretch began */
	double stretch_ns; /* before the slice that goes on */
	double seen_ns;	   /* work in slices */
	double unseen_ns;  /* and in the stretches that they stand for */
	double longest_ns; /* of those */
	double weight;	   /* of the next difference, and the sum of all */
	double weights;
};

/* Bytes of a site, of a tag, of all. All zero: nothing was seen so far. */
struct slices_sum {
	double before; /* bytes by work when all was watched: how much may be unseen in few slices
			*/
	double seen;   /* in slices */
	double rate;   /* in the last slice, by work */
	double more;   /* in the stretches, beside what was seen there while probes came and went */
	double squares; /* of differences between slices, by their weights */
};

/* Stretches begin: not all is watched any more. */
void slices_start(struct slices *slices, uint64_t work_ns);
/* All is watched again: there was no stretch since the last slice. */
void slices_stop(struct slices *slices);

void slices_begin_one(struct slices *slices, uint64_t work_ns);

/* What was seen since the last slice, when probes are there or before all of them were gone. */
void slices_add_between(struct slices_sum *sum, double bytes);

/*
 * The slice is over. Then, for each sum, what was seen in it: nothing is also said. *one is what
 * slices_add() needs of it.
 */
struct slice {
	double seen_ns;
	double stretch_ns;
	double weight; /* of the difference to the one before; 0: there is none */
};
void slices_end_one(struct slices *slices, uint64_t work_ns, struct slice *one);
void slices_add(struct slices_sum *sum, const struct slice *one, double bytes);

/* What is not seen until now: its estimate, and the standard error of that. */
struct slices_estimate {
	double bytes;
	double error;
};
void slices_estimate(const struct slices *slices, const struct slices_sum *sum, uint64_t work_ns,
		     struct slices_estimate *out);

#endif
