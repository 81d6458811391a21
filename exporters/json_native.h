/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JSON_NATIVE_H
#define JVMSCOPE_JSON_NATIVE_H

struct json_stream;
struct recording;

/* The members of the section "native" of JSON that probes filled; nothing when there were none. */
void json_native(struct json_stream *json, const struct recording *rec);

/* The section "budget"; nothing without probes. */
void json_budget(struct json_stream *json, const struct recording *rec);

#endif
