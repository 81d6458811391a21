/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_tree.h"
#include "model/recording.h"
#include "model/settings.h"

static void read_setting(struct tree *t, yajl_val row)
{
	int kind = rec_setting_kind_find(tree_text(tree_get(row, "kind")));
	int type = rec_setting_type_find(tree_text(tree_get(row, "type")));
	struct rec_setting setting = {
		.jvm = tree_jvm_at(t, tree_get(row, "jvm")),
		.name = tree_string(t, tree_get(row, "name")),
		.value = tree_string(t, tree_get(row, "value")),
		.origin = tree_string(t, tree_get(row, "origin")),
	};

	/* A kind that a later version writes is not ours to show. */
	if (kind < 0 || type < 0 || !setting.jvm || !setting.name)
		return;
	setting.kind = (uint32_t)kind;
	setting.type = (uint32_t)type;
	rec_setting_set(t->rec, &setting);
}

void import_json_settings(struct tree *t, yajl_val settings)
{
	for (size_t i = 0; i < tree_length(settings) && !t->err; i++)
		read_setting(t, tree_at(settings, i));
}
