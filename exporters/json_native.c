/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json_native.h"

#include <errno.h>
#include <stdlib.h>

#include "exporters/json_counts.h"
#include "exporters/json_stream.h"
#include "model/native.h"
#include "model/native_calls.h"
#include "model/recording.h"
#include "model/uncovered.h"

/* ---- sites, and their sums by tag */

/* What was not seen of mappings is not made up for. */
static bool is_estimated(const struct recording *rec, const struct rec_native_site *site)
{
	const struct rec_native_budget *budget = rec_native_budget_get(rec, site->jvm);

	if (site->use != REC_NATIVE_HEAP && site->use != REC_NATIVE_UNKNOWN_FREE)
		return rec_mapped_known(rec, site->jvm);
	return !budget || budget->estimated;
}

static void write_numbers(struct json_stream *json, const struct recording *rec,
			  const struct rec_native_site *site)
{
	bool known = rec_site_live_known(rec, site), estimated = is_estimated(rec, site);

	json_key_signed_or_null(json, "live_bytes", rec_native_live_bytes(site), known);
	json_key_signed_or_null(json, "live_blocks", rec_native_live_blocks(site), known);
	json_key_signed_or_null(json, "alloc_bytes", site->allocated_bytes, estimated);
	json_key_signed_or_null(json, "alloc_count", site->allocated_blocks, estimated);
	if (!estimated) {
		json_key_signed(json, "seen_bytes", site->allocated_bytes);
		json_key_signed(json, "seen_count", site->allocated_blocks);
	}
	json_key_signed(json, "freed_bytes", site->freed_bytes);
	json_key_signed(json, "freed_count", site->freed_blocks);
	json_key_signed(json, "untracked_bytes", site->untracked_bytes);
	json_key_signed(json, "untracked_count", site->untracked_blocks);
	json_key_decimal(json, "error_bytes", site->error_bytes);
	if (site->slice_error_bytes != 0)
		json_key_decimal(json, "slice_error_bytes", site->slice_error_bytes);
}

static void write_ages(struct json_stream *json, const int64_t ages[REC_NATIVE_AGES],
		       int64_t oldest_ns)
{
	json_key(json, "age_histogram");
	json_array(json);
	for (int age = 0; age < REC_NATIVE_AGES; age++)
		json_signed(json, ages[age]);
	json_array_end(json);
	json_key_signed(json, "oldest_ns", oldest_ns);
}

static bool has_ages(const struct rec_native_site *site)
{
	int64_t any = site->oldest_ns;

	for (int age = 0; age < REC_NATIVE_AGES; age++)
		any |= site->ages[age];
	return any;
}

static void write_site(struct json_stream *json, const struct recording *rec,
		       const struct rec_native_site *site)
{
	json_map(json);
	json_key_unsigned(json, "jvm", site->jvm - 1);
	json_key_index(json, "stack", site->stack);
	json_key_text(json, "tag", rec_text(rec, site->tag));
	json_key_text(json, "use", rec_native_use_name(site->use));
	write_numbers(json, rec, site);
	if (has_ages(site))
		write_ages(json, site->ages, site->oldest_ns);
	json_map_end(json);
}

static void write_sites(struct json_stream *json, const struct recording *rec)
{
	json_key(json, "sites");
	json_array(json);
	for (uint32_t id = 1; id <= rec_native_site_count(rec) && !json->err; id++) {
		const struct rec_native_site *site = rec_native_site_get(rec, id);

		/* One whose stack was not known yet has moved. */
		if (site->allocated_blocks || site->freed_blocks)
			write_site(json, rec, site);
	}
	json_array_end(json);
}

static void write_tags(struct json_stream *json, const struct recording *rec)
{
	struct rec_native_tag *tags = NULL;
	ssize_t count = rec_native_tags(rec, &tags);
	bool known;

	if (count < 0) {
		json->err = json->err ? json->err : (int)count;
		return;
	}
	json_key(json, "by_tag");
	json_array(json);
	for (ssize_t i = 0; i < count; i++) {
		json_map(json);
		json_key_unsigned(json, "jvm", tags[i].sum.jvm - 1);
		json_key_text(json, "tag", rec_text(rec, tags[i].sum.tag));
		write_numbers(json, rec, &tags[i].sum);
		json_key_signed(json, "unknown_free_count", tags[i].unknown_frees);
		known = rec_mapped_known(rec, tags[i].sum.jvm);
		json_key_signed_or_null(json, "reserved_bytes", tags[i].reserved, known);
		json_key_signed_or_null(json, "committed_bytes", tags[i].committed, known);
		json_key_signed_or_null(json, "stack_bytes", tags[i].stacks, known);
		json_map_end(json);
	}
	json_array_end(json);
	free(tags);
}

