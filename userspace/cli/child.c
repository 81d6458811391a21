/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/loop.h"

#define POLL_NS 50000000l

/* In the child. Its standard error belongs to COMMAND, so errors go through the pipe. */
static _Noreturn void become(char **command, const sigset_t *mask, int go, int failed)
{
	char byte;
	int err;

	signal(SIGPIPE, SIG_DFL);
	if (read(go, &byte, 1) != 1)
		_exit(127);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(command[0], command);
	err = errno;
	if (write(failed, &err, sizeof(err)) != (ssize_t)sizeof(err))
		_exit(126);
	_exit(127);
}

int child_start(char **command, const sigset_t *mask, struct child *out)
{
	int go[2] = { -1, -1 };
	int failed[2] = { -1, -1 };
	pid_t pid = -1;
	int err = 0;

	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC)) {
		err = -errno;
		goto out;
	}
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		err = -errno;
		goto out;
	}
	if (!pid) {
		close(go[1]);
		close(failed[0]);
		become(command, mask, go[0], failed[1]);
	}
	*out = (struct child){ pid, go[1], failed[0], command[0] };
	go[1] = -1;
	failed[0] = -1;
out:
	if (err)
		log_error("%s: cannot be started: %s", command[0], strerror(-err));
	for (int i = 0; i < 2; i++) {
		if (go[i] >= 0)
			close(go[i]);
		if (failed[i] >= 0)
			close(failed[i]);
	}
	return err;
}

int child_release(struct child *child)
{
	int exec_errno = 0;
	ssize_t got;

	if (write(child->go, "", 1) != 1)
		return -errno;
	close(child->go);
	child->go = -1;

	do
		got = read(child->failed, &exec_errno, sizeof(exec_errno));
	while (got < 0 && errno == EINTR);
	close(child->failed);
	child->failed = -1;
	if (got != (ssize_t)sizeof(exec_errno))
		return 0;

	log_error("%s: cannot be executed: %s", child->name, strerror(exec_errno));
	return -exec_errno;
}

bool child_ended(const struct child *child)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT))
		return true;
	return info.si_pid != 0;
}

bool child_wait(const struct child *child)
{
	const struct timespec pause = { 0, POLL_NS };
	int passed_on = loop_last_signal();
	uint64_t end_ns = passed_on ? clock_monotonic_ns() + CHILD_GRACE_NS : 0;

	while (!child_ended(child)) {
		if (loop_aborted() || (end_ns && clock_monotonic_ns() >= end_ns))
			return false;
		if (loop_last_signal() && !passed_on) {
			passed_on = loop_last_signal();
			kill(child->pid, passed_on);
			end_ns = clock_monotonic_ns() + CHILD_GRACE_NS;
		}
		nanosleep(&pause, NULL);
	}
	return true;
}

void child_report(struct child *child)
{
	enum log_level level;
	int status;

	if (waitpid(child->pid, &status, 0) != child->pid)
		return;
	level = status && !loop_last_signal() ? LOG_LEVEL_WARN : LOG_LEVEL_INFO;
	if (WIFSIGNALED(status))
		log_write(level, "%s: ended by signal %d (%s)", child->name, WTERMSIG(status),
			  strsignal(WTERMSIG(status)));
	else
		log_write(level, "%s: exit status %d", child->name, WEXITSTATUS(status));
	child->pid = 0;
}

void child_close(struct child *child)
{
	bool waiting = child->pid && child->go >= 0;

	if (!child->pid)
		return;
	if (child->go >= 0)
		close(child->go);
	if (child->failed >= 0)
		close(child->failed);
	/* One that was never released ends now, without having run. */
	if (waiting)
		waitpid(child->pid, NULL, 0);
	*child = (struct child){ 0 };
}
