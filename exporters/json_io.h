/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JSON_IO_H
#define JVMSCOPE_JSON_IO_H

struct json_stream;
struct recording;

/* Key of the document: "io", where there is any. */
void json_io(struct json_stream *json, const struct recording *rec);

#endif
