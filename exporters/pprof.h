/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_PPROF_H
#define JVMSCOPE_PPROF_H

#include "exporters/exporter.h"

/*
 * A gzipped profile.proto, what pprof, Grafana and most continuous profilers read.
 *
 * Each metric has a count and a value; CPU is "samples" and "cpu", as from Go. Threads, JVMs and
 * what is not whole about a stack are labels; losses are comments.
 */
int pprof_write(const struct recording *rec, const struct export_options *options, FILE *out);

#endif
