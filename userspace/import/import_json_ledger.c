/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/import_tree.h"
#include "model/ledger.h"
#include "model/native.h"
#include "model/series.h"

/*
 * Memory ledgers: of each JVM the file has the first and the last, whose numbers stand in one row,
 * those of the first with start_ before their keys.
 */

#define START "start_"

/* Of a JVM. */
struct pair {
	struct rec_ledger first;
	struct rec_ledger last;
};

struct pairs {
	struct pair *rows; /* owned; [JVM id - 1] */
	uint32_t count;
};

static struct pair *pair_of(struct tree *t, struct pairs *pairs, yajl_val row)
{
	uint32_t jvm = tree_jvm_at(t, tree_get(row, "jvm"));

	return jvm && jvm <= pairs->count ? &pairs->rows[jvm - 1] : NULL;
}

/* What a file says may be any number. */
static uint64_t amount(yajl_val map, const char *key)
{
	int64_t value = rec_bytes(tree_integer(tree_get(map, key)));

	return value > 0 ? (uint64_t)value : 0;
}

static uint64_t amount_of(yajl_val map, const char *prefix, const char *name)
{
	char key[64];

	snprintf(key, sizeof(key), "%s%s", prefix, name);
	return amount(map, key);
}

/* ---- lines and their parts */

static struct rec_ledger_row read_row(yajl_val from, const char *prefix)
{
	const char *resident = *prefix ? START "bytes" : "bytes";

	return (struct rec_ledger_row){
		.reserved = amount_of(from, prefix, "reserved_bytes"),
		.committed = amount_of(from, prefix, "committed_bytes"),
		/* The one that may be below 0. */
		.resident = rec_bytes(tree_integer(tree_get(from, resident))),
		.swapped = amount_of(from, prefix, "swapped_bytes"),
		.count = amount_of(from, prefix, "count"),
	};
}

static void read_lines(struct tree *t, struct pairs *pairs, yajl_val rows)
{
	for (size_t i = 0; i < tree_length(rows) && !t->err; i++) {
		yajl_val row = tree_at(rows, i);
		struct pair *pair = pair_of(t, pairs, row);
		int line = rec_line_find(tree_text(tree_get(row, "line")));

		if (!pair || line < 0)
			continue;
		pair->first.lines[line] = read_row(row, START);
		pair->last.lines[line] = read_row(row, "");
	}
}

static bool is_empty(const struct rec_ledger_row *row)
{
	return !row->reserved && !row->committed && !row->resident && !row->swapped && !row->count;
}

static void read_part(struct tree *t, struct pairs *pairs, yajl_val from)
{
	struct pair *pair = pair_of(t, pairs, from);
	int line = rec_line_find(tree_text(tree_get(from, "line")));
	struct rec_ledger_part part = { .name = tree_string(t, tree_get(from, "part")) };
	struct rec_ledger_row start = read_row(from, START), end = read_row(from, "");

	if (!pair || line < 0)
		return;
	part.line = (enum rec_line)line;
	part.row = start;
	if (!is_empty(&start))
		rec_ledger_add_part(t->rec, &pair->first, &part);
	part.row = end;
	if (!is_empty(&end) || is_empty(&start))
		rec_ledger_add_part(t->rec, &pair->last, &part);
}

/* ---- Native Memory Tracking */

static void add_tag(struct tree *t, struct rec_ledger *to, yajl_val from, const char *prefix)
{
	const struct rec_nmt tag = {
		.tag = tree_string(t, tree_get(from, "tag")),
		.malloc_bytes = amount_of(from, prefix, "malloc_bytes"),
		.malloc_count = amount_of(from, prefix, "malloc_count"),
		.arena_bytes = amount_of(from, prefix, "arena_bytes"),
		.arena_count = amount_of(from, prefix, "arena_count"),
		.reserved = amount_of(from, prefix, "reserved_bytes"),
		.committed = amount_of(from, prefix, "committed_bytes"),
	};

	rec_ledger_add_nmt(t->rec, to, &tag);
}

static void read_tag(struct tree *t, struct pairs *pairs, yajl_val from)
{
	struct pair *pair = pair_of(t, pairs, from);

	if (!pair)
		return;
	if (tree_get(from, START "malloc_bytes"))
		add_tag(t, &pair->first, from, START);
	add_tag(t, &pair->last, from, "");
}

/* ---- what is of one reading as a whole */

static struct rec_buffers read_buffers(yajl_val from)
{
	return (struct rec_buffers){
		.count = amount(from, "count"),
		.capacity_bytes = amount(from, "capacity_bytes"),
		.reserved_bytes = amount(from, "reserved_bytes"),
		/* The limit may be "none": the largest number. */
		.max_bytes = tree_counter(tree_get(from, "max_bytes")),
	};
}

static struct rec_malloc read_malloc(yajl_val from)
{
	return (struct rec_malloc){
		.arenas = amount(from, "arenas"),
		.in_use_bytes = amount(from, "in_use_bytes"),
		.in_use_count = amount(from, "in_use_count"),
		.free_bytes = amount(from, "free_bytes"),
		.mapped_bytes = amount(from, "mapped_bytes"),
		.mapped_count = amount(from, "mapped_count"),
		.cached_bytes = amount(from, "cached_bytes"),
		.unread_bytes = amount(from, "unread_bytes"),
	};
}

