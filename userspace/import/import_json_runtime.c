/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/map64.h"
#include "import/import_tree.h"
#include "model/runtime.h"

/* Threads that start and end, and compilations. */

static void read_event(struct tree *t, yajl_val from)
{
	const struct rec_thread_event row = {
		.jvm = tree_jvm_at(t, tree_get(from, "jvm")),
		.thread = tree_id_at(t, t->threads, t->thread_count, tree_get(from, "thread")),
		.parent = tree_id_at(t, t->threads, t->thread_count, tree_get(from, "parent")),
		.stack = tree_id_at(t, t->stacks, t->stack_count, tree_get(from, "stack")),
		.ends = !strcmp(tree_text(tree_get(from, "event")), "end"),
		.time_ns = tree_time(tree_get(from, "time_ns")),
	};

	rec_thread_event(t->rec, &row);
}

/* ---- methods, by their names: frames may have them with more */

static uint64_t key_of(const struct rec_method *method)
{
	uint32_t words[] = { method->class_name, method->name, method->signature };

	return map64_hash(words, sizeof(words));
}

static int find_methods(const struct tree *t, struct map64 *methods)
{
	int err = 0;

	for (uint32_t id = rec_method_count(t->rec); id && !err; id--)
		err = map64_set(methods, key_of(rec_method_get(t->rec, id)), id);
	return err;
}

static uint32_t method_of(struct tree *t, const struct map64 *methods, yajl_val from)
{
	const char *name = tree_text(tree_get(from, "method")), *dot = strrchr(name, '.');
	struct rec_method method = { .signature = tree_string(t, tree_get(from, "signature")) };
	uint32_t id;

	if (!*name)
		return 0;
	if (dot) {
		method.class_name = rec_string(t->rec, name, (size_t)(dot - name));
		name = dot + 1;
	}
	method.name = rec_string(t->rec, name, strlen(name));
	return map64_get(methods, key_of(&method), &id) ? id : rec_method(t->rec, &method);
}

static enum rec_compiled outcome_of(yajl_val succeeded)
{
	if (tree_is_true(succeeded))
		return REC_COMPILED;
	return YAJL_IS_FALSE(succeeded) ? REC_COMPILED_NOT : REC_COMPILED_UNKNOWN;
}

static void read_compilation(struct tree *t, const struct map64 *methods, yajl_val from)
{
	yajl_val osr_bci = tree_get(from, "osr_bci");
	const struct rec_compilation row = {
		.jvm = tree_jvm_at(t, tree_get(from, "jvm")),
		.thread = tree_id_at(t, t->threads, t->thread_count, tree_get(from, "thread")),
		.method = method_of(t, methods, from),
		.compile_id = (uint32_t)tree_counter(tree_get(from, "id")),
		.level = (uint32_t)tree_counter(tree_get(from, "level")),
		.osr_bci = YAJL_IS_NUMBER(osr_bci) ? (int32_t)tree_integer(osr_bci) : -1,
		.inlined_bytes = (uint32_t)tree_counter(tree_get(from, "inlined_bytes")),
		.outcome = outcome_of(tree_get(from, "succeeded")),
		.code_bytes = (uint32_t)tree_counter(tree_get(from, "code_bytes")),
		.time_ns = tree_time(tree_get(from, "start_time_ns")),
		.duration_ns = tree_counter(tree_get(from, "duration_ns")),
	};

	rec_compilation(t->rec, &row);
}

void import_json_runtime(struct tree *t, yajl_val root)
{
	yajl_val compilations = tree_get(root, "compilations");
	struct map64 methods = { 0 };

	tree_each(t, tree_get(root, "thread_events"), read_event);
	if (tree_length(compilations) && !t->err)
		t->err = find_methods(t, &methods);
	for (size_t i = 0; i < tree_length(compilations) && !t->err; i++)
		read_compilation(t, &methods, tree_at(compilations, i));
	map64_free(&methods);
}
