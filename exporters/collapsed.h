/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_COLLAPSED_H
#define JVMSCOPE_COLLAPSED_H

#include "exporters/exporter.h"

/*
 * "root;...;leaf count" lines, what flame graph tools read.
 *
 * Lines are merged when they are equal and sorted by bytes, as LC_ALL=C sort does. In names ';'
 * becomes ':' and control characters U+FFFD; spaces stay: the count is behind the last one.
 */
int collapsed_write(const struct recording *rec, const struct export_options *options, FILE *out);

#endif
