/* SPDX-License-Identifier: Apache-2.0 */
#include "target/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

/* A line for each CPU, and a number for each interrupt: 60 KiB with 512 CPUs. */
#define STAT_MAX    (256u << 10)
#define MEMINFO_MAX 8192u

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, COLUMNS };

/* What follows a key at the start of a line, or NULL. */
static const char *behind(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len))
			return line + len;
	}
	return NULL;
}

static bool number_behind(const char *text, const char *key, uint64_t *out)
{
	const char *at = behind(text, key);
	char *end;

	if (!at)
		return false;
	errno = 0;
	*out = strtoull(at, &end, 10);
	return end != at && !errno;
}

static uint64_t ns_of(uint64_t ticks)
{
	uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);

	return ticks / per_second * NS_PER_S + ticks % per_second * NS_PER_S / per_second;
}

int machine_cpu_parse(const char *text, struct machine_cpu *out)
{
	const char *at = behind(text, "cpu ");
	struct machine_cpu cpu = { 0 };
	uint64_t ticks[COLUMNS];
	char *end;

	/* Later columns are parts of the first two. */
	for (int column = 0; column < COLUMNS; column++, at = end) {
		if (!at)
			return -EBADMSG;
		ticks[column] = strtoull(at, &end, 10);
		if (end == at)
			return -EBADMSG;
	}
	cpu.user_ns = ns_of(ticks[USER] + ticks[NICE]);
	cpu.system_ns = ns_of(ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ]);
	cpu.busy_ns = cpu.user_ns + cpu.system_ns + ns_of(ticks[STEAL]);
	cpu.all_ns = cpu.busy_ns + ns_of(ticks[IDLE] + ticks[IOWAIT]);
	if (!number_behind(text, "ctxt ", &cpu.context_switches))
		return -EBADMSG;
	*out = cpu;
	return 0;
}

/* The difference of two amounts that were counted one after the other. */
static uint64_t without(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

int machine_memory_parse(const char *text, struct machine_memory *out)
{
	uint64_t total, available, swap, swap_free;

	if (!number_behind(text, "MemTotal:", &total) ||
	    !number_behind(text, "MemAvailable:", &available) ||
	    !number_behind(text, "SwapTotal:", &swap) ||
	    !number_behind(text, "SwapFree:", &swap_free))
		return -EBADMSG;
	*out = (struct machine_memory){
		.total = total * 1024,
		.used = without(total, available) * 1024,
		.swap_total = swap * 1024,
		.swap_used = without(swap, swap_free) * 1024,
	};
	return 0;
}

/* The file as text, at most size - 1 bytes. Returns 0 or a negative errno. */
static int read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	size_t len = 0;
	ssize_t got;

	*text = 0;
	if (fd < 0)
		return -errno;
	do {
		got = read(fd, text + len, size - 1 - len);
		if (got > 0)
			len += (size_t)got;
	} while (got > 0 && len < size - 1);
	if (got < 0)
		err = -errno;
	close(fd);
	text[len] = 0;
	return err;
}

int machine_cpu_read(struct machine_cpu *out)
{
	char *text = malloc(STAT_MAX);
	int err;

	if (!text)
		return -ENOMEM;
	err = read_file("/proc/stat", text, STAT_MAX);
	if (!err)
		err = machine_cpu_parse(text, out);
	free(text);
	return err;
}

int machine_memory_read(struct machine_memory *out)
{
	char text[MEMINFO_MAX];
	int err = read_file("/proc/meminfo", text, sizeof(text));

	return err ? err : machine_memory_parse(text, out);
}
