/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "live/decode.h"
#include "live/live.h"
#include "live/native.h"
#include "live/native_impl.h"
#include "live/process.h"
#include "model/recording.h"
#include "target/image.h"
#include "target/maps.h"
#include "target/target.h"

/* The part of native.h that turns the kernel's accounts into rows of the recording. */

/* ---- tags */

/*
 * Copies names as far as they are there: a table has no end mark, but no text follows its last.
 * Where the loader has not relocated the table yet the rest is read the next time.
 */
static void read_names(struct native_target *t, const struct target *target)
{
	while (t->tag_table && t->tag_count < NATIVE_TAGS_MAX) {
		char *name = t->tags[t->tag_count].name;
		uint64_t at = t->tag_table + 8ull * (t->tag_count * t->tag_step + t->tag_step - 1);
		uint64_t text;
		ssize_t length;

		if (target_read_u64(target, at, &text) || !text)
			return;
		length = target_read_string(target, text, name, NATIVE_TAG_NAME_MAX);
		if (length <= 0 || name[0] < 'A' || name[0] > 'Z') {
			name[0] = '\0';
			return;
		}
		t->tag_count++;
		/* The last tag of all JDKs but 8 and 11. */
		if (!strcmp(name, "Unknown"))
			t->tag_table = 0;
	}
}

void native_read_tags(struct native_target *t, const struct process *p, struct image *libjvm,
		      const struct mapping *mapping)
{
	uint64_t bias = image_bias(libjvm, mapping), vaddr;

	t->tag_count = 0;
	t->tag_table = 0;
	if (image_symbol(libjvm, "_ZN7NMTUtil8_stringsE", false, &vaddr) == 0)
		t->tag_step = 2;
	else if (image_symbol(libjvm, "_ZN7NMTUtil18_memory_type_namesE", false, &vaddr) == 0)
		t->tag_step = 1;
	else
		return;
	t->tag_table = vaddr + bias;
	read_names(t, p->target);
}

/* A table whose end does not show is as long as what was there at two looks. */
static void read_more_names(struct native_target *t, const struct process *p)
{
	uint32_t before = t->tag_count;

	if (!t->tag_table || !p->target)
		return;
	read_names(t, p->target);
	if (before && before == t->tag_count)
		t->tag_table = 0;
}

uint32_t native_tag(struct native_target *t, struct recording *rec, uint32_t tag)
{
	char number[32];
	const char *name = number;

	snprintf(number, sizeof(number), "tag %u", tag);
	if (tag == JVS_NATIVE_TAG_LIBC)
		name = REC_NATIVE_LIBC_TAG;
	else if (tag == JVS_NATIVE_TAG_NONE)
		name = "unknown";
	else if (tag < t->tag_count)
		name = t->tags[tag].name;
	return rec_string(rec, name, strlen(name));
}

/* ---- counters */

void native_counts(const struct native *native, uint32_t target, struct jvs_native_counts *out)
{
	int cpus = libbpf_num_possible_cpus();
	struct jvs_native_counts *each = cpus > 0 ? calloc((size_t)cpus, sizeof(*each)) : NULL;

	*out = (struct jvs_native_counts){ 0 };
	if (each && bpf_map_lookup_elem(native->counts_fd, &target, each) == 0)
		for (int cpu = 0; cpu < cpus; cpu++)
			for (int i = 0; i < JVS_NATIVE_COUNT_NR; i++)
				out->values[i] += each[cpu].values[i];
	for (int i = 0; i < JVS_NATIVE_COUNT_NR; i++)
		out->values[i] -= native->targets[target].before.values[i];
	free(each);
}

static void add_counts(const struct native *native, const struct process *p, struct recording *rec)
{
	static const char *const names[JVS_NATIVE_COUNT_NR] = {
#define X(name, text) [JVS_NATIVE_COUNT_##name] = (text),
		JVS_NATIVE_COUNTER_LIST(X)
#undef X
	};
	struct jvs_native_counts counts;

	native_counts(native, p->index, &counts);
	for (int i = 0; i < JVS_NATIVE_COUNT_NR; i++)
		rec_native_count_set(rec, p->rec_jvm, names[i], counts.values[i]);
}

/* ---- sites */

uint32_t native_site_count(const struct native *native)
{
	uint64_t count = __atomic_load_n(native->site_count, __ATOMIC_ACQUIRE) + 1;

	return count < native->max_sites ? (uint32_t)count : native->max_sites;
}

/* What the kernel is just making has no stack yet, and no blocks. */
static bool is_used(const struct jvs_native_site *site)
{
	return site->allocated_blocks || site->freed_blocks;
}

static bool is_of(const struct native *native, uint32_t site, uint32_t target)
{
	return native->sites[site].target == target && is_used(&native->sites[site]);
}

