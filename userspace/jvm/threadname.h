/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_THREADNAME_H
#define JVMSCOPE_THREADNAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/layout.h"

struct target;

/*
 * Names of Java threads: java.lang.Thread.name, read from the Java heap while the JVM runs.
 *
 * Nothing keeps the collector from moving the objects meanwhile, so a name is only believed when
 * Thread.eetop is the JavaThread that was asked for, and when all references are the same after
 * the name was read. A collector that moves objects while the threads run (ZGC, Shenandoah) may
 * also leave references to where an object was: then the name must begin as the kernel's does
 * (15 bytes, set by the JVM at the thread's start), unless ZGC's colours say that they are good.
 */
struct threadnames {
	/* offsets in java.lang.Thread and java.lang.String */
	uint32_t thread_name;
	uint32_t thread_eetop;
	uint32_t string_value;
	uint32_t string_coder; /* 0: no such field, value is char[] (8) */
	uint32_t array_length; /* in a byte[] */
	uint32_t array_data;
	bool compressed; /* references are 4 bytes: base + value << shift */
	uint32_t shift;
	uint64_t base;
	enum threadname_trust {
		THREADNAME_STILL,  /* objects move only while Java threads are stopped */
		THREADNAME_COLOUR, /* ZGC */
		THREADNAME_MOVING, /* any reference may be an old one */
	} trust;
};

#define THREADNAME_MAX 256 /* bytes of a name in UTF-8, NUL included; the rest is cut off */

/*
 * Where names lie in this JVM. gc_name: as jvm_gc_name says. Returns 0, -ENOENT (this JVM does not
 * show what is needed), -EAGAIN (its classes are not there yet), -EFAULT, -EBADMSG, -ESRCH,
 * -ENOMEM.
 */
int threadname_find(const struct target *t, const struct hotspot *h, int major, const char *gc_name,
		    struct threadnames *out);

/*
 * The name of a thread as valid UTF-8 without control characters. comm: the kernel's name of it.
 * Returns 0, -ENOENT (it has none), -ESTALE (what was read cannot be trusted), -EFAULT, -ESRCH.
 */
int threadname_read(const struct target *t, const struct hotspot *h, const struct threadnames *n,
		    uint64_t java_thread, const char *comm, char to[THREADNAME_MAX]);

#endif
