/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/exporter.h"

#include <string.h>

#include "exporters/collapsed.h"
#include "exporters/jfr.h"
#include "exporters/json.h"
#include "exporters/nmt.h"
#include "exporters/pprof.h"

const struct exporter exporters[] = {
	{ .name = "jfr", .suffix = ".jfr", .needs_samples = true, .write = jfr_export },
	{ .name = "json", .suffix = ".json", .write = json_write },
	{ .name = "collapsed", .suffix = ".collapsed", .write = collapsed_write },
	{ .name = "pprof", .suffix = ".pb.gz", .write = pprof_write },
	{ .name = "nmt", .suffix = ".nmt.txt", .needs_native = true, .write = nmt_write },
	{ .name = NULL },
};

const struct exporter *exporter_by_name(const char *name)
{
	for (const struct exporter *at = exporters; at->name; at++) {
		if (!strcmp(at->name, name))
			return at;
	}
	return NULL;
}

/* A path that is only a suffix is a hidden file without one. */
static bool ends_with(const char *path, const char *suffix)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t len = strlen(name), suffix_len = strlen(suffix);

	return len > suffix_len && !strcmp(name + len - suffix_len, suffix);
}

const struct exporter *exporter_by_path(const char *path)
{
	const struct exporter *best = NULL;

	for (const struct exporter *at = exporters; at->name; at++) {
		if (ends_with(path, at->suffix) &&
		    (!best || strlen(at->suffix) > strlen(best->suffix)))
			best = at;
	}
	return best;
}
