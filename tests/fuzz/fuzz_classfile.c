/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "jvm/classfile.h"

static void see(const struct classfile_change *change, void *ctx)
{
	uint64_t *sum = ctx;

	FUZZ_ASSERT(change->after);
	FUZZ_ASSERT(change->calls_at_entry + change->calls_at_exit <= change->calls_added);
	/* Every byte of what is handed out can be read. */
	for (uint32_t i = 0; i < change->after->code_size; i++)
		*sum += change->after->code[i];
	for (uint32_t i = 0; i < change->after->frames_size; i++)
		*sum += change->after->frames[i];
	for (size_t i = 0; i < change->after->name.len; i++)
		*sum += (uint8_t)change->after->name.bytes[i];
}

/* Two class files, the second behind the first; the first two bytes say where it begins. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct classfile before = { 0 }, after = { 0 };
	size_t split;
	uint64_t sum = 0;

	if (size < 2)
		return 0;
	split = (size_t)(bytes[0] << 8 | bytes[1]);
	bytes += 2;
	size -= 2;
	if (split > size)
		split = size;
	if (!classfile_parse(bytes, split, &before)) {
		FUZZ_ASSERT(classfile_compare(&before, &before, see, &sum) == 0);
		if (!classfile_parse(bytes + split, size - split, &after))
			FUZZ_ASSERT(classfile_compare(&before, &after, see, &sum) >= 0);
	}
	classfile_free(&before);
	classfile_free(&after);
	return 0;
}
