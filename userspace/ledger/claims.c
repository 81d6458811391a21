/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/claims.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "target/pagemap.h"
#include "target/smaps.h"
#include "target/target.h"

#define WORDS_AT_ONCE 4096
#define NOBODY	      UINT32_MAX
#define OTHERS	      "others"
#define PAGE_MASK     (PAGE_BYTES - 1ull)

/* ---- claiming */

static struct claim_part *find_part(struct claims *claims, enum rec_line line, const char *name)
{
	for (size_t i = 0; i < claims->part_count; i++)
		if (claims->parts[i].line == line && !strcmp(claims->parts[i].name, name))
			return &claims->parts[i];
	return NULL;
}

/* The last places are kept for the others of each line. */
static struct claim_part *get_part(struct claims *claims, enum rec_line line, const char *name)
{
	struct claim_part *part = find_part(claims, line, name);

	if (part)
		return part;
	if (claims->part_count >= CLAIMS_PARTS_MAX - REC_LINE_NR && strcmp(name, OTHERS) != 0)
		return get_part(claims, line, OTHERS);
	if (!claims->parts)
		claims->parts = calloc(CLAIMS_PARTS_MAX, sizeof(*claims->parts));
	if (!claims->parts || claims->part_count == CLAIMS_PARTS_MAX)
		return NULL;
	part = &claims->parts[claims->part_count++];
	part->line = line;
	snprintf(part->name, sizeof(part->name), "%s", name);
	return part;
}

