/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_GROUPS_H
#define JVMSCOPE_GROUPS_H

#include <stdbool.h>

/*
 * What a thread of a JVM is for, by its name, which may be cut at 15 bytes as the kernel does:
 * "jit", "gc" or "vm"; else "java" or "native".
 */
const char *groups_of_thread(const char *name, bool is_java);

#endif
