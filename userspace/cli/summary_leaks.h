/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_SUMMARY_LEAKS_H
#define JVMSCOPE_SUMMARY_LEAKS_H

#include <stdio.h>

#include "cli/terminal.h"

struct recording;

/*
 * Which native memory looks like leaks, the fastest first, and how much of the growth of libc's
 * heap is at no site. Nothing where there is nothing of the kind, or it was not recorded.
 */
void summary_leaks(const struct recording *rec, const struct colors *colors, FILE *out);

#endif
