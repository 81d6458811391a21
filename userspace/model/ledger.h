/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_MODEL_LEDGER_H
#define JVMSCOPE_MODEL_LEDGER_H

#include <stddef.h>
#include <stdint.h>

struct recording;

/*
 * What the resident memory of a JVM is, page by page: each page belongs to one line, so that the
 * lines add up to the Rss of smaps_rollup. Bytes throughout.
 */

/* One row of the table in ledger.c each. */
enum rec_line {
	REC_LINE_JAVA_HEAP,
	REC_LINE_METASPACE,
	REC_LINE_CLASS_SPACE,
	REC_LINE_CDS,
	REC_LINE_CODE,
	REC_LINE_STACKS,
	REC_LINE_STACKS_KEPT, /* of ended threads, kept by libc for the next */
	REC_LINE_GC,
	REC_LINE_VM_OTHER,
	REC_LINE_PERF_DATA,
	REC_LINE_MALLOC,      /* committed: in use; resident: pages not wholly free */
	REC_LINE_MALLOC_FREE, /* committed: free; resident: whole pages malloc_trim would return */
	REC_LINE_LIBRARIES,
	REC_LINE_LIBRARY_DATA,
	REC_LINE_FILES,
	REC_LINE_KERNEL,
	REC_LINE_UNEXPLAINED,
	REC_LINE_MOVED, /* resident may be negative: came or went while it was read */
	REC_LINE_NR,
};
struct rec_line_info {
	const char *name; /* "java_heap" */
	const char *help;
};
const struct rec_line_info *rec_line_info(enum rec_line line);
int rec_line_find(const char *name); /* -1: there is none of that name */

struct rec_ledger_row {
	uint64_t reserved;  /* address space */
	uint64_t committed; /* of it, what may be accessed; of malloc, bytes of blocks */
	int64_t resident;
	uint64_t swapped;
	uint64_t count; /* threads, blocks; 0 where nothing is counted */
};

/* A part of a line, by name: "G1 mark bitmap", stacks of "C2 CompilerThread". */
struct rec_ledger_part {
	enum rec_line line;
	uint32_t name; /* string id */
	struct rec_ledger_row row;
};

/* One tag of the JVM's own Native Memory Tracking, where it is on. */
struct rec_nmt {
	uint32_t tag; /* string id, as the JVM spells it */
	uint64_t malloc_bytes;
	uint64_t malloc_count;
	uint64_t arena_bytes;
	uint64_t arena_count;
	uint64_t reserved;
	uint64_t committed;
};

/* libc's allocator; see REC_LINE_MALLOC. */
struct rec_malloc {
	uint64_t arenas;
	uint64_t in_use_bytes; /* chunks, headers included; those in thread caches, too */
	uint64_t in_use_count;
	uint64_t free_bytes;   /* free chunks and tops */
	uint64_t mapped_bytes; /* blocks that are mappings of their own */
	uint64_t mapped_count;
	uint64_t cached_bytes; /* of those in use: free blocks in thread caches */
	uint64_t unread_bytes; /* arenas that changed under us, or were over the limit */
};

/* Buffers outside the Java heap, by the Java classes' own counters. */
struct rec_buffers {
	uint64_t count;
	uint64_t capacity_bytes;
	uint64_t reserved_bytes;
	uint64_t max_bytes;
};

/* One reading of one JVM. */
struct rec_ledger {
	uint32_t jvm;
	int64_t time_ns;
	uint64_t rss_bytes; /* of smaps_rollup, read last: the sum of resident of all lines */
	uint64_t rss_peak_bytes;
	uint64_t java_heap_pss; /* ZGC of 17 maps the heap three times: each page once */
	uint64_t hugetlb_bytes; /* not in Rss */
	uint64_t cost_ns;	/* our CPU time */
	uint64_t threads;
	int64_t native_bytes; /* that lived at all recorded sites (model/native.h) then */
	int64_t native_blocks;
	uint32_t allocator; /* string id: another allocator's library, 0: libc's own */
	struct rec_ledger_row lines[REC_LINE_NR];
	struct rec_malloc malloc;
	struct rec_buffers direct;
	struct rec_buffers mapped;
	struct rec_ledger_part *parts; /* owned */
	size_t part_count;
	struct rec_nmt *nmt; /* owned; none when NMT is off */
	size_t nmt_count;
};

#define REC_MAX_LEDGERS	    16384 /* kept at once, until dropped; then a JVM's last one is replaced */
#define REC_MAX_LEDGER_JVMS 4096

/*
 * Takes the ledger over, in any case: parts and nmt are freed with the recording. Those of more
 * JVMs than REC_MAX_LEDGER_JVMS are counted in the quality "info" and dropped, and so are those
 * that are not kept since there are REC_MAX_LEDGERS.
 */
void rec_ledger_add(struct recording *rec, struct rec_ledger *ledger);

#define REC_MAX_LEDGER_PARTS 4096 /* ours have 256 */
#define REC_MAX_NMT_TAGS     128  /* the JVM has some 30 */

/*
 * One row more of a ledger that is not added yet, and has no others than those that came this way.
 * Rows beyond the limit are counted in the quality "info".
 */
void rec_ledger_add_part(struct recording *rec, struct rec_ledger *ledger,
			 const struct rec_ledger_part *part);
void rec_ledger_add_nmt(struct recording *rec, struct rec_ledger *ledger,
			const struct rec_nmt *tag);

/* The first and the latest of a JVM; NULL when there is none. */
const struct rec_ledger *rec_ledger_first(const struct recording *rec, uint32_t jvm);
const struct rec_ledger *rec_ledger_last(const struct recording *rec, uint32_t jvm);

/*
 * All that were added since rec_samples_drop(), in order, without parts; only while
 * rec_samples_keep() is on. *first is how many there were before them.
 */
const struct rec_ledger *rec_ledgers(const struct recording *rec, size_t *count, uint64_t *first);

void rec_ledger_free(struct rec_ledger *ledger);

#endif