/* The first claim that ends behind an address. */
static size_t first_behind(const struct claims *claims, uint64_t addr)
{
	size_t low = 0, high = claims->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (claims->items[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert(struct claims *claims, size_t at, const struct claim *claim)
{
	size_t capacity = claims->capacity ? claims->capacity * 2 : 256;
	struct claim *items = claims->items;

	if (claims->count == claims->capacity) {
		items = reallocarray(items, capacity, sizeof(*items));
		if (!items) {
			claims->err = -ENOMEM;
			return;
		}
		claims->items = items;
		claims->capacity = capacity;
	}
	memmove(&items[at + 1], &items[at], (claims->count - at) * sizeof(*items));
	items[at] = *claim;
	claims->count++;
}

struct claim_part *claims_add(struct claims *claims, enum rec_line line, const char *name,
			      uint64_t start, uint64_t end)
{
	struct claim_part *part = get_part(claims, line, name);
	struct claim claim = { .start = start & ~PAGE_MASK };
	size_t at;

	if (!part) {
		claims->err = -ENOMEM;
		return NULL;
	}
	claim.part = (uint32_t)(part - claims->parts);
	end = end > UINT64_MAX - PAGE_MASK ? end & ~PAGE_MASK : (end + PAGE_MASK) & ~PAGE_MASK;
	at = first_behind(claims, claim.start);
	while (claim.start < end && !claims->err) {
		bool last = at == claims->count || claims->items[at].start >= end;

		claim.end = last ? end : claims->items[at].start;
		if (claim.start < claim.end)
			insert(claims, at++, &claim);
		if (last)
			break;
		claim.start = claims->items[at].end;
		at++;
	}
	return part;
}

int claims_gap(const struct claims *claims, uint64_t limit, uint64_t *start, uint64_t *end)
{
	size_t at = first_behind(claims, *start);

	while (at < claims->count && claims->items[at].start <= *start) {
		*start = claims->items[at].end;
		at++;
	}
	if (*start >= limit)
		return -ENOENT;
	*end = at < claims->count && claims->items[at].start < limit ? claims->items[at].start
								     : limit;
	return 0;
}

/* ---- counting */

/* A range of a mapping with one owner, and its pages. */
struct segment {
	uint64_t start;
	uint64_t end;
	uint32_t part; /* NOBODY */
	uint64_t sure, unsure, swapped;
};

struct tally {
	struct claims *claims;
	const struct target *target;
	struct rec_ledger *out;
	struct segment *segments; /* owned; of the mapping at hand */
	size_t count;
	size_t capacity;
};

static int add_segment(struct tally *tally, uint64_t start, uint64_t end, uint32_t part)
{
	size_t capacity = tally->capacity ? tally->capacity * 2 : 64;
	struct segment *segments;

	if (tally->count == tally->capacity) {
		segments = reallocarray(tally->segments, capacity, sizeof(*segments));
		if (!segments)
			return -ENOMEM;
		tally->segments = segments;
		tally->capacity = capacity;
	}
	tally->segments[tally->count++] =
		(struct segment){ .start = start, .end = end, .part = part };
	return 0;
}

static int split_mapping(struct tally *tally, const struct mapping *mapping)
{
	const struct claims *claims = tally->claims;
	size_t at = first_behind(claims, mapping->start);
	uint64_t start = mapping->start;
	int err = 0;

	tally->count = 0;
	while (!err && start < mapping->end) {
		bool none = at == claims->count || claims->items[at].start >= mapping->end;
		bool gap = none || claims->items[at].start > start;
		uint64_t end = none  ? mapping->end
			       : gap ? claims->items[at].start
				     : claims->items[at].end;

		if (end > mapping->end)
			end = mapping->end;
		err = add_segment(tally, start, end, gap ? NOBODY : claims->items[at].part);
		at += !gap;
		start = end;
	}
	return err;
}

static void count_words(struct segment *segment, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (pagemap_is_zero_or_shared(words[i]))
			segment->unsure++;
		else if (words[i] & PAGEMAP_PRESENT)
			segment->sure++;
		else if (words[i] & PAGEMAP_SWAPPED)
			segment->swapped++;
	}
}

static int read_pages(struct tally *tally, struct segment *segment)
{
	uint64_t words[WORDS_AT_ONCE];
	uint64_t left;
	int err = 0;

	for (uint64_t at = segment->start; at < segment->end && !err;) {
		left = (segment->end - at) / PAGE_BYTES;
		if (left > WORDS_AT_ONCE)
			left = WORDS_AT_ONCE;
		err = pagemap_read(tally->target->pagemap, at, left, words);
		if (!err)
			count_words(segment, words, left);
		at += left * PAGE_BYTES;
	}
	return err == -ESRCH ? err : 0;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * Pages that may be the zero page count or do not count, whichever is nearer to what smaps says,
 * which knows. What is left between the two was faulted in or freed meanwhile.
 */
static void settle(struct tally *tally, uint64_t rss)
{
	uint64_t sure = 0, unsure = 0, sum;
	bool all;

	for (size_t i = 0; i < tally->count; i++) {
		sure += tally->segments[i].sure * PAGE_BYTES;
		unsure += tally->segments[i].unsure * PAGE_BYTES;
	}
	all = distance(sure + unsure, rss) < distance(sure, rss);
	sum = all ? sure + unsure : sure;
	for (size_t i = 0; all && i < tally->count; i++)
		tally->segments[i].sure += tally->segments[i].unsure;
	tally->out->lines[REC_LINE_MOVED].resident += (int64_t)(rss - sum);
}

static void add_row(struct rec_ledger_row *row, const struct segment *segment, bool accessible)
{
	uint64_t bytes = segment->end - segment->start;

	row->reserved += bytes;
	row->committed += accessible ? bytes : 0;
	row->resident += (int64_t)(segment->sure * PAGE_BYTES);
	row->swapped += segment->swapped * PAGE_BYTES;
}

static void add_segments(struct tally *tally, const struct mapping *mapping, bool accessible)
{
	for (size_t i = 0; i < tally->count; i++) {
		const struct segment *segment = &tally->segments[i];
		enum rec_line line = REC_LINE_UNEXPLAINED;

		if (segment->part != NOBODY) {
			line = tally->claims->parts[segment->part].line;
			add_row(&tally->claims->parts[segment->part].row, segment, accessible);
		} else if (segment->sure) {
			log_debug("pid %d: unexplained: %" PRIu64 " KiB in %" PRIx64 "-%" PRIx64
				  " of %" PRIx64 "-%" PRIx64 " %s",
				  tally->target->pid, segment->sure * 4, segment->start,
				  segment->end, mapping->start, mapping->end, mapping->path);
		}
		add_row(&tally->out->lines[line], segment, accessible);
	}
}

static int tally_mapping(struct tally *tally, const struct mapping *mapping,
			 const struct smap *smap)
{
	int err = split_mapping(tally, mapping);

	if (err || !tally->count)
		return err;
	if (tally->count == 1 || !(smap->rss + smap->swap)) {
		tally->segments[0].sure = smap->rss / PAGE_BYTES;
		tally->segments[0].swapped = smap->swap / PAGE_BYTES;
	} else {
		for (size_t i = 0; i < tally->count && !err; i++)
			err = read_pages(tally, &tally->segments[i]);
		settle(tally, smap->rss);
	}
	add_segments(tally, mapping, mapping->readable || mapping->executable || smap->writable);
	return err;
}

int claims_tally(struct claims *claims, const struct smaps *smaps, const struct target *t,
		 struct rec_ledger *out)
{
	struct tally tally = { .claims = claims, .target = t, .out = out };
	int err = claims->err;

	for (size_t i = 0; i < smaps->maps.count && !err; i++) {
		const struct mapping *mapping = &smaps->maps.items[i];

		/* The vsyscall page is no memory of the process. */
		if (mapping->start > INT64_MAX)
			continue;
		err = tally_mapping(&tally, mapping, &smaps->items[i]);
	}
	for (size_t i = 0; i < claims->part_count; i++)
		out->lines[claims->parts[i].line].count += claims->parts[i].row.count;
	free(tally.segments);
	return err;
}

void claims_free(struct claims *claims)
{
	free(claims->items);
	free(claims->parts);
	*claims = (struct claims){ 0 };
}
