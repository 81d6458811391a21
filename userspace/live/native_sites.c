/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "live/native.h"
#include "live/native_impl.h"
#include "live/process.h"

/* The part of native.h that gives back what a program had that is gone. */

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

static void drop_site(struct native *native, uint32_t id)
{
	const struct jvs_native_site *site = &native->sites[id];
	const struct jvs_native_site_key key = {
		.stack = site->stack, .target = site->target, .tag = site->tag, .use = site->use
	};

	/* Without a stack the next program has the same key. */
	bpf_map_delete_elem(native->ids_fd, &key);
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
	*t = (struct native_target){ .before = counts };
	/* Before the sites: a block that is freed meanwhile is booked where it was. */
	native_each_block(native, target, drop_block, native);
	for (uint32_t id = 1; id < count; id++)
		if (native->sites[id].target == target && is_begun(&native->sites[id]))
			drop_site(native, id);
}

void native_give_back(struct native *native, uint64_t now_ns)
{
	struct native_resting *resting = &native->resting;

	if (!resting->count || (resting->since_ns && now_ns - resting->since_ns < NATIVE_REST_NS))
		return;
	for (uint32_t i = 0; i < resting->older; i++) {
		uint32_t id = resting->ids[i];

		empty_site(native, id);
		if (id < native->unresolved)
			native->unresolved = id;
		bpf_map_update_elem(native->free_fd, NULL, &id, BPF_ANY);
	}
	resting->count -= resting->older;
	if (resting->count)
		memmove(resting->ids, resting->ids + resting->older,
			resting->count * sizeof(*resting->ids));
	resting->older = resting->count;
	resting->since_ns = resting->count ? now_ns : 0;
}

void native_leave(struct native *native, const struct process *p)
{
	native_forget(native, p);
	native->targets[p->index].over = true;
}
