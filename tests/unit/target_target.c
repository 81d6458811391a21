/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "target/discover.h"
#include "target/image.h"
#include "target/ksyms.h"
#include "target/maps.h"
#include "target/target.h"
#include "unit/unit.h"

/* Handles on children of this process. A child's memory is a copy of ours: same addresses. */

#define NO_PID 0x3ffffff /* over the kernel's limit of 4 Mi */

#define WAIT_TURNS 4000 /* of 5 ms: what is waited for comes, on a starved machine later */

static struct target *t;
static pid_t child;
static char message[512]; /* what was logged, by logged() */
static const char text[] = "a string in the target";

static void setup(void)
{
	t = NULL;
	child = 0;
}

static void end_child(void)
{
	if (child <= 0)
		return;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	child = 0;
}

static void teardown(void)
{
	target_close(t);
	end_child();
}

/* A child that waits until it is killed. */
static void start_child(void)
{
	child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "a\xff;b");
	for (;;)
		pause();
}

/* target_open(), and what it writes to standard error in message. */
static int logged_open(pid_t pid)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	ssize_t len;
	int err;

	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	err = target_open(pid, &t);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	len = pread(fileno(file), message, sizeof(message) - 1, 0);
	message[len < 0 ? 0 : len] = '\0';
	fclose(file);
	return err;
}

