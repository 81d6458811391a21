/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_METHOD_READ_H
#define JVMSCOPE_METHOD_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct method;
struct methods;

/*
 * Reads the method at an address of the target, with its names, which are kept in methods->names.
 * What belongs to the cache is left 0. Returns 0, -ESTALE (replaced while it was read), -EBADMSG
 * (not a method), -EFAULT, -ESRCH, -ENOMEM.
 */
int method_read(struct methods *methods, uint64_t address, struct method *out);

/*
 * Sets same[i] to whether the method that *known[i] describes still is at its address: Method,
 * ConstMethod, pool and class lie where they did, and the class has the same name. Such with
 * ->checked of this generation are only asked for their ConstMethod. One or two system calls for
 * METHODS_AT_ONCE of them. NULL is never the same. Returns 0 or -ESRCH.
 */
#define METHODS_AT_ONCE 12
int method_read_same(const struct methods *methods, const struct method *const *known, size_t count,
		     bool *same);

#endif
