/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_FUZZ_EXPORT_H
#define JVMSCOPE_FUZZ_EXPORT_H

#include <errno.h>

#include "exporters/exporter.h"
#include "fuzz/fuzz.h"

/* Whatever could be read can be written, in each format. */
static inline void fuzz_export(const struct recording *rec)
{
	for (const struct exporter *format = exporters; format->name; format++) {
		for (int metric = 0; metric < REC_METRIC_NR; metric++) {
			const struct export_options options = {
				.metric = (enum rec_metric)metric,
				.threads = metric % 2,
				.lines = metric % 2,
				.annotate = metric % 2,
			};
			FILE *out = fopen("/dev/null", "we");
			int err;

			FUZZ_ASSERT(out);
			err = format->write(rec, &options, out);
			/* So many samples are no events. */
			FUZZ_ASSERT(!err || err == -EFBIG);
			fclose(out);
			if (strcmp(format->name, "collapsed") != 0)
				break;
		}
	}
}

#endif
