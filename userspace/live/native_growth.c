/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/map64.h"
#include "jvm/jvm.h"
#include "live/decode.h"
#include "live/native.h"
#include "live/native_impl.h"
#include "live/process.h"
#include "model/recording.h"
#include "model/series.h"
#include "target/target.h"

/* The part of native.h that follows what lives at each site over the time of the recording. */

#define LEVEL_LEAST 1024 /* bytes: sites that never have so many are not followed */

static int64_t live_bytes(const struct jvs_native_site *site)
{
	return (int64_t)(site->allocated_bytes - site->freed_bytes - site->untracked_bytes);
}

/* ---- looks */

struct look {
	uint32_t place;
	bool thinned;
	bool is_last; /* as far as is known */
};

/* The fewest bytes since the look before: what is freed between two looks is seen by the kernel. */
static int64_t take_low(struct jvs_native_site *site, int64_t live_before)
{
	int64_t low = __atomic_exchange_n(&site->low, INT64_MAX, __ATOMIC_RELAXED);

	return low < live_before ? low : live_before;
}

static void follow_site(struct jvs_native_site *site, struct native_site *known, const void *ctx)
{
	const struct look *look = ctx;
	int64_t live = live_bytes(site), low;

	if (site->use != JVS_NATIVE_HEAP)
		return;
	/* Without memory it is not judged. */
	low = take_low(site, known->looked_at);
	if (!known->level && live >= LEVEL_LEAST) {
		known->level = calloc(1, sizeof(*known->level));
		low = live;
	}
	known->looked_at = live;
	if (!known->level)
		return;
	if (look->thinned)
		growth_thin(known->level);
	known->level->bytes[look->place] = look->is_last ? live : low;
}

/* Nothing lives there any more. */
static void follow_retired(struct native_retired *retired, void *ctx)
{
	const struct look *look = ctx;

	if (!retired->level)
		return;
	if (look->thinned)
		growth_thin(retired->level);
	retired->level->bytes[look->place] = 0;
}

void native_follow(struct native *native, const struct process *p, bool now)
{
	struct native_target *t = &native->targets[p->index];
	struct growth_look seen = { .time_ns = clock_monotonic_ns() };
	struct look look = { .is_last = now };

	if (!t->begun || t->live_lost)
		return;
	if (!now && !growth_is_due(&t->clock, seen.time_ns))
		return;
	if (target_cpu_ns(p->target, &seen.work_ns))
		seen.work_ns = p->last_cpu_ns;
	/* Of a JVM that cannot be read, or has ended, no more is known than before. */
	if (!p->jvm || jvm_collections(p->jvm, &seen.collections))
		seen.collections = t->clock.count ? t->clock.collections[t->clock.count - 1] : 0;
	look.place = growth_look(&t->clock, &seen, &look.thinned);
	native_each_site(native, p->index, follow_site, &look);
	native_each_retired(t, follow_retired, &look);
}

/* ---- all sites at once */

struct live_sum {
	uint64_t bytes;
	uint64_t blocks;
};

static void add_live(struct jvs_native_site *site, struct native_site *known, const void *ctx)
{
	struct live_sum *const *sum = ctx;

	(void)known;
	if (site->use != JVS_NATIVE_HEAP)
		return;
	(*sum)->bytes += (uint64_t)live_bytes(site);
	(*sum)->blocks += site->allocated_blocks - site->freed_blocks - site->untracked_blocks;
}

void native_tell_live(struct native *native, const struct decoder *d, const struct process *p,
		      struct recording *rec)
{
	const struct native_target *t = &native->targets[p->index];
	struct rec_native_budget *row;
	struct live_sum sum = { 0 }, *to = &sum;

	row = p->rec_jvm && t->begun ? rec_native_budget(rec, p->rec_jvm) : NULL;
	if (!row)
		return;
	native_each_site(native, p->index, add_live, &to);
	row->live_bytes = (int64_t)sum.bytes;
	row->live_blocks = (int64_t)(sum.blocks / JVS_NATIVE_ONE);
	row->live_known = !t->live_lost;
	if (row->live_known)
		rec_series_add(rec, p->rec_jvm, "native_live_bytes",
			       d->epoch_ns + (int64_t)clock_monotonic_ns(), row->live_bytes);
}

/* ---- what that says: of stacks that call the same methods at the same places */

struct native_growth {
	struct rec_native_suspect row;
	int64_t largest; /* site's bytes */
	bool followed;	 /* one of its sites was */
	struct growth_level level;
	int64_t born[GROWTH_POINTS + 1];
};

static uint64_t frame_place(const struct rec_frame *frame)
{
	if (rec_kind_is_java(frame->kind))
		return (uint64_t)(uint32_t)frame->bci;
	return frame->offset;
}

