/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "jvm/memory.h"
#include "ledger/arenas.h"
#include "ledger/claims.h"
#include "ledger/counters.h"
#include "ledger/files.h"
#include "ledger/libc.h"
#include "model/ledger.h"
#include "model/native.h"
#include "model/recording.h"
#include "model/series.h"
#include "target/smaps.h"
#include "target/target.h"

#define SMAPS_TRIES 3 /* when a mapping grew while it was read */

struct ledger {
	struct target *target;	  /* owned; reads only what is present */
	struct vm_memory *memory; /* owned */
	struct libc libc;
	struct vm_buffer_classes buffer_classes;
	struct counters counters;
	/* the reading at hand */
	bool reading;
	struct claims claims;
	struct arenas arenas;
	struct rec_ledger out; /* strings, parts and tags come when it is put */
	struct vm_tag tags[VM_TAGS_MAX];
	uint32_t tag_count;
	const char *allocator;
	char allocator_name[64];
};

/* ---- opening */

int ledger_open(pid_t pid, const struct vm_kind *kind, struct ledger **out)
{
	struct ledger *ledger = calloc(1, sizeof(*ledger));
	struct maps maps = { 0 };
	int err;

	if (!ledger)
		return -ENOMEM;
	err = target_open(pid, &ledger->target);
	if (!err)
		err = target_only_present(ledger->target);
	if (!err)
		err = maps_read(pid, &maps);
	if (!err)
		err = vm_memory_open(ledger->target, &maps, kind, &ledger->memory);
	if (!err)
		libc_open(ledger->target, &maps, &ledger->libc);
	maps_free(&maps);
	if (err) {
		ledger_close(ledger);
		return err;
	}
	*out = ledger;
	return 0;
}

static void forget_reading(struct ledger *ledger)
{
	claims_free(&ledger->claims);
	arenas_free(&ledger->arenas);
	ledger->out = (struct rec_ledger){ 0 };
	ledger->reading = false;
}

void ledger_close(struct ledger *ledger)
{
	if (!ledger)
		return;
	forget_reading(ledger);
	counters_free(&ledger->counters);
	vm_memory_close(ledger->memory);
	target_close(ledger->target);
	free(ledger);
}

/* ---- a reading */

static const enum rec_line line_of_use[] = {
	[VM_JAVA_HEAP] = REC_LINE_JAVA_HEAP,
	[VM_CDS] = REC_LINE_CDS,
	[VM_CODE] = REC_LINE_CODE,
	[VM_METASPACE] = REC_LINE_METASPACE,
	[VM_CLASS_SPACE] = REC_LINE_CLASS_SPACE,
	[VM_GC] = REC_LINE_GC,
	[VM_PERF_DATA] = REC_LINE_PERF_DATA,
	[VM_OTHER] = REC_LINE_VM_OTHER,
};

/* What must wait until others have claimed. */
#define LOOSE_MAX 4096

struct areas {
	struct claims *claims;
	struct vm_area *loose; /* owned */
	size_t count;
};

static void claim_area(const struct vm_area *area, void *ctx)
{
	struct areas *areas = ctx;

	if (!area->loose)
		claims_add(areas->claims, line_of_use[area->use], area->what, area->start,
			   area->end);
	else if (areas->count < LOOSE_MAX)
		areas->loose[areas->count++] = *area;
}

