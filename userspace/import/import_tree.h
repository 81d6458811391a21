/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_IMPORT_TREE_H
#define JVMSCOPE_IMPORT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yajl/yajl_tree.h>

#include "model/recording.h"

/*
 * A JSON file of jvmscope as a tree, and what its places mean in the recording that it is read
 * into. Inside of import_*.c.
 */
struct tree {
	struct recording *rec;
	char *why; /* what is wrong, of size why_size; written by the first tree_fail() */
	size_t why_size;
	int err;
	yajl_val strings; /* of the file */
	/* By index of the file; owned. */
	uint32_t *frames;
	uint32_t *stacks;
	uint32_t *threads;
	size_t frame_count, stack_count, thread_count;
};

/* The file is no recording: -EBADMSG. */
void tree_fail(struct tree *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- values; what is not there, or of another type, is 0, false or "" */

yajl_val tree_get(yajl_val map, const char *key);
yajl_val tree_at(yajl_val array, size_t i);
size_t tree_length(yajl_val array);
int64_t tree_integer(yajl_val value);
uint64_t tree_counter(yajl_val value); /* with all 64 bits */
int64_t tree_time(yajl_val value);     /* nanoseconds since the epoch, as rec_time() */
double tree_decimal(yajl_val value);   /* NaN for null, which is what is written of one */
bool tree_is_true(yajl_val value);
const char *tree_text(yajl_val value);
uint32_t tree_string(struct tree *t, yajl_val value); /* of the recording; 0 for "" */

/* ---- places in tables of the file; one that is outside of its table fails */

const char *tree_text_at(struct tree *t, yajl_val index);
uint32_t tree_string_at(struct tree *t, yajl_val index);
/* The id a place has; 0 for null. */
uint32_t tree_id_at(struct tree *t, const uint32_t *ids, size_t count, yajl_val index);
uint32_t tree_jvm_at(struct tree *t, yajl_val index);

/* Room for the ids of a table; NULL when memory is out, which is remembered. */
uint32_t *tree_new_ids(struct tree *t, size_t count);

/* Calls read() for each element, until one fails. */
void tree_each(struct tree *t, yajl_val rows, void (*read)(struct tree *t, yajl_val row));

/* ---- the sections of import_json_*.c */

/* "native" but its ledgers: sites, calls, suspects, counts. */
void import_json_native(struct tree *t, yajl_val native);
void import_json_ledgers(struct tree *t, yajl_val native);
void import_json_timeline(struct tree *t, yajl_val timeline);
void import_json_heap(struct tree *t, yajl_val heap);
void import_json_settings(struct tree *t, yajl_val settings);
void import_json_budget(struct tree *t, yajl_val budget);
void import_json_gc(struct tree *t, yajl_val gc);
/* Threads that start and end, and compilations. */
void import_json_runtime(struct tree *t, yajl_val root);

#endif
