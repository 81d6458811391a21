/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "target/cgroup.h"
#include "target/container.h"
#include "target/smaps.h"

static void check_maps(const struct maps *maps, size_t size)
{
	for (size_t i = 0; i < maps->count; i++) {
		FUZZ_ASSERT(maps->items[i].start < maps->items[i].end);
		FUZZ_ASSERT(i == 0 || maps->items[i - 1].end <= maps->items[i].start);
		FUZZ_ASSERT(maps_find(maps, maps->items[i].start) == &maps->items[i]);
		FUZZ_ASSERT(strlen(maps->items[i].path) < size);
	}
}

/* A maps file, the same bytes as smaps, as a cgroup path, and as mounts and groups of one. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = fuzz_text(bytes, size);
	char *again = fuzz_text(bytes, size);
	char *mounts = fuzz_text(bytes, size);
	char *groups = fuzz_text(bytes, size);
	struct container container = { 0 };
	struct cgroup cgroup;
	struct smaps smaps;
	struct maps maps;

	if (cgroup_of_text(mounts, groups, &cgroup))
		for (int i = 0; i < CGROUP_CONTROLLERS; i++)
			FUZZ_ASSERT(!cgroup.place[i].version ||
				    strlen(cgroup.place[i].own) > strlen(cgroup.place[i].top));
	free(mounts);
	free(groups);
	container_of_path(text, &container);
	if (!maps_parse(text, &maps)) {
		check_maps(&maps, size);
		maps_find_file(&maps, "libjvm.so");
		maps_free(&maps);
	}
	if (!smaps_parse(again, &smaps)) {
		check_maps(&smaps.maps, size);
		smaps_free(&smaps);
	}
	return 0;
}