static void claim_loose(const struct areas *areas)
{
	for (size_t i = 0; i < areas->count; i++)
		claims_add(areas->claims, line_of_use[areas->loose[i].use], areas->loose[i].what,
			   areas->loose[i].start, areas->loose[i].end);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int read_smaps(const struct ledger *ledger, struct smaps *out)
{
	int err = -EAGAIN;

	for (int i = 0; i < SMAPS_TRIES && err == -EAGAIN; i++)
		err = smaps_read(ledger->target->pid, out);
	return err;
}

/* Every owner, in the order in which of two the first is right. */
static int claim_all(struct ledger *ledger, const struct smaps *smaps, bool detail)
{
	struct areas areas = { .claims = &ledger->claims };
	int err;

	areas.loose = calloc(LOOSE_MAX, sizeof(*areas.loose));
	if (!areas.loose)
		return -ENOMEM;
	err = vm_memory_areas(ledger->memory, &smaps->maps, claim_area, &areas);
	if (err)
		goto out;
	libc_claim_stacks(&ledger->libc, ledger->target, smaps, &ledger->claims, detail,
			  &ledger->out.threads);
	err = arenas_find(&ledger->arenas, ledger->target, smaps, &ledger->libc, &ledger->claims);
	if (err)
		goto out;
	claim_loose(&areas);
	files_claim(ledger->target, smaps, &ledger->claims);
	arenas_claim_blocks(&ledger->arenas, smaps, &ledger->claims);
	err = ledger->claims.err;
out:
	free(areas.loose);
	return err;
}

static void sum_mappings(const struct smaps *smaps, struct rec_ledger *out)
{
	for (size_t i = 0; i < smaps->maps.count; i++) {
		if (strstr(smaps->maps.items[i].path, "memfd:java_heap"))
			out->java_heap_pss += smaps->items[i].pss;
		out->hugetlb_bytes += smaps->items[i].hugetlb;
	}
}

/* What came or went since smaps was read belongs to nobody. */
static int add_drift(struct ledger *ledger)
{
	int64_t sum = 0;
	int err = smaps_rollup_rss(ledger->target->pid, &ledger->out.rss_bytes);

	if (!err)
		err = smaps_peak_rss(ledger->target->pid, &ledger->out.rss_peak_bytes);
	if (err)
		return err;
	for (int line = 0; line < REC_LINE_NR; line++)
		sum += ledger->out.lines[line].resident;
	ledger->out.lines[REC_LINE_MOVED].resident += (int64_t)ledger->out.rss_bytes - sum;
	return 0;
}

static void read_vm_counters(struct ledger *ledger)
{
	struct vm_buffers direct, mapped;

	ledger->tag_count = vm_memory_tags(ledger->memory, ledger->tags);
	vm_memory_buffers(ledger->memory, &ledger->buffer_classes, &direct, &mapped);
	ledger->out.direct = (struct rec_buffers){ direct.count, direct.capacity_bytes,
						   direct.reserved_bytes, direct.max_bytes };
	ledger->out.mapped = (struct rec_buffers){ mapped.count, mapped.capacity_bytes,
						   mapped.reserved_bytes, mapped.max_bytes };
}

int ledger_begin(struct ledger *ledger, bool detail)
{
	uint64_t start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	const char *allocator;
	struct smaps smaps;
	int err;

	forget_reading(ledger);
	ledger->out.time_ns = (int64_t)clock_ns(CLOCK_REALTIME);
	err = read_smaps(ledger, &smaps);
	if (err)
		return err;
	err = claim_all(ledger, &smaps, detail);
	if (!err)
		err = claims_tally(&ledger->claims, &smaps, ledger->target, &ledger->out);
	if (!err)
		err = add_drift(ledger);
	if (!err) {
		sum_mappings(&smaps, &ledger->out);
		allocator = files_allocator(&smaps);
		ledger->allocator_name[0] = 0;
		if (allocator)
			strncat(ledger->allocator_name, allocator,
				sizeof(ledger->allocator_name) - 1);
		read_vm_counters(ledger);
	}
	smaps_free(&smaps);
	ledger->out.cost_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns;
	ledger->reading = !err;
	if (err)
		forget_reading(ledger);
	return err;
}

bool ledger_step(struct ledger *ledger, uint64_t deadline_ns)
{
	uint64_t start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	bool done = arenas_walk(&ledger->arenas, deadline_ns);

	ledger->out.cost_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns;
	return done;
}

bool ledger_is_reading(const struct ledger *ledger)
{
	return ledger->reading;
}

/* ---- into the recording */

/* Free pages move from the one line to the other. */
static void split_malloc(struct ledger *ledger)
{
	struct rec_ledger_row *used = &ledger->out.lines[REC_LINE_MALLOC];
	struct rec_ledger_row *unused = &ledger->out.lines[REC_LINE_MALLOC_FREE];
	struct rec_malloc *found = &ledger->arenas.found;
	int64_t free_pages = (int64_t)ledger->arenas.free_resident;

	if (free_pages > used->resident)
		free_pages = used->resident;
	used->resident -= free_pages;
	unused->resident += free_pages;
	used->committed = found->in_use_bytes + found->mapped_bytes;
	used->count = found->in_use_count + found->mapped_count;
	unused->committed = found->free_bytes;
	ledger->out.malloc = *found;
}

static uint32_t text(struct recording *rec, const char *s)
{
	return rec_string(rec, s, strlen(s));
}

static void put_parts(struct ledger *ledger, struct recording *rec)
{
	struct rec_ledger *out = &ledger->out;

	out->parts = calloc(ledger->claims.part_count + 1, sizeof(*out->parts));
	if (!out->parts)
		return;
	out->part_count = ledger->claims.part_count;
	for (size_t i = 0; i < out->part_count; i++) {
		const struct claim_part *from = &ledger->claims.parts[i];

		out->parts[i] = (struct rec_ledger_part){ .line = from->line,
							  .name = text(rec, from->name),
							  .row = from->row };
	}
}

static void put_tags(struct ledger *ledger, struct recording *rec)
{
	struct rec_ledger *out = &ledger->out;

	if (!ledger->tag_count)
		return;
	out->nmt = calloc(ledger->tag_count, sizeof(*out->nmt));
	if (!out->nmt)
		return;
	out->nmt_count = ledger->tag_count;
	for (size_t i = 0; i < out->nmt_count; i++) {
		const struct vm_tag *tag = &ledger->tags[i];

		out->nmt[i] = (struct rec_nmt){ .tag = text(rec, tag->name),
						.malloc_bytes = tag->malloc_bytes,
						.malloc_count = tag->malloc_count,
						.arena_bytes = tag->arena_bytes,
						.arena_count = tag->arena_count,
						.reserved = tag->reserved,
						.committed = tag->committed };
	}
}

static void put_series(const struct rec_ledger *out, struct recording *rec)
{
	char name[64];

	for (int line = 0; line < REC_LINE_NR; line++) {
		snprintf(name, sizeof(name), "ledger_%s_bytes",
			 rec_line_info((enum rec_line)line)->name);
		rec_series_add(rec, out->jvm, name, out->time_ns, out->lines[line].resident);
	}
	rec_series_add(rec, out->jvm, "direct_buffer_bytes", out->time_ns,
		       (int64_t)out->direct.reserved_bytes);
}

/* What lived at all sites then, a moment ago. */
static void put_native(struct rec_ledger *out, const struct recording *rec)
{
	const struct rec_native_budget *native = rec_native_budget_get(rec, out->jvm);

	out->native_bytes = native ? native->live_bytes : 0;
	out->native_blocks = native ? native->live_blocks : 0;
}

void ledger_put(struct ledger *ledger, struct recording *rec, uint32_t jvm)
{
	if (!ledger->reading)
		return;
	arenas_stop(&ledger->arenas);
	split_malloc(ledger);
	ledger->out.jvm = jvm;
	ledger->out.allocator = text(rec, ledger->allocator_name);
	put_parts(ledger, rec);
	put_tags(ledger, rec);
	put_series(&ledger->out, rec);
	put_native(&ledger->out, rec);
	rec_ledger_add(rec, &ledger->out);
	forget_reading(ledger);
}

/* ---- cheap counters */

int ledger_count(struct ledger *ledger, struct recording *rec, uint32_t jvm, uint64_t *rss_bytes)
{
	return counters_add(&ledger->counters, ledger->target, ledger->memory, rec, jvm, rss_bytes);
}
