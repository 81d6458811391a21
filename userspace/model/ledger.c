/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording_impl.h"

static const struct rec_line_info lines[REC_LINE_NR] = {
	[REC_LINE_JAVA_HEAP] = { "java_heap", "objects; all views of it with ZGC" },
	[REC_LINE_METASPACE] = { "metaspace", "class metadata without classes themselves" },
	[REC_LINE_CLASS_SPACE] = { "class_space", "classes, where pointers to them are short" },
	[REC_LINE_CDS] = { "cds_archive", "classes from an archive" },
	[REC_LINE_CODE] = { "code_cache", "compiled code, stubs, and their segment maps" },
	[REC_LINE_STACKS] = { "thread_stacks", "stacks of all threads" },
	[REC_LINE_STACKS_KEPT] = { "thread_stacks_kept", "of ended threads, kept by libc" },
	[REC_LINE_GC] = { "gc", "tables of the collector outside malloc" },
	[REC_LINE_VM_OTHER] = { "vm_other", "other memory of the VM" },
	[REC_LINE_PERF_DATA] = { "perf_data", "performance counters" },
	[REC_LINE_MALLOC] = { "malloc", "blocks of libc's allocator, of every caller" },
	[REC_LINE_MALLOC_FREE] = { "malloc_free", "kept by libc's allocator, but free" },
	[REC_LINE_LIBRARIES] = { "libraries", "code and constants" },
	[REC_LINE_LIBRARY_DATA] = { "library_data", "variables of libraries and of the loader" },
	[REC_LINE_FILES] = { "mapped_files", "other mapped files" },
	[REC_LINE_KERNEL] = { "kernel", "what the kernel maps" },
	[REC_LINE_UNEXPLAINED] = { "unexplained", "pages that no rule claims" },
	[REC_LINE_MOVED] = { "moved_while_reading", "came or went between two reads" },
};

const struct rec_line_info *rec_line_info(enum rec_line line)
{
	return &lines[line];
}

int rec_line_find(const char *name)
{
	for (int line = 0; line < REC_LINE_NR; line++)
		if (!strcmp(lines[line].name, name))
			return line;
	return -1;
}

/* Each JVM keeps its first and its latest; all of them are kept until they are dropped. */
struct rec_ledger_pair {
	uint32_t jvm;
	struct rec_ledger first;
	struct rec_ledger last;
	bool has_last; /* another than the first */
	uint32_t kept; /* the newest of those that are kept: its index + 1; 0 none */
};

static struct rec_ledger_pair *find(const struct recording *rec, uint32_t jvm)
{
	uint32_t at;

	return map64_get(&rec->ledger_places, jvm, &at) ? &rec->ledger_pairs[at] : NULL;
}

static struct rec_ledger_pair *add(struct recording *rec, uint32_t jvm)
{
	struct rec_ledger_pair *rows;

	if (rec->ledger_pairs_count == REC_MAX_LEDGER_JVMS) {
		rec_quality_add(rec, REC_QUALITY_INFO, "ledgers_over_limit", 1);
		return NULL;
	}
	rows = rec_grow(rec, rec->ledger_pairs, &rec->ledger_pairs_capacity,
			rec->ledger_pairs_count + 1u, sizeof(*rows));
	if (!rows)
		return NULL;
	rec->ledger_pairs = rows;
	if (map64_set(&rec->ledger_places, jvm, rec->ledger_pairs_count)) {
		rec->err = -ENOMEM;
		return NULL;
	}
	rows[rec->ledger_pairs_count] = (struct rec_ledger_pair){ .jvm = jvm };
	return &rows[rec->ledger_pairs_count++];
}

/* Room for one more; the place of the JVM's last one when there are too many. */
static struct rec_ledger *new_row(struct recording *rec, struct rec_ledger_pair *pair)
{
	struct rec_ledger *rows;

	if (rec->ledgers_count == REC_MAX_LEDGERS) {
		rec_quality_add(rec, REC_QUALITY_INFO, "ledger_readings_over_limit", 1);
		return pair && pair->kept ? &rec->ledgers[pair->kept - 1] : NULL;
	}
	rows = rec_grow(rec, rec->ledgers, &rec->ledgers_capacity, rec->ledgers_count + 1u,
			sizeof(*rows));
	if (!rows)
		return NULL;
	rec->ledgers = rows;
	rows[rec->ledgers_count++] = (struct rec_ledger){ 0 };
	if (pair)
		pair->kept = rec->ledgers_count;
	return &rows[rec->ledgers_count - 1];
}

