/* SPDX-License-Identifier: Apache-2.0 */
#include "live/cost.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

uint64_t cost_own_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

uint64_t cost_own_rss_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long size = 0, resident = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	fclose(file);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t memlock_of(int fd)
{
	char path[64], line[128];
	unsigned long long bytes = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	fclose(file);
	return bytes;
}

uint64_t cost_map_bytes(const struct bpf_object *object)
{
	struct bpf_map *map;
	uint64_t sum = 0;

	bpf_object__for_each_map(map, object) sum += memlock_of(bpf_map__fd(map));
	return sum;
}

uint64_t cost_percpu_sum(int map_fd, uint32_t key)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *values, sum = 0;

	if (cpus <= 0)
		return 0;
	values = calloc((size_t)cpus, sizeof(*values));
	if (values && bpf_map_lookup_elem(map_fd, &key, values) == 0)
		for (int i = 0; i < cpus; i++)
			sum += values[i];
	free(values);
	return sum;
}
