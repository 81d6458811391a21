/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_REC_RANDOM_MEMORY_H
#define JVMSCOPE_REC_RANDOM_MEMORY_H

#include <stdio.h>
#include <stdlib.h>

#include "model/ledger.h"
#include "model/native_calls.h"
#include "model/series.h"
#include "model/settings.h"

/* The part of rec_random.h for native memory, its budget and ledgers. Before it: random_below(). */

static const char *const random_tags[] = { "Other", "Arena Chunk", "libc", "Thread Stack", "" };

/* Of all sizes. */
static inline int64_t random_amount(struct rec_random *r)
{
	return (int64_t)random_below(r, 1u << 30) >> random_below(r, 30)
							     << (random_below(r, 4) ? 0 : 20);
}

/* With as many digits as are written. */
static inline double random_decimal(struct rec_random *r)
{
	return (double)random_below(r, 1u << 20) / 8;
}

static inline void random_amounts(struct rec_random *r, struct rec_native_site *site)
{
	site->allocated_blocks = 1 + random_amount(r);
	site->allocated_bytes = random_amount(r);
	site->freed_blocks = random_amount(r);
	site->freed_bytes = random_amount(r);
	site->untracked_blocks = random_amount(r) - random_amount(r);
	site->untracked_bytes = random_amount(r) - random_amount(r);
	site->error_bytes = random_decimal(r);
	site->slice_error_bytes = random_below(r, 2) ? random_decimal(r) : 0;
}

static inline void random_ages(struct rec_random *r, int64_t ages[REC_NATIVE_AGES],
			       int64_t *oldest_ns)
{
	for (int age = 0; age < REC_NATIVE_AGES; age++)
		ages[age] = random_below(r, 2) ? random_amount(r) : 0;
	*oldest_ns = random_amount(r);
}

static inline struct rec_native_site random_key(struct rec_random *r, uint32_t jvm)
{
	return (struct rec_native_site){
		.jvm = jvm,
		.tag = random_text(r, RANDOM_OF(r, random_tags)),
		.use = (enum rec_native_use)random_below(r, REC_NATIVE_USE_NR),
	};
}

static inline void random_site(struct rec_random *r, uint32_t jvm)
{
	struct rec_native_site site = random_key(r, jvm);

	site.stack = random_below(r, 8) ? random_stack(r) : 0;
	random_amounts(r, &site);
	if (random_below(r, 2))
		random_ages(r, site.ages, &site.oldest_ns);
	rec_native_site(r->rec, &site);
}

static inline void random_calls(struct rec_random *r, uint32_t jvm)
{
	static const char *const functions[] = { "os::malloc", "Unsafe_AllocateMemory0",
						 "com.example.Foo.bar", "" };
	struct rec_native_site site = random_key(r, jvm);
	struct rec_native_chain chain = { 0 };
	uint32_t calls = random_below(r, REC_NATIVE_CALLS + 1);

	for (uint32_t i = 0; i < calls; i++)
		chain.calls[i] = (struct rec_native_call){
			.address = 0xffff800000000000 + random_below(r, 1u << 20),
			.function = random_text(r, RANDOM_OF(r, functions)),
			.offset = random_below(r, 5000),
		};
	random_amounts(r, &site);
	rec_native_calls_add(r->rec, &chain, &site);
}

static inline void random_suspect(struct rec_random *r, uint32_t jvm)
{
	struct rec_native_suspect suspect = {
		.jvm = jvm,
		.stack = random_stack(r),
		.tag = random_text(r, RANDOM_OF(r, random_tags)),
		.sites = random_below(r, 10),
		.live_blocks = random_amount(r),
		.live_bytes = random_amount(r),
		.kind = (enum growth_kind)random_below(r, GROWTH_KIND_NR),
		.bytes_per_minute = random_decimal(r) - random_decimal(r),
		.survived = random_below(r, 100),
	};

	random_ages(r, suspect.ages, &suspect.oldest_ns);
	rec_native_suspect(r->rec, &suspect);
}

/* ---- budget */

