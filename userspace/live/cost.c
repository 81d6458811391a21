/* SPDX-License-Identifier: Apache-2.0 */
#include "live/cost.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "live/procfile.h"

uint64_t cost_own_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

uint64_t cost_own_rss_bytes(void)
{
	int64_t kib = 0;

	procfile_number("/proc/self/status", "VmRSS:", 10, &kib);
	return (uint64_t)kib * 1024;
}

static uint64_t memlock_of(int fd)
{
	int64_t bytes = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	procfile_number(path, "memlock:", 10, &bytes);
	return (uint64_t)bytes;
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
