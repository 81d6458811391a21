/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_THREADS_H
#define JVMSCOPE_THREADS_H

#include <stddef.h>

#include "jvm/jvm.h"
#include "jvm/layout.h"

struct target;

/*
 * All JavaThreads of the target, from ThreadsList (12+) or the older linked list. The list may
 * change while it is read: a thread that is gone is left out, and a list cut short is no error.
 *
 * *out is the caller's to free. Returns 0, -ENOENT (this JVM shows neither list), -EFAULT, -ESRCH,
 * -ENOMEM.
 */
int threads_read(const struct target *t, const struct hotspot *h, struct jvm_thread **out,
		 size_t *count);

#endif