/* Rows for JFR: without parts. Tags are copied, and left out when memory is out. */
static void keep(struct recording *rec, struct rec_ledger_pair *pair,
		 const struct rec_ledger *ledger)
{
	struct rec_ledger *row = rec->samples_kept ? new_row(rec, pair) : NULL;

	if (!row)
		return;
	rec_ledger_free(row);
	*row = *ledger;
	row->parts = NULL;
	row->part_count = 0;
	row->nmt_count = 0;
	row->nmt = ledger->nmt_count ? calloc(ledger->nmt_count, sizeof(*row->nmt)) : NULL;
	if (row->nmt) {
		row->nmt_count = ledger->nmt_count;
		memcpy(row->nmt, ledger->nmt, ledger->nmt_count * sizeof(*row->nmt));
	}
}

void rec_ledger_add(struct recording *rec, struct rec_ledger *ledger)
{
	struct rec_ledger_pair *pair = find(rec, ledger->jvm);
	bool is_first = !pair;

	if (is_first)
		pair = add(rec, ledger->jvm);
	keep(rec, pair, ledger);
	if (!pair) {
		rec_ledger_free(ledger);
		return;
	}
	if (is_first) {
		pair->first = *ledger;
	} else {
		rec_ledger_free(&pair->last);
		pair->last = *ledger;
		pair->has_last = true;
	}
	*ledger = (struct rec_ledger){ 0 };
}

/* Room for one more row behind count of them; NULL when there is none. */
static void *reserve(struct recording *rec, void *rows, size_t count, size_t max, size_t row_size)
{
	void *larger;

	if (count >= max) {
		rec_quality_add(rec, REC_QUALITY_INFO, "ledger_rows_over_limit", 1);
		return NULL;
	}
	/* A power of two is where there was room for no more. */
	if (count & (count - 1))
		return rows;
	larger = reallocarray(rows, count ? 2 * count : 1, row_size);
	if (!larger)
		rec->err = -ENOMEM;
	return larger;
}

void rec_ledger_add_part(struct recording *rec, struct rec_ledger *ledger,
			 const struct rec_ledger_part *part)
{
	struct rec_ledger_part *parts = reserve(rec, ledger->parts, ledger->part_count,
						REC_MAX_LEDGER_PARTS, sizeof(*parts));

	if (!parts)
		return;
	ledger->parts = parts;
	parts[ledger->part_count++] = *part;
}

void rec_ledger_add_nmt(struct recording *rec, struct rec_ledger *ledger, const struct rec_nmt *tag)
{
	struct rec_nmt *tags =
		reserve(rec, ledger->nmt, ledger->nmt_count, REC_MAX_NMT_TAGS, sizeof(*tags));

	if (!tags)
		return;
	ledger->nmt = tags;
	tags[ledger->nmt_count++] = *tag;
}

const struct rec_ledger *rec_ledger_first(const struct recording *rec, uint32_t jvm)
{
	const struct rec_ledger_pair *pair = find(rec, jvm);

	return pair ? &pair->first : NULL;
}

const struct rec_ledger *rec_ledger_last(const struct recording *rec, uint32_t jvm)
{
	const struct rec_ledger_pair *pair = find(rec, jvm);

	if (!pair)
		return NULL;
	return pair->has_last ? &pair->last : &pair->first;
}

const struct rec_ledger *rec_ledgers(const struct recording *rec, size_t *count, uint64_t *first)
{
	*count = rec->ledgers_count;
	*first = rec->ledgers_dropped;
	return rec->ledgers;
}

void rec_ledgers_drop(struct recording *rec)
{
	for (uint32_t i = 0; i < rec->ledgers_count; i++)
		rec_ledger_free(&rec->ledgers[i]);
	for (uint32_t i = 0; i < rec->ledger_pairs_count; i++)
		rec->ledger_pairs[i].kept = 0;
	rec->ledgers_dropped += rec->ledgers_count;
	rec->ledgers_count = 0;
}

void rec_ledger_free(struct rec_ledger *ledger)
{
	free(ledger->parts);
	free(ledger->nmt);
	*ledger = (struct rec_ledger){ 0 };
}

void rec_ledgers_free(struct recording *rec)
{
	for (uint32_t i = 0; i < rec->ledger_pairs_count; i++) {
		rec_ledger_free(&rec->ledger_pairs[i].first);
		rec_ledger_free(&rec->ledger_pairs[i].last);
	}
	rec_ledgers_drop(rec);
	free(rec->ledger_pairs);
	map64_free(&rec->ledger_places);
	free(rec->ledgers);
}
