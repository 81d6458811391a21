/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_DISCOVER_H
#define JVMSCOPE_DISCOVER_H

#include <sys/types.h>

/*
 * Calls found(pid, ctx) for every process of the host that has a libjvm.so mapped, in ascending
 * order. A non-zero result ends the search and is returned. Processes that cannot be looked
 * into are skipped. 0 or a negative errno (/proc cannot be read).
 */
int discover_jvms(int (*found)(pid_t pid, void *ctx), void *ctx);

/*
 * Host pid of the process whose innermost pid namespace knows it as ns_pid and differs from ours.
 * The pid, 0 when there is none or more than one.
 */
pid_t discover_by_ns_pid(pid_t ns_pid);

#endif
