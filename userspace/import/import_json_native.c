/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "import/import_tree.h"
#include "model/native.h"
#include "model/native_calls.h"

/* Native memory, and what its probes cost. Sums by tag are those of the sites. */

/* What a file says may be any number. */
static int64_t bytes_of(yajl_val map, const char *key)
{
	return rec_bytes(tree_integer(tree_get(map, key)));
}

/* ---- sites, and the same by calls */

static void read_amounts(yajl_val from, struct rec_native_site *to)
{
	/* Where they are not those of all the time, they are what was seen. */
	bool seen = tree_get(from, "seen_bytes");

	to->allocated_blocks = bytes_of(from, seen ? "seen_count" : "alloc_count");
	to->allocated_bytes = bytes_of(from, seen ? "seen_bytes" : "alloc_bytes");
	to->freed_blocks = bytes_of(from, "freed_count");
	to->freed_bytes = bytes_of(from, "freed_bytes");
	to->untracked_blocks = bytes_of(from, "untracked_count");
	to->untracked_bytes = bytes_of(from, "untracked_bytes");
	to->error_bytes = tree_decimal(tree_get(from, "error_bytes"));
	to->slice_error_bytes = tree_decimal(tree_get(from, "slice_error_bytes"));
}

static void read_ages(yajl_val from, int64_t ages[REC_NATIVE_AGES], int64_t *oldest_ns)
{
	yajl_val list = tree_get(from, "age_histogram");

	for (size_t age = 0; age < REC_NATIVE_AGES; age++)
		ages[age] = rec_bytes(tree_integer(tree_at(list, age)));
	*oldest_ns = tree_integer(tree_get(from, "oldest_ns"));
}

/* JVM, tag and use; whether there is a site. */
static bool read_key(struct tree *t, yajl_val from, struct rec_native_site *to)
{
	int use = rec_native_use_find(tree_text(tree_get(from, "use")));

	to->jvm = tree_jvm_at(t, tree_get(from, "jvm"));
	to->tag = tree_string(t, tree_get(from, "tag"));
	to->use = use < 0 ? REC_NATIVE_HEAP : (enum rec_native_use)use;
	return use >= 0 && to->jvm;
}

static void read_site(struct tree *t, yajl_val from)
{
	struct rec_native_site site = { 0 };

	if (!read_key(t, from, &site))
		return;
	site.stack = tree_id_at(t, t->stacks, t->stack_count, tree_get(from, "stack"));
	read_amounts(from, &site);
	read_ages(from, site.ages, &site.oldest_ns);
	rec_native_site(t->rec, &site);
}

static void read_calls(struct tree *t, yajl_val from)
{
	yajl_val list = tree_get(from, "calls");
	struct rec_native_chain chain = { 0 };
	struct rec_native_site site = { 0 };

	if (!read_key(t, from, &site))
		return;
	for (size_t i = 0; i < REC_NATIVE_CALLS; i++) {
		yajl_val call = tree_at(list, i);

		chain.calls[i] = (struct rec_native_call){
			.address = tree_counter(tree_at(call, 0)),
			.function = tree_string(t, tree_at(call, 1)),
			.offset = (uint32_t)tree_counter(tree_at(call, 2)),
		};
	}
	read_amounts(from, &site);
	rec_native_calls_add(t->rec, &chain, &site);
}

/* ---- suspects and counts */

static void read_suspect(struct tree *t, yajl_val from)
{
	int kind = growth_kind_find(tree_text(tree_get(from, "kind")));
	struct rec_native_suspect suspect = {
		.jvm = tree_jvm_at(t, tree_get(from, "jvm")),
		.stack = tree_id_at(t, t->stacks, t->stack_count, tree_get(from, "stack")),
		.tag = tree_string(t, tree_get(from, "tag")),
		.sites = (uint32_t)tree_counter(tree_get(from, "sites")),
		.live_blocks = bytes_of(from, "live_blocks"),
		.live_bytes = bytes_of(from, "live_bytes"),
		.bytes_per_minute = tree_decimal(tree_get(from, "bytes_per_minute")),
		.survived = tree_counter(tree_get(from, "collections_survived")),
	};

	if (kind < 0 || !suspect.jvm)
		return;
	suspect.kind = (enum growth_kind)kind;
	read_ages(from, suspect.ages, &suspect.oldest_ns);
	rec_native_suspect(t->rec, &suspect);
}

