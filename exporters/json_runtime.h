/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JSON_RUNTIME_H
#define JVMSCOPE_JSON_RUNTIME_H

struct json_stream;
struct recording;

/* Keys of the document: "thread_events" and "compilations", each where there are any. */
void json_runtime(struct json_stream *json, const struct recording *rec);

#endif
