/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "import/import_tree.h"
#include "model/gc.h"

/* Collections, safepoints and VM operations. What is a sum of them is made again. */

static uint32_t read_thread(struct tree *t, yajl_val from, const char *key)
{
	return tree_id_at(t, t->threads, t->thread_count, tree_get(from, key));
}

static int64_t read_start(yajl_val from)
{
	return tree_time(tree_get(from, "start_time_ns"));
}

static uint64_t read_counter(yajl_val from, const char *key)
{
	return tree_counter(tree_get(from, key));
}

static struct rec_gc_space read_space(yajl_val from)
{
	return (struct rec_gc_space){ .reserved = read_counter(from, "reserved_bytes"),
				      .committed = read_counter(from, "committed_bytes"),
				      .used = read_counter(from, "used_bytes") };
}

static void read_heap(yajl_val from, struct rec_gc_heap *to)
{
	const struct rec_gc_space space = read_space(from);

	if (!YAJL_IS_OBJECT(from))
		return;
	*to = (struct rec_gc_heap){ .known = true,
				    .start = read_counter(from, "start_address"),
				    .committed = space.committed,
				    .reserved = space.reserved,
				    .used = space.used };
}

static void read_metaspace(yajl_val from, struct rec_gc_metaspace *to)
{
	if (!YAJL_IS_OBJECT(from))
		return;
	*to = (struct rec_gc_metaspace){ .known = true,
					 .threshold = read_counter(from, "threshold_bytes"),
					 .all = read_space(from),
					 .data = read_space(tree_get(from, "data")),
					 .class = read_space(tree_get(from, "class")) };
}

static void read_collection(struct tree *t, yajl_val from)
{
	static const char *const keys[] = { "before", "after" };
	yajl_val id = tree_get(from, "id"), sizes = tree_get(from, "sizes");
	struct rec_collection row = {
		.jvm = tree_jvm_at(t, tree_get(from, "jvm")),
		.gc_id = (uint32_t)tree_counter(id),
		.numbered = YAJL_IS_NUMBER(id),
		.thread = read_thread(t, from, "thread"),
		.name = tree_string(t, tree_get(from, "name")),
		.cause = tree_string(t, tree_get(from, "cause")),
		.time_ns = read_start(from),
		.duration_ns = read_counter(from, "duration_ns"),
		.sum_of_pauses_ns = read_counter(from, "sum_of_pauses_ns"),
		.longest_pause_ns = read_counter(from, "longest_pause_ns"),
	};

	for (int after = 0; after < 2; after++) {
		yajl_val of = tree_get(sizes, keys[after]);

		read_heap(tree_get(of, "heap"), &row.heap[after]);
		read_metaspace(tree_get(of, "metaspace"), &row.metaspace[after]);
	}
	rec_collection(t->rec, &row);
}

static void read_phase(struct tree *t, yajl_val from)
{
	yajl_val collection = tree_get(from, "collection");
	const struct rec_gc_phase row = {
		.jvm = tree_jvm_at(t, tree_get(from, "jvm")),
		.collection =
			YAJL_IS_NUMBER(collection) ? (uint32_t)tree_counter(collection) + 1 : 0,
		.name = tree_string(t, tree_get(from, "name")),
		.level = (uint32_t)read_counter(from, "level"),
		.concurrent = tree_is_true(tree_get(from, "concurrent")),
		.time_ns = read_start(from),
		.duration_ns = read_counter(from, "duration_ns"),
	};

	if (row.collection && !rec_collection_get(t->rec, row.collection))
		tree_fail(t, "JSON: a phase of a collection that is not there");
	else
		rec_gc_phase(t->rec, &row);
}

static void read_safepoint(struct tree *t, yajl_val from)
{
	const struct rec_safepoint row = {
		.jvm = tree_jvm_at(t, tree_get(from, "jvm")),
		.thread = read_thread(t, from, "thread"),
		.operation = tree_string(t, tree_get(from, "operation")),
		.threads = (uint32_t)read_counter(from, "java_threads"),
		.critical = (uint32_t)read_counter(from, "jni_critical_threads"),
		.id = read_counter(from, "id"),
		.time_ns = read_start(from),
		.reach_ns = read_counter(from, "reach_ns"),
		.duration_ns = read_counter(from, "duration_ns"),
		.resume_ns = read_counter(from, "resume_ns"),
	};

	rec_safepoint(t->rec, &row);
}

static void read_straggler(struct tree *t, yajl_val from)
{
	yajl_val safepoint = tree_get(from, "safepoint");
	const struct rec_straggler row = {
		.jvm = tree_jvm_at(t, tree_get(from, "jvm")),
		.safepoint = YAJL_IS_NUMBER(safepoint) ? (uint32_t)tree_counter(safepoint) + 1 : 0,
		.thread = read_thread(t, from, "thread"),
		.stack = tree_id_at(t, t->stacks, t->stack_count, tree_get(from, "stack")),
		.sampled = tree_is_true(tree_get(from, "sampled")),
		.late_ns = read_counter(from, "late_ns"),
	};
	size_t count;

	rec_safepoints(t->rec, &count);
	if (row.safepoint > count)
		tree_fail(t, "JSON: a straggler at a safepoint that is not there");
	else
		rec_straggler(t->rec, &row);
}

static void read_operation(struct tree *t, yajl_val from)
{
	const struct rec_vm_operation row = {
		.jvm = tree_jvm_at(t, tree_get(from, "jvm")),
		.name = tree_string(t, tree_get(from, "name")),
		.thread = read_thread(t, from, "thread"),
		.caller = read_thread(t, from, "caller"),
		.stops = tree_is_true(tree_get(from, "at_safepoint")),
		.safepoint = read_counter(from, "safepoint"),
		.time_ns = read_start(from),
		.duration_ns = read_counter(from, "duration_ns"),
	};

	rec_vm_operation(t->rec, &row);
}

static void read_counts(struct tree *t, yajl_val from)
{
	uint32_t jvm = tree_jvm_at(t, tree_get(from, "jvm"));

	for (size_t i = 0; jvm && i < from->u.object.len; i++)
		if (strcmp(from->u.object.keys[i], "jvm") != 0)
			rec_vm_count_set(t->rec, jvm, from->u.object.keys[i],
					 tree_counter(from->u.object.values[i]));
}

void import_json_gc(struct tree *t, yajl_val gc)
{
	tree_each(t, tree_get(gc, "collections"), read_collection);
	tree_each(t, tree_get(gc, "phases"), read_phase);
	tree_each(t, tree_get(tree_get(gc, "safepoints"), "events"), read_safepoint);
	tree_each(t, tree_get(gc, "stragglers"), read_straggler);
	tree_each(t, tree_get(gc, "vm_operations"), read_operation);
	tree_each(t, tree_get(gc, "counts"), read_counts);
}
