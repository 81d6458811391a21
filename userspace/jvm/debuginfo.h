/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_DEBUGINFO_H
#define JVMSCOPE_DEBUGINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

/*
 * HotSpot's packed debug information, over bytes that were copied from the target.
 *
 * bias is what UNSIGNED5 numbers exclude: 0 before JDK 20, 1 since. The wrong one gives plausible
 * nonsense, and nothing in the JVM tells it but the version.
 */

/* An UNSIGNED5 number, 1 to 5 bytes. A byte below the bias fails the cursor. */
uint32_t debuginfo_unsigned5(struct cursor *c, unsigned int bias);

/* Bytes of a compressed line table with its end mark, or 0 when there is none within size. */
size_t debuginfo_line_table_size(const uint8_t *table, size_t size, unsigned int bias);

/*
 * The line of a bci: the entry for it, else the one with the largest bci below. -1 when there is
 * none.
 */
int debuginfo_line(const uint8_t *table, size_t size, unsigned int bias, int bci);

/* Of struct PcDesc in the target: int pc_offset, scope_decode_offset, obj_decode_offset, flags. */
#define PC_DESC_BYTES 16

/*
 * Finds the PcDesc that describes an offset from the code's start, and gives its scope offset (0:
 * nothing was recorded). descs are count entries of PC_DESC_BYTES, sorted by pc_offset.
 *
 * At a call site there is one for exactly the return address. For a leaf it is the first one
 * behind the pc, as HotSpot's own samplers do; so too when a return address has none (calls of
 * leaf stubs). false when there is none at all.
 */
bool debuginfo_find_pc(const uint8_t *descs, size_t count, uint32_t offset, bool leaf,
		       uint32_t *scope);

/* One activation inside compiled code. */
struct scope {
	uint32_t sender; /* offset of the caller's scope, 0: this is the outermost */
	uint32_t method; /* index into the nmethod's metadata, from 1; 0: none */
	int32_t bci;	 /* -1: method entry */
};

/* Decodes the scope at an offset. Returns 0 or -EBADMSG. */
int debuginfo_scope(const uint8_t *scopes, size_t size, unsigned int bias, uint32_t offset,
		    struct scope *out);

#endif
