/* SPDX-License-Identifier: Apache-2.0 */
#include "model/native.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/native_calls.h"
#include "model/native_impl.h"
#include "model/recording_impl.h"

#define MAX_EVENTS 65536

const char *rec_native_use_name(enum rec_native_use use)
{
	static const char *const names[REC_NATIVE_USE_NR] = {
		[REC_NATIVE_HEAP] = "malloc",
		[REC_NATIVE_UNKNOWN_FREE] = "unknown_free",
	};

	return names[use];
}

const char *rec_native_state_name(enum rec_native_state state)
{
	static const char *const names[REC_NATIVE_STATE_NR] = {
		[REC_NATIVE_EXACT] = "exact",	    [REC_NATIVE_SAMPLED] = "sampled",
		[REC_NATIVE_SLICES] = "slices",	    [REC_NATIVE_COUNTERS] = "counters",
		[REC_NATIVE_DETACHED] = "detached",
	};

	return names[state];
}

struct rec_native *rec_native_of(struct recording *rec)
{
	if (!rec->native)
		rec->native = calloc(1, sizeof(*rec->native));
	if (!rec->native)
		rec->err = -ENOMEM;
	return rec->native;
}

/* Returns the place of a new row, zeroed, or NULL. */
static void *add_row(struct recording *rec, struct rec_rows *rows, size_t size, uint32_t max)
{
	void *items;
	char *row;

	if (rows->count >= max)
		return NULL;
	items = rec_grow(rec, rows->items, &rows->capacity, (size_t)rows->count + 1, size);
	if (!items)
		return NULL;
	rows->items = items;
	row = (char *)items + rows->count++ * size;
	memset(row, 0, size);
	return row;
}

/* ---- sites */

/* Strings and stacks are below 2^28 and 2^21, JVMs below 2^17: equal keys are rare, and looked at.
 */
static uint64_t site_key(const struct rec_native_site *site)
{
	return (uint64_t)site->stack << 43 ^ (uint64_t)site->tag << 20 ^ (uint64_t)site->jvm << 2 ^
	       (uint64_t)site->use;
}

static struct rec_native_site *find_site(const struct rec_native *native,
					 const struct rec_native_site *site)
{
	struct rec_native_site *sites = native->sites.items, *found;
	uint32_t id;

	if (!sites || !map64_get(&native->by_key, site_key(site), &id))
		return NULL;
	found = &sites[id - 1];
	return found->jvm == site->jvm && found->stack == site->stack && found->tag == site->tag &&
			       found->use == site->use
		       ? found
		       : NULL;
}

void rec_native_site_add(struct rec_native_site *to, const struct rec_native_site *from)
{
	to->allocated_blocks += from->allocated_blocks;
	to->allocated_bytes += from->allocated_bytes;
	to->freed_blocks += from->freed_blocks;
	to->freed_bytes += from->freed_bytes;
	to->untracked_blocks += from->untracked_blocks;
	to->untracked_bytes += from->untracked_bytes;
	to->error_bytes = hypot(to->error_bytes, from->error_bytes);
}

uint32_t rec_native_site(struct recording *rec, const struct rec_native_site *site)
{
	struct rec_native *native = rec_native_of(rec);
	struct rec_native_site *row;

	uint32_t id;

	row = native ? find_site(native, site) : NULL;
	if (row) {
		rec_native_site_add(row, site);
		return (uint32_t)(row - (struct rec_native_site *)native->sites.items) + 1;
	}
	row = native ? add_row(rec, &native->sites, sizeof(*row), REC_MAX_NATIVE_SITES) : NULL;
	if (!row)
		return 0;
	*row = *site;
	id = native->sites.count;
	if (map64_set(&native->by_key, site_key(site), id))
		rec->err = -ENOMEM;
	return id;
}

void rec_native_forget_sites(struct recording *rec, uint32_t jvm)
{
	struct rec_native_site *sites = rec->native ? rec->native->sites.items : NULL;

	for (uint32_t i = 0; sites && i < rec->native->sites.count; i++)
		if (sites[i].jvm == jvm)
			sites[i] = (struct rec_native_site){ .jvm = jvm,
							     .stack = sites[i].stack,
							     .tag = sites[i].tag,
							     .use = sites[i].use };
	for (uint32_t id = 1; id <= rec_native_calls_count(rec); id++) {
		struct rec_native_calls *calls = table_get(&rec->native->calls, id);

		if (calls->jvm == jvm)
			calls->sum = (struct rec_native_site){ .jvm = jvm,
							       .tag = calls->tag,
							       .use = calls->sum.use };
	}
}

struct rec_native_site *rec_native_site_get(const struct recording *rec, uint32_t id)
{
	struct rec_native_site *sites = rec->native ? rec->native->sites.items : NULL;

	return id && id <= rec_native_site_count(rec) ? &sites[id - 1] : NULL;
}

uint32_t rec_native_site_count(const struct recording *rec)
{
	return rec->native ? rec->native->sites.count : 0;
}

/* ---- counts */

