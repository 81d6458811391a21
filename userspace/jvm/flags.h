/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_FLAGS_H
#define JVMSCOPE_FLAGS_H

#include "jvm/layout.h"

struct target;

/*
 * Name of the collector, by the -XX flags as they are after the JVM chose: "G1", "Parallel",
 * "Serial", "ZGC", "Shenandoah", "Epsilon", "CMS"; "" when unknown. Never fails.
 */
const char *flags_gc_name(const struct target *t, const struct hotspot *h, int major);

/*
 * Whether each of these flags is set; one that this JVM does not have is not. Returns 0, or a
 * negative errno when the flags cannot be read.
 */
int flags_read(const struct target *t, const struct hotspot *h, const char *const *names,
	       size_t count, bool *set);

#endif
