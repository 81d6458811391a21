/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_SUMMARY_HEAP_H
#define JVMSCOPE_SUMMARY_HEAP_H

#include <stdio.h>

#include "cli/terminal.h"

struct recording;

/*
 * One line: what was allocated in the Java heap, how fast, of which classes and where; of all JVMs
 * together. Nothing when nothing was.
 */
void summary_heap(const struct recording *rec, const struct colors *colors, FILE *out);

#endif
