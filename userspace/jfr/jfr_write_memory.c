/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/ledger.h"

/* Events of memory ledgers: one of each kind for each reading that is not said yet. */

static void put_resident(struct jfr_writer *w, const struct rec_ledger *ledger)
{
	size_t at = jfr_begin(w, JFR_RESIDENT_SET_SIZE, ledger->time_ns);

	jfr_put_long(&w->bytes, ledger->rss_bytes);
	jfr_put_long(&w->bytes, ledger->rss_peak_bytes);
	jfr_end_event(&w->bytes, at);
}

static void put_name(struct jfr_writer *w, const char *name)
{
	jfr_put_long(&w->bytes, jfr_pools_name(w->pools, name));
}

static void put_row(struct jfr_writer *w, const struct rec_ledger_row *row)
{
	jfr_put_long(&w->bytes, (uint64_t)row->resident);
	jfr_put_long(&w->bytes, row->committed);
	jfr_put_long(&w->bytes, row->reserved);
	jfr_put_long(&w->bytes, row->swapped);
	jfr_put_long(&w->bytes, row->count);
}

static void put_lines(struct jfr_writer *w, const struct recording *rec,
		      const struct rec_ledger *ledger)
{
	for (int line = 0; line < REC_LINE_NR; line++) {
		size_t at = jfr_begin(w, JFR_LEDGER, ledger->time_ns);

		jfr_put_long(&w->bytes, jfr_pid_of(rec, ledger->jvm));
		put_name(w, rec_line_info((enum rec_line)line)->name);
		put_row(w, &ledger->lines[line]);
		jfr_end_event(&w->bytes, at);
	}
}

/* The rows that are kept have no parts: the first and the last one of a JVM have. */
static void put_parts(struct jfr_writer *w, const struct recording *rec,
		      const struct rec_ledger *ledger)
{
	const struct rec_ledger *whole = rec_ledger_first(rec, ledger->jvm);

	if (!whole || whole->time_ns != ledger->time_ns)
		whole = rec_ledger_last(rec, ledger->jvm);
	if (!whole || whole->time_ns != ledger->time_ns)
		return;
	for (size_t i = 0; i < whole->part_count; i++) {
		size_t at = jfr_begin(w, JFR_LEDGER_PART, ledger->time_ns);

		jfr_put_long(&w->bytes, jfr_pid_of(rec, ledger->jvm));
		put_name(w, rec_line_info(whole->parts[i].line)->name);
		put_name(w, rec_text(rec, whole->parts[i].name));
		put_row(w, &whole->parts[i].row);
		jfr_end_event(&w->bytes, at);
	}
}

/* What is of the reading as a whole: the first of its events, so that a reader knows it by it. */
static void put_reading(struct jfr_writer *w, const struct recording *rec,
			const struct rec_ledger *ledger)
{
	size_t at = jfr_begin(w, JFR_LEDGER_READING, ledger->time_ns);

	jfr_put_long(&w->bytes, jfr_pid_of(rec, ledger->jvm));
	jfr_put_long(&w->bytes, ledger->rss_bytes);
	jfr_put_long(&w->bytes, ledger->rss_peak_bytes);
	jfr_put_long(&w->bytes, ledger->java_heap_pss);
	jfr_put_long(&w->bytes, ledger->hugetlb_bytes);
	jfr_put_long(&w->bytes, ledger->cost_ns);
	jfr_put_long(&w->bytes, ledger->threads);
	jfr_put_long(&w->bytes, (uint64_t)ledger->native_blocks);
	jfr_put_long(&w->bytes, (uint64_t)ledger->native_bytes);
	jfr_put_text(&w->bytes, ledger->allocator ? rec_text(rec, ledger->allocator) : NULL);
	jfr_end_event(&w->bytes, at);
}

static void put_libc(struct jfr_writer *w, const struct recording *rec,
		     const struct rec_ledger *ledger)
{
	const struct rec_malloc *m = &ledger->malloc;
	size_t at = jfr_begin(w, JFR_LIBC_HEAP, ledger->time_ns);

	jfr_put_long(&w->bytes, jfr_pid_of(rec, ledger->jvm));
	jfr_put_long(&w->bytes, m->arenas);
	jfr_put_long(&w->bytes, m->in_use_bytes);
	jfr_put_long(&w->bytes, m->in_use_count);
	jfr_put_long(&w->bytes, m->free_bytes);
	jfr_put_long(&w->bytes, m->mapped_bytes);
	jfr_put_long(&w->bytes, m->mapped_count);
	jfr_put_long(&w->bytes, m->cached_bytes);
	jfr_put_long(&w->bytes, m->unread_bytes);
	jfr_end_event(&w->bytes, at);
}

static void put_buffers(struct jfr_writer *w, const struct recording *rec,
			const struct rec_ledger *ledger, const char *kind,
			const struct rec_buffers *buffers)
{
	size_t at = jfr_begin(w, JFR_BUFFERS, ledger->time_ns);

	jfr_put_long(&w->bytes, jfr_pid_of(rec, ledger->jvm));
	put_name(w, kind);
	jfr_put_long(&w->bytes, buffers->count);
	jfr_put_long(&w->bytes, buffers->capacity_bytes);
	jfr_put_long(&w->bytes, buffers->reserved_bytes);
	jfr_put_long(&w->bytes, buffers->max_bytes);
	jfr_end_event(&w->bytes, at);
}

