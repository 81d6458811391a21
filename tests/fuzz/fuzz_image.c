/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"
#include "target/ehframe.h"
#include "target/image.h"
#include "target/maps.h"
#include "target/usdt.h"

/* Every question that is asked of an image. */
static void ask(struct image *image, uint64_t vaddr)
{
	const struct mapping mapping = {
		.start = 0x7f0000000000, .end = 0x7f0000001000, .offset = vaddr, .executable = true
	};
	char name[64];
	const uint8_t *bytes;
	const char *function;
	uint64_t offset;
	uint64_t bias = image_bias(image, &mapping);
	size_t size;

	(void)bias;
	bytes = image_bytes(image, vaddr, &size);
	FUZZ_ASSERT(!bytes || (size > 0 && bytes[size - 1] <= 0xff));
	image_file_offset(image, vaddr, &offset);
	image_symbol(image, "gHotSpotVMStructs", false, &offset);
	image_imports(image, vaddr, "malloc");
	function = image_function(image, vaddr, &offset);
	if (function)
		image_demangle(function, name, sizeof(name));
}

static int on_probe(const struct usdt_place *place, void *ctx)
{
	(void)ctx;
	return place->provider[0] == place->name[0] && place->name[0] == '!' &&
	       usdt_first_register(place) == 0;
}

/* A whole ELF file. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = fuzz_copy(bytes, size);
	struct unwind_rows rows;
	uint64_t vaddr = 0;
	struct image *image;
	size_t hdr_size;

	if (image_open_bytes(copy, size, "/lib/fuzz.so", &image)) {
		free(copy);
		return 0;
	}
	image_build_id(image, NULL);
	image_eh_frame_hdr(image, &vaddr, &hdr_size);
	ask(image, vaddr);
	ask(image, 0);
	ask(image, 0x1000);
	ask(image, UINT64_MAX);
	image_has_symtab(image);
	usdt_each(image, on_probe, NULL);
	FUZZ_ASSERT(image_memory(image) < (256u << 20));
	if (ehframe_rows(image, &rows) == 0)
		ehframe_free(&rows);
	image_close(image);
	return 0;
}
