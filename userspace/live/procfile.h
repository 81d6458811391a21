/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_PROCFILE_H
#define JVMSCOPE_PROCFILE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The number behind prefix ("VmRSS:", "" for a file of one number) in the first line of a text
 * file that begins with it. Base 10 or 16. *out is written only when there is one.
 */
bool procfile_number(const char *path, const char *prefix, int base, int64_t *out);

#endif
