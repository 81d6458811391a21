/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "live/native.h"
#include "live/native_impl.h"
#include "live/process.h"
#include "model/native_calls.h"
#include "model/recording.h"

/* The part of native.h that gives back what a program had that is gone. */

#define QUIET_NS  10000000000ull /* so long nothing is done at a site before it retires */
#define RETIRE_NS 1000000000ull	 /* between two looks for such sites */

void native_each_retired(const struct native_target *t, native_retired_fn *do_retired, void *ctx)
{
	for (uint32_t number = 1; number <= t->retired.count; number++)
		do_retired(table_get(&t->retired, number), ctx);
}

static void free_level(struct native_retired *retired, void *ctx)
{
	(void)ctx;
	free(retired->level);
}

void native_free_retired(struct native_target *t)
{
	native_each_retired(t, free_level, NULL);
	table_free(&t->retired);
}

/* Nothing is booked there any more, or what is is of nobody. */
static void empty_site(struct native *native, uint32_t id)
{
	struct native_site *known = &native->known[id];

	free(known->level);
	*known = (struct native_site){ 0 };
	native->sites[id] = (struct jvs_native_site){ .target = JVS_NATIVE_NOBODY };
}

/* Without memory the place is not used again. */
static void let_rest(struct native_resting *resting, uint32_t id)
{
	uint32_t capacity = resting->capacity ? resting->capacity * 2 : 1024;
	uint32_t *ids;

	if (resting->count == resting->capacity) {
		ids = reallocarray(resting->ids, capacity, sizeof(*ids));
		if (!ids)
			return;
		resting->ids = ids;
		resting->capacity = capacity;
	}
	resting->ids[resting->count++] = id;
}

/* Else the kernel is just making it, for whichever target. */
static bool is_begun(const struct jvs_native_site *site)
{
	return site->stack || site->allocated_blocks || site->freed_blocks;
}

/* Calls that come now do not find it. Without a stack the next program has the same key. */
static void unlist_site(const struct native *native, uint32_t id)
{
	const struct jvs_native_site *site = &native->sites[id];
	const struct jvs_native_site_key key = {
		.stack = site->stack, .target = site->target, .tag = site->tag, .use = site->use
	};

	if (!native->known[id].unlisted)
		bpf_map_delete_elem(native->ids_fd, &key);
}

static void drop_site(struct native *native, uint32_t id)
{
	unlist_site(native, id);
	empty_site(native, id);
	let_rest(&native->resting, id);
}

static void drop_block(uint64_t key, const struct jvs_native_block *block, void *ctx)
{
	const struct native *native = ctx;

	(void)block;
	bpf_map_delete_elem(native->live_fd, &key);
}

void native_drop_accounts(struct native *native, uint32_t target)
{
	struct native_target *t = &native->targets[target];
	uint32_t count = native_site_count(native);
	struct jvs_native_counts counts;

	native_counts(native, target, &counts);
	for (int i = 0; i < JVS_NATIVE_COUNT_NR; i++)
		counts.values[i] += t->before.values[i];
	native_free_retired(t);
	*t = (struct native_target){ .before = counts };
	/* Before the sites: a block that is freed meanwhile is booked where it was. */
	native_each_block(native, target, drop_block, native);
	for (uint32_t id = 1; id < count; id++)
		if (native->sites[id].target == target && is_begun(&native->sites[id]))
			drop_site(native, id);
}

static void give_back(struct native *native, uint32_t id)
{
	empty_site(native, id);
	if (id < native->unresolved)
		native->unresolved = id;
	bpf_map_update_elem(native->free_fd, NULL, &id, BPF_ANY);
}

void native_give_back(struct native *native, uint64_t now_ns)
{
	struct native_resting *resting = &native->resting;

	if (!resting->count || (resting->since_ns && now_ns - resting->since_ns < NATIVE_REST_NS))
		return;
	for (uint32_t i = 0; i < resting->older; i++)
		give_back(native, resting->ids[i]);
	resting->count -= resting->older;
	if (resting->count)
		memmove(resting->ids, resting->ids + resting->older,
			resting->count * sizeof(*resting->ids));
	resting->older = resting->count;
	resting->since_ns = resting->count ? now_ns : 0;
}

/* ---- sites that are quiet */

