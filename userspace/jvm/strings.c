/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/target.h"

#define STRING_MAX    256	 /* bytes with the NUL; 118 is the largest seen */
#define GAP_MAX	      (16 << 10) /* reading this much for nothing is cheaper than a call */
#define REGION_MAX    (4u << 20) /* all strings of libjvm lie within 2 MiB */
#define TOTAL_MAX     (32u << 20)
#define REGIONS_MAX   1024 /* libjvm has one */
#define PAGE_BYTES    4096ull
#define PAGE_OF(addr) ((addr) & ~(PAGE_BYTES - 1))

static int compare_addresses(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* A region may reach over the end of a mapping: what is there is read page by page. */
static int read_pages(const struct target *t, const struct string_region *region)
{
	uint64_t end = region->start + region->size;
	uint64_t next;
	int err;

	for (uint64_t at = region->start; at < end; at = next) {
		next = PAGE_OF(at) + PAGE_BYTES < end ? PAGE_OF(at) + PAGE_BYTES : end;
		err = target_read(t, at, region->bytes + (at - region->start), next - at);
		if (err == -ESRCH)
			return err;
	}
	return 0;
}

static int add_region(const struct target *t, struct strings *set, uint64_t start, uint64_t end)
{
	struct string_region *regions;
	struct string_region region = { .start = start, .size = end - start };
	int err;

	regions = reallocarray(set->regions, set->count + 1, sizeof(*regions));
	if (!regions)
		return -ENOMEM;
	set->regions = regions;
	region.bytes = calloc(1, region.size);
	if (!region.bytes)
		return -ENOMEM;
	set->regions[set->count++] = region;

	err = target_read(t, start, region.bytes, region.size);
	return err == -EFAULT ? read_pages(t, &region) : err;
}

/* How many of the sorted addresses fall into one region that starts at the first. */
static size_t region_length(const uint64_t *addresses, size_t count)
{
	size_t n = 1;

	while (n < count && addresses[n] - addresses[n - 1] < STRING_MAX + GAP_MAX &&
	       addresses[n] - addresses[0] < REGION_MAX)
		n++;
	return n;
}

int strings_read(const struct target *t, uint64_t *addresses, size_t count, struct strings *out)
{
	struct strings set = { 0 };
	uint64_t start, end, total = 0;
	size_t n;
	int err;

	if (count)
		qsort(addresses, count, sizeof(*addresses), compare_addresses);
	for (size_t at = 0; at < count; at += n) {
		n = region_length(addresses + at, count - at);
		start = addresses[at];
		/* The first page and the kernel's half are no process's strings. */
		if (start < PAGE_BYTES || addresses[at + n - 1] > INT64_MAX - STRING_MAX)
			continue;
		end = addresses[at + n - 1] + STRING_MAX;
		total += end - start;
		if (total > TOTAL_MAX || set.count == REGIONS_MAX)
			break;
		err = add_region(t, &set, start, end);
		if (err) {
			strings_free(&set);
			return err;
		}
	}
	*out = set;
	return 0;
}

const char *strings_get(const struct strings *strings, uint64_t addr)
{
	const struct string_region *region;
	size_t low = 0, high = strings->count, middle, left;
	const char *text;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strings->regions[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	region = &strings->regions[low - 1];
	if (addr - region->start >= region->size)
		return NULL;
	left = region->size - (addr - region->start);
	text = region->bytes + (addr - region->start);
	return memchr(text, 0, left < STRING_MAX ? left : STRING_MAX) ? text : NULL;
}

void strings_free(struct strings *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		free(strings->regions[i].bytes);
	free(strings->regions);
	*strings = (struct strings){ 0 };
}
