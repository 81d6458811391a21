/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_IMPORT_IMPL_H
#define JVMSCOPE_IMPORT_IMPL_H

#include <stddef.h>

#include "import/import.h"
#include "jfr/jfr_input.h"

/* Inside of import*.c. */

#define IMPORT_PERIOD_NS 10000000 /* value of a sample where a file states none */

/*
 * Collapsed stacks, line by line as they come. Returns 0 with *bad_lines that have no count at
 * their end, -EBADMSG when the first line is none, -ENOMEM.
 */
int import_collapsed(struct jfr_input *in, struct recording *rec, uint64_t *bad_lines);

/*
 * JSON of jvmscope as one text. Returns 0, -ENOMEM, or -EBADMSG with the reason in why, which holds
 * size bytes.
 */
int import_json(const char *json, size_t len, struct recording *rec, char *why, size_t size);

#endif
