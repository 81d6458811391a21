/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "jfr/jfr_fill_impl.h"
#include "model/native.h"
#include "model/series.h"

/*
 * The part of jfr_fill.c for memory ledgers. All events of a reading have its time and its process,
 * and stand behind one another: it is complete when an event of another one comes, or its chunk
 * ends. Numbers of a broken file may be any.
 */

static uint64_t amount(const struct jfr_item *e, unsigned int field)
{
	int64_t value = rec_bytes(jfr_number(e, field));

	return value > 0 ? (uint64_t)value : 0;
}

void jfr_fill_ledger_end(struct jfr_filler *f)
{
	struct jfr_reading *reading = &f->reading;

	if (reading->out.jvm) {
		/* As it is by definition, in files that do not say it. */
		for (int line = 0; line < REC_LINE_NR && !reading->has_rss; line++)
			reading->out.rss_bytes += (uint64_t)reading->out.lines[line].resident;
		rec_ledger_add(f->rec, &reading->out);
	}
	rec_ledger_free(&reading->out);
	*reading = (struct jfr_reading){ 0 };
}

/* The reading that an event belongs to; NULL when it is of no JVM. */
static struct rec_ledger *reading_of(struct jfr_filler *f, int64_t time_ns, int64_t pid)
{
	struct rec_ledger *out = &f->reading.out;
	uint32_t jvm = jfr_fill_jvm_of(f, pid);

	if (!jvm)
		return NULL;
	if (out->jvm != jvm || out->time_ns != time_ns) {
		jfr_fill_ledger_end(f);
		out->jvm = jvm;
		out->time_ns = time_ns;
	}
	return out;
}

/* Time and process are the first fields of all. */
enum { AT_TIME, AT_PID, AT_MORE };

static struct rec_ledger *reading(struct jfr_filler *f, const struct jfr_item *e)
{
	return reading_of(f, jfr_fill_time(e, AT_TIME), jfr_number(e, AT_PID));
}

enum {
	READING_RSS = AT_MORE,
	READING_PEAK,
	READING_PSS,
	READING_HUGETLB,
	READING_COST,
	READING_THREADS,
	READING_NATIVE_BLOCKS,
	READING_NATIVE_BYTES,
	READING_ALLOCATOR,
};

void jfr_fill_ledger_reading(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct rec_ledger *to = reading(f, e);

	if (!to)
		return;
	f->reading.has_rss = true;
	to->rss_bytes = amount(e, READING_RSS);
	to->rss_peak_bytes = amount(e, READING_PEAK);
	to->java_heap_pss = amount(e, READING_PSS);
	to->hugetlb_bytes = amount(e, READING_HUGETLB);
	to->cost_ns = (uint64_t)jfr_number(e, READING_COST);
	to->threads = (uint64_t)jfr_number(e, READING_THREADS);
	to->native_blocks = rec_bytes(jfr_number(e, READING_NATIVE_BLOCKS));
	to->native_bytes = rec_bytes(jfr_number(e, READING_NATIVE_BYTES));
	to->allocator = jfr_fill_text(f, e, READING_ALLOCATOR);
}

/* ---- lines and their parts */

static struct rec_ledger_row row_at(const struct jfr_item *e, unsigned int at)
{
	return (struct rec_ledger_row){
		.resident = rec_bytes(jfr_number(e, at)),
		.committed = amount(e, at + 1),
		.reserved = amount(e, at + 2),
		.swapped = amount(e, at + 3),
		.count = amount(e, at + 4),
	};
}

static int line_of(struct jfr_filler *f, const struct jfr_item *e)
{
	return jfr_text(e, AT_MORE, &f->text) ? rec_line_find(strbuf_text(&f->text)) : -1;
}

void jfr_fill_ledger_line(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct rec_ledger *to = reading(f, e);
	int line = line_of(f, e);

	if (to && line >= 0)
		to->lines[line] = row_at(e, AT_MORE + 1);
}

void jfr_fill_ledger_part(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct rec_ledger *to = reading(f, e);
	int line = line_of(f, e);
	struct rec_ledger_part part = {
		.name = jfr_fill_text(f, e, AT_MORE + 1),
		.row = row_at(e, AT_MORE + 2),
	};

	if (!to || line < 0)
		return;
	part.line = (enum rec_line)line;
	rec_ledger_add_part(f->rec, to, &part);
}

/* ---- what else is of a reading */

void jfr_fill_libc_heap(void *ctx, const struct jfr_item *e)
{
	struct rec_ledger *to = reading(ctx, e);

	if (to)
		to->malloc = (struct rec_malloc){
			.arenas = amount(e, AT_MORE),
			.in_use_bytes = amount(e, AT_MORE + 1),
			.in_use_count = amount(e, AT_MORE + 2),
			.free_bytes = amount(e, AT_MORE + 3),
			.mapped_bytes = amount(e, AT_MORE + 4),
			.mapped_count = amount(e, AT_MORE + 5),
			.cached_bytes = amount(e, AT_MORE + 6),
			.unread_bytes = amount(e, AT_MORE + 7),
		};
}

void jfr_fill_buffers(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct rec_ledger *to = reading(f, e);
	struct rec_buffers buffers = {
		.count = amount(e, AT_MORE + 1),
		.capacity_bytes = amount(e, AT_MORE + 2),
		.reserved_bytes = amount(e, AT_MORE + 3),
		/* The limit may be "none": the largest number. */
		.max_bytes = (uint64_t)jfr_number(e, AT_MORE + 4),
	};

	if (!to || !jfr_text(e, AT_MORE, &f->text))
		return;
	if (!strcmp(strbuf_text(&f->text), "direct"))
		to->direct = buffers;
	else if (!strcmp(strbuf_text(&f->text), "mapped"))
		to->mapped = buffers;
}

void jfr_fill_nmt_tag(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct rec_ledger *to = reading(f, e);
	struct rec_nmt tag = {
		.tag = jfr_fill_text(f, e, AT_MORE),
		.malloc_bytes = amount(e, AT_MORE + 1),
		.malloc_count = amount(e, AT_MORE + 2),
		.arena_bytes = amount(e, AT_MORE + 3),
		.arena_count = amount(e, AT_MORE + 4),
		.reserved = amount(e, AT_MORE + 5),
		.committed = amount(e, AT_MORE + 6),
	};

	if (to)
		rec_ledger_add_nmt(f->rec, to, &tag);
}

/* ---- over time */

void jfr_fill_value(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	int64_t pid = jfr_number(e, AT_PID);
	uint32_t jvm = pid ? jfr_fill_jvm_of(f, pid) : 0;

	/* Time is that since the recording began: without its start there is none. */
	if (rec_meta(f->rec)->start_time_ns && jfr_text(e, AT_MORE, &f->text) &&
	    (jvm || rec_series_is_machine(strbuf_text(&f->text))))
		rec_series_add(f->rec, jvm, strbuf_text(&f->text), jfr_fill_time(e, AT_TIME),
			       jfr_number(e, AT_MORE + 1));
}
