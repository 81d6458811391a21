/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_SUMMARY_GC_H
#define JVMSCOPE_SUMMARY_GC_H

#include <stdio.h>

#include "cli/terminal.h"

struct recording;

/*
 * A line on collections and their pauses, and one on how long safepoints stopped the JVMs. Each is
 * left out when nothing of the kind was recorded.
 */
void summary_gc(const struct recording *rec, const struct colors *colors, FILE *out);

#endif
