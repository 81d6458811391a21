/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_NEEDS_H
#define JVMSCOPE_NEEDS_H

#include <stddef.h>

/*
 * What must hold before anything is loaded. Returns 0, -EPERM or -ENOTSUP; logs the first need
 * that does not hold, by name, with the cure.
 */
int needs_check(void);

/* Says in one line why loading failed; libbpf_line is the last warning of the library, or "". */
void needs_explain_load(int err, const char *libbpf_line);

/* Loads all programs and frees them again. Defined in live.c, which alone knows the skeleton. */
int live_try_load(char *line, size_t size);

#endif
