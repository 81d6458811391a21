/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/native.h"

/*
 * Native memory, site by site: a segment has what changed at each site, not each block.
 *
 * profiler.Malloc and profiler.Free are what async-profiler writes for every block. Here a Malloc
 * stands for many blocks of one site, and a Free ends it as a whole. All Mallocs of a site add up
 * to what it allocated, those without a Free to what lives:
 *
 * - what lives more than at the last segment is one Malloc, a piece that may be freed later,
 * - where less lives, the youngest pieces are freed, and a smaller one makes up for what is then
 *   too much freed,
 * - what was allocated beside that did not stay: one Malloc with its Free.
 *
 * Where what lives is withheld the totals say that nothing does, so every Malloc gets its Free, and
 * NativeAllocation says JFR_NOT_KNOWN.
 */

#define PIECES_MAX 64 /* of a site that can still be freed; what grew before stays */

struct piece {
	uint64_t address; /* no address: a number that no other piece of the file has */
	int64_t bytes;
};

struct amounts {
	int64_t blocks, bytes; /* allocated */
	int64_t live_blocks, live_bytes;
};

struct jfr_native_site {
	/* the key */
	uint32_t jvm;
	uint32_t stack;
	uint32_t tag;
	uint32_t metric; /* of mappings; 0: malloc, which has two */
	struct amounts now;
	struct amounts said;
	int64_t malloced;     /* bytes of all Mallocs */
	int64_t kept;	      /* of those without a Free */
	struct piece *pieces; /* owned; the youngest of those without a Free */
	uint32_t count;
	uint32_t capacity;
};

/* The use of what is mapped, as model/native.h has it; NULL: it is another metric. */
static const char *mapped_use(uint32_t metric)
{
	static const enum rec_native_use uses[REC_METRIC_NR] = {
		[REC_VM_RESERVED] = REC_NATIVE_RESERVED,
		[REC_VM_COMMITTED] = REC_NATIVE_COMMITTED,
		[REC_THREAD_STACKS] = REC_NATIVE_STACK,
	};

	return uses[metric] ? rec_native_use_name(uses[metric]) : NULL;
}

static struct jfr_native_site *site_of(struct jfr_writer *w, const struct rec_key *key)
{
	struct jfr_native_site row = { .jvm = key->jvm, .stack = key->stack, .tag = key->label };
	uint32_t id;

	if (mapped_use(key->metric))
		row.metric = key->metric;

	w->sites.row_size = sizeof(row);
	w->sites.key_size = offsetof(struct jfr_native_site, now);
	if (table_add(&w->sites, &row, REC_MAX_TOTALS, &id)) {
		w->failed = true;
		return NULL;
	}
	return table_get(&w->sites, id);
}

static void add_total(struct amounts *to, const struct rec_total *total)
{
	bool live = total->key.metric != REC_NATIVE_ALLOC;
	int64_t *blocks = live ? &to->live_blocks : &to->blocks;
	int64_t *bytes = live ? &to->live_bytes : &to->bytes;

	*blocks = rec_sum(*blocks, total->count);
	*bytes = rec_sum(*bytes, total->value);
}

/* A site has the totals of all threads. */
static void read_totals(struct jfr_writer *w, const struct recording *rec)
{
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);
	struct jfr_native_site *site;

	for (uint32_t id = 1; id <= w->sites.count; id++) {
		site = table_get(&w->sites, id);
		site->now = (struct amounts){ 0 };
	}
	for (size_t i = 0; i < count; i++) {
		if (totals[i].key.metric != REC_NATIVE_LIVE &&
		    totals[i].key.metric != REC_NATIVE_ALLOC && !mapped_use(totals[i].key.metric))
			continue;
		site = site_of(w, &totals[i].key);
		if (!site)
			return;
		add_total(&site->now, &totals[i]);
	}
}

static size_t begin(struct jfr_writer *w, enum jfr_type_id type, int64_t time_ns,
		    uint32_t stack_constant)
{
	size_t at = jfr_begin(w, type, time_ns);

	jfr_put_long(&w->bytes, 0); /* no thread: a site has many */
	jfr_put_long(&w->bytes, stack_constant);
	return at;
}

/* ---- jvmscope.NativeAllocation */

static void put_live(struct jfr_writer *w, int64_t value, bool known)
{
	jfr_put_long(&w->bytes, (uint64_t)(known ? value : JFR_NOT_KNOWN));
}

static void put_site(struct jfr_writer *w, const struct recording *rec,
		     const struct jfr_native_site *site, int64_t end_ns)
{
	const struct rec_jvm *jvm = rec_jvm_get(rec, site->jvm);
	bool live_known = rec_native_live_known(rec, site->jvm);
	uint32_t stack = jfr_pools_stack(w->pools, rec, site->stack);
	size_t at = begin(w, JFR_NATIVE_ALLOCATION, end_ns, stack);

	jfr_put_text(&w->bytes, site->tag ? rec_text(rec, site->tag) : NULL);
	jfr_put_long(&w->bytes, jvm ? (uint64_t)jvm->pid : 0);
	jfr_put_long(&w->bytes, (uint64_t)site->now.blocks - (uint64_t)site->said.blocks);
	jfr_put_long(&w->bytes, (uint64_t)site->now.bytes - (uint64_t)site->said.bytes);
	put_live(w, site->now.live_blocks, live_known);
	put_live(w, site->now.live_bytes, live_known);
	jfr_end_event(&w->bytes, at);
}

