/* SPDX-License-Identifier: Apache-2.0 */
#include "live/events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "live/procfile.h"

#define CPUS_MAX      4096
#define TRIAL_NS      2000000 /* a hardware counter must count within this time */
#define NS_PER_SECOND 1000000000u

static int perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* A list such as "0-3,8,10-11". */
static int parse_cpus(const char *text, int *cpus)
{
	int count = 0;

	while (*text >= '0' && *text <= '9') {
		char *end;
		long first = strtol(text, &end, 10), last = first;

		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (long cpu = first; cpu <= last && count < CPUS_MAX; cpu++)
			cpus[count++] = (int)cpu;
		text = *end == ',' ? end + 1 : end;
	}
	return count;
}

int online_cpus(int **out)
{
	char line[1024] = "";
	int *cpus = calloc(CPUS_MAX, sizeof(*cpus));
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	int count = 0;

	if (!cpus) {
		if (file)
			fclose(file);
		return -ENOMEM;
	}
	if (file) {
		if (fgets(line, sizeof(line), file))
			count = parse_cpus(line, cpus);
		fclose(file);
	}
	/* Without sysfs the numbers are taken to be dense. */
	if (count == 0)
		for (long n = sysconf(_SC_NPROCESSORS_ONLN); count < n && count < CPUS_MAX; count++)
			cpus[count] = count;
	if (count == 0) {
		free(cpus);
		return -ENODEV;
	}
	*out = cpus;
	return count;
}

static uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

bool clock_has_cycles(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_HARDWARE,
					.config = PERF_COUNT_HW_CPU_CYCLES,
					.exclude_kernel = 1,
					.exclude_hv = 1 };
	int fd = perf_open(&attr, 0, -1);
	uint64_t cycles = 0, until;

	if (fd < 0)
		return false;
	until = clock_now() + TRIAL_NS;
	while (clock_now() < until)
		;
	if (read(fd, &cycles, sizeof(cycles)) != sizeof(cycles))
		cycles = 0;
	close(fd);
	return cycles > 0;
}

static void explain(int err)
{
	int64_t level = 0;

	procfile_number("/proc/sys/kernel/perf_event_paranoid", "", 10, &level);
	if (err == -EPERM || err == -EACCES)
		log_error("perf_event_open: %s: run as root, or with CAP_PERFMON%s", strerror(-err),
			  level > 2 ? " and CAP_SYS_ADMIN (kernel.perf_event_paranoid is over 2)"
				    : "");
	else
		log_error("perf_event_open: %s", strerror(-err));
}

static struct perf_event_attr clock_attr(bool cycles, uint32_t frequency)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = 1 };

	if (cycles) {
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
		attr.freq = 1;
		attr.sample_freq = frequency;
	} else {
		/* A fixed period, so that count times period is time. */
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		attr.sample_period = NS_PER_SECOND / frequency;
	}
	return attr;
}

int clock_allowed(void)
{
	struct perf_event_attr attr = clock_attr(false, 1);
	int fd = perf_open(&attr, -1, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* One event on each CPU. Returns 0 or a negative errno, and never logs. */
static int open_events(const int *cpus, int count, const struct perf_event_attr *attr,
		       struct clock_events *out)
{
	struct clock_events events = { .cycles = attr->type == PERF_TYPE_HARDWARE };
	int fd;

	events.fds = calloc((size_t)count, sizeof(*events.fds));
	events.links = calloc((size_t)count, sizeof(struct bpf_link *));
	fd = events.fds && events.links ? 0 : -ENOMEM;
	for (int i = 0; i < count && fd >= 0; i++) {
		fd = perf_open(attr, -1, cpus[i]);
		/* A CPU may have gone off line since. */
		if (fd == -ENODEV || fd == -ENXIO)
			fd = 0;
		else if (fd >= 0)
			events.fds[events.count++] = fd;
	}
	if (fd < 0) {
		clock_close(&events);
		return fd;
	}
	*out = events;
	return 0;
}

int clock_open(enum live_clock clock, uint32_t frequency, struct clock_events *out)
{
	bool cycles = clock != LIVE_CLOCK_CPU && clock_has_cycles();
	struct perf_event_attr attr = clock_attr(cycles, frequency);
	int *cpus, count, err;

	if (clock == LIVE_CLOCK_CYCLES && !cycles) {
		log_error("cpu event cycles: this machine has no hardware cycle counter that counts"
			  ", use --cpu-event cpu-clock");
		return -ENOENT;
	}
	count = online_cpus(&cpus);
	if (count < 0) {
		log_error("/sys/devices/system/cpu/online: %s", strerror(-count));
		return count;
	}
	err = open_events(cpus, count, &attr, out);
	/* A counter that counts may still be taken for good by others, on this CPU or that. */
	if (err && cycles && clock == LIVE_CLOCK_AUTO) {
		attr = clock_attr(false, frequency);
		err = open_events(cpus, count, &attr, out);
	}
	if (err)
		explain(err);
	free(cpus);
	return err == -EACCES ? -EPERM : err;
}

int clock_attach(struct clock_events *events, struct bpf_program *program)
{
	for (size_t i = 0; i < events->count; i++) {
		events->links[i] = bpf_program__attach_perf_event(program, events->fds[i]);
		if (!events->links[i]) {
			int err = -errno;

			log_error("sampling program: cannot be attached: %s", strerror(errno));
			return err;
		}
		/* The link owns it now. */
		events->fds[i] = -1;
	}
	return 0;
}

void clock_detach(struct clock_events *events)
{
	for (size_t i = 0; i < events->count; i++) {
		bpf_link__destroy(events->links[i]);
		events->links[i] = NULL;
	}
}

void clock_close(struct clock_events *events)
{
	if (events->links)
		clock_detach(events);
	for (size_t i = 0; i < events->count; i++)
		if (events->fds[i] >= 0)
			close(events->fds[i]);
	free(events->fds);
	free(events->links);
	*events = (struct clock_events){ 0 };
}
