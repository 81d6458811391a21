/* SPDX-License-Identifier: Apache-2.0 */
#include "target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "target/discover.h"
#include "target/maps.h"
#include "target/pagemap.h"
#include "target/proc.h"

#define STATUS_SIZE 4096 /* 1.5 KiB are usual */
#define STAT_SIZE   1024
#define COMM_SIZE   64

#define NS_PER_S 1000000000ull

/* Fields of stat, proc(5). */
#define STAT_FLAGS 9
#define STAT_UTIME 14
#define STAT_STIME 15
#define STAT_START 22

/* PF_KTHREAD of the kernel's linux/sched.h. */
#define FLAG_KERNEL_THREAD 0x00200000ull

static uint64_t stat_number(const char *stat, unsigned int field)
{
	const char *at = proc_stat_field(stat, field);

	return at ? strtoull(at, NULL, 10) : 0;
}

static uint64_t ns_of_ticks(uint64_t ticks)
{
	uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);

	return ticks / per_second * NS_PER_S + ticks % per_second * NS_PER_S / per_second;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return 0;
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The kernel counts a start in ticks since boot; suspend included. */
static uint64_t start_time_ns(const char *stat)
{
	uint64_t boot_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);

	return boot_ns + ns_of_ticks(stat_number(stat, STAT_START));
}

static int no_such_process(pid_t pid)
{
	pid_t host = discover_by_ns_pid(pid);

	if (host)
		log_error("pid %d: no such process here, but pid %d has this number inside its "
			  "container: use -p %d",
			  pid, host, host);
	else
		log_error("pid %d: no such process", pid);
	return -ESRCH;
}

static int is_a_thread(pid_t pid)
{
	char status[STATUS_SIZE];
	long long process = -1;

	if (proc_read(pid, pid, "status", status, sizeof(status)) > 0)
		process = proc_status_number(status, "Tgid", 0);
	if (process <= 0)
		return no_such_process(pid);
	log_error("pid %d: is a thread of process %lld: use -p %lld", pid, process, process);
	return -ESRCH;
}

static int open_pidfd(pid_t pid, int *out)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0) {
		*out = fd;
		return 0;
	}
	if (errno == ESRCH)
		return no_such_process(pid);
	/* Which of the two a thread gets depends on the kernel. */
	if (errno == EINVAL || errno == ENOENT)
		return is_a_thread(pid);
	log_error("pid %d: %s", pid, strerror(errno));
	return -errno;
}

static int open_memory(struct target *t)
{
	t->mem = proc_open(t->pid, "mem", O_RDONLY);
	if (t->mem >= 0)
		return 0;
	if (t->mem == -EPERM)
		t->mem = -EACCES;
	if (t->mem == -ESRCH)
		log_error("pid %d: ended", t->pid);
	else if (t->mem == -EACCES)
		log_error("pid %d: not allowed to read its memory: run as root or with "
			  "CAP_SYS_PTRACE",
			  t->pid);
	else
		log_error("/proc/%d/mem: %s", t->pid, strerror(-t->mem));
	return t->mem;
}

/* Everything that stays the same for the life of the process. */
static int read_identity(struct target *t)
{
	char status[STATUS_SIZE];
	char stat[STAT_SIZE];

	if (proc_read(t->pid, t->pid, "status", status, sizeof(status)) < 0 ||
	    proc_read(t->pid, t->pid, "stat", stat, sizeof(stat)) < 0) {
		log_error("pid %d: ended", t->pid);
		return -ESRCH;
	}
	if (stat_number(stat, STAT_FLAGS) & FLAG_KERNEL_THREAD) {
		log_error("pid %d: is a kernel thread, not a JVM", t->pid);
		return -ENOENT;
	}
	t->ns_pid = proc_status_ns_pid(status, NULL);
	if (t->ns_pid < 0)
		t->ns_pid = t->pid;
	t->start_time_ns = start_time_ns(stat);
	return 0;
}