static inline void random_budget(struct rec_random *r, uint32_t jvm)
{
	struct rec_native_budget *row =
		rec_budget(r->rec, (enum rec_probe_group)random_below(r, REC_PROBES_NR), jvm);

	row->limit_pct = random_below(r, 2) ? random_decimal(r) : 0;
	row->cost_pct = random_decimal(r);
	row->total_cost_pct = random_decimal(r);
	row->state = (enum rec_native_state)random_below(r, REC_NATIVE_STATE_NR);
	row->attached_ns = random_below(r, 4) ? rec_meta(r->rec)->start_time_ns + 1 : 0;
	for (int state = 0; state < REC_NATIVE_STATE_NR; state++)
		row->state_ns[state] = (uint64_t)random_amount(r);
	row->watched_cpu_ns = (uint64_t)random_amount(r);
	row->all_cpu_ns = row->watched_cpu_ns + (uint64_t)random_amount(r);
	row->interval = random_below(r, 1u << 20);
	row->estimated = random_below(r, 2);
	row->error_pct = random_below(r, 2) ? random_decimal(r) : 0;
	row->live_known = random_below(r, 2);
	row->live_bytes = row->live_known ? random_amount(r) : 0;
	row->live_blocks = row->live_known ? random_amount(r) : 0;
}

static inline void random_change(struct rec_random *r, uint32_t jvm)
{
	struct rec_budget_event event = {
		.group = (enum rec_probe_group)random_below(r, REC_PROBES_NR),
		.time_ns = rec_meta(r->rec)->start_time_ns + random_amount(r),
		.jvm = jvm,
		.from = (enum rec_native_state)random_below(r, REC_NATIVE_STATE_NR),
		.to = (enum rec_native_state)random_below(r, REC_NATIVE_STATE_NR),
		.reason = (enum rec_budget_reason)random_below(r, REC_BUDGET_REASON_NR),
		.cost_pct = random_decimal(r),
		.limit_pct = random_decimal(r),
	};

	rec_budget_event(r->rec, &event);
}

/* ---- ledgers */

static inline struct rec_ledger_row random_row(struct rec_random *r)
{
	return (struct rec_ledger_row){ .reserved = (uint64_t)random_amount(r),
					.committed = (uint64_t)random_amount(r),
					.resident = 1 + random_amount(r) - random_below(r, 2),
					.swapped = (uint64_t)random_amount(r),
					.count = 1 + random_below(r, 100) };
}

static inline struct rec_buffers random_buffers(struct rec_random *r)
{
	return (struct rec_buffers){ random_below(r, 100), (uint64_t)random_amount(r),
				     (uint64_t)random_amount(r),
				     random_below(r, 2) ? INT64_MAX : (uint64_t)random_amount(r) };
}

/* A name for each, so that none is there twice. */
static inline void random_parts(struct rec_random *r, struct rec_ledger *ledger)
{
	size_t count = random_below(r, 20);
	char name[32];

	ledger->parts = calloc(count + 1, sizeof(*ledger->parts));
	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "part %zu", 3 * i + random_below(r, 3));
		ledger->parts[i] = (struct rec_ledger_part){
			.line = (enum rec_line)random_below(r, REC_LINE_NR),
			.name = random_text(r, name),
			.row = random_row(r),
		};
	}
	ledger->part_count = count;
}

/* At the start and at the end there are the same: the JVM has one list of them. */
static inline void random_nmt(struct rec_random *r, struct rec_ledger *ledger, size_t count)
{
	char name[32];

	ledger->nmt = calloc(count + 1, sizeof(*ledger->nmt));
	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "Tag %zu", i);
		ledger->nmt[i] = (struct rec_nmt){
			.tag = random_text(r, name),
			.malloc_bytes = (uint64_t)random_amount(r),
			.malloc_count = (uint64_t)random_amount(r),
			.arena_bytes = (uint64_t)random_amount(r),
			.arena_count = (uint64_t)random_amount(r),
			.reserved = (uint64_t)random_amount(r),
			.committed = (uint64_t)random_amount(r),
		};
	}
	ledger->nmt_count = count;
}