/* ---- Native Memory Tracking */

static void put_nmt(struct jfr_writer *w, const struct recording *rec,
		    const struct rec_ledger *ledger)
{
	for (size_t i = 0; i < ledger->nmt_count; i++) {
		const struct rec_nmt *tag = &ledger->nmt[i];
		size_t at = jfr_begin(w, JFR_NMT_TAG, ledger->time_ns);

		jfr_put_long(&w->bytes, jfr_pid_of(rec, ledger->jvm));
		put_name(w, rec_text(rec, tag->tag));
		jfr_put_long(&w->bytes, tag->malloc_bytes);
		jfr_put_long(&w->bytes, tag->malloc_count);
		jfr_put_long(&w->bytes, tag->arena_bytes);
		jfr_put_long(&w->bytes, tag->arena_count);
		jfr_put_long(&w->bytes, tag->reserved);
		jfr_put_long(&w->bytes, tag->committed);
		jfr_end_event(&w->bytes, at);
	}
}

static void put_usage(struct jfr_writer *w, int64_t time_ns, uint32_t type, uint64_t reserved,
		      uint64_t committed)
{
	size_t at = jfr_begin(w, JFR_NATIVE_MEMORY_USAGE, time_ns);

	jfr_put_long(&w->bytes, type);
	jfr_put_long(&w->bytes, reserved);
	jfr_put_long(&w->bytes, committed);
	jfr_end_event(&w->bytes, at);
}

static void put_usage_total(struct jfr_writer *w, int64_t time_ns, uint64_t reserved,
			    uint64_t committed)
{
	size_t at = jfr_begin(w, JFR_NATIVE_MEMORY_USAGE_TOTAL, time_ns);

	jfr_put_long(&w->bytes, reserved);
	jfr_put_long(&w->bytes, committed);
	jfr_end_event(&w->bytes, at);
}

/*
 * Without NMT the ledger knows the tags that are mappings of the JVM. All blocks of malloc, which
 * only the JVM itself could tell apart, are "Other".
 */
static void put_lines_as_tags(struct jfr_writer *w, const struct rec_ledger *ledger)
{
	static const char *const tags[REC_LINE_NR] = {
		[REC_LINE_JAVA_HEAP] = "Java Heap",
		[REC_LINE_METASPACE] = "Metaspace",
		[REC_LINE_CLASS_SPACE] = "Class",
		[REC_LINE_CDS] = "Shared class space",
		[REC_LINE_CODE] = "Code",
		[REC_LINE_STACKS] = "Thread",
		[REC_LINE_GC] = "GC",
		[REC_LINE_MALLOC] = "Other",
	};
	uint64_t reserved = 0, committed = 0;

	for (uint32_t line = 0; line < REC_LINE_NR; line++) {
		const struct rec_ledger_row *row = &ledger->lines[line];
		bool blocks = line == REC_LINE_MALLOC;

		if (!tags[line])
			continue;
		put_usage(w, ledger->time_ns, jfr_pools_nmt_type(w->pools, tags[line]),
			  blocks ? row->committed : row->reserved, row->committed);
		reserved += blocks ? row->committed : row->reserved;
		committed += row->committed;
	}
	put_usage_total(w, ledger->time_ns, reserved, committed);
}

/* What other tags have arenas made of: it is counted with them. */
#define ARENA_CHUNK "Arena Chunk"

static uint64_t malloced_by(const struct recording *rec, const struct rec_nmt *tag,
			    uint64_t all_arenas)
{
	uint64_t bytes = tag->malloc_bytes + tag->arena_bytes;

	if (strcmp(rec_text(rec, tag->tag), ARENA_CHUNK) != 0)
		return bytes;
	return bytes > all_arenas ? bytes - all_arenas : 0;
}

/* As the JDK's own events count: blocks and arenas are both reserved and committed. */
static void put_tags(struct jfr_writer *w, const struct recording *rec,
		     const struct rec_ledger *ledger)
{
	uint64_t reserved = 0, committed = 0, arenas = 0, malloced;

	if (!ledger->nmt_count) {
		put_lines_as_tags(w, ledger);
		return;
	}
	for (size_t i = 0; i < ledger->nmt_count; i++)
		arenas += ledger->nmt[i].arena_bytes;
	for (size_t i = 0; i < ledger->nmt_count; i++) {
		const struct rec_nmt *tag = &ledger->nmt[i];

		malloced = malloced_by(rec, tag, arenas);
		put_usage(w, ledger->time_ns, jfr_pools_nmt_type(w->pools, rec_text(rec, tag->tag)),
			  malloced + tag->reserved, malloced + tag->committed);
		reserved += malloced + tag->reserved;
		committed += malloced + tag->committed;
	}
	put_usage_total(w, ledger->time_ns, reserved, committed);
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
		put_reading(w, rec, &ledgers[i]);
		put_lines(w, rec, &ledgers[i]);
		put_parts(w, rec, &ledgers[i]);
		put_libc(w, rec, &ledgers[i]);
		put_buffers(w, rec, &ledgers[i], "direct", &ledgers[i].direct);
		put_buffers(w, rec, &ledgers[i], "mapped", &ledgers[i].mapped);
		put_nmt(w, rec, &ledgers[i]);
		put_tags(w, rec, &ledgers[i]);
		w->ledgers = first + i + 1;
	}
}