int target_open(pid_t pid, struct target **out)
{
	struct target *t = malloc(sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	*t = (struct target){ .pid = pid, .pidfd = -1, .mem = -1, .pagemap = -1 };
	err = open_pidfd(pid, &t->pidfd);
	if (!err)
		err = read_identity(t);
	if (!err)
		err = open_memory(t);
	if (!err && !target_alive(t)) {
		log_error("pid %d: ended", pid);
		err = -ESRCH;
	}
	if (err) {
		target_close(t);
		return err;
	}
	*out = t;
	return 0;
}

void target_close(struct target *t)
{
	if (!t)
		return;
	if (t->pagemap >= 0)
		close(t->pagemap);
	if (t->mem >= 0)
		close(t->mem);
	if (t->pidfd >= 0)
		close(t->pidfd);
	free(t);
}

int target_only_present(struct target *t)
{
	int fd = pagemap_open(t->pid);

	if (fd < 0)
		return fd;
	if (t->pagemap >= 0)
		close(t->pagemap);
	t->pagemap = fd;
	return 0;
}

bool target_alive(const struct target *t)
{
	struct pollfd wait = { .fd = t->pidfd, .events = POLLIN };

	return poll(&wait, 1, 0) == 0;
}

/*
 * After exec the descriptor still speaks of the memory before it, which is gone. Takes the new
 * one under the same number.
 */
static int reopen_memory(const struct target *t)
{
	int fd = proc_open(t->pid, "mem", O_RDONLY);
	int err = 0;

	if (fd < 0)
		return fd;
	if (!target_alive(t))
		err = -ESRCH;
	else if (dup3(fd, t->mem, O_CLOEXEC) < 0)
		err = -errno;
	close(fd);
	return err;
}

int target_read(const struct target *t, uint64_t addr, void *to, size_t size)
{
	bool reopened = false;
	size_t done = 0;
	ssize_t got;

	/* Neither is memory of a process; both would be refused as a file offset. */
	if (addr > INT64_MAX || size > INT64_MAX - addr)
		return -EFAULT;
	if (t->pagemap >= 0 && !pagemap_all_present(t->pagemap, addr, size))
		return target_alive(t) ? -EFAULT : -ESRCH;
	while (done < size) {
		got = pread(t->mem, (char *)to + done, size - done, (off_t)(addr + done));
		if (got > 0) {
			done += (size_t)got;
			continue;
		}
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return target_alive(t) ? -EFAULT : -ESRCH;
		if (reopened || !target_alive(t) || reopen_memory(t))
			return -ESRCH;
		reopened = true;
		done = 0;
	}
	return 0;
}

/*
 * Returns how many parts from the first on were read whole. By pid: the caller checks afterwards
 * that it was no other process.
 */
static size_t read_together(const struct target *t, struct target_part *parts, size_t count)
{
	struct iovec local[TARGET_PARTS_AT_ONCE] = { 0 }, remote[TARGET_PARTS_AT_ONCE] = { 0 };
	size_t done = 0;
	ssize_t got;

	/* What is present must be asked of each. */
	if (t->pagemap >= 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		local[i] = (struct iovec){ parts[i].to, parts[i].size };
		/* Only an address of the target, never used here. */
		memcpy(&remote[i].iov_base, &parts[i].addr, sizeof(remote[i].iov_base));
		remote[i].iov_len = parts[i].size;
	}
	got = process_vm_readv(t->pid, local, count, remote, count, 0);
	while (got >= 0 && done < count && (size_t)got >= parts[done].size) {
		got -= (ssize_t)parts[done].size;
		parts[done++].err = 0;
	}
	return done;
}

int target_read_parts(const struct target *t, struct target_part *parts, size_t count)
{
	size_t done, at = 0, together = 0;

	if (count == 1) {
		parts->err = target_read(t, parts->addr, parts->to, parts->size);
		return parts->err == -ESRCH ? -ESRCH : 0;
	}
	while (at < count) {
		size_t left = count - at;

		done = read_together(t, parts + at,
				     left < TARGET_PARTS_AT_ONCE ? left : TARGET_PARTS_AT_ONCE);
		together += done;
		at += done;
		/* Also what is refused, or is not possible when the first thread has ended. */
		if (done < left && done < TARGET_PARTS_AT_ONCE) {
			parts[at].err =
				target_read(t, parts[at].addr, parts[at].to, parts[at].size);
			if (parts[at].err == -ESRCH)
				return -ESRCH;
			at++;
		}
	}
	return !together || target_alive(t) ? 0 : -ESRCH;
}

int target_read_u64(const struct target *t, uint64_t addr, uint64_t *out)
{
	uint64_t value;
	int err = target_read(t, addr, &value, sizeof(value));

	if (!err)
		*out = value;
	return err;
}

int target_read_u32(const struct target *t, uint64_t addr, uint32_t *out)
{
	uint32_t value;
	int err = target_read(t, addr, &value, sizeof(value));

	if (!err)
		*out = value;
	return err;
}

ssize_t target_read_string(const struct target *t, uint64_t addr, char *to, size_t size)
{
	size_t len = 0;
	const char *nul;
	size_t part;
	int err;

	while (len < size) {
		/* A string is read without crossing a page. */
		part = PAGE_BYTES - (addr + len) % PAGE_BYTES;
		if (part > size - len)
			part = size - len;
		err = target_read(t, addr + len, to + len, part);
		if (err)
			return err;
		nul = memchr(to + len, '\0', part);
		if (nul)
			return nul - to;
		len += part;
	}
	return -ENAMETOOLONG;
}

/* A path as the target sees it: symbolic links of a container stay inside the container. */
static int open_below_root(const struct target *t, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int root = proc_open(t->pid, "root", O_PATH | O_DIRECTORY);
	long fd;
	int err;

	if (root < 0)
		return root;
	fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	err = errno;
	close(root);
	return fd < 0 ? -err : (int)fd;
}

int target_open_below_root(const struct target *t, const char *path)
{
	int fd = open_below_root(t, path);

	if (fd >= 0 && !target_alive(t)) {
		close(fd);
		return -ESRCH;
	}
	return fd;
}

/*
 * Whether the path still leads to the file that is mapped. An overlay with several layers puts a
 * number of the layer above the inode's own 32 bits, and maps shows it without.
 */
static int check_is_mapped(int fd, const struct mapping *mapping)
{
	struct stat stat;

	if (fstat(fd, &stat))
		return -errno;
	return (uint32_t)stat.st_ino == (uint32_t)mapping->inode ? 0 : -ENOENT;
}

static int open_mapped_by_path(const struct target *t, const struct mapping *mapping)
{
	int fd = target_open_below_root(t, mapping->path);
	int err;

	if (fd < 0)
		return fd;
	err = check_is_mapped(fd, mapping);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

int target_open_mapped(const struct target *t, const struct mapping *mapping)
{
	char link[96];
	int fd;

	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, t->pid,
		 mapping->start, mapping->end);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return open_mapped_by_path(t, mapping);
	if (!target_alive(t)) {
		close(fd);
		return -ESRCH;
	}
	return fd;
}

int target_each_thread(const struct target *t, int (*found)(pid_t tid, void *ctx), void *ctx)
{
	char path[64];

	if (!target_alive(t))
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/task", t->pid);
	return proc_each(path, found, ctx);
}

pid_t target_thread_ns_tid(const struct target *t, pid_t tid)
{
	char status[STATUS_SIZE];
	ssize_t len = proc_read(t->pid, tid, "status", status, sizeof(status));
	pid_t ns_tid;

	if (len < 0)
		return (pid_t)len;
	ns_tid = proc_status_ns_pid(status, NULL);
	if (ns_tid < 0)
		return -ENOENT;
	return target_alive(t) ? ns_tid : -ESRCH;
}

void target_thread_name(const struct target *t, pid_t tid, char *to, size_t size)
{
	char comm[COMM_SIZE];
	ssize_t len = proc_read(t->pid, tid, "comm", comm, sizeof(comm));

	if (len <= 0 || !target_alive(t)) {
		snprintf(to, size, "?");
		return;
	}
	if (comm[len - 1] == '\n')
		len--;
	text_utf8(comm, (size_t)len, to, size);
}

/* The clock of another process: to the nanosecond, with all its threads, also the ended ones. */
int target_cpu_ns(const struct target *t, uint64_t *out)
{
	struct timespec now;
	clockid_t clock;

	if (!target_alive(t) || clock_getcpuclockid(t->pid, &clock))
		return -ESRCH;
	if (clock_gettime(clock, &now))
		return -errno;
	*out = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
	return 0;
}

int target_thread_cpu_ns(const struct target *t, pid_t tid, uint64_t *out)
{
	char text[STAT_SIZE];
	ssize_t len = proc_read(t->pid, tid, "schedstat", text, sizeof(text));

	if (len > 0) {
		*out = strtoull(text, NULL, 10);
		return 0;
	}
	/* A kernel without CONFIG_SCHED_INFO. */
	len = proc_read(t->pid, tid, "stat", text, sizeof(text));
	if (len < 0)
		return (int)len;
	*out = ns_of_ticks(stat_number(text, STAT_UTIME) + stat_number(text, STAT_STIME));
	return 0;
}

/* That of the process is not in task/TID, which tells of one thread. */
static int process_stat(pid_t pid, char *to, size_t size)
{
	char path[64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	len = read(fd, to, size - 1);
	close(fd);
	if (len <= 0)
		return -ESRCH;
	to[len] = 0;
	return 0;
}

static uint64_t kib_of(const char *status, const char *key)
{
	long long kib = proc_status_number(status, key, 0);

	return kib < 0 ? 0 : (uint64_t)kib * 1024;
}

int target_usage(const struct target *t, struct target_usage *out)
{
	char stat[STAT_SIZE], status[STATUS_SIZE];
	long long threads;
	ssize_t len;
	int err;

	err = process_stat(t->pid, stat, sizeof(stat));
	if (err)
		return err;
	len = proc_read(t->pid, proc_live_thread(t->pid), "status", status, sizeof(status));
	if (len < 0)
		return (int)len;
	threads = proc_status_number(status, "Threads", 0);
	/* What has ended has no memory, and another process may have its pid. */
	if (threads < 0 || proc_status_number(status, "VmRSS", 0) < 0 || !target_alive(t))
		return -ESRCH;
	*out = (struct target_usage){
		.user_ns = ns_of_ticks(stat_number(stat, STAT_UTIME)),
		.system_ns = ns_of_ticks(stat_number(stat, STAT_STIME)),
		.rss_bytes = kib_of(status, "VmRSS"),
		.rss_peak_bytes = kib_of(status, "VmHWM"),
		.threads = (uint64_t)threads,
	};
	return 0;
}

uint64_t target_rss_bytes(const struct target *t)
{
	char status[STATUS_SIZE];
	long long kib;

	if (proc_read(t->pid, proc_live_thread(t->pid), "status", status, sizeof(status)) < 0)
		return 0;
	kib = proc_status_number(status, "VmRSS", 0);
	return kib < 0 || !target_alive(t) ? 0 : (uint64_t)kib * 1024;
}

ssize_t target_cmdline(const struct target *t, char *to, size_t size)
{
	ssize_t len = proc_read(t->pid, proc_live_thread(t->pid), "cmdline", to, size);

	return len < 0 || target_alive(t) ? len : -ESRCH;
}