static inline void random_ledger(struct rec_random *r, uint32_t jvm, int64_t time_ns, size_t tags)
{
	struct rec_ledger ledger = {
		.jvm = jvm,
		.time_ns = time_ns,
		.rss_bytes = (uint64_t)random_amount(r),
		.rss_peak_bytes = (uint64_t)random_amount(r),
		.java_heap_pss = (uint64_t)random_amount(r),
		.hugetlb_bytes = (uint64_t)random_amount(r),
		.cost_ns = (uint64_t)random_amount(r),
		.threads = random_below(r, 100),
		.native_bytes = random_amount(r) - random_amount(r),
		.native_blocks = random_amount(r) - random_amount(r),
		.allocator = random_text(r, random_below(r, 2) ? "libjemalloc.so.2" : ""),
		.malloc = { random_below(r, 9), (uint64_t)random_amount(r),
			    (uint64_t)random_amount(r), (uint64_t)random_amount(r),
			    (uint64_t)random_amount(r), (uint64_t)random_amount(r),
			    (uint64_t)random_amount(r), (uint64_t)random_amount(r) },
		.direct = random_buffers(r),
		.mapped = random_buffers(r),
	};

	for (int line = 0; line < REC_LINE_NR; line++)
		ledger.lines[line] = random_row(r);
	random_parts(r, &ledger);
	random_nmt(r, &ledger, tags);
	rec_ledger_add(r->rec, &ledger);
}

/* Rows of all, as outputs need them that have each reading. */
static inline void random_ledgers(struct rec_random *r, uint32_t jvm)
{
	size_t tags = random_below(r, 2) ? random_below(r, 20) : 0;
	int64_t time_ns = rec_meta(r->rec)->start_time_ns;

	for (uint32_t i = random_below(r, 4); i; i--) {
		random_ledger(r, jvm, time_ns, tags);
		time_ns += 1 + random_below(r, 1u << 30);
	}
}

static inline void random_series(struct rec_random *r, uint32_t jvm)
{
	static const char *const names[] = { "rss_bytes", "threads_live", "native_live_bytes",
					     REC_SERIES_AT };
	static const char *const of_machine[] = { REC_MACHINE "memory_bytes",
						  REC_MACHINE_SERIES_AT };
	int64_t step_ns = 1 + random_below(r, 2000000000), time_ns = 0;

	for (uint32_t i = random_below(r, 100); i; i--) {
		time_ns += step_ns * random_below(r, 100);
		rec_series_add(r->rec, jvm, RANDOM_OF(r, names),
			       rec_meta(r->rec)->start_time_ns + time_ns,
			       random_amount(r) - random_amount(r));
		rec_series_add(r->rec, 0, RANDOM_OF(r, of_machine),
			       rec_meta(r->rec)->start_time_ns + time_ns,
			       random_amount(r) - random_amount(r));
	}
}

static inline void random_settings(struct rec_random *r, uint32_t jvm)
{
	static const char *const names[] = { "MaxHeapSize", "UseG1GC", "java.home", "x" };
	static const char *const values[] = { "", "true", "-5", "18446744073709551615", "0.5" };
	static const char *const origins[] = { "", "Default", "Command line" };

	for (uint32_t i = random_below(r, 6); i; i--) {
		const struct rec_setting setting = {
			.jvm = jvm,
			.kind = random_below(r, REC_SETTING_FACT + 1),
			.type = random_below(r, REC_SETTING_TYPES),
			.name = random_text(r, RANDOM_OF(r, names)),
			.value = random_text(r, RANDOM_OF(r, values)),
			.origin = random_text(r, RANDOM_OF(r, origins)),
		};

		if (setting.name)
			rec_setting_set(r->rec, &setting);
	}
}

static inline void random_memory(struct rec_random *r, uint32_t jvm)
{
	static const char *const counts[] = { "entries", "returns", "failed", "ring_full" };

	for (uint32_t i = random_below(r, 20); i; i--)
		random_site(r, jvm);
	for (uint32_t i = random_below(r, 20); i; i--)
		random_calls(r, jvm);
	for (uint32_t i = random_below(r, 10); i; i--)
		random_suspect(r, jvm);
	for (uint32_t i = random_below(r, 4); i; i--)
		rec_native_count_set(r->rec, jvm, RANDOM_OF(r, counts), (uint64_t)random_amount(r));
	for (uint32_t i = random_below(r, 3); i; i--) {
		random_budget(r, jvm);
		random_change(r, jvm);
	}
	random_ledgers(r, jvm);
	random_series(r, jvm);
	random_settings(r, jvm);
}

#endif
