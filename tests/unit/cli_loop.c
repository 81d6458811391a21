/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/loop.h"
#include "unit/unit.h"

struct seen {
	int pipe; /* read end */
	int ready;
	int ticks;
	int number;
	bool from_terminal;
	int answer; /* of the next call */
};

static int on_ready(void *ctx)
{
	struct seen *seen = ctx;
	char byte;

	if (read(seen->pipe, &byte, 1) == 1)
		seen->ready++;
	return seen->ready ? seen->answer : 0;
}

static int on_tick(void *ctx)
{
	struct seen *seen = ctx;

	seen->ticks++;
	return 0;
}

static int on_signal(void *ctx, int number, bool from_terminal)
{
	struct seen *seen = ctx;

	seen->number = number;
	seen->from_terminal = from_terminal;
	return 7;
}

static const struct loop_calls calls = { on_ready, on_tick, on_signal };

/*
 * Each case runs in a process of its own: signal masks and dispositions are of the process, and
 * the count of signals is never reset.
 */
static int in_child(int (*body)(void))
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		log_set_level(LOG_LEVEL_ERROR);
		_exit(body());
	}
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define EXPECT(condition)                \
	do {                             \
		if (!(condition))        \
			return __LINE__; \
	} while (0)

static int ends_in_time(void)
{
	struct loop loop;
	struct seen seen = { 0 };
	int fds[2];
	uint64_t start_ns;

	EXPECT(!pipe2(fds, O_NONBLOCK));
	seen.pipe = fds[0];
	EXPECT(!loop_open(&loop));
	EXPECT(!loop_watch(&loop, fds[0]));
	start_ns = clock_monotonic_ns();
	EXPECT(!loop_run(&loop, &calls, &seen, 350000000));
	EXPECT(clock_monotonic_ns() - start_ns >= 350000000);
	EXPECT(seen.ticks >= 2 && seen.ticks <= 4);
	EXPECT(!seen.ready);
	loop_close(&loop);
	return 0;
}

static void time_ends_it(void)
{
	ASSERT_INT(in_child(ends_in_time), 0);
}

static int ends_by_call(void)
{
	struct loop loop;
	struct seen seen = { .answer = 3 };
	int fds[2];

	EXPECT(!pipe2(fds, O_NONBLOCK));
	seen.pipe = fds[0];
	EXPECT(!loop_open(&loop));
	EXPECT(!loop_watch(&loop, fds[0]));
	EXPECT(write(fds[1], "x", 1) == 1);
	EXPECT(loop_run(&loop, &calls, &seen, 0) == 3);
	EXPECT(seen.ready == 1);
	seen.answer = -EIO;
	EXPECT(loop_run(&loop, &calls, &seen, 0) == -EIO);
	loop_close(&loop);
	return 0;
}

static void a_call_ends_it(void)
{
	ASSERT_INT(in_child(ends_by_call), 0);
}

static int ends_by_signal(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	/* As a shell starts its background jobs. nohup may have started the tests. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_DFL);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct loop loop;
		struct seen seen = { .pipe = -1 };

		EXPECT(!loop_open(&loop));
		EXPECT(!loop_aborted() || i > 1);
		kill(getpid(), numbers[i]);
		EXPECT(loop_run(&loop, &calls, &seen, 0) == 7);
		EXPECT(seen.number == numbers[i]);
		EXPECT(!seen.from_terminal);
		EXPECT(loop_last_signal() == numbers[i]);
		loop_close(&loop);
	}
	return 0;
}

static void a_signal_ends_it(void)
{
	ASSERT_INT(in_child(ends_by_signal), 0);
}

static int aborts_at_the_second(void)
{
	struct loop loop;
	int fds[2];
	char big[4096] = "";
	ssize_t written;

	EXPECT(!pipe(fds));
	EXPECT(!loop_open(&loop));
	loop_begin_writing(&loop);
	EXPECT(!loop_aborted());
	kill(getpid(), SIGINT);
	EXPECT(!loop_aborted());
	/* A write that hangs ends with the second signal, which another process sends. */
	if (!fork()) {
		usleep(100000);
		kill(getppid(), SIGINT);
		_exit(0);
	}
	do
		written = write(fds[1], big, sizeof(big));
	while (written > 0);
	EXPECT(written < 0 && errno == EINTR);
	EXPECT(loop_aborted());
	loop_close(&loop);
	return 0;
}

static void a_second_signal_ends_writing(void)
{
	ASSERT_INT(in_child(aborts_at_the_second), 0);
}

struct writing {
	int fd; /* of a pipe that nobody reads */
	int numbers[2];
	int count;
	int err; /* of the write that ended */
};

/* Writes until the pipe is full and two signals have come. */
static int on_tick_write(void *ctx)
{
	struct writing *writing = ctx;
	char big[4096] = "";
	ssize_t written = 1;

	if (!fork()) {
		usleep(100000);
		kill(getppid(), SIGTERM);
		usleep(200000);
		kill(getppid(), SIGINT);
		_exit(0);
	}
	loop_begin_chunk();
	while (written > 0)
		written = write(writing->fd, big, sizeof(big));
	writing->err = errno;
	loop_end_chunk();
	return 9;
}

static int on_signal_note(void *ctx, int number, bool from_terminal)
{
	struct writing *writing = ctx;

	writing->numbers[writing->count++ % 2] = number;
	return from_terminal ? 8 : 7;
}

static int on_no_bytes(void *ctx)
{
	(void)ctx;
	return 0;
}

