/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_USDT_H
#define JVMSCOPE_USDT_H

#include <stddef.h>

struct image;

/*
 * Calls found for every place of a USDT probe that the file names in .note.stapsdt: the same probe
 * has many when it was inlined (libjvm.so has 500 to 600 places of 100 probes). Names are valid
 * during the call. Ends early when found returns other than 0.
 *
 * Returns how many were found, -ENOENT when the file has no such notes, -ENOEXEC when they are
 * damaged or of more than 16 MiB, -ENOMEM.
 */
int usdt_each(const struct image *image,
	      int (*found)(const char *provider, const char *name, void *ctx), void *ctx);

#endif