static void read_reading(struct tree *t, struct pairs *pairs, yajl_val from)
{
	struct pair *pair = pair_of(t, pairs, from);
	struct rec_ledger *to;

	if (!pair)
		return;
	to = strcmp(tree_text(tree_get(from, "at")), "start") ? &pair->last : &pair->first;
	to->jvm = tree_jvm_at(t, tree_get(from, "jvm"));
	to->time_ns = tree_time(tree_get(from, "time_ns"));
	to->rss_bytes = amount(from, "rss_bytes");
	to->rss_peak_bytes = amount(from, "rss_peak_bytes");
	to->java_heap_pss = amount(from, "java_heap_pss_bytes");
	to->hugetlb_bytes = amount(from, "hugetlb_bytes");
	to->threads = amount(from, "threads");
	to->allocator = tree_string(t, tree_get(from, "other_allocator"));
	to->cost_ns = tree_counter(tree_get(from, "cost_ns"));
	to->native_bytes = rec_bytes(tree_integer(tree_get(from, "native_live_bytes")));
	to->native_blocks = rec_bytes(tree_integer(tree_get(from, "native_live_blocks")));
	to->malloc = read_malloc(tree_get(from, "malloc"));
	to->direct = read_buffers(tree_get(from, "direct_buffers"));
	to->mapped = read_buffers(tree_get(from, "mapped_buffers"));
}

/* ---- the whole */

typedef void row_fn(struct tree *t, struct pairs *pairs, yajl_val row);

static void read_each(struct tree *t, struct pairs *pairs, yajl_val rows, row_fn *read)
{
	for (size_t i = 0; i < tree_length(rows) && !t->err; i++)
		read(t, pairs, tree_at(rows, i));
}

/* A JVM that was read once has the same ledger at both ends. */
static void add_pair(struct recording *rec, struct pair *pair)
{
	bool once = pair->first.time_ns == pair->last.time_ns;

	if (pair->first.jvm && !once)
		rec_ledger_add(rec, &pair->first);
	if (pair->last.jvm)
		rec_ledger_add(rec, &pair->last);
	rec_ledger_free(&pair->first);
	rec_ledger_free(&pair->last);
}

void import_json_ledgers(struct tree *t, yajl_val native)
{
	yajl_val readings = tree_get(native, "ledger_readings");
	struct pairs pairs = { 0 };

	/* Each JVM has two; more of either are none of ours. */
	pairs.count = tree_length(readings) ? rec_jvm_count(t->rec) : 0;
	if (pairs.count > REC_MAX_LEDGER_JVMS)
		pairs.count = REC_MAX_LEDGER_JVMS;
	pairs.rows = calloc((size_t)pairs.count + 1, sizeof(*pairs.rows));
	if (!pairs.rows) {
		t->err = t->err ? t->err : -ENOMEM;
		return;
	}
	read_each(t, &pairs, readings, read_reading);
	read_lines(t, &pairs, tree_get(native, "ledger"));
	read_each(t, &pairs, tree_get(native, "ledger_parts"), read_part);
	read_each(t, &pairs, tree_get(native, "nmt"), read_tag);
	for (uint32_t i = 0; i < pairs.count; i++)
		add_pair(t->rec, &pairs.rows[i]);
	free(pairs.rows);
}

/* ---- over time */

/* "rss_bytes", and of the second JVM "rss_bytes[1]". */
static uint32_t split_key(const struct tree *t, char *key)
{
	char *open = strrchr(key, '['), *end;
	unsigned long index;

	if (!open)
		return 1;
	index = strtoul(open + 1, &end, 10);
	if (strcmp(end, "]") != 0 || index >= rec_jvm_count(t->rec))
		return 0;
	*open = 0;
	return (uint32_t)index + 1;
}

static void read_series(struct tree *t, const char *name, yajl_val values, uint64_t bucket_ns)
{
	int64_t start_ns = rec_meta_get(t->rec)->start_time_ns, time_ns;
	char key[128];
	uint32_t jvm;

	snprintf(key, sizeof(key), "%s", name);
	jvm = rec_series_is_machine(key) ? 0 : split_key(t, key);
	for (size_t i = 0;
	     (jvm || rec_series_is_machine(key)) && i < tree_length(values) && i < REC_MAX_BUCKETS;
	     i++) {
		if (!YAJL_IS_INTEGER(tree_at(values, i)))
			continue;
		if (__builtin_mul_overflow(i, bucket_ns, &time_ns) ||
		    __builtin_add_overflow(time_ns, start_ns, &time_ns))
			return;
		rec_series_add(t->rec, jvm, key, time_ns, tree_integer(tree_at(values, i)));
	}
}

void import_json_timeline(struct tree *t, yajl_val timeline)
{
	yajl_val series = tree_get(timeline, "series");
	uint64_t bucket_ns = tree_counter(tree_get(timeline, "bucket_ns"));

	if (!YAJL_IS_OBJECT(series) || !rec_jvm_count(t->rec))
		return;
	for (size_t i = 0; i < series->u.object.len; i++)
		read_series(t, series->u.object.keys[i], series->u.object.values[i], bucket_ns);
}
