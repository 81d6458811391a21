/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/ledger.h"

/* Events of memory ledgers: one of each kind for each reading that is not said yet. */

static size_t begin(struct jfr_writer *w, enum jfr_type_id type, int64_t time_ns)
{
	size_t at = jfr_begin_event(&w->bytes, type);

	jfr_put_long(&w->bytes, jfr_ticks(w, time_ns));
	return at;
}

static void put_resident(struct jfr_writer *w, const struct rec_ledger *ledger)
{
	size_t at = begin(w, JFR_RESIDENT_SET_SIZE, ledger->time_ns);

	jfr_put_long(&w->bytes, ledger->rss_bytes);
	jfr_put_long(&w->bytes, ledger->rss_peak_bytes);
	jfr_end_event(&w->bytes, at);
}

static void put_lines(struct jfr_writer *w, const struct recording *rec,
		      const struct rec_ledger *ledger)
{
	const struct rec_jvm *jvm = rec_jvm_get(rec, ledger->jvm);

	for (int line = 0; line < REC_LINE_NR; line++) {
		const struct rec_ledger_row *row = &ledger->lines[line];
		size_t at = begin(w, JFR_LEDGER, ledger->time_ns);

		jfr_put_long(&w->bytes, jvm ? (uint64_t)jvm->pid : 0);
		jfr_put_text(&w->bytes, rec_line_info((enum rec_line)line)->name);
		jfr_put_long(&w->bytes, (uint64_t)row->resident);
		jfr_put_long(&w->bytes, row->committed);
		jfr_put_long(&w->bytes, row->reserved);
		jfr_put_long(&w->bytes, row->swapped);
		jfr_put_long(&w->bytes, row->count);
		jfr_end_event(&w->bytes, at);
	}
}

/* As the JDK's own events count: blocks and arenas are both reserved and committed. */
static void put_tags(struct jfr_writer *w, const struct recording *rec,
		     const struct rec_ledger *ledger)
{
	uint64_t reserved = 0, committed = 0, malloced;
	size_t at;

	if (!ledger->nmt_count)
		return;
	for (size_t i = 0; i < ledger->nmt_count; i++) {
		const struct rec_nmt *tag = &ledger->nmt[i];

		malloced = tag->malloc_bytes + tag->arena_bytes;
		at = begin(w, JFR_NATIVE_MEMORY_USAGE, ledger->time_ns);
		jfr_put_long(&w->bytes, jfr_pools_nmt_type(w->pools, rec, tag->tag));
		jfr_put_long(&w->bytes, malloced + tag->reserved);
		jfr_put_long(&w->bytes, malloced + tag->committed);
		jfr_end_event(&w->bytes, at);
		/* Arenas are made of blocks that are counted as such. */
		reserved += tag->malloc_bytes + tag->reserved;
		committed += tag->malloc_bytes + tag->committed;
	}
	at = begin(w, JFR_NATIVE_MEMORY_USAGE_TOTAL, ledger->time_ns);
	jfr_put_long(&w->bytes, reserved);
	jfr_put_long(&w->bytes, committed);
	jfr_end_event(&w->bytes, at);
}

void jfr_put_ledgers(struct jfr_writer *w, const struct recording *rec)
{
	size_t count;
	uint64_t first;
	const struct rec_ledger *ledgers = rec_ledgers(rec, &count, &first);

	for (size_t i = 0; i < count; i++) {
		if (first + i < w->ledgers)
			continue;
		put_resident(w, &ledgers[i]);
		put_lines(w, rec, &ledgers[i]);
		put_tags(w, rec, &ledgers[i]);
		w->ledgers = first + i + 1;
	}
}
