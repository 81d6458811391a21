/* SPDX-License-Identifier: Apache-2.0 */
#include "model/settings.h"

#include <errno.h>
#include <string.h>

#include "model/recording_impl.h"

static const char *const kinds[] = { "flag", "property", "fact" };
static const char *const types[REC_SETTING_TYPES] = {
	[REC_SETTING_BOOL] = "bool",
	[REC_SETTING_INT] = "int",
	[REC_SETTING_UNSIGNED_INT] = "unsigned_int",
	[REC_SETTING_LONG] = "long",
	[REC_SETTING_UNSIGNED_LONG] = "unsigned_long",
	[REC_SETTING_DOUBLE] = "double",
	[REC_SETTING_TEXT] = "text",
};

static int find(const char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

const char *rec_setting_kind_name(enum rec_setting_kind kind)
{
	return kinds[kind];
}

const char *rec_setting_type_name(enum rec_setting_type type)
{
	return types[type];
}

int rec_setting_kind_find(const char *name)
{
	return find(kinds, (int)(sizeof(kinds) / sizeof(*kinds)), name);
}

int rec_setting_type_find(const char *name)
{
	return find(types, REC_SETTING_TYPES, name);
}

void rec_setting_set(struct recording *rec, const struct rec_setting *setting)
{
	struct rec_setting *row;
	uint32_t id;
	int err;

	rec->settings.row_size = sizeof(*setting);
	rec->settings.key_size = offsetof(struct rec_setting, type);
	err = table_add(&rec->settings, setting, REC_MAX_SETTINGS, &id);
	if (err == -ENOMEM)
		rec->err = err;
	if (err)
		return;
	row = table_get(&rec->settings, id);
	*row = *setting;
}

uint32_t rec_setting_count(const struct recording *rec)
{
	return rec->settings.count;
}

const struct rec_setting *rec_setting_get(const struct recording *rec, uint32_t id)
{
	return table_get(&rec->settings, id);
}

const struct rec_setting *rec_setting_find(const struct recording *rec, uint32_t jvm,
					   enum rec_setting_kind kind, const char *name)
{
	const struct rec_setting key = {
		.jvm = jvm,
		.kind = (uint32_t)kind,
		.name = intern_find(&rec->strings, name, strlen(name)),
	};

	return key.name ? table_get(&rec->settings, table_find(&rec->settings, &key)) : NULL;
}

const char *rec_setting_value(const struct recording *rec, uint32_t jvm, enum rec_setting_kind kind,
			      const char *name)
{
	const struct rec_setting *row = rec_setting_find(rec, jvm, kind, name);

	return row ? rec_text(rec, row->value) : NULL;
}
