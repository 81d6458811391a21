/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "fuzz/fuzz.h"
#include "fuzz/fuzz_export.h"
#include "import/import_impl.h"

/* JSON, and the same bytes as collapsed stacks; what was read is written. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = fuzz_copy(bytes, size);
	struct recording *rec = rec_new();
	uint64_t bad_lines = 0;
	struct jfr_input in;
	char why[256];

	FUZZ_ASSERT(rec);
	log_set_level(LOG_LEVEL_ERROR);
	rec_samples_keep(rec, size % 2);
	import_json((const char *)copy, size, rec, why, sizeof(why));
	jfr_input_memory(copy, size, &in);
	import_collapsed(&in, rec, &bad_lines);
	FUZZ_ASSERT(bad_lines <= size);
	jfr_input_close(&in);
	fuzz_export(rec);
	rec_free(rec);
	free(copy);
	return 0;
}
