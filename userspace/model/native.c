/* SPDX-License-Identifier: Apache-2.0 */
#include "model/native.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/native_calls.h"
#include "model/native_impl.h"

/* Keys are hashed and compared as bytes. */
_Static_assert(offsetof(struct rec_native_site, allocated_blocks) == 16, "the key comes first");

static const struct rec_native no_native = {
	.sites = { .row_size = sizeof(struct rec_native_site),
		   .key_size = offsetof(struct rec_native_site, allocated_blocks) },
	.counts = { .row_size = sizeof(struct rec_count),
		    .max = REC_MAX_NATIVE_COUNTS,
		    .over_limit = "native_counts_over_limit" },
	.budgets = { .row_size = sizeof(struct rec_native_budget),
		     .max = REC_MAX_BUDGETS,
		     .over_limit = "budgets_over_limit" },
	.events = { .row_size = sizeof(struct rec_budget_event),
		    .max = REC_MAX_BUDGET_EVENTS,
		    .over_limit = "budget_events_over_limit" },
	.suspects = { .row_size = sizeof(struct rec_native_suspect),
		      .max = REC_MAX_SUSPECTS,
		      .over_limit = "native_suspects_over_limit" },
};

const char *rec_native_use_name(enum rec_native_use use)
{
	static const char *const names[REC_NATIVE_USE_NR] = {
		[REC_NATIVE_HEAP] = "malloc",	     [REC_NATIVE_UNKNOWN_FREE] = "unknown_free",
		[REC_NATIVE_RESERVED] = "reserve",   [REC_NATIVE_COMMITTED] = "commit",
		[REC_NATIVE_STACK] = "thread_stack",
	};

	return names[use];
}

