/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_NMT_H
#define JVMSCOPE_NMT_H

#include <stdio.h>

struct export_options;
struct recording;

/*
 * Native memory in the form of jcmd's VM.native_memory detail, so that the two can be compared and
 * what reads one reads the other: for each JVM sums by tag, then sites by the addresses of their
 * calls, the largest first. Only what was allocated while recording and lives is in it; as there,
 * what rounds to 0 KB is left out. Unlike there, a Java method that made the call is named.
 */
int nmt_write(const struct recording *rec, const struct export_options *options, FILE *out);

#endif