void rec_native_count_set(struct recording *rec, uint32_t jvm, const char *name, uint64_t value)
{
	struct rec_native *native = rec_native_of(rec);
	uint32_t string = rec_string(rec, name, strlen(name));
	struct rec_native_count *row;

	if (!native)
		return;
	row = native->counts.items;
	for (uint32_t i = 0; i < native->counts.count; i++) {
		if (row[i].jvm == jvm && row[i].name == string) {
			row[i].value = value;
			return;
		}
	}
	row = add_row(rec, &native->counts, sizeof(*row), REC_MAX_QUALITY_ROWS);
	if (row)
		*row = (struct rec_native_count){ jvm, string, value };
}

const struct rec_native_count *rec_native_counts(const struct recording *rec, size_t *count)
{
	*count = rec->native ? rec->native->counts.count : 0;
	return *count ? rec->native->counts.items : NULL;
}

/* ---- budget */

struct rec_native_budget *rec_native_budget(struct recording *rec, uint32_t jvm)
{
	struct rec_native *native = rec_native_of(rec);
	struct rec_native_budget *row;

	if (!native)
		return NULL;
	row = native->budgets.items;
	for (uint32_t i = 0; i < native->budgets.count; i++)
		if (row[i].jvm == jvm)
			return &row[i];
	row = add_row(rec, &native->budgets, sizeof(*row), REC_MAX_JVMS);
	if (row)
		row->jvm = jvm;
	return row;
}

const struct rec_native_budget *rec_native_budgets(const struct recording *rec, size_t *count)
{
	*count = rec->native ? rec->native->budgets.count : 0;
	return *count ? rec->native->budgets.items : NULL;
}

const struct rec_native_budget *rec_native_budget_get(const struct recording *rec, uint32_t jvm)
{
	size_t count;
	const struct rec_native_budget *budgets = rec_native_budgets(rec, &count);

	for (size_t i = 0; i < count; i++)
		if (budgets[i].jvm == jvm)
			return &budgets[i];
	return NULL;
}

bool rec_native_live_known(const struct recording *rec, uint32_t jvm)
{
	const struct rec_native_budget *budget = rec_native_budget_get(rec, jvm);

	return !budget || budget->live_known;
}

void rec_budget_event(struct recording *rec, const struct rec_budget_event *event)
{
	struct rec_native *native = rec_native_of(rec);
	struct rec_budget_event *row;

	row = native ? add_row(rec, &native->events, sizeof(*row), MAX_EVENTS) : NULL;
	if (row)
		*row = *event;
}

const struct rec_budget_event *rec_budget_events(const struct recording *rec, size_t *count)
{
	*count = rec->native ? rec->native->events.count : 0;
	return *count ? rec->native->events.items : NULL;
}

/* ---- suspects */

void rec_native_suspect(struct recording *rec, const struct rec_native_suspect *suspect)
{
	struct rec_native *native = rec_native_of(rec);
	struct rec_native_suspect *row;

	row = native ? add_row(rec, &native->suspects, sizeof(*row), REC_MAX_NATIVE_SITES) : NULL;
	if (row)
		*row = *suspect;
}

void rec_native_forget_suspects(struct recording *rec, uint32_t jvm)
{
	struct rec_native_suspect *rows = rec->native ? rec->native->suspects.items : NULL;
	uint32_t kept = 0;

	if (!rows)
		return;
	for (uint32_t i = 0; i < rec->native->suspects.count; i++)
		if (rows[i].jvm != jvm)
			rows[kept++] = rows[i];
	rec->native->suspects.count = kept;
}

static int by_suspicion(const void *a, const void *b)
{
	const struct rec_native_suspect *x = a, *y = b;

	if ((x->kind == GROWTH_LEAK) != (y->kind == GROWTH_LEAK))
		return x->kind == GROWTH_LEAK ? -1 : 1;
	if (x->kind == GROWTH_LEAK && x->bytes_per_minute != y->bytes_per_minute)
		return x->bytes_per_minute < y->bytes_per_minute ? 1 : -1;
	if (x->live_bytes != y->live_bytes)
		return x->live_bytes < y->live_bytes ? 1 : -1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

const struct rec_native_suspect *rec_native_suspects(const struct recording *rec, size_t *count)
{
	*count = rec->native ? rec->native->suspects.count : 0;
	if (!*count)
		return NULL;
	qsort(rec->native->suspects.items, *count, sizeof(struct rec_native_suspect), by_suspicion);
	return rec->native->suspects.items;
}

/* ---- all */

bool rec_has_native(const struct recording *rec)
{
	return rec->native;
}

void rec_native_free(struct rec_native *native)
{
	if (!native)
		return;
	free(native->sites.items);
	map64_free(&native->by_key);
	table_free(&native->calls);
	free(native->counts.items);
	free(native->budgets.items);
	free(native->events.items);
	free(native->suspects.items);
	free(native);
}

void rec_native_each_stack(struct recording *rec, uint32_t (*change)(uint32_t stack, void *ctx),
			   void *ctx)
{
	struct rec_native_site *sites = rec->native ? rec->native->sites.items : NULL;
	struct rec_native_suspect *suspects = rec->native ? rec->native->suspects.items : NULL;

	for (uint32_t i = 0; sites && i < rec->native->sites.count; i++)
		sites[i].stack = change(sites[i].stack, ctx);
	for (uint32_t i = 0; suspects && i < rec->native->suspects.count; i++)
		suspects[i].stack = change(suspects[i].stack, ctx);
}
