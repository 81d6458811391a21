/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_tree.h"
#include "model/heap.h"

/* Allocation in the Java heap, by class. */

void import_json_heap(struct tree *t, yajl_val heap)
{
	yajl_val rows = tree_get(heap, "by_class");

	for (size_t i = 0; i < tree_length(rows) && !t->err; i++) {
		yajl_val from = tree_at(rows, i);
		uint32_t jvm = tree_jvm_at(t, tree_get(from, "jvm"));
		uint32_t name = tree_string(t, tree_get(from, "class"));
		struct rec_heap_class *row = jvm ? rec_heap_class(t->rec, jvm, name) : NULL;

		if (!row)
			continue;
		row->tlabs = tree_counter(tree_get(from, "tlabs"));
		row->tlab_bytes = tree_counter(tree_get(from, "tlab_bytes"));
		row->inside_bytes = tree_counter(tree_get(from, "inside_bytes"));
		row->outside = tree_counter(tree_get(from, "outside_objects"));
		row->outside_bytes = tree_counter(tree_get(from, "outside_bytes"));
	}
}
