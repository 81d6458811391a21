/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_COST_H
#define JVMSCOPE_COST_H

#include <stdint.h>

struct bpf_object;

/* What the tool itself takes. */

uint64_t cost_own_cpu_ns(void); /* user and system, since the start */
uint64_t cost_own_rss_bytes(void);

/* Kernel memory of all maps of the object, as the kernel accounts it. */
uint64_t cost_map_bytes(const struct bpf_object *object);

/* One key of a per-CPU array of u64, summed over all CPUs. 0 when it cannot be read. */
uint64_t cost_percpu_sum(int map_fd, uint32_t key);

#endif
