/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_SUMMARY_H
#define JVMSCOPE_SUMMARY_H

#include <stdint.h>
#include <stdio.h>

#include "cli/terminal.h"

struct recording;

/*
 * About ten lines on what a recording holds and how good it is. startup_cpu_ns is the part of our
 * own CPU time that was used before sampling began: what is left is the cost of sampling.
 */
void summary_write(const struct recording *rec, uint64_t startup_cpu_ns,
		   const struct colors *colors, FILE *out);

#endif
