/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_SUMMARY_CLASSES_H
#define JVMSCOPE_SUMMARY_CLASSES_H

#include <stdio.h>

#include "cli/terminal.h"

struct recording;

/*
 * A few lines on class loads: how many, what keeps defining them, and what agents did. Nothing when
 * none were recorded.
 */
void summary_classes(const struct recording *rec, const struct colors *colors, FILE *out);

#endif
