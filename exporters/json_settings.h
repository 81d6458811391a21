/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JSON_SETTINGS_H
#define JVMSCOPE_JSON_SETTINGS_H

struct json_stream;
struct recording;

/* "settings": what JVMs run with; nothing when that is not known of any. */
void json_settings(struct json_stream *json, const struct recording *rec);

#endif
