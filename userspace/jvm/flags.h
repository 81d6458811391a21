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

/* As JDK 12 and later number them; "ccstr" and "ccstrlist" are texts. */
enum flag_type {
	FLAG_BOOL,
	FLAG_INT,
	FLAG_UINT,
	FLAG_INTX,
	FLAG_UINTX,
	FLAG_UINT64,
	FLAG_SIZE,
	FLAG_DOUBLE,
	FLAG_TEXT,
	FLAG_TEXTS,
	FLAG_TYPES,
};

struct flag {
	const char *name;
	enum flag_type type;
	const char *value;  /* "true", a decimal number, or the text */
	const char *origin; /* "Default", "Command line", "Ergonomic", as JFR has it */
};

typedef void flag_fn(const struct flag *flag, void *ctx);

/*
 * Tells of the flags that say how heap, collector, compilers and code cache are set up, and of
 * all that are not as the JDK has them; FLAGS_TOLD_MAX at most. Returns 0, -ENOENT (this JVM does
 * not say which type flags have), or another negative errno.
 */
#define FLAGS_TOLD_MAX 512
int flags_each(const struct target *t, const struct hotspot *h, flag_fn *found, void *ctx);

#endif
