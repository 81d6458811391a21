/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json_settings.h"

#include "exporters/json_stream.h"
#include "model/recording.h"
#include "model/settings.h"

static void write_setting(struct json_stream *json, const struct recording *rec,
			  const struct rec_setting *setting)
{
	json_map(json);
	json_key_unsigned(json, "jvm", setting->jvm - 1);
	json_key_text(json, "kind", rec_setting_kind_name((enum rec_setting_kind)setting->kind));
	json_key_text(json, "name", rec_text(rec, setting->name));
	json_key_text(json, "type", rec_setting_type_name((enum rec_setting_type)setting->type));
	json_key_text(json, "value", rec_text(rec, setting->value));
	json_key_text_or_null(json, "origin", rec_text(rec, setting->origin));
	json_map_end(json);
}

void json_settings(struct json_stream *json, const struct recording *rec)
{
	if (!rec_setting_count(rec))
		return;
	json_key(json, "settings");
	json_array(json);
	for (uint32_t id = 1; id <= rec_setting_count(rec); id++)
		write_setting(json, rec, rec_setting_get(rec, id));
	json_array_end(json);
}
