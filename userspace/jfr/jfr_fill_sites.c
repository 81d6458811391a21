/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "jfr/jfr_fill_impl.h"
#include "model/native.h"
#include "model/native_calls.h"

/*
 * The part of jfr_fill.c for what our files say of native memory beside its totals. Each event has
 * its row as a whole, so the last one of a row is right. Numbers of a broken file may be any.
 */

/* The place of a text in a list of names; -1 when it is not there. */
static int find(struct jfr_filler *f, const struct jfr_item *e, unsigned int field,
		int (*find_name)(const char *name))
{
	return jfr_text(e, field, &f->text) ? find_name(strbuf_text(&f->text)) : -1;
}

static int64_t bytes_of(const struct jfr_item *e, unsigned int field)
{
	return rec_bytes(jfr_number(e, field));
}

/* ---- sites and calls */

enum { AMOUNT_BLOCKS, AMOUNT_BYTES, AMOUNT_FREED_BLOCKS, AMOUNT_FREED_BYTES };
enum { AMOUNT_UNTRACKED_BLOCKS = 4, AMOUNT_UNTRACKED_BYTES, AMOUNT_ERROR };
enum { AMOUNT_SLICE_ERROR = 7, AMOUNT_NR };

/* Writes the numbers that begin at a field. */
static void take_amounts(const struct jfr_item *e, unsigned int at, struct rec_native_site *to)
{
	to->allocated_blocks = bytes_of(e, at + AMOUNT_BLOCKS);
	to->allocated_bytes = bytes_of(e, at + AMOUNT_BYTES);
	to->freed_blocks = bytes_of(e, at + AMOUNT_FREED_BLOCKS);
	to->freed_bytes = bytes_of(e, at + AMOUNT_FREED_BYTES);
	to->untracked_blocks = bytes_of(e, at + AMOUNT_UNTRACKED_BLOCKS);
	to->untracked_bytes = bytes_of(e, at + AMOUNT_UNTRACKED_BYTES);
	to->error_bytes = jfr_decimal(e, at + AMOUNT_ERROR);
	to->slice_error_bytes = jfr_decimal(e, at + AMOUNT_SLICE_ERROR);
}

static void take_ages(const struct jfr_item *e, unsigned int at, int64_t *oldest_ns,
		      int64_t ages[REC_NATIVE_AGES])
{
	*oldest_ns = jfr_number(e, at);
	for (unsigned int age = 0; age < REC_NATIVE_AGES; age++)
		ages[age] = bytes_of(e, at + 1 + age);
}

/* Tag, use and process, which sites and calls have one behind the other. */
static bool take_key(struct jfr_filler *f, const struct jfr_item *e, unsigned int at,
		     struct rec_native_site *to)
{
	int use = find(f, e, at + 1, rec_native_use_find);

	to->tag = jfr_fill_text(f, e, at);
	to->jvm = jfr_fill_jvm_of(f, jfr_number(e, at + 2));
	to->use = use < 0 ? REC_NATIVE_HEAP : (enum rec_native_use)use;
	return use >= 0 && to->jvm;
}

enum { SITE_STACK, SITE_KEY, SITE_AMOUNTS = SITE_KEY + 3, SITE_OLDEST = SITE_AMOUNTS + AMOUNT_NR };

void jfr_fill_native_site(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct rec_native_site site = { 0 }, *to;

	if (!take_key(f, e, SITE_KEY, &site))
		return;
	site.stack = jfr_resolve_stack(&f->resolver, jfr_number(e, SITE_STACK));
	/* Found by its key: nothing is added to it. */
	to = rec_native_site_get(f->rec, rec_native_site(f->rec, &site));
	if (!to)
		return;
	take_amounts(e, SITE_AMOUNTS, to);
	take_ages(e, SITE_OLDEST, &to->oldest_ns, to->ages);
}