static int aborts_a_chunk_at_the_second(void)
{
	static const struct loop_calls writes = { on_no_bytes, on_tick_write, on_signal_note };
	struct writing writing = { 0 };
	struct loop loop;
	int fds[2];

	EXPECT(!pipe(fds));
	writing.fd = fds[1];
	EXPECT(!loop_open(&loop));
	EXPECT(loop_run(&loop, &writes, &writing, 0) == 9);
	EXPECT(writing.err == EINTR);
	EXPECT(loop_aborted());
	EXPECT(writing.count == 1 && writing.numbers[0] == SIGINT);
	loop_close(&loop);
	return 0;
}

static void a_second_signal_ends_a_chunk(void)
{
	ASSERT_INT(in_child(aborts_a_chunk_at_the_second), 0);
}

/* A tick during which a signal comes, but whose write does not hang. */
static int on_tick_signal(void *ctx)
{
	(void)ctx;
	loop_begin_chunk();
	kill(getpid(), SIGTERM);
	loop_end_chunk();
	return 0;
}

static int reports_the_signal_of_a_chunk(void)
{
	static const struct loop_calls signalled = { on_no_bytes, on_tick_signal, on_signal_note };
	struct writing writing = { 0 };
	struct loop loop;

	EXPECT(!loop_open(&loop));
	EXPECT(loop_run(&loop, &signalled, &writing, 0) == 7);
	EXPECT(writing.count == 1 && writing.numbers[0] == SIGTERM);
	EXPECT(!loop_aborted());
	loop_close(&loop);
	return 0;
}

static void a_signal_during_a_chunk_ends_it(void)
{
	ASSERT_INT(in_child(reports_the_signal_of_a_chunk), 0);
}

static int closed_pipe_is_an_error(void)
{
	struct loop loop;
	int fds[2];

	EXPECT(!pipe(fds));
	EXPECT(!loop_open(&loop));
	close(fds[0]);
	EXPECT(write(fds[1], "x", 1) < 0 && errno == EPIPE);
	loop_close(&loop);
	return 0;
}

static void a_closed_pipe_does_not_kill(void)
{
	ASSERT_INT(in_child(closed_pipe_is_an_error), 0);
}

/* ---- the COMMAND */

static int runs_a_command(void)
{
	char *command[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char[]){ "exit 3" }, NULL };
	struct loop loop;
	struct child child;
	int status;

	EXPECT(!loop_open(&loop));
	EXPECT(!child_start(command, &loop.old_mask, &child));
	EXPECT(!child_ended(&child));
	EXPECT(!child_release(&child));
	EXPECT(child_wait(&child));
	EXPECT(child_ended(&child));
	EXPECT(waitpid(child.pid, &status, WNOHANG) == child.pid);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	child_close(&child);
	loop_close(&loop);
	return 0;
}

static void a_command_runs_when_released(void)
{
	ASSERT_INT(in_child(runs_a_command), 0);
}

static int refuses_a_command(void)
{
	char *command[] = { (char[]){ "/nowhere/java" }, NULL };
	struct loop loop;
	struct child child;

	EXPECT(!loop_open(&loop));
	EXPECT(!freopen("/dev/null", "w", stderr) || true);
	EXPECT(!child_start(command, &loop.old_mask, &child));
	EXPECT(child_release(&child) == -ENOENT);
	child_close(&child);
	loop_close(&loop);
	return 0;
}

static void a_command_that_cannot_run_says_why(void)
{
	ASSERT_INT(in_child(refuses_a_command), 0);
}

static int drops_a_command(void)
{
	char path[] = "/tmp/jvmscope-unit-XXXXXX";
	char *command[] = { (char[]){ "rm" }, path, NULL };
	struct loop loop;
	struct child child;
	int fd = mkstemp(path);

	EXPECT(fd >= 0);
	EXPECT(!loop_open(&loop));
	EXPECT(!child_start(command, &loop.old_mask, &child));
	child_close(&child);
	EXPECT(!child.pid);
	EXPECT(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
	EXPECT(!access(path, F_OK));
	unlink(path);
	loop_close(&loop);
	return 0;
}

static void a_command_not_released_never_runs(void)
{
	ASSERT_INT(in_child(drops_a_command), 0);
}

static void maps_errors_to_exit_statuses(void)
{
	static const struct {
		int err;
		enum exit_status status;
	} cases[] = {
		{ -ESRCH, EXIT_NO_TARGET }, { -ENOENT, EXIT_NO_TARGET }, { -EPERM, EXIT_RIGHTS },
		{ -EACCES, EXIT_RIGHTS },   { -ENOTSUP, EXIT_RIGHTS },	 { -ENOMEM, EXIT_RUNTIME },
		{ -EPROTO, EXIT_RUNTIME },  { -ECHILD, EXIT_RUNTIME },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ASSERT_INT(exit_of_error(cases[i].err), cases[i].status);
}

static CU_TestInfo tests[] = {
	{ "time ends it", time_ends_it },
	{ "a call ends it", a_call_ends_it },
	{ "a signal ends it", a_signal_ends_it },
	{ "a second signal ends writing", a_second_signal_ends_writing },
	{ "a second signal ends a chunk", a_second_signal_ends_a_chunk },
	{ "a signal during a chunk ends it", a_signal_during_a_chunk_ends_it },
	{ "a closed pipe does not kill", a_closed_pipe_does_not_kill },
	{ "a command runs when released", a_command_runs_when_released },
	{ "a command that cannot run says why", a_command_that_cannot_run_says_why },
	{ "a command not released never runs", a_command_not_released_never_runs },
	{ "maps errors to exit statuses", maps_errors_to_exit_statuses },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo cli_loop_suite = {
	.pName = "loop",
	.pTests = tests,
};
