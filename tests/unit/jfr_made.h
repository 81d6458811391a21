/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_MADE_H
#define JVMSCOPE_JFR_MADE_H

#include <stdlib.h>
#include <string.h>

#include "jfr/jfr_write.h"
#include "model/recording.h"
#include "unit/unit.h"

/* A file of JFR in memory that is written while it is recorded. */

static struct recording *rec;
static struct jfr_writer *writer;
static uint8_t *bytes;
static size_t size;

static int append(void *ctx, const struct jfr_finished_segment *segment)
{
	(void)ctx;
	bytes = realloc(bytes, size + segment->size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	memcpy(bytes + size, segment->bytes, segment->size);
	size += segment->size;
	return 0;
}

/* of: becomes rec, and is freed with it. */
static void begin_file(struct recording *of)
{
	const struct jfr_writer_options options = { .sink = append };

	bytes = NULL;
	size = 0;
	rec = of;
	CU_ASSERT_PTR_NOT_NULL_FATAL(rec);
	ASSERT_INT(jfr_writer_open(&options, rec, &writer), 0);
}

static void teardown(void)
{
	jfr_writer_close(writer);
	rec_free(rec);
	free(bytes);
}

#endif