/* ---- the same by the addresses of their calls */

static void write_chain(struct json_stream *json, const struct recording *rec,
			const struct rec_native_chain *chain)
{
	json_key(json, "calls");
	json_array(json);
	for (int i = 0; i < REC_NATIVE_CALLS && chain->calls[i].address; i++) {
		const struct rec_native_call *call = &chain->calls[i];

		json_array(json);
		json_unsigned(json, call->address);
		json_text_or_null(json, rec_text(rec, call->function));
		json_unsigned(json, call->offset);
		json_array_end(json);
	}
	json_array_end(json);
}

static void write_calls(struct json_stream *json, const struct recording *rec)
{
	json_key(json, "calls");
	json_array(json);
	for (uint32_t id = 1; id <= rec_native_calls_count(rec) && !json->err; id++) {
		const struct rec_native_calls *calls = rec_native_calls_get(rec, id);

		if (!calls->sum.allocated_blocks && !calls->sum.freed_blocks)
			continue;
		json_map(json);
		json_key_unsigned(json, "jvm", calls->jvm - 1);
		json_key_text(json, "tag", rec_text(rec, calls->tag));
		json_key_text(json, "use", rec_native_use_name((enum rec_native_use)calls->use));
		write_chain(json, rec, &calls->chain);
		write_numbers(json, rec, &calls->sum);
		json_map_end(json);
	}
	json_array_end(json);
}

/* ---- suspects */

static void write_suspect(struct json_stream *json, const struct recording *rec,
			  const struct rec_native_suspect *suspect)
{
	json_map(json);
	json_key_unsigned(json, "jvm", suspect->jvm - 1);
	json_key_index(json, "stack", suspect->stack);
	json_key_text(json, "tag", rec_text(rec, suspect->tag));
	json_key_text(json, "kind", growth_kind_name(suspect->kind));
	json_key_unsigned(json, "sites", suspect->sites);
	json_key_signed(json, "live_bytes", suspect->live_bytes);
	json_key_signed(json, "live_blocks", suspect->live_blocks);
	json_key_decimal(json, "bytes_per_minute", suspect->bytes_per_minute);
	write_ages(json, suspect->ages, suspect->oldest_ns);
	json_key_unsigned(json, "collections_survived", suspect->survived);
	json_map_end(json);
}

static void write_suspects(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	const struct rec_native_suspect *suspects = rec_native_suspects(rec, &count);

	json_key(json, "suspects");
	json_array(json);
	for (size_t i = 0; i < count && i < REC_TOLD_SUSPECTS; i++)
		write_suspect(json, rec, &suspects[i]);
	json_array_end(json);
}

/* ---- what was counted */

static void write_counts(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	const struct rec_count *counts = rec_native_counts(rec, &count);

	json_counts(json, rec, counts, count);
}

/* ---- what libc's heap grew by, and no site explains */

static void write_uncovered(struct json_stream *json, const struct recording *rec)
{
	json_key(json, "uncovered");
	json_array(json);
	for (uint32_t jvm = 1; jvm <= rec_jvm_count(rec); jvm++) {
		struct rec_uncovered found;

		if (!rec_uncovered(rec, jvm, &found))
			continue;
		json_map(json);
		json_key_unsigned(json, "jvm", jvm - 1);
		json_key_signed(json, "malloc_growth_bytes", found.growth_bytes);
		json_key_signed(json, "explained_bytes", found.explained_bytes);
		json_key_signed(json, "overhead_bytes", found.overhead_bytes);
		json_key_signed(json, "unread_bytes", found.unread_bytes);
		json_key_signed(json, "uncovered_bytes", found.uncovered_bytes);
		json_key_bool(json, "with_libc", found.with_libc);
		json_map_end(json);
	}
	json_array_end(json);
}

void json_native(struct json_stream *json, const struct recording *rec)
{
	if (!rec_has_native(rec))
		return;
	write_tags(json, rec);
	write_sites(json, rec);
	write_calls(json, rec);
	write_suspects(json, rec);
	write_counts(json, rec);
	write_uncovered(json, rec);
}

