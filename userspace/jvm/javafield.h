/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JAVAFIELD_H
#define JVMSCOPE_JAVAFIELD_H

#include <stdint.h>

#include "jvm/layout.h"

struct target;

/* A field of a Java class, and where it lies in an object. */
struct javafield {
	const char *name;
	uint32_t offset; /* 0: not found; every object begins with a header */
};

/*
 * Looks fields of one class (InstanceKlass*) up by name, in the order given; those of its super
 * classes are not its own. 8 to 20 keep them as six 16-bit numbers each (_fields), later ones as a
 * stream of numbers (_fieldinfo_stream).
 *
 * Returns 0 also when some were not found; -ENOENT when this JVM shows neither, -EBADMSG, -EFAULT,
 * -ESRCH, -ENOMEM.
 */
int javafield_find(const struct target *t, const struct hotspot *h, int major, uint64_t klass,
		   struct javafield *fields, unsigned int count);

#endif
