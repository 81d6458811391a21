/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_SUMMARY_MEMORY_H
#define JVMSCOPE_SUMMARY_MEMORY_H

#include <stdio.h>

#include "cli/terminal.h"

struct recording;

/*
 * What the resident memory is, and which lines grew, of the JVM whose memory grew most: two lines,
 * or nothing when no memory was looked at.
 */
void summary_memory(const struct recording *rec, const struct colors *colors, FILE *out);

#endif
