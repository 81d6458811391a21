/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_SUMMARY_H
#define JVMSCOPE_SUMMARY_H

#include <stdint.h>
#include <stdio.h>

#include "cli/terminal.h"

struct recording;

/* About ten lines on what a recording holds and how good it is. */
void summary_write(const struct recording *rec, const struct colors *colors, FILE *out);

#endif
