/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_USDT_H
#define JVMSCOPE_USDT_H

#include <stddef.h>
#include <stdint.h>

struct image;

/* One place of a USDT probe. Strings are valid during the call. */
struct usdt_place {
	const char *provider;
	const char *name;
	const char *arguments; /* "8@%r12 8@%rax -4@%ecx" */
	uint64_t vaddr;	       /* of its instruction, as the file is linked now */
};

/*
 * Calls found for every place of a USDT probe that the file names in .note.stapsdt: the same probe
 * has many when it was inlined (libjvm.so has 500 to 600 places of 100 probes). Ends early when
 * found returns other than 0.
 *
 * Returns how many were found, -ENOENT when the file has no such notes, -ENOEXEC when they are
 * damaged or of more than 16 MiB, -ENOMEM.
 */
int usdt_each(const struct image *image, int (*found)(const struct usdt_place *place, void *ctx),
	      void *ctx);

/*
 * The register that holds the first argument whole, as instructions number it: of x86-64 those of
 * 64 bits. -ENOENT when it is in none.
 */
int usdt_first_register(const struct usdt_place *place);

#endif
