/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_GOLDEN_EXPORTED_H
#define JVMSCOPE_GOLDEN_EXPORTED_H

#include "exporters/exporter.h"
#include "golden/recording.h"

/* For the tests of an exporter: a recording, and the bytes of the last output. */

static struct recording *rec;
static struct {
	char *bytes; /* owned */
	size_t size;
} exported;

static void golden_setup(void)
{
	rec = golden_recording();
	exported.bytes = NULL;
}

static void golden_teardown(void)
{
	rec_free(rec);
	free(exported.bytes);
}

typedef int golden_writer(const struct recording *rec, const struct export_options *options,
			  FILE *out);

static int golden_export(golden_writer *write, const struct recording *from,
			 const struct export_options *options)
{
	const struct export_options none = { 0 };
	FILE *out;
	int err;

	free(exported.bytes);
	exported.bytes = NULL;
	out = open_memstream(&exported.bytes, &exported.size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	err = write(from, options ? options : &none, out);
	fclose(out);
	return err;
}

#endif