int rec_native_use_find(const char *name)
{
	for (int use = 0; use < REC_NATIVE_USE_NR; use++)
		if (!strcmp(rec_native_use_name((enum rec_native_use)use), name))
			return use;
	return -1;
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

int rec_native_state_find(const char *name)
{
	for (int state = 0; state < REC_NATIVE_STATE_NR; state++)
		if (!strcmp(rec_native_state_name((enum rec_native_state)state), name))
			return state;
	return -1;
}

struct rec_native *rec_native_of(struct recording *rec)
{
	if (rec->native)
		return rec->native;
	rec->native = malloc(sizeof(*rec->native));
	if (!rec->native) {
		rec->err = -ENOMEM;
		return NULL;
	}
	*rec->native = no_native;
	return rec->native;
}

/* ---- sites */

/*
 * Sums stay so far from the ends of the type that three of them can be added, as what lives is.
 * None of this machine comes there.
 */
#define SUM_MAX (1ll << 60)

static void add_bounded(int64_t *to, int64_t value)
{
	int64_t sum = rec_sum(*to, value);

	if (sum > SUM_MAX)
		sum = SUM_MAX;
	*to = sum < -SUM_MAX ? -SUM_MAX : sum;
}

void rec_native_site_add(struct rec_native_site *to, const struct rec_native_site *from)
{
	add_bounded(&to->allocated_blocks, from->allocated_blocks);
	add_bounded(&to->allocated_bytes, from->allocated_bytes);
	add_bounded(&to->freed_blocks, from->freed_blocks);
	add_bounded(&to->freed_bytes, from->freed_bytes);
	add_bounded(&to->untracked_blocks, from->untracked_blocks);
	add_bounded(&to->untracked_bytes, from->untracked_bytes);
	to->error_bytes = hypot(to->error_bytes, from->error_bytes);
	to->slice_error_bytes += from->slice_error_bytes;
}

uint32_t rec_native_site(struct recording *rec, const struct rec_native_site *site)
{
	struct rec_native *native = rec_native_of(rec);
	uint32_t had, id;
	bool full;

	if (!native)
		return 0;
	had = native->sites.count;
	id = rec_table_add(rec, &native->sites, site, REC_MAX_NATIVE_SITES, &full);
	if (full)
		rec_quality_add(rec, REC_QUALITY_INFO, "native_sites_over_limit", 1);
	if (id && id <= had)
		rec_native_site_add(table_get(&native->sites, id), site);
	return id;
}

void rec_native_forget_sites(struct recording *rec, uint32_t jvm)
{
	for (uint32_t id = 1; rec->native && id <= rec->native->sites.count; id++) {
		struct rec_native_site *site = table_get(&rec->native->sites, id);

		if (site->jvm == jvm)
			*site = (struct rec_native_site){
				.jvm = jvm, .stack = site->stack, .tag = site->tag, .use = site->use
			};
	}
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
	return rec->native ? table_get(&rec->native->sites, id) : NULL;
}

uint32_t rec_native_site_count(const struct recording *rec)
{
	return rec->native ? rec->native->sites.count : 0;
}

/* A file may have as many as sites: they are found by hash. */
static struct rec_native_tag *find_tag(struct map64 *places, struct rec_native_tag *tags,
				       const struct rec_native_site *site)
{
	uint64_t key = (uint64_t)site->jvm << 32 | site->tag;
	uint32_t at;

	if (map64_get(places, key, &at))
		return &tags[at];
	at = (uint32_t)places->count;
	if (map64_set(places, key, at))
		return NULL;
	tags[at].sum = (struct rec_native_site){ .jvm = site->jvm, .tag = site->tag };
	return &tags[at];
}

static void add_to_tag(struct rec_native_tag *tag, const struct rec_native_site *site)
{
	int64_t bytes = rec_native_live_bytes(site);

	switch (site->use) {
	case REC_NATIVE_HEAP:
		rec_native_site_add(&tag->sum, site);
		break;
	case REC_NATIVE_UNKNOWN_FREE:
		add_bounded(&tag->unknown_frees, site->freed_blocks);
		break;
	case REC_NATIVE_RESERVED:
		add_bounded(&tag->reserved, bytes);
		break;
	case REC_NATIVE_COMMITTED:
		add_bounded(&tag->committed, bytes);
		break;
	case REC_NATIVE_STACK:
		add_bounded(&tag->stacks, bytes);
		break;
	case REC_NATIVE_USE_NR:
		break;
	}
}

ssize_t rec_native_tags(const struct recording *rec, struct rec_native_tag **out)
{
	uint32_t sites = rec_native_site_count(rec);
	struct rec_native_tag *tags = calloc((size_t)sites + 1, sizeof(*tags)), *tag = tags;
	struct map64 places = { 0 };
	ssize_t count;

	for (uint32_t id = 1; tag && id <= sites; id++) {
		const struct rec_native_site *site = table_get(&rec->native->sites, id);

		tag = find_tag(&places, tags, site);
		if (tag)
			add_to_tag(tag, site);
	}
	count = (ssize_t)places.count;
	map64_free(&places);
	if (!tag) {
		free(tags);
		return -ENOMEM;
	}
	*out = tags;
	return count;
}

/* ---- counts */

void rec_native_count_set(struct recording *rec, uint32_t jvm, const char *name, uint64_t value)
{
	struct rec_native *native = rec_native_of(rec);

	if (native)
		rec_count_set(rec, &native->counts, jvm, name, value);
}

const struct rec_count *rec_native_counts(const struct recording *rec, size_t *count)
{
	*count = rec->native ? rec->native->counts.count : 0;
	return *count ? rec->native->counts.items : NULL;
}

/* ---- budget */

const char *rec_probe_group_name(enum rec_probe_group group)
{
	static const char *const names[REC_PROBES_NR] = {
		[REC_PROBES_NATIVE] = "native",	      [REC_PROBES_CLASS] = "class",
		[REC_PROBES_MAPPING] = "mapping",     [REC_PROBES_GC] = "gc",
		[REC_PROBES_SAFEPOINT] = "safepoint", [REC_PROBES_LOCK] = "lock",
		[REC_PROBES_THREAD] = "thread",	      [REC_PROBES_JIT] = "jit",
		[REC_PROBES_EXCEPTION] = "exception", [REC_PROBES_OFFCPU] = "offcpu",
		[REC_PROBES_ALLOC] = "alloc",	      [REC_PROBES_IO] = "io",
	};

	return names[group];
}

const char *rec_budget_reason_name(enum rec_budget_reason reason)
{
	static const char *const names[REC_BUDGET_REASON_NR] = {
		[REC_BUDGET_OVER] = "over_limit",
		[REC_BUDGET_SLICE] = "slice_over_limit",
		[REC_BUDGET_CHEAP] = "within_limit",
		[REC_BUDGET_RETRY] = "retry",
	};

	return names[reason];
}

int rec_budget_reason_find(const char *name)
{
	for (int reason = 0; reason < REC_BUDGET_REASON_NR; reason++)
		if (!strcmp(rec_budget_reason_name((enum rec_budget_reason)reason), name))
			return reason;
	return -1;
}

int rec_probe_group_find(const char *name)
{
	for (int group = 0; group < REC_PROBES_NR; group++)
		if (!strcmp(rec_probe_group_name((enum rec_probe_group)group), name))
			return group;
	return -1;
}

static uint64_t budget_key(enum rec_probe_group group, uint32_t jvm)
{
	return (uint64_t)group << 32 | jvm;
}

/* NULL when there is none. Each site asks for it: it is found by hash. */
static struct rec_native_budget *budget_get(const struct recording *rec, enum rec_probe_group group,
					    uint32_t jvm)
{
	struct rec_native_budget *rows = rec->native ? rec->native->budgets.items : NULL;
	uint32_t at;

	if (!rows || !map64_get(&rec->native->budget_places, budget_key(group, jvm), &at))
		return NULL;
	return &rows[at];
}

struct rec_native_budget *rec_budget(struct recording *rec, enum rec_probe_group group,
				     uint32_t jvm)
{
	struct rec_native *native = rec_native_of(rec);
	struct rec_native_budget *row = budget_get(rec, group, jvm);

	if (!native || row)
		return row;
	row = rec_rows_add(rec, &native->budgets, 1);
	if (!row)
		return NULL;
	row->group = group;
	row->jvm = jvm;
	if (map64_set(&native->budget_places, budget_key(group, jvm), native->budgets.count - 1))
		rec->err = -ENOMEM;
	return row;
}

struct rec_native_budget *rec_native_budget(struct recording *rec, uint32_t jvm)
{
	return rec_budget(rec, REC_PROBES_NATIVE, jvm);
}

const struct rec_native_budget *rec_native_budgets(const struct recording *rec, size_t *count)
{
	*count = rec->native ? rec->native->budgets.count : 0;
	return *count ? rec->native->budgets.items : NULL;
}

const struct rec_native_budget *rec_native_budget_get(const struct recording *rec, uint32_t jvm)
{
	return budget_get(rec, REC_PROBES_NATIVE, jvm);
}

bool rec_native_live_known(const struct recording *rec, uint32_t jvm)
{
	const struct rec_native_budget *budget = rec_native_budget_get(rec, jvm);

	return !budget || budget->live_known;
}

bool rec_mapped_known(const struct recording *rec, uint32_t jvm)
{
	const struct rec_native_budget *budget = budget_get(rec, REC_PROBES_MAPPING, jvm);

	return !budget || budget->live_known;
}

bool rec_site_live_known(const struct recording *rec, const struct rec_native_site *site)
{
	if (site->use == REC_NATIVE_HEAP || site->use == REC_NATIVE_UNKNOWN_FREE)
		return rec_native_live_known(rec, site->jvm);
	return rec_mapped_known(rec, site->jvm);
}

void rec_budget_event(struct recording *rec, const struct rec_budget_event *event)
{
	struct rec_native *native = rec_native_of(rec);
	struct rec_budget_event *row;

	row = native ? rec_rows_add(rec, &native->events, 1) : NULL;
	if (row)
		*row = *event;
}

const struct rec_budget_event *rec_budget_events(const struct recording *rec, size_t *count)
{
	*count = rec->native ? rec->native->events.count : 0;
	return *count ? rec->native->events.items : NULL;
}

const char *rec_budget_event_text(const struct recording *rec, const struct rec_budget_event *event,
				  char to[REC_BUDGET_TEXT_MAX])
{
	double after_s = (double)(event->time_ns - rec_meta_get(rec)->start_time_ns) / 1e9;

	snprintf(to, REC_BUDGET_TEXT_MAX,
		 "%s %s -> %s after %.1f s, %s: %.2f %% of a core, limit %.2f %%",
		 rec_probe_group_name(event->group), rec_native_state_name(event->from),
		 rec_native_state_name(event->to), after_s, rec_budget_reason_name(event->reason),
		 event->cost_pct, event->limit_pct);
	return to;
}

/* ---- suspects */

void rec_native_suspect(struct recording *rec, const struct rec_native_suspect *suspect)
{
	struct rec_native *native = rec_native_of(rec);
	struct rec_native_suspect *row;

	row = native ? rec_rows_add(rec, &native->suspects, 1) : NULL;
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
	size_t count;
	const struct rec_native_budget *budgets = rec_native_budgets(rec, &count);

	if (!rec->native || rec->native->sites.count || rec->native->calls.count ||
	    rec->native->counts.count || rec->native->suspects.count)
		return rec->native;
	for (size_t i = 0; i < count; i++)
		if (budgets[i].group == REC_PROBES_NATIVE)
			return true;
	return !count;
}

void rec_native_free(struct rec_native *native)
{
	if (!native)
		return;
	table_free(&native->sites);
	table_free(&native->calls);
	free(native->counts.items);
	map64_free(&native->counts.places);
	free(native->budgets.items);
	map64_free(&native->budget_places);
	free(native->events.items);
	free(native->suspects.items);
	free(native);
}

void rec_native_each_stack(struct recording *rec, uint32_t (*change)(uint32_t stack, void *ctx),
			   void *ctx)
{
	struct rec_native_suspect *suspects = rec->native ? rec->native->suspects.items : NULL;

	for (uint32_t id = 1; rec->native && id <= rec->native->sites.count; id++) {
		struct rec_native_site *site = table_get(&rec->native->sites, id);

		site->stack = change(site->stack, ctx);
	}
	for (uint32_t i = 0; suspects && i < rec->native->suspects.count; i++)
		suspects[i].stack = change(suspects[i].stack, ctx);
}
