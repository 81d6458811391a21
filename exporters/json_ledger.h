/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JSON_LEDGER_H
#define JVMSCOPE_JSON_LEDGER_H

#include <stdbool.h>

struct json_stream;
struct recording;

/* Whether a ledger was made of any JVM. */
bool json_has_ledger(const struct recording *rec);

/* Keys of "native": the memory ledgers at start and end. */
void json_ledger(struct json_stream *json, const struct recording *rec);

/* "timeline": every series; nothing when there are none. */
void json_timeline(struct json_stream *json, const struct recording *rec);

#endif