static void read_counts(struct tree *t, yajl_val from)
{
	uint32_t jvm = tree_jvm_at(t, tree_get(from, "jvm"));

	for (size_t i = 0; jvm && i < from->u.object.len; i++)
		if (strcmp(from->u.object.keys[i], "jvm") != 0)
			rec_native_count_set(t->rec, jvm, from->u.object.keys[i],
					     tree_counter(from->u.object.values[i]));
}

void import_json_native(struct tree *t, yajl_val native)
{
	tree_each(t, tree_get(native, "sites"), read_site);
	tree_each(t, tree_get(native, "calls"), read_calls);
	tree_each(t, tree_get(native, "suspects"), read_suspect);
	tree_each(t, tree_get(native, "counts"), read_counts);
}

/* ---- budget */

static void read_budget(struct tree *t, yajl_val from)
{
	int group = rec_probe_group_find(tree_text(tree_get(from, "group")));
	int state = rec_native_state_find(tree_text(tree_get(from, "state")));
	uint32_t jvm = tree_jvm_at(t, tree_get(from, "jvm"));
	yajl_val states = tree_get(from, "state_ns"), limit = tree_get(from, "limit_pct");
	struct rec_native_budget *row;

	if (group < 0 || state < 0 || !jvm)
		return;
	row = rec_budget(t->rec, (enum rec_probe_group)group, jvm);
	if (!row)
		return;
	row->state = (enum rec_native_state)state;
	row->limit_pct = YAJL_IS_NUMBER(limit) ? tree_decimal(limit) : 0;
	row->cost_pct = tree_decimal(tree_get(from, "cost_pct"));
	row->total_cost_pct = tree_decimal(tree_get(from, "total_cost_pct"));
	row->attached_ns = tree_time(tree_get(from, "attached_time_ns"));
	for (int i = 0; i < REC_NATIVE_STATE_NR; i++) {
		const char *name = rec_native_state_name((enum rec_native_state)i);

		row->state_ns[i] = tree_counter(tree_get(states, name));
	}
	row->watched_cpu_ns = tree_counter(tree_get(from, "watched_cpu_ns"));
	row->all_cpu_ns = tree_counter(tree_get(from, "cpu_ns"));
	row->interval = tree_counter(tree_get(from, "sample_interval_bytes"));
	row->estimated = tree_is_true(tree_get(from, "estimated"));
	row->error_pct = tree_decimal(tree_get(from, "error_pct"));
	row->live_known = tree_is_true(tree_get(from, "live_known"));
	row->live_bytes = bytes_of(from, "live_bytes");
	row->live_blocks = bytes_of(from, "live_blocks");
}

static void read_change(struct tree *t, yajl_val from)
{
	int group = rec_probe_group_find(tree_text(tree_get(from, "group")));
	int before = rec_native_state_find(tree_text(tree_get(from, "from")));
	int after = rec_native_state_find(tree_text(tree_get(from, "to")));
	int reason = rec_budget_reason_find(tree_text(tree_get(from, "reason")));
	struct rec_budget_event event = {
		.time_ns = tree_time(tree_get(from, "time_ns")),
		.jvm = tree_jvm_at(t, tree_get(from, "jvm")),
		.cost_pct = tree_decimal(tree_get(from, "cost_pct")),
		.limit_pct = tree_decimal(tree_get(from, "limit_pct")),
	};

	if (group < 0 || before < 0 || after < 0 || reason < 0 || !event.jvm)
		return;
	event.group = (enum rec_probe_group)group;
	event.from = (enum rec_native_state)before;
	event.to = (enum rec_native_state)after;
	event.reason = (enum rec_budget_reason)reason;
	rec_budget_event(t->rec, &event);
}

void import_json_budget(struct tree *t, yajl_val budget)
{
	tree_each(t, tree_get(budget, "jvms"), read_budget);
	tree_each(t, tree_get(budget, "events"), read_change);
}
