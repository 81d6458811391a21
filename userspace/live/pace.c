/* SPDX-License-Identifier: Apache-2.0 */
#include "live/pace.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS_MAX    64 /* taken at once; more stay for the next time */
#define NS_PER_SECOND 1000000000u

int pace_open(struct pace *out)
{
	struct pace pace = { .epoll = epoll_create1(EPOLL_CLOEXEC),
			     .timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK) };
	struct epoll_event event = { .events = EPOLLIN };
	int err = 0;

	if (pace.epoll < 0 || pace.timer < 0 ||
	    epoll_ctl(pace.epoll, EPOLL_CTL_ADD, pace.timer, &event)) {
		err = -errno;
		pace_close(&pace);
		return err;
	}
	*out = pace;
	return 0;
}

void pace_close(struct pace *pace)
{
	if (pace->epoll >= 0)
		close(pace->epoll);
	if (pace->timer >= 0)
		close(pace->timer);
	*pace = (struct pace){ .epoll = -1, .timer = -1 };
}

static int control(const struct pace *pace, int operation, int fd, struct paced *paced)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data.ptr = paced };

	return epoll_ctl(pace->epoll, operation, fd, &event) ? -errno : 0;
}

int pace_add(struct pace *pace, struct paced *paced, int fd)
{
	int err = control(pace, EPOLL_CTL_ADD, fd, paced);

	if (!err)
		*paced = (struct paced){ .fd = fd, .armed = true };
	return err;
}

int pace_add_once(struct pace *pace, int fd)
{
	return control(pace, EPOLL_CTL_ADD, fd, NULL);
}

void pace_remove(struct pace *pace, int fd)
{
	epoll_ctl(pace->epoll, EPOLL_CTL_DEL, fd, NULL);
}

void pace_take(struct pace *pace, uint64_t now_ns)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t expired;
	int count;

	/* Mostly it is the timer. If it is not alone, epoll stays readable. */
	if (pace->timer_ns && pace->timer_ns <= now_ns &&
	    read(pace->timer, &expired, sizeof(expired)) == (ssize_t)sizeof(expired)) {
		pace->timer_ns = 0;
		return;
	}
	count = epoll_wait(pace->epoll, events, EVENTS_MAX, 0);
	for (int i = 0; i < count; i++) {
		struct paced *paced = events[i].data.ptr;

		if (paced)
			*paced = (struct paced){ .fd = paced->fd };
	}
}

/* Cannot fail for a descriptor that is watched; if it did, the next tick would find what comes. */
void pace_arm(struct pace *pace, struct paced *paced)
{
	if (!paced->armed)
		control(pace, EPOLL_CTL_MOD, paced->fd, paced);
	*paced = (struct paced){ .fd = paced->fd, .armed = true };
}

void pace_rest(struct paced *paced, uint64_t until_ns)
{
	*paced = (struct paced){ .fd = paced->fd, .due_ns = until_ns };
}

void pace_wake_at(struct pace *pace, uint64_t time_ns)
{
	struct itimerspec spec = { .it_value = { .tv_sec = (time_t)(time_ns / NS_PER_SECOND),
						 .tv_nsec = (long)(time_ns % NS_PER_SECOND) } };

	if (pace->timer_ns == time_ns)
		return;
	pace->timer_ns = time_ns;
	timerfd_settime(pace->timer, TFD_TIMER_ABSTIME, &spec, NULL);
}
