/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JSON_GC_H
#define JVMSCOPE_JSON_GC_H

struct json_stream;
struct recording;

/* The key "gc": collections, their phases and pauses, safepoints. Nothing when none were looked
 * for. */
void json_gc(struct json_stream *json, const struct recording *rec);

#endif
