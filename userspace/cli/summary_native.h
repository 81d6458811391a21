/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_SUMMARY_NATIVE_H
#define JVMSCOPE_SUMMARY_NATIVE_H

#include <stdio.h>

#include "cli/terminal.h"

struct recording;

/*
 * One line: which native memory was allocated and lives, by tag, and how much of it was seen; of
 * the JVM that has the most of it. Nothing when native memory was not recorded.
 */
void summary_native(const struct recording *rec, const struct colors *colors, FILE *out);

/*
 * The same of what the VM has mapped, and of the stacks of threads; nothing when nothing was, or
 * what is mapped is not known.
 */
void summary_mapped(const struct recording *rec, const struct colors *colors, FILE *out);

/* The first times that probes recorded less, or more again, and why; nothing when they never did.
 */
void summary_changes(const struct recording *rec, const struct colors *colors, FILE *out);

#endif
