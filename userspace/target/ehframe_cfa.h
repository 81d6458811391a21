/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_EHFRAME_CFA_H
#define JVMSCOPE_EHFRAME_CFA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "bpf/jvs_abi.h"

/*
 * Call frame programs of .eh_frame, for this folder only: what a CIE says, and the rows that its
 * functions' programs give. The format is the DWARF standard's (6.4) with the Linux Standard
 * Base's changes for .eh_frame.
 */

/* The bytes of .eh_frame and where they lie. */
struct eh_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t vaddr;
};

/* Where a register of the caller is. */
enum eh_saved_how {
	EH_SAME,      /* not changed yet */
	EH_AT_OFFSET, /* in memory at CFA + offset */
	EH_UNDEFINED, /* not known any more */
	EH_ELSEWHERE, /* a rule that no row can hold */
};

struct eh_saved {
	enum eh_saved_how how;
	int64_t offset;
};

enum eh_cfa_how {
	EH_CFA_REGISTER,    /* register + offset */
	EH_CFA_PLT,	    /* the linker's expression; offset holds its boundary */
	EH_CFA_UNSUPPORTED, /* any other expression */
};

/* The rules at one address. */
struct eh_rules {
	enum eh_cfa_how cfa;
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct eh_saved fp;
	struct eh_saved r13;
	struct eh_saved ra;
};

/* What several functions have in common. */
struct eh_cie {
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t pointer_encoding;
	bool has_augmentation_size;
	bool signal_frame;
	struct eh_rules initial;
};

/* Rows in the order of the functions in the section. */
struct eh_rows {
	struct jvs_row *items; /* owned */
	size_t count;
	size_t capacity;
};

#define EH_ROWS_MAX (4u << 20) /* of one image; libjvm 25 has 250,000 before merging */

struct eh_function {
	const struct eh_section *section;
	const struct eh_cie *cie;
	uint64_t start;
	uint64_t end;
	struct cursor program;
};

/*
 * A pointer in one of the encodings of the Linux Standard Base. Sets c->failed when it is not one
 * that can be resolved here; indirect ones are not.
 */
uint64_t eh_pointer(const struct eh_section *section, struct cursor *c, uint8_t encoding);

/* What follows the CIE's id. false: a form not known here, its functions have no rows. */
bool eh_read_cie(const struct eh_section *section, struct cursor *c, struct eh_cie *out);

/* Adds the rows of a function and the gap behind it. Returns 0, -ENOMEM, -E2BIG. */
int eh_add_function(const struct eh_function *function, struct eh_rows *rows);

/* Whether two rows say the same, wherever they are. */
bool eh_same_rule(const struct jvs_row *a, const struct jvs_row *b);

#endif