static void sleep_ms(long ms)
{
	const struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static uint64_t address_of(const void *at)
{
	return (uint64_t)(uintptr_t)at;
}

static void reads_memory(void)
{
	char copy[64];
	uint64_t word;
	uint32_t half = 7;

	start_child();
	ASSERT_INT(target_open(child, &t), 0);
	ASSERT_INT(t->pid, child);
	CU_ASSERT_TRUE(target_alive(t));
	ASSERT_INT(target_read(t, address_of(text), copy, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(copy, text);
	ASSERT_INT(target_read_u64(t, address_of(text), &word), 0);
	CU_ASSERT_EQUAL(memcmp(&word, text, 8), 0);
	ASSERT_INT(target_read_u32(t, 8, &half), -EFAULT);
	ASSERT_INT(half, 7);
	ASSERT_INT(target_read(t, UINT64_MAX - 4, copy, 8), -EFAULT);
	ASSERT_INT(target_read(t, 1ull << 63, copy, 8), -EFAULT);
	ASSERT_INT(target_read(t, address_of(text), copy, 0), 0);
}

/* More than one system call takes, with places among them that are not there. */
static void reads_parts_together(void)
{
	enum { COUNT = TARGET_PARTS_AT_ONCE * 2 + 3 };
	struct target_part parts[COUNT];
	char copies[COUNT][sizeof(text)] = { "" };

	start_child();
	ASSERT_INT(target_open(child, &t), 0);
	for (int bad = 1; bad < COUNT + 2; bad += 13) {
		for (int i = 0; i < COUNT; i++) {
			uint64_t addr = i % bad == bad - 1 ? 8 : address_of(text) + (uint64_t)i % 3;

			memset(copies[i], 0, sizeof(copies[i]));
			parts[i] = (struct target_part){ addr, copies[i], 4, 1 };
		}
		ASSERT_INT(target_read_parts(t, parts, COUNT), 0);
		for (int i = 0; i < COUNT; i++) {
			ASSERT_INT(parts[i].err, i % bad == bad - 1 ? -EFAULT : 0);
			if (!parts[i].err)
				CU_ASSERT_EQUAL(memcmp(copies[i], text + i % 3, 4), 0);
		}
	}
	ASSERT_INT(target_read_parts(t, parts, 0), 0);
	parts[0] = (struct target_part){ 1ull << 63, copies[0], 4, 0 };
	parts[1] = (struct target_part){ 8, copies[1], 0, 1 };
	ASSERT_INT(target_read_parts(t, parts, 2), 0);
	ASSERT_INT(parts[0].err, -EFAULT);
	ASSERT_INT(parts[1].err, 0);
}

static void reads_strings(void)
{
	char *page =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char copy[8192];

	CU_ASSERT_FATAL(page != MAP_FAILED);
	munmap(page + 2 * 4096, 4096);
	memset(page, 'x', 2 * 4096);
	memcpy(page + 4096 - 2, "abcd", 5);
	start_child();
	ASSERT_INT(target_open(child, &t), 0);
	ASSERT_INT(target_read_string(t, address_of(page + 4096 - 2), copy, sizeof(copy)), 4);
	CU_ASSERT_STRING_EQUAL(copy, "abcd");
	ASSERT_INT(target_read_string(t, address_of(page + 4096 - 2), copy, 5), 4);
	ASSERT_INT(target_read_string(t, address_of(page + 4096 - 2), copy, 4), -ENAMETOOLONG);
	ASSERT_INT(target_read_string(t, address_of(page + 2 * 4096 - 8), copy, 9), -EFAULT);
	ASSERT_INT(target_read_string(t, address_of(page + 2 * 4096 - 8), copy, 8), -ENAMETOOLONG);
	munmap(page, 2 * 4096);
}

static void notices_the_end(void)
{
	uint64_t value;
	struct target_part part = { address_of(text), &value, sizeof(value), 0 };
	char name[16];

	start_child();
	ASSERT_INT(target_open(child, &t), 0);
	kill(child, SIGKILL);
	for (int i = 0; i < 200 && target_alive(t); i++)
		sleep_ms(5);
	/* Not waited for yet, and then waited for. */
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_FALSE(target_alive(t));
		ASSERT_INT(target_read_u64(t, address_of(text), &value), -ESRCH);
		ASSERT_INT(target_read_parts(t, &part, 1), -ESRCH);
		ASSERT_INT(target_cpu_ns(t, &value), -ESRCH);
		ASSERT_INT(target_rss_bytes(t), 0);
		target_thread_name(t, child, name, sizeof(name));
		CU_ASSERT_STRING_EQUAL(name, "?");
		waitpid(child, NULL, 0);
	}
	child = 0;
}

static int count_thread(pid_t tid, void *ctx)
{
	(void)tid;
	(*(int *)ctx)++;
	return 0;
}

static void describes_a_process(void)
{
	char buffer[4096];
	struct timespec now;
	uint64_t cpu;
	int count = 0;

	start_child();
	ASSERT_INT(target_open(child, &t), 0);
	sleep_ms(50);
	ASSERT_INT(target_each_thread(t, count_thread, &count), 0);
	ASSERT_INT(count, 1);
	ASSERT_INT(target_thread_ns_tid(t, child), t->ns_pid);
	target_thread_name(t, child, buffer, sizeof(buffer));
	CU_ASSERT_STRING_EQUAL(buffer, "a\xef\xbf\xbd;b");
	ASSERT_INT(target_cpu_ns(t, &cpu), 0);
	CU_ASSERT(cpu > 0 && cpu < 1000000000ull);
	ASSERT_INT(target_thread_cpu_ns(t, child, &cpu), 0);
	CU_ASSERT(cpu > 0 && cpu < 1000000000ull);
	CU_ASSERT(target_rss_bytes(t) > 4096);
	CU_ASSERT(target_cmdline(t, buffer, sizeof(buffer)) > 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(buffer, "unit"));
	ASSERT_INT(target_cmdline(t, buffer, 3), 2);
	ASSERT_INT(strlen(buffer), 2);
	clock_gettime(CLOCK_REALTIME, &now);
	CU_ASSERT(t->start_time_ns / 1000000000 <= (uint64_t)now.tv_sec + 1 &&
		  t->start_time_ns / 1000000000 + 5 >= (uint64_t)now.tv_sec);
}

static void goes_on_after_exec(void)
{
	struct maps maps;
	uint32_t magic;
	int wait_for[2];
	bool changed = false;

	CU_ASSERT_FATAL(pipe(wait_for) == 0);
	child = fork();
	if (child == 0) {
		char byte;

		close(wait_for[1]);
		if (read(wait_for[0], &byte, 1) == 1)
			execl("/bin/sleep", "sleep", "30", (char *)NULL);
		_exit(1);
	}
	close(wait_for[0]);
	ASSERT_INT(target_open(child, &t), 0);
	CU_ASSERT(write(wait_for[1], "x", 1) == 1);
	close(wait_for[1]);
	for (int i = 0; i < WAIT_TURNS && !changed; i++) {
		sleep_ms(5);
		ASSERT_INT(maps_read(child, &maps), 0);
		changed = maps_find_file(&maps, "sleep") != NULL;
		if (changed)
			ASSERT_INT(
				target_read_u32(t, maps_find_file(&maps, "sleep")->start, &magic),
				0);
		maps_free(&maps);
	}
	CU_ASSERT_FATAL(changed);
	CU_ASSERT_EQUAL(memcmp(&magic,
			       "\x7f"
			       "ELF",
			       4),
			0);
}

static void *wait_forever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* main() may end with pthread_exit(): the process lives on in its other threads. */
static void works_when_the_main_thread_has_ended(void)
{
	const struct mapping *mapping;
	struct image *image = NULL;
	char buffer[4096] = "";
	char stat[64];
	struct maps maps;
	pthread_t thread;
	uint64_t value;
	struct target_part part = { address_of(text), &value, sizeof(value), 1 };

	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&thread, NULL, wait_forever, NULL);
		syscall(SYS_exit, 0);
	}
	snprintf(stat, sizeof(stat), "/proc/%d/maps", child);
	for (int i = 0; i < WAIT_TURNS; i++) {
		int fd = open(stat, O_RDONLY);
		ssize_t got = read(fd, buffer, 1);

		close(fd);
		if (got == 0)
			break;
		sleep_ms(5);
	}
	ASSERT_INT(target_open(child, &t), 0);
	CU_ASSERT_TRUE(target_alive(t));
	ASSERT_INT(target_read(t, address_of(text), buffer, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(buffer, text);
	ASSERT_INT(target_read_parts(t, &part, 1), 0);
	ASSERT_INT(part.err, 0);
	ASSERT_INT(maps_read(child, &maps), 0);
	mapping = maps_find(&maps, address_of(works_when_the_main_thread_has_ended));
	CU_ASSERT_PTR_NOT_NULL_FATAL(mapping);
	ASSERT_INT(image_open(t, mapping, &image), 0);
	image_close(image);
	maps_free(&maps);
	CU_ASSERT(target_cmdline(t, buffer, sizeof(buffer)) > 0);
	CU_ASSERT(target_rss_bytes(t) > 4096);
	ASSERT_INT(target_cpu_ns(t, &value), 0);
}

static void refuses_a_thread(void)
{
	char expected[128];
	pthread_t thread;
	pid_t tid = 0;

	pthread_create(&thread, NULL, wait_forever, NULL);
	for (int i = 0; i < WAIT_TURNS && !tid; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/task/%d", getpid() + i);
		if (i && access(path, F_OK) == 0)
			tid = getpid() + i;
	}
	if (tid) {
		ASSERT_INT(logged_open(tid), -ESRCH);
		snprintf(expected, sizeof(expected),
			 "jvmscope: pid %d: is a thread of process %d: use -p %d\n", tid, getpid(),
			 getpid());
		CU_ASSERT_STRING_EQUAL(message, expected);
	}
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

static void refuses_what_is_not_there(void)
{
	ASSERT_INT(logged_open(NO_PID), -ESRCH);
	CU_ASSERT_STRING_EQUAL(message, "jvmscope: pid 67108863: no such process\n");
}

static void refuses_a_kernel_thread(void)
{
	char comm[32] = "";
	int fd = open("/proc/2/comm", O_RDONLY);

	if (fd < 0)
		return;
	CU_ASSERT(read(fd, comm, sizeof(comm) - 1) >= 0);
	close(fd);
	if (strcmp(comm, "kthreadd\n") != 0)
		return;
	ASSERT_INT(logged_open(2), -ENOENT);
	CU_ASSERT_STRING_EQUAL(message, "jvmscope: pid 2: is a kernel thread, not a JVM\n");
}

static void opens_itself(void)
{
	uint64_t word;

	ASSERT_INT(target_open(getpid(), &t), 0);
	ASSERT_INT(target_read_u64(t, address_of(text), &word), 0);
}

/* In a new pid namespace: a process that has the number wanted there. Ends in pause(). */
static void run_namespace(pid_t wanted, int result)
{
	FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "we");
	pid_t inner;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!last || fprintf(last, "%d", wanted - 1) < 0 || fclose(last))
		_exit(1);
	inner = fork();
	if (inner > 0 && write(result, &inner, sizeof(inner)) != sizeof(inner))
		_exit(1);
	for (;;)
		pause();
}

/* Whether there is now a process with the number wanted inside a namespace. */
static bool start_in_namespace(pid_t wanted)
{
	int result[2];
	pid_t got = 0;

	CU_ASSERT_FATAL(pipe(result) == 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(result[0]);
		if (unshare(CLONE_NEWPID))
			_exit(1);
		if (fork() == 0)
			run_namespace(wanted, result[1]);
		close(result[1]);
		for (;;)
			pause();
	}
	close(result[1]);
	if (read(result[0], &got, sizeof(got)) != sizeof(got))
		got = 0;
	close(result[0]);
	return got == wanted;
}

static void offers_the_host_pid_for_the_one_inside_a_container(void)
{
	const pid_t wanted = 31999; /* below every pid_max, and not a process of ours here */
	char expected[160];
	pid_t host;

	if (geteuid() != 0 || kill(wanted, 0) == 0 || !start_in_namespace(wanted))
		return;
	host = discover_by_ns_pid(wanted);
	CU_ASSERT_FATAL(host > 0 && host != wanted);
	ASSERT_INT(discover_by_ns_pid(NO_PID), 0);
	ASSERT_INT(discover_by_ns_pid(getpid()), 0);
	snprintf(expected, sizeof(expected),
		 "jvmscope: pid %d: no such process here, but pid %d has this number inside its "
		 "container: use -p %d\n",
		 wanted, host, host);
	ASSERT_INT(logged_open(wanted), -ESRCH);
	CU_ASSERT_STRING_EQUAL(message, expected);
	ASSERT_INT(target_open(host, &t), 0);
	ASSERT_INT(t->ns_pid, wanted);
	ASSERT_INT(target_thread_ns_tid(t, host), wanted);
}

static int look_for(pid_t pid, void *ctx)
{
	return pid == *(const pid_t *)ctx ? 17 : 0;
}

static void finds_processes_that_map_a_libjvm(void)
{
	char path[] = "/tmp/jvmscope-target-XXXXXX";
	char file[64];
	pid_t pid = getpid();
	void *at;
	int fd;

	ASSERT_INT(discover_jvms(look_for, &pid), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(path));
	snprintf(file, sizeof(file), "%s/libjvm.so", path);
	fd = open(file, O_RDWR | O_CREAT, 0600);
	CU_ASSERT(write(fd, "x", 1) == 1);
	at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	unlink(file);
	rmdir(path);
	ASSERT_INT(discover_jvms(look_for, &pid), 17);
	munmap(at, 4096);
}

static void knows_kernel_symbols(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long addr = 0;
	char line[512];
	char name[128] = "";
	struct ksyms *syms;
	const char *found;

	ASSERT_INT(ksyms_open(&syms), 0);
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx %*c %127s", &addr, name) == 2 && !strcmp(name, "vfs_read"))
			break;
		addr = 0;
	}
	if (file)
		fclose(file);
	found = ksyms_find(syms, addr + 1);
	if (addr) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(found);
		CU_ASSERT_STRING_EQUAL(found, "vfs_read");
	} else {
		CU_ASSERT_PTR_NULL(found);
	}
	CU_ASSERT_PTR_NULL(ksyms_find(syms, 0));
	CU_ASSERT_PTR_NULL(ksyms_find(syms, 0x1000));
	ksyms_close(syms);
	ksyms_close(NULL);
}

static CU_TestInfo tests[] = {
	{ "reads memory", reads_memory },
	{ "reads parts together", reads_parts_together },
	{ "reads strings", reads_strings },
	{ "notices the end", notices_the_end },
	{ "describes a process", describes_a_process },
	{ "goes on after exec", goes_on_after_exec },
	{ "works when the main thread has ended", works_when_the_main_thread_has_ended },
	{ "refuses a thread", refuses_a_thread },
	{ "refuses what is not there", refuses_what_is_not_there },
	{ "refuses a kernel thread", refuses_a_kernel_thread },
	{ "opens itself", opens_itself },
	{ "offers the host pid for the one inside a container",
	  offers_the_host_pid_for_the_one_inside_a_container },
	{ "finds processes that map a libjvm", finds_processes_that_map_a_libjvm },
	{ "knows kernel symbols", knows_kernel_symbols },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo target_target_suite = {
	.pName = "target",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
