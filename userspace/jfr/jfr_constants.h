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
 * A slot has no key: the id stands in front of the constant's bytes. That halves the memory of
 * map64, which hostile files would make us pay for every two bytes of theirs.
 */
struct jfr_constants_of {
	struct jfr_constants_slot *slots; /* owned; a power of two of them */
	uint32_t capacity;
	uint32_t count;
};

struct jfr_constants {
	const struct jfr_plans *plans;	/* borrowed */
	struct jfr_constants_of *types; /* owned; [type] */
	uint32_t type_count;
	uint8_t *bytes; /* owned; the first one is not used, so that offsets are above 0 */
	size_t len;
	size_t capacity;
};

/* Returns 0 or -ENOMEM. */
int jfr_constants_open(const struct jfr_plans *plans, struct jfr_constants *out);
void jfr_constants_free(struct jfr_constants *constants);

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
