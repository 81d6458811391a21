/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JSON_CLASSES_H
#define JVMSCOPE_JSON_CLASSES_H

struct json_stream;
struct recording;

/* The section "classes" of JSON; nothing when no classes were recorded. */
void json_classes(struct json_stream *json, const struct recording *rec);

#endif