/* ---- jvmscope.NativeMapping */

static void put_mapping(struct jfr_writer *w, const struct recording *rec,
			const struct jfr_native_site *site, int64_t end_ns)
{
	const struct rec_jvm *jvm = rec_jvm_get(rec, site->jvm);
	bool known = rec_mapped_known(rec, site->jvm);
	size_t at =
		begin(w, JFR_NATIVE_MAPPING, end_ns, jfr_pools_stack(w->pools, rec, site->stack));

	jfr_put_text(&w->bytes, mapped_use(site->metric));
	jfr_put_text(&w->bytes, site->tag ? rec_text(rec, site->tag) : NULL);
	jfr_put_long(&w->bytes, jvm ? (uint64_t)jvm->pid : 0);
	put_live(w, site->now.live_blocks, known);
	put_live(w, site->now.live_bytes, known);
	jfr_end_event(&w->bytes, at);
}

/* ---- profiler.Malloc, profiler.Free */

static uint64_t put_malloc(struct jfr_writer *w, struct jfr_native_site *site, uint32_t stack,
			   int64_t bytes)
{
	size_t at = begin(w, JFR_MALLOC, w->start_ns, stack);

	jfr_put_long(&w->bytes, ++w->pieces);
	jfr_put_long(&w->bytes, (uint64_t)bytes);
	jfr_end_event(&w->bytes, at);
	site->malloced = rec_sum(site->malloced, bytes);
	return w->pieces;
}

static void put_free(struct jfr_writer *w, uint32_t stack, uint64_t address, int64_t end_ns)
{
	size_t at = begin(w, JFR_FREE, end_ns, stack);

	jfr_put_long(&w->bytes, address);
	jfr_end_event(&w->bytes, at);
}

/* Room for one more. Returns whether there is. */
static bool reserve_piece(struct jfr_writer *w, struct jfr_native_site *site)
{
	uint32_t capacity = site->capacity ? site->capacity * 2 : 2;
	struct piece *pieces;

	if (site->count == PIECES_MAX) {
		site->count--;
		memmove(&site->pieces[0], &site->pieces[1], site->count * sizeof(*pieces));
	}
	if (site->count < site->capacity)
		return true;
	pieces = reallocarray(site->pieces, capacity, sizeof(*pieces));
	if (!pieces) {
		w->failed = true;
		return false;
	}
	site->pieces = pieces;
	site->capacity = capacity;
	return true;
}

/* Makes the pieces add up to what lives. */
static void settle(struct jfr_writer *w, struct jfr_native_site *site, uint32_t stack,
		   int64_t end_ns)
{
	int64_t wanted = site->now.live_bytes > 0 ? site->now.live_bytes : 0, more;

	while (site->kept > wanted && site->count) {
		const struct piece *youngest = &site->pieces[--site->count];

		put_free(w, stack, youngest->address, end_ns);
		site->kept -= youngest->bytes;
	}
	if (site->kept >= wanted || !reserve_piece(w, site))
		return;
	more = wanted - site->kept;
	site->pieces[site->count++] = (struct piece){ put_malloc(w, site, stack, more), more };
	site->kept = wanted;
}

static void put_blocks(struct jfr_writer *w, const struct recording *rec,
		       struct jfr_native_site *site, int64_t end_ns)
{
	uint32_t stack = jfr_pools_stack(w->pools, rec, site->stack);

	settle(w, site, stack, end_ns);
	if (site->malloced < site->now.bytes)
		put_free(w, stack, put_malloc(w, site, stack, site->now.bytes - site->malloced),
			 end_ns);
}

static bool is_changed(const struct jfr_native_site *site)
{
	return site->now.blocks != site->said.blocks || site->now.bytes != site->said.bytes ||
	       site->now.live_blocks != site->said.live_blocks ||
	       site->now.live_bytes != site->said.live_bytes;
}

void jfr_put_native(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	read_totals(w, rec);
	for (uint32_t id = 1; id <= w->sites.count; id++) {
		struct jfr_native_site *site = table_get(&w->sites, id);

		if (!is_changed(site))
			continue;
		if (site->metric) {
			put_mapping(w, rec, site, end_ns);
		} else {
			put_site(w, rec, site, end_ns);
			put_blocks(w, rec, site, end_ns);
		}
		site->said = site->now;
	}
}

void jfr_free_native(struct jfr_writer *w)
{
	for (uint32_t id = 1; id <= w->sites.count; id++) {
		const struct jfr_native_site *site = table_get(&w->sites, id);

		free(site->pieces);
	}
	table_free(&w->sites);
}
