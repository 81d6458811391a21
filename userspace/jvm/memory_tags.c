/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "jvm/memory_impl.h"
#include "target/target.h"

#define SUMMARY	       2 /* NMT_TrackingLevel: summary and detail on all JDKs */
#define DETAIL	       3
#define SNAPSHOT_WORDS 1024

/* The names are an array of pointers, or of pairs whose second one is what jcmd shows. */
static uint32_t read_names(const struct vm_memory *memory, uint64_t names[VM_TAGS_MAX])
{
	bool pairs = memory->symbol.tag_pairs != 0;
	uint64_t table = pairs ? memory->symbol.tag_pairs : memory->symbol.tag_names;
	uint64_t bytes = pairs ? memory->size.tag_pairs : memory->size.tag_names;
	uint32_t step = pairs ? 2 : 1;
	uint64_t words[2 * VM_TAGS_MAX];
	uint32_t count = (uint32_t)(bytes / 8);

	if (!table || count > step * VM_TAGS_MAX ||
	    target_read(memory->target, table, words, count * sizeof(*words)))
		return 0;
	for (uint32_t i = 0; i < count / step; i++)
		names[i] = words[i * step + step - 1];
	return count / step;
}

/* All words of a snapshot: the same number for each tag. Returns how many that is. */
static uint32_t read_snapshot(const struct vm_memory *memory, uint64_t addr, uint64_t bytes,
			      uint64_t words[SNAPSHOT_WORDS], uint32_t tags)
{
	uint32_t count = (uint32_t)(bytes / 8);

	if (!addr || !tags || count > SNAPSHOT_WORDS ||
	    target_read(memory->target, addr, words, count * sizeof(*words)))
		return 0;
	return count / tags;
}

static bool is_on(const struct vm_memory *memory)
{
	uint32_t level;

	return memory->symbol.tracking_level &&
	       !target_read_u32(memory->target, memory->symbol.tracking_level, &level) &&
	       (level == SUMMARY || level == DETAIL);
}

/* Blocks come before arenas; each has a count and bytes, and their peaks in some JDKs. */
static void fill_malloc(struct vm_tag *tag, const uint64_t *words, uint32_t count)
{
	if (count < 4)
		return;
	tag->malloc_count = words[0];
	tag->malloc_bytes = words[1];
	tag->arena_count = words[count / 2];
	tag->arena_bytes = words[count / 2 + 1];
}

uint32_t vm_memory_tags(const struct vm_memory *memory, struct vm_tag tags[VM_TAGS_MAX])
{
	uint64_t names[VM_TAGS_MAX], blocks[SNAPSHOT_WORDS], ranges[SNAPSHOT_WORDS];
	uint32_t count, of_blocks, of_ranges;

	if (!is_on(memory))
		return 0;
	count = read_names(memory, names);
	of_blocks = read_snapshot(memory, memory->symbol.malloc_snapshot,
				  memory->size.malloc_snapshot, blocks, count);
	of_ranges = read_snapshot(memory, memory->symbol.virtual_snapshot,
				  memory->size.virtual_snapshot, ranges, count);
	for (uint32_t i = 0; i < count; i++) {
		tags[i] = (struct vm_tag){ .name = "?" };
		/* The page of a name may be absent. */
		if (target_read_string(memory->target, names[i], tags[i].name, VM_TAG_NAME_MAX) < 0)
			strcpy(tags[i].name, "?");
		fill_malloc(&tags[i], &blocks[(size_t)i * of_blocks], of_blocks);
		if (of_ranges >= 2) {
			tags[i].reserved = ranges[(size_t)i * of_ranges];
			tags[i].committed = ranges[(size_t)i * of_ranges + 1];
		}
	}
	return count;
}
