/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_CONSTANTS_H
#define JVMSCOPE_JFR_CONSTANTS_H

#include "jfr/jfr_plan.h"

/*
 * The constants of one chunk: by type and id, where their bytes are.
 *
 * Constants mostly come behind the events that refer to them. Their bytes are kept as they are
 * written and are read when somebody asks: most of them nobody asks for. An id that is written
 * twice means what was written last.
 *
 * A slot is a byte that tells most ids from others, and an offset: the id itself stands in front of
 * the constant's bytes. That is a third of the memory of map64, which hostile files would make us
 * pay for every four bytes of theirs.
 */
struct jfr_constants_of {
	struct jfr_constants_part *parts; /* owned; a power of two of them; NULL: no constants */
	uint32_t part_count;
};

struct jfr_constants {
	const struct jfr_plans *plans;	/* borrowed */
	struct jfr_constants_of *types; /* owned; [type] */
	uint32_t type_count;
	uint8_t *bytes; /* owned */
	size_t len;
	size_t capacity;
};

/* Returns 0 or -ENOMEM. */
int jfr_constants_open(const struct jfr_plans *plans, struct jfr_constants *out);
void jfr_constants_free(struct jfr_constants *constants);
void jfr_constants_free_type(struct jfr_constants_of *of);

/*
 * Keeps count constants of a type, id and value each, which c stands before; the type has a plan to
 * skip it. Returns 0, -EBADMSG when they do not fit (those before the damage are kept), -E2BIG when
 * there are 4 GiB already, -ENOMEM.
 */
int jfr_constants_add(struct jfr_constants *constants, uint32_t type, uint64_t count,
		      struct cursor *c);

/* Whether the constant is there; *value stands before its bytes. Valid until the next add. */
bool jfr_constants_find(const struct jfr_constants *constants, uint32_t type, int64_t id,
			struct cursor *value);

#endif