/* Looks the stacks of new sites up while the decoder knows them. */
static void resolve_sites(struct native *native, struct decoder *d)
{
	uint32_t count = native_site_count(native);

	for (uint32_t i = native->unresolved; i < count; i++) {
		struct native_site *known = &native->known[i];
		uint64_t hash = __atomic_load_n(&native->sites[i].stack, __ATOMIC_ACQUIRE);

		if (!known->stack && hash)
			decode_stack(d, hash, &known->stack);
		if (i == native->unresolved &&
		    (known->stack || (!hash && is_used(&native->sites[i]))))
			native->unresolved++;
	}
}

static void tell_total(struct recording *rec, const struct rec_key *key, struct native_site *known,
		       int which, const int64_t now[2])
{
	int64_t blocks = now[0] - known->told_blocks[which];
	int64_t bytes = now[1] - known->told_bytes[which];

	if (!blocks && !bytes)
		return;
	rec_add(rec, key, blocks, bytes);
	known->told_blocks[which] = now[0];
	known->told_bytes[which] = now[1];
}

/* What lives and is withheld is so also where it was told before. */
void native_tell_totals(struct recording *rec, const struct rec_native_site *site,
			struct native_site *known, bool live_known)
{
	struct rec_key key = { .metric = REC_NATIVE_ALLOC,
			       .jvm = site->jvm,
			       .stack = site->stack,
			       .label = site->tag };
	const int64_t allocated[2] = { site->allocated_blocks, site->allocated_bytes };
	int64_t live[2] = { 0 };

	if (site->use != REC_NATIVE_HEAP)
		return;
	if (live_known) {
		live[0] = rec_native_live_blocks(site);
		live[1] = rec_native_live_bytes(site);
	}
	tell_total(rec, &key, known, 0, allocated);
	key.metric = REC_NATIVE_LIVE;
	tell_total(rec, &key, known, 1, live);
}

static int64_t blocks_of(uint64_t parts)
{
	return (int64_t)((parts + JVS_NATIVE_ONE / 2) / JVS_NATIVE_ONE);
}

void native_each_site(struct native *native, uint32_t target, native_site_fn *do_site,
		      const void *ctx)
{
	uint32_t count = native_site_count(native);

	for (uint32_t i = 1; i < count; i++)
		if (is_of(native, i, target))
			do_site(&native->sites[i], &native->known[i], ctx);
}

void native_read_site(struct native *native, const struct process *p, struct recording *rec,
		      uint32_t number, struct rec_native_site *out)
{
	const struct jvs_native_site *from = &native->sites[number];
	const struct native_site *known = &native->known[number];
	struct native_target *t = &native->targets[p->index];
	struct rec_native_site site = { .jvm = p->rec_jvm, .stack = known->stack }, *row = &site;

	site.tag = native_tag(t, rec, from->tag);
	site.use = from->use == JVS_NATIVE_HEAP ? REC_NATIVE_HEAP : REC_NATIVE_UNKNOWN_FREE;
	row->allocated_blocks = blocks_of(from->allocated_blocks);
	row->allocated_bytes = (int64_t)from->allocated_bytes;
	row->freed_blocks = blocks_of(from->freed_blocks);
	row->freed_bytes = (int64_t)from->freed_bytes;
	row->untracked_blocks =
		row->allocated_blocks - blocks_of(from->allocated_blocks - from->untracked_blocks);
	row->untracked_bytes = (int64_t)from->untracked_bytes;
	row->error_bytes = sqrt((double)from->variance * JVS_NATIVE_VARIANCE);
	*out = site;
}

static void tell_site(struct native *native, const struct process *p, struct recording *rec,
		      uint32_t number)
{
	const struct jvs_native_site *from = &native->sites[number];
	struct native_site *known = &native->known[number];
	const struct rec_native_chain unknown = { 0 },
				      *chain = calls_of(&native->calls, from->stack);
	struct native_unseen unseen;
	struct rec_native_site row;

	native_read_site(native, p, rec, number, &row);
	native_read_unseen(&native->targets[p->index], from, known, &unseen);
	native_add_unseen(&native->targets[p->index], &unseen, &row);
	/* Totals do not move: one that was told without its stack would stay so. */
	if (known->stack || !from->stack || !native->waits)
		native_tell_totals(rec, &row, known, !native->targets[p->index].live_lost);
	known->id = rec_native_site(rec, &row);
	rec_native_calls_add(rec, chain ? chain : &unknown, &row);
}

/* ---- the blocks that live */

static int age_of(int64_t ns)
{
	static const int64_t below_s[REC_NATIVE_AGES - 1] = { 1, 10, 60, 600, 3600, 86400, 604800 };
	int age = 0;

	while (age < REC_NATIVE_AGES - 1 && ns >= below_s[age] * 1000000000)
		age++;
	return age;
}

#define BATCH 4096

