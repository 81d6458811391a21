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
#include <unistd.h>

#include "base/clock.h"
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

static int read_cpus(const char *path, int **out)
{
	char line[1024] = "";
	int *cpus = calloc(CPUS_MAX, sizeof(*cpus));
	FILE *file = fopen(path, "re");
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

int online_cpus(int **out)
{
	return read_cpus("/sys/devices/system/cpu/online", out);
}

int possible_cpus(void)
{
	int *cpus, count = read_cpus("/sys/devices/system/cpu/possible", &cpus), highest = 0;

	if (count < 0)
		return count;
	for (int i = 0; i < count; i++)
		if (cpus[i] > highest)
			highest = cpus[i];
	free(cpus);
	return highest + 1;
}

/* Cycles a second of a CPU that is busy, 0 when there is no counter or it stands still. */
static uint64_t cycles_per_second(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_HARDWARE,
					.config = PERF_COUNT_HW_CPU_CYCLES,
					.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING };
	struct {
		uint64_t cycles;
		uint64_t running_ns;
	} read_back = { 0 };
	int fd = perf_open(&attr, 0, -1);
	uint64_t until;

	if (fd < 0)
		return 0;
	until = clock_monotonic_ns() + TRIAL_NS;
	while (clock_monotonic_ns() < until)
		;
	if (read(fd, &read_back, sizeof(read_back)) != sizeof(read_back) || !read_back.running_ns)
		read_back.cycles = 0;
	close(fd);
	if (!read_back.cycles)
		return 0;
	return (uint64_t)((double)read_back.cycles * NS_PER_SECOND / (double)read_back.running_ns);
}

bool clock_has_cycles(void)
{
	return cycles_per_second() > 0;
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

/*
 * cycles: a second of them, 0 for cpu-clock. A fixed period in both, so that count times period is
 * time; with a frequency the kernel would take more samples of threads on idle CPUs.
 */
static struct perf_event_attr clock_attr(uint64_t cycles, uint32_t frequency)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = 1 };

	attr.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
	attr.config =
		cycles ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES : (uint64_t)PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = (cycles ? cycles : NS_PER_SECOND) / frequency;
	return attr;
}

int clock_allowed(void)
{
	struct perf_event_attr attr = clock_attr(0, 1);
	int fd = perf_open(&attr, -1, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static bool has_cpu(const struct clock_events *events, int cpu)
{
	for (size_t i = 0; i < events->count; i++)
		if (events->items[i].cpu == cpu)
			return true;
	return false;
}

/* One event on each CPU that has none yet. Returns 0 or a negative errno, and never logs. */
static int open_events(struct clock_events *events, const int *cpus, int count)
{
	struct clock_cpu *items;
	int fd;

	items = reallocarray(events->items, events->count + (size_t)count, sizeof(*items));
	if (!items)
		return -ENOMEM;
	events->items = items;
	for (int i = 0; i < count; i++) {
		if (has_cpu(events, cpus[i]))
			continue;
		fd = perf_open(&events->attr, -1, cpus[i]);
		/* A CPU may have gone off line since. */
		if (fd == -ENODEV || fd == -ENXIO)
			continue;
		if (fd < 0)
			return fd;
		items[events->count++] = (struct clock_cpu){ .cpu = cpus[i], .fd = fd };
	}
	return 0;
}

int clock_open(enum live_clock clock, uint32_t frequency, struct clock_events *out)
{
	uint64_t cycles = clock == LIVE_CLOCK_CPU ? 0 : cycles_per_second();
	struct clock_events events = { .attr = clock_attr(cycles, frequency) };
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
	err = open_events(&events, cpus, count);
	/* A counter that counts may still be taken for good by others, on this CPU or that. */
	if (err && cycles && clock == LIVE_CLOCK_AUTO) {
		clock_close(&events);
		events.attr = clock_attr(0, frequency);
		err = open_events(&events, cpus, count);
	}
	free(cpus);
	if (err) {
		explain(err);
		clock_close(&events);
		return err == -EACCES ? -EPERM : err;
	}
	*out = events;
	return 0;
}

bool clock_is_cycles(const struct clock_events *events)
{
	return events->attr.type == PERF_TYPE_HARDWARE;
}

int clock_attach(struct clock_events *events, struct bpf_program *program)
{
	for (size_t i = 0; i < events->count; i++) {
		struct clock_cpu *item = &events->items[i];

		if (item->link)
			continue;
		item->link = bpf_program__attach_perf_event(program, item->fd);
		if (!item->link) {
			int err = -errno;

			log_error("sampling program: cannot be attached: %s", strerror(errno));
			return err;
		}
		/* The link owns it now. */
		item->fd = -1;
	}
	return 0;
}

/* Forgets the CPUs that are gone: the kernel does not start their events again. */
static void drop_gone(struct clock_events *events, const int *cpus, int count)
{
	size_t kept = 0;

	for (size_t i = 0; i < events->count; i++) {
		bool on_line = false;

		for (int k = 0; k < count && !on_line; k++)
			on_line = cpus[k] == events->items[i].cpu;
		if (on_line)
			events->items[kept++] = events->items[i];
		else
			bpf_link__destroy(events->items[i].link);
	}
	events->count = kept;
}

int clock_follow_cpus(struct clock_events *events, struct bpf_program *program)
{
	int *cpus, count = online_cpus(&cpus), err = 0;
	size_t had = events->count;
	bool changed = false;

	if (count < 0)
		return 0;
	for (int i = 0; i < count; i++)
		changed |= !has_cpu(events, cpus[i]);
	if (changed || (size_t)count != had) {
		drop_gone(events, cpus, count);
		err = open_events(events, cpus, count);
		if (!err)
			err = clock_attach(events, program);
		log_info("CPUs on line: %d, %zu are sampled", count, events->count);
	}
	free(cpus);
	return err;
}

void clock_detach(struct clock_events *events)
{
	for (size_t i = 0; i < events->count; i++) {
		bpf_link__destroy(events->items[i].link);
		events->items[i].link = NULL;
	}
}

void clock_close(struct clock_events *events)
{
	clock_detach(events);
	for (size_t i = 0; i < events->count; i++)
		if (events->items[i].fd >= 0)
			close(events->items[i].fd);
	free(events->items);
	*events = (struct clock_events){ 0 };
}
