/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_EXPORTERS_JFR_H
#define JVMSCOPE_EXPORTERS_JFR_H

#include <stdio.h>

#include "exporters/exporter.h"

/*
 * The whole recording as JFR, to a file or a pipe. The samples that the recording has rows of are
 * written as they were; from one that knows only totals as many samples, spread evenly over its
 * time, or -EFBIG when they are more than a hundred million.
 *
 * A recording that is still going on is written by jfr/jfr_write.h, chunk by chunk.
 */
int jfr_export(const struct recording *rec, const struct export_options *options, FILE *out);

#endif
