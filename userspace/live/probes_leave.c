/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "live/probes.h"

/* The part of probes.h for the end of a recording. */

#define NICE_USUAL 0
#define NICE_BEST  (-20)

static bool add_link(struct probes_leaving *leaving, int link)
{
	size_t capacity = leaving->capacity ? leaving->capacity * 2 : 64;
	int *links;

	if (leaving->count == leaving->capacity) {
		links = reallocarray(leaving->links, capacity, sizeof(*links));
		if (!links)
			return false;
		leaving->links = links;
		leaving->capacity = capacity;
	}
	leaving->links[leaving->count++] = link;
	return true;
}

void probes_leave(struct probe_set *set, struct probes_leaving *leaving)
{
	if (set->links == PROBE_SINGLE)
		return;
	for (size_t i = 0; i < 2 && set->attached; i++)
		if (set->multi[i] >= 0 && add_link(leaving, set->multi[i]))
			set->multi[i] = -1;
	probes_free(set);
}

static void *close_links(void *arg)
{
	struct probes_leaving *leaving = arg;
	size_t at;

	while ((at = __atomic_fetch_add(&leaving->next, 1, __ATOMIC_RELAXED)) < leaving->count) {
		close(leaving->links[at]);
		__atomic_store_n(&leaving->end_ns, clock_monotonic_ns(), __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Beside many threads that want a CPU it would wait for several turns: see cli/hurry.h. */
static void *hurry_to_close(void *arg)
{
	errno = 0;
	if (getpriority(PRIO_PROCESS, 0) == NICE_USUAL && !errno)
		setpriority(PRIO_PROCESS, 0, NICE_BEST);
	return close_links(arg);
}

void probes_close(struct probes_leaving *leaving)
{
	leaving->start_ns = clock_monotonic_ns();
	while (leaving->thread_count < PROBES_LEAVING_THREADS &&
	       leaving->thread_count < leaving->count &&
	       !pthread_create(&leaving->threads[leaving->thread_count], NULL, hurry_to_close,
			       leaving))
		leaving->thread_count++;
}

void probes_wait(struct probes_leaving *leaving)
{
	/* Those for which there was no thread. */
	close_links(leaving);
	for (size_t i = 0; i < leaving->thread_count; i++)
		pthread_join(leaving->threads[i], NULL);
	if (leaving->count)
		log_debug("probes: %zu links were given up in %.1f ms", leaving->count,
			  (double)(leaving->end_ns - leaving->start_ns) / 1e6);
	free(leaving->links);
	*leaving = (struct probes_leaving){ 0 };
}
