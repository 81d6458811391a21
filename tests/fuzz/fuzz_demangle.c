/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"
#include "target/image.h"

/* A symbol's name, demangled into a small and into a large buffer. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *name = fuzz_text(bytes, size);
	char large[4096];
	char small[8];

	FUZZ_ASSERT(strlen(image_demangle(name, large, sizeof(large))) < sizeof(large));
	FUZZ_ASSERT(strlen(image_demangle(name, small, sizeof(small))) < sizeof(small));
	free(name);
	return 0;
}
