/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_PACE_H
#define JVMSCOPE_PACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What wakes us, and how often.
 *
 * A busy JVM makes hundreds of new stacks a second, and other processes map files in storms. A
 * wake-up costs more than what it tells, so a descriptor that woke us can rest: until it is due,
 * whatever comes to it wakes nobody, and then the timer does. One that is armed wakes us at once.
 *
 * Times are CLOCK_MONOTONIC in nanoseconds.
 */

struct paced {
	int fd;		 /* borrowed */
	bool armed;	 /* wakes us */
	uint64_t due_ns; /* else: is looked at from then on */
};

struct pace {
	int epoll;	   /* owned; readable when something is to be done */
	int timer;	   /* owned */
	uint64_t timer_ns; /* goes off then; 0: is not set */
};

/* Returns 0 or a negative errno. */
int pace_open(struct pace *out);
void pace_close(struct pace *pace);

/* Watches a descriptor, armed. Returns 0 or a negative errno. */
int pace_add(struct pace *pace, struct paced *paced, int fd);

/* A descriptor that wakes us once, when it becomes readable. Returns 0 or a negative errno. */
int pace_add_once(struct pace *pace, int fd);
void pace_remove(struct pace *pace, int fd);

/* Takes note of what woke us; epoll is not readable then, unless there is more. Never waits. */
void pace_take(struct pace *pace, uint64_t now_ns);

/* Whether it woke us, or its rest is over. */
static inline bool pace_is_due(const struct paced *paced, uint64_t now_ns)
{
	return !paced->armed && paced->due_ns <= now_ns;
}

/* After one was due: it wakes us again, or rests first. */
void pace_arm(struct pace *pace, struct paced *paced);
void pace_rest(struct paced *paced, uint64_t until_ns);

/* The earlier of two times, of which 0 is none. */
static inline uint64_t pace_earlier(uint64_t a, uint64_t b)
{
	if (!a || !b)
		return a + b;
	return a < b ? a : b;
}

/* Wakes us at a time; 0: no time. */
void pace_wake_at(struct pace *pace, uint64_t time_ns);

#endif
