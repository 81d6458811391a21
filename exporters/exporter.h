/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_EXPORTER_H
#define JVMSCOPE_EXPORTER_H

#include <stdbool.h>
#include <stdio.h>

#include "model/recording.h"

struct export_options {
	enum rec_metric metric; /* collapsed: which profile */
	bool lines;		/* collapsed: line numbers */
	bool annotate;		/* collapsed: suffixes _[j] _[1] _[0] _[i] _[k] */
	bool threads;		/* collapsed: the thread as root frame */
};

/* A function from a recording to bytes. */
struct exporter {
	const char *name;   /* as typed after --format */
	const char *suffix; /* ".json" */
	bool needs_samples;
	bool needs_native; /* has nothing without it */
	/*
	 * Returns 0, the negative errno of a write that failed (-ENOSPC, -EPIPE; -EIO when it is
	 * not known), -ENOMEM. out is flushed, so that a full disk is noticed here.
	 */
	int (*write)(const struct recording *rec, const struct export_options *options, FILE *out);
};

/* The table, ended by a NULL name. */
extern const struct exporter exporters[];

/* By name, or by the suffix of a path (the longest that fits). NULL when there is none. */
const struct exporter *exporter_by_name(const char *name);
const struct exporter *exporter_by_path(const char *path);

#endif