enum { CALLS_KEY, CALLS_AMOUNTS = CALLS_KEY + 3, CALLS_FIRST = CALLS_AMOUNTS + AMOUNT_NR };

void jfr_fill_native_calls(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct rec_native_chain chain = { 0 };
	struct rec_native_site site = { 0 };
	struct rec_native_calls *to;

	if (!take_key(f, e, CALLS_KEY, &site))
		return;
	for (unsigned int i = 0; i < REC_NATIVE_CALLS; i++)
		chain.calls[i] = (struct rec_native_call){
			.address = (uint64_t)jfr_number(e, CALLS_FIRST + 3 * i),
			.function = jfr_fill_text(f, e, CALLS_FIRST + 3 * i + 1),
			.offset = (uint32_t)jfr_number(e, CALLS_FIRST + 3 * i + 2),
		};
	to = rec_native_calls(f->rec, &chain, &site);
	if (to)
		take_amounts(e, CALLS_AMOUNTS, &to->sum);
}

/* ---- suspects */

/* When the suspects of a JVM were told that the recording has. */
struct told {
	uint32_t jvm;
	uint32_t pad;
	/* The key ends here. */
	int64_t time_ns;
};

/* Whether suspects of this time are to be kept; older ones are forgotten then. */
static bool is_latest(struct jfr_filler *f, uint32_t jvm, int64_t time_ns)
{
	struct told row = { .jvm = jvm, .time_ns = time_ns }, *told;
	uint32_t id;

	f->suspects.row_size = sizeof(row);
	f->suspects.key_size = offsetof(struct told, time_ns);
	if (table_add(&f->suspects, &row, REC_MAX_JVMS, &id)) {
		f->err = -ENOMEM;
		return false;
	}
	told = table_get(&f->suspects, id);
	if (told->time_ns < time_ns) {
		rec_native_forget_suspects(f->rec, jvm);
		told->time_ns = time_ns;
	}
	return told->time_ns == time_ns;
}

enum {
	SUSPECT_TIME,
	SUSPECT_STACK,
	SUSPECT_TAG,
	SUSPECT_PID,
	SUSPECT_KIND,
	SUSPECT_SITES,
	SUSPECT_LIVE_BLOCKS,
	SUSPECT_LIVE_BYTES,
	SUSPECT_GROWTH,
	SUSPECT_SURVIVED,
	SUSPECT_OLDEST,
};

void jfr_fill_native_suspect(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	int kind = find(f, e, SUSPECT_KIND, growth_kind_find);
	struct rec_native_suspect suspect = {
		.jvm = jfr_fill_jvm_of(f, jfr_number(e, SUSPECT_PID)),
		.stack = jfr_resolve_stack(&f->resolver, jfr_number(e, SUSPECT_STACK)),
		.tag = jfr_fill_text(f, e, SUSPECT_TAG),
		.sites = (uint32_t)jfr_number(e, SUSPECT_SITES),
		.live_blocks = bytes_of(e, SUSPECT_LIVE_BLOCKS),
		.live_bytes = bytes_of(e, SUSPECT_LIVE_BYTES),
		.bytes_per_minute = jfr_decimal(e, SUSPECT_GROWTH),
		.survived = (uint64_t)jfr_number(e, SUSPECT_SURVIVED),
	};

	if (kind < 0 || !suspect.jvm || !is_latest(f, suspect.jvm, jfr_fill_time(e, SUSPECT_TIME)))
		return;
	suspect.kind = (enum growth_kind)kind;
	take_ages(e, SUSPECT_OLDEST, &suspect.oldest_ns, suspect.ages);
	rec_native_suspect(f->rec, &suspect);
}

/* ---- what was counted, and what it cost */

void jfr_fill_native_count(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	uint32_t jvm = jfr_fill_jvm_of(f, jfr_number(e, 0));

	if (jvm && jfr_text(e, 1, &f->text))
		rec_native_count_set(f->rec, jvm, strbuf_text(&f->text),
				     (uint64_t)jfr_number(e, 2));
}

