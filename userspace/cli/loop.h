/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LOOP_H
#define JVMSCOPE_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The one place where the program waits: an epoll of one descriptor, a timer and the signals.
 *
 * From loop_open on, SIGINT, SIGTERM, SIGHUP and SIGCHLD arrive only here, and SIGPIPE is ignored:
 * a closed pipe is an error of the write. SIGHUP stays ignored under nohup.
 */
struct loop {
	int epoll;
	int timer;
	int signals;
	sigset_t old_mask; /* before loop_open; what a child must get back */
};

#define LOOP_TICK_NS 100000000ull

/* Each returns 0 to go on, > 0 to end the loop with this value, or a negative errno. */
struct loop_calls {
	int (*ready)(void *ctx); /* the descriptor is readable; also called at each tick */
	int (*tick)(void *ctx);	 /* ten times a second, and when a child has ended */
	/*
	 * SIGINT, SIGTERM or SIGHUP. from_terminal: the kernel sent it to the whole foreground
	 * group, so children have it already.
	 */
	int (*signal)(void *ctx, int number, bool from_terminal);
};

/* Returns 0 or a negative errno, logged. */
int loop_open(struct loop *out);

/* Adds the descriptor that calls->ready is about. */
int loop_watch(struct loop *loop, int fd);

/*
 * Waits and calls until a call ends it or duration_ns is over (0: no end). Returns what the call
 * returned, 0 when the time is over.
 */
int loop_run(struct loop *loop, const struct loop_calls *calls, void *ctx, uint64_t duration_ns);

/*
 * Around a write that a call of the loop makes, which may hang: a pipe's reader may not read. A
 * first signal meanwhile is given to calls->signal after the call; a second one, counting those
 * before, interrupts the write.
 */
void loop_begin_chunk(void);
void loop_end_chunk(void);

/*
 * For the time after the loop, when files are written: a first signal is remembered and nothing
 * else, so files get finished; a second one, counting those the loop has seen, interrupts writing.
 */
void loop_begin_writing(struct loop *loop);
bool loop_aborted(void);
int loop_last_signal(void); /* the newest of them; 0: none yet */

void loop_close(struct loop *loop);

#endif
