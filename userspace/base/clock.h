/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_CLOCK_H
#define JVMSCOPE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds, by which the kernel's records have their times, too. */
uint64_t clock_monotonic_ns(void);

#endif