/* ---- budget */

static void write_states(struct json_stream *json, const struct rec_native_budget *budget)
{
	json_key(json, "state_ns");
	json_map(json);
	for (int state = 0; state < REC_NATIVE_STATE_NR; state++)
		json_key_unsigned(json, rec_native_state_name((enum rec_native_state)state),
				  budget->state_ns[state]);
	json_map_end(json);
}

static void write_limit(struct json_stream *json, const struct rec_native_budget *budget)
{
	json_key(json, "limit_pct");
	if (budget->limit_pct > 0)
		json_decimal(json, budget->limit_pct);
	else
		json_null(json);
}

static double share_of(uint64_t watched_ns, uint64_t all_ns)
{
	return all_ns ? (double)watched_ns / (double)all_ns : 1;
}

/* All JVMs in one: each has the same limit, so what is near it is the largest cost. */
static void write_all(struct json_stream *json, const struct rec_native_budget *budgets,
		      size_t count)
{
	uint64_t watched_ns = 0, all_ns = 0;
	double most = 0;

	for (size_t i = 0; i < count; i++) {
		watched_ns += budgets[i].watched_cpu_ns;
		all_ns += budgets[i].all_cpu_ns;
		most = budgets[i].cost_pct > most ? budgets[i].cost_pct : most;
	}
	write_limit(json, &budgets[0]);
	json_key_decimal(json, "cost_pct", most);
	json_key_decimal(json, "coverage", share_of(watched_ns, all_ns));
}

static void write_budget(struct json_stream *json, const struct rec_native_budget *budget)
{
	json_map(json);
	json_key_unsigned(json, "jvm", budget->jvm - 1);
	json_key_text(json, "group", rec_probe_group_name(budget->group));
	write_limit(json, budget);
	json_key_decimal(json, "cost_pct", budget->cost_pct);
	json_key_decimal(json, "total_cost_pct", budget->total_cost_pct);
	json_key_text(json, "state", rec_native_state_name(budget->state));
	json_key_decimal(json, "coverage", share_of(budget->watched_cpu_ns, budget->all_cpu_ns));
	json_key_unsigned(json, "watched_cpu_ns", budget->watched_cpu_ns);
	json_key_unsigned(json, "cpu_ns", budget->all_cpu_ns);
	json_key_signed_or_null(json, "attached_time_ns", budget->attached_ns, budget->attached_ns);
	json_key_unsigned(json, "sample_interval_bytes", budget->interval);
	json_key_bool(json, "estimated", budget->estimated);
	if (budget->error_pct != 0)
		json_key_decimal(json, "error_pct", budget->error_pct);
	json_key_bool(json, "live_known", budget->live_known);
	json_key_signed_or_null(json, "live_bytes", budget->live_bytes, budget->live_known);
	json_key_signed_or_null(json, "live_blocks", budget->live_blocks, budget->live_known);
	write_states(json, budget);
	json_map_end(json);
}

static void write_events(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	const struct rec_budget_event *events = rec_budget_events(rec, &count);

	json_key(json, "events");
	json_array(json);
	for (size_t i = 0; i < count; i++) {
		json_map(json);
		json_key_signed(json, "time_ns", events[i].time_ns);
		json_key_unsigned(json, "jvm", events[i].jvm - 1);
		json_key_text(json, "group", rec_probe_group_name(events[i].group));
		json_key_text(json, "from", rec_native_state_name(events[i].from));
		json_key_text(json, "to", rec_native_state_name(events[i].to));
		json_key_text(json, "reason", rec_budget_reason_name(events[i].reason));
		json_key_decimal(json, "cost_pct", events[i].cost_pct);
		json_key_decimal(json, "limit_pct", events[i].limit_pct);
		json_map_end(json);
	}
	json_array_end(json);
}

void json_budget(struct json_stream *json, const struct recording *rec)
{
	size_t count;
	const struct rec_native_budget *budgets = rec_native_budgets(rec, &count);

	if (!count)
		return;
	json_key(json, "budget");
	json_map(json);
	write_all(json, budgets, count);
	json_key(json, "jvms");
	json_array(json);
	for (size_t i = 0; i < count; i++)
		write_budget(json, &budgets[i]);
	json_array_end(json);
	write_events(json, rec);
	json_map_end(json);
}