void native_each_block(const struct native *native, uint32_t target, native_block_fn *do_block,
		       void *ctx)
{
	struct jvs_native_block *blocks = calloc(BATCH, sizeof(*blocks));
	uint64_t *keys = calloc(BATCH, sizeof(*keys));
	uint64_t in = 0, next = 0;
	bool first = true;
	int err = 0;

	while (keys && blocks && !err) {
		uint32_t count = BATCH;

		err = bpf_map_lookup_batch(native->live_fd, first ? NULL : &in, &next, keys, blocks,
					   &count, NULL);
		for (uint32_t i = 0; (!err || err == -ENOENT) && i < count; i++)
			if (keys[i] >> JVS_ADDRESS_BITS == target)
				do_block(keys[i], &blocks[i], ctx);
		in = next;
		first = false;
	}
	free(keys);
	free(blocks);
}

struct ages {
	struct native *native;
	struct recording *rec;
	struct native_growths growths;
	uint64_t now_ns; /* CLOCK_MONOTONIC */
};

static void add_age(uint64_t key, const struct jvs_native_block *block, void *ctx)
{
	struct ages *ages = ctx;
	uint32_t now = (uint32_t)(ages->now_ns >> JVS_NATIVE_TIME_SHIFT), id;
	struct native_age age = { .bytes = (int64_t)block->bytes };
	struct rec_native_site *site;

	(void)key;
	if (block->site >= ages->native->max_sites)
		return;
	id = ages->native->known[block->site].id;
	site = rec_native_site_get(ages->rec, id);
	if (!site)
		return;
	age.ns = (int64_t)(uint32_t)(now - block->time) << JVS_NATIVE_TIME_SHIFT;
	age.born_ns = ages->now_ns - (uint64_t)age.ns;
	age.place = age_of(age.ns);
	site->ages[age.place] += age.bytes;
	if (age.ns > site->oldest_ns)
		site->oldest_ns = age.ns;
	native_growths_block(&ages->growths, id, &age);
}

static void forget_ages(struct recording *rec, uint32_t jvm)
{
	for (uint32_t id = 1; id <= rec_native_site_count(rec); id++) {
		struct rec_native_site *site = rec_native_site_get(rec, id);

		if (site->jvm != jvm)
			continue;
		memset(site->ages, 0, sizeof(site->ages));
		site->oldest_ns = 0;
	}
}

static void tell_growth(struct native *native, const struct process *p, struct recording *rec)
{
	struct ages ages = { .native = native, .rec = rec };
	const struct growth_clock *clock = &native->targets[p->index].clock;

	native_growths_open(native, p, rec, &ages.growths);
	ages.now_ns = clock_monotonic_ns();
	forget_ages(rec, p->rec_jvm);
	native_each_block(native, p->index, add_age, &ages);
	native_growths_tell(&ages.growths, rec);
	if (clock->count)
		rec_native_count_set(rec, p->rec_jvm, "collections",
				     clock->collections[clock->count - 1] - clock->collections[0]);
}

/* ---- what the rest of live calls */

void native_tick_all(struct native *native, struct decoder *d, uint64_t now_ns)
{
	native->now_ns = now_ns;
	resolve_sites(native, d);
	native_give_back(native, now_ns);
}

void native_tick(struct native *native, struct decoder *d, struct process *p, struct recording *rec)
{
	read_more_names(&native->targets[p->index], p);
	native_keep_mappings(native, d, p, rec);
	native_keep_budget(native, d, p, rec);
	native_follow(native, p, false);
	native_tell_live(native, d, p, rec);
	native_retire(native, p, rec);
}

void native_finish(struct native *native, struct decoder *d, const struct process *p,
		   struct recording *rec)
{
	uint32_t count = native_site_count(native);

	if (!p->rec_jvm || native->targets[p->index].over)
		return;
	resolve_sites(native, d);
	native_follow(native, p, true);
	native_judge_slices(native, p->index, &native->targets[p->index]);
	rec_native_forget_sites(rec, p->rec_jvm);
	for (uint32_t i = 1; i < count; i++)
		if (is_of(native, i, p->index))
			tell_site(native, p, rec, i);
	native_tell_retired(native, p, rec);
	mappings_tell(native, d, p, rec);
	add_counts(native, p, rec);
	native_tell_budget(native, d, p, rec);
	native_tell_live(native, d, p, rec);
	tell_growth(native, p, rec);
}

void native_status(const struct native *native, struct live_status *status)
{
	enum rec_native_state least = REC_NATIVE_EXACT;
	uint32_t count = native_site_count(native);

	for (uint32_t i = 0; i < JVS_MAX_TARGETS; i++) {
		const struct native_target *t = &native->targets[i];

		if (!t->begun)
			continue;
		if (!status->native_state)
			status->native_known = true;
		if (t->governor.state > least)
			least = t->governor.state;
		status->native_known &= !t->live_lost;
		status->native_state = rec_native_state_name(least);
	}
	for (uint32_t i = 1; i < count && status->native_known; i++) {
		const struct jvs_native_site *site = &native->sites[i];

		if (site->use == JVS_NATIVE_HEAP)
			status->native_bytes +=
				(int64_t)(site->allocated_bytes - site->freed_bytes -
					  site->untracked_bytes);
	}
}
