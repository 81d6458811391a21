/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "live/native.h"
#include "live/native_impl.h"
#include "live/slices.h"

/* Of native.h: what slices of time say of a target's sites, of its tags, and of all. */

#define OTHER_TAGS NATIVE_TAGS_MAX /* libc's, and those that are not known */
#define TAGS	   (NATIVE_TAGS_MAX + 1)
#define LARGE_PART 0.1 /* a tag that has such a part of all is to be as certain as all */

struct bytes {
	double all;
	double tags[TAGS];
};

static void add_bytes(struct bytes *to, const struct jvs_native_site *site, double bytes)
{
	to->all += bytes;
	to->tags[site->tag < OTHER_TAGS ? site->tag : OTHER_TAGS] += bytes;
}

/* one: NULL between slices. */
static void add(struct slices_sum *sum, const struct slice *one, double bytes)
{
	if (one)
		slices_add(sum, one, bytes);
	else
		slices_add_between(sum, bytes);
}

/* Books what came to each site since the last time. */
static void look_at_sites(struct native *native, uint32_t target, const struct slice *one)
{
	struct native_target *t = &native->targets[target];
	uint32_t count = native_site_count(native);
	struct bytes came = { 0 };

	for (uint32_t i = 1; i < count; i++) {
		const struct jvs_native_site *site = &native->sites[i];
		struct native_site *known = &native->known[i];
		uint64_t now = site->allocated_bytes;
		double bytes = (double)(now - known->slice_bytes);

		if (site->target != target || site->use != JVS_NATIVE_HEAP)
			continue;
		known->slice_bytes = now;
		add(&known->slices, one, bytes);
		add_bytes(&came, site, bytes);
	}
	add(&t->slices_all, one, came.all);
	for (int tag = 0; tag < TAGS; tag++)
		add(&t->slices_tags[tag], one, came.tags[tag]);
}

static void read_seen(const struct native *native, uint32_t target, struct bytes *out)
{
	uint32_t count = native_site_count(native);

	*out = (struct bytes){ 0 };
	for (uint32_t i = 1; i < count; i++) {
		const struct jvs_native_site *site = &native->sites[i];

		if (site->target == target && site->use == JVS_NATIVE_HEAP)
			add_bytes(out, site, (double)site->allocated_bytes);
	}
}

void native_start_slices(struct native *native, uint32_t target)
{
	struct native_target *t = &native->targets[target];
	uint32_t count = native_site_count(native);
	double work_ns = (double)(t->now_work_ns - t->start_work_ns);
	struct bytes seen;

	slices_start(&t->slices, t->now_work_ns);
	for (uint32_t i = 1; i < count; i++)
		if (native->sites[i].target == target)
			native->known[i].slice_bytes = native->sites[i].allocated_bytes;
	read_seen(native, target, &seen);
	if (!(work_ns > 0))
		return;
	t->slices_all.before = seen.all / work_ns;
	for (int tag = 0; tag < TAGS; tag++)
		t->slices_tags[tag].before = seen.tags[tag] / work_ns;
}

void native_begin_slice(struct native *native, uint32_t target)
{
	struct native_target *t = &native->targets[target];

	slices_begin_one(&t->slices, t->now_work_ns);
	look_at_sites(native, target, NULL);
}

void native_end_slice(struct native *native, uint32_t target)
{
	struct native_target *t = &native->targets[target];
	struct slice one;

	slices_end_one(&t->slices, t->now_work_ns, &one);
	look_at_sites(native, target, &one);
}

/* ---- what is told of it */

/* Standard error by the sum, per cent. */
static double error_pct(const struct native_target *t, const struct slices_sum *sum, double seen,
			double *all)
{
	struct slices_estimate unseen;

	slices_estimate(&t->slices, sum, t->now_work_ns, &unseen);
	*all = seen + unseen.bytes;
	if (!(unseen.error > 0))
		return 0;
	return *all > 0 ? fmin(100 * unseen.error / *all, 100) : 100;
}

static void add_retired(struct native_retired *retired, void *ctx)
{
	double *bytes = ctx;

	*bytes += (double)retired->sum.allocated_bytes;
}

void native_judge_slices(const struct native *native, uint32_t target, struct native_target *t)
{
	double all, of_tag;
	struct bytes seen;

	read_seen(native, target, &seen);
	native_each_retired(t, add_retired, &seen.all);
	t->error_pct = error_pct(t, &t->slices_all, seen.all, &all);
	for (int tag = 0; tag < TAGS; tag++) {
		double pct = error_pct(t, &t->slices_tags[tag], seen.tags[tag], &of_tag);

		if (of_tag >= LARGE_PART * all && pct > t->error_pct)
			t->error_pct = pct;
	}
	t->unestimated = t->error_pct > SLICES_ERROR_MAX || t->sliced_cost_ns > t->slices_work_ns;
}

void native_read_unseen(const struct native_target *t, const struct jvs_native_site *site,
			const struct native_site *known, struct native_unseen *out)
{
	struct slices_estimate unseen;
	double blocks = (double)site->allocated_blocks / JVS_NATIVE_ONE;

	*out = (struct native_unseen){ 0 };
	if (site->use != JVS_NATIVE_HEAP || !site->allocated_bytes)
		return;
	slices_estimate(&t->slices, &known->slices, t->now_work_ns, &unseen);
	/* What came while probes were taken off is of the stretch that goes on. */
	if (t->slices.begun && !t->slices.inside)
		unseen.bytes -= (double)(site->allocated_bytes - known->slice_bytes);
	out->bytes = unseen.bytes;
	out->blocks = unseen.bytes * blocks / (double)site->allocated_bytes;
	out->error_bytes = unseen.error;
}

void native_add_unseen(const struct native_target *t, const struct native_unseen *unseen,
		       struct rec_native_site *row)
{
	int64_t blocks = llround(unseen->blocks), bytes = llround(unseen->bytes);

	if (t->unestimated)
		return;
	row->allocated_blocks += blocks;
	row->allocated_bytes += bytes;
	row->untracked_blocks += blocks;
	row->untracked_bytes += bytes;
	row->slice_error_bytes += unseen->error_bytes;
}
