/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"
#include "target/ehframe.h"
#include "target/image.h"
#include "unit/elf_bytes.h"

#define SECTION_MAX (64u * 1024)

static void check(const struct unwind_rows *rows)
{
	FUZZ_ASSERT(rows->count > 0 && rows->index_count > 0);
	for (size_t i = 1; i < rows->count; i++)
		FUZZ_ASSERT(rows->rows[i - 1].address < rows->rows[i].address);
	for (size_t i = 1; i < rows->index_count; i++) {
		FUZZ_ASSERT(rows->index[i] < rows->count);
		FUZZ_ASSERT(rows->index[i - 1] <= rows->index[i]);
	}
}

/* The bytes of an .eh_frame section. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct elf_bytes elf;
	struct unwind_rows rows;
	struct image *image;

	if (size > SECTION_MAX)
		return 0;
	elf_begin(&elf);
	elf_add_bytes(&elf, ".eh_frame", bytes, size);
	elf_end(&elf);
	FUZZ_ASSERT(image_open_bytes(elf_copy(&elf), elf.size, "fuzz.so", &image) == 0);
	if (ehframe_rows(image, &rows) == 0) {
		check(&rows);
		ehframe_free(&rows);
	}
	image_close(image);
	return 0;
}
