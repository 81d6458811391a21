/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_RECORDING_IMPL_H
#define JVMSCOPE_RECORDING_IMPL_H

#include "base/intern.h"
#include "model/recording.h"
#include "model/table.h"

/* Inside of the recording: for recording*.c and their tests only. */

/* Maxima of one recording; rec_new() sets those of recording.h. */
struct rec_limits {
	size_t string_bytes;
	uint32_t methods;
	uint32_t frames;
	uint32_t stacks;
	uint32_t stack_frames;
	uint32_t jvms;
	uint32_t threads;
	uint32_t totals;
	uint32_t quality_rows;
	uint32_t samples;
};

struct rec_stack_row {
	uint32_t first; /* into stack_frames */
	uint32_t count;
	enum rec_stack_state state;
	uint32_t older; /* id with the same hash, 0 none */
};

/*
 * Rows of one size, in the order they were added. The first three are set before the first add,
 * everything else starts zeroed.
 */
struct rec_rows {
	size_t row_size;
	uint32_t max;
	const char *over_limit; /* what rows beyond max are counted as; NULL: by who adds them */
	void *items;		/* owned */
	uint32_t count;
	uint32_t capacity;
	struct map64 places; /* of rec_count_set(): JVM and name to the index of the row */
};

struct recording {
	int err;
	struct rec_limits limits;
	struct rec_meta meta;

	struct intern strings;
	struct table methods; /* of struct rec_method */
	struct table frames;  /* of struct rec_frame */
	struct table threads; /* of struct rec_thread */
	struct table totals;  /* of struct rec_total */

	struct rec_stack_row *stacks; /* owned; [id - 1] */
	uint32_t stacks_count;
	uint32_t stacks_capacity;
	uint32_t *stack_frames; /* owned; the frames of all stacks, one after the other */
	uint32_t stack_frames_count;
	uint32_t stack_frames_capacity;
	struct map64 stacks_by_hash; /* to the newest id with that hash */

	struct rec_jvm *jvms; /* owned; [id - 1] */
	uint32_t jvms_count;
	uint32_t jvms_capacity;

	struct rec_filter filter;
	struct table rules;	/* of struct rec_rule */
	uint32_t *method_rules; /* owned; [method id - 1]: rule id + 1, 0 not looked up */
	uint32_t method_rules_count;
	uint32_t method_rules_capacity;

	struct rec_sample *samples; /* owned */
	uint32_t samples_count;
	uint32_t samples_capacity;
	bool samples_kept;

	struct rec_ledger_pair *ledger_pairs; /* owned; see ledger.h */
	uint32_t ledger_pairs_count;
	uint32_t ledger_pairs_capacity;
	struct map64 ledger_places; /* JVM to the index of its pair */
	struct rec_ledger *ledgers; /* owned; without parts */
	uint32_t ledgers_count;
	uint32_t ledgers_capacity;
	uint64_t ledgers_dropped;

	struct rec_series *series; /* owned; see series.h */
	uint32_t series_count;
	uint32_t series_capacity;
	uint32_t series_last;	/* the one that was found last */
	uint64_t series_values; /* there is room for in all of them */
	uint64_t bucket_ns;	/* 0: no value was added */

	struct table settings; /* of struct rec_setting; see settings.h */

	struct rec_native *native; /* owned; NULL: none was recorded. See native.h */

	struct rec_classes *classes; /* owned; NULL: none were looked at. See classes.h */

	struct rec_heap *heap; /* owned; NULL: allocation was not recorded. See heap.h */

	struct rec_gc *gc; /* owned; NULL: none were looked for. See gc.h */

	struct rec_runtime *runtime; /* owned; NULL: nothing of it was seen. See runtime.h */

	struct rec_rows io; /* of struct rec_io; zeroed: there was none. See io.h */

	struct rec_quality_row *quality; /* owned, and so is each name */
	uint32_t quality_count;
	uint32_t quality_capacity;
};

/* The name of each table's last resort. */
#define REC_TRUNCATED "(truncated)"

/*
 * rows with room for needed rows of row_size, moved when they had to grow; never NULL but when
 * memory is out, which is remembered for rec_error() and leaves rows as they were.
 */
void *rec_grow(struct recording *rec, void *rows, uint32_t *capacity, size_t needed,
	       size_t row_size);

/* table_add() that remembers -ENOMEM: the id, or 0, with *full when the table has max rows. */
uint32_t rec_table_add(struct recording *rec, struct table *table, const void *row, uint32_t max,
		       bool *full);

/* The first of some more rows, all zeroed; NULL when memory is out, or there would be over max. */
void *rec_rows_add(struct recording *rec, struct rec_rows *rows, uint32_t more);

/* Of rows of struct rec_count: sets that of a JVM and name, which is added when it is new. */
void rec_count_set(struct recording *rec, struct rec_rows *rows, uint32_t jvm, const char *name,
		   uint64_t value);

/* The part of rec_sample() that keeps the row, and tells no total of it. Whether it is kept. */
bool rec_sample_add(struct recording *rec, const struct rec_sample *sample);

/* For rec_samples_drop(): the kept ledgers. */
void rec_ledgers_drop(struct recording *rec);

/* What the two headers keep; for rec_free(). */
void rec_ledgers_free(struct recording *rec);
void rec_series_free(struct recording *rec);

/* The stack that stands for those over the limit. */
uint32_t rec_truncated_stack(struct recording *rec);

#endif
