/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/native_calls.h"

/*
 * What is known of native memory beside its totals: sites, suspects and what was counted. A segment
 * has the rows that are not as the file had them last, each as a whole, so that the last event of a
 * row is right.
 */

static void put_string(struct jfr_writer *w, const struct recording *rec, uint32_t string)
{
	jfr_put_text(&w->bytes, string ? rec_text(rec, string) : NULL);
}

static void put_long(struct jfr_writer *w, int64_t value)
{
	jfr_put_long(&w->bytes, (uint64_t)value);
}

/* ---- sites and calls */

static void put_amounts(struct jfr_writer *w, const struct rec_native_site *site)
{
	put_long(w, site->allocated_blocks);
	put_long(w, site->allocated_bytes);
	put_long(w, site->freed_blocks);
	put_long(w, site->freed_bytes);
	put_long(w, site->untracked_blocks);
	put_long(w, site->untracked_bytes);
	jfr_put_double(&w->bytes, site->error_bytes);
	jfr_put_double(&w->bytes, site->slice_error_bytes);
}

static void put_ages(struct jfr_writer *w, int64_t oldest_ns, const int64_t ages[REC_NATIVE_AGES])
{
	put_long(w, oldest_ns);
	for (int age = 0; age < REC_NATIVE_AGES; age++)
		put_long(w, ages[age]);
}

static void put_site(struct jfr_writer *w, const struct recording *rec,
		     const struct rec_native_site *site, int64_t end_ns)
{
	uint32_t stack = jfr_pools_stack(w->pools, rec, site->stack);
	size_t at = jfr_begin(w, JFR_NATIVE_SITE, end_ns);

	jfr_put_long(&w->bytes, stack);
	put_string(w, rec, site->tag);
	jfr_put_text(&w->bytes, rec_native_use_name(site->use));
	jfr_put_long(&w->bytes, jfr_pid_of(rec, site->jvm));
	put_amounts(w, site);
	put_ages(w, site->oldest_ns, site->ages);
	jfr_end_event(&w->bytes, at);
}

static void put_sites(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	for (uint32_t id = 1; id <= rec_native_site_count(rec); id++) {
		const struct rec_native_site *site = rec_native_site_get(rec, id);
		bool was_said = id < w->native_sites.capacity && w->native_sites.hashes[id];

		/* One whose stack was not known yet has moved. */
		if (!was_said && !site->allocated_blocks && !site->freed_blocks)
			continue;
		if (jfr_is_news(w, &w->native_sites, id, site, sizeof(*site)))
			put_site(w, rec, site, end_ns);
	}
}

static void put_calls(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	for (uint32_t id = 1; id <= rec_native_calls_count(rec); id++) {
		const struct rec_native_calls *calls = rec_native_calls_get(rec, id);
		size_t at;

		if (!jfr_is_news(w, &w->native_calls, id, calls, sizeof(*calls)))
			continue;
		at = jfr_begin(w, JFR_NATIVE_CALLS, end_ns);
		put_string(w, rec, calls->tag);
		jfr_put_text(&w->bytes, rec_native_use_name((enum rec_native_use)calls->use));
		jfr_put_long(&w->bytes, jfr_pid_of(rec, calls->jvm));
		put_amounts(w, &calls->sum);
		for (int i = 0; i < REC_NATIVE_CALLS; i++) {
			jfr_put_long(&w->bytes, calls->chain.calls[i].address);
			put_string(w, rec, calls->chain.calls[i].function);
			jfr_put_long(&w->bytes, calls->chain.calls[i].offset);
		}
		jfr_end_event(&w->bytes, at);
	}
}

/* ---- suspects */

static void put_suspect(struct jfr_writer *w, const struct recording *rec,
			const struct rec_native_suspect *suspect, int64_t end_ns)
{
	uint32_t stack = jfr_pools_stack(w->pools, rec, suspect->stack);
	size_t at = jfr_begin(w, JFR_NATIVE_SUSPECT, end_ns);

	jfr_put_long(&w->bytes, stack);
	put_string(w, rec, suspect->tag);
	jfr_put_long(&w->bytes, jfr_pid_of(rec, suspect->jvm));
	jfr_put_text(&w->bytes, growth_kind_name(suspect->kind));
	put_long(w, suspect->sites);
	put_long(w, suspect->live_blocks);
	put_long(w, suspect->live_bytes);
	jfr_put_double(&w->bytes, suspect->bytes_per_minute);
	jfr_put_long(&w->bytes, suspect->survived);
	put_ages(w, suspect->oldest_ns, suspect->ages);
	jfr_end_event(&w->bytes, at);
}

/* All of them at once: of a JVM, those of its last time are all it has. */
static void put_suspects(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	size_t count;
	const struct rec_native_suspect *suspects = rec_native_suspects(rec, &count);

	count = count < REC_TOLD_SUSPECTS ? count : REC_TOLD_SUSPECTS;
	if (!count || !jfr_is_news(w, &w->suspects, 0, suspects, count * sizeof(*suspects)))
		return;
	for (size_t i = 0; i < count; i++)
		put_suspect(w, rec, &suspects[i], end_ns);
}

/* ---- what was counted */

static void put_counts(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	size_t count, at;
	const struct rec_count *counts = rec_native_counts(rec, &count);

	for (size_t i = 0; i < count; i++) {
		if (!jfr_is_news(w, &w->native_counts, i, &counts[i], sizeof(counts[i])))
			continue;
		at = jfr_begin(w, JFR_NATIVE_COUNT, end_ns);
		jfr_put_long(&w->bytes, jfr_pid_of(rec, counts[i].jvm));
		put_string(w, rec, counts[i].name);
		jfr_put_long(&w->bytes, counts[i].value);
		jfr_end_event(&w->bytes, at);
	}
}

void jfr_put_sites(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	put_sites(w, rec, end_ns);
	put_calls(w, rec, end_ns);
	put_suspects(w, rec, end_ns);
	put_counts(w, rec, end_ns);
}

void jfr_free_sites(struct jfr_writer *w)
{
	free(w->native_sites.hashes);
	free(w->native_calls.hashes);
	free(w->suspects.hashes);
	free(w->native_counts.hashes);
}
