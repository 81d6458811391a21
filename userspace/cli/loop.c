/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

enum source { SOURCE_FD, SOURCE_TIMER, SOURCE_SIGNALS, SOURCE_NR };

/* SIGINT, SIGTERM and SIGHUP seen so far. */
static volatile sig_atomic_t signals_seen;
static volatile sig_atomic_t last_signal;

/* Whether one came while the loop was writing, so that on_signals did not see it. */
static volatile sig_atomic_t unreported;
static volatile sig_atomic_t unreported_from_terminal;

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
#define ENDING_COUNT (sizeof(ending) / sizeof(ending[0]))

static bool is_ignored(int number)
{
	struct sigaction now;

	return !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
}

/*
 * SIGINT is taken even where it was ignored: a shell script starts its background jobs so, and
 * ends them with kill -INT.
 */
static sigset_t ending_set(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ENDING_COUNT; i++) {
		if (ending[i] != SIGHUP || !is_ignored(SIGHUP))
			sigaddset(&set, ending[i]);
	}
	return set;
}

static void block_signals(struct loop *loop, sigset_t *set)
{
	signal(SIGPIPE, SIG_IGN);
	*set = ending_set();
	sigaddset(set, SIGCHLD);
	sigprocmask(SIG_BLOCK, set, &loop->old_mask);
}

static int add(int epoll, int fd, enum source source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = source };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int loop_open(struct loop *out)
{
	const struct itimerspec every = {
		.it_interval.tv_nsec = (long)LOOP_TICK_NS,
		.it_value.tv_nsec = (long)LOOP_TICK_NS,
	};
	struct loop loop = { -1, -1, -1, { { 0 } } };
	sigset_t set;
	int err = 0;

	block_signals(&loop, &set);
	loop.epoll = epoll_create1(EPOLL_CLOEXEC);
	loop.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	loop.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (loop.epoll < 0 || loop.timer < 0 || loop.signals < 0 ||
	    timerfd_settime(loop.timer, 0, &every, NULL))
		err = -errno;
	if (!err)
		err = add(loop.epoll, loop.timer, SOURCE_TIMER);
	if (!err)
		err = add(loop.epoll, loop.signals, SOURCE_SIGNALS);
	if (err) {
		log_error("event loop: %s", strerror(-err));
		loop_close(&loop);
		return err;
	}
	*out = loop;
	return 0;
}

int loop_watch(struct loop *loop, int fd)
{
	int err = add(loop->epoll, fd, SOURCE_FD);

	if (err)
		log_error("event loop: %s", strerror(-err));
	return err;
}

static int on_signals(struct loop *loop, const struct loop_calls *calls, void *ctx)
{
	struct signalfd_siginfo info;
	int result = 0;

	while (!result && read(loop->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			result = calls->tick(ctx);
			continue;
		}
		signals_seen++;
		last_signal = (int)info.ssi_signo;
		result = calls->signal(ctx, (int)info.ssi_signo, info.ssi_code == SI_KERNEL);
	}
	return result;
}

static int on_timer(struct loop *loop, const struct loop_calls *calls, void *ctx)
{
	uint64_t count;
	int result;

	if (read(loop->timer, &count, sizeof(count)) != (ssize_t)sizeof(count))
		return 0;
	result = calls->ready(ctx);
	return result ? result : calls->tick(ctx);
}

/* result is that of the call during which a signal may have come. */
static int report_signal(const struct loop_calls *calls, void *ctx, int result)
{
	int ended;

	if (!unreported)
		return result;
	unreported = 0;
	ended = calls->signal(ctx, last_signal, unreported_from_terminal);
	return result ? result : ended;
}

static int dispatch(struct loop *loop, enum source source, const struct loop_calls *calls,
		    void *ctx)
{
	switch (source) {
	case SOURCE_FD:
		return calls->ready(ctx);
	case SOURCE_TIMER:
		return on_timer(loop, calls, ctx);
	case SOURCE_SIGNALS:
		return on_signals(loop, calls, ctx);
	case SOURCE_NR:
		break;
	}
	return 0;
}

/* Milliseconds to wait, rounded up so that the last wait does not spin; -1 for ever. */
static int timeout_ms(uint64_t end_ns)
{
	uint64_t now = clock_monotonic_ns();
	uint64_t left_ms;

	if (!end_ns)
		return -1;
	if (now >= end_ns)
		return 0;
	left_ms = (end_ns - now + 999999) / 1000000;
	return left_ms > 1000 ? 1000 : (int)left_ms;
}

int loop_run(struct loop *loop, const struct loop_calls *calls, void *ctx, uint64_t duration_ns)
{
	uint64_t end_ns = duration_ns ? clock_monotonic_ns() + duration_ns : 0;

	while (!end_ns || clock_monotonic_ns() < end_ns) {
		struct epoll_event events[SOURCE_NR];
		int count = epoll_wait(loop->epoll, events, SOURCE_NR, timeout_ms(end_ns));

		if (count < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < count; i++) {
			int result = dispatch(loop, (enum source)events[i].data.u32, calls, ctx);

			result = report_signal(calls, ctx, result);
			if (result)
				return result;
		}
	}
	return 0;
}

/* ---- signals while something is written */

static void on_signal_while_writing(int number, siginfo_t *info, void *context)
{
	struct sigaction interrupting = {
		.sa_sigaction = on_signal_while_writing,
		.sa_flags = SA_SIGINFO,
	};

	(void)context;
	signals_seen++;
	last_signal = number;
	unreported_from_terminal = info->si_code == SI_KERNEL;
	unreported = 1;
	/* The next one, whichever it is, shall make a write() that hangs return. */
	for (size_t i = 0; i < ENDING_COUNT; i++)
		sigaction(ending[i], &interrupting, NULL);
}

void loop_begin_chunk(void)
{
	const struct sigaction action = {
		.sa_sigaction = on_signal_while_writing,
		.sa_flags = SA_SIGINFO | (signals_seen ? 0 : SA_RESTART),
	};
	sigset_t set = ending_set();

	for (size_t i = 0; i < ENDING_COUNT; i++) {
		if (sigismember(&set, ending[i]))
			sigaction(ending[i], &action, NULL);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void loop_end_chunk(void)
{
	sigset_t set = ending_set();

	sigprocmask(SIG_BLOCK, &set, NULL);
}

void loop_begin_writing(struct loop *loop)
{
	loop_begin_chunk();
	if (loop->signals >= 0)
		close(loop->signals);
	loop->signals = -1;
}

bool loop_aborted(void)
{
	return signals_seen > 1;
}

int loop_last_signal(void)
{
	return last_signal;
}

void loop_close(struct loop *loop)
{
	if (loop->epoll >= 0)
		close(loop->epoll);
	if (loop->timer >= 0)
		close(loop->timer);
	if (loop->signals >= 0)
		close(loop->signals);
	*loop = (struct loop){ -1, -1, -1, { { 0 } } };
}
