/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "live/probes.h"
#include "target/insn.h"
#include "target/maps.h"

/* What a hit of a probe costs on this machine beside its program: tried on a function of ours. */

#define ROUNDS	    9
#define CALLS	    500
#define TRAP_NS	    430.0 /* where it cannot be tried */
#define TRAP_MAX_NS 20000.0

/* Something a probe can be on: not inlined, not folded, and it does something. */
static volatile uint32_t touched;

__attribute__((noinline)) static void probed(uint32_t value)
{
	touched = value + touched;
}

static double time_round(void)
{
	struct timespec start, end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	for (uint32_t i = 0; i < CALLS; i++)
		probed(i);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) /
	       CALLS;
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double time_calls(void)
{
	double rounds[ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		rounds[i] = time_round();
	qsort(rounds, ROUNDS, sizeof(rounds[0]), ascending);
	return rounds[ROUNDS / 2];
}

/* Where the probe is to be in our own file. Returns 0 or a negative errno. */
static int find_site(uint64_t *file_offset)
{
	uint8_t code[INSN_BYTES_MAX];
	struct insn_site site;
	int err;

	memcpy(code, (const void *)probed, sizeof(code));
	site = insn_site(code, sizeof(code));
	if (!site.emulated)
		return -ENOENT;
	err = maps_own_offset((const void *)probed, file_offset);
	if (!err)
		*file_offset += site.offset;
	return err;
}

double probes_trap_ns(const struct bpf_object *object, const char *group, enum probe_links links)
{
	struct probe_set set = { .count = 1, .multi = { -1, -1 }, .pid = getpid() };
	double without = time_calls(), with;

	if (find_site(&set.sites[0].file_offset))
		return TRAP_NS;
	set.file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (set.file < 0)
		return TRAP_NS;
	probes_borrow(&set, object, group, links);
	if (probes_attach(&set)) {
		probes_free(&set);
		return TRAP_NS;
	}
	with = time_calls();
	probes_free(&set);
	return with - without > 0 && with - without < TRAP_MAX_NS ? with - without : TRAP_NS;
}
