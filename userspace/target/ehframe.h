/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_EHFRAME_H
#define JVMSCOPE_EHFRAME_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/jvs_abi.h"

struct image;

/* Unwind rows of one image, sorted by address, no two at the same one. */
struct unwind_rows {
	struct jvs_row *rows; /* owned */
	size_t count;
	size_t functions;   /* FDEs read */
	size_t unsupported; /* rows of kind JVS_ROW_BAD */
	uint32_t *index;    /* owned; [k] is the row at or below address k << JVS_INDEX_SHIFT */
	size_t index_count;
};

/*
 * Reads .eh_frame of an image into rows.
 *
 * Returns 0 (also with fewer rows than functions, when a part of the section is damaged: what
 * could be read is there), -ENOENT when there is no .eh_frame, -EBADMSG when nothing in it
 * could be read, -ENOMEM. On error *out is untouched.
 */
int ehframe_rows(const struct image *image, struct unwind_rows *out);

void ehframe_free(struct unwind_rows *rows);

#endif
