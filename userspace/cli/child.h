/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_CHILD_H
#define JVMSCOPE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The program that record -- COMMAND starts: forked early, so that recording is on before its first
 * instruction, and let go later. It has our standard input, output and error.
 *
 * It is never ended by us. When we die before child_release, it ends without having run.
 */
struct child {
	pid_t pid;
	int go;	    /* written by child_release; -1 afterwards */
	int failed; /* errno of exec comes here; end of file when exec worked; -1 afterwards */
	const char *name;
};

/* Forks. The child gets mask, and SIGPIPE as it was. Returns 0 or a negative errno, logged. */
int child_start(char **command, const sigset_t *mask, struct child *out);

/* Lets it exec. Returns 0, or a negative errno when COMMAND cannot be executed, logged. */
int child_release(struct child *child);

/* Whether it has ended; it stays a zombie, so that /proc/PID can still be read. */
bool child_ended(const struct child *child);

/*
 * Waits until it has ended, without limit while no signal has come. A signal that comes while we
 * wait is passed on; from the first one on it has CHILD_GRACE_NS, and a second one ends the wait.
 * Whether it has ended.
 */
bool child_wait(const struct child *child);
#define CHILD_GRACE_NS 10000000000ull

/*
 * Says how it ended, "COMMAND: exit status 3", and lets the zombie go. An end by itself with
 * another status than 0 is a warning, so -q says it too.
 */
void child_report(struct child *child);

/* Safe on a struct with pid 0. A child that was not released ends. */
void child_close(struct child *child);

#endif
