/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JSON_H
#define JVMSCOPE_JSON_H

#include "exporters/exporter.h"

/* The whole recording as one JSON object; docs/json-schema.json describes it. */
int json_write(const struct recording *rec, const struct export_options *options, FILE *out);

#endif
