/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_PROC_H
#define JVMSCOPE_PROC_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Files of /proc, for this folder only.
 *
 * A process whose main thread has ended (pthread_exit in main) lives on, but /proc/PID/maps, mem,
 * root and cmdline are empty or gone. /proc/PID/task/TID has them for every other thread, so
 * nothing here uses /proc/PID directly.
 */

/* pid, or when the main thread has ended another thread of it; pid when there is none. */
pid_t proc_live_thread(pid_t pid);

/* Opens /proc/PID/task/TID/NAME of a live thread. A descriptor or a negative errno (-ESRCH). */
int proc_open(pid_t pid, const char *name, int flags);

/*
 * Reads a small file of one thread of a process, at most size - 1 bytes, NUL-terminated.
 * Returns the length or a negative errno.
 */
ssize_t proc_read(pid_t pid, pid_t tid, const char *name, char *to, size_t size);

/* Reads a whole file of a live thread, NUL-terminated; the caller frees it. -E2BIG over max. */
int proc_read_all(pid_t pid, const char *name, size_t max, char **out);

/* The n-th number (from 0) after "KEY:" in a status file; -1 when there is none. */
long long proc_status_number(const char *status, const char *key, unsigned int n);

/* The last number after "NSpid:", and how many there are in *levels (may be NULL); -1 if none. */
pid_t proc_status_ns_pid(const char *status, unsigned int *levels);

/* Field n of a stat file, numbered as in proc(5), n >= 3; NULL when it is shorter. */
const char *proc_stat_field(const char *stat, unsigned int n);

/*
 * Calls found(id, ctx) for every numeric name in a folder, in ascending order, until it returns
 * something else than 0. Returns that, or a negative errno.
 */
int proc_each(const char *folder, int (*found)(pid_t id, void *ctx), void *ctx);

#endif
