/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JSON_HEAP_H
#define JVMSCOPE_JSON_HEAP_H

struct json_stream;
struct recording;

/* The key "heap": allocation by class. Nothing when it was not recorded. */
void json_heap(struct json_stream *json, const struct recording *rec);

#endif
