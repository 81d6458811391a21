/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_OBJECTS_H
#define JVMSCOPE_OBJECTS_H

#include "bpf/jvs_object.h"
#include "jvm/layout.h"

struct target;

/*
 * How this JVM keeps references, and the class of an object. gc_name: as jvm_gc_name() says.
 *
 * Returns 0, where members may still say that something is not known; -EAGAIN (its classes are not
 * there yet), -ENOENT (it does not show what is needed), -EFAULT, -EBADMSG, -ESRCH, -ENOMEM.
 */
int objects_layout(const struct target *t, const struct hotspot *h, int major, const char *gc_name,
		   struct jvs_object_layout *out);

#endif