enum {
	BUDGET_PID,
	BUDGET_GROUP,
	BUDGET_STATE,
	BUDGET_COST,
	BUDGET_TOTAL_COST,
	BUDGET_LIMIT,
	BUDGET_WATCHED,
	BUDGET_CPU,
	BUDGET_ESTIMATED,
	BUDGET_ERROR,
	BUDGET_LIVE_KNOWN,
	BUDGET_ATTACHED,
	BUDGET_STATES,
	BUDGET_INTERVAL = BUDGET_STATES + REC_NATIVE_STATE_NR,
	BUDGET_LIVE_BLOCKS,
	BUDGET_LIVE_BYTES,
};

void jfr_fill_probe_budget(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	int group = find(f, e, BUDGET_GROUP, rec_probe_group_find);
	int state = find(f, e, BUDGET_STATE, rec_native_state_find);
	uint32_t jvm = jfr_fill_jvm_of(f, jfr_number(e, BUDGET_PID));
	struct rec_native_budget *row;

	if (group < 0 || state < 0 || !jvm)
		return;
	row = rec_budget(f->rec, (enum rec_probe_group)group, jvm);
	if (!row)
		return;
	row->state = (enum rec_native_state)state;
	row->cost_pct = 100 * jfr_decimal(e, BUDGET_COST);
	row->total_cost_pct = 100 * jfr_decimal(e, BUDGET_TOTAL_COST);
	row->limit_pct = 100 * jfr_decimal(e, BUDGET_LIMIT);
	row->watched_cpu_ns = (uint64_t)jfr_number(e, BUDGET_WATCHED);
	row->all_cpu_ns = (uint64_t)jfr_number(e, BUDGET_CPU);
	row->estimated = jfr_number(e, BUDGET_ESTIMATED);
	row->error_pct = 100 * jfr_decimal(e, BUDGET_ERROR);
	row->live_known = jfr_number(e, BUDGET_LIVE_KNOWN);
	row->attached_ns = rec_time(jfr_number(e, BUDGET_ATTACHED));
	for (unsigned int i = 0; i < REC_NATIVE_STATE_NR; i++)
		row->state_ns[i] = (uint64_t)jfr_number(e, BUDGET_STATES + i);
	row->interval = (uint64_t)jfr_number(e, BUDGET_INTERVAL);
	row->live_blocks = bytes_of(e, BUDGET_LIVE_BLOCKS);
	row->live_bytes = bytes_of(e, BUDGET_LIVE_BYTES);
}

enum {
	CHANGE_TIME,
	CHANGE_PID,
	CHANGE_GROUP,
	CHANGE_FROM,
	CHANGE_TO,
	CHANGE_REASON,
	CHANGE_COST,
	CHANGE_LIMIT,
};

void jfr_fill_probe_state(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	int group = find(f, e, CHANGE_GROUP, rec_probe_group_find);
	int from = find(f, e, CHANGE_FROM, rec_native_state_find);
	int to = find(f, e, CHANGE_TO, rec_native_state_find);
	int reason = find(f, e, CHANGE_REASON, rec_budget_reason_find);
	struct rec_budget_event event = {
		.time_ns = jfr_fill_time(e, CHANGE_TIME),
		.jvm = jfr_fill_jvm_of(f, jfr_number(e, CHANGE_PID)),
		.cost_pct = 100 * jfr_decimal(e, CHANGE_COST),
		.limit_pct = 100 * jfr_decimal(e, CHANGE_LIMIT),
	};

	if (group < 0 || from < 0 || to < 0 || reason < 0 || !event.jvm)
		return;
	event.group = (enum rec_probe_group)group;
	event.from = (enum rec_native_state)from;
	event.to = (enum rec_native_state)to;
	event.reason = (enum rec_budget_reason)reason;
	rec_budget_event(f->rec, &event);
}