static bool is_nearly_full(const struct native *native)
{
	uint32_t count = native_site_count(native), used = 0, enough = native->max_sites / 8 * 7;

	for (uint32_t id = 1; count > enough && id < count; id++)
		used += native->sites[id].target != JVS_NATIVE_NOBODY;
	return used > enough;
}

static bool is_quiet(const struct native *native, uint32_t id)
{
	const struct jvs_native_site *site = &native->sites[id];
	struct native_site *known = &native->known[id];
	uint64_t seen = site->allocated_blocks + site->freed_blocks;
	bool lives = site->use == JVS_NATIVE_HEAP &&
		     site->allocated_blocks != site->freed_blocks + site->untracked_blocks;

	if (!known->quiet_ns || seen != known->seen || lives) {
		known->seen = seen;
		known->quiet_ns = native->now_ns;
	}
	return native->now_ns - known->quiet_ns >=
	       QUIET_NS + (known->unlisted ? NATIVE_REST_NS : 0);
}

static void add_level(struct native_retired *to, struct native_site *known)
{
	if (!to->level) {
		to->level = known->level;
		known->level = NULL;
		return;
	}
	for (uint32_t i = 0; known->level && i < GROWTH_POINTS; i++)
		to->level->bytes[i] += known->level->bytes[i];
}

/* Its numbers go to those of the same stack that have retired before. Returns whether they did. */
static bool fold_site(struct native *native, const struct process *p, struct recording *rec,
		      uint32_t id)
{
	struct native_target *t = &native->targets[p->index];
	struct native_site *known = &native->known[id];
	struct native_retired row = { .hash = native->sites[id].stack, .stack = known->stack }, *to;
	struct native_unseen unseen;
	struct rec_native_site site;
	uint32_t number;

	native_read_site(native, p, rec, id, &site);
	row.tag = site.tag;
	row.use = site.use;
	t->retired.row_size = sizeof(row);
	t->retired.key_size = offsetof(struct native_retired, id);
	if (table_add(&t->retired, &row, REC_MAX_NATIVE_SITES, &number))
		return false;
	to = table_get(&t->retired, number);
	if (!to->id) {
		to->sum = (struct rec_native_site){
			.jvm = site.jvm, .stack = site.stack, .tag = site.tag, .use = site.use
		};
		to->id = known->id;
	}
	rec_native_site_add(&to->sum, &site);
	native_read_unseen(t, &native->sites[id], known, &unseen);
	to->unseen.blocks += unseen.blocks;
	to->unseen.bytes += unseen.bytes;
	to->unseen.error_bytes += unseen.error_bytes;
	native_add_unseen(t, &unseen, &site);
	native_tell_totals(rec, &site, known, !t->live_lost);
	add_level(to, known);
	return true;
}

static void retire_site(struct native *native, const struct process *p, struct recording *rec,
			uint32_t id)
{
	struct native_site *known = &native->known[id];

	/* One whose stack is still to come would lose it. */
	if (!is_quiet(native, id) || (native->sites[id].stack && !known->stack))
		return;
	if (!known->unlisted) {
		unlist_site(native, id);
		known->unlisted = true;
	} else if (fold_site(native, p, rec, id)) {
		give_back(native, id);
	}
}

void native_retire(struct native *native, const struct process *p, struct recording *rec)
{
	struct native_target *t = &native->targets[p->index];
	uint32_t count = native_site_count(native);

	if (!p->rec_jvm || native->now_ns - t->retire_ns < RETIRE_NS)
		return;
	t->retire_ns = native->now_ns;
	if (!is_nearly_full(native))
		return;
	for (uint32_t id = 1; id < count; id++)
		if (native->sites[id].target == p->index && is_begun(&native->sites[id]))
			retire_site(native, p, rec, id);
}

void native_tell_retired(struct native *native, const struct process *p, struct recording *rec)
{
	static const struct rec_native_chain unknown;
	const struct native_target *t = &native->targets[p->index];
	const struct table *table = &t->retired;

	for (uint32_t number = 1; number <= table->count; number++) {
		struct native_retired *retired = table_get(table, number);
		const struct rec_native_chain *chain = calls_of(&native->calls, retired->hash);
		struct rec_native_site row = retired->sum;

		native_add_unseen(t, &retired->unseen, &row);
		retired->id = rec_native_site(rec, &row);
		rec_native_calls_add(rec, chain ? chain : &unknown, &row);
	}
}

void native_leave(struct native *native, const struct process *p)
{
	native_forget(native, p);
	native->targets[p->index].over = true;
}
