/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TARGET_H
#define JVMSCOPE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping;

/*
 * A handle on another process. It holds a pidfd, so it never speaks of a later process that
 * happens to get the same pid: every read checks that the process is still the one opened.
 */
struct target {
	pid_t pid;		/* as our own pid namespace sees it */
	pid_t ns_pid;		/* as its innermost pid namespace sees it: last number of NSpid */
	int pidfd;		/* readable (EPOLLIN) when the process has ended */
	int mem;		/* /proc/PID/mem, read only */
	int pagemap;		/* /proc/PID/pagemap; -1: see target_only_present */
	uint64_t start_time_ns; /* since the epoch */
};

/*
 * Opens a process by its host pid. A thread id is not accepted (-ESRCH).
 *
 * Logs one line naming the pid and returns -ESRCH (no such process; when exactly one process
 * has this number as its pid inside a container, the line offers that process's host pid),
 * -ENOENT (a kernel thread), -EACCES (no right to look into it), or another negative errno.
 */
int target_open(pid_t pid, struct target **out);
void target_close(struct target *t);

/*
 * From now on only pages that are present are read, so that looking takes the process no memory:
 * a read that touches an absent one is -EFAULT. Twice the system calls. Returns 0 or a negative
 * errno.
 */
int target_only_present(struct target *t);

/*
 * Reads size bytes at addr of the target. All or nothing. Returns 0, -EFAULT (not mapped or not
 * readable), -ESRCH (ended). Never logs.
 */
int target_read(const struct target *t, uint64_t addr, void *to, size_t size);

/* One of several places that are read together. */
struct target_part {
	uint64_t addr;
	void *to;
	size_t size;
	int err; /* out: 0 or -EFAULT; to is undefined then */
};

/*
 * Reads all parts in their order, with one system call for up to TARGET_PARTS_AT_ONCE of them.
 * Returns 0, also when some parts could not be read, or -ESRCH. Never logs.
 */
#define TARGET_PARTS_AT_ONCE 64
int target_read_parts(const struct target *t, struct target_part *parts, size_t count);

/* One integer. *out is written only on success. */
int target_read_u64(const struct target *t, uint64_t addr, uint64_t *out);
int target_read_u32(const struct target *t, uint64_t addr, uint32_t *out);

/*
 * A NUL-terminated string of at most size - 1 bytes. Returns its length, or a negative errno:
 * -ENAMETOOLONG when no NUL was found within size.
 */
ssize_t target_read_string(const struct target *t, uint64_t addr, char *to, size_t size);

bool target_alive(const struct target *t);

/*
 * Opens the file of a mapping of the target: through map_files (works when it was deleted or
 * replaced, and in every mount namespace), else through the target's root, when the file there
 * still is the one that is mapped. Never by the bare path. Returns a descriptor or a negative
 * errno: -ENOENT when it is another file by now. Never logs.
 */
int target_open_mapped(const struct target *t, const struct mapping *mapping);

/*
 * Opens a file of the target's file system. Symbolic links are followed as the target would.
 * Returns a descriptor or a negative errno. Never logs.
 */
int target_open_below_root(const struct target *t, const char *path);

/* Thread ids of the target, as our pid namespace sees them. */
int target_each_thread(const struct target *t, int (*found)(pid_t tid, void *ctx), void *ctx);

/*
 * The id of a thread in the target's innermost pid namespace, as the JVM's gettid() sees it
 * (last number of NSpid), or a negative errno.
 */
pid_t target_thread_ns_tid(const struct target *t, pid_t tid);

/* Name of a thread (comm), as valid UTF-8; "?" when it is gone. */
void target_thread_name(const struct target *t, pid_t tid, char *to, size_t size);

/* User plus system CPU time of the process (all threads, also ended ones) or of one thread. -errno.
 */
int target_cpu_ns(const struct target *t, uint64_t *out);
int target_thread_cpu_ns(const struct target *t, pid_t tid, uint64_t *out);

/* What a process has used so far, all threads together, also those that have ended. */
struct target_usage {
	uint64_t user_ns; /* in steps of 10 ms, as the kernel tells */
	uint64_t system_ns;
	uint64_t rss_bytes;	 /* some kernels count late */
	uint64_t rss_peak_bytes; /* VmHWM */
	uint64_t threads;	 /* of the kernel, now */
};

/* Two small files. Returns 0 or a negative errno. Never logs. */
int target_usage(const struct target *t, struct target_usage *out);

/* VmRSS in bytes, 0 when it cannot be read. */
uint64_t target_rss_bytes(const struct target *t);

/*
 * Command line, arguments separated by NUL, at most size - 1 bytes. Returns the length or a
 * negative errno.
 */
ssize_t target_cmdline(const struct target *t, char *to, size_t size);

#endif