/* Stubs lie between the same two methods in interpreted code and not in compiled, or differ. */
static uint64_t shape_of(const struct recording *rec, const struct rec_native_site *site)
{
	struct rec_stack stack = rec_stack_get(rec, site->stack);
	uint64_t parts[3] = { site->tag, stack.state, 0 };

	for (uint32_t i = 0; i < stack.count; i++) {
		const struct rec_frame *frame = rec_frame_get(rec, stack.frames[i]);

		if (frame->kind == REC_FRAME_STUB)
			continue;
		parts[2] = map64_hash(parts, sizeof(parts));
		parts[0] = frame->method;
		parts[1] = frame_place(frame);
	}
	return map64_hash(parts, sizeof(parts));
}

static struct native_growth *new_growth(struct native_growths *growths,
					const struct rec_native_site *site, uint64_t shape)
{
	struct native_growth *growth;

	if (map64_set(&growths->by_shape, shape, growths->count))
		return NULL;
	growth = calloc(1, sizeof(*growth));
	if (!growth)
		return NULL;
	growth->row.jvm = site->jvm;
	growth->row.tag = site->tag;
	growths->items[growths->count++] = growth;
	return growth;
}

static struct native_growth *find_growth(struct native_growths *growths,
					 const struct recording *rec,
					 const struct rec_native_site *site)
{
	uint64_t shape = shape_of(rec, site);
	uint32_t at;

	if (map64_get(&growths->by_shape, shape, &at))
		return at < growths->count ? growths->items[at] : NULL;
	return new_growth(growths, site, shape);
}

static void add_site(struct native_growths *growths, const struct recording *rec, uint32_t id)
{
	const struct rec_native_site *site = rec_native_site_get(rec, id);
	int64_t bytes = site ? rec_native_live_bytes(site) : 0;
	struct native_growth *growth;

	if (!site || site->jvm != growths->jvm || site->use != REC_NATIVE_HEAP)
		return;
	growth = find_growth(growths, rec, site);
	growths->of_site[id] = growth;
	if (!growth || !bytes)
		return;
	growth->row.sites++;
	growth->row.live_bytes += bytes;
	growth->row.live_blocks += rec_native_live_blocks(site);
	if (bytes > growth->largest) {
		growth->largest = bytes;
		growth->row.stack = site->stack;
	}
}

static void add_level(const struct native_growths *growths, uint32_t id,
		      const struct growth_level *level)
{
	struct native_growth *growth = level && id <= growths->sites ? growths->of_site[id] : NULL;

	if (growth)
		growth->followed = true;
	for (uint32_t i = 0; growth && i < GROWTH_POINTS; i++)
		growth->level.bytes[i] += level->bytes[i];
}

static void add_site_level(struct jvs_native_site *site, struct native_site *known, const void *ctx)
{
	(void)site;
	add_level(ctx, known->id, known->level);
}

static void add_retired_level(struct native_retired *retired, void *ctx)
{
	add_level(ctx, retired->id, retired->level);
}

void native_growths_open(struct native *native, const struct process *p,
			 const struct recording *rec, struct native_growths *out)
{
	uint32_t sites = rec_native_site_count(rec);

	*out = (struct native_growths){ .clock = &native->targets[p->index].clock,
					.jvm = p->rec_jvm };
	out->of_site = calloc((size_t)sites + 1, sizeof(struct native_growth *));
	out->items = calloc((size_t)sites + 1, sizeof(struct native_growth *));
	if (!out->of_site || !out->items)
		return;
	out->sites = sites;
	for (uint32_t id = 1; id <= sites; id++)
		add_site(out, rec, id);
	native_each_site(native, p->index, add_site_level, out);
	native_each_retired(&native->targets[p->index], add_retired_level, out);
}

void native_growths_block(struct native_growths *growths, uint32_t id, const struct native_age *age)
{
	struct native_growth *growth = id <= growths->sites ? growths->of_site[id] : NULL;

	if (!growth)
		return;
	growth->born[growth_look_after(growths->clock, age->born_ns)] += age->bytes;
	growth->row.ages[age->place] += age->bytes;
	if (age->ns > growth->row.oldest_ns)
		growth->row.oldest_ns = age->ns;
}

static void tell(const struct growth_clock *clock, struct native_growth *growth,
		 struct recording *rec)
{
	if (!growth->followed || growth->row.live_bytes <= 0)
		return;
	growth->row.kind = growth_judge(clock, &growth->level);
	growth->row.bytes_per_minute = growth_bytes_per_minute(clock, &growth->level);
	growth->row.survived = growth_survived(clock, growth->born);
	rec_native_suspect(rec, &growth->row);
}

void native_growths_tell(struct native_growths *growths, struct recording *rec)
{
	rec_native_forget_suspects(rec, growths->jvm);
	for (uint32_t i = 0; i < growths->count; i++) {
		if (rec_native_live_known(rec, growths->jvm))
			tell(growths->clock, growths->items[i], rec);
		free(growths->items[i]);
	}
	free(growths->items);
	free(growths->of_site);
	map64_free(&growths->by_shape);
	*growths = (struct native_growths){ 0 };
}
